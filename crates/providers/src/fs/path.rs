//! Paths below the root, and their conversion from and to `file:` URIs.

use std::sync::Arc;

use resource::Uri;
use resource::uri::{encode_segment, percent_decode};

/// Longest path, in bytes: Linux `PATH_MAX` without the final NUL.
const MAX_PATH_BYTES: usize = 4095;

/// URI of the root and prefix of all others.
pub(super) const ROOT_URI: &str = "file:///";

/// A path below the root: names joined by `/`, none of them empty, `.` or `..`.
///
/// Names are bytes, as on disk. The root is the empty path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LocalPath(Vec<u8>);

/// The path that a URI names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UriPath {
    /// The path.
    pub(super) path: LocalPath,
    /// True if the URI ends in a slash, so that only a folder matches.
    pub(super) requires_folder: bool,
}

impl UriPath {
    /// Parses `uri`; `None` if it cannot name a path below the root.
    pub(super) fn parse(uri: &Uri) -> Option<Self> {
        let at_home = matches!(uri.authority(), Some(host) if host.is_empty()
            || host.eq_ignore_ascii_case("localhost"));
        if !uri.scheme().eq_ignore_ascii_case("file") || !at_home || uri.has_query() {
            return None;
        }
        let rest = uri.path().strip_prefix('/')?;
        if rest.is_empty() {
            return Some(Self { path: LocalPath::default(), requires_folder: true });
        }
        let (rest, folder) = rest.strip_suffix('/').map_or((rest, false), |rest| (rest, true));
        let mut path = LocalPath(Vec::with_capacity(rest.len()));
        for segment in rest.split('/') {
            let name = percent_decode(segment);
            if !is_valid_name(&name) {
                return None;
            }
            path.push(&name);
            if path.0.len() > MAX_PATH_BYTES {
                return None;
            }
        }
        Some(Self { path, requires_folder: folder })
    }
}

impl LocalPath {
    /// Parses `bytes`; `None` if they are too long or a name is invalid.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let fits = bytes.len() <= MAX_PATH_BYTES
            && (bytes.is_empty() || bytes.split(|byte| *byte == b'/').all(is_valid_name));
        fits.then(|| Self(bytes.to_vec()))
    }

    /// Returns the names, joined by `/`.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the path as text; bytes that are no UTF-8 are replaced.
    pub(super) fn to_text(&self) -> Arc<str> {
        String::from_utf8_lossy(&self.0).into()
    }

    /// Iterates over the names, outermost first.
    pub(super) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/').filter(|name| !name.is_empty())
    }

    /// Returns the last name; `None` for the root.
    pub(super) fn name(&self) -> Option<&[u8]> {
        self.names().last()
    }

    /// Appends `name`.
    pub(super) fn push(&mut self, name: &[u8]) {
        if !self.0.is_empty() {
            self.0.push(b'/');
        }
        self.0.extend_from_slice(name);
    }

    /// Returns the path of `name` in this folder.
    pub(super) fn join(&self, name: &[u8]) -> Self {
        let mut path = Self(Vec::with_capacity(self.0.len() + 1 + name.len()));
        path.0.extend_from_slice(&self.0);
        path.push(name);
        path
    }

    /// True if this is the path of `name` in `folder`.
    pub(super) fn is_child_of(&self, folder: &Self, name: &[u8]) -> bool {
        let prefix = folder.child_name_offset();
        self.0.len() == prefix + name.len()
            && self.0.ends_with(name)
            && self.0.starts_with(&folder.0)
            && (prefix == 0 || self.0[prefix - 1] == b'/')
    }

    /// Number of bytes before the name in the path of a child of this folder.
    pub(super) fn child_name_offset(&self) -> usize {
        if self.0.is_empty() { 0 } else { self.0.len() + 1 }
    }

    /// True if this path is `other` or below it.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        other.0.is_empty()
            || self.0.strip_prefix(&other.0[..]).is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
    }

    /// Splits into parent folder and name; `None` for the root.
    pub(super) fn split(&self) -> Option<(Self, &[u8])> {
        let name = self.name()?;
        let folder = self.0.len().saturating_sub(name.len() + 1);
        Some((Self(self.0[..folder].to_vec()), name))
    }

    /// Returns the URI that listings show.
    pub(super) fn uri(&self) -> Uri {
        match self.split() {
            Some((folder, name)) => child_uri(&folder.uri_prefix(), name),
            None => Uri::parse(ROOT_URI).expect("the root has a URI"),
        }
    }

    /// True if the path of `name` in this folder is not too long, and its URI has at most
    /// `max_uri` bytes.
    pub(super) fn child_uri_fits(&self, name: &[u8], max_uri: usize) -> bool {
        let length = self.child_name_offset() + name.len();
        // Encoding makes three bytes of one at most, so that most paths need not be encoded here.
        length <= MAX_PATH_BYTES
            && (ROOT_URI.len() + 3 * length <= max_uri
                || child_uri(&self.uri_prefix(), name).as_str().len() <= max_uri)
    }

    /// Returns the common prefix of the URIs of this folder's children.
    pub(super) fn uri_prefix(&self) -> String {
        let mut text = String::from(ROOT_URI);
        for name in self.names() {
            encode_segment(name, &mut text);
            text.push('/');
        }
        text
    }
}

/// Returns the URI of `name` in the folder with the URI prefix `prefix`.
pub(super) fn child_uri(prefix: &str, name: &[u8]) -> Uri {
    let mut text = String::with_capacity(prefix.len() + name.len() + 8);
    text.push_str(prefix);
    encode_segment(name, &mut text);
    Uri::parse(&text).expect("an encoded path is a URI")
}

/// True if `name` is valid as the name of one file.
fn is_valid_name(name: &[u8]) -> bool {
    !name.is_empty() && name != b"." && name != b".." && !name.iter().any(|b| matches!(b, 0 | b'/'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};
    use resource::Uri;

    use super::{LocalPath, UriPath, child_uri, is_valid_name};

    fn asked(uri: &str) -> Option<UriPath> {
        UriPath::parse(&Uri::parse(uri).unwrap())
    }

    #[test]
    fn spellings_of_one_path_name_the_same_path() {
        let plain = asked("file:///caf%C3%A9/a").unwrap();
        for uri in ["file:///café/a", "file://localhost/caf%c3%a9/%61", "FILE:///caf%C3%A9/a"] {
            assert_eq!(asked(uri).unwrap(), plain, "{uri}");
        }
        assert_eq!(plain.path.as_bytes(), "café/a".as_bytes());
    }

    #[test]
    fn a_uri_that_can_name_nothing_here_names_nothing() {
        for uri in [
            "file:///../a",
            "file:///a/../b",
            "file:///%2e%2e/a",
            "file:///.%2E/a",
            "file:///a/./b",
            "file:///a//b",
            "file:////",
            "file:///a%00b",
            "file:///a%2Fb",
            "file:///..%2fb",
            "file://evil/a",
            "file:///a?b",
            "file:///a#b",
            "file:a",
            "http:///a",
        ] {
            assert_eq!(asked(uri), None, "{uri}");
        }
        assert_eq!(asked(&format!("file:///{}", "a/".repeat(32 * 1024))), None);
    }

    #[test]
    fn encoding_is_undone_once() {
        assert_eq!(asked("file:///%252e%252e").unwrap().path.as_bytes(), b"%2e%2e");
    }

    #[test]
    fn a_path_lies_within_its_ancestors_only() {
        let path = |text: &str| LocalPath::from_bytes(text.as_bytes()).unwrap();
        assert!(path("a/b").is_within(&path("a")) && path("a/b").is_within(&path("")));
        assert!(path("a").is_within(&path("a")));
        assert!(!path("ab").is_within(&path("a")) && !path("a").is_within(&path("a/b")));
        assert!(
            path("a/b").is_child_of(&path("a"), b"b") && path("a").is_child_of(&path(""), b"a")
        );
        assert!(
            !path("a/b").is_child_of(&path("a"), b"c")
                && !path("a/b").is_child_of(&path("b"), b"b")
        );
        assert!(
            !path("a/bc").is_child_of(&path("a"), b"c")
                && !path("abc").is_child_of(&path("a"), b"c")
        );
    }

    proptest! {
        #[test]
        fn the_uri_of_a_path_names_that_path(
            folder in any::<Vec<u8>>(), name in any::<Vec<u8>>(),
        ) {
            if is_valid_name(&folder) && is_valid_name(&name) {
                let folder = LocalPath::default().join(&folder);
                let uri = child_uri(&folder.uri_prefix(), &name);
                assert_eq!(UriPath::parse(&uri).unwrap().path, folder.join(&name));
            }
        }
    }
}
