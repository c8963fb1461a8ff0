//! Proxy for the tools and prompts of an upstream server: lists, calls, completion, changes.

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use client::{Client, NotificationKind, ServerNotification, State};
use futures_core::Stream;
use futures_util::stream;
use machinery::{Packer, Unpacker};
use resource::{
    Change, Completion, Component, ComponentCall, ComponentKind, Context, Cursor, Error, Json,
    Page, PageRequest, PromptCompletionRequest, Relay, Result, UriRewrite,
};

use super::error_mapping::{call_error, completion, public_error};
use super::watch::notice_extra;

/// The tools and prompts of one server.
pub(super) struct UpstreamRelay {
    client: Client,
}

impl UpstreamRelay {
    /// Relays the tools and prompts of the server behind `client`.
    pub(super) fn new(client: Client) -> Self {
        Self { client }
    }

    /// A stream of changes of the tool list or the prompt list.
    pub(super) fn changes(
        &self,
        kind: ComponentKind,
    ) -> Pin<Box<dyn Stream<Item = Change> + Send>> {
        Box::pin(stream::unfold(self.client.notifications(), move |mut notices| async move {
            loop {
                let notice = notices.next().await?;
                if may_affect(&notice, kind) {
                    return Some((
                        Change::Components(kind).with_extra(notice_extra(&notice)),
                        notices,
                    ));
                }
            }
        }))
    }
}

/// True if the list of `kind` may have changed. A notice that the client made up after a
/// disconnect may concern any list.
fn may_affect(notice: &ServerNotification, kind: ComponentKind) -> bool {
    match notice.kind {
        NotificationKind::ComponentListChanged(changed) => changed == kind,
        NotificationKind::ResourceListChanged => !notice.from_server,
        NotificationKind::Updated(_) | NotificationKind::Other => false,
    }
}

#[async_trait]
impl Relay for UpstreamRelay {
    fn may_have(&self, kind: ComponentKind) -> bool {
        match &self.client.status().borrow().state {
            State::Ready(server) => server.capabilities.may_have(kind),
            // Unknown until it connects.
            State::Starting | State::Failed(_) => true,
        }
    }

    fn emits_logs(&self) -> bool {
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
        let listed = self.client.component_page(kind, rewrite, place.page.as_deref()).await;
        let mut page = match listed {
            Ok(page) => page,
            Err(failure) if failure.is_method_not_found() => return Ok(Page::empty()),
            Err(failure) if place.page.is_some() && failure.is_resource_not_found() => {
                return Err(Error::bad_cursor());
            }
            Err(failure) => return Err(public_error(failure)),
        };
        if let Some(last) = &place.after {
            let at = page.items.iter().position(|component| component.name == *last);
            page.items.drain(..=at.ok_or_else(Error::bad_cursor)?);
        }
        // The server's page may be longer than the requested one.
        let is_cut = page.items.len() > paging.limit;
        page.items.truncate(paging.limit);
        let next = match page.items.last().filter(|_| is_cut) {
            Some(last) => Some(RelayCursor { after: Some(last.name.clone()), ..place }),
            None => page.next.map(|next| RelayCursor { page: Some(next), after: None }),
        };
        let items = page.items.into_iter().map(Arc::new).collect();
        let next = next.map(|place| place.encode());
        Ok(Page { items, next, absent: Vec::new(), freshness: page.freshness })
    }

    async fn call_component(&self, ctx: &Context, call: &ComponentCall<'_>) -> Result<Json> {
        self.client.send_call(ctx, call).await.map_err(|error| call_error(error, call.uri_rewrite))
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

/// Cursor in the list: the server's page, and the last name returned from that page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct RelayCursor {
    page: Option<String>,
    after: Option<String>,
}

impl RelayCursor {
    fn encode(&self) -> Cursor {
        let packed = Packer::default().bytes(self.page.as_ref()).bytes(self.after.as_ref());
        Cursor(packed.finish().into())
    }

    fn decode(cursor: &Cursor) -> Result<Self> {
        let mut parts = Unpacker::new(&cursor.0);
        let mut text = || Some(parts.text()?.map(str::to_owned));
        let place = text().and_then(|page| Some(Self { page, after: text()? }));
        place.filter(|_| parts.is_empty()).ok_or_else(Error::bad_cursor)
    }
}

#[cfg(test)]
mod tests;
