//! Test provider that returns short windows, changes during reads, or has several formats.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use resource::{
    Body, ByteSource, Content, Context, Facets, Page, PageRequest, Part, Provider, ReadRequest,
    Reading, Resource, Result, Template, Uri, Window,
};
use testkit::MemoryProvider;

/// A hook that runs after each read, with the number of the read.
type ReadHook = Box<dyn Fn(&MemoryProvider, usize) + Send + Sync>;

/// An in-memory provider that returns at most `most` bytes per window and records its reads.
pub(crate) struct ShortReads {
    pub(crate) memory: MemoryProvider,
    most: u64,
    beside: Option<Uri>,
    torn: u64,
    event: Option<ReadHook>,
    reads: Mutex<Vec<Window>>,
}

impl ShortReads {
    pub(crate) fn new(memory: MemoryProvider, most: u64) -> Self {
        let torn = u64::MAX;
        Self { memory, most, beside: None, torn, event: None, reads: Mutex::default() }
    }

    /// Returns this resource as a second format of every resource.
    pub(crate) fn with_format(mut self, uri: &str) -> Self {
        self.beside = Some(Uri::parse(uri).unwrap());
        self
    }

    /// Returns windows that reach beyond `offset` as blobs.
    pub(crate) fn blob_beyond(mut self, offset: u64) -> Self {
        self.torn = offset;
        self
    }

    /// Runs `event` after each read.
    pub(crate) fn after_read(
        mut self,
        event: impl Fn(&MemoryProvider, usize) + Send + Sync + 'static,
    ) -> Self {
        self.event = Some(Box::new(event));
        self
    }

    /// The windows that were read since the last call.
    pub(crate) fn take_reads(&self) -> Vec<Window> {
        std::mem::take(&mut self.reads.lock().unwrap())
    }
}

impl ShortReads {
    /// A window of the second part, which has the version of the resource.
    async fn read_second(
        &self,
        ctx: &Context,
        uri: &Uri,
        beside: &Uri,
        mut window: Window,
    ) -> Result<Reading> {
        if let Window::Part { etag, .. } = &mut window {
            *etag = None;
        }
        let mut reading = self.memory.read(ctx, beside, &window.into()).await?;
        let etag = self.memory.stat(ctx, uri).await?.etag.clone();
        if let Content::Parts(parts) = &mut reading.content {
            Arc::make_mut(&mut parts[0].resource).etag = etag;
        }
        Ok(Reading { total_parts: 2, ..reading })
    }
}

#[async_trait]
impl Provider for ShortReads {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        self.memory.list(ctx, parent, paging).await
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.memory.templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.memory.stat(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let mut window = request.window.clone();
        if let Window::Part { length, .. } = &mut window {
            *length = self.most.min(*length);
        }
        if let (Some(beside), Some(1)) = (&self.beside, request.part) {
            return self.read_second(ctx, uri, beside, window).await;
        }
        let mut reading = self.memory.read(ctx, uri, &window.clone().into()).await?;
        reading.total_parts += usize::from(self.beside.is_some());
        let count = {
            let mut asked = self.reads.lock().unwrap();
            asked.push(window.clone());
            asked.len()
        };
        if let Some(event) = &self.event {
            event(&self.memory, count);
        }
        if let Content::Parts(parts) = &mut reading.content
            && let Part { body: Body::Text(source), slice: Some(slice), .. } = &mut parts[0]
            && slice.offset + slice.length > self.torn
        {
            let source = std::mem::replace(source, ByteSource::Bytes(Bytes::new()));
            parts[0].body = Body::Blob(source);
        }
        Ok(reading)
    }

    fn facets(&self) -> Facets<'_> {
        self.memory.facets()
    }
}
