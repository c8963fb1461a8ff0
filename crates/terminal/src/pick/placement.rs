//! Where the rows of a plain list stand in the tree: as they come, by mount, or by their URIs.

use crate::output::one_line;
use crate::pick::node::{NodeId, PickLoad, PickRow, ROOT};
use crate::pick::tree::PickTree;

/// How deep the collections go that URIs imply.
const MAX_IMPLIED_DEPTH: usize = 64;

/// A mount of a refdesk: its name, and what its URIs begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PickMount {
    pub(crate) name: String,
    pub(crate) root: Option<String>,
}

/// Where the rows of the first list go.
#[derive(Debug, Default)]
pub(crate) enum PickPlacement {
    /// The server lists collections, so its rows stand as they come.
    #[default]
    AsListed,
    /// It does not: the URIs that begin with this text imply the collections.
    Implied(String),
    /// Into the mounts that cannot be listed by their root; the others list themselves.
    Mounts { listed: Vec<String>, groups: Vec<(String, NodeId)> },
}

impl PickPlacement {
    /// Whether the first list is that of the start, and not the whole one.
    pub(crate) fn lists_scope(&self) -> bool {
        matches!(self, Self::AsListed)
    }

    /// Puts a row of the first list into the tree.
    pub(crate) fn place(&mut self, tree: &mut PickTree, row: PickRow) {
        match self {
            Self::AsListed => {
                tree.add(ROOT, row);
            }
            Self::Implied(prefix) => {
                if row.uri.starts_with(prefix.as_str()) && row.uri.len() > prefix.len() {
                    let length = prefix.len();
                    add_implied(tree, ROOT, row, length);
                }
            }
            Self::Mounts { listed, groups } => {
                if listed.iter().any(|root| row.uri.starts_with(root.as_str())) {
                    return;
                }
                let group = groups.iter().find(|(root, _)| row.uri.starts_with(root.as_str()));
                match group.map(|(root, id)| (root.len(), *id)) {
                    Some((length, id)) => add_implied(tree, id, row, length),
                    None => add_implied(tree, ROOT, row, 0),
                }
            }
        }
    }
}

impl PickTree {
    /// Adds the mounts of a refdesk at the top. Returns whether some of them can be found in the
    /// plain list alone.
    pub(crate) fn add_mounts(&mut self, mounts: &[PickMount]) -> bool {
        let is_first = !self.has_mounts();
        let (mut listed, mut groups, mut has_plain) = (Vec::new(), Vec::new(), false);
        for PickMount { name, root } in mounts {
            match root {
                Some(root) if root.ends_with('/') => {
                    let uri = root.clone();
                    let name = name.clone();
                    let row = PickRow {
                        uri,
                        name,
                        is_collection: true,
                        is_folder: true,
                        ..PickRow::default()
                    };
                    self.add(ROOT, row);
                    if let Some(mount) = self.find(root) {
                        self.get_mut(mount).is_pinned = true;
                    }
                    listed.push(root.clone());
                }
                Some(root) => {
                    let group = self.add_group(ROOT, root, name);
                    if let Some(group) = group {
                        self.get_mut(group).is_pinned = true;
                    }
                    groups.extend(group.map(|group| (root.clone(), group)));
                    has_plain = true;
                }
                None => has_plain = true,
            }
        }
        if is_first {
            self.get_mut(ROOT).load = PickLoad::Unloaded;
        }
        if !mounts.is_empty() {
            self.placement = PickPlacement::Mounts { listed, groups };
        }
        has_plain
    }

    /// Whether the top of the tree is the mounts of a refdesk.
    pub(crate) fn has_mounts(&self) -> bool {
        matches!(self.placement, PickPlacement::Mounts { .. })
    }
}

/// Adds a row below the collections that its URI implies after the first `from` bytes.
fn add_implied(tree: &mut PickTree, parent: NodeId, row: PickRow, from: usize) {
    let mut parent = parent;
    let mut start = from;
    for end in implied_ends(&row.uri, from) {
        let folder = &row.uri[..end];
        parent = match tree.find(folder) {
            Some(known) => {
                tree.mark_listed(known);
                known
            }
            None => {
                let name = decoded(&row.uri[start..end]);
                match tree.add_group(parent, folder, name.trim_matches('/')) {
                    Some(id) => id,
                    None => return,
                }
            }
        };
        start = end;
    }
    tree.make_collection(parent);
    tree.add(parent, row);
}

/// Where the URIs of the implied collections end: before each slash that something follows. The
/// first one of a whole URI is the scheme with the authority, or with the first segment.
fn implied_ends(uri: &str, from: usize) -> Vec<usize> {
    let first = match uri[from..].find("://") {
        Some(at) => match uri[from + at + 3..].starts_with('/') {
            true => from + at + 4,
            false => from + at + 3,
        },
        None if from == 0 => return Vec::new(),
        None => from,
    };
    let slashes = uri[first..].match_indices('/').map(|(at, _)| first + at);
    let ends = slashes.filter(|at| *at > first && at + 1 < uri.len());
    ends.filter(|at| !uri[..*at].ends_with('/')).take(MAX_IMPLIED_DEPTH).collect()
}

/// A URI as a person reads it: without percent-encoding, and files without their scheme.
pub(crate) fn decoded(uri: &str) -> String {
    let bytes = resource::uri::percent_decode(uri);
    let text = one_line(&String::from_utf8_lossy(&bytes));
    match text.strip_prefix("file:///") {
        Some(path) if !path.is_empty() => path.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{decoded, implied_ends};

    #[test]
    fn uris_imply_the_collections_before_their_slashes() {
        let folders = |uri: &'static str| -> Vec<&str> {
            implied_ends(uri, 0).into_iter().map(|end| &uri[..end]).collect()
        };
        assert_eq!(folders("demo://host/a/b"), ["demo://host", "demo://host/a"]);
        assert_eq!(folders("file:///app/src/x"), ["file:///app", "file:///app/src"]);
        assert_eq!(folders("demo://host/"), [""; 0]);
        assert_eq!(folders("urn:a:b/c"), [""; 0]);
        assert_eq!(folders("demo://h//a//b"), ["demo://h", "demo://h//a"]);
        assert_eq!(implied_ends(&format!("a://h/{}", "x/".repeat(500)), 0).len(), 64);
    }

    #[test]
    fn a_path_reads_as_a_person_wrote_it() {
        assert_eq!(decoded("file:///app/%E8%B3%87%E6%96%99.md"), "app/資料.md");
        assert_eq!(decoded("git://app/HEAD/a%1bb%ff"), "git://app/HEAD/a b\u{fffd}");
    }
}
