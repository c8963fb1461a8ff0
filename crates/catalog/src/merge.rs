//! Merged pagination: one page from the pages of many mounts, in a fixed order.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use machinery::{Packer, Unpacker};
use resource::{
    Absence, CacheScope, Cursor, Error, ErrorKind, Filter, Freshness, Page, PageRequest, Result,
};

use crate::mount::Mount;
use crate::prefetch::Prefetch;

/// Builds the page that `ask` requests from the pages that `question` gets from each of `mounts`,
/// in their order.
pub(crate) async fn merge_pages<'a, T, F: Future<Output = Result<Page<T>>>>(
    mounts: impl Iterator<Item = &'a Mount> + Clone,
    paging: &PageRequest,
    question: impl Fn(&'a Mount, PageRequest) -> F,
) -> Result<Page<T>> {
    let mut merge = Merge::begin(paging)?;
    let begins = merge.position.clone().unwrap_or_default();
    let rest = mounts.clone().filter(|mount| mount.name >= begins.mount);
    let mut ahead = Prefetch::new(rest.map(|mount| {
        let from = begins.inner.clone().filter(|_| mount.name == begins.mount);
        question(mount, PageRequest { cursor: from, ..paging.clone() })
    }));
    // A mount whose list continues usually fills a page by itself: no prefetch from the others.
    let mut goes_on = begins.inner.is_some();
    while let Some((mount, ask)) = merge.next_request(mounts.clone()) {
        let answered = if std::mem::take(&mut goes_on) {
            ahead.next_without_prefetch().await
        } else {
            ahead.next().await
        };
        let answer = match answered {
            Some(Ok(page)) if page.items.len() > ask.limit => question(mount, ask).await,
            Some(answer) => answer,
            None => question(mount, ask).await,
        };
        merge.add_page(mount, answer)?;
    }
    Ok(merge.finish())
}

/// A page under construction, filled from one mount after another.
struct Merge<T> {
    page: Page<T>,
    limit: usize,
    filter: Option<Arc<Filter>>,
    position: Option<MergeCursor>,
}

/// A position in the merged list: a mount, and optionally the cursor inside it.
///
/// It names the mount, so that paging continues even after that mount is removed.
#[derive(Clone, Default)]
struct MergeCursor {
    mount: String,
    inner: Option<Cursor>,
}

impl<T> Merge<T> {
    fn begin(paging: &PageRequest) -> Result<Self> {
        let place =
            paging.cursor.as_ref().map_or(Ok(MergeCursor::default()), MergeCursor::decode)?;
        // All pages of a list must state the same scope, so a merged list is always private.
        let freshness = Freshness { ttl: Duration::MAX, scope: CacheScope::Private };
        let page = Page { freshness, ..Page::empty() };
        let (limit, filter) = (paging.limit, paging.filter.clone());
        Ok(Self { page, limit, filter, position: Some(place) })
    }

    /// The next mount and the page to request from it; `None` once the page is full or no mount
    /// is left.
    fn next_request<'a>(
        &mut self,
        mut mounts: impl Iterator<Item = &'a Mount>,
    ) -> Option<(&'a Mount, PageRequest)> {
        let place = self.position.take()?;
        let mount = mounts.find(|mount| mount.name >= place.mount);
        let is_there = mount.is_some_and(|mount| mount.name == place.mount);
        if place.inner.is_some() && !is_there {
            let reason = "it was removed while the list was read".to_owned();
            self.page.absent.push(Absence { name: place.mount.clone(), reason });
        }
        let mount = mount?;
        let left = self.limit - self.page.items.len();
        let from = place.inner.filter(|_| mount.name == place.mount);
        if left == 0 {
            self.page.next = Some(MergeCursor { mount: mount.name.clone(), inner: from }.encode());
            return None;
        }
        Some((mount, PageRequest::new(from, left).with_filter(self.filter.clone())))
    }

    /// Adds the page of `mount`. A failed mount becomes an absence, unless the mount is required
    /// or the request is invalid.
    fn add_page(&mut self, mount: &Mount, answer: Result<Page<T>>) -> Result<()> {
        match answer {
            Ok(page) => {
                mount.end_absence();
                self.page.items.append(page.items);
                self.page.absent.extend(page.absent);
                self.page.extra.absorb(&page.extra);
                self.page.freshness = self.page.freshness.combine(page.freshness);
                if let Some(inside) = page.next {
                    let place = MergeCursor { mount: mount.name.clone(), inner: Some(inside) };
                    self.page.next = Some(place.encode());
                    return Ok(());
                }
            }
            Err(error) if mount.required || error.kind == ErrorKind::Invalid => {
                return Err(mount.with_mount_name(error));
            }
            Err(error) => self.page.absent.push(absence(mount, &error)),
        }
        // Sorts right after this mount's name.
        self.position = Some(MergeCursor { mount: format!("{}\u{1}", mount.name), inner: None });
        Ok(())
    }

    fn finish(mut self) -> Page<T> {
        let nobody_answered = self.page.freshness.ttl == Duration::MAX;
        if nobody_answered || !self.page.absent.is_empty() {
            self.page.freshness.ttl = Duration::ZERO;
        }
        self.page
    }
}

fn absence(mount: &Mount, error: &Error) -> Absence {
    mount.log_absence(error);
    let why = match error.kind {
        ErrorKind::NotFound | ErrorKind::Denied => "it cannot be read".to_owned(),
        _ => error.message.to_string(),
    };
    Absence { name: mount.name.clone(), reason: why }
}

/// An empty page that does not shorten the TTL of the other mounts' lists.
pub(crate) fn neutral_page<T>() -> Page<T> {
    let freshness = Freshness { ttl: Duration::MAX, scope: CacheScope::Public };
    Page { freshness, ..Page::empty() }
}

impl MergeCursor {
    fn encode(&self) -> Cursor {
        let inner = self.inner.as_ref().map(|inner| &inner.0);
        Cursor(Packer::default().bytes(Some(&self.mount)).bytes(inner).finish().into())
    }

    fn decode(cursor: &Cursor) -> Result<Self> {
        let mut parts = Unpacker::new(&cursor.0);
        let mount = parts.text().flatten().ok_or_else(Error::bad_cursor)?.to_owned();
        let inner = parts.bytes().ok_or_else(Error::bad_cursor)?;
        parts.end().ok_or_else(Error::bad_cursor)?;
        Ok(Self { mount, inner: inner.map(|inner| Cursor(Bytes::copy_from_slice(inner))) })
    }
}
