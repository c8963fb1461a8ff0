//! Index of decoded files: the places between lines from which decoding can begin.
//!
//! Offsets count decoded text. With the index, a window decodes little more than itself; without
//! it, everything before the window.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use encoding_rs::Encoding;
use machinery::{Cache, CacheBounds};

use super::budget::WorkBudget;
use super::chunks::{DecodePoint, DecodingReader};
use super::file_form::version_key;
use super::platform::FileHandle;
use super::stamp::FileStamp;

/// Most places of one file.
const MAX_POINTS: u64 = 4_096;

/// Most places of all files together.
const CACHE_BOUNDS: CacheBounds = CacheBounds::weight(64 * 1024);

/// The indexes of decoded files, by identity and version.
pub(super) struct DecodeIndexCache {
    cache: Cache<(u64, u64), Arc<DecodeIndex>>,
    /// How old a change must be before its timestamp is reliable; see `is_settled`.
    clock_margin: Duration,
    /// Bytes of text that were decoded for windows.
    #[cfg(test)]
    pub(super) decoded_bytes: std::sync::atomic::AtomicU64,
}

/// The places of one version of a file.
pub(super) struct DecodeIndex {
    charset: &'static Encoding,
    /// Length of the decoded text.
    pub(super) total: u64,
    points: Vec<DecodePoint>,
}

impl DecodeIndexCache {
    pub(super) fn new(clock_margin: Duration) -> Self {
        Self {
            cache: Cache::new(CACHE_BOUNDS),
            clock_margin,
            #[cfg(test)]
            decoded_bytes: std::sync::atomic::AtomicU64::new(0),
        }
    }

    /// Counts the bytes that were decoded for a window.
    #[cfg(test)]
    pub(super) fn count_decoded(&self, bytes: u64) {
        self.decoded_bytes.fetch_add(bytes, std::sync::atomic::Ordering::Relaxed);
    }

    /// Returns the index of `file` in `charset`. Decodes all of it the first time.
    pub(super) fn index_of(
        &self,
        (file, stamp): (&Arc<FileHandle>, &FileStamp),
        charset: &'static Encoding,
        budget: &WorkBudget,
    ) -> io::Result<Arc<DecodeIndex>> {
        let key = version_key(stamp);
        if let Some(index) = self.cache.get(&key).filter(|index| index.charset == charset) {
            return Ok(index);
        }
        let is_settled = stamp.is_settled(SystemTime::now(), self.clock_margin);
        let index = Arc::new(DecodeIndex::build(file, stamp.size, charset, budget)?);
        #[cfg(test)]
        self.count_decoded(index.total);
        if is_settled {
            self.cache.insert(key, index.clone(), 1 + index.points.len());
        }
        Ok(index)
    }
}

impl DecodeIndex {
    fn build(
        file: &Arc<FileHandle>,
        size: u64,
        charset: &'static Encoding,
        budget: &WorkBudget,
    ) -> io::Result<Self> {
        let mut reader = DecodingReader::new(file, size, charset);
        let (mut points, mut last) = (Vec::new(), 0);
        while reader.next()?.is_some() {
            budget.check_cancelled()?;
            if let Some(point) =
                reader.line_end.filter(|point| point.raw - last > size / MAX_POINTS)
            {
                last = point.raw;
                points.push(point);
            }
        }
        Ok(Self { charset, total: reader.decoded_bytes, points })
    }

    /// The last known place at or before `offset` in the decoded text.
    pub(super) fn point_before(&self, offset: u64) -> DecodePoint {
        let next = self.points.partition_point(|point| point.decoded <= offset);
        let start = DecodePoint { raw: 0, decoded: 0 };
        next.checked_sub(1).map_or(start, |last| self.points[last])
    }
}
