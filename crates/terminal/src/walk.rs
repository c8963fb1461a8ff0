//! Walk through collections, depth first, a page at a time, within bounds.

use std::collections::HashSet;

use resource::Uri;

use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::implied::ImpliedTree;
use crate::listing::{PageReader, Row};
use crate::output::tell;

/// How deep a walk goes.
const MAX_DEPTH: usize = 64;
/// How many resources a walk meets.
const MAX_WALKED: usize = 1_000_000;
/// How many failures a person is told.
const MAX_TOLD: usize = 10;

/// A resource that a walk met.
pub(crate) struct WalkedRow {
    pub(crate) row: Row,
    /// How many collections are around it, below the start of the walk.
    pub(crate) depth: usize,
}

/// What a walk left out.
#[derive(Debug, Default)]
pub(crate) struct WalkEnd {
    /// Whether there was more than a walk meets.
    is_cut: bool,
    /// Collections that could not be listed, and why.
    failed: Vec<String>,
}

/// A collection that a walk is in: the rows of its last page, and where the next one is.
struct OpenCollection {
    rows: std::vec::IntoIter<Row>,
    pages: Option<PageReader>,
}

impl OpenCollection {
    async fn next_row(
        &mut self,
        connection: &ServerConnection,
    ) -> Result<Option<Row>, CommandError> {
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(Some(row));
            }
            let Some(pages) = &mut self.pages else { return Ok(None) };
            match pages.next_page(connection).await? {
                Some(rows) => self.rows = rows.into_iter(),
                None => return Ok(None),
            }
        }
    }
}

impl ServerConnection {
    /// Passes everything below `start` to `take`, collections before what is in them, until it
    /// returns false.
    pub(crate) async fn walk(
        &self,
        start: Option<&Uri>,
        mut take: impl FnMut(WalkedRow) -> Result<bool, CommandError>,
    ) -> Result<WalkEnd, CommandError> {
        let mut end = WalkEnd::default();
        // A server that cannot list collections has them in its list, which is read once.
        let mut implied = match start {
            Some(start) if !self.lists_collections() => Some(self.implied_tree(start).await?),
            _ => None,
        };
        let mut entered: HashSet<String> = start.iter().map(|uri| uri.to_string()).collect();
        let mut open = vec![open_collection(start, &mut implied)?];
        let mut met = 0;
        while let Some(collection) = open.last_mut() {
            let row = match collection.next_row(self).await {
                Ok(Some(row)) => row,
                Ok(None) => {
                    open.pop();
                    continue;
                }
                Err(error) if open.len() == 1 || matches!(error, CommandError::Unreachable(_)) => {
                    return Err(error);
                }
                // One collection that cannot be listed must not hide the others.
                Err(error) => {
                    end.failed.push(error.to_string());
                    open.pop();
                    continue;
                }
            };
            if met == MAX_WALKED {
                end.is_cut = true;
                break;
            }
            met += 1;
            let (uri, depth) = (row.resource.uri.clone(), open.len() - 1);
            let can_enter = self.lists_collections() || implied.is_some();
            let is_entered = can_enter && row.is_folder() && open.len() < MAX_DEPTH;
            if !take(WalkedRow { row, depth })? {
                break;
            }
            if is_entered && entered.insert(uri.to_string()) {
                match open_collection(Some(&uri), &mut implied) {
                    Ok(collection) => open.push(collection),
                    Err(error) => end.failed.push(error.to_string()),
                }
            }
        }
        Ok(end)
    }
}

fn open_collection(
    uri: Option<&Uri>,
    implied: &mut Option<ImpliedTree>,
) -> Result<OpenCollection, CommandError> {
    let (rows, pages) = match (uri, implied) {
        (Some(uri), Some(tree)) => (tree.take_children(uri.as_str())?, None),
        (uri, _) => (Vec::new(), Some(PageReader::new(uri.cloned()))),
    };
    Ok(OpenCollection { rows: rows.into_iter(), pages })
}

impl WalkEnd {
    /// What could not be listed, where all of it is wanted.
    pub(crate) fn into_failures(self) -> Vec<String> {
        let cut = self.is_cut.then(|| format!("there are more than {MAX_WALKED} resources"));
        self.failed.into_iter().chain(cut).collect()
    }

    /// Tells a person what the walk left out.
    pub(crate) fn tell(&self) {
        for words in self.failed.iter().take(MAX_TOLD) {
            tell(&format!("skipped: {words}"));
        }
        if self.failed.len() > MAX_TOLD {
            tell(&format!("skipped: {} more", self.failed.len() - MAX_TOLD));
        }
        if self.is_cut {
            tell(&format!("stopped after {MAX_WALKED} resources; name a collection"));
        }
    }
}

/// Tells a person that a list goes on behind the limit.
pub(crate) fn tell_cut(limit: usize) {
    tell(&format!("there is more than {limit}; raise --limit"));
}
