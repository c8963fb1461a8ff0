//! Collects matching lines and builds the result of `resources_grep`.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::inbound::tool::arguments::GrepMode;
use protocol::inbound::tool::output::{AbsentSource, GrepOutput, UriMap};
use protocol::inbound::tool::{ContentBlock, TextLines, ToolOutput, ToolResult};
use resource::{Absence, Body, ByteSource, LineRange, Part, Resource, Slice};

use super::super::rows::{absent_sources, common_base, decoded, write_absences};
use super::line_scanner::{ContextLines, LineMatch};

/// Maximum size of a result in bytes, and the overhead that each match adds to its lines.
const MAX_RESULT_BYTES: usize = 1 << 20;
const MATCH_OVERHEAD: usize = 32;
/// Maximum size in bytes of one group of adjacent lines.
const MAX_GROUP_BYTES: usize = 8 << 10;

/// The matches of one call so far.
pub(super) struct GrepMatches {
    mode: GrepMode,
    max_matches: usize,
    bytes_left: usize,
    /// What counts for `max_matches`: lines, or resources.
    count: usize,
    resources: Vec<ResourceMatches>,
    /// Whether nested collections were searched.
    pub(super) was_recursive: bool,
    /// Counts of searched and of skipped resources.
    pub(super) searched: u64,
    pub(super) skipped: u64,
}

/// The matches in one resource.
struct ResourceMatches {
    resource: Arc<Resource>,
    total: u64,
    count: u64,
    /// The shown lines by number, each with whether it matches.
    lines: BTreeMap<u64, (bool, String)>,
    /// The same lines as groups, in the mode `blocks`.
    groups: Vec<ContextGroup>,
}

/// Overlapping or adjacent context lines of one resource, returned as one block.
struct ContextGroup {
    context: ContextLines,
    lines: Vec<u64>,
}

/// A point to roll back to: the number of resources, the count, and the room left.
pub(super) struct MatchCheckpoint(usize, usize, usize);

impl GrepMatches {
    /// An empty result that takes at most `max_matches` matches.
    pub(super) fn new(mode: GrepMode, max_matches: usize) -> Self {
        Self {
            mode,
            max_matches,
            bytes_left: MAX_RESULT_BYTES,
            count: 0,
            resources: Vec::new(),
            was_recursive: true,
            searched: 0,
            skipped: 0,
        }
    }

    /// The bytes that the matches hold.
    pub(super) fn held_bytes(&self) -> usize {
        MAX_RESULT_BYTES - self.bytes_left
    }

    pub(super) fn checkpoint(&self) -> MatchCheckpoint {
        MatchCheckpoint(self.resources.len(), self.count, self.bytes_left)
    }

    /// Rolls back to the mark.
    pub(super) fn roll_back(&mut self, MatchCheckpoint(resources, count, room): &MatchCheckpoint) {
        self.resources.truncate(*resources);
        (self.count, self.bytes_left) = (*count, *room);
    }

    /// Adds a match; returns `false` if it does not fit. `since` marks the start of its resource.
    pub(super) fn add_match(
        &mut self,
        since: &MatchCheckpoint,
        (resource, total): (&Arc<Resource>, u64),
        hit: LineMatch,
    ) -> bool {
        let is_first = self.resources.len() == since.0;
        let counts = self.mode != GrepMode::Files || is_first;
        let uri = if is_first { 2 * resource.uri.as_str().len() } else { 0 };
        // Every line is in the text and in the structured content, or in a block.
        let takes = uri + 2 * (hit.text.len() + hit.context.text.len()) + MATCH_OVERHEAD;
        let takes = if counts { takes } else { 0 };
        let fits = takes <= self.bytes_left || self.count == 0;
        if counts && (self.count >= self.max_matches || !fits) {
            return false;
        }
        self.bytes_left = self.bytes_left.saturating_sub(takes);
        self.count += usize::from(counts);
        if is_first {
            self.resources.push(ResourceMatches::new(resource, total));
        }
        if let Some(matches) = self.resources.last_mut() {
            matches.add(self.mode, hit);
        }
        true
    }

    /// Builds the tool result, with the cursor if there is more to search.
    pub(super) fn into_result(self, cursor: Option<String>, absent: Vec<Absence>) -> ToolResult {
        let absent = absent_sources(absent);
        let is_over = cursor.is_none();
        let note = (self.resources.is_empty() && is_over).then(|| self.empty_note(&absent));
        let text = self.text(note.as_deref(), cursor.as_deref(), &absent);
        let Self { mode, resources, searched, skipped, .. } = self;
        let base = common_base(resources.iter().map(|one| &one.resource.uri)).to_owned();
        let uri = |one: &ResourceMatches| one.resource.uri.as_str()[base.len()..].to_owned();
        let lines = |one: &ResourceMatches| (uri(one), one.line_texts());
        let count = |one: &ResourceMatches| (uri(one), one.count);
        let is_listed = mode == GrepMode::Lines;
        let matches = is_listed.then(|| UriMap(resources.iter().map(lines).collect()));
        let files = (!is_listed).then(|| UriMap(resources.iter().map(count).collect()));
        let name = |one: &ResourceMatches| {
            let key = uri(one);
            key.contains('%').then(|| (key.clone(), decoded(&key)))
        };
        let names = UriMap(resources.iter().filter_map(name).collect());
        let output =
            GrepOutput { base, matches, files, names, searched, skipped, cursor, absent, note };
        let mut given = ToolResult::with_text(text, ToolOutput::Grep(output));
        given.blocks.extend(resources.into_iter().flat_map(ResourceMatches::into_blocks));
        given
    }

    /// Says that nothing was found, and where the search did not look.
    fn empty_note(&self, absent: &[AbsentSource]) -> String {
        let mut note = format!("no matches; searched {} resources", self.searched);
        if self.skipped > 0 {
            let skipped = self.skipped;
            note.push_str(&format!(", skipped {skipped} (binary, too large, or not readable)"));
        }
        if !self.was_recursive {
            note.push_str("; nested folders were not searched");
        }
        if !absent.is_empty() {
            note.push_str("; some sources could not be searched");
        }
        note
    }

    /// The resources, each followed by its lines.
    fn text(&self, note: Option<&str>, cursor: Option<&str>, absent: &[AbsentSource]) -> TextLines {
        let mut lines = TextLines::default();
        let base = common_base(self.resources.iter().map(|one| &one.resource.uri));
        if !base.is_empty() {
            lines.push(&format!("below {base}"));
        }
        for one in &self.resources {
            let uri = &one.resource.uri.as_str()[base.len()..];
            let uri = match uri.contains('%') {
                true => format!("{uri} ({})", decoded(uri)),
                false => uri.to_owned(),
            };
            if self.mode == GrepMode::Lines {
                lines.push(&uri);
                for line in one.line_texts() {
                    lines.push(&line);
                }
            } else {
                lines.push(&format!("{uri}: {}", one.count));
            }
        }
        if let Some(note) = note {
            lines.push(note);
        } else if self.skipped > 0 {
            let skipped = self.skipped;
            lines.push(&format!("skipped {skipped} (binary, too large, or not readable)"));
        }
        write_absences(&mut lines, absent);
        if let Some(cursor) = cursor {
            lines.push(&format!("there is more to search: call again with cursor {cursor}"));
        }
        lines
    }
}

impl ResourceMatches {
    fn new(resource: &Arc<Resource>, total: u64) -> Self {
        let (lines, groups) = (BTreeMap::new(), Vec::new());
        Self { resource: Arc::clone(resource), total, count: 0, lines, groups }
    }

    fn add(&mut self, mode: GrepMode, hit: LineMatch) {
        self.count += 1;
        match mode {
            GrepMode::Files => {}
            GrepMode::Lines => {
                let around = hit.context.text.lines().filter(|_| !hit.context.is_truncated);
                for (number, line) in (hit.context.line..).zip(around) {
                    self.lines.entry(number).or_insert_with(|| (false, line.to_owned()));
                }
                self.lines.insert(hit.line, (true, hit.text));
            }
            GrepMode::Blocks => {
                if !self.groups.last_mut().is_some_and(|group| group.merge(&hit)) {
                    self.groups.push(ContextGroup { context: hit.context, lines: vec![hit.line] });
                }
            }
        }
    }

    /// The lines as ripgrep writes them: `12:text` for a match, `13-text` for context.
    fn line_texts(&self) -> Vec<String> {
        let line = |(number, (is_match, text)): (&u64, &(bool, String))| {
            format!("{number}{}{text}", if *is_match { ':' } else { '-' })
        };
        self.lines.iter().map(line).collect()
    }

    fn into_blocks(self) -> impl Iterator<Item = ContentBlock> {
        let Self { resource, total, groups, .. } = self;
        groups.into_iter().map(move |group| group.into_block(Arc::clone(&resource), total))
    }
}

impl ContextGroup {
    /// Merges the match into this group if their lines overlap or touch.
    fn merge(&mut self, hit: &LineMatch) -> bool {
        let (own, new) = (&mut self.context, &hit.context);
        let end = own.offset + own.text.len() as u64;
        let new_end = new.offset + new.text.len() as u64;
        let touches = new.offset >= own.offset && new.offset <= end;
        if !touches
            || own.is_truncated
            || new.is_truncated
            || new_end.max(end) - own.offset > MAX_GROUP_BYTES as u64
        {
            return false;
        }
        let known = end.min(new_end) - new.offset;
        let Some(more) = new.text.get(known as usize..) else { return false };
        own.text.push_str(more);
        self.lines.push(hit.line);
        true
    }

    fn into_block(self, resource: Arc<Resource>, total: u64) -> ContentBlock {
        let Self { context: stretch, lines } = self;
        let ContextLines { offset, line, text, is_truncated: cut } = stretch;
        let mut slice = Slice::new(offset, text.len() as u64, total);
        slice.lines =
            Some(LineRange { start: line, count: text.lines().count() as u64, truncated: cut });
        let body = Body::Text(ByteSource::Bytes(text.into()));
        ContentBlock::Match(Part { resource, body, slice: Some(slice) }, lines)
    }
}
