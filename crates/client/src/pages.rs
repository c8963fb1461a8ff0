//! Iterator over the pages of a list, bounded in pages and protected against cursor loops.

use std::collections::HashSet;

use protocol::answer;
use serde_json::value::RawValue;

use crate::client::{Answer, Client, Request};
use crate::error::Error;

/// The pages of one list, fetched one by one.
pub struct Pages {
    client: Client,
    request: Request,
    /// The parameters of the first page's request.
    first: Option<Box<RawValue>>,
    left: usize,
    seen: HashSet<String>,
    is_over: bool,
}

impl Pages {
    pub(crate) fn new(client: Client, request: Request, most: usize) -> Self {
        let first = request.first();
        Self { client, request, first, left: most, seen: HashSet::new(), is_over: false }
    }

    /// The next page, as the server wrote it; `None` after the last. A failure ends the iteration.
    pub async fn next(&mut self) -> Result<Option<Answer>, Error> {
        if self.is_over {
            return Ok(None);
        }
        self.is_over = true;
        if self.left == 0 {
            return Err(Error::Malformed("the list has too many pages".to_owned()));
        }
        self.left -= 1;
        let page = self.client.ask(&self.request).await?;
        // An empty cursor is a cursor; only a missing one ends the list.
        if let Some(cursor) = answer::next_cursor(&page.result)? {
            self.request = self.request.going_on(self.first.as_deref(), &cursor)?;
            if !self.seen.insert(cursor) {
                return Err(Error::Malformed("the list repeats a cursor".to_owned()));
            }
            self.is_over = false;
        }
        Ok(Some(page))
    }

    /// All remaining pages.
    pub async fn all(mut self) -> Result<Vec<Answer>, Error> {
        let mut pages = Vec::new();
        while let Some(page) = self.next().await? {
            pages.push(page);
        }
        Ok(pages)
    }
}
