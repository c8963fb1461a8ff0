//! Proxy for the tools and prompts of an upstream server: lists, calls, completion, changes.

pub(super) mod server_requests;

use std::pin::Pin;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use client::{
    Client, LogLevel, NotificationKind, ParamHeaders, Peer, RawJson, Request, ServerNotification,
    State, components,
};
use futures_core::Stream;
use futures_util::stream;
use machinery::{Cache, CacheBounds, Packer, Unpacker};
use parking_lot::Mutex;
use resource::{
    Caller, Change, Completion, Component, ComponentCall, ComponentKind, Context, Cursor, Error,
    Json, Page, PageRequest, ProgressStep, PromptCompletionRequest, Relay, Result, UriRewrite,
};

use super::watch::notice_extra;

pub use server_requests::NoClientHandler;

/// Caller number of calls without a caller. No real caller has it.
const NO_CALLER: u64 = u64::MAX;
/// How many tools with parameter headers are remembered, and how many pages of which size of the
/// tool list are read to find them.
const MAX_MIRRORED_TOOLS: usize = 4096;
const MAX_LIST_PAGES: usize = 64;
const LIST_PAGE_SIZE: usize = 1000;

/// The tools and prompts of one server.
pub struct UpstreamRelay {
    client: Client,
    /// The log level that was last set, and the connection it was set on.
    log_level: Mutex<Option<(Weak<Peer>, LogLevel)>>,
    /// By listed tool: the arguments that the server wants repeated as HTTP headers.
    param_headers: Cache<String, Arc<ParamHeaders>>,
}

impl UpstreamRelay {
    /// Relays the tools and prompts of the server behind `client`.
    pub fn new(client: Client) -> Self {
        let param_headers = Cache::new(CacheBounds::entries(MAX_MIRRORED_TOOLS));
        Self { client, log_level: Mutex::default(), param_headers }
    }

    /// A stream of changes of the tool list or the prompt list.
    pub fn changes(&self, kind: ComponentKind) -> Pin<Box<dyn Stream<Item = Change> + Send>> {
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

/// True if the list of `offer` may have changed. A notice that the client made up after a
/// disconnect may concern any list.
fn may_affect(notice: &ServerNotification, kind: ComponentKind) -> bool {
    notice.kind == NotificationKind::ListChanged
        && (!notice.from_server || components::changed_component(&notice.method) == Some(kind))
}

#[async_trait]
impl Relay for UpstreamRelay {
    fn may_have(&self, kind: ComponentKind) -> bool {
        match &self.client.status().borrow().state {
            State::Ready(peer) => declares(peer, kind),
            // Unknown until it connects.
            State::Starting | State::Failed(_) => true,
        }
    }

    fn emits_logs(&self) -> bool {
        match &self.client.status().borrow().state {
            State::Ready(peer) => peer.has_logging(),
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
        let mut request = Request::new(components::list_method(kind));
        if let Some(params) =
            components::list_params(place.page.as_deref()).map_err(malformed_error)?
        {
            request = request.params(params);
        }
        let answer = match self.client.send_request(&request).await {
            Ok(answer) => answer,
            Err(error) if error.is_method_not_found() => return Ok(Page::empty()),
            Err(error) if place.page.is_some() && error.is_resource_not_found() => {
                return Err(Error::bad_cursor());
            }
            Err(error) => return Err(public_error(error)),
        };
        let mut shelf =
            components::decode_page(&answer.result, kind, rewrite).map_err(malformed_error)?;
        if kind == ComponentKind::Tool {
            self.remember_param_headers(&shelf.components);
        }
        if let Some(last) = &place.after {
            let at = shelf.components.iter().position(|offered| offered.name == *last);
            shelf.components.drain(..=at.ok_or_else(Error::bad_cursor)?);
        }
        // The server's page may be longer than the requested one.
        let is_cut = shelf.components.len() > paging.limit;
        shelf.components.truncate(paging.limit);
        let next = match shelf.components.last().filter(|_| is_cut) {
            Some(last) => Some(RelayCursor { after: Some(last.name.clone()), ..place }),
            None => shelf.next.map(|page| RelayCursor { page: Some(page), after: None }),
        };
        let items = shelf.components.into_iter().map(Arc::new).collect();
        let next = next.map(|place| place.encode());
        Ok(Page { items, next, absent: Vec::new(), freshness: shelf.freshness })
    }

    async fn call_component(&self, ctx: &Context, call: &ComponentCall<'_>) -> Result<Json> {
        let caller = ctx.caller().map(AsRef::as_ref);
        let params = components::call_params(call.params, call.name, call.uri_rewrite, caller)
            .map_err(|flaw| Error::invalid(flaw.to_string()))?;
        if let Some(level) = caller.and_then(Caller::log_level) {
            self.raise_log_level(level).await;
        }
        server_requests::call_until_final(caller, params, |params| {
            self.call_with_header_retry(ctx, call, params)
        })
        .await
    }

    async fn complete_prompt(
        &self,
        _ctx: &Context,
        request: &PromptCompletionRequest<'_>,
    ) -> Result<Completion> {
        let request = Request::new(client::methods::COMPLETE)
            .params(components::prompt_completion_params(request));
        match self.client.send_request(&request).await {
            Ok(answer) => components::decode_completion(&answer.result).map_err(malformed_error),
            Err(error) if error.is_method_not_found() => Ok(Completion::default()),
            Err(error) if error.is_resource_not_found() => {
                Err(Error::invalid("no such prompt, or no such argument of it").caused_by(error))
            }
            Err(error) => Err(public_error(error)),
        }
    }
}

impl UpstreamRelay {
    /// Sends the call once, relaying the server's requests, logs and progress meanwhile. `None` if
    /// the server rejects the parameter headers.
    async fn send_call(
        &self,
        ctx: &Context,
        call: &ComponentCall<'_>,
        params: Box<RawJson>,
    ) -> Result<Option<Json>> {
        let mut request = Request::new(components::call_method(call.kind)).params(params.clone());
        if call.kind == ComponentKind::Tool
            && let Some(mirrors) = self.param_headers.get(call.name)
        {
            request = request.param_headers(mirrors.for_call(&params));
        }
        if let Some(listener) = ctx.progress_sink().cloned() {
            request = request.progress(move |told| {
                let (done, total, message) = (told.done, told.total, told.message);
                listener.report(ProgressStep { done, total, message });
            });
        }
        let answer = match ctx.caller() {
            Some(caller) => {
                let (handler, asked) = server_requests::caller_handler(caller);
                request = request.with_handler(caller.id(), handler);
                let work = self.client.send_request(&request);
                server_requests::run_with_requests(work, asked, &**caller, call.uri_rewrite).await
            }
            None => {
                // Register this call too, so that its requests never go to another caller.
                let request = request.with_handler(NO_CALLER, Arc::new(NoClientHandler));
                self.client.send_request(&request).await
            }
        };
        match answer {
            Ok(answer) => Ok(Some(components::public_result(&answer.result, call.uri_rewrite))),
            // It may need parameter headers, which only the tool list declares.
            Err(error) if error.is_header_mismatch() && call.kind == ComponentKind::Tool => {
                Ok(None)
            }
            Err(error) => Err(call_error(error, call.uri_rewrite)),
        }
    }

    /// Sends the call; if the server rejects the headers, reads the tool list and sends it again.
    async fn call_with_header_retry(
        &self,
        ctx: &Context,
        call: &ComponentCall<'_>,
        params: Box<RawJson>,
    ) -> Result<Json> {
        if let Some(given) = self.send_call(ctx, call, params.clone()).await? {
            return Ok(given);
        }
        let mut ask = PageRequest::first(LIST_PAGE_SIZE);
        for _ in 0..MAX_LIST_PAGES {
            let page =
                self.list_components(ctx, ComponentKind::Tool, call.uri_rewrite, &ask).await?;
            let Some(next) = page.next else { break };
            ask.cursor = Some(next);
        }
        let given = self.send_call(ctx, call, params).await?;
        given.ok_or_else(|| Error::unavailable("the server behind this mount refused the request"))
    }

    /// Remembers which arguments each tool wants repeated as headers.
    fn remember_param_headers(&self, component: &[Component]) {
        for one in component {
            let found = ParamHeaders::from_tool(&one.json);
            if found.is_empty() {
                self.param_headers.remove(&one.name);
            } else {
                self.param_headers.insert(one.name.clone(), Arc::new(found), 1);
            }
        }
    }

    /// Lowers the server's log threshold to `level`, if it is higher. Only for revisions with one
    /// level per connection; each caller's own level filters the messages later.
    async fn raise_log_level(&self, level: &'static str) {
        let (Some(level), Ok(peer)) = (LogLevel::from_name(level), self.client.peer().await) else {
            return;
        };
        if !peer.revision.has_handshake() || !peer.has_logging() {
            return;
        }
        {
            let mut told = self.log_level.lock();
            let same = told.as_ref().filter(|(server, _)| server.as_ptr() == Arc::as_ptr(&peer));
            if same.is_some_and(|(_, told)| *told <= level) {
                return;
            }
            *told = Some((Arc::downgrade(&peer), level));
        }
        let request = Request::new(client::methods::SET_LOG_LEVEL)
            .params(components::log_level_params(level));
        if let Err(error) = self.client.send_request(&request).await {
            tracing::debug!(%error, "setting the log level of a server failed");
        }
    }
}

/// True if the server declares the capability. A server that declares none may have any.
fn declares(peer: &Peer, kind: ComponentKind) -> bool {
    let silent = peer.capabilities.get() == "{}";
    silent
        || match kind {
            ComponentKind::Tool => peer.has_tools(),
            ComponentKind::Prompt => peer.has_prompts(),
        }
}

/// The error of a failed call: the server's own error, if it is about the call.
fn call_error(error: client::Error, rewrite: &dyn UriRewrite) -> Error {
    let client::Error::Refused(denial) = &error else { return public_error(error) };
    if denial.is_method_not_found() {
        return Error::invalid("no tool or prompt has this name").caused_by(error);
    }
    match components::public_error(denial, rewrite) {
        Some(said) => Error::from_upstream(said),
        None => public_error(error),
    }
}

/// A public error for a failed request, without details about the server.
fn public_error(error: client::Error) -> Error {
    let words = match &error {
        client::Error::TimedOut => "the server behind this mount did not answer in time",
        client::Error::Unreachable(_) | client::Error::Closed(_) => {
            "the server behind this mount cannot be reached"
        }
        client::Error::TooLarge(_) => "the server behind this mount sent too much data",
        client::Error::Refused(_) => "the server behind this mount refused the request",
        client::Error::Malformed(_) => "the server behind this mount sent an invalid response",
    };
    Error::unavailable(words).caused_by(error)
}

fn malformed_error(flaw: impl Into<client::Error>) -> Error {
    public_error(flaw.into())
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
