//! Pages under access rules: filled with what a principal may see, so that neither their length nor
//! their cursor nor what is missing in them tells of the rest.

use std::time::Duration;

use resource::{Absence, CacheScope, Freshness, Page, PageRequest, Result};
use tokio::time::Instant;

/// The most items that one call asks the source for, where much is denied.
const MAX_ITEMS_PER_CALL: usize = 1000;

/// How long one page is filled. A page that is not full by then goes out as it is.
const FILL_TIME: Duration = Duration::from_secs(5);

/// Fills a page with what `shows` keeps, and with the absences that `tells` keeps. Looks one item
/// ahead, so that a page with a cursor is never the last one with something to show.
pub(super) async fn fill_page<T, F: Future<Output = Result<Page<T>>> + Send>(
    paging: &PageRequest,
    fetch: impl Fn(PageRequest) -> F + Send + Sync,
    shows: impl Fn(&T) -> bool + Send + Sync,
    tells: impl Fn(&Absence) -> bool + Send + Sync,
) -> Result<Page<T>> {
    let limit = paging.limit.max(1);
    let mut filled = Page { next: paging.cursor.clone(), ..Page::empty() };
    // What one principal may see is not for the caches of others.
    filled.freshness = Freshness { ttl: Duration::MAX, scope: CacheScope::Private };
    let deadline = Instant::now() + FILL_TIME;
    let mut denied = 0;
    loop {
        let left = limit - filled.items.len();
        // As many more as were denied last time.
        let asked = left.max(1).max((2 * denied).min(MAX_ITEMS_PER_CALL));
        let from = PageRequest { cursor: filled.next.clone(), ..paging.clone() };
        let mut page = fetch_up_to((left, asked), &from, &fetch, &shows).await?;
        filled.freshness = filled.freshness.combine(page.freshness);
        filled.extra.absorb(&page.extra);
        let found = page.items.len();
        page.items.retain(|item| shows(item));
        denied = found - page.items.len();
        if left > 0 {
            filled.items.append(page.items);
            filled.absent.extend(page.absent.into_iter().filter(|gap| tells(gap)));
        } else if !page.items.is_empty() {
            break;
        }
        filled.next = page.next;
        if filled.next.is_none() || Instant::now() >= deadline {
            break;
        }
    }
    Ok(filled)
}

/// Fetches at most `asked` items, of which at most `left` are shown; any number if `left` is 0. The
/// cursor of a page leads behind its last item, so that no page can be cut afterwards.
async fn fetch_up_to<T, F: Future<Output = Result<Page<T>>> + Send>(
    (left, mut asked): (usize, usize),
    from: &PageRequest,
    fetch: impl Fn(PageRequest) -> F + Send + Sync,
    shows: impl Fn(&T) -> bool + Send + Sync,
) -> Result<Page<T>> {
    loop {
        let page = fetch(PageRequest { limit: asked, ..from.clone() }).await?;
        if left == 0 || asked <= left {
            return Ok(page);
        }
        let shown = page.items.iter().enumerate().filter(|(_, item)| shows(item));
        let mut shown = shown.map(|(at, _)| at).skip(left - 1);
        match (shown.next(), shown.next()) {
            (Some(last), Some(_)) => asked = (last + 1).min(asked - 1).max(left),
            _ => return Ok(page),
        }
    }
}
