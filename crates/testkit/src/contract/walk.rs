//! Recursive walk of a provider, and read functions, for the contract tests.

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use resource::{
    Body, ByteSource, Content, Cursor, PageRequest, Part, Provider, Resource, Result, Uri, Window,
};

use super::ctx;

/// A read limit that no test content exceeds.
pub(super) const NO_LIMIT: u64 = 1 << 40;

/// The maximum number of resources that a walk visits.
const MAX_RESOURCES: usize = 2_000;

/// A listed resource.
#[derive(Debug, Clone)]
pub struct ListedResource {
    /// Its list entry.
    pub resource: Arc<Resource>,
    /// Its collection; `None` at the top level.
    pub parent: Option<Uri>,
}

impl ListedResource {
    pub(super) fn is_collection(&self) -> bool {
        self.resource.listable == Some(true)
    }
}

/// Lists everything recursively from the top level, each resource once.
pub async fn walk(provider: &dyn Provider) -> Vec<ListedResource> {
    let mut seen: Vec<ListedResource> = Vec::new();
    let mut known = HashSet::new();
    let mut open: Vec<Option<Uri>> = vec![None];
    while let Some(parent) = open.pop() {
        for resource in pages(provider, parent.as_ref(), 1000).await {
            if seen.len() >= MAX_RESOURCES || !known.insert(resource.uri.clone()) {
                continue;
            }
            if resource.listable == Some(true) {
                open.push(Some(resource.uri.clone()));
            }
            seen.push(ListedResource { resource, parent: parent.clone() });
        }
    }
    assert!(!seen.is_empty(), "the provider lists nothing, so there is nothing to check");
    seen
}

/// Lists all pages of one list, joined.
pub async fn pages(
    provider: &dyn Provider,
    parent: Option<&Uri>,
    limit: usize,
) -> Vec<Arc<Resource>> {
    let mut all = Vec::new();
    let mut from: Option<Cursor> = None;
    for _ in 0..100 * MAX_RESOURCES {
        let ask = PageRequest::new(from, limit);
        let page = expect(
            provider.list(&ctx(), parent, &ask).await,
            &format!("listing {parent:?} by {limit}"),
        );
        assert!(page.items.len() <= limit, "a page of {limit} holds {}", page.items.len());
        all.extend(page.items);
        match page.next {
            None => return all,
            next => from = next,
        }
    }
    panic!("listing {parent:?} by {limit} does not end");
}

/// The first 200 listed leaves.
pub(super) async fn leaves(provider: &dyn Provider) -> Vec<Arc<Resource>> {
    let seen = walk(provider).await;
    let leaves = seen.into_iter().filter(|seen| !seen.is_collection()).map(|seen| seen.resource);
    leaves.take(200).collect()
}

/// The parts of a leaf for `window`.
pub(super) async fn parts(provider: &dyn Provider, uri: &Uri, window: &Window) -> Vec<Part> {
    match expect(read(provider, uri, window).await, &format!("reading {uri} {window:?}")) {
        Content::Parts(parts) => parts,
        Content::Collection(_) => panic!("{uri} is listed as a leaf and read as a collection"),
        Content::InputRequired(_) => panic!("{uri} cannot be read without input"),
    }
}

/// The primary part of a leaf for `window`.
pub(super) async fn primary(provider: &dyn Provider, uri: &Uri, window: &Window) -> Part {
    let parts = parts(provider, uri, window).await;
    parts.into_iter().next().unwrap_or_else(|| panic!("reading {uri} gives no part"))
}

pub(super) async fn read(provider: &dyn Provider, uri: &Uri, window: &Window) -> Result<Content> {
    Ok(provider.read(&ctx(), uri, &window.clone().into()).await?.content)
}

/// Collects all bytes of a body; asserts that every chunk of a text holds whole characters.
pub async fn bytes_of(body: Body) -> Bytes {
    let (source, is_text) = match body {
        Body::Text(source) => (source, true),
        Body::Blob(source) => (source, false),
    };
    let mut chunks = match source {
        ByteSource::Bytes(bytes) => futures_util::stream::iter([Ok(bytes)]).boxed(),
        ByteSource::Stream(stream) => stream,
    };
    let mut all = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = expect(chunk, "reading a body to its end");
        let is_whole = !is_text || std::str::from_utf8(&chunk).is_ok();
        assert!(is_whole, "a chunk of text splits a character or is not UTF-8");
        all.extend_from_slice(&chunk);
    }
    all.into()
}

pub(super) fn expect<T>(result: Result<T, impl Debug>, doing: &str) -> T {
    result.unwrap_or_else(|error| panic!("{doing} failed: {error:?}"))
}
