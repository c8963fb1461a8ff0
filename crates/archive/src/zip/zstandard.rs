//! Zstandard frames as a stream: one after the other, skippable ones left out.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use crate::source::SourceReader;

/// The largest window of a frame, which is held in memory.
const MAX_WINDOW_BYTES: u64 = 128 << 20;

/// Unpacks frames.
pub(crate) struct ZstdReader(ZstdState);

enum ZstdState {
    Between(SourceReader),
    Frame(Box<StreamingDecoder<SourceReader, FrameDecoder>>),
    Ended,
}

impl ZstdReader {
    pub(crate) fn new(source: SourceReader) -> Self {
        Self(ZstdState::Between(source))
    }

    /// The next frame with content; `None` at the end.
    fn next_frame(mut source: SourceReader) -> io::Result<ZstdState> {
        loop {
            match source.fill_buf()?.first() {
                None => return Ok(ZstdState::Ended),
                // A skippable frame: its magic number, its length, its content.
                Some(first) if first & 0xf0 == 0x50 => {
                    let mut header = [0; 8];
                    source.read_exact(&mut header)?;
                    let [_, _, _, _, length @ ..] = header;
                    source.skip(u32::from_le_bytes(length).into());
                }
                Some(_) => {
                    let frame =
                        StreamingDecoder::new_with_max_window_size(source, MAX_WINDOW_BYTES);
                    return frame.map(|frame| ZstdState::Frame(Box::new(frame))).map_err(invalid);
                }
            }
        }
    }
}

impl Read for ZstdReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            self.0 = match std::mem::replace(&mut self.0, ZstdState::Ended) {
                ZstdState::Ended => return Ok(0),
                ZstdState::Between(source) => Self::next_frame(source)?,
                ZstdState::Frame(mut frame) => {
                    let length = frame.read(into).map_err(invalid)?;
                    if length > 0 || into.is_empty() {
                        self.0 = ZstdState::Frame(frame);
                        return Ok(length);
                    }
                    ZstdState::Between(frame.into_inner())
                }
            };
        }
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
