//! Keys of the index: hashes of URIs, mounts, texts, passages and their vectors.

/// Marks the key of a summary among the keys of vectors.
const SUMMARY: u64 = 1 << 63;
/// The bits of a vector's key that tell its mount.
const MOUNT_BITS: u64 = 0x7fff << 48;

/// A hash of a text.
pub(crate) fn text_key(text: &str) -> u64 {
    hash_parts(&[text.as_bytes()])
}

/// The key of a passage, by the keys of its mount and its URI and its number.
pub(crate) fn passage_key(mount: u64, uri: u64, ordinal: u64) -> u64 {
    let own = hash_parts(&[&uri.to_le_bytes(), &ordinal.to_le_bytes()]);
    mount & MOUNT_BITS | own & !(SUMMARY | MOUNT_BITS)
}

/// The key of what a resource is about as a whole.
pub(crate) fn summary_key(mount: u64, uri: u64) -> u64 {
    SUMMARY | mount & MOUNT_BITS | uri & !(SUMMARY | MOUNT_BITS)
}

/// Whether a key may be one of this mount. Few mounts share their bits.
pub(crate) fn may_be_of_mount(key: u64, mount: u64) -> bool {
    key & MOUNT_BITS == mount & MOUNT_BITS
}

pub(crate) fn hash_parts(parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut key = [0; 8];
    hasher.finalize_xof().fill(&mut key);
    u64::from_le_bytes(key)
}

#[cfg(test)]
mod tests {
    use super::{may_be_of_mount, passage_key, summary_key, text_key};

    #[test]
    fn a_key_tells_its_mount() {
        let (mount, other, uri) = (text_key("a"), text_key("b"), text_key("a:/x"));
        let (passage, summary) = (passage_key(mount, uri, 0), summary_key(mount, uri));
        assert_ne!(passage, summary);
        for key in [passage, summary] {
            assert!(may_be_of_mount(key, mount) && !may_be_of_mount(key, other));
        }
        assert_ne!(passage, passage_key(mount, uri, 1));
        assert_ne!(summary, summary_key(mount, text_key("a:/y")));
    }
}
