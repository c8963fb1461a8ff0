//! Streams of a PDF that unpack to more than they may, told before any reader unpacks them.

use std::io::{self, Read};

use flate2::bufread::ZlibDecoder;
use memchr::memmem;

use crate::error::ConvertError;
use crate::options::Options;

/// The most bytes of one stream: what a page draws, a font, or objects.
const MAX_STREAM_BYTES: u64 = 96 << 20;

/// How far before a stream its dictionary is looked for.
const DICTIONARY_BYTES: usize = 2_048;

/// The most filters of a stream, each of which may unpack a thousandfold.
const MAX_FILTERS: usize = 4;

/// Refuses a document with streams that unpack to too much. Images do not count: no reader of text
/// unpacks them.
pub(super) fn check_streams(bytes: &[u8], options: &Options) -> Result<(), ConvertError> {
    let mut total = 0_u64;
    let mut at = 0;
    while let Some(found) = memmem::find(&bytes[at..], b"stream") {
        let start = at + found;
        at = start + b"stream".len();
        // The keyword at the end of a stream is not one at its start.
        if bytes[..start].ends_with(b"end") {
            continue;
        }
        let head = &bytes[start.saturating_sub(DICTIONARY_BYTES)..start];
        let head = &head[memmem::rfind(head, b" obj").unwrap_or(0)..];
        let filters = count(head, b"FlateDecode") + count(head, b"/Fl ") + count(head, b"/Fl]");
        if filters == 0 || memmem::find(head, b"/Image").is_some() {
            continue;
        }
        if filters > MAX_FILTERS {
            return Err(ConvertError::over_limit(format!(
                "a stream of the document is packed {filters} times"
            )));
        }
        let mut body = &bytes[at..];
        body = body.strip_prefix(b"\r").unwrap_or(body);
        body = body.strip_prefix(b"\n").unwrap_or(body);
        let size = unpacked_size(body, filters);
        total += size;
        if size > MAX_STREAM_BYTES || total > options.max_unpacked_bytes {
            return Err(ConvertError::over_limit(
                "a stream of the document unpacks to more than the limit of bytes",
            ));
        }
    }
    Ok(())
}

/// How many bytes `body` unpacks to, as far as it is packed; one more than the limit if over it.
fn unpacked_size(body: &[u8], filters: usize) -> u64 {
    let mut reader: Box<dyn Read + '_> = Box::new(ZlibDecoder::new(body));
    for _ in 1..filters {
        reader = Box::new(ZlibDecoder::new(io::BufReader::new(reader)));
    }
    let mut reader = reader.take(MAX_STREAM_BYTES + 1);
    let mut buffer = vec![0; 1 << 16];
    let mut size = 0;
    // A stream that is broken, or encrypted, is for its reader to judge.
    while let Ok(count) = reader.read(&mut buffer) {
        if count == 0 {
            break;
        }
        size += count as u64;
    }
    size
}

fn count(bytes: &[u8], word: &[u8]) -> usize {
    memmem::find_iter(bytes, word).count()
}
