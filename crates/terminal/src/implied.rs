//! Collections that the URIs of a flat list imply, for servers that cannot list collections.

use std::collections::HashMap;

use resource::{Resource, Uri};
use serde_json::json;

use crate::error::CommandError;
use crate::listing::Row;

/// How many resources below one collection are kept.
const MAX_ROWS: usize = 1_000_000;
/// How deep collections are. What lies deeper stays in the last one.
const MAX_DEPTH: usize = 64;

/// What the URIs of resources in the collection `uri` begin with: a slash ends it, or the two of a
/// scheme.
pub(crate) fn collection_prefix(uri: &str) -> String {
    match uri.trim_end_matches('/') {
        scheme if scheme.ends_with(':') && uri.ends_with("//") => format!("{scheme}//"),
        path => format!("{path}/"),
    }
}

/// What lies below one URI, by the URIs of a flat list that is read once.
pub(crate) struct ImpliedTree {
    /// What the URIs begin with.
    root: String,
    /// What lies directly in each collection, by what the URIs in it begin with.
    children: HashMap<String, Vec<Row>>,
    count: usize,
    /// Whether the list has the root itself.
    is_listed: bool,
}

impl ImpliedTree {
    pub(crate) fn new(root: &str) -> Self {
        let root = collection_prefix(root);
        Self { root, children: HashMap::new(), count: 0, is_listed: false }
    }

    /// Adds a resource of the list, and the collections around it.
    pub(crate) fn add(&mut self, row: Row) -> Result<(), CommandError> {
        let uri = row.resource.uri.as_str();
        self.is_listed |= collection_prefix(uri) == self.root;
        let below = uri.strip_prefix(&self.root);
        let Some(below) = below.filter(|below| !below.is_empty()) else { return Ok(()) };
        if self.count == MAX_ROWS {
            let words = format!("more than {MAX_ROWS} resources are below {}", self.root);
            return Err(CommandError::Failed(words));
        }
        self.count += 1;
        let mut folder = self.root.clone();
        let names = below.trim_end_matches('/').rsplit_once('/').map(|(names, _)| names);
        for name in names.into_iter().flat_map(|names| names.split('/')).take(MAX_DEPTH) {
            let inner = format!("{folder}{name}/");
            if !self.children.contains_key(&inner) {
                let Some(implied) = implied_row(&format!("{folder}{name}"), name) else { break };
                self.children.entry(folder).or_default().push(implied);
                self.children.insert(inner.clone(), Vec::new());
            }
            folder = inner;
        }
        self.children.entry(folder).or_default().push(row);
        Ok(())
    }

    /// What lies directly in a collection; each is given out once.
    pub(crate) fn take_children(&mut self, parent: &str) -> Result<Vec<Row>, CommandError> {
        let prefix = collection_prefix(parent);
        match self.children.remove(&prefix) {
            Some(children) => Ok(children),
            None if prefix == self.root && !self.is_listed => {
                Err(CommandError::NotFound(format!("no such resource: {parent}")))
            }
            None => Err(CommandError::Failed(format!("{parent} is not a collection"))),
        }
    }
}

fn implied_row(uri: &str, name: &str) -> Option<Row> {
    let uri = Uri::parse(uri).ok()?;
    let json = json!({ "uri": uri.as_str(), "name": name, "implied": true });
    let mut resource = Resource::new(uri, name);
    resource.listable = Some(true);
    Some(Row { resource, json, is_implied: true })
}

#[cfg(test)]
mod tests {
    use resource::{Resource, Uri};
    use serde_json::Value;

    use super::{ImpliedTree, MAX_DEPTH};
    use crate::listing::Row;

    fn tree(root: &str, uris: &[&str]) -> ImpliedTree {
        let mut tree = ImpliedTree::new(root);
        for uri in uris {
            let resource = Resource::new(Uri::parse(uri).unwrap(), *uri);
            tree.add(Row { resource, json: Value::Null, is_implied: false }).unwrap();
        }
        tree
    }

    fn children(tree: &mut ImpliedTree, parent: &str) -> Vec<(String, bool)> {
        let children = tree.take_children(parent).unwrap();
        children.iter().map(|row| (row.resource.uri.to_string(), row.is_collection())).collect()
    }

    const LIST: [&str; 5] = ["a://h/x/1", "a://h/x/y/3", "a://h/x/2", "a://h/z", "b://h/x/4"];

    #[test]
    fn a_flat_list_has_the_collections_that_its_uris_imply() {
        let named = |uri: &str, is_collection| (uri.to_owned(), is_collection);
        assert_eq!(
            children(&mut tree("a://h/x", &LIST), "a://h/x"),
            [named("a://h/x/1", false), named("a://h/x/y", true), named("a://h/x/2", false)]
        );
        let mut whole = tree("a://h/", &LIST);
        assert_eq!(
            children(&mut whole, "a://h/"),
            [named("a://h/x", true), named("a://h/z", false)]
        );
        assert_eq!(children(&mut whole, "a://h/x/y"), [named("a://h/x/y/3", false)]);
        let error = |uri: &str| tree(uri, &LIST).take_children(uri).unwrap_err();
        assert!(error("a://h/z").to_string().contains("not a collection"));
        assert_eq!(error("a://h/q").exit_status(), 4);
    }

    #[test]
    fn a_scheme_alone_holds_all_its_resources() {
        let uris = ["note://one", "note://two/x", "other://one"];
        let mut tree = tree("note://", &uris);
        let names: Vec<String> =
            children(&mut tree, "note://").into_iter().map(|(uri, _)| uri).collect();
        assert_eq!(names, ["note://one", "note://two"]);
        assert_eq!(children(&mut tree, "note://two").len(), 1);
    }

    #[test]
    fn a_uri_of_many_slashes_makes_no_more_collections_than_a_walk_enters() {
        let deep = format!("a://h/{}end", "d/".repeat(10_000));
        assert_eq!(tree("a://h", &[&deep]).children.len(), MAX_DEPTH + 1);
    }
}
