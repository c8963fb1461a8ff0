//! Cache of files that were read by URI, so that reading them again opens nothing.

use std::sync::Arc;

use bytes::Bytes;
use machinery::{Cache, CacheBounds};
use resource::{Body, ByteSource, Part, Resource, Result, Uri, Window};

use super::ref_stamp::RefStamp;

/// Memory limit of the cache, in bytes.
const CACHE_BYTES: usize = 8 << 20;

/// Largest file that is cached, in bytes.
const MAX_FILE: usize = 256 << 10;

/// Bytes of one entry besides content and URI.
const ENTRY_OVERHEAD: usize = size_of::<Resource>() + 1024;

/// Files by the URI that the client used.
pub(super) struct ReadCache(Cache<Uri, Arc<CachedFile>>);

/// A file as it was read.
pub(super) struct CachedFile {
    pub(super) resource: Arc<Resource>,
    pub(super) bytes: Bytes,
    pub(super) is_text: bool,
    /// `None` if the URI never names anything else.
    pub(super) stamp: Option<Arc<RefStamp>>,
}

impl Default for ReadCache {
    fn default() -> Self {
        Self(Cache::new(CacheBounds::weight(CACHE_BYTES)))
    }
}

impl ReadCache {
    /// The file, if the revision in its URI still means the same.
    pub(super) fn get(&self, uri: &Uri) -> Option<Arc<CachedFile>> {
        let file = self.0.get(uri)?;
        file.stamp.as_ref().is_none_or(|stamp| stamp.is_current()).then_some(file)
    }

    pub(super) fn insert(&self, file: CachedFile) {
        if file.bytes.len() <= MAX_FILE {
            let uri = file.resource.uri.clone();
            let weight = ENTRY_OVERHEAD + 2 * uri.as_str().len() + file.bytes.len();
            self.0.insert(uri, Arc::new(file), weight);
        }
    }
}

impl CachedFile {
    /// The part that `window` shows.
    pub(super) fn part(&self, window: &Window) -> Result<Part> {
        window.check(self.resource.etag.as_deref(), self.bytes.len() as u64)?;
        let (bytes, slice) = window.cut(&self.bytes, self.is_text);
        let body = Body::new(ByteSource::Bytes(bytes), self.is_text);
        Ok(Part { resource: Arc::clone(&self.resource), body, slice })
    }
}
