//! The arguments of the built-in tools.

use std::time::SystemTime;

use resource::{Accept, Json, Role, SectionChoice, SectionUnit};

use super::argument_table::{
    ArgumentSpec, ArgumentTable, DeclaredArgument, take_argument, tool_arguments,
};
use super::argument_value::NameOrNumber;
use crate::json::raw_object::{ObjectWriter, RawMembers, members_of};

tool_arguments! {
    /// Filters of a list or a search. A resource must match all that are given.
    FilterArguments {
        collection: Option<String>, "Only resources in this collection, a URI or path";
        name: Option<String>, "Part of the name or title, ignoring case";
        uri: Option<String>,
            "Glob on the whole URI: * within a segment, ** across; e.g. **/*.{md,txt}";
        mime: Option<String>, "MIME type, or a prefix that ends in /: text/markdown, image/";
        audience: Option<Role>, "Intended audience. Resources without one match both";
        min_priority: Option<f64>,
            "Minimum priority. Resources without a priority are excluded", least(0), most(1);
        modified_since: Option<SystemTime>,
            "Modified since this date or time, e.g. 2026-01-31T12:00:00Z";
        mount: Option<String>, "Only resources of the mount with this name";
    }
}

tool_arguments! {
    /// Arguments of `resources_list`.
    ListArguments(filter: FilterArguments) {
        recursive: bool, "Include nested collections";
        sort: Option<SortOrder>, "Sort order. priority, modified and size: highest first";
        links: bool, "Also return a resource_link block for each resource";
        cursor: Option<String>, "Cursor of the previous page. Keep the other arguments the same";
    }
}

impl ListArguments {
    /// Whether the call passes nothing that selects or orders resources.
    pub fn is_empty(&self) -> bool {
        let Self { filter, recursive, sort, links: _, cursor } = self;
        filter.is_empty() && !recursive && sort.is_none() && cursor.is_none()
    }
}

impl FilterArguments {
    /// Whether there are no filters.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The sort order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SortOrder {
    /// By name.
    Name,
    /// By priority, the highest first.
    Priority,
    /// By time of the last change, the newest first.
    Modified,
    /// By size, the largest first.
    Size,
}

impl SortOrder {
    /// The sort orders, by the names that a call passes.
    pub(super) const NAMES: &[(&str, Self)] = &[
        ("name", Self::Name),
        ("priority", Self::Priority),
        ("modified", Self::Modified),
        ("size", Self::Size),
    ];
}

tool_arguments! {
    /// Arguments of `resources_templates`.
    TemplatesArguments {
        cursor: Option<String>, "Cursor of the previous page";
    }
}

tool_arguments! {
    /// Arguments of `resources_metadata`.
    MetadataArguments {
        uris: Vec<String>, "URIs or paths";
    }
}

tool_arguments! {
    /// Arguments of `resources_read`.
    ReadArguments {
        uri: String, "URI of the resource, or its path: code/src/main.rs";
        offset: Option<u64>, "First byte", default(0), least(0);
        max_bytes: Option<u64>, "Maximum number of bytes", default(DEFAULT_READ_BYTES), least(1);
        start_line: Option<u64>, "First line, counted from 1", least(1);
        max_lines: Option<u64>, "Maximum number of lines", least(1);
        max_tokens: Option<u64>, "Maximum number of tokens, estimated", least(1);
        line_numbers: bool, "Put its number and a tab before each line";
        etag: Option<String>, "etag of the previous window. The call fails if the resource changed";
        accept: Option<Accept>,
            "MIME types to read it as, the best first. Default: text";
        page: Option<u64>, "Of a document";
        pages: Option<NameOrNumber>, "e.g. 3-5";
        sheet: Option<NameOrNumber>, "Name or number";
        slide: Option<u64>, "Number";
        part: Option<u64>, "Part to read, counted from 0, if there are several", least(0);
        use_content_blocks: bool, "Return an embedded resource instead of text";
    }
}

const DEFAULT_READ_BYTES: u64 = 25_000;

impl ReadArguments {
    /// The pages, sheet or slide that the call names.
    pub fn section(&self) -> Result<Option<SectionChoice>, String> {
        let number = |unit, number: Option<u64>| {
            let number = number.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
            number.map(|number| Ok(SectionChoice::number(unit, number)))
        };
        let pages = self.pages.as_ref().map(|pages| &*pages.0);
        let named = [
            number(SectionUnit::Page, self.page),
            pages.map(|pages| SectionChoice::parse_range(SectionUnit::Page, pages)),
            self.sheet.as_ref().map(|sheet| Ok(SectionChoice::sheet(&sheet.0))),
            number(SectionUnit::Slide, self.slide),
        ];
        let mut named = named.into_iter().flatten();
        let first = named.next().transpose()?;
        match named.next() {
            Some(_) => Err("page, pages, sheet and slide exclude each other; pass one".to_owned()),
            None => Ok(first),
        }
    }

    /// `max_bytes` or its default.
    pub fn byte_limit(&self) -> u64 {
        self.max_bytes.unwrap_or(DEFAULT_READ_BYTES)
    }
}

tool_arguments! {
    /// Arguments of `resources_read_embedded`.
    ReadEmbeddedArguments {
        uris: Vec<String>, "URIs or paths";
        max_bytes: u64,
            "Maximum bytes in total", default(64 << 10), least(1), most(8 << 20);
        media: bool, "Return images and audio as image and audio blocks";
        accept: Option<Accept>, "As in resources_read";
    }
}

tool_arguments! {
    /// Arguments of `resources_grep`.
    GrepArguments(filter: FilterArguments) {
        pattern: String, "Regular expression for a line. No look-around, no back-references";
        ignore_case: bool, "Ignore case";
        output: GrepMode,
            "lines (default), files (URIs with counts), or blocks (embedded resources)";
        context: u64, "Lines of context around each match", default(0), least(0), most(20);
        max_matches: u64, "Maximum number of matches", default(100), least(1), most(1000);
        recursive: bool, "Include nested collections", default(true);
        cursor: Option<String>, "Cursor of the previous call. Keep pattern and filters the same";
    }
}

/// What a search returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GrepMode {
    /// The matching lines.
    #[default]
    Lines,
    /// The resources that have matching lines.
    Files,
    /// The matching lines as embedded resources.
    Blocks,
}

impl GrepMode {
    /// The modes, by the names that a call passes.
    pub(super) const NAMES: &[(&str, Self)] =
        &[("lines", Self::Lines), ("files", Self::Files), ("blocks", Self::Blocks)];
}

tool_arguments! {
    /// Arguments of `resources_search`.
    SearchArguments(filter: FilterArguments) {
        query: String, "Words; also \"a phrase\", -not, OR, prefix*, lang:ja, modified:>2026-01-01";
        mode: SearchBy, "words, meaning, or both (default)";
        limit: u64, "Maximum number of hits", default(10), least(1), most(50);
        explain: bool, "Say why each hit is where it is";
        cursor: Option<String>, "Cursor of the previous page. Keep query and filters the same";
    }
}

/// By what a search finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchBy {
    /// By words.
    Words,
    /// By meaning.
    Meaning,
    /// By both.
    #[default]
    Both,
}

impl SearchBy {
    /// The ways, by the names that a call passes.
    pub(super) const NAMES: &[(&str, Self)] =
        &[("words", Self::Words), ("meaning", Self::Meaning), ("both", Self::Both)];
}

tool_arguments! {
    /// Arguments of `resources_pack`.
    PackArguments(filter: FilterArguments) {
        question: String, "What you want to know or do";
        budget: u64, "Maximum number of tokens", default(4_000), least(100), most(200_000);
    }
}

tool_arguments! {
    /// Arguments of `resources_watch`.
    WatchArguments {
        uris: Vec<String>, "URIs to watch. For a collection, its direct contents";
        handle: Option<String>, "Add to the watch with this handle";
    }
}

tool_arguments! {
    /// Arguments of `resources_unwatch`.
    UnwatchArguments {
        uris: Option<Vec<String>>, "URIs to stop watching; default all";
        handle: Option<String>, "Handle from resources_watch";
    }
}

tool_arguments! {
    /// Arguments of `resources_changes`.
    ChangesArguments {
        handle: Option<String>, "Handle from resources_watch";
        peek: bool, "Keep the changes, so that the next call returns them again";
        wait_ms: u64,
            "Milliseconds to wait if nothing has changed yet", default(0), least(0), most(60_000);
    }
}

tool_arguments! {
    /// Arguments of `tools_search`.
    SearchToolsArguments {
        query: Option<String>, "Words of the name or description; without it, all tools by name";
        max_tools: u64, "Maximum number of tools", default(10), least(1), most(50);
    }
}

tool_arguments! {
    /// Arguments of `tools_call`.
    CallToolArguments {
        name: String, "Name of the tool, from tools_search";
        arguments: Option<Json>, "Its arguments, as its inputSchema says";
    }
}

impl CallToolArguments {
    /// The parameters of the call of the named tool: those of the outer call with its name and
    /// arguments.
    pub fn inner_params(&self, params: &Json) -> Json {
        let mut inner = ObjectWriter::new();
        inner.put_string("name", &self.name);
        if let Some(arguments) = &self.arguments {
            inner.put_raw("arguments", arguments.as_str());
        }
        for (name, value) in members_of(params.as_str()) {
            if name != "name" && name != "arguments" {
                inner.put_raw(&name, value.get());
            }
        }
        inner.finish().into()
    }
}

#[cfg(test)]
mod tests;
