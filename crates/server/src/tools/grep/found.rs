//! Collects matching lines and builds the result of `resources_grep`.

use std::fmt::Write;
use std::sync::Arc;

use protocol::tool::{Block, Given};
use resource::{Absence, Body, Lines, Part, Place, Resource, Slice, Source, Uri};
use serde_json::{Value, json};

use super::super::list::{absences, missing};
use super::scan::{Hit, Stretch};

/// Maximum size of a result in bytes, and the overhead that each match adds to its lines.
const ROOM: usize = 1 << 20;
const EACH: usize = 256;
/// Maximum size in bytes of one group of adjacent lines.
const TOGETHER: usize = 8 << 10;

/// The matches of one call so far.
pub(super) struct Found {
    most: usize,
    room: usize,
    matches: Vec<(Uri, Hit)>,
    groups: Vec<Group>,
    /// Counts of searched and of skipped resources.
    pub(super) searched: u64,
    pub(super) skipped: u64,
}

/// Overlapping or adjacent context lines of one resource, returned as one block.
struct Group {
    resource: Arc<Resource>,
    total: u64,
    stretch: Stretch,
    lines: Vec<u64>,
}

/// A point to roll back to: lengths of `matches` and `groups`, and the room left.
pub(super) struct Mark(usize, usize, usize);

impl Found {
    /// An empty result that takes at most `most` matches.
    pub(super) fn new(most: usize) -> Self {
        let (matches, groups) = (Vec::new(), Vec::new());
        Self { most, room: ROOM, matches, groups, searched: 0, skipped: 0 }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.matches.len(), self.groups.len(), self.room)
    }

    /// Rolls back to the mark.
    pub(super) fn forget(&mut self, Mark(matches, groups, room): &Mark) {
        self.matches.truncate(*matches);
        self.groups.truncate(*groups);
        self.room = *room;
    }

    /// Adds a match; returns `false` if it does not fit. `since` marks the start of its resource.
    pub(super) fn add(
        &mut self,
        since: &Mark,
        (resource, total): (&Arc<Resource>, u64),
        hit: Hit,
    ) -> bool {
        // Every line appears in a block and in the structured content, the match also in the text.
        let takes = 2 * (hit.text.len() + hit.around.text.len()) + 3 * resource.uri.as_str().len();
        let fits = takes + EACH <= self.room || self.matches.is_empty();
        if self.matches.len() >= self.most || !fits {
            return false;
        }
        self.room = self.room.saturating_sub(takes + EACH);
        let before = self.groups.get_mut(since.1..).and_then(<[Group]>::last_mut);
        if !before.is_some_and(|group| group.takes(&hit)) {
            let (resource, stretch) = (Arc::clone(resource), hit.around.clone());
            self.groups.push(Group { resource, total, stretch, lines: vec![hit.line] });
        }
        self.matches.push((resource.uri.clone(), hit));
        true
    }

    /// Builds the tool result, with the cursor if there is more to search.
    pub(super) fn given(self, cursor: Option<String>, absent: &[Absence]) -> Given {
        let words = self.words(cursor.as_deref(), absent);
        let each: Vec<Value> =
            self.matches.into_iter().map(|(uri, hit)| shape(&uri, hit)).collect();
        let mut structured = json!({ "matches": each, "searched": self.searched });
        if self.skipped > 0 {
            structured["skipped"] = self.skipped.into();
        }
        if let Some(cursor) = cursor {
            structured["cursor"] = cursor.into();
        }
        if !absent.is_empty() {
            structured["absent"] = absences(absent);
        }
        let mut given = Given::said(words.trim_end(), structured);
        given.blocks.extend(self.groups.into_iter().map(Group::block));
        given
    }

    fn words(&self, cursor: Option<&str>, absent: &[Absence]) -> String {
        let mut words = String::new();
        let same = |one: &(Uri, Hit), other: &(Uri, Hit)| one.0 == other.0;
        let resources = self.matches.chunk_by(same).count();
        let (matches, searched) = (self.matches.len(), self.searched);
        let _ = write!(words, "{matches} matches in {resources} resources; searched {searched}");
        if self.skipped > 0 {
            let skipped = self.skipped;
            let _ = write!(words, ", skipped {skipped} (binary, too large, or not readable)");
        }
        words.push('\n');
        for (uri, Hit { line, text, .. }) in &self.matches {
            let _ = writeln!(words, "{uri}:{line}: {text}");
        }
        missing(&mut words, absent);
        if let Some(cursor) = cursor {
            let _ = writeln!(words, "there is more to search: call again with cursor {cursor}");
        }
        words
    }
}

impl Group {
    /// Merges the match into this group if their lines overlap or touch.
    fn takes(&mut self, hit: &Hit) -> bool {
        let (own, new) = (&mut self.stretch, &hit.around);
        let end = own.offset + own.text.len() as u64;
        let new_end = new.offset + new.text.len() as u64;
        let touches = new.offset >= own.offset && new.offset <= end;
        if !touches || own.cut || new.cut || new_end.max(end) - own.offset > TOGETHER as u64 {
            return false;
        }
        let known = end.min(new_end) - new.offset;
        let Some(more) = new.text.get(known as usize..) else { return false };
        own.text.push_str(more);
        self.lines.push(hit.line);
        true
    }

    fn block(self) -> Block {
        let Self { mut resource, total, stretch, lines } = self;
        let Stretch { offset, line, text, cut } = stretch;
        let mut found = json!({ "line": lines.first() });
        if lines.len() > 1 {
            found["lines"] = lines.into();
        }
        let extra = &mut Arc::make_mut(&mut resource).extra;
        extra.put(Place::Meta, "dev.refdesk/match", found.to_string());
        let mut slice = Slice::new(offset, text.len() as u64, total);
        slice.lines = Some(Lines { start: line, count: text.lines().count() as u64, cut });
        let body = Body::Text(Source::Bytes(text.into()));
        Block::Embedded(Part { resource, body, slice: Some(slice) })
    }
}

fn shape(uri: &Uri, hit: Hit) -> Value {
    let Hit { line, text, around } = hit;
    json!({ "uri": uri.as_str(), "line": line, "text": text,
        "start_line": around.line, "context": around.text })
}
