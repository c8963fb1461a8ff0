//! Contract: filters, formats and searches hold for whatever a provider lists.

use std::collections::BTreeSet;
use std::sync::Arc;

use resource::{
    Content, ErrorKind, Filter, PageRequest, PathFilter, Provider, ReadRequest, Resource, Role,
    SearchRequest, Uri,
};

use super::ctx;
use super::walk::{NO_LIMIT, expect, leaves, pages, walk};

/// A filtered list shows what the filter shows of the whole list, in the same order.
pub async fn filters_hold(provider: &dyn Provider) {
    let seen = walk(provider).await;
    let lists = seen.iter().filter(|seen| seen.is_collection()).take(20);
    let lists = lists.map(|seen| Some(seen.resource.uri.clone()));
    for list in std::iter::once(None).chain(lists) {
        let whole = pages(provider, list.as_ref(), 1000).await;
        for filter in filters_for(&whole) {
            let shown = whole.iter().filter(|item| filter.shows(item));
            let shown: Vec<&Uri> = shown.map(|item| &item.uri).collect();
            for limit in [1, 3, 1000] {
                let given = filtered(provider, list.as_ref(), &filter, limit).await;
                let given: Vec<&Uri> = given.iter().map(|item| &item.uri).collect();
                assert_eq!(given, shown, "{list:?} by {limit} under {filter:?}");
            }
        }
    }
}

/// Filters that some of `items` meet and others do not.
fn filters_for(items: &[Arc<Resource>]) -> Vec<Filter> {
    let none = Filter::default;
    let mut filters = vec![none(), Filter { name: Some("no such name".to_owned()), ..none() }];
    let roles = [Role::User, Role::Assistant].map(Some);
    filters.extend(roles.map(|audience| Filter { audience, ..none() }));
    for item in items.iter().take(3) {
        let uri =
            String::from_utf8_lossy(&resource::uri::percent_decode(item.uri.as_str())).into_owned();
        let exact = uri.clone();
        let path = PathFilter::new(&uri, move |text| text == exact);
        filters.push(Filter { path: Some(path.clone()), ..none() });
        filters.push(Filter { path: Some(path), keep_collections: true, ..none() });
        filters.push(Filter { name: Some(item.name.to_lowercase()), ..none() });
        filters.push(Filter { mime: item.mime.clone(), ..none() });
        filters.push(Filter { min_priority: item.annotations.priority, ..none() });
        filters.push(Filter { modified_since: item.annotations.modified, ..none() });
    }
    filters
}

async fn filtered(
    provider: &dyn Provider,
    parent: Option<&Uri>,
    filter: &Filter,
    limit: usize,
) -> Vec<Arc<Resource>> {
    let filter = Some(Arc::new(filter.clone()));
    let mut paging = PageRequest::first(limit).with_filter(filter);
    let mut all = Vec::new();
    for _ in 0..100_000 {
        let page = expect(provider.list(&ctx(), parent, &paging).await, "listing with a filter");
        assert!(page.items.len() <= limit, "a filtered page of {limit} is larger");
        all.extend(page.items);
        match page.next {
            None => return all,
            next => paging.cursor = next,
        }
    }
    panic!("a filtered list of {parent:?} does not end");
}

/// A read that wants one format or one part gets exactly that, or is refused as invalid.
pub async fn formats_are_obeyed(provider: &dyn Provider) {
    for leaf in leaves(provider).await {
        let whole = ReadRequest::whole(NO_LIMIT);
        let reading = expect(provider.read(&ctx(), &leaf.uri, &whole).await, "reading");
        let Content::Parts(parts) = reading.content else { continue };
        assert_eq!(reading.total_parts, parts.len(), "a whole reading of {} is all", leaf.uri);
        for (at, part) in parts.iter().enumerate() {
            let one = ReadRequest { part: Some(at), ..whole.clone() };
            let one = expect(provider.read(&ctx(), &leaf.uri, &one).await, "reading one part");
            assert_eq!(one.total_parts, parts.len(), "the parts of {}", leaf.uri);
            assert_eq!(mimes(&one.content), std::slice::from_ref(&part.resource.mime), "part {at}");
            let Some(mime) = &part.resource.mime else { continue };
            let wanted = ReadRequest { format: Some(mime.clone()), ..whole.clone() };
            let given = expect(provider.read(&ctx(), &leaf.uri, &wanted).await, "one format");
            assert_eq!(mimes(&given.content), [Some(mime.clone())], "{mime} of {}", leaf.uri);
        }
        for wrong in [
            ReadRequest { format: Some("x-none/x-none".to_owned()), ..whole.clone() },
            ReadRequest { part: Some(parts.len()), ..whole.clone() },
        ] {
            let kind = provider.read(&ctx(), &leaf.uri, &wrong).await.err().map(|e| e.kind);
            assert_eq!(kind, Some(ErrorKind::Invalid), "{wrong:?} of {}", leaf.uri);
        }
    }
}

fn mimes(content: &Content) -> Vec<Option<String>> {
    match content {
        Content::Parts(parts) => parts.iter().map(|part| part.resource.mime.clone()).collect(),
        Content::Collection(_) | Content::InputRequired(_) => Vec::new(),
    }
}

/// Every hit of a search has a description, once, and pages of hits join.
pub async fn search_finds_what_can_be_read(provider: &dyn Provider) {
    let Some(search) = provider.facets().search else { return };
    let request =
        |cursor, limit| SearchRequest { query: "a".to_owned(), filter: None, cursor, limit };
    let mut hits = Vec::new();
    let mut cursor = None;
    loop {
        let page = expect(search.search(&ctx(), &request(cursor, 1)).await, "searching");
        hits.extend(page.items.iter().map(|hit| hit.uri.clone()));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let once: BTreeSet<&Uri> = hits.iter().collect();
    assert_eq!(once.len(), hits.len(), "a hit is returned twice");
    let whole = expect(search.search(&ctx(), &request(None, 1000)).await, "searching at once");
    let whole: Vec<Uri> = whole.items.iter().map(|hit| hit.uri.clone()).collect();
    assert_eq!(whole, hits, "pages of hits join to another list");
    for uri in &hits {
        expect(provider.stat(&ctx(), uri).await, &format!("describing the hit {uri}"));
    }
    let empty = SearchRequest { query: " ".to_owned(), ..request(None, 1) };
    let kind = search.search(&ctx(), &empty).await.err().map(|error| error.kind);
    assert_eq!(kind, Some(ErrorKind::Invalid), "a query without words");
}
