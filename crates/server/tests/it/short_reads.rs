//! Test provider that returns short windows, changes during reads, or has several formats.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use resource::{
    Body, ByteSource, Content, Context, Facets, Page, PageRequest, Part, Provider, Reading,
    Resource, Result, Template, Uri, Window,
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

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Resource> {
        self.memory.stat(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, window: &Window) -> Result<Reading> {
        let mut window = window.clone();
        if let Window::Part { length, .. } = &mut window {
            *length = self.most.min(*length);
        }
        let mut reading = self.memory.read(ctx, uri, &window).await?;
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
        let (Some(beside), Window::Part { offset, length, .. }) = (&self.beside, window) else {
            return Ok(reading);
        };
        let window = Window::Part { offset, length, etag: None };
        let other = self.memory.read(ctx, beside, &window).await?;
        if let (Content::Parts(parts), Content::Parts(mut more)) =
            (&mut reading.content, other.content)
        {
            let own = parts[0].resource.etag.clone();
            Arc::make_mut(&mut more[0].resource).etag = own;
            parts.append(&mut more);
        }
        Ok(reading)
    }

    fn facets(&self) -> Facets<'_> {
        self.memory.facets()
    }
}
