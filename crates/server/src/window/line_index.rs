//! Line index: an LRU cache of known line offsets per resource version.
//!
//! At most 256 resources with 64 offsets each.

use machinery::{Cache, CacheBounds};
use resource::Uri;

/// The most resources in the index.
const MAX_RESOURCES: usize = 256;

/// The most offsets per resource.
const MAX_OFFSETS: usize = 64;

/// Offsets of lines that earlier reads have found, so that the next window need not count from the
/// first line again. Each is valid for one version only.
pub(crate) struct LineIndex(Cache<Uri, LineOffsets>);

struct LineOffsets {
    etag: String,
    /// Sorted, without duplicates.
    starts: Vec<LineStart>,
}

/// The start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LineStart {
    /// Index of the part.
    pub(super) part: usize,
    /// The line, counted from 1.
    pub(super) line: u64,
    /// Its byte offset.
    pub(super) offset: u64,
}

impl LineStart {
    /// The start of a part.
    pub(super) fn first(part: usize) -> Self {
        Self { part, line: 1, offset: 0 }
    }
}

impl Default for LineIndex {
    fn default() -> Self {
        Self(Cache::new(CacheBounds::entries(MAX_RESOURCES)))
    }
}

impl LineIndex {
    /// The version that the index holds.
    pub(super) fn etag(&self, uri: &Uri) -> Option<String> {
        self.0.with(uri, |seen| seen.etag.clone())
    }

    /// The last known line start at or before `line`.
    pub(super) fn nearest_before(
        &self,
        uri: &Uri,
        etag: &str,
        part: usize,
        line: u64,
    ) -> Option<LineStart> {
        let behind = LineStart { part, line, offset: u64::MAX };
        let nearest = |seen: &mut LineOffsets| {
            let starts = Some(&seen.starts).filter(|_| seen.etag == etag)?;
            let count = starts.partition_point(|place| *place <= behind);
            starts[..count].last().filter(|place| place.part == part).copied()
        };
        self.0.with(uri, nearest).flatten()
    }

    /// Adds a line start of one version and drops those of any other version.
    pub(super) fn insert(&self, uri: &Uri, etag: &str, start: LineStart) {
        let is_added = self.0.with(uri, |seen| {
            let is_same = seen.etag == etag;
            if is_same {
                seen.insert_start(start);
            }
            is_same
        });
        if is_added != Some(true) {
            let seen = LineOffsets { etag: etag.to_owned(), starts: vec![start] };
            self.0.insert(uri.clone(), seen, 1);
        }
    }

    /// Drops the entry of a resource.
    pub(super) fn remove(&self, uri: &Uri) {
        self.0.remove(uri);
    }
}

impl LineOffsets {
    fn insert_start(&mut self, start: LineStart) {
        let Err(at) = self.starts.binary_search(&start) else { return };
        self.starts.insert(at, start);
        if self.starts.len() > MAX_OFFSETS {
            // Evict the entry with the smallest gap: the rest stay spread over the resource.
            let inner = (1..MAX_OFFSETS).filter(|inner| *inner != at);
            if let Some(least) = inner.min_by_key(|inner| self.gap(*inner)) {
                self.starts.remove(least);
            }
        }
    }

    /// Distance between the neighbours of an entry.
    fn gap(&self, at: usize) -> u64 {
        let (before, after) = (self.starts[at - 1], self.starts[at + 1]);
        if before.part == after.part {
            after.offset.saturating_sub(before.offset)
        } else {
            u64::MAX
        }
    }
}

#[cfg(test)]
mod tests {
    use resource::Uri;

    use super::{LineIndex, LineStart, MAX_OFFSETS, MAX_RESOURCES};

    fn uri(at: usize) -> Uri {
        Uri::parse(&format!("test:{at}")).unwrap()
    }

    fn place(line: u64) -> LineStart {
        LineStart { part: 0, line, offset: line * 10 }
    }

    #[test]
    fn the_nearest_place_before_a_line_is_found_in_its_own_part() {
        let (marks, uri) = (LineIndex::default(), uri(0));
        for line in [5, 9, 7] {
            marks.insert(&uri, "e", place(line));
        }
        marks.insert(&uri, "e", LineStart { part: 1, line: 3, offset: 1 });
        let before =
            |part, line| marks.nearest_before(&uri, "e", part, line).map(|place| place.line);
        assert_eq!(before(0, 8), Some(7));
        assert_eq!(before(0, 7), Some(7));
        assert_eq!(before(0, 4), None);
        assert_eq!(before(1, 2), None);
        assert_eq!(before(1, 100), Some(3));
    }

    #[test]
    fn another_version_has_other_places() {
        let (marks, uri) = (LineIndex::default(), uri(0));
        marks.insert(&uri, "old", place(5));
        assert_eq!(marks.nearest_before(&uri, "new", 0, 9), None);
        marks.insert(&uri, "new", place(7));
        assert_eq!(marks.etag(&uri).as_deref(), Some("new"));
        assert_eq!(marks.nearest_before(&uri, "old", 0, 9), None);
        assert_eq!(marks.nearest_before(&uri, "new", 0, 6), None);
        marks.remove(&uri);
        assert_eq!(marks.etag(&uri), None);
    }

    #[test]
    fn places_and_resources_are_bounded_and_the_latest_stay() {
        let marks = LineIndex::default();
        for line in 1..=10_000 {
            marks.insert(&uri(0), "e", place(line));
            assert_eq!(marks.nearest_before(&uri(0), "e", 0, line), Some(place(line)));
        }
        assert!(marks.0.with(&uri(0), |seen| seen.starts.len()).unwrap() <= MAX_OFFSETS);
        for line in (1000..10_000).step_by(1000) {
            let near = marks.nearest_before(&uri(0), "e", 0, line).unwrap().line;
            assert!(line - near < 500, "what is known before {line} is {near}");
        }
        for at in 1..=MAX_RESOURCES {
            marks.insert(&uri(at), "e", place(1));
        }
        assert_eq!(marks.0.len(), MAX_RESOURCES);
        assert_eq!(marks.etag(&uri(0)), None, "the one that was not used for longest is gone");
        assert!(marks.etag(&uri(MAX_RESOURCES)).is_some());
    }
}
