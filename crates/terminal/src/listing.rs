//! Lists of resources: pages of any server, and the collections of those that list them.

use std::collections::{HashMap, HashSet};

use client::{ListScope, Request};
use protocol::outbound::decode::resource_page;
use protocol::outbound::request::methods;
use resource::{Resource, Uri};
use serde_json::{Value, json};

use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::implied::ImpliedTree;

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
        let mut pages = PageReader::new(parent.cloned());
        while let Some(rows) = pages.next_page(self).await? {
            if !take(rows)? {
                break;
            }
        }
        Ok(())
    }

    /// Calls `take` with the rows of what lies in `parent`, until it returns false. Where the
    /// server cannot list collections, those are what the URIs of its whole list say.
    pub(crate) async fn each_row(
        &self,
        parent: Option<&Uri>,
        mut take: impl FnMut(Row) -> Result<bool, CommandError>,
    ) -> Result<(), CommandError> {
        let mut take_all = |rows: Vec<Row>| {
            for row in rows {
                if !take(row)? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        match parent.filter(|_| !self.lists_collections()) {
            Some(parent) => {
                let children = self.implied_tree(parent).await?.take_children(parent.as_str())?;
                take_all(children).map(drop)
            }
            None => self.each_page(parent, take_all).await,
        }
    }

    /// What lies below `root`, by the URIs of the whole list of the server.
    pub(crate) async fn implied_tree(&self, root: &Uri) -> Result<ImpliedTree, CommandError> {
        let mut tree = ImpliedTree::new(root.as_str());
        let add = |rows: Vec<Row>| {
            rows.into_iter().try_for_each(|row| tree.add(row))?;
            Ok(true)
        };
        self.each_page(None, add).await?;
        Ok(tree)
    }
}

/// Reads a list page by page, and notices cursors that go in a circle.
pub(crate) struct PageReader {
    parent: Option<Uri>,
    /// The cursor of the next page; `None` before the first one.
    cursor: Option<String>,
    seen: HashSet<String>,
    pages: usize,
    is_done: bool,
}

impl PageReader {
    /// Reads what lies in `parent`, or the list of the server.
    pub(crate) fn new(parent: Option<Uri>) -> Self {
        Self { parent, cursor: None, seen: HashSet::new(), pages: 0, is_done: false }
    }

    /// The next page; `None` after the last.
    pub(crate) async fn next_page(
        &mut self,
        connection: &ServerConnection,
    ) -> Result<Option<Vec<Row>>, CommandError> {
        if self.is_done {
            return Ok(None);
        }
        if self.pages == MAX_PAGES {
            return Err(CommandError::Failed(format!("the list has more than {MAX_PAGES} pages")));
        }
        self.pages += 1;
        let page = connection.page(self.parent.as_ref(), self.cursor.as_deref()).await?;
        self.is_done = page.next.is_none();
        if let Some(next) = &page.next
            && !self.seen.insert(next.clone())
        {
            let words = "the cursors of the server go in a circle; `refdesk doctor` says more";
            return Err(CommandError::Failed(words.to_owned()));
        }
        self.cursor = page.next;
        Ok(Some(page.rows))
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
