//! Reads from the server, with a TTL cache, single flight and windows.
//!
//! `resources/read` returns a whole resource, so windows are cut from one cached read, which stays
//! cached for a grace period so that a client can fetch the next window of the same content.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use client::{Element, Opened, Request, asking, relay};
use resource::{
    Body, Caller, Content, Context, Error, ErrorKind, Freshness, Json, Part, Reading, Resource,
    Result, Slice, Source, Uri, Window,
};

use super::Inner;
use super::fault::fault_of;
use super::keep::{Need, Worth};
use super::relay::party::rounds;

/// How long a read stays cached for further windows of it, whatever its TTL.
const WINDOWS: Duration = Duration::from_secs(30);

/// The content of one read.
pub(super) struct Copy {
    pub(super) parts: Vec<Leaf>,
    freshness: Freshness,
    /// The cache epoch of the request; needed to store the content.
    epoch: u64,
}

/// One element of the content.
pub(super) struct Leaf {
    pub(super) resource: Arc<Resource>,
    is_text: bool,
    pub(super) bytes: Bytes,
}

/// The outcome of a read.
#[derive(Clone)]
pub(super) enum Came {
    Content(Arc<Copy>),
    NeedsInput,
}

impl Inner {
    /// The content of `uri`, from the cache if that satisfies `need`, else from the server.
    pub(super) async fn open(self: &Arc<Self>, uri: &Uri, need: Need) -> Result<Arc<Copy>> {
        Ok(self.opened(uri, need, true).await?.0)
    }

    async fn opened(
        self: &Arc<Self>,
        uri: &Uri,
        need: Need,
        goes_on: bool,
    ) -> Result<(Arc<Copy>, Freshness)> {
        if let Some((copy, ttl)) = self.reads.get(uri, need) {
            let freshness = Freshness { ttl, ..copy.freshness };
            return Ok((copy, freshness));
        }
        let copy = self.reopen(uri).await?;
        if goes_on {
            self.retain(uri, &copy);
        }
        let freshness = copy.freshness;
        Ok((copy, freshness))
    }

    /// Reads `uri` from the server. Concurrent reads of one URI share one request.
    pub(super) async fn reopen(self: &Arc<Self>, uri: &Uri) -> Result<Arc<Copy>> {
        let (inner, asked, epoch) = (Arc::clone(self), uri.clone(), self.reads.epoch());
        let ask = async move {
            let (elements, freshness) = match inner.client.read(&asked).await? {
                Opened::Contents(elements, freshness) => (elements, freshness),
                Opened::NeedsInput => return Ok(Came::NeedsInput),
            };
            inner.trouble.is_over();
            let parts = inner.parts(elements, &asked);
            let copy = Arc::new(Copy { parts, freshness, epoch });
            // Content without a TTL is cached only for windows, by the caller of this function.
            if !freshness.ttl.is_zero() {
                inner.retain(&asked, &copy);
            }
            Ok(Came::Content(copy))
        };
        match self.opening.join(uri.clone(), ask).await {
            Ok(Came::Content(copy)) => Ok(copy),
            Ok(Came::NeedsInput) => Err(needs_input(uri)),
            Err(failure) if failure.is_about_capability() => {
                Err(needs_input(uri).caused_by(failure))
            }
            Err(failure) => Err(fault_of(failure, uri)),
        }
    }

    /// Caches a read, at least for further windows of it.
    fn retain(&self, uri: &Uri, copy: &Arc<Copy>) {
        let weight = copy.parts.iter().map(|part| part.bytes.len() + 600).sum();
        let worth = Worth { ttl: copy.freshness.ttl, grace: WINDOWS, weight };
        self.reads.put(copy.epoch, uri.clone(), Arc::clone(copy), &worth);
    }

    /// Reads `uri` for this caller alone: the server may request input from it.
    async fn read_for(
        self: &Arc<Self>,
        caller: &dyn Caller,
        uri: &Uri,
        window: &Window,
    ) -> Result<Reading> {
        let flawed = |flaw: client::Malformed| Error::invalid(flaw.to_string());
        let params = relay::reading(uri, caller).map_err(flawed)?;
        let once = |params| async move {
            let request = Request::new(client::verb::READ).params(params);
            match self.client.ask(&request).await {
                Ok(answer) => Ok(answer.result.get().into()),
                Err(failure) if failure.is_about_capability() => Err(needs_input(uri)),
                Err(failure) => Err(fault_of(failure, uri)),
            }
        };
        let given: Json = rounds(Some(caller), params, once).await?;
        let freshness = Freshness::default();
        if asking::questions(&given).is_some() {
            return Ok(Reading { content: Content::Question(given), freshness });
        }
        let opened = relay::opened(&given, uri);
        let Opened::Contents(elements, _) = opened.map_err(|flaw| fault_of(flaw.into(), uri))?
        else {
            return Err(needs_input(uri));
        };
        // Content that depends on one caller's input is not cached (K-05).
        let copy = Copy { parts: self.parts(elements, uri), freshness, epoch: self.reads.epoch() };
        let parts = copy.give(window).map_err(|error| error.about(uri))?;
        Ok(Reading { content: Content::Parts(parts), freshness })
    }

    fn parts(&self, elements: Vec<Element>, asked: &Uri) -> Vec<Leaf> {
        let part = |element: Element| {
            let Element { mut resource, is_text, bytes } = element;
            self.temper(&mut resource);
            Leaf { resource: Arc::new(resource), is_text, bytes }
        };
        let mut parts: Vec<Leaf> = elements.into_iter().map(part).collect();
        if parts.is_empty() {
            // A `Reading` always has a part, so an empty result becomes one empty text.
            let mut resource = Resource::new(asked.clone(), asked.as_str());
            resource.listable = resource::Truth::Unknown;
            self.temper(&mut resource);
            parts.push(Leaf { resource: Arc::new(resource), is_text: true, bytes: Bytes::new() });
        }
        parts
    }

    /// Reads the requested window of `uri`: shared if possible, for this caller alone if it sends
    /// input or the server needs some.
    pub(super) async fn read(
        self: &Arc<Self>,
        ctx: &Context,
        uri: &Uri,
        window: &Window,
    ) -> Result<Reading> {
        let caller = ctx.caller().map(AsRef::as_ref);
        if let Some(caller) = caller.filter(|caller| caller.reply().is_some()) {
            return self.read_for(caller, uri, window).await;
        }
        match (self.read_for_all(uri, window).await, caller) {
            (Err(error), Some(caller)) if error.kind == ErrorKind::NeedsInput => {
                self.read_for(caller, uri, window).await
            }
            (read, _) => read,
        }
    }

    async fn read_for_all(self: &Arc<Self>, uri: &Uri, window: &Window) -> Result<Reading> {
        let need = match window {
            Window::Part { offset, etag, .. } if *offset > 0 || etag.is_some() => Need::Begun,
            _ => Need::Fresh,
        };
        let goes_on = matches!(window, Window::Part { .. });
        let (mut copy, mut freshness) = self.opened(uri, need, goes_on).await?;
        if copy.is_other(window) {
            copy = self.reopen(uri).await?;
            self.retain(uri, &copy);
            freshness = copy.freshness;
        }
        let parts = copy.give(window).map_err(|error| error.about(uri))?;
        Ok(Reading { content: Content::Parts(parts), freshness })
    }
}

fn needs_input(uri: &Uri) -> Error {
    let words = "the server behind this mount needs input from the client to read this resource";
    Error::new(ErrorKind::NeedsInput, words).about(uri)
}

impl Copy {
    /// The server's etag, or a hash of the first part.
    fn etag(&self) -> String {
        let Some(first) = self.parts.first() else { return String::new() };
        let own = first.resource.etag.clone();
        own.unwrap_or_else(|| blake3::hash(&first.bytes).to_hex()[..16].to_owned())
    }

    fn is_other(&self, window: &Window) -> bool {
        matches!(window, Window::Part { etag: Some(pinned), .. } if *pinned != self.etag())
    }

    fn give(&self, window: &Window) -> Result<Vec<Part>> {
        match window {
            Window::Whole { limit } => {
                let total = self.parts.iter().map(|part| part.bytes.len() as u64).sum();
                if total > *limit {
                    return Err(Error::too_large(total, *limit));
                }
                Ok(self.parts.iter().map(|part| part.give(part.bytes.clone(), None)).collect())
            }
            Window::Part { .. } if self.is_other(window) => Err(Error::changed(self.etag())),
            // A window applies to the first part and returns only that one.
            Window::Part { offset, length, .. } => Ok(self
                .parts
                .iter()
                .take(1)
                .map(|part| {
                    let (bytes, slice) = cut(&part.bytes, part.is_text, *offset, *length);
                    let mut given = part.give(bytes, Some(slice));
                    if given.resource.etag.is_none() {
                        Arc::make_mut(&mut given.resource).etag = Some(self.etag());
                    }
                    given
                })
                .collect()),
        }
    }

    /// A hash over the URIs and bytes of all parts.
    pub(super) fn mark(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        for part in &self.parts {
            hasher.update(part.resource.uri.as_str().as_bytes());
            hasher.update(&(part.bytes.len() as u64).to_le_bytes());
            hasher.update(&part.bytes);
        }
        hasher.finalize()
    }
}

impl Leaf {
    fn give(&self, bytes: Bytes, slice: Option<Slice>) -> Part {
        let source = Source::Bytes(bytes);
        let body = if self.is_text { Body::Text(source) } else { Body::Blob(source) };
        Part { resource: Arc::clone(&self.resource), body, slice }
    }
}

/// The window of `bytes` from `offset` on. Text is cut between characters and holds at least one.
fn cut(bytes: &Bytes, is_text: bool, offset: u64, length: u64) -> (Bytes, Slice) {
    let total = bytes.len();
    let is_edge = |at: &usize| !is_text || bytes.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
    let within = |at: u64| usize::try_from(at).unwrap_or(total).min(total);
    let start = (within(offset)..=total).find(is_edge).unwrap_or(total);
    let least = (start + 1..=total).find(is_edge).unwrap_or(total);
    let most = within((start as u64).saturating_add(length));
    let end = (least..=most).rev().find(is_edge).unwrap_or(least);
    let slice = Slice::new(start as u64, (end - start) as u64, total as u64);
    (bytes.slice(start..end), slice)
}
