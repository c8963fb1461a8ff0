//! Rows of resources in the results of tools, and the same rows as lines of text.
//!
//! A row leaves out what its URI says: the name, and the type that the extension stands for.

use std::collections::HashMap;

use protocol::inbound::tool::TextLines;
use protocol::inbound::tool::output::{AbsentSource, ResourceRow, time_text};
use resource::{
    Absence, Outline, Provider, Resource, SectionTitle, SectionUnit, Uri, uri::percent_decode_lossy,
};

use crate::mount_path::path_in_mount;

/// From this size on, a row says that a page has sections.
const LARGE_PAGE_BYTES: u64 = 16 << 10;

/// How much of a description a list shows; `resources_metadata` shows all.
const MAX_DESCRIPTION_CHARS: usize = 200;

/// Which members a row has besides those of every row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowDetails {
    pub(super) modified: bool,
    pub(super) priority: bool,
    /// The MIME type even if the extension stands for it, and the whole description.
    pub(super) whole: bool,
}

/// The rows of one page.
pub(super) fn resource_rows<'a>(
    provider: &dyn Provider,
    resources: impl IntoIterator<Item = &'a Resource> + Clone,
    details: RowDetails,
) -> Vec<ResourceRow> {
    let mut same_name: HashMap<&str, Vec<&Resource>> = HashMap::new();
    for resource in resources.clone() {
        same_name.entry(&resource.name).or_default().push(resource);
    }
    let repeated = same_name.into_values().filter(|group| group.len() > 1);
    let paths: HashMap<&Uri, String> =
        repeated.flat_map(|group| distinct_paths(provider, &group)).collect();
    let row = |resource: &Resource| {
        let title = row_title(resource, paths.get(&resource.uri));
        ResourceRow { title, ..plain_row(resource, details) }
    };
    resources.into_iter().map(row).collect()
}

/// The paths of resources with one name inside their mount, as much of their ends as tells them
/// apart.
fn distinct_paths<'a>(provider: &dyn Provider, group: &[&'a Resource]) -> Vec<(&'a Uri, String)> {
    let path = |resource: &&'a Resource| {
        let path = path_in_mount(provider, &resource.uri);
        let ends: Vec<String> = path.trim_end_matches('/').rsplit('/').map(str::to_owned).collect();
        (ends, &resource.uri)
    };
    let mut paths: Vec<(Vec<String>, &Uri)> = group.iter().map(path).collect();
    paths.sort();
    let shared = |one: usize, other: Option<usize>| {
        let other = other.and_then(|other| paths.get(other));
        let same = |(other, _): &(Vec<String>, &Uri)| {
            paths[one].0.iter().zip(other).take_while(|(one, other)| one == other).count()
        };
        other.map_or(0, same)
    };
    let distinct = |(at, (ends, uri)): (usize, &(Vec<String>, &'a Uri))| {
        // The name alone repeats, so that at least one folder stands before it.
        let most = shared(at, at.checked_sub(1)).max(shared(at, Some(at + 1))) + 1;
        let needed = &ends[..ends.len().min(most.max(2))];
        let segments: Vec<&str> = needed.iter().rev().map(String::as_str).collect();
        (*uri, segments.join("/"))
    };
    paths.iter().enumerate().map(distinct).collect()
}

fn plain_row(resource: &Resource, details: RowDetails) -> ResourceRow {
    let notes = &resource.annotations;
    // A page is read, though its sections can be listed.
    let is_collection = resource.listable == Some(true) && !resource.is_page();
    let mime = resource.mime.clone().filter(|mime| {
        let is_plain_folder = is_collection && mime == "inode/directory";
        (details.whole || !last_segment(&resource.uri).contains('.')) && !is_plain_folder
    });
    let modified = notes.modified.filter(|_| details.modified);
    ResourceRow {
        uri: resource.uri.to_string(),
        title: None,
        description: resource.description.as_ref().map(|text| match details.whole {
            true => text.clone(),
            false => shortened(text),
        }),
        mime_type: mime,
        size: resource.size.filter(|_| !is_collection),
        tokens: None,
        sections: resource
            .outline
            .as_deref()
            .and_then(section_words)
            .or_else(|| page_sections(resource, details)),
        is_collection,
        last_modified: modified.and_then(time_text),
        priority: notes.priority.filter(|_| details.priority),
    }
}

/// That a page can be read section by section, where that saves something.
fn page_sections(resource: &Resource, details: RowDetails) -> Option<String> {
    let is_large = resource.size.is_some_and(|size| size >= LARGE_PAGE_BYTES);
    (resource.is_page() && (is_large || details.whole))
        .then(|| "has sections: list it as a collection".to_owned())
}

/// How many sections there are, and what they are called; `None` if they are not counted.
pub(super) fn section_words(outline: &Outline) -> Option<String> {
    let (total, unit) = (outline.total?, outline.unit.word());
    let words = format!("{total} {unit}{}", if total == 1 { "" } else { "s" });
    let is_named = outline.unit == SectionUnit::Sheet && !outline.titles.is_empty();
    let title = |known: &SectionTitle| {
        format!("{}{}", known.title, if known.is_hidden { " (hidden)" } else { "" })
    };
    let titles = || outline.titles.iter().map(title).collect::<Vec<_>>();
    Some(if is_named { format!("{words}: {}", titles().join(", ")) } else { words })
}

/// The title, or else what people call the resource, where its name repeats or the URI does not show
/// it.
fn row_title(resource: &Resource, distinct_path: Option<&String>) -> Option<String> {
    let shows_name = last_segment(&resource.uri) == resource.name;
    let name = || (!shows_name).then_some(&resource.name);
    resource.title.as_ref().or(distinct_path).or_else(name).cloned()
}

/// The text without its percent-encoding.
pub(super) fn decoded(text: &str) -> String {
    percent_decode_lossy(text).into_owned()
}

/// The last segment of the path, as it is written.
pub(super) fn last_segment(uri: &Uri) -> &str {
    uri.as_str().trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_DESCRIPTION_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A row as a line of text: `uri (folder, 12 bytes) title: description`.
pub(super) fn row_line(row: &ResourceRow) -> String {
    let facts = [
        row.is_collection.then(|| "folder".to_owned()),
        row.mime_type.clone(),
        row.size.map(|size| format!("{size} bytes")),
        row.tokens.map(|tokens| format!("about {tokens} tokens")),
        row.sections.clone(),
        row.last_modified.as_ref().map(|time| format!("changed {time}")),
        row.priority.map(|priority| format!("priority {priority}")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let mut line = row.uri.clone();
    if !facts.is_empty() {
        line.push_str(&format!(" ({})", facts.join(", ")));
    }
    let about = [&row.title, &row.description].into_iter().flatten().map(String::as_str);
    let about: Vec<&str> = about.collect();
    if !about.is_empty() {
        line.push_str(&format!(" {}", about.join(": ")));
    }
    line
}

/// Appends a line for each source that could not be listed.
pub(super) fn write_absences(lines: &mut TextLines, absent: &[AbsentSource]) {
    for AbsentSource { what, why } in absent {
        lines.push(&format!("not reached: {what} ({why})"));
    }
}

/// What all these URIs begin with, if there are several and it is worth a member of its own: a
/// folder below the root.
pub(super) fn common_base<'a>(uris: impl Iterator<Item = &'a Uri>) -> &'a str {
    let mut uris = uris.map(Uri::as_str).peekable();
    let (Some(first), Some(_)) = (uris.next(), uris.peek()) else { return "" };
    let base = uris.fold(first, |base, uri| {
        let common = base.bytes().zip(uri.bytes()).take_while(|(a, b)| a == b).count();
        let slash = base.as_bytes()[..common].iter().rposition(|byte| *byte == b'/');
        &base[..slash.map_or(0, |at| at + 1)]
    });
    let is_below_root =
        base.split_once("://").is_some_and(|(_, path)| path.trim_start_matches('/').contains('/'));
    if is_below_root { base } else { "" }
}

/// The sources that could not be listed.
pub(super) fn absent_sources(absent: Vec<Absence>) -> Vec<AbsentSource> {
    absent.into_iter().map(|one| AbsentSource { what: one.name, why: one.reason }).collect()
}

#[cfg(test)]
mod tests {
    use resource::{Outline, SectionTitle, SectionUnit};

    use super::section_words;

    #[test]
    fn sheets_are_named_and_the_hidden_ones_marked() {
        let sheet = |number, title: &str, is_hidden| {
            let title = title.to_owned();
            SectionTitle { number, title, is_hidden }
        };
        let titles = vec![sheet(1, "Sales", false), sheet(2, "Sums", true)];
        let outline = Outline { unit: SectionUnit::Sheet, total: Some(2), titles };
        assert_eq!(section_words(&outline).unwrap(), "2 sheets: Sales, Sums (hidden)");
        let page = Outline { unit: SectionUnit::Page, total: Some(1), titles: Vec::new() };
        assert_eq!(section_words(&page).unwrap(), "1 page");
    }
}
