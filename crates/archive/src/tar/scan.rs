//! One pass over a tar that collects its members: by position, or as it is unpacked.

use std::io::{self, Read};
use std::sync::Arc;

use super::header::{BLOCK, PaxRecords, TarHeader};
use crate::MAX_MEMBER_BYTES;
use crate::container::{Indexing, IndexingStep};
use crate::error::ArchiveError;
use crate::index::{IndexBuilder, Member, MemberBarrier, MemberIndex, MemberLocation, too_large};
use crate::member_path::{Backslash, is_root, member_path};
use crate::source::{PositionedRead, SourceReader};
use crate::zip::{LegacyNames, NameFallback};

/// The most bytes of a long name or an extended header.
const MAX_EXTENDED_BYTES: u64 = 1 << 20;
/// How many bytes are read at a time where none are wanted.
const SKIP_BYTES: usize = 64 << 10;

/// A pass in progress.
pub(super) struct TarScan {
    input: TarInput,
    /// The place in the unpacked archive, and how much of what is there is to be skipped.
    at: u64,
    skip: u64,
    most: u64,
    /// What extended headers say of the next member.
    long_name: Option<Vec<u8>>,
    pax: Option<PaxRecords>,
    found: Vec<(Vec<u8>, Member)>,
    links: usize,
    is_truncated: bool,
}

enum TarInput {
    Positioned { reader: SourceReader, size: u64 },
    Stream { reader: Box<dyn Read + Send>, scratch: Vec<u8> },
}

/// What the next block is.
enum TarBlock {
    Header(TarHeader),
    /// The end of the archive, whether it says so or stops.
    End,
    Truncated,
}

impl TarScan {
    /// A pass over a plain tar.
    pub(super) fn plain(source: Arc<dyn PositionedRead>) -> Self {
        let size = source.size();
        let reader = SourceReader::new(source, 0, size);
        Self::new(TarInput::Positioned { reader, size }, u64::MAX)
    }

    /// A pass over a tar as it is unpacked, up to `most` bytes.
    pub(super) fn unpacking(reader: Box<dyn Read + Send>, most: u64) -> Self {
        Self::new(TarInput::Stream { reader, scratch: vec![0; SKIP_BYTES] }, most)
    }

    fn new(input: TarInput, most: u64) -> Self {
        Self {
            input,
            at: 0,
            skip: 0,
            most,
            long_name: None,
            pax: None,
            found: Vec::new(),
            links: 0,
            is_truncated: false,
        }
    }

    /// Reads one header and what belongs to it. Returns whether the archive goes on.
    fn next_member(&mut self) -> Result<bool, ArchiveError> {
        let header = match self.read_block()? {
            TarBlock::Header(header) => header,
            TarBlock::End => return Ok(false),
            TarBlock::Truncated => {
                self.is_truncated = true;
                return Ok(false);
            }
        };
        match header.kind {
            b'L' => self.long_name = Some(self.read_extended(&header)?),
            b'x' => self.pax = Some(PaxRecords::parse(&self.read_extended(&header)?)),
            b'K' | b'g' | b'X' => drop(self.read_extended(&header)?),
            kind => {
                let pax = self.pax.take().unwrap_or_default();
                let long_name = self.long_name.take();
                self.add_member(kind, header, pax, long_name)?;
            }
        }
        Ok(true)
    }

    fn add_member(
        &mut self,
        kind: u8,
        header: TarHeader,
        pax: PaxRecords,
        long_name: Option<Vec<u8>>,
    ) -> Result<(), ArchiveError> {
        let packed_size = pax.size.unwrap_or(header.size);
        let name = pax.path.or(long_name).unwrap_or(header.name);
        let modified = pax.modified.or(header.modified);
        let is_sparse = kind == b'S' || pax.is_sparse;
        if kind == b'S' {
            self.skip_sparse_map(header.has_more_map)?;
        }
        let is_file = matches!(kind, 0 | b'0' | b'7' | b'S');
        let is_folder = kind == b'5' || is_file && name.ends_with(b"/");
        // Links have no content, whatever their size says.
        self.skip = if matches!(kind, b'1'..=b'6') { 0 } else { padded(packed_size)? };
        if !is_file && !is_folder {
            self.links += 1;
            return self.check_count();
        }
        let size = match is_sparse {
            true => pax.real_size.unwrap_or(header.real_size).max(packed_size),
            false => packed_size,
        };
        let barrier = if is_sparse {
            Some(MemberBarrier::Sparse)
        } else {
            (size > MAX_MEMBER_BYTES).then_some(MemberBarrier::TooLarge)
        };
        let location = MemberLocation { offset: self.at, packed_size, method: 0, crc: None };
        let member = match is_folder {
            true => Member::folder("", modified),
            false => Member { path: "".into(), is_folder, size, modified, barrier, location },
        };
        self.found.push((name, member));
        self.check_count()
    }

    fn check_count(&self) -> Result<(), ArchiveError> {
        if self.found.len() + self.links > crate::MAX_MEMBERS {
            return Err(too_large("it has over 100,000 members"));
        }
        Ok(())
    }

    fn read_block(&mut self) -> Result<TarBlock, ArchiveError> {
        let mut block = [0; BLOCK];
        let length = match self.input.read_full(&mut block) {
            Ok(length) => length,
            Err(error) if is_cut(&error) && !self.found.is_empty() => {
                return Ok(TarBlock::Truncated);
            }
            Err(error) => return Err(error.into()),
        };
        self.at += length as u64;
        if length == 0 || block == [0; BLOCK] {
            return Ok(TarBlock::End);
        }
        match TarHeader::parse(&block).filter(|_| length == BLOCK) {
            Some(header) => Ok(TarBlock::Header(header)),
            None if self.found.is_empty() => Err(ArchiveError::Damaged("it is no tar file")),
            None => Ok(TarBlock::Truncated),
        }
    }

    /// Reads the content of an extended header.
    fn read_extended(&mut self, header: &TarHeader) -> Result<Vec<u8>, ArchiveError> {
        if header.size > MAX_EXTENDED_BYTES {
            return Err(ArchiveError::Damaged("a header is too long"));
        }
        let mut content = vec![0; padded(header.size)? as usize];
        let length = self.input.read_full(&mut content)?;
        self.at += length as u64;
        content.truncate(length.min(header.size as usize));
        if header.kind == b'L' {
            let end = content.iter().position(|byte| *byte == 0).unwrap_or(content.len());
            content.truncate(end);
        }
        Ok(content)
    }

    /// Skips the blocks that go on with the map of a sparse file.
    fn skip_sparse_map(&mut self, mut has_more: bool) -> Result<(), ArchiveError> {
        let mut block = [0; BLOCK];
        while has_more {
            if self.input.read_full(&mut block)? < BLOCK {
                return Err(ArchiveError::Damaged("it ends too early"));
            }
            self.at += BLOCK as u64;
            has_more = block[504] == 1;
        }
        Ok(())
    }

    /// Skips the content of a member. Returns whether all of it is skipped.
    fn skip_content(&mut self, is_over: &dyn Fn() -> bool) -> Result<bool, ArchiveError> {
        while self.skip > 0 {
            if self.at.saturating_add(self.skip) > self.most {
                return Err(too_large("it unpacks to over 4 GiB"));
            }
            if is_over() {
                return Ok(false);
            }
            match self.input.skip(self.at, self.skip) {
                Ok(0) => break,
                Ok(length) => {
                    self.at += length;
                    self.skip -= length;
                }
                Err(error) if is_cut(&error) => break,
                Err(error) => return Err(error.into()),
            }
        }
        // The padding of the last member may be missing.
        self.is_truncated |= self.skip >= BLOCK as u64;
        self.skip = 0;
        Ok(true)
    }

    fn finish(self) -> Result<MemberIndex, ArchiveError> {
        let mut names = LegacyNames::new(NameFallback::Windows1252);
        self.found.iter().for_each(|(name, _)| names.see(name));
        let charset = names.charset();
        let mut builder = IndexBuilder::default();
        for (name, member) in self.found {
            let name = charset.decode(&name);
            match member_path(&name, Backslash::Refused) {
                Some(path) => builder.add(Member { path: path.into(), ..member })?,
                None if is_root(&name) => {}
                None => builder.leave_out_name()?,
            }
        }
        for _ in 0..self.links {
            builder.leave_out_link()?;
        }
        if self.is_truncated {
            builder.truncate();
        }
        let unpacked_size = match &self.input {
            TarInput::Positioned { .. } => None,
            TarInput::Stream { .. } => Some(self.at),
        };
        let mut index = builder.finish()?;
        index.unpacked_size = unpacked_size;
        Ok(index)
    }
}

impl Indexing for TarScan {
    fn advance(
        mut self: Box<Self>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<IndexingStep, ArchiveError> {
        loop {
            if !self.skip_content(is_over)? || is_over() {
                return Ok(IndexingStep::Paused(self));
            }
            if self.is_truncated || !self.next_member()? {
                return self.finish().map(IndexingStep::Done);
            }
        }
    }
}

impl TarInput {
    /// Reads until `into` is full or the input ends.
    fn read_full(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let reader: &mut dyn Read = match self {
            Self::Positioned { reader, .. } => reader,
            Self::Stream { reader, .. } => reader,
        };
        let mut length = 0;
        while length < into.len() {
            match reader.read(&mut into[length..]) {
                Ok(0) => break,
                Ok(more) => length += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(length)
    }

    /// Skips some of `length` bytes from the place `at` on; none at the end.
    fn skip(&mut self, at: u64, length: u64) -> io::Result<u64> {
        match self {
            Self::Positioned { reader, size } => {
                let length = length.min(size.saturating_sub(at));
                reader.skip(length);
                Ok(length)
            }
            Self::Stream { reader, scratch } => {
                let most = usize::try_from(length).unwrap_or(usize::MAX).min(scratch.len());
                reader.read(&mut scratch[..most]).map(|length| length as u64)
            }
        }
    }
}

/// Whether compressed data is cut off or broken.
fn is_cut(error: &io::Error) -> bool {
    let kinds =
        [io::ErrorKind::UnexpectedEof, io::ErrorKind::InvalidData, io::ErrorKind::InvalidInput];
    kinds.contains(&error.kind())
}

/// A size with the padding to whole blocks.
fn padded(size: u64) -> Result<u64, ArchiveError> {
    size.checked_next_multiple_of(BLOCK as u64).ok_or(ArchiveError::Damaged("a size is too large"))
}
