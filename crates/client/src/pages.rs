//! Iterator over the pages of a list, bounded in pages and protected against cursor loops.

use std::collections::HashSet;

use protocol::outbound::response;
use serde_json::value::RawValue;

use crate::client::{Client, Request, ServerResponse};
use crate::error::Error;

/// The pages of one list, fetched one by one.
pub struct PageIterator {
    client: Client,
    request: Request,
    /// The parameters of the first page's request.
    first_params: Option<Box<RawValue>>,
    pages_left: usize,
    seen_cursors: HashSet<String>,
    is_done: bool,
}

impl PageIterator {
    pub(crate) fn new(client: Client, request: Request, most: usize) -> Self {
        let first_params = request.first_params();
        Self {
            client,
            request,
            first_params,
            pages_left: most,
            seen_cursors: HashSet::new(),
            is_done: false,
        }
    }

    /// The next page, as the server wrote it; `None` after the last. A failure ends the iteration.
    pub async fn next(&mut self) -> Result<Option<ServerResponse>, Error> {
        if self.is_done {
            return Ok(None);
        }
        self.is_done = true;
        if self.pages_left == 0 {
            return Err(Error::Malformed("the list has too many pages".to_owned()));
        }
        self.pages_left -= 1;
        let page = self.client.send_request(&self.request).await?;
        // An empty cursor is a cursor; only a missing one ends the list.
        if let Some(cursor) = response::next_cursor(&page.result)? {
            self.request = self.request.next_page(self.first_params.as_deref(), &cursor)?;
            if !self.seen_cursors.insert(cursor) {
                return Err(Error::Malformed("the list repeats a cursor".to_owned()));
            }
            self.is_done = false;
        }
        Ok(Some(page))
    }

    /// All remaining pages.
    pub async fn all(mut self) -> Result<Vec<ServerResponse>, Error> {
        let mut pages = Vec::new();
        while let Some(page) = self.next().await? {
            pages.push(page);
        }
        Ok(pages)
    }
}
