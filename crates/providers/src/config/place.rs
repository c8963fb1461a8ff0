//! Local URIs of a configuration mount: what each names, and how it is written.
//!
//! A file is `config:///<path>`. The first segments `keys`, `effective` and `diff` are taken; a path
//! that begins with one of them has its first letter percent-encoded.

use resource::Uri;
use resource::uri::{encode_segment, percent_decode};

/// What every local URI begins with.
const PREFIX: &str = "config:///";

const KEYS: &str = "keys";
const EFFECTIVE: &str = "effective";
const DIFF: &str = "diff";

/// What a local URI names, before it is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConfigPlace {
    Root,
    File(String),
    /// The collection of the key trees of all files.
    AllKeys,
    /// A path and the keys below it: where the path ends is known when the file is found.
    Keys(Vec<String>),
    Effective(Vec<String>),
    /// The collection of the differences between layers.
    AllDiffs,
    /// Two names of layers with two dots between them.
    Diff(String),
}

impl ConfigPlace {
    /// What `uri` names, and whether a slash at its end says that it is a collection.
    pub(super) fn parse(uri: &Uri) -> Option<(Self, bool)> {
        let path = uri.as_str().strip_prefix(PREFIX)?;
        if path.is_empty() {
            return Some((Self::Root, true));
        }
        if path.contains(['?', '#']) {
            return None;
        }
        let (path, is_collection) = match path.strip_suffix('/') {
            Some(path) => (path, true),
            None => (path, false),
        };
        let (first, rest) = match path.split_once('/') {
            Some((first, rest)) => (first, Some(rest)),
            None => (path, None),
        };
        let place = match (first, rest) {
            (KEYS, None) => Self::AllKeys,
            (KEYS, Some(rest)) => Self::Keys(decode_segments(rest)?),
            (EFFECTIVE, None) => Self::Effective(Vec::new()),
            (EFFECTIVE, Some(rest)) => Self::Effective(decode_segments(rest)?),
            (DIFF, None) => Self::AllDiffs,
            (DIFF, Some(rest)) if !rest.contains('/') => Self::Diff(decode_segment(rest)?),
            (DIFF, Some(_)) => return None,
            _ => {
                let names = decode_segments(path)?;
                let is_name = |name: &String| !is_odd_name(name);
                names.iter().all(is_name).then(|| Self::File(names.join("/")))?
            }
        };
        Some((place, is_collection))
    }

    /// The URI of this place.
    pub(super) fn to_uri(&self) -> Option<Uri> {
        let mut text = PREFIX.to_owned();
        match self {
            Self::Root => {}
            Self::File(path) => {
                let names: Vec<&str> = path.split('/').collect();
                let start = text.len();
                push_segments(&mut text, &names);
                if let [KEYS | EFFECTIVE | DIFF, ..] = names[..] {
                    let letter = format!("%{:02X}", text.as_bytes()[start]);
                    text.replace_range(start..=start, &letter);
                }
            }
            Self::AllKeys => text.push_str(KEYS),
            Self::Keys(segments) => {
                text.push_str(KEYS);
                text.push('/');
                push_segments(&mut text, segments);
            }
            Self::Effective(keys) => {
                text.push_str(EFFECTIVE);
                if !keys.is_empty() {
                    text.push('/');
                    push_segments(&mut text, keys);
                }
            }
            Self::AllDiffs => text.push_str(DIFF),
            Self::Diff(layers) => {
                text.push_str(DIFF);
                text.push('/');
                push_segments(&mut text, &[layers]);
            }
        }
        Uri::parse(&text).ok()
    }

    /// The place of `keys` in the file at `path`.
    pub(super) fn of_keys(path: &str, keys: &[String]) -> Self {
        let names = path.split('/').map(str::to_owned);
        Self::Keys(names.chain(keys.iter().cloned()).collect())
    }
}

/// Whether no file may have this name in its path.
fn is_odd_name(name: &str) -> bool {
    name == "." || name == ".." || name.contains(['/', '\0'])
}

fn push_segments<S: AsRef<str>>(text: &mut String, segments: &[S]) {
    for (at, segment) in segments.iter().enumerate() {
        if at > 0 {
            text.push('/');
        }
        match segment.as_ref() {
            // A client may drop these where they stand as they are.
            "." => text.push_str("%2E"),
            ".." => text.push_str("%2E%2E"),
            plain => encode_segment(plain.as_bytes(), text),
        }
    }
}

fn decode_segments(path: &str) -> Option<Vec<String>> {
    path.split('/').map(decode_segment).collect()
}

/// The decoded segment; `None` if it is empty, a relative one, or not UTF-8.
fn decode_segment(segment: &str) -> Option<String> {
    if segment.is_empty() || segment == "." || segment == ".." {
        return None;
    }
    String::from_utf8(percent_decode(segment).into_owned()).ok()
}

/// The path of a file from its URI in the folder's provider; `None` if it is not UTF-8.
pub(super) fn path_from_file_uri(uri: &Uri) -> Option<String> {
    let path = uri.path().strip_prefix('/')?;
    String::from_utf8(percent_decode(path).into_owned()).ok()
}

/// The URI of the file at `path` in the folder's provider.
pub(super) fn file_uri(path: &str) -> Option<Uri> {
    let mut text = "file:///".to_owned();
    push_segments(&mut text, &path.split('/').collect::<Vec<_>>());
    Uri::parse(&text).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, prop_assert_eq, proptest};
    use resource::Uri;

    use super::ConfigPlace;

    proptest! {
        #[test]
        fn parsing_undoes_writing(
            path in prop::collection::vec("[^/\0]{1,6}|keys|diff|effective", 1..4),
            keys in prop::collection::vec("\\PC{1,6}|a/b|[.]{1,2}|%2F", 1..4),
        ) {
            let path: Vec<String> =
                path.into_iter().filter(|name| name != "." && name != "..").collect();
            let mut places = vec![
                ConfigPlace::Root,
                ConfigPlace::AllKeys,
                ConfigPlace::AllDiffs,
                ConfigPlace::Keys(keys.clone()),
                ConfigPlace::Effective(Vec::new()),
                ConfigPlace::Effective(keys.clone()),
                ConfigPlace::Diff("env:APP_*..a/b.toml".to_owned()),
            ];
            places.extend((!path.is_empty()).then(|| ConfigPlace::File(path.join("/"))));
            for place in places {
                let uri = place.to_uri().unwrap();
                prop_assert_eq!(ConfigPlace::parse(&uri).map(|(place, _)| place), Some(place));
            }
        }
    }

    #[test]
    fn a_file_that_is_named_like_a_collection_has_another_spelling() {
        let uri = ConfigPlace::File("keys/a.toml".to_owned()).to_uri().unwrap();
        assert_eq!(uri.as_str(), "config:///%6Beys/a.toml");
        for odd in
            ["config:///a//b", "config:///../a", "config:///a?x", "file:///a", "config:///diff/a/b"]
        {
            assert_eq!(ConfigPlace::parse(&Uri::parse(odd).unwrap()), None, "{odd}");
        }
        let slash = ConfigPlace::parse(&Uri::parse("config:///keys/").unwrap());
        assert_eq!(slash, Some((ConfigPlace::AllKeys, true)));
    }
}
