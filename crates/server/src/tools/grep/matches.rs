//! Collects matching lines and builds the result of `resources_grep`.

use std::fmt::Write;
use std::sync::Arc;

use protocol::inbound::tool::output::{GrepMatch, GrepOutput};
use protocol::inbound::tool::{ContentBlock, TextLines, ToolOutput, ToolResult};
use resource::{Absence, Body, ByteSource, LineRange, Part, Resource, Slice, Uri};

use super::super::list::write_absences;
use super::line_scanner::{ContextLines, LineMatch};

/// Maximum size of a result in bytes, and the overhead that each match adds to its lines.
const MAX_RESULT_BYTES: usize = 1 << 20;
const MATCH_OVERHEAD: usize = 256;
/// Maximum size in bytes of one group of adjacent lines.
const MAX_GROUP_BYTES: usize = 8 << 10;

/// The matches of one call so far.
pub(super) struct GrepMatches {
    max_matches: usize,
    bytes_left: usize,
    matches: Vec<(Uri, LineMatch)>,
    groups: Vec<ContextGroup>,
    /// Counts of searched and of skipped resources.
    pub(super) searched: u64,
    pub(super) skipped: u64,
}

/// Overlapping or adjacent context lines of one resource, returned as one block.
struct ContextGroup {
    resource: Arc<Resource>,
    total: u64,
    context: ContextLines,
    lines: Vec<u64>,
}

/// A point to roll back to: lengths of `matches` and `groups`, and the room left.
pub(super) struct MatchCheckpoint(usize, usize, usize);

impl GrepMatches {
    /// An empty result that takes at most `most` matches.
    pub(super) fn new(max_matches: usize) -> Self {
        let (matches, groups) = (Vec::new(), Vec::new());
        Self { max_matches, bytes_left: MAX_RESULT_BYTES, matches, groups, searched: 0, skipped: 0 }
    }

    pub(super) fn checkpoint(&self) -> MatchCheckpoint {
        MatchCheckpoint(self.matches.len(), self.groups.len(), self.bytes_left)
    }

    /// Rolls back to the mark.
    pub(super) fn roll_back(&mut self, MatchCheckpoint(matches, groups, room): &MatchCheckpoint) {
        self.matches.truncate(*matches);
        self.groups.truncate(*groups);
        self.bytes_left = *room;
    }

    /// Adds a match; returns `false` if it does not fit. `since` marks the start of its resource.
    pub(super) fn add_match(
        &mut self,
        since: &MatchCheckpoint,
        (resource, total): (&Arc<Resource>, u64),
        hit: LineMatch,
    ) -> bool {
        // Every line appears in a block and in the structured content, the match also in the text.
        let takes = 2 * (hit.text.len() + hit.context.text.len()) + 3 * resource.uri.as_str().len();
        let fits = takes + MATCH_OVERHEAD <= self.bytes_left || self.matches.is_empty();
        if self.matches.len() >= self.max_matches || !fits {
            return false;
        }
        self.bytes_left = self.bytes_left.saturating_sub(takes + MATCH_OVERHEAD);
        let before = self.groups.get_mut(since.1..).and_then(<[ContextGroup]>::last_mut);
        if !before.is_some_and(|group| group.merge(&hit)) {
            let (resource, stretch) = (Arc::clone(resource), hit.context.clone());
            self.groups.push(ContextGroup {
                resource,
                total,
                context: stretch,
                lines: vec![hit.line],
            });
        }
        self.matches.push((resource.uri.clone(), hit));
        true
    }

    /// Builds the tool result, with the cursor if there is more to search.
    pub(super) fn into_result(self, cursor: Option<String>, absent: Vec<Absence>) -> ToolResult {
        let lines = self.summary_text(cursor.as_deref(), &absent);
        let Self { matches, groups, searched, skipped, .. } = self;
        let matches = matches.into_iter().map(|(uri, hit)| {
            let LineMatch { line, text, context } = hit;
            GrepMatch { uri, line, text, start_line: context.line, context: context.text }
        });
        let matches = matches.collect();
        let output = GrepOutput { matches, searched, skipped, cursor, absent };
        let mut given = ToolResult::with_text(lines, ToolOutput::Grep(output));
        given.blocks.extend(groups.into_iter().map(ContextGroup::into_block));
        given
    }

    fn summary_text(&self, cursor: Option<&str>, absent: &[Absence]) -> TextLines {
        let mut lines = TextLines::default();
        let same = |one: &(Uri, LineMatch), other: &(Uri, LineMatch)| one.0 == other.0;
        let resources = self.matches.chunk_by(same).count();
        let (matches, searched) = (self.matches.len(), self.searched);
        let mut total = format!("{matches} matches in {resources} resources; searched {searched}");
        if self.skipped > 0 {
            let skipped = self.skipped;
            let _ = write!(total, ", skipped {skipped} (binary, too large, or not readable)");
        }
        lines.push(&total);
        for (uri, LineMatch { line, text, .. }) in &self.matches {
            lines.push(&format!("{uri}:{line}: {text}"));
        }
        write_absences(&mut lines, absent);
        if let Some(cursor) = cursor {
            lines.push(&format!("there is more to search: call again with cursor {cursor}"));
        }
        lines
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

    fn into_block(self) -> ContentBlock {
        let Self { resource, total, context: stretch, lines } = self;
        let ContextLines { offset, line, text, is_truncated: cut } = stretch;
        let mut slice = Slice::new(offset, text.len() as u64, total);
        slice.lines =
            Some(LineRange { start: line, count: text.lines().count() as u64, truncated: cut });
        let body = Body::Text(ByteSource::Bytes(text.into()));
        ContentBlock::Match(Part { resource, body, slice: Some(slice) }, lines)
    }
}
