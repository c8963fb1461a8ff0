//! Cache of the content of files of up to a mebibyte, bounded by memory.
//!
//! A hit costs one stat call instead of opening, reading and closing the file, and finds its MIME
//! type and charset known. An entry serves as long as the file has the stamp it had when it was
//! read.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use machinery::{Cache, CacheBounds};
use resource::{Body, ByteSource, Part, Resource, Uri};

use super::file_form::MAX_IN_MEMORY;
use super::stamp::FileStamp;

/// Memory limit of the cache, in bytes.
const CACHE_BYTES: usize = 8 * 1024 * 1024;

/// Largest file that is cached, in bytes: one that is read at once.
const MAX_FILE: u64 = MAX_IN_MEMORY;

/// Bytes of one entry besides content and URI.
const ENTRY_OVERHEAD: usize = size_of::<Resource>() + size_of::<CachedContent>() + 512;

/// The content of small files, by the URI that the client used.
pub(super) struct ContentCache {
    cache: Cache<Uri, Arc<CachedContent>>,
    /// How old a change must be before its timestamp is reliable; see `is_settled`.
    clock_margin: Duration,
}

/// The whole content of one file.
pub(super) struct CachedContent {
    pub(super) stamp: FileStamp,
    resource: Arc<Resource>,
    is_text: bool,
    bytes: Bytes,
}

impl ContentCache {
    pub(super) fn new(clock_margin: Duration) -> Self {
        Self { cache: Cache::new(CacheBounds::weight(CACHE_BYTES)), clock_margin }
    }

    /// Returns the content of `uri`. The caller checks that the file still has its stamp.
    pub(super) fn get(&self, uri: &Uri) -> Option<Arc<CachedContent>> {
        self.cache.get(uri)
    }

    /// True if a file with this stamp is cached: it is small, and any later change of it is
    /// certain to change its stamp.
    pub(super) fn accepts(&self, stamp: &FileStamp) -> bool {
        stamp.size <= MAX_FILE && stamp.is_settled(SystemTime::now(), self.clock_margin)
    }

    /// Caches `part`, the whole of the file that had `stamp` before and after it was read.
    pub(super) fn insert(&self, stamp: FileStamp, part: &Part) {
        let (is_text, bytes) = match &part.body {
            Body::Text(ByteSource::Bytes(bytes)) => (true, bytes),
            Body::Blob(ByteSource::Bytes(bytes)) => (false, bytes),
            Body::Text(_) | Body::Blob(_) => return,
        };
        let (resource, bytes) = (part.resource.clone(), bytes.clone());
        let key = resource.uri.clone();
        let weight = ENTRY_OVERHEAD + 2 * key.as_str().len() + bytes.len();
        let content = CachedContent { stamp, resource, is_text, bytes };
        self.cache.insert(key, Arc::new(content), weight);
    }
}

impl CachedContent {
    /// The path that links led to when it was read. Another name of the same file has its stamp.
    pub(super) fn link_target(&self) -> Option<&str> {
        self.resource.link_target.as_deref()
    }

    pub(super) fn part(&self) -> Part {
        let source = ByteSource::Bytes(self.bytes.clone());
        let body = if self.is_text { Body::Text(source) } else { Body::Blob(source) };
        Part { resource: self.resource.clone(), body, slice: None }
    }
}
