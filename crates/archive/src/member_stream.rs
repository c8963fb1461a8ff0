//! Stream of a member's content: bounded by the declared size, and checked at its end.

use std::io::{self, Read};

use flate2::Crc;

use crate::error::ArchiveError;

/// How many bytes are read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// The content of a member as it is unpacked.
pub struct MemberStream {
    input: Box<dyn Read + Send>,
    /// The bytes before the content.
    lead: u64,
    /// The bytes of the content that are left.
    left: u64,
    check: Option<(Crc, u32)>,
    scratch: Vec<u8>,
}

impl MemberStream {
    /// `size` bytes of `input` after `lead` bytes, with this checksum (CRC).
    pub fn new(input: Box<dyn Read + Send>, lead: u64, size: u64, crc: Option<u32>) -> Self {
        let check = crc.map(|crc| (Crc::new(), crc));
        Self { input, lead, left: size, check, scratch: Vec::new() }
    }

    /// The bytes that are left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Appends to `into` until it holds `enough` bytes, the content ends, or `is_over`. Returns
    /// whether the content has ended.
    pub fn advance(
        &mut self,
        into: &mut Vec<u8>,
        enough: usize,
        is_over: &dyn Fn() -> bool,
    ) -> Result<bool, ArchiveError> {
        self.scratch.resize(CHUNK_BYTES, 0);
        while self.lead > 0 {
            if is_over() {
                return Ok(false);
            }
            let most = usize::try_from(self.lead).unwrap_or(usize::MAX).min(CHUNK_BYTES);
            let length = read_some(&mut *self.input, &mut self.scratch[..most])?;
            self.lead -= length as u64;
        }
        while self.left > 0 {
            if into.len() >= enough || is_over() {
                return Ok(false);
            }
            let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(CHUNK_BYTES);
            let length = read_some(&mut *self.input, &mut self.scratch[..most])?;
            if let Some((crc, _)) = &mut self.check {
                crc.update(&self.scratch[..length]);
            }
            into.extend_from_slice(&self.scratch[..length]);
            self.left -= length as u64;
        }
        match self.check.take() {
            Some((crc, declared)) if crc.sum() != declared => {
                Err(ArchiveError::Damaged("the checksum of the member is wrong"))
            }
            _ => Ok(true),
        }
    }
}

/// Reads at least one byte.
fn read_some(input: &mut dyn Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(into) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MemberStream;
    use crate::error::ArchiveError;

    fn all(mut stream: MemberStream) -> Result<Vec<u8>, ArchiveError> {
        let mut all = Vec::new();
        while !stream.advance(&mut all, usize::MAX, &|| false)? {}
        Ok(all)
    }

    fn stream(size: u64, crc: Option<u32>) -> MemberStream {
        MemberStream::new(Box::new(&b"headcontent and more"[..]), 4, size, crc)
    }

    #[test]
    fn a_stream_is_as_long_as_declared_and_its_checksum_is_checked() {
        assert_eq!(all(stream(7, None)).unwrap(), b"content");
        assert!(matches!(all(stream(100, None)), Err(ArchiveError::Damaged(_))), "too short");
        assert!(matches!(all(stream(7, Some(1))), Err(ArchiveError::Damaged(_))));
        let mut crc = flate2::Crc::new();
        crc.update(b"content");
        assert_eq!(all(stream(7, Some(crc.sum()))).unwrap(), b"content");
        assert_eq!(all(stream(0, Some(0))).unwrap(), b"");
    }

    #[test]
    fn a_stream_pauses_where_it_is_told() {
        let mut stream = stream(7, None);
        let mut some = Vec::new();
        assert!(!stream.advance(&mut some, usize::MAX, &|| true).unwrap() && some.is_empty());
        assert!(stream.advance(&mut some, usize::MAX, &|| false).unwrap());
        assert_eq!(some, b"content");
    }
}
