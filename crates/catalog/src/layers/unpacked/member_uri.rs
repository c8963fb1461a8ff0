//! URIs that lead into archives: where the archive ends and the path of a member begins.

use archive::ArchiveKind;
use resource::{Uri, uri};

/// A URI taken apart at a segment that is named like an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArchiveSplit<'a> {
    /// The URI of what may be an archive.
    pub(crate) archive: Uri,
    /// What follows its slash, still percent-encoded; `None` for the archive itself.
    pub(crate) rest: Option<&'a str>,
}

/// The places where `uri` may be that of an archive or lead into one, the outermost first. Most
/// URIs have none, and cost no more than this look at their names.
pub(crate) fn archive_splits(uri: &Uri) -> impl Iterator<Item = ArchiveSplit<'_>> {
    let text = uri.as_str();
    // A query makes it another resource: a history, say.
    let path = (!uri.has_query()).then(|| uri.path());
    let path_start = path.map_or(0, |path| text.len() - path.len());
    let ends = path.into_iter().flat_map(move |path| {
        let slashes = path.match_indices('/').map(|(slash, _)| slash).chain([path.len()]);
        slashes.scan(0, move |start, end| {
            let segment = &path[std::mem::replace(start, end + 1)..end];
            Some((segment, path_start + end))
        })
    });
    ends.filter_map(move |(segment, end)| {
        kind_of_segment(segment)?;
        let archive = Uri::parse(&text[..end]).ok()?;
        Some(ArchiveSplit { archive, rest: text.get(end + 1..) })
    })
}

/// Whether `uri` leads into what is named like an archive.
pub(crate) fn is_in_archive(uri: &Uri) -> bool {
    archive_splits(uri).any(|split| split.rest.is_some_and(|rest| !rest.is_empty()))
}

/// The kind of archive, and its MIME type, that the name of `uri` says it is.
pub(crate) fn kind_of_uri(uri: &Uri) -> Option<(ArchiveKind, &'static str)> {
    // Most URIs do not even end like an archive.
    let text = uri.as_str();
    if uri.has_query() || (!text.contains('%') && ArchiveKind::of_name(text).is_none()) {
        return None;
    }
    kind_of_segment(uri.path().rsplit('/').next()?)
}

fn kind_of_segment(segment: &str) -> Option<(ArchiveKind, &'static str)> {
    let name = uri::percent_decode(segment);
    ArchiveKind::of_name(std::str::from_utf8(&name).ok()?)
}

/// The path of a member, decoded, and whether a slash at its end says that it is a folder. `None`
/// for what names no member.
pub(super) fn member_path(rest: &str) -> Option<(String, bool)> {
    let (rest, requires_folder) = match rest.strip_suffix('/') {
        Some(rest) => (rest, true),
        None => (rest, rest.is_empty()),
    };
    let mut path = String::with_capacity(rest.len());
    for segment in rest.split('/').filter(|_| !rest.is_empty()) {
        let segment = uri::percent_decode(segment);
        let segment = std::str::from_utf8(&segment).ok()?;
        if matches!(segment, "" | "." | "..") || segment.contains(['/', '\0']) {
            return None;
        }
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(segment);
    }
    Some((path, requires_folder))
}

/// The URI of the member `name` of `collection`.
pub(super) fn child_uri(collection: &Uri, name: &str) -> Option<Uri> {
    let mut text = collection.as_str().trim_end_matches('/').to_owned();
    text.push('/');
    uri::encode_segment(name.as_bytes(), &mut text);
    Uri::parse(&text).ok()
}

#[cfg(test)]
mod tests {
    use resource::Uri;

    use super::{archive_splits, child_uri, member_path};

    fn splits(text: &str) -> Vec<(String, Option<String>)> {
        let uri = Uri::parse(text).unwrap();
        archive_splits(&uri)
            .map(|split| (split.archive.to_string(), split.rest.map(str::to_owned)))
            .collect()
    }

    #[test]
    fn a_uri_is_split_at_names_of_archives_alone() {
        let inside = |archive: &str, rest: &str| (archive.to_owned(), Some(rest.to_owned()));
        assert!(splits("file:///app/src/main.rs").is_empty());
        assert!(splits("git:///log/HEAD/a.zip?author=x").is_empty());
        assert!(splits("file:///.zip/x").is_empty());
        assert_eq!(splits("file:///a.zip"), [("file:///a.zip".to_owned(), None)]);
        assert_eq!(splits("file:///a.zip/"), [inside("file:///a.zip", "")]);
        assert_eq!(splits("file:///d/a%2Ezip/x/y"), [inside("file:///d/a%2Ezip", "x/y")]);
        assert_eq!(
            splits("file:///a.tar.gz/b.zip/c.txt"),
            [inside("file:///a.tar.gz", "b.zip/c.txt"), inside("file:///a.tar.gz/b.zip", "c.txt")]
        );
        assert_eq!(splits("x:a.zip/b"), [inside("x:a.zip", "b")]);
    }

    #[test]
    fn the_path_of_a_member_is_decoded_once_and_leads_nowhere_else() {
        let path = |rest: &str| member_path(rest);
        assert_eq!(path("a/%E6%97%A5.txt"), Some(("a/日.txt".to_owned(), false)));
        assert_eq!(path("a/"), Some(("a".to_owned(), true)));
        assert_eq!(path(""), Some((String::new(), true)));
        for rest in ["..", "a/../b", "%2e%2e/a", "a%2Fb", "a//b", "/a", "%FF", "a%00", ".", "a/./b"]
        {
            assert_eq!(path(rest), None, "{rest}");
        }
    }

    #[test]
    fn a_child_of_a_collection_has_its_name_encoded() {
        let child = child_uri(&Uri::parse("file:///a.zip/").unwrap(), "50% 日/x");
        assert_eq!(child.unwrap().as_str(), "file:///a.zip/50%25%20%E6%97%A5%2Fx");
    }
}
