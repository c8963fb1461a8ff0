//! Walk through collections, depth first, within bounds.

use std::collections::HashSet;

use resource::Uri;

use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::listing::Row;

/// How deep a walk goes.
const MAX_DEPTH: usize = 64;

/// A resource that a walk met.
pub(crate) struct WalkedRow {
    pub(crate) row: Row,
    /// How many collections are around it, below the start of the walk.
    pub(crate) depth: usize,
}

/// What became of a walk.
#[derive(Debug, Default)]
pub(crate) struct WalkEnd {
    /// Whether there was more than the limit.
    pub(crate) is_cut: bool,
    /// Collections that could not be listed, and why.
    pub(crate) failed: Vec<String>,
}

impl ServerConnection {
    /// Passes everything below `start` to `take`, collections before what is in them, until it
    /// returns false or `limit` resources were met.
    pub(crate) async fn walk(
        &self,
        start: Option<&Uri>,
        limit: usize,
        mut take: impl FnMut(WalkedRow) -> Result<bool, CommandError>,
    ) -> Result<WalkEnd, CommandError> {
        let mut end = WalkEnd::default();
        let mut entered: HashSet<String> = start.iter().map(|uri| uri.to_string()).collect();
        let mut pending = Vec::new();
        push_rows(&mut pending, self.rows(start, limit + 1).await?, 0);
        let mut met = 0;
        while let Some(walked) = pending.pop() {
            if met == limit {
                end.is_cut = true;
                break;
            }
            met += 1;
            let (uri, depth) = (walked.row.resource.uri.clone(), walked.depth);
            let is_entered =
                walked.row.is_folder() && depth < MAX_DEPTH && entered.insert(uri.to_string());
            if !take(walked)? {
                break;
            }
            if !is_entered {
                continue;
            }
            match self.rows(Some(&uri), limit + 1 - met).await {
                Ok(rows) => push_rows(&mut pending, rows, depth + 1),
                Err(CommandError::Unreachable(words)) => {
                    return Err(CommandError::Unreachable(words));
                }
                // One collection that cannot be listed must not hide the others.
                Err(error) => end.failed.push(error.to_string()),
            }
        }
        Ok(end)
    }
}

/// Puts rows on the stack, the first on top.
fn push_rows(pending: &mut Vec<WalkedRow>, rows: Vec<Row>, depth: usize) {
    pending.extend(rows.into_iter().rev().map(|row| WalkedRow { row, depth }));
}

impl WalkEnd {
    /// Tells a person what the walk left out.
    pub(crate) fn tell(&self, limit: usize) {
        for words in self.failed.iter().take(10) {
            crate::output::tell(&format!("skipped: {words}"));
        }
        if self.failed.len() > 10 {
            crate::output::tell(&format!("skipped: {} more", self.failed.len() - 10));
        }
        if self.is_cut {
            crate::output::tell(&format!("there is more than {limit}; raise --limit"));
        }
    }
}
