//! Tests of access rules: folders on the way, full pages, and changes of lists that one sees.

use std::collections::BTreeMap;
use std::sync::Arc;

use catalog::{AccessRule, Catalog};
use futures_util::{FutureExt, StreamExt};
use resource::{
    Change, CompletionRequest, ComponentKind, Content, Context, Interest, PageRequest, Principal,
    Provider, ReadRequest, SearchRequest,
};
use testkit::MemoryProvider;

use crate::access::{bob, mount, uri};

fn rule(allows: bool, globs: &[&str]) -> AccessRule {
    let globs = globs.iter().copied().map(str::to_owned).collect();
    AccessRule { allows, globs, principals: vec!["bob".to_owned()], ..AccessRule::default() }
}

fn catalog(provider: &Arc<MemoryProvider>, rules: Vec<AccessRule>) -> Catalog {
    Catalog::new(vec![mount("p", Arc::clone(provider), rules)])
}

#[tokio::test]
async fn the_root_and_the_folders_on_the_way_can_be_listed_described_and_read() {
    let memory = MemoryProvider::new()
        .collection("file:///", &["file:///docs", "file:///secret"])
        .collection("file:///docs", &["file:///docs/a.md"])
        .text("file:///docs/a.md", "a")
        .text("file:///secret", "s");
    let memory = Arc::new(memory);
    for glob in ["docs/**", "file:///p/docs/**"] {
        let catalog = catalog(&memory, vec![rule(true, &[glob])]);
        for (folder, member) in
            [("file:///p/", "file:///p/docs"), ("file:///p/docs", "file:///p/docs/a.md")]
        {
            let described = catalog.stat(&bob(), &uri(folder)).await.unwrap();
            assert_eq!(described.listable, Some(true), "{glob} {folder}");
            let listed = catalog.list(&bob(), Some(&uri(folder)), &PageRequest::first(9)).await;
            let listed: Vec<_> =
                listed.unwrap().items.iter().map(|item| item.uri.to_string()).collect();
            assert_eq!(listed, [member], "{glob}");
            let read = catalog.read(&bob(), &uri(folder), &ReadRequest::whole(9)).await.unwrap();
            assert!(matches!(read.content, Content::Collection(_)), "{glob} {folder}");
        }
        for denied in ["file:///p/secret", "file:///p/none"] {
            assert!(catalog.read(&bob(), &uri(denied), &ReadRequest::whole(9)).await.is_err());
        }
        let local = testkit::local_context();
        assert!(catalog.stat(&local, &uri("file:///p/")).await.is_err(), "others see no root");
    }
}

#[tokio::test]
async fn a_page_is_full_however_much_of_the_list_is_denied() {
    let mut memory = MemoryProvider::new();
    for number in 0..3000 {
        memory = memory.text(&format!("file:///denied{number:04}"), "");
    }
    for number in 0..15 {
        memory = memory.text(&format!("file:///open{number:02}"), "");
    }
    let memory = Arc::new(memory);
    let catalog = catalog(&memory, vec![rule(true, &["open*"])]);
    let first = catalog.list(&bob(), None, &PageRequest::first(10)).await.unwrap();
    assert_eq!((first.items.len(), first.next.is_some()), (10, true));
    let calls = memory.counts().lists();
    assert!(calls < 20, "{calls} calls");
    let rest = PageRequest::new(first.next, 10);
    let second = catalog.list(&bob(), None, &rest).await.unwrap();
    assert_eq!((second.items.len(), second.next), (5, None));
    let uris: Vec<_> = first.items.iter().chain(&second.items).map(|item| &item.uri).collect();
    let expected: Vec<_> = (0..15).map(|at| uri(&format!("file:///p/open{at:02}"))).collect();
    assert_eq!(uris, expected.iter().collect::<Vec<_>>());
}

/// A large request of the layer must not skip what it shows.
#[tokio::test]
async fn pages_of_any_size_join_between_runs_of_what_is_denied() {
    let mut memory = MemoryProvider::new();
    let mut expected = Vec::new();
    for number in 0..400_usize {
        let is_open = number % 50 > 40 || number.is_multiple_of(31);
        let name = format!("{}{number:03}", if is_open { "open" } else { "denied" });
        memory = memory.text(&format!("file:///{number:03}/{name}"), "");
        expected.extend(is_open.then(|| format!("file:///p/{number:03}/{name}")));
    }
    let catalog = catalog(&Arc::new(memory), vec![rule(true, &["open*"])]);
    for limit in [1, 2, 3, 7, 10, 64] {
        let (mut request, mut seen) = (PageRequest::first(limit), Vec::new());
        loop {
            let page = catalog.list(&bob(), None, &request).await.unwrap();
            assert!(page.next.is_none() || page.items.len() == limit, "a page of {limit} is full");
            seen.extend(page.items.iter().map(|item| item.uri.to_string()));
            match page.next {
                None => break,
                next => request.cursor = next,
            }
        }
        assert_eq!(seen, expected, "pages of {limit}");
    }
}

/// The changes that have arrived.
fn arrived(stream: &mut (impl futures_util::Stream<Item = Change> + Unpin)) -> Vec<Change> {
    std::iter::from_fn(|| stream.next().now_or_never().flatten()).collect()
}

#[tokio::test]
async fn a_list_is_reported_as_changed_if_one_sees_another_one() {
    let memory = MemoryProvider::new()
        .with_watches()
        .collection("file:///docs", &["file:///docs/a.md", "file:///docs/b.md"])
        .text("file:///docs/a.md", "a")
        .tool("open_tool", "{}", "{}");
    let memory = Arc::new(memory);
    let rules = vec![rule(false, &["secret*"]), rule(true, &["**"])];
    let catalog = catalog(&memory, rules);
    let watch = catalog.facets().watch.unwrap();
    let tools = Interest::Components(ComponentKind::Tool);
    let docs = uri("file:///p/docs");
    let mut lists = watch.watch(&bob(), Interest::Listing).await.unwrap();
    let mut components = watch.watch(&bob(), tools.clone()).await.unwrap();
    let mut folder = watch.watch(&bob(), Interest::Resource(docs.clone())).await.unwrap();
    let mut all = watch.watch(&bob(), Interest::Everything).await.unwrap();
    memory.write("file:///secret.txt", "new");
    memory.add_component(ComponentKind::Tool, "secret_tool", "{}", "{}");
    memory.notify(&Change::Updated(uri("file:///docs")));
    assert_eq!(arrived(&mut lists), []);
    assert_eq!(arrived(&mut components), []);
    assert_eq!(arrived(&mut folder), []);
    assert_eq!(arrived(&mut all), []);
    memory.write("file:///new.md", "new");
    memory.add_component(ComponentKind::Tool, "open_too", "{}", "{}");
    memory.write("file:///docs/b.md", "new");
    memory.notify(&Change::Updated(uri("file:///docs")));
    assert_eq!(arrived(&mut lists), [Change::Listing]);
    assert_eq!(arrived(&mut components), [Change::Components(ComponentKind::Tool)]);
    let member = Change::Updated(uri("file:///p/docs/b.md"));
    assert_eq!(arrived(&mut folder), [member.clone(), Change::Updated(docs)]);
    let all = arrived(&mut all);
    assert!(all.contains(&Change::Listing) && all.contains(&member), "{all:?}");
}

#[tokio::test]
async fn a_mount_that_comes_or_goes_is_no_news_to_those_for_whom_it_does_not_exist() {
    let memory = Arc::new(MemoryProvider::new().with_watches().text("file:///a", "a"));
    let own = Arc::new(mount("p", Arc::clone(&memory), vec![rule(true, &["**"])]));
    let stranger = || {
        let rule = AccessRule { principals: vec!["ada".to_owned()], ..rule(true, &["**"]) };
        Arc::new(mount("vault", Arc::clone(&memory), vec![rule]))
    };
    let catalog = Catalog::new(Vec::new());
    catalog.replace(vec![Arc::clone(&own)]);
    let watch = catalog.facets().watch.unwrap();
    let mut bobs = watch.watch(&bob(), Interest::Listing).await.unwrap();
    let ada = Context::new(Principal::authenticated("ada"));
    let mut adas = watch.watch(&ada, Interest::Listing).await.unwrap();
    catalog.replace(vec![Arc::clone(&own), stranger()]);
    assert_eq!(arrived(&mut bobs), []);
    assert_eq!(arrived(&mut adas), [Change::Listing]);
    catalog.replace(vec![stranger()]);
    assert_eq!(arrived(&mut bobs), [Change::Listing]);
}

/// How long an answer takes must not tell what exists, so the source is asked equally.
#[tokio::test]
async fn a_source_is_asked_as_often_for_what_is_denied_as_for_what_is_absent() {
    let memory = MemoryProvider::new()
        .with_watches()
        .with_search()
        .collection("file:///docs", &["file:///docs/secret"])
        .text("file:///docs/secret", "word")
        .text("file:///open", "word")
        .template("file:///secret/{id}", "{id}", &[("id", &["a"])]);
    let memory = Arc::new(memory);
    let catalog = catalog(&memory, vec![rule(false, &["secret*"]), rule(true, &["**"])]);
    let asked = async |target: &str| {
        let before = memory.counts().lists() + memory.counts().stats() + memory.counts().reads();
        let (one, facets) = (uri(target), catalog.facets());
        assert!(catalog.stat(&bob(), &one).await.is_err());
        assert!(catalog.read(&bob(), &one, &ReadRequest::whole(9)).await.is_err());
        assert!(catalog.list(&bob(), Some(&one), &PageRequest::first(9)).await.is_err());
        let interest = Interest::Resource(one);
        assert!(facets.watch.unwrap().watch(&bob(), interest).await.is_err());
        let (template, resolved) = (format!("{target}/{{id}}"), BTreeMap::new());
        let request = CompletionRequest {
            template: &template,
            variable: "id",
            typed: "",
            resolved: &resolved,
        };
        assert!(facets.complete.unwrap().complete(&bob(), &request).await.is_err());
        let query =
            SearchRequest { query: "word".to_owned(), filter: None, cursor: None, limit: 9 };
        let hits = facets.search.unwrap().search(&bob(), &query).await.unwrap();
        assert_eq!(hits.items.len(), 1);
        memory.counts().lists() + memory.counts().stats() + memory.counts().reads() - before
    };
    let [denied, absent] =
        [asked("file:///p/docs/secret").await, asked("file:///p/docs/secret2").await];
    assert_eq!(denied, absent);
    assert_eq!(asked("file:///p/secret").await, asked("file:///p/secret-none").await);
    assert_eq!(asked("file:///vault/secret").await, 0, "a mount that is not there");
}
