//! Trees of resources: what a walk met, nested by URI where the list of the server is flat.

use crate::args::RowOrder;
use crate::filter::compare;
use crate::listing::Row;
use crate::output::shown_uri;
use crate::walk::WalkedRow;

/// A line of a tree.
pub(crate) struct TreeLine<'a> {
    /// The name: that of the resource, or the piece of a URI.
    pub(crate) name: String,
    /// The resource; `None` for a folder that only URIs tell of.
    pub(crate) row: Option<&'a Row>,
    pub(crate) depth: usize,
    pub(crate) is_last: bool,
}

#[derive(Default)]
struct TreeNode<'a> {
    name: String,
    row: Option<&'a Row>,
    children: Vec<Self>,
}

/// The lines of the tree that the walked resources make, sorted within each folder.
pub(crate) fn tree_lines(walked: &[WalkedRow], order: Option<RowOrder>) -> Vec<TreeLine<'_>> {
    let mut root = TreeNode::default();
    // Where the collections around the next row are: their URIs, and their places in the tree.
    let mut around: Vec<(&str, Vec<usize>)> = Vec::new();
    for WalkedRow { row, depth } in walked {
        around.truncate(*depth);
        let uri = row.resource.uri.as_str();
        let (parent, below) = match around.last() {
            Some((parent, place)) => {
                (place.clone(), uri.strip_prefix(parent).and_then(|rest| rest.strip_prefix('/')))
            }
            None => (Vec::new(), Some(uri)),
        };
        // A resource whose URI does not continue its collection's still belongs there.
        let folders = below.map_or_else(Vec::new, folders_of);
        let place = root.insert(parent, &folders, row);
        around.push((uri.trim_end_matches('/'), place));
    }
    if let Some(order) = order {
        root.sort(order);
    }
    let mut lines = Vec::new();
    root.push_lines(0, &mut lines);
    lines
}

/// The folders that a URI, or the rest of one, names before its last segment.
fn folders_of(below: &str) -> Vec<&str> {
    let below = below.trim_end_matches('/');
    let start = below.find("://").map_or(0, |at| at + 3);
    let first = below[start..].find('/').map(|at| start + at);
    // The scheme and the authority are one piece.
    let Some(first) = first else { return Vec::new() };
    let mut folders = vec![&below[..first]];
    folders.extend(below[first + 1..].split('/'));
    folders.pop();
    folders
}

impl<'a> TreeNode<'a> {
    /// Puts a row below the node at `place`, in these folders; returns its own place.
    fn insert(&mut self, mut place: Vec<usize>, folders: &[&str], row: &'a Row) -> Vec<usize> {
        let mut node = self;
        for at in &place {
            node = &mut node.children[*at];
        }
        for folder in folders {
            let same = |child: &TreeNode<'_>| child.row.is_none() && child.name == *folder;
            // The list of a server is in order, so only the last one can be the same.
            let is_same = node.children.last().is_some_and(same);
            if !is_same {
                node.children.push(Self { name: (*folder).to_owned(), ..Self::default() });
            }
            let at = node.children.len() - 1;
            place.push(at);
            node = &mut node.children[at];
        }
        let name = row.resource.name.clone();
        node.children.push(Self { name, row: Some(row), children: Vec::new() });
        place.push(node.children.len() - 1);
        place
    }

    fn sort(&mut self, order: RowOrder) {
        self.children.sort_by(|one, other| match (one.row, other.row) {
            (Some(one), Some(other)) => compare(&one.resource, &other.resource, order),
            // A folder that only URIs tell of has a name alone.
            _ if order == RowOrder::Name => one.name.to_lowercase().cmp(&other.name.to_lowercase()),
            (one, other) => one.is_none().cmp(&other.is_none()),
        });
        self.children.iter_mut().for_each(|child| child.sort(order));
    }

    fn push_lines(self, depth: usize, lines: &mut Vec<TreeLine<'a>>) {
        let last = self.children.len().saturating_sub(1);
        for (at, child) in self.children.into_iter().enumerate() {
            let child = child.joined();
            let name =
                if child.row.is_some() { child.name.clone() } else { shown_uri(&child.name) };
            lines.push(TreeLine { name, row: child.row, depth, is_last: at == last });
            child.push_lines(depth + 1, lines);
        }
    }

    /// A folder whose only entry is a folder becomes one line with it.
    fn joined(mut self) -> Self {
        while self.row.is_none() && matches!(&self.children[..], [only] if only.row.is_none()) {
            let only = self.children.remove(0);
            self.name = format!("{}/{}", self.name, only.name);
            self.children = only.children;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use resource::{Resource, Uri};
    use serde_json::Value;

    use super::tree_lines;
    use crate::listing::Row;
    use crate::walk::WalkedRow;

    fn drawn(rows: &[(usize, &str)]) -> Vec<String> {
        let walked: Vec<WalkedRow> = rows
            .iter()
            .map(|(depth, uri)| {
                let name = uri.rsplit('/').next().unwrap_or(uri);
                let resource = Resource::new(Uri::parse(uri).unwrap(), name);
                let row = Row { resource, json: Value::Null, is_implied: false };
                WalkedRow { row, depth: *depth }
            })
            .collect();
        let line = |line: &super::TreeLine<'_>| {
            let mark = if line.is_last { "'" } else { "|" };
            format!("{}{mark}{}", " ".repeat(line.depth), line.name)
        };
        tree_lines(&walked, None).iter().map(line).collect()
    }

    #[test]
    fn a_flat_list_is_nested_by_its_uris() {
        let rows = [(0, "a:///d/x.md"), (0, "a:///d/s/y.rs"), (0, "a:///d/s/z.rs"), (0, "b://h/q")];
        assert_eq!(
            drawn(&rows),
            ["|a:///d", " |x.md", " 's", "  |y.rs", "  'z.rs", "'b://h", " 'q"]
        );
        assert_eq!(drawn(&[(0, "a:one")]), ["'a:one"]);
    }

    #[test]
    fn collections_hold_what_the_walk_found_in_them() {
        let rows = [(0, "g://m/1"), (1, "g://m/2"), (1, "g://m/1/3"), (0, "g://m/4")];
        assert_eq!(drawn(&rows), ["'g://m", " |1", "  |2", "  '3", " '4"]);
    }
}
