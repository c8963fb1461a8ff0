//! Pages, readings, completions and watches of the in-memory provider.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use resource::{
    Body, ByteSource, Change, Complete, Completion, CompletionRequest, Content, Context, Cursor,
    Error, ErrorKind, Freshness, Interest, Page, PageRequest, Part, Passage, ReadRequest, Reading,
    Resource, Result, Search, SearchHit, SearchRequest, Slice, Uri, Watch, Window,
};

use super::{FaultPoint, MemoryProvider};

/// The requested page of a list, with the `key` of the last item as cursor.
pub(super) fn page_of<'a, T: Clone + 'a>(
    all: impl Iterator<Item = &'a T>,
    key: impl Fn(&T) -> &str,
    paging: &PageRequest,
) -> Result<Page<T>> {
    let all: Vec<&T> = all.collect();
    let start = match &paging.cursor {
        None => 0,
        Some(Cursor(from)) => {
            let last = all.iter().position(|one| key(one).as_bytes() == from);
            last.ok_or_else(Error::bad_cursor)? + 1
        }
    };
    let end = start.saturating_add(paging.limit.max(1)).min(all.len());
    let items: Vec<Arc<T>> = all[start..end].iter().map(|one| Arc::new((*one).clone())).collect();
    let last = items.last().filter(|_| end < all.len());
    let next = last.map(|last| Cursor(Bytes::copy_from_slice(key(last).as_bytes())));
    Ok(Page { next, ..Page::from_items(items, Freshness::default()) })
}

/// The requested page of resources that its filter shows.
pub(super) fn page_of_resources<'a>(
    all: impl Iterator<Item = &'a Resource>,
    paging: &PageRequest,
) -> Result<Page<Resource>> {
    page_of(all.filter(|resource| paging.shows(resource)), |one| one.uri.as_str(), paging)
}

/// The reading of a collection.
pub(super) fn read_collection(resource: &Resource) -> Reading {
    let content = Content::Collection(Arc::new(resource.clone()));
    Reading::new(content, Freshness::default())
}

/// The reading of a leaf, whole or a window of it.
pub(super) fn read_leaf(
    resource: &Resource,
    bytes: &Bytes,
    is_text: bool,
    request: &ReadRequest,
) -> Result<Reading> {
    request.select(&mut vec![resource], |resource| resource.mime.as_deref())?;
    let (bytes, slice) = match &request.window {
        Window::Whole { limit } if bytes.len() as u64 > *limit => {
            let message = format!("too large; read a window of at most {limit} bytes");
            return Err(Error::new(ErrorKind::TooLarge, message).about(&resource.uri));
        }
        Window::Whole { .. } => (bytes.clone(), None),
        Window::Part { etag: Some(pinned), .. } if Some(pinned) != resource.etag.as_ref() => {
            let error = Error::new(ErrorKind::Changed, "no longer that version");
            let now = resource.etag.clone().unwrap_or_default();
            return Err(error.with_fact("etag", now).about(&resource.uri));
        }
        Window::Part { offset, length, .. } => {
            let (start, end) = window_bounds(bytes, is_text, *offset, *length);
            let (offset, total) = (start as u64, bytes.len() as u64);
            let slice = Slice::new(offset, (end - start) as u64, total);
            (bytes.slice(start..end), Some(slice))
        }
    };
    let source = ByteSource::Bytes(bytes);
    let body = if is_text { Body::Text(source) } else { Body::Blob(source) };
    let part = Part { resource: Arc::new(resource.clone()), body, slice };
    Ok(Reading::new(Content::Parts(vec![part]), Freshness::default()))
}

fn window_bounds(bytes: &[u8], is_text: bool, offset: u64, length: u64) -> (usize, usize) {
    let total = bytes.len();
    let is_edge = |at: &usize| !is_text || *at >= total || bytes[*at] & 0xC0 != 0x80;
    let clamp = |at: u64| usize::try_from(at).unwrap_or(total).min(total);
    let start = (clamp(offset)..=total).find(is_edge).unwrap_or(total);
    let least = (start + 1..=total).find(is_edge).unwrap_or(total);
    let most = clamp((start as u64).saturating_add(length));
    (start, (least..=most).rev().find(is_edge).unwrap_or(least))
}

#[async_trait]
impl Complete for MemoryProvider {
    fn may_complete(&self, _: &Context) -> bool {
        true
    }

    async fn complete(&self, ctx: &Context, request: &CompletionRequest<'_>) -> Result<Completion> {
        let asked = |template: &resource::UriTemplate| template.as_str() == request.template;
        let patterns = self.all_templates();
        let Some(pattern) = patterns.iter().find(|pattern| asked(&pattern.template.uri)) else {
            return match Uri::parse(request.template) {
                Ok(uri) if self.find(ctx, &uri).is_some() => Ok(Completion::default()),
                _ => Err(Error::invalid("no such template")),
            };
        };
        if !pattern.template.uri.variables().any(|name| name == request.variable) {
            return Err(Error::invalid("no such variable"));
        }
        let values = pattern.values.get(request.variable).into_iter().flatten();
        Ok(Completion::from_values(
            values.filter(|value| value.starts_with(request.typed)).cloned().collect(),
        ))
    }
}

#[async_trait]
impl Watch for MemoryProvider {
    async fn watch(
        &self,
        ctx: &Context,
        interest: Interest,
    ) -> Result<std::pin::Pin<Box<dyn futures_core::Stream<Item = Change> + Send>>> {
        self.apply_fault(ctx, &FaultPoint::Watch).await?;
        let silent = || Error::new(ErrorKind::Unsupported, "this provider reports no changes");
        let live = self.watches.as_ref().ok_or_else(silent)?;
        if let Interest::Resource(uri) = &interest
            && self.find(ctx, uri).is_none()
            && self.expand(uri).is_none()
        {
            return Err(Error::not_found(uri));
        }
        Ok(Box::pin(live.open(interest, ctx.principal())))
    }

    fn is_shared(&self, _: &Interest) -> bool {
        self.all_entries().iter().all(|entry| entry.owner.is_none())
    }
}

#[async_trait]
impl Search for MemoryProvider {
    async fn search(&self, ctx: &Context, request: &SearchRequest) -> Result<Page<SearchHit>> {
        self.apply_fault(ctx, &FaultPoint::Search).await?;
        if request.query.trim().is_empty() {
            return Err(Error::invalid("the query has no words"));
        }
        let entries = self.visible_entries(ctx);
        let hits: Vec<SearchHit> = entries
            .iter()
            .filter(|entry| {
                request.filter.as_ref().is_none_or(|filter| filter.admits(&entry.resource))
            })
            .filter_map(|entry| {
                let super::EntryContent::Text(bytes) = &entry.content else { return None };
                let text = std::str::from_utf8(bytes).ok()?;
                let at = text.find(&request.query)?;
                let slice = Slice::new(at as u64, request.query.len() as u64, bytes.len() as u64);
                let passage = Some(Passage { text: request.query.clone(), slice: Some(slice) });
                let uri = entry.resource.uri.clone();
                Some(SearchHit { uri, title: None, passage, score: 1.0 })
            })
            .collect();
        let paging = PageRequest::new(request.cursor.clone(), request.limit);
        page_of(hits.iter(), |hit| hit.uri.as_str(), &paging)
    }
}
