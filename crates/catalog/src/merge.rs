//! Merged pagination: one page from the pages of many mounts, in a fixed order.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use resource::{Absence, Ask, Cursor, Error, ErrorKind, Freshness, Page, Result, Scope};

use crate::ahead::Ahead;
use crate::mount::Mount;

/// Builds the page that `ask` requests from the pages that `question` gets from each mount.
pub(crate) async fn join<'a, T, F: Future<Output = Result<Page<T>>>>(
    mounts: &'a [Arc<Mount>],
    ask: &Ask,
    question: impl Fn(&'a Mount, Ask) -> F,
) -> Result<Page<T>> {
    let mut merge = Merge::begin(ask)?;
    let begins = merge.place.clone().unwrap_or_default();
    let rest = listed(mounts).filter(|mount| mount.name >= begins.mount);
    let mut ahead = Ahead::new(rest.map(|mount| {
        let from = begins.inside.clone().filter(|_| mount.name == begins.mount);
        question(mount, Ask { from, limit: ask.limit })
    }));
    // A mount whose list continues usually fills a page by itself: no prefetch from the others.
    let mut goes_on = begins.inside.is_some();
    while let Some((mount, ask)) = merge.next(mounts) {
        let answered =
            if std::mem::take(&mut goes_on) { ahead.alone().await } else { ahead.next().await };
        let answer = match answered {
            Some(Ok(page)) if page.items.len() > ask.limit => question(mount, ask).await,
            Some(answer) => answer,
            None => question(mount, ask).await,
        };
        merge.add(mount, answer)?;
    }
    Ok(merge.finish())
}

/// The mounts that lists include, in list order.
fn listed(mounts: &[Arc<Mount>]) -> impl Iterator<Item = &Mount> {
    mounts.iter().map(|mount| &**mount).filter(|mount| mount.listed)
}

/// A page under construction, filled from one mount after another.
struct Merge<T> {
    page: Page<T>,
    limit: usize,
    place: Option<Place>,
}

/// A position in the merged list: a mount, and optionally the cursor inside it.
///
/// It names the mount, so that paging continues even after that mount is removed.
#[derive(Clone, Default)]
struct Place {
    mount: String,
    inside: Option<Cursor>,
}

impl<T> Merge<T> {
    fn begin(ask: &Ask) -> Result<Self> {
        let place = ask.from.as_ref().map_or(Ok(Place::default()), Place::read)?;
        // All pages of a list must state the same scope, so a merged list is always private.
        let freshness = Freshness { ttl: Duration::MAX, scope: Scope::Private };
        let page = Page { freshness, ..Page::empty() };
        Ok(Self { page, limit: ask.limit, place: Some(place) })
    }

    /// The next mount and the page to request from it; `None` once the page is full or no mount
    /// is left.
    fn next<'a>(&mut self, mounts: &'a [Arc<Mount>]) -> Option<(&'a Mount, Ask)> {
        let place = self.place.take()?;
        let mount = listed(mounts).find(|mount| mount.name >= place.mount)?;
        let left = self.limit - self.page.items.len();
        let from = place.inside.filter(|_| mount.name == place.mount);
        if left == 0 {
            self.page.next = Some(Place { mount: mount.name.clone(), inside: from }.write());
            return None;
        }
        Some((mount, Ask { from, limit: left }))
    }

    /// Adds the page of `mount`. A failed mount becomes an absence, unless the mount is required
    /// or the request is invalid.
    fn add(&mut self, mount: &Mount, answer: Result<Page<T>>) -> Result<()> {
        match answer {
            Ok(page) => {
                self.page.items.extend(page.items);
                self.page.absent.extend(page.absent);
                self.page.freshness = self.page.freshness.and(page.freshness);
                if let Some(inside) = page.next {
                    let place = Place { mount: mount.name.clone(), inside: Some(inside) };
                    self.page.next = Some(place.write());
                    return Ok(());
                }
            }
            Err(error) if mount.required || error.kind == ErrorKind::Invalid => {
                return Err(mount.named(error));
            }
            Err(error) => self.page.absent.push(absence(mount, &error)),
        }
        // Sorts right after this mount's name.
        self.place = Some(Place { mount: format!("{}\u{1}", mount.name), inside: None });
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
    tracing::warn!(mount = mount.name, %error, cause = ?error, "a mount cannot be listed");
    let why = match error.kind {
        ErrorKind::NotFound | ErrorKind::Denied => "it cannot be read".to_owned(),
        _ => error.message.to_string(),
    };
    Absence { what: mount.name.clone(), why }
}

impl Place {
    fn write(&self) -> Cursor {
        let mut bytes = self.mount.clone().into_bytes();
        if let Some(inside) = &self.inside {
            bytes.push(0);
            bytes.extend_from_slice(&inside.0);
        }
        Cursor(bytes.into())
    }

    fn read(cursor: &Cursor) -> Result<Self> {
        let bytes = &cursor.0;
        let end = bytes.iter().position(|byte| *byte == 0);
        let name = &bytes[..end.unwrap_or(bytes.len())];
        let mount = std::str::from_utf8(name).map_err(|_| Error::bad_cursor())?.to_owned();
        let inside = end.map(|end| Cursor(Bytes::copy_from_slice(&bytes[end + 1..])));
        Ok(Self { mount, inside })
    }
}
