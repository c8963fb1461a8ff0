//! Proxy for the tools and prompts of an upstream server: lists, calls, completion, changes.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use client::{Client, State};
use machinery::{Packer, Unpacker};
use parking_lot::Mutex;
use resource::{
    Absence, Completion, Component, ComponentCall, ComponentKind, Context, Cursor, Error, Json,
    Page, PageRequest, PromptCompletionRequest, Relay, Result, TaskCall, UriRewrite,
};

use super::cursor::PAGES;
use super::error_mapping::{call_error, completion, public_error};
use super::flaw_log::FlawLog;
use super::page_cache::MAX_PAGE_BYTES;
use super::starting::StartingServer;

/// The tools and prompts of one server.
pub(super) struct UpstreamRelay {
    client: Client,
    starting: StartingServer,
    flaw_log: Arc<FlawLog>,
    first_pages: FirstPages,
}

impl UpstreamRelay {
    /// Relays the tools and prompts of a server.
    pub(super) fn new(starting: StartingServer, flaw_log: Arc<FlawLog>) -> Self {
        Self {
            client: starting.client.clone(),
            starting,
            flaw_log,
            first_pages: FirstPages::default(),
        }
    }
}

#[async_trait]
impl Relay for UpstreamRelay {
    fn may_have(&self, _: &Context, kind: ComponentKind) -> bool {
        match &self.client.status().borrow().state {
            State::Ready(server) => server.capabilities.may_have(kind),
            // Unknown until it connects.
            State::Starting | State::Failed(_) => true,
        }
    }

    fn emits_logs(&self, _: &Context) -> bool {
        match &self.client.status().borrow().state {
            State::Ready(server) => server.capabilities.has_logging,
            State::Starting | State::Failed(_) => false,
        }
    }

    async fn list_components(
        &self,
        _ctx: &Context,
        kind: ComponentKind,
        rewrite: &dyn UriRewrite,
        paging: &PageRequest,
    ) -> Result<Page<Component>> {
        let place =
            paging.cursor.as_ref().map_or(Ok(RelayCursor::default()), RelayCursor::decode)?;
        let listed = async {
            match self.client.component_page(kind, rewrite, place.page.as_deref()).await {
                Ok(page) => Ok(Some(page)),
                Err(failure) if failure.is_method_not_found() => Ok(None),
                Err(failure) if place.page.is_some() && failure.is_invalid_params() => {
                    Err(Error::bad_cursor())
                }
                Err(failure) => Err(public_error(failure)),
            }
        };
        let Some(mut page) = self.starting.limit_wait(listed).await? else {
            return Ok(Page::empty());
        };
        self.flaw_log.record(&page);
        for repeated in self.first_pages.remove_repeated(kind, place.depth, &mut page.items) {
            self.flaw_log.remark(&format!("listed twice: {repeated:?}"));
        }
        if let Some(last) = &place.after {
            let at = page.items.iter().position(|component| component.name == *last);
            page.items.drain(..=at.ok_or_else(Error::bad_cursor)?);
        }
        // The server's page may be longer than the requested one.
        let mut bytes = 0;
        let fits = |component: &&Component| {
            bytes += component.json.as_str().len();
            bytes <= MAX_PAGE_BYTES
        };
        let count = page.items.iter().take(paging.limit).take_while(fits).count().max(1);
        let is_cut = page.items.len() > count;
        page.items.truncate(count);
        let is_last = place.depth + 1 >= PAGES;
        let (next, cut) = match page.items.last().filter(|_| is_cut) {
            Some(last) => (Some(RelayCursor { after: Some(last.name.clone()), ..place }), None),
            None if is_last && page.next.is_some() => (None, Some("it has more than 1000 pages")),
            None => {
                let depth = place.depth + 1;
                let next =
                    page.next.map(|next| RelayCursor { page: Some(next), after: None, depth });
                (next, page.cut)
            }
        };
        let cut = cut.map(|why| {
            let reason = format!("the list of the server behind this mount was cut: {why}");
            Absence { name: "list".to_owned(), reason }
        });
        let items = page.items.into_iter().map(Arc::new).collect();
        let next = next.map(|place| place.encode());
        let absent = cut.into_iter().collect();
        Ok(Page { items, next, absent, freshness: page.freshness, extra: page.extra })
    }

    async fn call_component(&self, ctx: &Context, call: &ComponentCall<'_>) -> Result<Json> {
        self.client.send_call(ctx, call).await.map_err(|error| call_error(error, call.uri_rewrite))
    }

    fn has_tasks(&self, _: &Context) -> bool {
        match &self.client.status().borrow().state {
            State::Ready(server) => server.capabilities.has_tasks,
            State::Starting | State::Failed(_) => false,
        }
    }

    async fn call_task(&self, ctx: &Context, call: &TaskCall<'_>) -> Result<Json> {
        let called = self.client.send_task_call(ctx, call).await;
        called.map_err(|error| call_error(error, call.uri_rewrite))
    }

    async fn complete_prompt(
        &self,
        _ctx: &Context,
        request: &PromptCompletionRequest<'_>,
    ) -> Result<Completion> {
        let completed = self.client.prompt_completion(request).await;
        completion(completed, "the server behind this mount has no such prompt or argument")
    }
}

/// How many names [`FirstPages`] knows.
const MAX_NAMES: usize = 16 << 10;

/// The page on which each tool or prompt is listed first. A name that comes again on a later page
/// is left out there: a client could call only one of the two.
#[derive(Default)]
struct FirstPages(Mutex<HashMap<(ComponentKind, String), u32>>);

impl FirstPages {
    /// Removes the entries of page number `depth` that an earlier page has; returns their names.
    fn remove_repeated(
        &self,
        kind: ComponentKind,
        depth: u32,
        items: &mut Vec<Component>,
    ) -> Vec<String> {
        let mut pages = self.0.lock();
        // The list may have changed since its pages were last read.
        pages.retain(|(other, _), page| *other != kind || *page != depth);
        let mut repeated = Vec::new();
        items.retain(|item| {
            let key = (kind, item.name.clone());
            let is_first = pages.get(&key).is_none_or(|first| *first > depth);
            if !is_first {
                repeated.push(item.name.clone());
            } else if pages.len() < MAX_NAMES || pages.contains_key(&key) {
                pages.insert(key, depth);
            }
            is_first
        });
        repeated
    }
}

/// Cursor in the list: the server's page, the last name returned from that page, and the number of
/// pages before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct RelayCursor {
    page: Option<String>,
    after: Option<String>,
    depth: u32,
}

impl RelayCursor {
    fn encode(&self) -> Cursor {
        let packed = Packer::default().integer(u64::from(self.depth));
        Cursor(packed.bytes(self.page.as_ref()).bytes(self.after.as_ref()).finish().into())
    }

    fn decode(cursor: &Cursor) -> Result<Self> {
        let mut parts = Unpacker::new(&cursor.0);
        let depth = parts.integer().and_then(|depth| u32::try_from(depth).ok());
        let mut text = || Some(parts.text()?.map(str::to_owned));
        let place = text().and_then(|page| Some(Self { page, after: text()?, depth: depth? }));
        let place = place.filter(|place| parts.is_empty() && place.depth < PAGES);
        place.ok_or_else(Error::bad_cursor)
    }
}

#[cfg(test)]
mod tests;
