//! tar: plain, or compressed as a whole.

mod header;
mod scan;

use std::io::Read;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

use crate::MAX_UNPACKED_BYTES;
use crate::container::{ArchiveKind, Container, Indexing};
use crate::error::ArchiveError;
use crate::index::Member;
use crate::member_stream::MemberStream;
use crate::source::{PositionedRead, SourceReader};
use crate::zip::ZstdReader;
use scan::TarScan;

/// The most memory of one decoder of xz, in KiB: a dictionary of 32 MiB, and what is around it.
const MAX_XZ_KIB: u32 = 33 << 10;

/// How a tar file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TarPacking {
    Plain,
    Gzip,
    Zstandard,
    Xz,
}

/// The parser of tar files.
pub(crate) struct TarContainer(pub(crate) TarPacking);

impl TarPacking {
    /// The unpacked archive.
    fn reader(self, source: Arc<dyn PositionedRead>) -> Box<dyn Read + Send> {
        let size = source.size();
        let packed = SourceReader::new(source, 0, size);
        match self {
            Self::Plain => Box::new(packed),
            Self::Gzip => Box::new(MultiGzDecoder::new(packed)),
            Self::Zstandard => Box::new(ZstdReader::new(packed)),
            Self::Xz => Box::new(XzReader::new_mem_limit(packed, true, MAX_XZ_KIB)),
        }
    }
}

impl Container for TarContainer {
    fn start_index(&self, source: Arc<dyn PositionedRead>) -> Box<dyn Indexing> {
        match self.0 {
            TarPacking::Plain => Box::new(TarScan::plain(source)),
            packing => Box::new(TarScan::unpacking(packing.reader(source), MAX_UNPACKED_BYTES)),
        }
    }

    fn open(
        &self,
        source: Arc<dyn PositionedRead>,
        member: &Member,
    ) -> Result<MemberStream, ArchiveError> {
        if let Some(barrier) = member.barrier {
            return Err(barrier.error());
        }
        let start = member.location.offset;
        if self.0 == TarPacking::Plain {
            let content = SourceReader::new(source, start, start.saturating_add(member.size));
            return Ok(MemberStream::new(Box::new(content), 0, member.size, None));
        }
        Ok(MemberStream::new(self.0.reader(source), start, member.size, None))
    }

    fn stored_range(
        &self,
        _source: &Arc<dyn PositionedRead>,
        member: &Member,
    ) -> Result<Option<(u64, u64)>, ArchiveError> {
        let is_stored = self.0 == TarPacking::Plain && member.barrier.is_none();
        Ok(is_stored.then_some((member.location.offset, member.size)))
    }

    fn unpack(
        &self,
        source: Arc<dyn PositionedRead>,
        size: u64,
    ) -> Result<Option<(MemberStream, ArchiveKind)>, ArchiveError> {
        if self.0 == TarPacking::Plain {
            return Ok(None);
        }
        let stream = MemberStream::new(self.0.reader(source), 0, size, None);
        Ok(Some((stream, ArchiveKind::Tar)))
    }
}

#[cfg(test)]
mod tests;
