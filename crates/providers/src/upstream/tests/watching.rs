//! Tests of change notifications, subscriptions and polling.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_core::Stream;
use futures_util::{FutureExt, StreamExt};
use resource::{Change, ComponentKind, ErrorKind, Interest, MemberPlace, Provider};
use serde_json::{Value, json};
use testkit::MemoryProvider;

use super::refdesk_server::RefdeskServer;
use super::scripted_server::{ScriptedReply, ScriptedServer};
use super::{Upstream, page, stat, text, uri, within_timeout};

type Changes = Pin<Box<dyn Stream<Item = Change> + Send>>;

pub(super) async fn watch(
    upstream: &Upstream,
    interest: Interest,
) -> Result<Changes, resource::Error> {
    use resource::Watch;
    Watch::watch(upstream, &testkit::local_context(), interest).await
}

fn about(at: &str) -> Interest {
    Interest::Resource(uri(at))
}

fn updated(at: &str) -> Option<Change> {
    Some(Change::Updated(uri(at)))
}

#[tokio::test(start_paused = true)]
async fn whoever_reads_on_hearing_of_a_change_gets_the_new_content() {
    for is_old in [false, true] {
        let memory =
            MemoryProvider::new().text("mem:///a", "old").text("mem:///b", "b").with_watches();
        let desk = RefdeskServer::new(memory, is_old);
        let upstream = desk.upstream();
        assert_eq!(text(&upstream, "mem:///a").await, "old");
        let mut changes = watch(&upstream, about("mem:///a")).await.unwrap();
        let all = watch(&upstream, Interest::Everything).await.map(drop);
        assert_eq!(all.unwrap_err().kind, ErrorKind::Unsupported, "it hears of single ones only");
        desk.memory().write("mem:///b", "unheard");
        desk.memory().write("mem:///a", "new");
        assert_eq!(within_timeout(changes.next()).await, updated("mem:///a"));
        assert_eq!(text(&upstream, "mem:///a").await, "new");
        drop(changes);
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_changed_is_told_and_asked_for_again() {
    for is_old in [false, true] {
        let desk =
            RefdeskServer::new(MemoryProvider::new().text("mem:///a", "a").with_watches(), is_old);
        let upstream = desk.upstream();
        upstream.connect().await.unwrap();
        let mut changes = watch(&upstream, Interest::Listing).await.unwrap();
        assert_eq!(page(&upstream, None, 10).await.unwrap().items.len(), 1);
        while desk.memory().watch_count() == 0 {
            tokio::task::yield_now().await;
        }
        desk.memory().write("mem:///b", "b");
        assert_eq!(within_timeout(changes.next()).await, Some(Change::Listing));
        assert_eq!(page(&upstream, None, 10).await.unwrap().items.len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_each_watched_resource_is_told_once() {
    for is_old in [false, true] {
        let memory =
            MemoryProvider::new().text("mem:///a", "old").text("mem:///b", "b").with_watches();
        let desk = RefdeskServer::new(memory, is_old);
        let upstream = desk.upstream();
        let mut one = watch(&upstream, about("mem:///a")).await.unwrap();
        let mut other = watch(&upstream, about("mem:///b")).await.unwrap();
        desk.kill();
        desk.memory().write("mem:///a", "new");
        assert_eq!(within_timeout(one.next()).await, updated("mem:///a"));
        assert_eq!(within_timeout(other.next()).await, updated("mem:///b"));
        assert_eq!(text(&upstream, "mem:///a").await, "new");
        assert_eq!(one.next().now_or_never(), None);
        desk.memory().write("mem:///a", "newer");
        assert_eq!(within_timeout(one.next()).await, updated("mem:///a"));
        assert_eq!(text(&upstream, "mem:///a").await, "newer");
    }
}

fn telling() -> Arc<ScriptedServer> {
    let capabilities = json!({ "resources": { "subscribe": true, "listChanged": true } });
    ScriptedServer::old(capabilities, |method, params| match (method, params["uri"].as_str()) {
        ("resources/list", _) => {
            ScriptedReply::Result(json!({ "resources": [{ "uri": "a://x", "name": "x" }] }))
        }
        ("resources/subscribe", Some("a://mute" | "a://none")) => {
            ScriptedReply::Error(-32602, "no")
        }
        ("resources/subscribe" | "resources/unsubscribe", _) => ScriptedReply::Result(json!({})),
        ("resources/read", Some("a://none")) => ScriptedReply::Error(-32002, "not found"),
        ("resources/read", Some(at)) => {
            ScriptedReply::Result(json!({ "contents": [{ "uri": at, "text": "t" }] }))
        }
        _ => ScriptedReply::Error(-32601, "no"),
    })
}

#[tokio::test(start_paused = true)]
async fn the_server_is_asked_by_the_first_and_let_go_by_the_last() {
    let stage = telling();
    let upstream = stage.upstream();
    let one = watch(&upstream, about("a://x")).await.unwrap();
    let two = watch(&upstream, about("a://x")).await.unwrap();
    assert_eq!(stage.requests("resources/subscribe").len(), 1);
    drop(one);
    let three = watch(&upstream, about("a://y")).await.unwrap();
    assert_eq!(stage.requests("resources/unsubscribe").len(), 0);
    drop((two, three));
    stage.wait_for_requests("resources/unsubscribe", 2).await;
    // A new listener subscribes again.
    let again = watch(&upstream, about("a://x")).await.unwrap();
    assert_eq!(stage.requests("resources/subscribe").len(), 3);
    drop(again);
    stage.wait_for_requests("resources/unsubscribe", 3).await;
    while upstream.inner.subscriptions.len() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(upstream.inner.subscribers.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_lies_in_a_resource_is_heard_of_with_it() {
    let stage = telling();
    let upstream = stage.upstream();
    let mut changes = watch(&upstream, about("a://x")).await.unwrap();
    stage.notify("notifications/resources/updated", &json!({ "uri": "a://other" }));
    stage.notify("notifications/resources/updated", &json!({ "uri": "a://x/part" }));
    assert_eq!(within_timeout(changes.next()).await, updated("a://x/part"));
    assert_eq!(changes.next().now_or_never(), None);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_heard_of_is_refused_and_what_is_missing_is_missing() {
    let upstream = telling().upstream();
    let kind = |refused: Result<Changes, resource::Error>| refused.err().map(|error| error.kind);
    let mute = watch(&upstream, about("a://mute")).await;
    assert_eq!(kind(mute), Some(ErrorKind::Unsupported));
    assert_eq!(kind(watch(&upstream, about("a://none")).await), Some(ErrorKind::NotFound));
    while upstream.inner.subscriptions.len() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_with_its_source() {
    let upstream = telling().upstream();
    let mut changes = watch(&upstream, about("a://x")).await.unwrap();
    drop(upstream);
    assert_eq!(within_timeout(changes.next()).await, None);
}

/// K-09.
#[tokio::test(start_paused = true)]
async fn where_the_server_does_not_tell_one_looks() {
    let turn = Arc::new(AtomicUsize::new(0));
    let content = Arc::clone(&turn);
    let stage =
        ScriptedServer::old(json!({ "resources": {} }), move |method, params| match method {
            "resources/list" => {
                ScriptedReply::Result(json!({ "resources": [{ "uri": "a://x", "name": "x" }] }))
            }
            "resources/read" => match content.load(Ordering::SeqCst) {
                9 => ScriptedReply::Error(-32002, "not found"),
                at => {
                    let contents: Value = json!([{ "uri": params["uri"], "text": at.to_string() }]);
                    ScriptedReply::Result(json!({ "contents": contents }))
                }
            },
            _ => ScriptedReply::Error(-32601, "no"),
        });
    let every = Duration::from_secs(10);
    let upstream = Upstream::new(super::Options { poll_interval: Some(every), ..stage.options() });
    let told = stat(&upstream, "a://x").await.unwrap();
    assert_eq!(told.watchable, Some(true));
    assert_eq!(told.extra.get(MemberPlace::Meta, "dev.refdesk/polled"), Some("true"));
    let mut changes = watch(&upstream, about("a://x")).await.unwrap();
    let quiet = tokio::time::timeout(every * 5, changes.next()).await;
    assert!(quiet.is_err());
    turn.store(1, Ordering::SeqCst);
    assert_eq!(within_timeout(changes.next()).await, updated("a://x"));
    assert_eq!(text(&upstream, "a://x").await, "1");
    turn.store(9, Ordering::SeqCst);
    assert_eq!(within_timeout(changes.next()).await, Some(Change::Removed(uri("a://x"))));
    drop(changes);
    while upstream.inner.subscriptions.len() > 0 {
        tokio::task::yield_now().await;
    }
    let looks = stage.requests("resources/read").len();
    tokio::time::sleep(every * 10).await;
    assert_eq!(stage.requests("resources/read").len(), looks);
    assert_eq!(
        upstream.facets().health.unwrap().health(&testkit::local_context()).state,
        resource::HealthState::Degraded
    );
}

#[tokio::test(start_paused = true)]
async fn a_list_is_listened_to_before_the_server_is_there_and_after_it_went() {
    for is_old in [false, true] {
        let desk =
            RefdeskServer::new(MemoryProvider::new().text("mem:///a", "a").with_watches(), is_old);
        let upstream = desk.upstream();
        let mut changes = watch(&upstream, Interest::Listing).await.unwrap();
        for name in ["mem:///b", "mem:///c"] {
            while desk.memory().watch_count() == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            desk.memory().write(name, "new");
            assert_eq!(within_timeout(changes.next()).await, Some(Change::Listing));
            desk.kill();
            // Without any request, the missed change is reported.
            assert_eq!(within_timeout(changes.next()).await, Some(Change::Listing));
        }
        assert_eq!(page(&upstream, None, 10).await.unwrap().items.len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_resources_tells_that_its_tools_and_prompts_changed() {
    let capabilities =
        || json!({ "tools": { "listChanged": true }, "prompts": { "listChanged": true } });
    for make in [ScriptedServer::new, ScriptedServer::old] {
        let listening = |method: &str, _: &Value| match method {
            "subscriptions/listen" => ScriptedReply::Nothing,
            _ => ScriptedReply::Error(-32601, "no"),
        };
        let stage = make(capabilities(), listening);
        let upstream = stage.upstream();
        upstream.connect().await.unwrap();
        assert!(upstream.facets().watch.is_some());
        for (kind, method) in [
            (ComponentKind::Tool, "notifications/tools/list_changed"),
            (ComponentKind::Prompt, "notifications/prompts/list_changed"),
        ] {
            let mut changes = watch(&upstream, Interest::Components(kind)).await.unwrap();
            stage.notify(method, &json!({}));
            assert_eq!(within_timeout(changes.next()).await, Some(Change::Components(kind)));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_watches_only_tools_hears_of_them_again_after_a_restart() {
    for is_old in [false, true] {
        let desk =
            RefdeskServer::new(MemoryProvider::new().text("mem:///a", "a").with_watches(), is_old);
        let upstream = desk.upstream();
        upstream.connect().await.unwrap();
        let tools = Interest::Components(ComponentKind::Tool);
        let mut changes = watch(&upstream, tools).await.unwrap();
        desk.kill();
        let change = within_timeout(changes.next()).await;
        assert_eq!(change, Some(Change::Components(ComponentKind::Tool)));
    }
}
