//! Page cache for the server's lists, and pages of our own size cut from it.
//!
//! The server chooses its page size. Its pages are cached, so that one walk requests each of them
//! once, however small our own pages are.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use client::{DecodedPage, Error as Failure, ListScope};
use machinery::{Cache, CacheBounds, CacheLifetime, RequiredFreshness, SingleFlight};
use resource::{
    Absence, Error, Freshness, Icon, Page, PageRequest, Resource, Result, Template, UnknownMembers,
};

use super::cursor::UpstreamCursor;
use super::error_mapping::public_error;
use super::flaw_log::FlawLog;

/// Bounds of the page cache of one list; the weight is in bytes.
const CACHE_BOUNDS: CacheBounds = CacheBounds { entries: 2_048, ..CacheBounds::weight(32 << 20) };
/// How long a page stays cached for a walk that is in the middle of it, whatever its TTL.
const WALK_GRACE: Duration = Duration::from_secs(60);
/// How many bytes of descriptions one of our pages has; a single entry may have more.
pub(super) const MAX_PAGE_BYTES: usize = 8 << 20;
/// How many pages of the server are read to fill one of ours.
const MAX_PAGES_PER_REQUEST: usize = 32;

/// One page as the server sent it.
pub(super) struct UpstreamPage<T> {
    pub(super) items: Vec<Arc<T>>,
    pub(super) next: Option<String>,
    freshness: Freshness,
    pub(super) fetched: SystemTime,
    /// Why the list ends here although the server has more, if it does.
    cut: Option<&'static str>,
    /// The approximate size of all items in memory, in bytes.
    pub(super) weight: usize,
    extra: UnknownMembers,
}

/// Identifies a page of the server: the list, and the server's cursor.
pub(super) type UpstreamPageKey = (ListScope, Option<String>);

/// The pages of one kind of list.
pub(super) struct UpstreamPages<T> {
    cache: Cache<UpstreamPageKey, Arc<UpstreamPage<T>>>,
    flights: SingleFlight<UpstreamPageKey, Result<Arc<UpstreamPage<T>>, Failure>>,
    flaw_log: Arc<FlawLog>,
}

/// An entry of a list.
pub(super) trait UpstreamListEntry: PartialEq + Send + Sync + 'static {
    /// Its key for cursors.
    fn key(&self) -> &str;
    /// Its approximate size in memory, in bytes.
    fn weight(&self) -> usize;
}

impl UpstreamListEntry for Resource {
    fn key(&self) -> &str {
        self.uri.as_str()
    }

    fn weight(&self) -> usize {
        let texts = [&self.title, &self.description, &self.mime, &self.etag];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        let icons: usize = self.icons.iter().map(icon_weight).sum();
        let formats: usize = self.formats.iter().map(|format| 80 + format.mime.len()).sum();
        let titles = self.outline.iter().flat_map(|outline| &outline.titles);
        let titles: usize = titles.map(|known| 40 + known.title.len()).sum();
        let texts = texts + icons + formats + titles;
        400 + 2 * self.uri.as_str().len() + self.name.len() + texts + self.extra.approximate_bytes()
    }
}

impl UpstreamListEntry for Template {
    fn key(&self) -> &str {
        self.uri.as_str()
    }

    fn weight(&self) -> usize {
        let texts = [&self.title, &self.description, &self.mime];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        let texts = texts + self.icons.iter().map(icon_weight).sum::<usize>();
        400 + 4 * self.uri.as_str().len() + self.name.len() + texts + self.extra.approximate_bytes()
    }
}

/// The number of entries in a list of `pages` cached pages, of which `look` finds one by its cursor;
/// `None` if a page is missing. Looks at each page once, also if the cursors of a server lead back.
fn count_entries(
    pages: usize,
    mut look: impl FnMut(Option<String>) -> Option<(usize, Option<String>)>,
) -> Option<usize> {
    let (mut cursor, mut count) = (None, 0);
    for _ in 0..pages {
        let (entries, next) = look(cursor)?;
        count += entries;
        if next.is_none() {
            return Some(count);
        }
        cursor = next;
    }
    None
}

fn icon_weight(icon: &Icon) -> usize {
    120 + icon.src.len() + icon.sizes.iter().map(|size| 24 + size.len()).sum::<usize>()
}

impl<T: UpstreamListEntry> UpstreamPages<T> {
    pub(super) fn new(flaw_log: &Arc<FlawLog>) -> Arc<Self> {
        Arc::new(Self {
            cache: Cache::new(CACHE_BOUNDS),
            flights: SingleFlight::default(),
            flaw_log: Arc::clone(flaw_log),
        })
    }

    /// The number of entries in the list, if all its pages are cached, whatever their age.
    pub(super) fn cached_count(&self) -> Option<usize> {
        let look = |cursor| {
            let (leaf, _) =
                self.cache.get_aged(&(ListScope::All, cursor), RequiredFreshness::AnyAge)?;
            Some((leaf.items.len(), leaf.next.clone()))
        };
        count_entries(self.cache.len(), look)
    }

    /// Invalidates all pages.
    pub(super) fn invalidate(&self) {
        self.cache.invalidate(|_| true);
        self.flights.forget_all();
    }

    /// One page of the server with its remaining freshness, from the cache or from the server.
    pub(super) async fn cached_page<F>(
        self: &Arc<Self>,
        key: UpstreamPageKey,
        required: RequiredFreshness,
        ask: impl FnOnce(UpstreamPageKey) -> F,
    ) -> Result<(Arc<UpstreamPage<T>>, Freshness), Failure>
    where
        F: Future<Output = Result<DecodedPage<T>, Failure>> + Send + 'static,
    {
        if let Some((leaf, ttl)) = self.cache.get_aged(&key, required) {
            let freshness = Freshness { ttl, ..leaf.freshness };
            return Ok((leaf, freshness));
        }
        let asked = ask(key.clone());
        let (pages, place) = (Arc::clone(self), key.clone());
        let epoch = self.cache.epoch();
        let leaf = self.flights.join(key, async move {
            let leaf = Arc::new(pages.build_page(&place, asked.await?));
            let cursors = [&place.1, &leaf.next].into_iter().flatten().map(String::len);
            let weight = leaf.weight + cursors.sum::<usize>() + 200;
            let worth = CacheLifetime { ttl: leaf.freshness.ttl, grace: WALK_GRACE, weight };
            pages.cache.insert_current(epoch, place, Arc::clone(&leaf), &worth);
            Ok(leaf)
        });
        let leaf = leaf.await?;
        let freshness = leaf.freshness;
        Ok((leaf, freshness))
    }

    /// Builds a page. Entries that are unchanged since the previous version share its objects.
    fn build_page(&self, key: &UpstreamPageKey, listed: DecodedPage<T>) -> UpstreamPage<T> {
        let old = self.cache.get_aged(key, RequiredFreshness::AnyAge);
        let old = old.as_ref().map_or(&[][..], |(leaf, _)| &leaf.items);
        let same = |(at, item): (usize, T)| match old.get(at) {
            Some(old) if **old == item => Arc::clone(old),
            _ => Arc::new(item),
        };
        let items: Vec<Arc<T>> = listed.items.into_iter().enumerate().map(same).collect();
        let DecodedPage { next, freshness, cut, extra, .. } = listed;
        let weight = items.iter().map(|item| item.weight()).sum::<usize>();
        let weight = weight + extra.approximate_bytes();
        let fetched = SystemTime::now();
        UpstreamPage { items, next, freshness, fetched, cut, weight, extra }
    }

    /// The requested page of `list`. A failure on the first page is reported separately.
    pub(super) async fn list_page<F>(
        self: &Arc<Self>,
        list: &ListScope,
        wanted: &PageRequest,
        ask: impl Fn(UpstreamPageKey) -> F,
    ) -> Result<Page<T>, ListFailure>
    where
        F: Future<Output = Result<DecodedPage<T>, Failure>> + Send + 'static,
    {
        let limit = wanted.limit.max(1);
        let mut place = UpstreamCursor::decode(wanted.cursor.as_ref())?;
        let mut page = Page::empty();
        let mut freshness: Option<Freshness> = None;
        let mut room = PageRoom { bytes: MAX_PAGE_BYTES, is_empty: true };
        for _ in 0..MAX_PAGES_PER_REQUEST {
            // A stale page serves only a walk that is in the middle of it.
            let need = if place.last.is_some() {
                RequiredFreshness::WithinGrace
            } else {
                RequiredFreshness::Fresh
            };
            let leaf = self.cached_page((list.clone(), place.cursor.clone()), need, &ask).await;
            let (leaf, fresh) = match leaf {
                Ok(leaf) => leaf,
                Err(failure) => return Err(self.classify_failure(failure, &place)),
            };
            freshness = Some(freshness.map_or(fresh, |known| known.combine(fresh)));
            page.extra.absorb(&leaf.extra);
            let (items, rest) =
                slice_after(&leaf.items, place.last.as_deref(), limit - page.items.len())?;
            let fitting = room.take(items);
            page.items.extend(fitting.iter().map(Arc::clone));
            let is_full = fitting.len() < items.len();
            let next = if rest || is_full {
                Some(fitting.last().map_or_else(|| place.clone(), |last| place.after(last.key())))
            } else {
                let absence = leaf.absence(&place);
                absence.iter().for_each(|absence| self.flaw_log.record_cut(&absence.reason));
                page.absent.extend(absence);
                let cursor = leaf.next.clone().filter(|_| !place.is_exhausted(leaf.weight));
                cursor.map(|cursor| place.next_page(cursor, leaf.weight)).transpose()?
            };
            page.next = next.as_ref().map(UpstreamCursor::encode);
            match next.filter(|_| page.items.len() < limit && !is_full) {
                Some(next) => place = next,
                None => break,
            }
        }
        page.freshness = freshness.unwrap_or_default();
        Ok(page)
    }

    /// Classifies a failed request for a page.
    fn classify_failure(&self, failure: Failure, place: &UpstreamCursor) -> ListFailure {
        match place.cursor {
            None => ListFailure::FirstPage(failure),
            // K-11: if the server rejects its own cursor, all cached pages are dropped.
            Some(_) if failure.is_invalid_params() => {
                self.invalidate();
                ListFailure::Other(Error::bad_cursor().caused_by(failure))
            }
            Some(_) => ListFailure::Other(public_error(failure)),
        }
    }
}

impl<T> UpstreamPage<T> {
    /// What is missing after this page, at `place` of the list.
    fn absence(&self, place: &UpstreamCursor) -> Option<Absence> {
        let is_heavy = self.next.is_some() && place.is_exhausted(self.weight);
        let too_large = is_heavy.then_some("its descriptions take more than 128 MiB");
        let why = self.cut.or(too_large)?;
        let reason = format!("the list of the server behind this mount was cut: {why}");
        Some(Absence { name: "list".to_owned(), reason })
    }
}

/// How much one of our pages still takes.
struct PageRoom {
    bytes: usize,
    is_empty: bool,
}

impl PageRoom {
    /// The first of the `items` that fit; at least one, if the page is empty.
    fn take<'a, T: UpstreamListEntry>(&mut self, items: &'a [Arc<T>]) -> &'a [Arc<T>] {
        let mut count = 0;
        for item in items {
            let left = self.bytes.checked_sub(item.weight());
            if left.is_none() && !self.is_empty {
                break;
            }
            self.bytes = left.unwrap_or_default();
            self.is_empty = false;
            count += 1;
        }
        &items[..count]
    }
}

/// Why a page cannot be returned.
pub(super) enum ListFailure {
    /// The request for the first page failed.
    FirstPage(Failure),
    /// Anything else.
    Other(Error),
}

impl From<Error> for ListFailure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl ListFailure {
    /// The result for a list that every server should have: an empty page if the server does not
    /// know the method.
    pub(super) fn or_empty<T>(self) -> Result<Page<T>> {
        match self {
            Self::FirstPage(failure) if failure.is_method_not_found() => Ok(Page::empty()),
            Self::FirstPage(failure) => Err(public_error(failure)),
            Self::Other(error) => Err(error),
        }
    }
}

/// At most `limit` of the `items` after `last`, and whether there are more.
pub(super) fn slice_after<'a, T: UpstreamListEntry>(
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

#[cfg(test)]
mod tests {
    use super::count_entries;

    #[test]
    fn cached_pages_are_counted_once_though_their_cursors_lead_back() {
        // Each page has two entries; its cursor is the number of the page.
        let count = |next_of: fn(usize) -> Option<usize>, pages: usize| {
            let mut looks = 0;
            let counted = count_entries(pages, |cursor| {
                looks += 1;
                let at = cursor.map_or(0, |cursor| cursor.parse().unwrap());
                (at < pages).then(|| (2, next_of(at).map(|next| next.to_string())))
            });
            (counted, looks)
        };
        assert_eq!(count(|at| (at < 2).then_some(at + 1), 3), (Some(6), 3));
        assert_eq!(count(|at| Some(at + 1), 3), (None, 3), "the last page is not cached");
        assert_eq!(count(|_| Some(1), 2), (None, 2), "a page that follows itself");
        assert_eq!(count(|at| Some((at + 1) % 3), 3), (None, 3), "a round of three pages");
        assert_eq!(count(|_| None, 0), (None, 0));
    }
}
