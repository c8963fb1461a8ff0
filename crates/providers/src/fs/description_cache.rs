//! Cache of the resource descriptions in listings, bounded by memory.
//!
//! A description depends only on path and stamp. While the stamp is the same, every listing returns
//! the same `Arc`, so later stages recognise it by pointer.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hasher};
use std::sync::Arc;

use machinery::{Cache, CacheBounds};
use resource::Resource;

use super::describe::describe;
use super::path::{LocalPath, child_uri};
use super::stamp::FileStamp;
use crate::file_watch::{CheckStamp, Validity};

/// Memory limit of the cache, in bytes.
const CACHE_BYTES: usize = 14 * 1024 * 1024;

/// Bytes of one entry besides its strings: the description, its node and slots in the hash table and the
/// allocator's overhead.
const ENTRY_OVERHEAD: usize = size_of::<Resource>() + size_of::<(u64, CachedDescription)>() + 224;

/// Cached descriptions, by hash of the path.
pub(super) struct DescriptionCache {
    cache: Cache<u64, CachedDescription, BuildHasherDefault<PrehashedHasher>>,
    path_hasher: RandomState,
    watchable: Option<bool>,
}

#[derive(Clone)]
struct CachedDescription {
    stamp: FileStamp,
    resource: Arc<Resource>,
    /// When the file was last checked, if its folder was watched then.
    checked_at: Option<CheckStamp>,
}

/// The descriptions of one folder's children.
pub(super) struct FolderDescriptions<'a> {
    cache: &'a DescriptionCache,
    folder: LocalPath,
    folder_hash: DefaultHasher,
    uri_prefix: Option<String>,
}

impl DescriptionCache {
    /// An empty cache. All descriptions say `watchable`.
    pub(super) fn new(watchable: Option<bool>) -> Self {
        let cache = Cache::new(CacheBounds::weight(CACHE_BYTES));
        Self { cache, path_hasher: RandomState::new(), watchable }
    }

    /// Returns the descriptions of the children of `folder`, the path by which the client asked.
    pub(super) fn for_folder(&self, folder: &LocalPath) -> FolderDescriptions<'_> {
        let mut mark = self.path_hasher.build_hasher();
        mark.write(folder.as_bytes());
        mark.write_u8(b'/');
        FolderDescriptions {
            cache: self,
            folder: folder.clone(),
            folder_hash: mark,
            uri_prefix: None,
        }
    }

    #[cfg(test)]
    pub(super) fn weight(&self) -> usize {
        self.cache.weight()
    }
}

impl FolderDescriptions<'_> {
    /// Returns the description of `name`, from the cache if the file is unchanged. With `trust`,
    /// also records when the file was checked.
    pub(super) fn get_or_describe(
        &mut self,
        name: &[u8],
        (stamp, link_target): (&FileStamp, Option<Arc<str>>),
        validity: Option<&Validity>,
    ) -> Arc<Resource> {
        let mark = self.path_hash(name);
        let look = validity.map(Validity::stamp);
        let known = self.cache.cache.with(&mark, |kept| {
            let is_same = kept.is_named(name)
                && kept.stamp == *stamp
                && kept.resource.link_target == link_target;
            kept.checked_at = look.filter(|_| is_same).or(kept.checked_at);
            is_same.then(|| kept.resource.clone())
        });
        if let Some(resource) = known.flatten() {
            return resource;
        }
        let prefix = self.uri_prefix.get_or_insert_with(|| self.folder.uri_prefix());
        let uri = child_uri(prefix, name);
        let mut resource = describe(uri, Some(name), stamp, self.cache.watchable);
        resource.link_target = link_target;
        let resource = Arc::new(resource);
        let entry =
            CachedDescription { stamp: *stamp, resource: resource.clone(), checked_at: look };
        self.cache.cache.insert(mark, entry, weight(&resource));
        resource
    }

    /// Returns the cached description of `name` and when it was checked, if `trust` shows that the
    /// file has not changed since.
    pub(super) fn get_if_valid(
        &self,
        name: &[u8],
        validity: &Validity,
    ) -> Option<(Arc<Resource>, CheckStamp)> {
        let kept = self.cache.cache.get(&self.path_hash(name))?;
        if !kept.is_named(name) {
            return None;
        }
        let look = kept.checked_at.filter(|look| validity.covers(*look, name))?;
        Some((kept.resource, look))
    }

    fn path_hash(&self, name: &[u8]) -> u64 {
        let mut mark = self.folder_hash.clone();
        mark.write(name);
        mark.finish()
    }
}

impl CachedDescription {
    /// A collision of 64-bit hashes is very unlikely; one with the same name and the same inode
    /// even more so.
    fn is_named(&self, name: &[u8]) -> bool {
        let own = &self.resource.name;
        own.as_bytes() == name || *own == String::from_utf8_lossy(name)
    }
}

fn weight(resource: &Resource) -> usize {
    let target = resource.link_target.as_ref().map_or(0, |target| target.len());
    ENTRY_OVERHEAD + resource.uri.as_str().len() + resource.name.len() + target
}

/// Hasher that returns a key, itself a hash, unchanged.
#[derive(Default)]
struct PrehashedHasher(u64);

impl Hasher for PrehashedHasher {
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

    use super::{CACHE_BYTES, DescriptionCache};
    use crate::fs::path::LocalPath;
    use crate::fs::platform::FileApi;

    #[test]
    fn memory_is_bounded_however_many_are_given() {
        let entries = DescriptionCache::new(Some(true));
        let file = tempfile::NamedTempFile::new().unwrap();
        let stamp = FileApi::Native.stat(file.path()).unwrap();
        let mut series = entries.for_folder(&LocalPath::default());
        let first = series.get_or_describe(b"0", (&stamp, None), None);
        assert!(Arc::ptr_eq(&first, &series.get_or_describe(b"0", (&stamp, None), None)));
        for number in 0..100_000 {
            series.get_or_describe(number.to_string().as_bytes(), (&stamp, None), None);
        }
        assert!((CACHE_BYTES / 2..=CACHE_BYTES).contains(&entries.weight()));
        assert!(!Arc::ptr_eq(&first, &series.get_or_describe(b"0", (&stamp, None), None)));
    }
}
