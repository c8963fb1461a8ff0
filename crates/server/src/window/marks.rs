//! Line index: an LRU cache of known line offsets per resource version.
//!
//! At most 256 resources with 64 offsets each.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use resource::Uri;

/// The most resources in the index.
const RESOURCES: usize = 256;

/// The most offsets per resource.
const PLACES: usize = 64;

/// Offsets of lines that earlier reads have found, so that the next window need not count from the
/// first line again. Each is valid for one version only.
#[derive(Default)]
pub(crate) struct Marks {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    seen: HashMap<Uri, Seen>,
    clock: u64,
}

struct Seen {
    etag: String,
    /// Sorted, without duplicates.
    places: Vec<Place>,
    used: u64,
}

/// The start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Index of the part.
    pub(super) part: usize,
    /// The line, counted from 1.
    pub(super) line: u64,
    /// Its byte offset.
    pub(super) offset: u64,
}

impl Place {
    /// The start of a part.
    pub(super) fn first(part: usize) -> Self {
        Self { part, line: 1, offset: 0 }
    }
}

impl Marks {
    /// The version that the index holds.
    pub(super) fn etag(&self, uri: &Uri) -> Option<String> {
        self.lock().seen.get(uri).map(|seen| seen.etag.clone())
    }

    /// The last known line start at or before `line`.
    pub(super) fn before(&self, uri: &Uri, etag: &str, part: usize, line: u64) -> Option<Place> {
        let mut inner = self.lock();
        inner.clock += 1;
        let clock = inner.clock;
        let seen = inner.seen.get_mut(uri).filter(|seen| seen.etag == etag)?;
        seen.used = clock;
        let behind = Place { part, line, offset: u64::MAX };
        let count = seen.places.partition_point(|place| *place <= behind);
        seen.places[..count].last().filter(|place| place.part == part).copied()
    }

    /// Adds a line start of one version and drops those of any other version.
    pub(super) fn put(&self, uri: &Uri, etag: &str, place: Place) {
        let mut inner = self.lock();
        inner.clock += 1;
        let clock = inner.clock;
        if inner.seen.get(uri).is_none_or(|seen| seen.etag != etag) {
            inner.make_room(uri);
            let seen = Seen { etag: etag.to_owned(), places: Vec::new(), used: clock };
            inner.seen.insert(uri.clone(), seen);
        }
        if let Some(seen) = inner.seen.get_mut(uri) {
            seen.used = clock;
            seen.put(place);
        }
    }

    /// Drops the entry of a resource.
    pub(super) fn forget(&self, uri: &Uri) {
        self.lock().seen.remove(uri);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn make_room(&mut self, uri: &Uri) {
        if self.seen.len() < RESOURCES || self.seen.contains_key(uri) {
            return;
        }
        let oldest = self.seen.iter().min_by_key(|(_, seen)| seen.used);
        if let Some(oldest) = oldest.map(|(uri, _)| uri.clone()) {
            self.seen.remove(&oldest);
        }
    }
}

impl Seen {
    fn put(&mut self, place: Place) {
        let Err(at) = self.places.binary_search(&place) else { return };
        self.places.insert(at, place);
        if self.places.len() > PLACES {
            // Evict the entry with the smallest gap: the rest stay spread over the resource.
            let inner = (1..PLACES).filter(|inner| *inner != at);
            if let Some(least) = inner.min_by_key(|inner| self.gap(*inner)) {
                self.places.remove(least);
            }
        }
    }

    /// Distance between the neighbours of an entry.
    fn gap(&self, at: usize) -> u64 {
        let (before, after) = (self.places[at - 1], self.places[at + 1]);
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

    use super::{Marks, PLACES, Place, RESOURCES};

    fn uri(at: usize) -> Uri {
        Uri::parse(&format!("test:{at}")).unwrap()
    }

    fn place(line: u64) -> Place {
        Place { part: 0, line, offset: line * 10 }
    }

    #[test]
    fn the_nearest_place_before_a_line_is_found_in_its_own_part() {
        let (marks, uri) = (Marks::default(), uri(0));
        for line in [5, 9, 7] {
            marks.put(&uri, "e", place(line));
        }
        marks.put(&uri, "e", Place { part: 1, line: 3, offset: 1 });
        let before = |part, line| marks.before(&uri, "e", part, line).map(|place| place.line);
        assert_eq!(before(0, 8), Some(7));
        assert_eq!(before(0, 7), Some(7));
        assert_eq!(before(0, 4), None);
        assert_eq!(before(1, 2), None);
        assert_eq!(before(1, 100), Some(3));
    }

    #[test]
    fn another_version_has_other_places() {
        let (marks, uri) = (Marks::default(), uri(0));
        marks.put(&uri, "old", place(5));
        assert_eq!(marks.before(&uri, "new", 0, 9), None);
        marks.put(&uri, "new", place(7));
        assert_eq!(marks.etag(&uri).as_deref(), Some("new"));
        assert_eq!(marks.before(&uri, "old", 0, 9), None);
        assert_eq!(marks.before(&uri, "new", 0, 6), None);
        marks.forget(&uri);
        assert_eq!(marks.etag(&uri), None);
    }

    #[test]
    fn places_and_resources_are_bounded_and_the_latest_stay() {
        let marks = Marks::default();
        for line in 1..=10_000 {
            marks.put(&uri(0), "e", place(line));
            assert_eq!(marks.before(&uri(0), "e", 0, line), Some(place(line)));
        }
        assert!(marks.lock().seen[&uri(0)].places.len() <= PLACES);
        for line in (1000..10_000).step_by(1000) {
            let near = marks.before(&uri(0), "e", 0, line).unwrap().line;
            assert!(line - near < 500, "what is known before {line} is {near}");
        }
        for at in 1..=RESOURCES {
            marks.put(&uri(at), "e", place(1));
        }
        assert_eq!(marks.lock().seen.len(), RESOURCES);
        assert_eq!(marks.etag(&uri(0)), None, "the one that was not used for longest is gone");
        assert!(marks.etag(&uri(RESOURCES)).is_some());
    }
}
