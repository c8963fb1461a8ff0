//! Position of a search through texts: where the next call resumes.

use machinery::{Packer, Unpacker};
use resource::Uri;

/// The position at which the next call resumes; the content of the cursor.
pub(super) struct SearchPosition {
    /// The position of the recursive listing.
    pub(super) list_position: Vec<u8>,
    /// The unfinished resource, and the line to resume at.
    pub(super) resume_line: Option<(Uri, u64)>,
}

impl SearchPosition {
    pub(super) fn encode(&self) -> Vec<u8> {
        let (uri, line) =
            self.resume_line.as_ref().map(|(uri, line)| (uri.as_str(), *line)).unzip();
        let packed = Packer::default().bytes(Some(&self.list_position));
        packed.bytes(uri).optional_integer(line).finish()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut parts = Unpacker::new(bytes);
        let walk = parts.bytes()??;
        let line = match (parts.text()?, parts.optional_integer()?) {
            (Some(uri), Some(line)) => Some((Uri::parse(uri).ok()?, line)),
            _ => None,
        };
        Some(Self { list_position: walk.to_vec(), resume_line: line })
    }
}
