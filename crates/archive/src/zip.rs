//! zip: central directory, local headers, and the methods of compression.

mod directory;
mod names;
mod zstandard;

use std::io::Read;
use std::sync::Arc;

use flate2::bufread::DeflateDecoder;

use crate::container::{ArchiveKind, Container, Indexing, IndexingStep};
use crate::error::ArchiveError;
use crate::index::Member;
use crate::member_stream::MemberStream;
use crate::source::{PositionedRead, SourceReader};
use directory::{little_u16, read_directory};
pub(crate) use names::{LegacyNames, NameFallback};
pub(crate) use zstandard::ZstdReader;

/// Methods of compression.
const STORED: u16 = 0;
const DEFLATE: u16 = 8;
const ZSTANDARD: u16 = 93;

const LOCAL_HEADER: usize = 30;

/// The parser of zip files.
pub(crate) struct ZipContainer;

struct ZipIndexing(Arc<dyn PositionedRead>);

impl Indexing for ZipIndexing {
    fn advance(self: Box<Self>, _is_over: &dyn Fn() -> bool) -> Result<IndexingStep, ArchiveError> {
        // The table is bounded, so that one slice suffices.
        read_directory(&*self.0).map(IndexingStep::Done)
    }
}

impl Container for ZipContainer {
    fn start_index(&self, source: Arc<dyn PositionedRead>) -> Box<dyn Indexing> {
        Box::new(ZipIndexing(source))
    }

    fn open(
        &self,
        source: Arc<dyn PositionedRead>,
        member: &Member,
    ) -> Result<MemberStream, ArchiveError> {
        if let Some(barrier) = member.barrier {
            return Err(barrier.error());
        }
        let (start, end) = content_range(&*source, member)?;
        let packed = SourceReader::new(source, start, end);
        let input: Box<dyn Read + Send> = match member.location.method {
            STORED => Box::new(packed),
            DEFLATE => Box::new(DeflateDecoder::new(packed)),
            _ => Box::new(ZstdReader::new(packed)),
        };
        Ok(MemberStream::new(input, 0, member.size, member.location.crc))
    }

    fn stored_range(
        &self,
        source: &Arc<dyn PositionedRead>,
        member: &Member,
    ) -> Result<Option<(u64, u64)>, ArchiveError> {
        if member.barrier.is_some() || member.location.method != STORED {
            return Ok(None);
        }
        let (start, end) = content_range(&**source, member)?;
        Ok(Some((start, end - start)))
    }

    fn unpack(
        &self,
        _source: Arc<dyn PositionedRead>,
        _size: u64,
    ) -> Result<Option<(MemberStream, ArchiveKind)>, ArchiveError> {
        Ok(None)
    }
}

/// Where the packed content begins and ends, by the local header.
fn content_range(source: &dyn PositionedRead, member: &Member) -> Result<(u64, u64), ArchiveError> {
    let location = &member.location;
    let header = source.read_at(location.offset, LOCAL_HEADER)?;
    if header.len() < LOCAL_HEADER || !header.starts_with(b"PK\x03\x04") {
        return Err(ArchiveError::Damaged("a member is not where the table says"));
    }
    let names = u64::from(little_u16(&header, 26)) + u64::from(little_u16(&header, 28));
    let start = location.offset + LOCAL_HEADER as u64 + names;
    let end = start.checked_add(location.packed_size).filter(|end| *end <= source.size());
    let end = end.ok_or(ArchiveError::Damaged("a member goes beyond the end"))?;
    if location.method == STORED && location.packed_size != member.size {
        return Err(ArchiveError::Damaged("a stored member has two sizes"));
    }
    Ok((start, end))
}

#[cfg(test)]
mod tests;
