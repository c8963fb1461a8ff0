//! Paths inside a revision: names joined by slashes, any bytes but those of hostile names.

use std::borrow::Cow;

/// Longest path, in bytes.
const MAX_PATH_BYTES: usize = 4095;

/// A path below the root of a tree; empty for the root.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub(super) struct RepoPath(Vec<u8>);

impl RepoPath {
    /// Parses `bytes`; `None` if a name is hostile, or they are too long.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let is_path = bytes.is_empty() || !bytes.split(|byte| *byte == b'/').any(is_hostile_name);
        (is_path && bytes.len() <= MAX_PATH_BYTES).then(|| Self(bytes.to_vec()))
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path of `name` in this folder.
    pub(super) fn join(&self, name: &[u8]) -> Self {
        Self(join_bytes(&self.0, name))
    }

    /// The names, outermost first.
    pub(super) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/').filter(|name| !name.is_empty())
    }

    /// The last name; `None` for the root.
    pub(super) fn name(&self) -> Option<&[u8]> {
        self.names().last()
    }

    /// The path as text, with U+FFFD in place of what is not UTF-8.
    pub(super) fn to_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

/// `folder` and `name`, joined by a slash.
pub(super) fn join_bytes(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(folder.len() + 1 + name.len());
    path.extend_from_slice(folder);
    if !folder.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// Whether no checkout may have a file of this name: it leads elsewhere, or hides what it is.
pub(super) fn is_hostile_name(name: &[u8]) -> bool {
    let is_dots = matches!(name, b"" | b"." | b"..");
    let is_git_dir = name.eq_ignore_ascii_case(b".git") || name.eq_ignore_ascii_case(b"git~1");
    let is_drive = matches!(name, [letter, b':', ..] if letter.is_ascii_alphabetic());
    let is_control = |c: char| c.is_control();
    is_dots
        || is_git_dir
        || is_drive
        || name.iter().any(|byte| matches!(byte, b'/' | b'\\' | 0..=0x1f | 0x7f))
        || String::from_utf8_lossy(name).contains(is_control)
}

/// A name as git writes it in headers and lists: in quotes with escapes, if it needs them.
pub(super) fn quoted(path: &[u8]) -> String {
    let is_plain = |byte: &u8| (b' '..0x7f).contains(byte) && *byte != b'"' && *byte != b'\\';
    if path.iter().all(is_plain) {
        return String::from_utf8_lossy(path).into_owned();
    }
    let mut text = "\"".to_owned();
    for byte in path {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(*byte)]),
            byte if is_plain(byte) => text.push(char::from(*byte)),
            byte => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::{RepoPath, is_hostile_name, quoted};

    #[test]
    fn names_that_lead_elsewhere_are_no_paths() {
        let bad: [&[u8]; 11] = [
            b"..",
            b"a/../b",
            b".git/config",
            b"a/.GIT",
            b"C:\\x",
            b"c:",
            b"a\\b",
            b"a\nb",
            b"a//b",
            "a\u{85}".as_bytes(),
            b"/a",
        ];
        for path in bad {
            assert!(RepoPath::parse(path).is_none(), "{path:?}");
        }
        for name in [&b"a b"[..], b"\xff\xfe", "日本.md".as_bytes(), b".gitignore", b"..."] {
            assert!(!is_hostile_name(name), "{name:?}");
            assert_eq!(RepoPath::parse(name).unwrap().name(), Some(name));
        }
        assert!(RepoPath::parse(b"").unwrap().is_root());
    }

    #[test]
    fn names_are_quoted_as_git_quotes_them() {
        assert_eq!(quoted(b"a b.txt"), "a b.txt");
        assert_eq!(quoted("é".as_bytes()), "\"\\303\\251\"");
        assert_eq!(quoted(b"a\"b"), "\"a\\\"b\"");
    }
}
