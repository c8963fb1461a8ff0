//! A provider with one selectable defect, to test the contract suite.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use resource::{
    Body, ByteSource, Complete, Completion, CompletionRequest, Content, Context, Error, ErrorKind,
    Facets, Page, PageRequest, Provider, ReadRequest, Reading, Resource, Result, Slice, Template,
    Uri, Window,
};

use crate::MemoryProvider;

/// The contract violations to choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Defect {
    Nothing,
    StatDiffers,
    RepeatsTheLast,
    SkipsOne,
    IgnoresPageLimit,
    ChangesOrder,
    ChokesOnCursors,
    MakesUp,
    LeadsOut,
    SplitsCharacters,
    LiesOfTheSlice,
    IgnoresReadLimit,
    IgnoresPins,
    ListsLeaves,
    ListsDeep,
    ReadsAnother,
    FailsToRead(ErrorKind),
    PretendsToComplete,
    IgnoresFilters,
    IgnoresFormats,
    KnowsOnePrincipal,
}

/// A provider that breaks the contract in one way.
pub(super) struct DefectiveProvider {
    inner: MemoryProvider,
    defect: Defect,
    list_requests: AtomicUsize,
}

impl DefectiveProvider {
    pub(super) fn new(inner: MemoryProvider, defect: Defect) -> Self {
        Self { inner, defect, list_requests: AtomicUsize::new(0) }
    }

    fn has_defect(&self, defect: Defect) -> bool {
        self.defect == defect
    }

    fn makes_up(&self, uri: &Uri) -> bool {
        let leads_out = uri.as_str().contains("../") && self.has_defect(Defect::LeadsOut);
        leads_out || self.has_defect(Defect::MakesUp) && uri.as_str().ends_with("none")
    }

    fn spoil_page(&self, page: &mut Page<Resource>, paging: &PageRequest) {
        let asked = self.list_requests.fetch_add(1, Ordering::SeqCst);
        match self.defect {
            Defect::RepeatsTheLast if page.next.is_none() && page.items.len() > 1 => {
                page.items.push(Arc::clone(&page.items[0]));
            }
            Defect::SkipsOne if paging.cursor.is_some() && page.next.is_none() => {
                drop(page.items.to_mut().pop());
            }
            Defect::ChangesOrder if asked % 2 == 1 => page.items.reverse(),
            _ => {}
        }
    }

    fn spoil_slice(&self, reading: &mut Reading, window: &Window) {
        let Content::Parts(parts) = &mut reading.content else { return };
        let Some(Slice { length, .. }) = &mut parts[0].slice else { return };
        if self.has_defect(Defect::LiesOfTheSlice) && *length > 0 {
            *length -= 1;
        }
        let Window::Part { length: wanted, .. } = window else { return };
        if self.has_defect(Defect::SplitsCharacters)
            && let Body::Text(ByteSource::Bytes(bytes)) = &mut parts[0].body
        {
            *bytes = Bytes::copy_from_slice(&bytes[..bytes.len().min(*wanted as usize)]);
        }
    }
}

#[async_trait]
impl Provider for DefectiveProvider {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        if parent.is_some_and(|parent| self.makes_up(parent)) {
            return Ok(Page::empty());
        }
        let mut ask = paging.clone();
        if self.has_defect(Defect::IgnoresFilters) {
            ask.filter = None;
        }
        if self.has_defect(Defect::IgnoresPageLimit) {
            ask.limit += 1;
        }
        if self.has_defect(Defect::ListsDeep)
            && parent.is_some_and(|uri| uri.as_str() == "mem:///shelf/")
        {
            return self.inner.list(ctx, None, &ask).await;
        }
        match self.inner.list(ctx, parent, &ask).await {
            Ok(mut page) => {
                self.spoil_page(&mut page, &ask);
                Ok(page)
            }
            Err(_) if self.has_defect(Defect::ChokesOnCursors) && ask.cursor.is_some() => {
                Err(Error::internal("choked"))
            }
            Err(error)
                if self.has_defect(Defect::ListsLeaves) && error.kind == ErrorKind::Invalid =>
            {
                Ok(Page::empty())
            }
            Err(error) => Err(error),
        }
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.inner.templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        if self.makes_up(uri) {
            return Ok(Arc::new(Resource::new(uri.clone(), "made up")));
        }
        let is_local = ctx.principal().key() == resource::Principal::local().key();
        if self.has_defect(Defect::KnowsOnePrincipal) && !is_local {
            return Err(Error::not_found(uri));
        }
        let mut resource = self.inner.stat(ctx, uri).await?;
        if self.has_defect(Defect::StatDiffers) {
            Arc::make_mut(&mut resource).size = Some(1_000);
        }
        Ok(resource)
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let mut request = request.clone();
        if self.has_defect(Defect::IgnoresFormats) {
            request.format = None;
        }
        let window = match request.window.clone() {
            Window::Whole { .. } if self.has_defect(Defect::IgnoresReadLimit) => {
                Window::Whole { limit: u64::MAX }
            }
            Window::Part { offset, length, .. } if self.has_defect(Defect::IgnoresPins) => {
                Window::Part { offset, length, etag: None }
            }
            window => window,
        };
        if let Defect::FailsToRead(kind) = self.defect {
            return Err(Error::new(kind, "not today"));
        }
        let other = Uri::parse("mem:///one")?;
        let asked = if self.has_defect(Defect::ReadsAnother) && uri.as_str() == "mem:///two" {
            &other
        } else {
            uri
        };
        let mut reading = self.inner.read(ctx, asked, &request.with_window(window.clone())).await?;
        self.spoil_slice(&mut reading, &window);
        Ok(reading)
    }

    fn facets(&self) -> Facets<'_> {
        let facets = self.inner.facets();
        if self.has_defect(Defect::PretendsToComplete) {
            return Facets { complete: Some(self), ..facets };
        }
        facets
    }
}

#[async_trait]
impl Complete for DefectiveProvider {
    fn may_complete(&self, _: &Context) -> bool {
        true
    }

    async fn complete(&self, _: &Context, _: &CompletionRequest<'_>) -> Result<Completion> {
        Err(Error::new(ErrorKind::Unsupported, "completion is not implemented"))
    }
}
