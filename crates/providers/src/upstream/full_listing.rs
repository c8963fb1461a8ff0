//! Full listing of a server, and children derived from URI paths.
//!
//! Only for servers without `resources/metadata` or without a way to list children.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use client::{Error as Failure, ListScope};
use machinery::{CacheLifetime, RequiredFreshness};
use resource::{Absence, Error, Freshness, Page, PageRequest, Resource, Result, Uri, uri};

use super::Inner;
use super::cursor::{PAGES, UpstreamCursor};
use super::page_cache::{UpstreamListEntry, slice_after};

/// A full listing stops after the page that reaches this many entries.
const ENTRIES: usize = 100_000;

/// All listed resources of a server.
pub(super) struct FullListing {
    entries: Vec<Arc<Resource>>,
    positions: HashMap<Uri, usize>,
    freshness: Freshness,
    /// When the server sent the oldest of its pages.
    fetched: SystemTime,
}

impl FullListing {
    pub(super) fn fetched(&self) -> SystemTime {
        self.fetched
    }

    pub(super) fn find(&self, uri: &Uri) -> Option<&Arc<Resource>> {
        self.positions.get(uri).and_then(|at| self.entries.get(*at))
    }

    /// The resources whose nearest listed ancestor is `parent`.
    fn children_of(&self, parent: &Uri) -> Vec<Arc<Resource>> {
        let below = |resource: &&Arc<Resource>| {
            let steps = ancestors(&resource.uri);
            let nearest =
                steps.into_iter().find(|step| self.contains(step) || is_same_path(step, parent));
            nearest.is_some_and(|step| is_same_path(&step, parent))
        };
        self.entries.iter().filter(below).map(Arc::clone).collect()
    }

    fn contains(&self, step: &str) -> bool {
        let is_listed =
            |text: &str| Uri::parse(text).is_ok_and(|uri| self.positions.contains_key(&uri));
        is_listed(step) || is_listed(&format!("{step}/"))
    }
}

impl Inner {
    /// The full listing, from the cache or from the server.
    pub(super) async fn full_listing(self: &Arc<Self>) -> Result<Arc<FullListing>, Failure> {
        let cached = self.full_listing_cache.get_aged(&(), RequiredFreshness::WithinGrace);
        if let Some((whole, _)) = cached {
            return Ok(whole);
        }
        let (inner, epoch) = (Arc::clone(self), self.full_listing_cache.epoch());
        let walk = async move {
            let whole = Arc::new(inner.fetch_full_listing().await?);
            let weight = whole.entries.iter().map(|resource| resource.weight()).sum();
            let ttl = whole.freshness.ttl;
            let grace = if ttl.is_zero() { inner.listing_ttl } else { ttl };
            let worth = CacheLifetime { ttl, grace, weight };
            inner.full_listing_cache.insert_current(epoch, (), Arc::clone(&whole), &worth);
            Ok(whole)
        };
        self.full_listing_flight.join((), walk).await
    }

    async fn fetch_full_listing(self: &Arc<Self>) -> Result<FullListing, Failure> {
        let mut all: Vec<Arc<Resource>> = Vec::new();
        let mut places = HashMap::new();
        let mut freshness: Option<Freshness> = None;
        let mut fetched = SystemTime::now();
        let mut place = UpstreamCursor::default();
        for _ in 0..PAGES {
            let leaf = self.upstream_page(ListScope::All, place.cursor.clone()).await;
            let (leaf, fresh) = match leaf {
                Err(failure) if failure.is_method_not_found() && place.cursor.is_none() => break,
                leaf => leaf?,
            };
            freshness = Some(freshness.map_or(fresh, |known| known.combine(fresh)));
            fetched = fetched.min(leaf.fetched);
            for item in &leaf.items {
                // The first position wins.
                if !places.contains_key(&item.uri) {
                    places.insert(item.uri.clone(), all.len());
                    all.push(Arc::clone(item));
                }
            }
            let Some(cursor) = &leaf.next else { break };
            // The list goes in a circle, so all its pages were seen.
            let Ok(next) = place.next_page(cursor.clone(), leaf.weight) else { break };
            if all.len() >= ENTRIES || place.is_exhausted(leaf.weight) {
                self.flaw_log.record_cut(&format!("its list is cut after {} entries", all.len()));
                break;
            }
            place = next;
        }
        Ok(FullListing {
            entries: all,
            positions: places,
            freshness: freshness.unwrap_or_default(),
            fetched,
        })
    }

    /// B-12: the children of `parent`, as far as the URI paths in the full listing show them.
    pub(super) async fn list_children_by_path(
        self: &Arc<Self>,
        parent: &Uri,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let whole = self.full_listing().await.map_err(super::error_mapping::public_error)?;
        let below = if is_hierarchical(parent) { whole.children_of(parent) } else { Vec::new() };
        if below.is_empty() {
            self.describe(parent).await?;
            return Err(Error::invalid("not a collection").about(parent));
        }
        let place = UpstreamCursor::decode(paging.cursor.as_ref())?;
        let (items, rest) = slice_after(&below, place.last.as_deref(), paging.limit.max(1))?;
        let last = items.last().filter(|_| rest);
        let why = "the server cannot list the children of a resource; these come from the URI \
                   paths in its full list";
        Ok(Page {
            next: last.map(|last| place.after(last.key()).encode()),
            absent: vec![Absence { name: "collection".to_owned(), reason: why.to_owned() }],
            ..Page::from_items(items.to_vec(), whole.freshness)
        })
    }
}

/// True if slashes in the URI express a hierarchy.
fn is_hierarchical(uri: &Uri) -> bool {
    uri.authority().is_some() || uri.path().starts_with('/')
}

/// The ancestors of a URI by its path, the nearest first, without trailing slashes.
fn ancestors(uri: &Uri) -> Vec<String> {
    let text = uri.as_str();
    let path = uri::without_query(text).trim_end_matches('/');
    let root = path.find("://").map_or_else(|| path.find(':').map_or(0, |at| at + 1), |at| at + 3);
    let slashes = path.match_indices('/').map(|(at, _)| at).filter(|at| *at >= root);
    let mut steps: Vec<String> = slashes.map(|at| path[..at].to_owned()).collect();
    steps.reverse();
    steps
}

fn is_same_path(step: &str, uri: &Uri) -> bool {
    uri.as_str().trim_end_matches('/') == step.trim_end_matches('/')
}

/// True if `uri` is `parent` or is below it by its path.
pub(super) fn is_within(uri: &Uri, parent: &Uri) -> bool {
    uri == parent || ancestors(uri).iter().any(|step| is_same_path(step, parent))
}

#[cfg(test)]
mod tests {
    use resource::Uri;

    use super::{ancestors, is_within};

    #[test]
    fn a_uri_lies_in_what_its_path_names() {
        let of = |text: &str| ancestors(&Uri::parse(text).unwrap());
        assert_eq!(of("file:///a/b/c?x=/y"), ["file:///a/b", "file:///a", "file://"]);
        assert_eq!(of("git://repo/a/"), ["git://repo"]);
        assert_eq!(of("urn:x"), Vec::<String>::new());
        let within = |one: &str, other: &str| {
            is_within(&Uri::parse(one).unwrap(), &Uri::parse(other).unwrap())
        };
        assert!(within("a://x/b/c", "a://x/b/") && within("a://x/b", "a://x/b"));
        assert!(!within("a://x/bc", "a://x/b") && !within("a://x/b", "a://x/b/c"));
    }
}
