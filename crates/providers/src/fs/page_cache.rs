//! Cache of listing pages: runs of consecutive file descriptions in one folder.
//!
//! Clients list an unchanged folder over and over. A hit here saves one lookup per file in the
//! description cache.

use std::sync::{Arc, Weak};

use machinery::{Cache, CacheBounds};
use resource::{Items, Resource};

use super::description_cache::FolderDescriptions;
use super::folder_names::FolderNames;
use super::path::LocalPath;
use super::stamp::FileKind;
use crate::file_watch::{CheckStamp, Validity};

/// Bounds of the cache, in bytes: more than 10,000 files. Most descriptions are shared with the
/// description cache. A long page may exceed them alone.
const CACHE_BOUNDS: CacheBounds =
    CacheBounds { heaviest: 16 * 1024 * 1024, ..CacheBounds::weight(6 * 1024 * 1024) };

/// Bytes of one page besides its descriptions.
const PAGE_OVERHEAD: usize = size_of::<CachedPage>() + size_of::<FolderNames>() + 256;

/// Pages by folder, start and length.
pub(super) struct PageCache {
    cache: Cache<(Vec<u8>, usize, usize), Arc<CachedPage>>,
}

struct CachedPage {
    names: Weak<FolderNames>,
    /// When the page counts as checked, as if all its files had been checked at once.
    checked_at: CheckStamp,
    items: Items<Resource>,
}

impl PageCache {
    pub(super) fn new() -> Self {
        Self { cache: Cache::new(CACHE_BOUNDS) }
    }

    /// Returns the descriptions of up to `most` files from `start` on. Stops at the first entry
    /// that is no file, or whose cached description `trust` does not cover.
    pub(super) fn get_or_build(
        &self,
        (shown, names): (&LocalPath, &Arc<FolderNames>),
        (start, most): (usize, usize),
        series: &FolderDescriptions<'_>,
        validity: &Validity,
    ) -> Items<Resource> {
        let key = (shown.as_bytes().to_vec(), start, most);
        if let Some(kept) = self.cache.get(&key)
            && std::ptr::eq(kept.names.as_ptr(), Arc::as_ptr(names))
            && validity.covers_all(kept.checked_at)
        {
            return kept.items.clone();
        }
        let mut items = Vec::with_capacity(most.min(names.len().saturating_sub(start)));
        let mut look = validity.stamp();
        for index in start..start.saturating_add(most) {
            let Some((name, FileKind::File)) = names.get(index) else { break };
            let Some((item, seen)) = series.get_if_valid(name, validity) else {
                return items.into();
            };
            look = validity.merge(look, seen);
            items.push(item);
        }
        let mut items = Items::from(items);
        if !items.is_empty() {
            let weight =
                PAGE_OVERHEAD + key.0.len() + items.iter().map(|item| weight(item)).sum::<usize>();
            let stretch =
                CachedPage { names: Arc::downgrade(names), checked_at: look, items: items.share() };
            self.cache.insert(key, Arc::new(stretch), weight);
        }
        items
    }
}

fn weight(resource: &Resource) -> usize {
    size_of::<Resource>() + resource.uri.as_str().len() + resource.name.len() + 64
}
