//! Paths of this machine for URIs of a refdesk that serves folders of it, so that editors open them.

use std::path::{Path, PathBuf};

use resource::uri::percent_decode;

/// A folder of this machine, and the URI that the server gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalFolder {
    /// What the URIs of its files begin with, with a slash at the end.
    pub uri: String,
    /// The folder.
    pub path: PathBuf,
}

/// The file that a URI stands for, if it is there: relative to `here` where it is below.
pub(crate) fn local_path(
    folders: &[LocalFolder],
    uri: &str,
    here: Option<&Path>,
) -> Option<String> {
    let found = folders.iter().find_map(|folder| {
        let rest = uri.strip_prefix(&folder.uri)?;
        let rest = String::from_utf8(percent_decode(rest).into_owned()).ok()?;
        let is_inside = Path::new(&rest)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        is_inside.then(|| folder.path.join(rest))
    })?;
    if !found.is_file() {
        return None;
    }
    let shown = here.and_then(|here| found.strip_prefix(here).ok()).unwrap_or(&found);
    Some(shown.to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{LocalFolder, local_path};

    #[test]
    fn a_uri_becomes_the_path_of_a_file_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("資料")).unwrap();
        std::fs::write(folder.path().join("資料/a b.md"), "x").unwrap();
        let folders =
            [LocalFolder { uri: "file:///app/".to_owned(), path: folder.path().to_owned() }];
        let uri = "file:///app/%E8%B3%87%E6%96%99/a%20b.md";
        let path = |uri: &str| local_path(&folders, uri, Some(folder.path()));
        assert_eq!(path(uri).as_deref(), Some("資料/a b.md"));
        for other in [
            "file:///app/none",
            "file:///other/a",
            "file:///app/..%2Fx",
            "file:///app/",
            "file:///app/資料",
        ] {
            assert_eq!(path(other), None, "{other}");
        }
    }
}
