//! Cache of the resource descriptions in listings, bounded by memory.
//!
//! A description depends only on path and stamp. While the stamp is the same, every listing returns
//! the same `Arc`, so later stages recognise it by pointer.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hasher};
use std::sync::Arc;

use resource::{Resource, Truth};

use super::describe::describe;
use super::path::{Local, uri_in};
use super::shelf::Shelf;
use super::stamp::Stamp;
use crate::vigil::{Look, Trust};

/// Memory limit of the cache, in bytes.
const KEPT: usize = 16 * 1024 * 1024;

/// Bytes of one entry besides its strings: the description, its slots in the hash table and the
/// allocator's overhead.
const FRAME: usize = size_of::<Resource>() + 2 * size_of::<(u64, Entry)>() + 128;

/// Cached descriptions, by hash of the path.
pub(super) struct Entries {
    shelf: Shelf<u64, Entry, BuildHasherDefault<Marked>>,
    marks: RandomState,
    watchable: Truth,
}

#[derive(Clone)]
struct Entry {
    stamp: Stamp,
    resource: Arc<Resource>,
    /// When the file was last checked, if its folder was watched then.
    look: Option<Look>,
}

/// The descriptions of one folder's children.
pub(super) struct Series<'a> {
    entries: &'a Entries,
    folder: Local,
    mark: DefaultHasher,
    prefix: Option<String>,
}

impl Entries {
    /// An empty cache. All descriptions say `watchable`.
    pub(super) fn new(watchable: Truth) -> Self {
        Self { shelf: Shelf::new(KEPT), marks: RandomState::new(), watchable }
    }

    /// Returns the descriptions of the children of `folder`, the path by which the client asked.
    pub(super) fn series(&self, folder: &Local) -> Series<'_> {
        let mut mark = self.marks.build_hasher();
        mark.write(folder.as_bytes());
        mark.write_u8(b'/');
        Series { entries: self, folder: folder.clone(), mark, prefix: None }
    }

    #[cfg(test)]
    pub(super) fn weight(&self) -> usize {
        self.shelf.weight()
    }
}

impl Series<'_> {
    /// Returns the description of `name`, from the cache if `stamp` is unchanged. With `trust`,
    /// also records when the file was checked.
    pub(super) fn entry(
        &mut self,
        name: &[u8],
        stamp: &Stamp,
        trust: Option<&Trust>,
    ) -> Arc<Resource> {
        let mark = self.mark(name);
        let look = trust.map(Trust::look);
        if let Some(kept) = self.kept(mark, name)
            && kept.stamp == *stamp
        {
            let resource = kept.resource.clone();
            if look.is_some() {
                let weight = weight(&resource);
                self.entries.shelf.keep(&mark, Entry { look, ..kept }, weight);
            }
            return resource;
        }
        let prefix = self.prefix.get_or_insert_with(|| self.folder.uri_prefix());
        let resource =
            Arc::new(describe(uri_in(prefix, name), Some(name), stamp, self.entries.watchable));
        let entry = Entry { stamp: *stamp, resource: resource.clone(), look };
        self.entries.shelf.keep(&mark, entry, weight(&resource));
        resource
    }

    /// Returns the cached description of `name` and when it was checked, if `trust` shows that the
    /// file has not changed since.
    pub(super) fn trusted(&self, name: &[u8], trust: &Trust) -> Option<(Arc<Resource>, Look)> {
        let kept = self.kept(self.mark(name), name)?;
        let look = kept.look.filter(|look| trust.covers(*look, name))?;
        Some((kept.resource, look))
    }

    fn kept(&self, mark: u64, name: &[u8]) -> Option<Entry> {
        // A collision of 64-bit hashes is very unlikely; one with the same name and the same inode
        // even more so.
        self.entries.shelf.get(&mark).filter(|kept| {
            kept.resource.name.as_bytes() == name
                || kept.resource.name == String::from_utf8_lossy(name)
        })
    }

    fn mark(&self, name: &[u8]) -> u64 {
        let mut mark = self.mark.clone();
        mark.write(name);
        mark.finish()
    }
}

fn weight(resource: &Resource) -> usize {
    FRAME + resource.uri.as_str().len() + resource.name.len()
}

/// Hasher that returns a key, itself a hash, unchanged.
#[derive(Default)]
struct Marked(u64);

impl Hasher for Marked {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, mark: u64) {
        self.0 = mark;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resource::Truth;
    use rustix::fs::fstat;

    use super::{Entries, KEPT};
    use crate::fs::path::Local;
    use crate::fs::stamp::Stamp;

    #[test]
    fn memory_is_bounded_however_many_are_given() {
        let entries = Entries::new(Truth::Yes);
        let stamp = Stamp::of(&fstat(tempfile::tempfile().unwrap()).unwrap());
        let mut series = entries.series(&Local::default());
        let first = series.entry(b"0", &stamp, None);
        assert!(Arc::ptr_eq(&first, &series.entry(b"0", &stamp, None)));
        for number in 0..100_000 {
            series.entry(number.to_string().as_bytes(), &stamp, None);
        }
        assert!((KEPT / 2..=KEPT).contains(&entries.weight()));
        assert!(!Arc::ptr_eq(&first, &series.entry(b"0", &stamp, None)));
    }
}
