//! The test data that both servers hold, so that responses compare byte for byte.

/// Resources in the catalogue, the three bodies among them.
pub const RESOURCES: usize = 10_000;
/// Resources on one page of a listing.
pub const PAGE: usize = 100;
/// Concurrent requests where each must reach the server: all are for different resources.
pub const CONCURRENCY: usize = 64;

/// A resource to read, with the same bytes on every server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestBody {
    /// 1 KiB of text.
    Kib,
    /// 1 MiB of text.
    Mib,
    /// 10 MiB of pseudo-random bytes.
    Blob,
}

impl TestBody {
    /// Every body, in the order in which the catalogue lists them.
    pub const ALL: [Self; 3] = [Self::Kib, Self::Mib, Self::Blob];

    /// The file's name in a folder, and the resource's name everywhere.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kib => "kib.txt",
            Self::Mib => "mib.txt",
            Self::Blob => "blob.bin",
        }
    }

    /// The MIME type that both servers report.
    #[must_use]
    pub const fn mime(self) -> &'static str {
        match self {
            Self::Kib | Self::Mib => "text/plain",
            Self::Blob => "application/octet-stream",
        }
    }

    /// Size in bytes before base64 or escaping.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Kib => 1 << 10,
            Self::Mib => 1 << 20,
            Self::Blob => 10 << 20,
        }
    }

    /// The URI in a `static` mount and in the peer.
    #[must_use]
    pub fn uri(self) -> String {
        format!("bench://body/{}", self.name())
    }

    /// The URIs of `count` copies of the same content.
    #[must_use]
    pub fn copies(self, count: usize) -> Vec<String> {
        (0..count).map(|copy| format!("bench://copy/{copy}/{}", self.name())).collect()
    }

    /// The content.
    #[must_use]
    pub fn bytes(self) -> Vec<u8> {
        match self {
            Self::Kib | Self::Mib => prose(self.size()).into_bytes(),
            Self::Blob => random_bytes(self.size()),
        }
    }
}

/// The numbers of the small resources that fill the catalogue.
#[must_use]
pub fn entries() -> std::ops::Range<usize> {
    0..RESOURCES - TestBody::ALL.len()
}

/// The name of a small resource.
#[must_use]
pub fn entry_name(number: usize) -> String {
    format!("entry-{number:05}.txt")
}

/// The URI of a small resource in a `static` mount and in the peer.
#[must_use]
pub fn entry_uri(number: usize) -> String {
    format!("bench://entry/{}", entry_name(number))
}

/// The content of a small resource.
#[must_use]
pub fn entry_text(number: usize) -> String {
    format!("entry {number}\n")
}

/// Prose of exactly `size` bytes; one byte in thirty must be escaped in JSON, as in source code.
#[must_use]
pub fn prose(size: usize) -> String {
    let mut text = String::with_capacity(size + 128);
    let mut line = 0_usize;
    while text.len() < size {
        // Some non-ASCII letters keep a decoder off its ASCII-only fast path.
        let place = if line.is_multiple_of(8) { "café" } else { "desk" };
        let words = if line.is_multiple_of(2) { "\"yes\"" } else { "again" };
        let number = line.to_string();
        for part in ["the clerk at the ", place, " wrote ", words, " in the old book, page "] {
            text.push_str(part);
        }
        text.push_str(&number);
        text.push('\n');
        line += 1;
    }
    let mut end = size;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    while text.len() < size {
        text.push('.');
    }
    text
}

/// Pseudo-random bytes, the same in every run.
#[must_use]
pub fn random_bytes(size: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut bytes = Vec::with_capacity(size + 8);
    while bytes.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(size);
    bytes
}

#[cfg(test)]
mod tests {
    use super::{TestBody, entries, prose, random_bytes};

    #[test]
    fn every_body_has_exactly_its_size() {
        for body in TestBody::ALL {
            assert_eq!(body.bytes().len(), body.size());
        }
        for size in 0..300 {
            assert_eq!(prose(size).len(), size);
            assert_eq!(random_bytes(size).len(), size);
        }
    }

    #[test]
    fn one_byte_in_about_thirty_needs_an_escape() {
        let text = prose(1 << 20);
        let escaped = text.bytes().filter(|byte| *byte < b' ' || *byte == b'"').count();
        assert!((25..35).contains(&(text.len() / escaped)), "{}", text.len() / escaped);
    }

    #[test]
    fn entries_and_bodies_make_the_catalogue() {
        assert_eq!(entries().len() + TestBody::ALL.len(), super::RESOURCES);
    }
}
