//! Tests of paging: complete lists, page cache, cycles and cursors.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use resource::{ErrorKind, Interest, Provider};
use serde_json::{Value, json};

use super::scripted_server::{ScriptedReply, ScriptedServer};
use super::{Upstream, page, within_timeout};

const LIST: &str = "resources/list";

fn entry(at: usize) -> Value {
    json!({ "uri": format!("a://x/{at}"), "name": at.to_string() })
}

/// A list of `count` entries in pages of seven, the second of which has an empty cursor.
fn pages_of_seven(params: &Value, count: usize, ttl: u64) -> ScriptedReply {
    let start = match params["cursor"].as_str() {
        None => 0,
        Some("") => 7,
        Some(cursor) => match cursor.parse() {
            Ok(start) => start,
            Err(_) => return ScriptedReply::Error(-32602, "no such cursor"),
        },
    };
    let end = (start + 7).min(count);
    let entries: Vec<Value> = (start..end).map(entry).collect();
    let mut result = json!({ "resources": entries, "ttlMs": ttl, "cacheScope": "public" });
    if end < count {
        result["nextCursor"] = if end == 7 { "".into() } else { end.to_string().into() };
    }
    ScriptedReply::Result(result)
}

fn sevens(count: usize, ttl: u64) -> Arc<ScriptedServer> {
    ScriptedServer::new(json!({ "resources": {} }), move |method, params| match method {
        LIST => pages_of_seven(params, count, ttl),
        _ => ScriptedReply::Error(-32601, "no"),
    })
}

async fn walked(upstream: &Upstream, limit: usize) -> Vec<String> {
    let (mut all, mut from) = (Vec::new(), None);
    loop {
        let page = within_timeout(page(upstream, from, limit)).await.unwrap();
        assert!(page.items.len() <= limit);
        all.extend(page.items.iter().map(|item| item.uri.as_str().to_owned()));
        from = page.next;
        if from.is_none() {
            return all;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn pages_of_any_size_join_to_the_servers_list_and_each_of_its_pages_is_asked_for_once() {
    let whole: Vec<String> = (0..45).map(|at| format!("a://x/{at}")).collect();
    for limit in [1, 3, 7, 100] {
        let stage = sevens(45, 0);
        let upstream = stage.upstream();
        assert_eq!(walked(&upstream, limit).await, whole, "{limit}");
        assert_eq!(stage.requests(LIST).len(), 7, "{limit}");
        assert_eq!(walked(&upstream, limit).await, whole, "{limit} again");
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_entry_is_the_same_object_while_it_does_not_change() {
    for ttl in [0, 60_000] {
        let stage = sevens(5, ttl);
        let upstream = stage.upstream();
        let first = page(&upstream, None, 10).await.unwrap();
        let again = page(&upstream, None, 10).await.unwrap();
        assert!(first.items.iter().zip(&again.items).all(|(one, other)| Arc::ptr_eq(one, other)));
        assert_eq!(stage.requests(LIST).len(), if ttl == 0 { 2 } else { 1 });
    }
}

/// K-02, K-10: a cached page reports its remaining TTL.
#[tokio::test(start_paused = true)]
async fn a_page_is_good_for_as_long_as_the_server_says() {
    let stage = sevens(5, 10_000);
    let upstream = stage.upstream();
    page(&upstream, None, 10).await.unwrap();
    tokio::time::advance(Duration::from_secs(4)).await;
    let kept = page(&upstream, None, 10).await.unwrap();
    assert_eq!(kept.freshness.ttl, Duration::from_secs(6));
    assert_eq!(kept.freshness.scope, resource::CacheScope::Public);
    tokio::time::advance(Duration::from_secs(6)).await;
    let fresh = page(&upstream, None, 10).await.unwrap();
    assert_eq!((fresh.freshness.ttl, stage.requests(LIST).len()), (Duration::from_secs(10), 2));
}

#[tokio::test(start_paused = true)]
async fn a_list_that_goes_in_circles_is_an_error_whatever_is_asked_for() {
    for limit in [1, 100] {
        let stage = ScriptedServer::new(json!({ "resources": {} }), |_, params| {
            let next = if params["cursor"] == "a" { "b" } else { "a" };
            ScriptedReply::Result(json!({ "resources": [entry(1)], "nextCursor": next }))
        });
        let upstream = stage.upstream();
        let (mut from, mut pages) = (None, 0);
        let error = loop {
            match page(&upstream, from, limit).await {
                Ok(page) => from = page.next,
                Err(error) => break error,
            }
            pages += 1;
            assert!(pages < 20);
        };
        assert_eq!(error.kind, ErrorKind::Unavailable);
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_of_empty_pages_without_end_ends() {
    let turn = AtomicUsize::new(0);
    let stage = ScriptedServer::new(json!({ "resources": {} }), move |_, _| {
        let next = turn.fetch_add(1, Ordering::SeqCst).to_string();
        ScriptedReply::Result(json!({ "resources": [], "nextCursor": next }))
    });
    let upstream = stage.upstream();
    let mut from = None;
    let error = loop {
        match page(&upstream, from, 100).await {
            Ok(page) => from = page.next,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(stage.requests(LIST).len() <= 1_000);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_knows_no_list_has_an_empty_one() {
    let stage = ScriptedServer::old(json!({ "tools": {} }), |_, _| {
        ScriptedReply::Error(-32601, "method not found")
    });
    let upstream = stage.upstream();
    assert!(walked(&upstream, 10).await.is_empty());
    let ctx = testkit::local_context();
    let ask = resource::PageRequest::first(10);
    assert!(upstream.templates(&ctx, &ask).await.unwrap().items.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_page_that_changed_under_a_walk_is_gone_on_with_or_refused() {
    let gone = Arc::new(AtomicUsize::new(usize::MAX));
    let leaving = Arc::clone(&gone);
    let stage =
        ScriptedServer::old(json!({ "resources": { "listChanged": true } }), move |_, _| {
            let gone = leaving.load(Ordering::SeqCst);
            let entries: Vec<Value> = (0..9).filter(|at| *at != gone).map(entry).collect();
            ScriptedReply::Result(json!({ "resources": entries }))
        });
    let upstream = stage.upstream();
    let first = page(&upstream, None, 3).await.unwrap();
    let change = |at: usize| {
        gone.store(at, Ordering::SeqCst);
        stage.notify("notifications/resources/list_changed", &json!({}));
    };
    let mut changes = super::watching::watch(&upstream, Interest::Listing).await.unwrap();
    change(1);
    within_timeout(changes.next()).await.unwrap();
    let next = page(&upstream, first.next.clone(), 2).await.unwrap();
    let uris: Vec<&str> = next.items.iter().map(|item| item.uri.as_str()).collect();
    assert_eq!(uris, ["a://x/3", "a://x/4"]);
    change(2);
    within_timeout(changes.next()).await.unwrap();
    let error = page(&upstream, first.next, 2).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid);
}

#[tokio::test(start_paused = true)]
async fn a_cursor_that_the_server_no_longer_knows_is_no_cursor() {
    let stage = sevens(30, 0);
    let upstream = stage.upstream();
    let first = page(&upstream, None, 14).await.unwrap();
    let mut forged = first.next.unwrap().0.to_vec();
    let at = forged.iter().position(|byte| *byte == b'1').unwrap();
    forged[at] = b'x';
    let error = page(&upstream, Some(resource::Cursor(forged.into())), 5).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid);
}

/// An endless list of entries that take 200 KB each, twenty on a page.
fn heavy_list() -> Arc<ScriptedServer> {
    let words = "x".repeat(200_000);
    ScriptedServer::new(json!({ "resources": {} }), move |method, params| match method {
        LIST => {
            let start: usize = params["cursor"].as_str().map_or(0, |at| at.parse().unwrap());
            let entry = |at| {
                let mut entry = entry(at);
                entry["description"] = words.as_str().into();
                entry
            };
            let entries: Vec<Value> = (start..start + 20).map(entry).collect();
            ScriptedReply::Result(
                json!({ "resources": entries, "nextCursor": (start + 20).to_string() }),
            )
        }
        _ => ScriptedReply::Error(-32601, "no"),
    })
}

#[tokio::test(start_paused = true)]
async fn a_page_and_a_walk_have_a_bound_on_their_weight() {
    let upstream = heavy_list().upstream();
    let (mut count, mut from) = (0, None);
    let absent = loop {
        let page = within_timeout(page(&upstream, from, 1_000)).await.unwrap();
        let bytes: usize =
            page.items.iter().filter_map(|item| item.description.as_ref()).map(String::len).sum();
        assert!((1..=8 << 20).contains(&bytes), "{bytes}");
        count += page.items.len();
        from = page.next;
        if from.is_none() {
            break page.absent;
        }
    };
    assert!((600..700).contains(&count), "{count}");
    assert_eq!(absent[0].name, "list");
    let known = resource::Uri::parse("a://x/7").unwrap();
    let found = within_timeout(upstream.stat(&testkit::local_context(), &known)).await.unwrap();
    assert_eq!(found.name, "7");
}
