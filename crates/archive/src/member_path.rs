//! Paths of members: a name in an archive becomes a relative path, or is left out.

/// The most bytes and levels of a path.
const MAX_PATH_BYTES: usize = 2048;
const MAX_LEVELS: usize = 64;

/// The path that the name of a member stands for, without a slash at its end; `None` for a name
/// that leads elsewhere: `..`, absolute paths, drive letters, control characters.
pub(crate) fn member_path(name: &str, backslash: Backslash) -> Option<String> {
    if name.len() > MAX_PATH_BYTES || name.chars().any(char::is_control) {
        return None;
    }
    // Windows tools of old write backslashes, which are letters of a name elsewhere.
    let name = match (name.contains('\\'), backslash) {
        (true, Backslash::Separates) if !name.contains('/') => name.replace('\\', "/"),
        (true, _) => return None,
        (false, _) => name.to_owned(),
    };
    let has_drive = matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if name.starts_with('/') || has_drive {
        return None;
    }
    let name = name.trim_end_matches('/');
    let mut path = String::with_capacity(name.len());
    for (level, segment) in name.split('/').filter(|segment| *segment != ".").enumerate() {
        if segment.is_empty() || segment == ".." || level == MAX_LEVELS {
            return None;
        }
        if level > 0 {
            path.push('/');
        }
        path.push_str(segment);
    }
    (!path.is_empty()).then_some(path)
}

/// Whether a name holds nothing but the archive's own root, as `./` does.
pub(crate) fn is_root(name: &str) -> bool {
    name.split('/').all(|segment| segment.is_empty() || segment == ".") && !name.starts_with('/')
}

/// What a backslash in a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backslash {
    /// A separator, if the name has no slash.
    Separates,
    /// No letter of any name.
    Refused,
}

#[cfg(test)]
mod tests {
    use super::{Backslash, is_root, member_path};

    #[test]
    fn a_path_stays_inside_or_is_none() {
        for (name, path) in [
            ("a/b.txt", Some("a/b.txt")),
            ("./a/./b", Some("a/b")),
            ("a/b/", Some("a/b")),
            ("日本/語.txt", Some("日本/語.txt")),
            ("a\\b.txt", Some("a/b.txt")),
            ("...", Some("...")),
            ("../a", None),
            ("a/../b", None),
            ("..\\a", None),
            ("a/..\\b", None),
            ("/etc/passwd", None),
            ("\\\\server\\share", None),
            ("C:\\a", None),
            ("c:/a", None),
            ("c:a", None),
            ("a//b", None),
            ("a\0b", None),
            ("a\nb", None),
            ("", None),
            ("/", None),
            ("./", None),
        ] {
            assert_eq!(member_path(name, Backslash::Separates).as_deref(), path, "{name:?}");
        }
        assert_eq!(member_path("a\\b", Backslash::Refused), None);
        assert_eq!(member_path(&"a/".repeat(65), Backslash::Refused), None);
        assert_eq!(member_path(&"a".repeat(5000), Backslash::Refused), None);
        assert!(is_root("./") && is_root(".") && !is_root("/") && !is_root("a"));
    }
}
