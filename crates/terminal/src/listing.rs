//! Lists of resources: pages of any server, and the tree that the URIs of a flat list make.

use std::collections::{BTreeSet, HashMap};

use client::{ListScope, Request};
use protocol::outbound::decode::resource_page;
use protocol::outbound::request::methods;
use resource::{Resource, Uri};
use serde_json::{Value, json};

use crate::connection::ServerConnection;
use crate::error::CommandError;

/// How many pages of one list are read. A server whose cursors go in a circle ends there.
const MAX_PAGES: usize = 20_000;

/// A resource in a list, and its description as the server wrote it.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) resource: Resource,
    pub(crate) json: Value,
    /// Whether only the URIs of other resources tell that it exists.
    pub(crate) is_implied: bool,
}

impl Row {
    pub(crate) fn is_collection(&self) -> bool {
        let is_directory = self.resource.mime.as_deref() == Some("inode/directory");
        self.is_implied || self.resource.listable.unwrap_or(is_directory)
    }

    /// Whether it is a collection without content of its own: not an archive, and not a page whose
    /// sections can be listed.
    pub(crate) fn is_folder(&self) -> bool {
        let mime = self.resource.mime.as_deref();
        self.is_collection() && mime.is_none_or(|mime| mime == "inode/directory")
    }
}

/// One page of a list.
pub(crate) struct RowPage {
    pub(crate) rows: Vec<Row>,
    pub(crate) next: Option<String>,
}

impl ServerConnection {
    /// One page of what lies in `parent`, or of the list of the server.
    pub(crate) async fn page(
        &self,
        parent: Option<&Uri>,
        cursor: Option<&str>,
    ) -> Result<RowPage, CommandError> {
        let scope = match parent {
            None => ListScope::All,
            Some(uri) => self.peer.capabilities.child_list(uri).ok_or_else(|| {
                CommandError::Failed("the server has no lists of collections".to_owned())
            })?,
        };
        let (method, uri) = match &scope {
            ListScope::All => (methods::LIST_RESOURCES, None),
            ListScope::Children(uri) => (methods::LIST_RESOURCES, Some(uri)),
            ListScope::Directory(uri) => (methods::READ_DIRECTORY, Some(uri)),
        };
        let mut params = json!({});
        if let Some(uri) = uri {
            params["uri"] = uri.as_str().into();
        }
        if let Some(cursor) = cursor {
            params["cursor"] = cursor.into();
        }
        let answer = self.client.send_request(&request(method, &params)?).await.map_err(
            |error| match uri {
                Some(uri) => CommandError::about(uri.as_str(), error),
                None => error.into(),
            },
        )?;
        let page = resource_page(&answer).map_err(client::Error::from)?;
        let mut written = written_rows(answer.get());
        let row = |resource: Resource| {
            let json = written.remove(resource.uri.as_str()).unwrap_or_default();
            Row { resource, json, is_implied: false }
        };
        Ok(RowPage { rows: page.items.into_iter().map(row).collect(), next: page.next })
    }

    /// Calls `take` with each page of a list, until it returns false or the list ends.
    pub(crate) async fn each_page(
        &self,
        parent: Option<&Uri>,
        mut take: impl FnMut(Vec<Row>) -> Result<bool, CommandError>,
    ) -> Result<(), CommandError> {
        let mut cursor: Option<String> = None;
        let mut seen = BTreeSet::new();
        for _ in 0..MAX_PAGES {
            let page = self.page(parent, cursor.as_deref()).await?;
            if !take(page.rows)? {
                return Ok(());
            }
            match page.next {
                Some(next) if seen.insert(next.clone()) => cursor = Some(next),
                Some(_) => {
                    let words =
                        "the cursors of the server go in a circle; `refdesk doctor` says more";
                    return Err(CommandError::Failed(words.to_owned()));
                }
                None => return Ok(()),
            }
        }
        Err(CommandError::Failed(format!("the list has more than {MAX_PAGES} pages")))
    }

    /// At most `limit` rows of what lies in `parent`. Where the server cannot list collections,
    /// those are what the URIs of its whole list say.
    pub(crate) async fn rows(
        &self,
        parent: Option<&Uri>,
        limit: usize,
    ) -> Result<Vec<Row>, CommandError> {
        let can_list = parent.is_none_or(|uri| self.peer.capabilities.child_list(uri).is_some());
        let mut rows = Vec::new();
        let scope = parent.filter(|_| can_list);
        self.each_page(scope, |page| {
            rows.extend(page);
            Ok(rows.len() < limit || !can_list)
        })
        .await?;
        if let (Some(parent), false) = (parent, can_list) {
            rows = implied_children(&rows, parent.as_str())?;
        }
        rows.truncate(limit);
        Ok(rows)
    }
}

/// A request with these parameters.
pub(crate) fn request(method: &str, params: &Value) -> Result<Request, CommandError> {
    let raw = serde_json::value::to_raw_value(params);
    let raw = raw.map_err(|error| CommandError::Failed(error.to_string()))?;
    Ok(Request::new(method).params(raw))
}

/// The entries of a list as the server wrote them, by URI.
fn written_rows(answer: &str) -> HashMap<String, Value> {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let lists = ["resources", "entries"].map(|name| answer[name].as_array().cloned());
    let rows = lists.into_iter().flatten().flatten();
    rows.filter_map(|row| Some((row["uri"].as_str()?.to_owned(), row))).collect()
}

/// What lies directly in `parent`, by the URIs of a flat list.
fn implied_children(rows: &[Row], parent: &str) -> Result<Vec<Row>, CommandError> {
    let prefix = format!("{}/", parent.trim_end_matches('/'));
    let mut children: Vec<Row> = Vec::new();
    let mut folders = BTreeSet::new();
    let mut is_listed = false;
    for row in rows {
        let uri = row.resource.uri.as_str();
        is_listed |= uri == parent;
        let Some(rest) = uri.strip_prefix(&prefix).filter(|rest| !rest.is_empty()) else {
            continue;
        };
        match rest.split_once('/').filter(|(_, below)| !below.is_empty()) {
            None => children.push(row.clone()),
            Some((name, _)) if folders.insert(name.to_owned()) => {
                children.extend(implied_row(&format!("{prefix}{name}"), name));
            }
            Some(_) => {}
        }
    }
    match (children.is_empty(), is_listed) {
        (false, _) => Ok(children),
        (true, true) => Err(CommandError::Failed(format!("{parent} is not a collection"))),
        (true, false) => Err(CommandError::NotFound(format!("no such resource: {parent}"))),
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

    use super::{Row, implied_children};

    fn rows(uris: &[&str]) -> Vec<Row> {
        let row = |uri: &&str| Row {
            resource: Resource::new(Uri::parse(uri).unwrap(), *uri),
            json: Value::Null,
            is_implied: false,
        };
        uris.iter().map(row).collect()
    }

    #[test]
    fn a_flat_list_has_the_collections_that_its_uris_imply() {
        let list = rows(&["a://h/x/1", "a://h/x/2", "a://h/x/y/3", "a://h/z", "b://h/x/4"]);
        let uris = |parent: &str| -> Vec<(String, bool)> {
            let children = implied_children(&list, parent).unwrap();
            children.iter().map(|row| (row.resource.uri.to_string(), row.is_collection())).collect()
        };
        let named = |uri: &str, is_collection| (uri.to_owned(), is_collection);
        assert_eq!(
            uris("a://h/x"),
            [named("a://h/x/1", false), named("a://h/x/2", false), named("a://h/x/y", true)]
        );
        assert_eq!(uris("a://h/"), [named("a://h/x", true), named("a://h/z", false)]);
        assert!(implied_children(&list, "a://h/z").unwrap_err().to_string().contains("not a coll"));
        assert_eq!(implied_children(&list, "a://h/q").unwrap_err().exit_status(), 4);
    }
}
