//! Version of a file's content: a metadata fingerprint, and a content hash if the file is small.

use blake3::Hash;

/// Files up to this size are compared by content hash.
pub(crate) const MAX_HASHED_SIZE: u64 = 1024 * 1024;

/// The remembered version of one file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileVersion {
    /// Fingerprint of the file's metadata.
    fingerprint: u64,
    /// True if any later change is certain to alter the fingerprint.
    is_settled: bool,
    hash: Option<Hash>,
}

impl FileVersion {
    /// A version with the metadata fingerprint `mark`.
    pub(crate) fn new(fingerprint: u64, is_settled: bool, hash: Option<Hash>) -> Self {
        Self { fingerprint, is_settled, hash }
    }

    /// True if a file whose fingerprint is now `mark` is certain to have this version.
    pub(crate) fn is_certainly_at(&self, mark: u64) -> bool {
        self.is_settled && self.fingerprint == mark
    }

    /// True if `later` may have different content.
    pub(crate) fn may_differ_from(&self, later: &Self) -> bool {
        match (&self.hash, &later.hash) {
            _ if self.is_certainly_at(later.fingerprint) => false,
            (Some(old), Some(new)) => old != new,
            _ => true,
        }
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    pub(crate) fn has_hash(&self) -> bool {
        self.hash.is_some()
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.is_settled
    }
}

#[cfg(test)]
mod tests {
    use super::FileVersion;

    #[test]
    fn content_is_compared_where_it_is_known_and_marks_only_where_they_are_settled() {
        let hash = |text: &str| Some(blake3::hash(text.as_bytes()));
        let version = |mark, settled, text: Option<&str>| {
            FileVersion::new(mark, settled, text.and_then(hash))
        };
        let cases = [
            (version(1, true, None), version(1, true, None), false),
            (version(1, true, None), version(2, true, None), true),
            (version(1, false, None), version(1, true, None), true),
            (version(1, false, Some("a")), version(1, true, Some("a")), false),
            (version(1, false, Some("a")), version(1, true, Some("b")), true),
            (version(1, true, Some("a")), version(2, false, Some("a")), false),
            (version(1, true, Some("a")), version(2, false, None), true),
        ];
        for (old, new, differs) in cases {
            assert_eq!(old.may_differ_from(&new), differs, "{old:?} {new:?}");
        }
    }
}
