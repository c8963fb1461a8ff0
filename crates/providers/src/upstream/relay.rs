//! Proxy for the tools and prompts of an upstream server: lists, calls, completion, changes.

pub(super) mod party;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use async_trait::async_trait;
use bytes::Bytes;
use client::{About, Client, Level, Mirrors, Notice, Peer, Raw, Request, State, relay};
use futures_core::Stream;
use futures_util::stream;
use resource::{
    Ask, Blank, Caller, Calling, Change, Completion, Context, Cursor, Error, Json, Names, Offer,
    Offered, Page, Relay, Result, Step,
};

use super::watch::words;

pub use party::Nobody;

/// Caller number of calls without a caller. No real caller has it.
const NOBODY: u64 = u64::MAX;
/// How many tools with parameter headers are remembered, and how many pages of which size of the
/// tool list are read to find them.
const MIRRORS: usize = 4096;
const PAGES: usize = 64;
const PAGE: usize = 1000;

/// The tools and prompts of one server.
pub struct Relayed {
    client: Client,
    /// The log level that was last set, and the connection it was set on.
    level: Mutex<Option<(Weak<Peer>, Level)>>,
    /// By listed tool: the arguments that the server wants repeated as HTTP headers.
    mirrors: Mutex<HashMap<String, Arc<Mirrors>>>,
}

impl Relayed {
    /// Relays the tools and prompts of the server behind `client`.
    pub fn new(client: Client) -> Self {
        Self { client, level: Mutex::default(), mirrors: Mutex::default() }
    }

    /// A stream of changes of the tool list or the prompt list.
    pub fn changes(&self, offer: Offer) -> Pin<Box<dyn Stream<Item = Change> + Send>> {
        Box::pin(stream::unfold(self.client.notices(), move |mut notices| async move {
            loop {
                let notice = notices.next().await?;
                if touches(&notice, offer) {
                    return Some((Change::Offers(offer).worded(words(&notice)), notices));
                }
            }
        }))
    }
}

/// True if the list of `offer` may have changed. A notice that the client made up after a
/// disconnect may concern any list.
fn touches(notice: &Notice, offer: Offer) -> bool {
    notice.about == About::ListChanged
        && (!notice.is_heard || relay::changed(&notice.method) == Some(offer))
}

#[async_trait]
impl Relay for Relayed {
    fn has(&self, offer: Offer) -> bool {
        match &self.client.state().borrow().state {
            State::Ready(peer) => says(peer, offer),
            // Unknown until it connects.
            State::Starting | State::Failed(_) => true,
        }
    }

    fn logs(&self) -> bool {
        match &self.client.state().borrow().state {
            State::Ready(peer) => peer.has_logging(),
            State::Starting | State::Failed(_) => false,
        }
    }

    async fn offers(
        &self,
        _ctx: &Context,
        offer: Offer,
        names: &dyn Names,
        ask: &Ask,
    ) -> Result<Page<Offered>> {
        let place = ask.from.as_ref().map_or(Ok(Place::default()), Place::read)?;
        let mut request = Request::new(relay::listing(offer));
        if let Some(params) = relay::from(place.page.as_deref()).map_err(odd)? {
            request = request.params(params);
        }
        let answer = match self.client.ask(&request).await {
            Ok(answer) => answer,
            Err(error) if error.is_about_method() => return Ok(Page::empty()),
            Err(error) if place.page.is_some() && error.is_about_missing() => {
                return Err(Error::bad_cursor());
            }
            Err(error) => return Err(failed(error)),
        };
        let mut shelf = relay::shelf(&answer.result, offer, names).map_err(odd)?;
        if offer == Offer::Tool {
            self.reflect(&shelf.offered);
        }
        if let Some(last) = &place.after {
            let at = shelf.offered.iter().position(|offered| offered.name == *last);
            shelf.offered.drain(..=at.ok_or_else(Error::bad_cursor)?);
        }
        // The server's page may be longer than the requested one.
        let is_cut = shelf.offered.len() > ask.limit;
        shelf.offered.truncate(ask.limit);
        let next = match shelf.offered.last().filter(|_| is_cut) {
            Some(last) => Some(Place { after: Some(last.name.clone()), ..place }),
            None => shelf.next.map(|page| Place { page: Some(page), after: None }),
        };
        let items = shelf.offered.into_iter().map(Arc::new).collect();
        let next = next.map(|place| place.write());
        Ok(Page { items, next, absent: Vec::new(), freshness: shelf.freshness })
    }

    async fn call(&self, ctx: &Context, calling: &Calling<'_>) -> Result<Json> {
        let caller = ctx.caller().map(AsRef::as_ref);
        let params = relay::params(calling.params, calling.name, calling.names, caller)
            .map_err(|flaw| Error::invalid(flaw.to_string()))?;
        if let Some(level) = caller.and_then(Caller::level) {
            self.listen_for(level).await;
        }
        party::rounds(caller, params, |params| self.reflected(ctx, calling, params)).await
    }

    async fn suggest(&self, _ctx: &Context, blank: &Blank<'_>) -> Result<Completion> {
        let request = Request::new(client::verb::COMPLETE).params(relay::suggesting(blank));
        match self.client.ask(&request).await {
            Ok(answer) => relay::suggested(&answer.result).map_err(odd),
            Err(error) if error.is_about_method() => Ok(Completion::default()),
            Err(error) if error.is_about_missing() => {
                Err(Error::invalid("no such prompt, or no such argument of it").caused_by(error))
            }
            Err(error) => Err(failed(error)),
        }
    }
}

impl Relayed {
    /// Sends the call once, relaying the server's requests, logs and progress meanwhile. `None` if
    /// the server rejects the parameter headers.
    async fn once(
        &self,
        ctx: &Context,
        calling: &Calling<'_>,
        params: Box<Raw>,
    ) -> Result<Option<Json>> {
        let mut request = Request::new(relay::calling(calling.offer)).params(params.clone());
        let known = |name| {
            let mirrors = self.mirrors.lock().unwrap_or_else(PoisonError::into_inner);
            mirrors.get(name).cloned()
        };
        if let Some(mirrors) = known(calling.name).filter(|_| calling.offer == Offer::Tool) {
            request = request.mirroring(mirrors.headers(&params));
        }
        if let Some(listener) = ctx.listener().cloned() {
            request = request.progress(move |told| {
                let (done, total, message) = (told.done, told.total, told.message);
                listener.report(Step { done, total, message });
            });
        }
        let answer = match ctx.caller() {
            Some(caller) => {
                let (handler, asked) = party::line(caller);
                request = request.answered_by(caller.number(), handler);
                let work = self.client.ask(&request);
                party::attend(work, asked, &**caller, calling.names).await
            }
            None => {
                // Register this call too, so that its requests never go to another caller.
                let request = request.answered_by(NOBODY, Arc::new(Nobody));
                self.client.ask(&request).await
            }
        };
        match answer {
            Ok(answer) => Ok(Some(relay::result(&answer.result, calling.names))),
            // It may need parameter headers, which only the tool list declares.
            Err(error) if error.is_about_headers() && calling.offer == Offer::Tool => Ok(None),
            Err(error) => Err(refused(error, calling.names)),
        }
    }

    /// Sends the call; if the server rejects the headers, reads the tool list and sends it again.
    async fn reflected(
        &self,
        ctx: &Context,
        calling: &Calling<'_>,
        params: Box<Raw>,
    ) -> Result<Json> {
        if let Some(given) = self.once(ctx, calling, params.clone()).await? {
            return Ok(given);
        }
        let mut ask = Ask::first(PAGE);
        for _ in 0..PAGES {
            let page = self.offers(ctx, Offer::Tool, calling.names, &ask).await?;
            let Some(next) = page.next else { break };
            ask.from = Some(next);
        }
        let given = self.once(ctx, calling, params).await?;
        given.ok_or_else(|| Error::unavailable("the server behind this mount refused the request"))
    }

    /// Remembers which arguments each tool wants repeated as headers.
    fn reflect(&self, offered: &[Offered]) {
        let mut mirrors = self.mirrors.lock().unwrap_or_else(PoisonError::into_inner);
        for one in offered {
            let found = Mirrors::of(&one.json);
            if found.is_empty() {
                mirrors.remove(&one.name);
            } else if mirrors.len() < MIRRORS || mirrors.contains_key(&one.name) {
                mirrors.insert(one.name.clone(), Arc::new(found));
            }
        }
    }

    /// Lowers the server's log threshold to `level`, if it is higher. Only for revisions with one
    /// level per connection; each caller's own level filters the messages later.
    async fn listen_for(&self, level: &'static str) {
        let (Some(level), Ok(peer)) = (Level::named(level), self.client.peer().await) else {
            return;
        };
        if !peer.revision.has_handshake() || !peer.has_logging() {
            return;
        }
        {
            let mut told = self.level.lock().unwrap_or_else(PoisonError::into_inner);
            let same = told.as_ref().filter(|(server, _)| server.as_ptr() == Arc::as_ptr(&peer));
            if same.is_some_and(|(_, told)| *told <= level) {
                return;
            }
            *told = Some((Arc::downgrade(&peer), level));
        }
        let request = Request::new(client::verb::LEVEL).params(relay::level(level));
        if let Err(error) = self.client.ask(&request).await {
            tracing::debug!(%error, "setting the log level of a server failed");
        }
    }
}

/// True if the server declares the capability. A server that declares none may have any.
fn says(peer: &Peer, offer: Offer) -> bool {
    let silent = peer.capabilities.get() == "{}";
    silent
        || match offer {
            Offer::Tool => peer.has_tools(),
            Offer::Prompt => peer.has_prompts(),
        }
}

/// The error of a failed call: the server's own error, if it is about the call.
fn refused(error: client::Error, names: &dyn Names) -> Error {
    let client::Error::Refused(denial) = &error else { return failed(error) };
    if denial.is_about_method() {
        return Error::invalid("no tool or prompt has this name").caused_by(error);
    }
    match relay::said(denial, names) {
        Some(said) => Error::said(said),
        None => failed(error),
    }
}

/// A public error for a failed request, without details about the server.
fn failed(error: client::Error) -> Error {
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

fn odd(flaw: impl Into<client::Error>) -> Error {
    failed(flaw.into())
}

/// Cursor in the list: the server's page, and the last name returned from that page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Place {
    page: Option<String>,
    after: Option<String>,
}

impl Place {
    fn write(&self) -> Cursor {
        let mut bytes = Vec::new();
        for part in [&self.page, &self.after] {
            // The flag distinguishes a missing text from an empty one: an empty cursor is valid.
            bytes.push(u8::from(part.is_some()));
            let text = part.as_deref().unwrap_or_default();
            bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        Cursor(bytes.into())
    }

    fn read(cursor: &Cursor) -> Result<Self> {
        let mut bytes = cursor.0.clone();
        let mut part = || {
            let is_some = take(&mut bytes, 1)?.first() == Some(&1);
            let length = take(&mut bytes, 8)?.as_ref().try_into().map(u64::from_le_bytes).ok()?;
            let text = take(&mut bytes, usize::try_from(length).ok()?)?;
            let text = String::from_utf8(text.to_vec()).ok()?;
            Some(is_some.then_some(text))
        };
        let place = part().and_then(|page| Some(Self { page, after: part()? }));
        place.ok_or_else(Error::bad_cursor)
    }
}

fn take(bytes: &mut Bytes, length: usize) -> Option<Bytes> {
    (bytes.len() >= length).then(|| bytes.split_to(length))
}

#[cfg(test)]
mod tests;
