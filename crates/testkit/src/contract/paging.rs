//! Contract: pages of any size join to the same list, in a stable order.

use std::sync::Arc;

use resource::{PageRequest, Provider, Resource, Uri};

use super::ctx;
use super::walk::{expect, pages, walk};

/// Pages of any size join without gaps or repeats, and the same cursor gives the same page.
pub async fn pages_join(provider: &dyn Provider) {
    for list in lists(provider).await {
        let whole = names(&pages(provider, list.as_ref(), 1000).await);
        let mut once = whole.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), whole.len(), "{list:?} lists something twice");
        for limit in [1, 2, 3, 7, 1000] {
            let joined = names(&pages(provider, list.as_ref(), limit).await);
            assert_eq!(joined, whole, "pages of {limit} of {list:?} are another list");
            same_cursor_gives_the_same_page(provider, list.as_ref(), limit).await;
        }
    }
}

/// The order of a list is stable while nothing changes.
pub async fn order_holds(provider: &dyn Provider) {
    for list in lists(provider).await {
        let first = names(&pages(provider, list.as_ref(), 1000).await);
        let again = names(&pages(provider, list.as_ref(), 1000).await);
        assert_eq!(first, again, "the order of {list:?} changed");
    }
}

async fn same_cursor_gives_the_same_page(
    provider: &dyn Provider,
    list: Option<&Uri>,
    limit: usize,
) {
    let ctx = &ctx();
    let first = expect(provider.list(ctx, list, &PageRequest::first(limit)).await, "listing");
    let Some(cursor) = first.next else { return };
    let ask = PageRequest::new(Some(cursor), limit);
    let once = expect(provider.list(ctx, list, &ask).await, "listing on");
    let twice = expect(provider.list(ctx, list, &ask).await, "listing on once more");
    assert_eq!(names(&once.items), names(&twice.items), "one cursor of {list:?}, two pages");
    assert_eq!(once.next, twice.next, "one cursor of {list:?}, two continuations");
}

/// The top level (`None`), and the first collections.
async fn lists(provider: &dyn Provider) -> Vec<Option<Uri>> {
    let seen = walk(provider).await;
    let collections = seen.iter().filter(|seen| seen.is_collection()).take(50);
    let collections = collections.map(|seen| Some(seen.resource.uri.clone()));
    std::iter::once(None).chain(collections).collect()
}

fn names(resources: &[Arc<Resource>]) -> Vec<Uri> {
    resources.iter().map(|resource| resource.uri.clone()).collect()
}
