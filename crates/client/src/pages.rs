//! How is a list walked that comes page by page?

use std::collections::HashSet;

use protocol::answer;
use serde_json::value::RawValue;

use crate::client::{Answer, Client, Request};
use crate::error::Error;

/// A walk over the pages of one list.
pub struct Pages {
    client: Client,
    request: Request,
    /// The parameters that the first page was asked with.
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

    /// The next page, as the server wrote it; none, after the last. A failure ends the walk.
    pub async fn next(&mut self) -> Result<Option<Answer>, Error> {
        if self.is_over {
            return Ok(None);
        }
        self.is_over = true;
        if self.left == 0 {
            return Err(Error::Malformed("the list has more pages than are taken".to_owned()));
        }
        self.left -= 1;
        let page = self.client.ask(&self.request).await?;
        // An empty cursor is a cursor; only its absence is the end.
        if let Some(cursor) = answer::next_cursor(&page.result)? {
            self.request = self.request.going_on(self.first.as_deref(), &cursor)?;
            if !self.seen.insert(cursor) {
                return Err(Error::Malformed("the list goes in circles".to_owned()));
            }
            self.is_over = false;
        }
        Ok(Some(page))
    }

    /// All pages that are left.
    pub async fn all(mut self) -> Result<Vec<Answer>, Error> {
        let mut pages = Vec::new();
        while let Some(page) = self.next().await? {
            pages.push(page);
        }
        Ok(pages)
    }
}
