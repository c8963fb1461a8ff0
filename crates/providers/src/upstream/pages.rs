//! Page cache for the server's lists, and pages of our own size cut from it.
//!
//! The server chooses its page size. Its pages are cached, so that one walk requests each of them
//! once, however small our own pages are.

use std::sync::Arc;
use std::time::Duration;

use client::{Error as Failure, List, Listed};
use resource::{Ask, Error, Freshness, Page, Resource, Result, Template};

use super::cursor::{PAGES, Place};
use super::fault::fault;
use super::flight::Flights;
use super::keep::{Keep, Need, Worth};

/// Bounds of the page cache of one list: pages and bytes.
const KEPT: usize = 2_048;
const BYTES: usize = 32 << 20;
/// How long a page stays cached for a walk that is in the middle of it, whatever its TTL.
const WALK: Duration = Duration::from_secs(60);
/// How many pages of the server are read to fill one of ours.
const AT_ONCE: usize = 32;

/// One page as the server sent it.
pub(super) struct Leaf<T> {
    pub(super) items: Vec<Arc<T>>,
    pub(super) next: Option<String>,
    freshness: Freshness,
}

/// Identifies a page of the server: the list, and the server's cursor.
pub(super) type Key = (List, Option<String>);

/// The pages of one kind of list.
pub(super) struct Pages<T> {
    kept: Keep<Key, Leaf<T>>,
    flights: Flights<Key, Arc<Leaf<T>>>,
}

/// An entry of a list.
pub(super) trait Entry: PartialEq + Send + Sync + 'static {
    /// Its key for cursors.
    fn key(&self) -> &str;
    /// Its approximate size in memory, in bytes.
    fn weight(&self) -> usize;
}

impl Entry for Resource {
    fn key(&self) -> &str {
        self.uri.as_str()
    }

    fn weight(&self) -> usize {
        let texts = [&self.title, &self.description, &self.mime, &self.etag];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        400 + 2 * self.uri.as_str().len() + self.name.len() + texts + self.extra.weight()
    }
}

impl Entry for Template {
    fn key(&self) -> &str {
        self.uri.as_str()
    }

    fn weight(&self) -> usize {
        let texts = [&self.title, &self.description, &self.mime];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        400 + 4 * self.uri.as_str().len() + self.name.len() + texts + self.extra.weight()
    }
}

impl<T: Entry> Pages<T> {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { kept: Keep::new(KEPT, BYTES), flights: Flights::default() })
    }

    /// The number of entries in the list, if all its pages are cached, whatever their age.
    pub(super) fn count(&self) -> Option<usize> {
        let mut cursor = None;
        let mut count = 0;
        for _ in 0..PAGES {
            let leaf = self.kept.last(&(List::All, cursor))?;
            count += leaf.items.len();
            let Some(next) = &leaf.next else { return Some(count) };
            cursor = Some(next.clone());
        }
        None
    }

    /// Invalidates all pages.
    pub(super) fn forget(&self) {
        self.kept.forget(|_| true);
        self.flights.part();
    }

    /// One page of the server with its remaining freshness, from the cache or from the server.
    pub(super) async fn leaf<F>(
        self: &Arc<Self>,
        key: Key,
        need: Need,
        ask: impl FnOnce(Key) -> F,
    ) -> Result<(Arc<Leaf<T>>, Freshness), Failure>
    where
        F: Future<Output = Result<Listed<T>, Failure>> + Send + 'static,
    {
        if let Some((leaf, ttl)) = self.kept.get(&key, need) {
            let freshness = Freshness { ttl, ..leaf.freshness };
            return Ok((leaf, freshness));
        }
        let asked = ask(key.clone());
        let (pages, place) = (Arc::clone(self), key.clone());
        let epoch = self.kept.epoch();
        let leaf = self.flights.join(key, async move {
            let leaf = Arc::new(pages.bind(&place, asked.await?));
            let weight = leaf.items.iter().map(|item| item.weight()).sum::<usize>() + 200;
            let worth = Worth { ttl: leaf.freshness.ttl, grace: WALK, weight };
            pages.kept.put(epoch, place, Arc::clone(&leaf), &worth);
            Ok(leaf)
        });
        let leaf = leaf.await?;
        let freshness = leaf.freshness;
        Ok((leaf, freshness))
    }

    /// Builds a page. Entries that are unchanged since the previous version share its objects.
    fn bind(&self, key: &Key, listed: Listed<T>) -> Leaf<T> {
        let old = self.kept.last(key);
        let old = old.as_ref().map_or(&[][..], |leaf| &leaf.items);
        let same = |(at, item): (usize, T)| match old.get(at) {
            Some(old) if **old == item => Arc::clone(old),
            _ => Arc::new(item),
        };
        let items = listed.items.into_iter().enumerate().map(same).collect();
        Leaf { items, next: listed.next, freshness: listed.freshness }
    }

    /// The requested page of `list`. A failure on the first page is reported separately.
    pub(super) async fn page<F>(
        self: &Arc<Self>,
        list: &List,
        wanted: &Ask,
        ask: impl Fn(Key) -> F,
    ) -> Result<Page<T>, Stop>
    where
        F: Future<Output = Result<Listed<T>, Failure>> + Send + 'static,
    {
        let limit = wanted.limit.max(1);
        let mut place = Place::read(wanted.from.as_ref())?;
        let mut page = Page::empty();
        let mut freshness: Option<Freshness> = None;
        for _ in 0..AT_ONCE {
            // A stale page serves only a walk that is in the middle of it.
            let need = if place.last.is_some() { Need::Begun } else { Need::Fresh };
            let leaf = self.leaf((list.clone(), place.cursor.clone()), need, &ask).await;
            let (leaf, fresh) = match leaf {
                Ok(leaf) => leaf,
                Err(failure) => return Err(self.stopped(failure, &place)),
            };
            freshness = Some(freshness.map_or(fresh, |known| known.and(fresh)));
            let (items, rest) = cut(&leaf.items, place.last.as_deref(), limit - page.items.len())?;
            page.items.extend(items.iter().map(Arc::clone));
            let next = match (rest, items.last(), &leaf.next) {
                (true, Some(last), _) => Some(place.behind(last.key())),
                (_, _, Some(cursor)) => Some(place.turn(cursor.clone())?),
                (_, _, None) => None,
            };
            page.next = next.as_ref().map(Place::write);
            match next.filter(|_| page.items.len() < limit) {
                Some(next) => place = next,
                None => break,
            }
        }
        page.freshness = freshness.unwrap_or_default();
        Ok(page)
    }

    /// Classifies a failed request for a page.
    fn stopped(&self, failure: Failure, place: &Place) -> Stop {
        match place.cursor {
            None => Stop::Unbegun(failure),
            // K-11: if the server rejects its own cursor, all cached pages are dropped.
            Some(_) if failure.is_about_params() => {
                self.forget();
                Stop::Error(Error::bad_cursor().caused_by(failure))
            }
            Some(_) => Stop::Error(fault(failure)),
        }
    }
}

/// Why a page cannot be returned.
pub(super) enum Stop {
    /// The request for the first page failed.
    Unbegun(Failure),
    /// Anything else.
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Stop {
    /// The result for a list that every server should have: an empty page if the server does not
    /// know the method.
    pub(super) fn or_nothing<T>(self) -> Result<Page<T>> {
        match self {
            Self::Unbegun(failure) if failure.is_about_method() => Ok(Page::empty()),
            Self::Unbegun(failure) => Err(fault(failure)),
            Self::Error(error) => Err(error),
        }
    }
}

/// At most `limit` of the `items` after `last`, and whether there are more.
pub(super) fn cut<'a, T: Entry>(
    items: &'a [Arc<T>],
    last: Option<&str>,
    limit: usize,
) -> Result<(&'a [Arc<T>], bool)> {
    let start = match last {
        None => 0,
        Some(last) => {
            let at = items.iter().position(|item| item.key() == last);
            at.ok_or_else(Error::bad_cursor)? + 1
        }
    };
    let end = start.saturating_add(limit).min(items.len());
    Ok((&items[start..end], end < items.len()))
}
