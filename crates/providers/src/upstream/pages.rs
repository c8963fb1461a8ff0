//! Which piece of the server's list is asked for?
//!
//! The server cuts its list as it likes. Its pages are kept, so that however small the pieces are
//! that are asked for here, none of its pages is asked for twice in one walk.

use std::sync::Arc;
use std::time::Duration;

use client::{Error as Failure, List, Listed};
use resource::{Ask, Error, Freshness, Page, Resource, Result, Template};

use super::cursor::{PAGES, Place};
use super::fault::fault;
use super::flight::Flights;
use super::keep::{Keep, Need, Worth};

/// How many pages of a server are kept, and how many bytes of them.
const KEPT: usize = 2_048;
const BYTES: usize = 32 << 20;
/// How long a page serves the walk that began on it, whatever its server says.
const WALK: Duration = Duration::from_secs(60);
/// How many pages of the server are asked for in order to fill one of ours.
const AT_ONCE: usize = 32;

/// One page as the server gave it.
pub(super) struct Leaf<T> {
    pub(super) items: Vec<Arc<T>>,
    pub(super) next: Option<String>,
    freshness: Freshness,
}

/// A page of the server's: of which list, and where.
pub(super) type Key = (List, Option<String>);

/// The pages of one kind of list.
pub(super) struct Pages<T> {
    kept: Keep<Key, Leaf<T>>,
    flights: Flights<Key, Arc<Leaf<T>>>,
}

/// What a list can be a list of.
pub(super) trait Entry: PartialEq + Send + Sync + 'static {
    /// What it is known by.
    fn key(&self) -> &str;
    /// About how many bytes it takes.
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

    /// How long the list of all is, if every page of it is kept, however old.
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

    /// Takes all pages back.
    pub(super) fn forget(&self) {
        self.kept.forget(|_| true);
        self.flights.part();
    }

    /// One page of the server's, and how long it stays fresh.
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

    /// Makes a page; what did not change is the very same object as before.
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

    /// The piece of `list` that is asked for. Failing to begin a list is told apart.
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
            // Only who is in the middle of a page may go on with an old one.
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

    /// Why a list could not be gone on with.
    fn stopped(&self, failure: Failure, place: &Place) -> Stop {
        match place.cursor {
            None => Stop::Unbegun(failure),
            // K-11: a cursor that is no longer good takes all pages with it.
            Some(_) if failure.is_about_params() => {
                self.forget();
                Stop::Error(Error::bad_cursor().caused_by(failure))
            }
            Some(_) => Stop::Error(fault(failure)),
        }
    }
}

/// Why there is no piece of a list.
pub(super) enum Stop {
    /// The server did not even begin.
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
    /// What that means of a list that every server has: one that knows no such list has nothing.
    pub(super) fn or_nothing<T>(self) -> Result<Page<T>> {
        match self {
            Self::Unbegun(failure) if failure.is_about_method() => Ok(Page::empty()),
            Self::Unbegun(failure) => Err(fault(failure)),
            Self::Error(error) => Err(error),
        }
    }
}

/// At most `limit` of `items` behind `last`, and whether there are more.
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
