//! Reads from the server, with a TTL cache, single flight and windows.
//!
//! `resources/read` returns a whole resource, so windows are cut from one cached read, which stays
//! cached for a grace period so that a client can fetch the next window of the same content. Another
//! refdesk cuts windows itself, and gives a document in the format and the sections that are wanted.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use client::{CallError, ContentElement, Error as Failure, ReadResult, RemoteServer};
use machinery::{CacheLifetime, RequiredFreshness};
use resource::{
    Body, ByteSource, Caller, Content, Context, Error, ErrorKind, Freshness, Part, ReadRequest,
    Reading, Resource, Result, Slice, UnknownMembers, Uri, Window,
};

use super::Inner;
use super::error_mapping::resource_error;

/// How long a read stays cached for further windows of it, whatever its TTL.
const WINDOW_GRACE: Duration = Duration::from_secs(30);

/// The content of one read.
pub(super) struct UpstreamContent {
    pub(super) parts: Vec<UpstreamPart>,
    pub(super) freshness: Freshness,
    pub(super) fetched: SystemTime,
    extra: UnknownMembers,
    /// The cache epoch of the request; needed to store the content.
    epoch: u64,
}

/// One element of the content.
pub(super) struct UpstreamPart {
    pub(super) resource: Arc<Resource>,
    pub(super) is_text: bool,
    pub(super) bytes: Bytes,
}

/// The outcome of a read.
#[derive(Clone)]
pub(super) enum UpstreamReadOutcome {
    Content(Arc<UpstreamContent>),
    NeedsInput,
}

impl Inner {
    /// The content of `uri`, from the cache if that satisfies `need`, else from the server.
    pub(super) async fn read_cached(
        self: &Arc<Self>,
        uri: &Uri,
        required: RequiredFreshness,
    ) -> Result<Arc<UpstreamContent>> {
        Ok(self.read_with_freshness(uri, required, true).await?.0)
    }

    async fn read_with_freshness(
        self: &Arc<Self>,
        uri: &Uri,
        required: RequiredFreshness,
        goes_on: bool,
    ) -> Result<(Arc<UpstreamContent>, Freshness)> {
        if let Some((copy, ttl)) = self.read_cache.get_aged(uri, required) {
            let freshness = Freshness { ttl, ..copy.freshness };
            return Ok((copy, freshness));
        }
        let copy = self.fetch_content(uri).await?;
        if goes_on {
            self.cache_content(uri, &copy);
        }
        let freshness = copy.freshness;
        Ok((copy, freshness))
    }

    /// Reads `uri` from the server. Concurrent reads of one URI share one request.
    pub(super) async fn fetch_content(self: &Arc<Self>, uri: &Uri) -> Result<Arc<UpstreamContent>> {
        let (inner, asked, epoch) = (Arc::clone(self), uri.clone(), self.read_cache.epoch());
        let ask = async move {
            let (elements, freshness, extra) = match inner.client.read(&asked).await? {
                ReadResult::Contents(elements, freshness, extra) => (elements, freshness, extra),
                ReadResult::InputRequired(_) => return Ok(UpstreamReadOutcome::NeedsInput),
            };
            let copy = inner.build_content(&asked, (elements, freshness, extra), epoch);
            // Content without a TTL is cached only for windows, by the caller of this function.
            if !freshness.ttl.is_zero() {
                inner.cache_content(&asked, &copy);
            }
            Ok(UpstreamReadOutcome::Content(copy))
        };
        match self.read_flight.join(uri.clone(), ask).await {
            Ok(UpstreamReadOutcome::Content(copy)) => Ok(copy),
            Ok(UpstreamReadOutcome::NeedsInput) => Err(needs_input_error(uri)),
            Err(failure) => Err(read_error(failure, uri)),
        }
    }

    /// The content of a response to a read of `uri`.
    fn build_content(
        &self,
        uri: &Uri,
        (elements, freshness, extra): (Vec<ContentElement>, Freshness, UnknownMembers),
        epoch: u64,
    ) -> Arc<UpstreamContent> {
        self.failure_log.record_success();
        let parts = self.build_parts(elements, uri);
        Arc::new(UpstreamContent { parts, freshness, fetched: SystemTime::now(), extra, epoch })
    }

    /// Whether the server is another refdesk, which cuts windows. Connects if necessary.
    async fn cuts_windows(&self) -> bool {
        let is_refdesk = |server: Arc<RemoteServer>| server.name.as_deref() == Some("refdesk");
        self.capabilities().await.is_ok_and(|abilities| abilities.has_metadata)
            && self.known_server().is_some_and(is_refdesk)
    }

    /// Reads a window, a format or sections from a server that knows them. If it returns the whole
    /// of everything, that is cached.
    async fn read_cut_window(
        self: &Arc<Self>,
        uri: &Uri,
        request: &ReadRequest,
    ) -> Result<Reading> {
        let epoch = self.read_cache.epoch();
        let read = self.client.read_window(uri, request).await;
        let (elements, freshness, extra) = match read.map_err(|failure| read_error(failure, uri))? {
            ReadResult::Contents(elements, freshness, extra) => (elements, freshness, extra),
            ReadResult::InputRequired(_) => return Err(needs_input_error(uri)),
        };
        let slices: Option<Vec<Slice>> =
            elements.iter().map(|element| element.slice.clone()).collect();
        let copy = self.build_content(uri, (elements, freshness, extra), epoch);
        let Some(slices) = slices.filter(|slices| !slices.is_empty()) else {
            if !request.wants_form() {
                self.cache_content(uri, &copy);
            }
            return copy.reading(request, copy.freshness).map_err(|error| error.about(uri));
        };
        let is_whole = matches!(request.window, Window::Whole { .. });
        if let Some(cut) = slices.iter().find(|slice| is_whole && slice.next_offset().is_some()) {
            return Err(Error::too_large(cut.total, cut.length).about(uri));
        }
        if let Window::Whole { limit } = request.window {
            let total = slices.iter().map(|slice| slice.length).sum();
            if total > limit {
                return Err(Error::too_large(total, limit).about(uri));
            }
        }
        let total_parts = slices.first().map_or(1, |slice| slice.total_parts);
        let parts = copy.parts.iter().zip(slices).map(|(part, slice)| Part {
            resource: Arc::clone(&part.resource),
            body: Body::new(ByteSource::Bytes(part.bytes.clone()), part.is_text),
            slice: Some(slice).filter(|_| !is_whole),
        });
        let content = Content::Parts(parts.collect());
        let extra = copy.extra.clone();
        Ok(Reading { content, freshness: copy.freshness, total_parts, extra })
    }

    /// Caches a read, at least for further windows of it.
    fn cache_content(&self, uri: &Uri, copy: &Arc<UpstreamContent>) {
        let weight = copy.parts.iter().map(|part| part.bytes.len() + 600).sum::<usize>();
        let weight = weight + copy.extra.approximate_bytes();
        let worth = CacheLifetime { ttl: copy.freshness.ttl, grace: WINDOW_GRACE, weight };
        self.read_cache.insert_current(copy.epoch, uri.clone(), Arc::clone(copy), &worth);
    }

    /// Reads `uri` for this caller alone: the server may request input from it.
    async fn read_uncached(
        self: &Arc<Self>,
        caller: &dyn Caller,
        uri: &Uri,
        request: &ReadRequest,
    ) -> Result<Reading> {
        let freshness = Freshness::default();
        let (elements, extra) = match self.client.read_for_caller(uri, caller).await {
            Ok(ReadResult::Contents(elements, _, extra)) => (elements, extra),
            Ok(ReadResult::InputRequired(given)) => {
                return Ok(Reading::new(Content::InputRequired(given), freshness));
            }
            Err(CallError::Caller(error)) => return Err(error),
            Err(CallError::Server(failure)) => return Err(read_error(failure, uri)),
        };
        // Content that depends on one caller's input is not cached (K-05).
        let copy = UpstreamContent {
            parts: self.build_parts(elements, uri),
            freshness,
            fetched: SystemTime::now(),
            extra,
            epoch: self.read_cache.epoch(),
        };
        copy.reading(request, freshness).map_err(|error| error.about(uri))
    }

    fn build_parts(&self, elements: Vec<ContentElement>, asked: &Uri) -> Vec<UpstreamPart> {
        let part = |element: ContentElement| {
            let ContentElement { mut resource, is_text, bytes, slice: _ } = element;
            self.apply_capabilities(&mut resource);
            UpstreamPart { resource: Arc::new(resource), is_text, bytes }
        };
        let mut parts: Vec<UpstreamPart> = elements.into_iter().map(part).collect();
        if parts.is_empty() {
            // A `Reading` always has a part, so an empty result becomes one empty text.
            let mut resource = Resource::new(asked.clone(), asked.as_str());
            resource.listable = None;
            self.apply_capabilities(&mut resource);
            parts.push(UpstreamPart {
                resource: Arc::new(resource),
                is_text: true,
                bytes: Bytes::new(),
            });
        }
        parts
    }

    /// Reads the requested window of `uri`: shared if possible, for this caller alone if it sends
    /// input or the server needs some.
    pub(super) async fn read_window(
        self: &Arc<Self>,
        ctx: &Context,
        uri: &Uri,
        request: &ReadRequest,
    ) -> Result<Reading> {
        let caller = ctx.caller().map(AsRef::as_ref);
        if let Some(caller) = caller.filter(|caller| caller.input_response().is_some()) {
            return self.read_uncached(caller, uri, request).await;
        }
        match (self.read_shared(uri, request).await, caller) {
            (Err(error), Some(caller)) if error.kind == ErrorKind::NeedsInput => {
                self.read_uncached(caller, uri, request).await
            }
            (read, _) => read,
        }
    }

    async fn read_shared(self: &Arc<Self>, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let window = &request.window;
        let need = match window {
            Window::Part { offset, etag, .. } if *offset > 0 || etag.is_some() => {
                RequiredFreshness::WithinGrace
            }
            _ => RequiredFreshness::Fresh,
        };
        let goes_on = matches!(window, Window::Part { .. });
        // What is cached has the usual formats alone, and no sections.
        let is_cached = !request.wants_form() && self.read_cache.get_aged(uri, need).is_some();
        if (goes_on || request.wants_form()) && !is_cached && self.cuts_windows().await {
            return self.read_cut_window(uri, request).await;
        }
        let (mut copy, mut freshness) = self.read_with_freshness(uri, need, goes_on).await?;
        if copy.differs_from_pin(window) {
            copy = self.fetch_content(uri).await?;
            self.cache_content(uri, &copy);
            freshness = copy.freshness;
        }
        copy.reading(request, freshness).map_err(|error| error.about(uri))
    }
}

fn needs_input_error(uri: &Uri) -> Error {
    let words = "the server behind this mount needs input from the client to read this resource";
    Error::new(ErrorKind::NeedsInput, words).about(uri)
}

fn read_error(failure: Failure, uri: &Uri) -> Error {
    if let Some(etag) = failure.changed_etag() {
        return Error::changed(etag).about(uri).caused_by(failure);
    }
    if failure.is_missing_capability() {
        return needs_input_error(uri).caused_by(failure);
    }
    resource_error(failure, uri)
}

impl UpstreamContent {
    /// The server's etag, or a hash of the first part.
    fn etag(&self) -> String {
        let Some(first) = self.parts.first() else { return String::new() };
        let own = first.resource.etag.clone();
        own.unwrap_or_else(|| blake3::hash(&first.bytes).to_hex()[..16].to_owned())
    }

    fn differs_from_pin(&self, window: &Window) -> bool {
        matches!(window, Window::Part { etag: Some(pinned), .. } if *pinned != self.etag())
    }

    /// What `request` wants of it. A window is of one part, the first if none is named. There are no
    /// sections: the server does not know them.
    fn reading(&self, request: &ReadRequest, freshness: Freshness) -> Result<Reading> {
        let window = &request.window;
        if let Some(section) = &request.section {
            return Err(section.unit.missing());
        }
        let mut wanted: Vec<&UpstreamPart> = self.parts.iter().collect();
        let total_parts = request.select(&mut wanted, |part| part.resource.mime.as_deref())?;
        let etag = matches!(window, Window::Part { .. }).then(|| self.etag());
        if etag.is_some() {
            wanted.truncate(1);
        }
        window.check(etag.as_deref(), wanted.iter().map(|part| part.bytes.len() as u64).sum())?;
        let cut = |part: &UpstreamPart| {
            let (bytes, slice) = window.cut(&part.bytes, part.is_text);
            let mut resource = Arc::clone(&part.resource);
            if etag.is_some() && resource.etag.is_none() {
                Arc::make_mut(&mut resource).etag.clone_from(&etag);
            }
            Part { resource, body: Body::new(ByteSource::Bytes(bytes), part.is_text), slice }
        };
        let content = Content::Parts(wanted.into_iter().map(cut).collect());
        Ok(Reading { content, freshness, total_parts, extra: self.extra.clone() })
    }

    /// A hash over the URIs and bytes of all parts.
    pub(super) fn content_hash(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        for part in &self.parts {
            hasher.update(part.resource.uri.as_str().as_bytes());
            hasher.update(&(part.bytes.len() as u64).to_le_bytes());
            hasher.update(&part.bytes);
        }
        hasher.finalize()
    }
}
