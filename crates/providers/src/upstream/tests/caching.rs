//! Tests of caching: TTLs, windows and single flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use resource::{
    Change, Content, Context, ErrorKind, MemberPlace, Principal, Provider, ReadRequest, Uri, Window,
};
use serde_json::json;

use super::scripted_server::{ScriptedReply, ScriptedServer};
use super::{Options, Upstream, parts, stat, text};

const READ: &str = "resources/read";

/// A server whose content differs at each read.
fn counting(ttl: i64) -> Arc<ScriptedServer> {
    let turn = AtomicUsize::new(0);
    let extension = json!({ "dev.refdesk/resource-metadata": { "metadata": true } });
    let capabilities = json!({ "resources": { "subscribe": true }, "extensions": extension });
    ScriptedServer::new(capabilities, move |method, params| match method {
        READ => {
            let text = format!("reading {}", turn.fetch_add(1, Ordering::SeqCst));
            let contents = json!([{ "uri": params["uri"], "text": text }]);
            ScriptedReply::Result(
                json!({ "contents": contents, "ttlMs": ttl, "cacheScope": "private" }),
            )
        }
        "resources/metadata" => ScriptedReply::Result(
            json!({ "resource": { "uri": params["uri"], "name": "n" }, "ttlMs": ttl }),
        ),
        _ => ScriptedReply::Error(-32601, "no"),
    })
}

#[tokio::test(start_paused = true)]
async fn a_reading_is_good_for_as_long_as_the_server_says() {
    let stage = counting(5_000);
    let upstream = stage.upstream();
    assert_eq!(text(&upstream, "a://x").await, "reading 0");
    tokio::time::advance(Duration::from_secs(4)).await;
    assert_eq!(text(&upstream, "a://x").await, "reading 0");
    assert_eq!(text(&upstream, "a://y").await, "reading 1");
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(text(&upstream, "a://x").await, "reading 2");
}

#[tokio::test(start_paused = true)]
async fn a_cached_description_says_when_the_server_gave_it() {
    let upstream = counting(5_000).upstream();
    let first = stat(&upstream, "a://x").await.unwrap();
    let time = first.extra.get(MemberPlace::Meta, "dev.refdesk/fetched").unwrap();
    humantime::parse_rfc3339(time.trim_matches('"')).expect("a time");
    let cached = stat(&upstream, "a://x").await.unwrap();
    assert!(Arc::ptr_eq(&first, &cached), "the time of the first answer is kept");
}

/// K-03.
#[tokio::test(start_paused = true)]
async fn a_private_reading_reaches_no_other_principal() {
    let stage = counting(5_000);
    let upstream = stage.upstream();
    let uri = Uri::parse("a://x").unwrap();
    let [alice, bob] = ["alice", "bob"].map(|key| Context::new(Principal::authenticated(key)));
    for (ctx, expected) in [(&alice, "reading 0"), (&bob, "reading 1"), (&alice, "reading 0")] {
        let whole = ReadRequest::whole(100);
        let Content::Parts(mut parts) = upstream.read(ctx, &uri, &whole).await.unwrap().content
        else {
            panic!("it has content")
        };
        assert_eq!(testkit::contract::bytes_of(parts.remove(0).body).await, expected);
    }
    upstream.inner.apply_change(&Change::Updated(uri.clone()));
    let whole = ReadRequest::whole(100);
    upstream.read(&bob, &uri, &whole).await.unwrap();
    upstream.read(&alice, &uri, &whole).await.unwrap();
    assert_eq!(stage.requests(READ).len(), 4, "a change invalidates the reading of each");
}

/// K-02, K-07.
#[tokio::test(start_paused = true)]
async fn a_reading_without_a_lifetime_is_stale_at_once() {
    for ttl in [0, -7] {
        let stage = counting(ttl);
        let upstream = stage.upstream();
        assert_eq!(text(&upstream, "a://x").await, "reading 0");
        assert_eq!(text(&upstream, "a://x").await, "reading 1");
    }
}

#[tokio::test(start_paused = true)]
async fn windows_go_on_with_the_reading_they_began_with_and_a_pin_holds() {
    let stage = counting(0);
    let upstream = stage.upstream();
    let window = |offset, etag| Window::Part { offset, length: 4, etag };
    let first = parts(&upstream, "a://x", &window(0, None)).await.unwrap().remove(0);
    let etag = first.resource.etag.clone();
    parts(&upstream, "a://x", &window(4, None)).await.unwrap();
    parts(&upstream, "a://x", &window(0, etag.clone())).await.unwrap();
    assert_eq!(stage.requests(READ).len(), 1);
    tokio::time::advance(Duration::from_secs(60)).await;
    let error = parts(&upstream, "a://x", &window(4, etag)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Changed);
    assert!(error.facts.iter().any(|(name, _)| *name == "etag"));
}

#[tokio::test(start_paused = true)]
async fn a_whole_reading_is_kept_only_if_the_server_says_so() {
    let window = Window::Part { offset: 4, length: 4, etag: None };
    for (ttl, asked) in [(0, 2), (5_000, 1)] {
        let stage = counting(ttl);
        let upstream = stage.upstream();
        text(&upstream, "a://x").await;
        parts(&upstream, "a://x", &window).await.unwrap();
        assert_eq!(stage.requests(READ).len(), asked, "{ttl}");
    }
}

/// Both share one request, and one of them continues with the next window.
#[tokio::test(start_paused = true)]
async fn a_window_goes_on_with_a_reading_that_was_begun_for_somebody_else() {
    let stage = counting(0);
    let upstream = stage.upstream();
    let window = |offset| Window::Part { offset, length: 4, etag: None };
    let (first, next) = (window(0), window(4));
    let (whole, part) = tokio::join!(text(&upstream, "a://x"), parts(&upstream, "a://x", &first));
    assert_eq!((whole.as_str(), part.unwrap().len()), ("reading 0", 1));
    parts(&upstream, "a://x", &next).await.unwrap();
    assert_eq!(stage.requests(READ).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn equal_questions_at_one_time_are_asked_once() {
    let stage = counting(0);
    let upstream = stage.upstream();
    let all = tokio::join!(
        text(&upstream, "a://x"),
        text(&upstream, "a://x"),
        stat(&upstream, "a://x"),
        stat(&upstream, "a://x")
    );
    assert_eq!((all.0.as_str(), all.1.as_str()), ("reading 0", "reading 0"));
    assert_eq!(all.2.unwrap(), all.3.unwrap());
    assert_eq!((stage.requests(READ).len(), stage.requests("resources/metadata").len()), (1, 1));
}

/// A server that has only a list, with the TTL `ttl` if there is one.
fn listing(ttl: Option<u64>) -> Arc<ScriptedServer> {
    ScriptedServer::new(json!({ "resources": {} }), move |method, _| match method {
        "resources/list" => {
            let mut list = json!({ "resources": [{ "uri": "a://x", "name": "x" }] });
            if let Some(ttl) = ttl {
                list["ttlMs"] = json!(ttl);
            }
            ScriptedReply::Result(list)
        }
        _ => ScriptedReply::Error(-32601, "no"),
    })
}

#[tokio::test(start_paused = true)]
async fn a_list_without_a_lifetime_is_kept_for_as_long_as_the_settings_say() {
    for (ttl, kept) in [(None, 30), (Some(0), 30), (Some(5_000), 5)] {
        let stage = listing(ttl);
        let upstream =
            Upstream::new(Options { listing_ttl: Duration::from_secs(30), ..stage.options() });
        stat(&upstream, "a://x").await.unwrap();
        tokio::time::advance(Duration::from_secs(kept - 1)).await;
        stat(&upstream, "a://x").await.unwrap();
        assert_eq!(stage.requests("resources/list").len(), 1, "{ttl:?}");
        tokio::time::advance(Duration::from_secs(1)).await;
        stat(&upstream, "a://x").await.unwrap();
        assert_eq!(stage.requests("resources/list").len(), 2, "{ttl:?}");
    }
}
