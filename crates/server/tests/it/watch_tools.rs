//! Tests of the watch tools, for hosts that cannot subscribe: in a session, and with a handle.

use std::collections::BTreeSet;
use std::sync::Arc;

use resource::{Change, Uri};
use serde_json::{Value, json};
use server::{CollectionsMode, Limits, Server, WatcherRegistry};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};

use crate::fixture::{
    self, HttpFixture, StdioClient, initialize, memory, request, stateless, until,
};

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
/// Longer than any wait in these tests.
const LONG: u64 = 30_000;
const UNKNOWN: &str = "no such handle; call resources_watch again";

fn live() -> (Arc<MemoryProvider>, Arc<Server>) {
    let memory = Arc::new(memory());
    (Arc::clone(&memory), fixture::server(memory, Limits::default(), CollectionsMode::Always))
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// A client that calls tools over one of the four transports and lifecycles.
enum ToolClient {
    /// A session over stdio.
    Session(StdioClient),
    /// Stateless, over stdio.
    Stateless(StdioClient),
    /// A session over HTTP.
    HttpSession(Arc<HttpFixture>, String),
    /// Stateless, over HTTP.
    HttpStateless(Arc<HttpFixture>),
}

impl ToolClient {
    async fn session(server: &Arc<Server>) -> Self {
        let mut pipe = StdioClient::open(Arc::clone(server));
        pipe.call(&initialize("2025-06-18")).await;
        Self::Session(pipe)
    }

    /// One of each.
    async fn all(server: &Arc<Server>) -> [Self; 4] {
        let site = Arc::new(HttpFixture::open(Arc::clone(server)).await);
        let session = site.open_session("2025-11-25").await;
        [
            Self::session(server).await,
            Self::Stateless(StdioClient::open(Arc::clone(server))),
            Self::HttpSession(Arc::clone(&site), session),
            Self::HttpStateless(site),
        ]
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = call(tool, arguments);
        let answer = match self {
            Self::Session(pipe) => pipe.call(&request(1, "tools/call", params)).await,
            Self::Stateless(pipe) => pipe.call(&stateless(1, "tools/call", params)).await,
            Self::HttpSession(site, session) => {
                site.post_in_session(session, &request(1, "tools/call", params)).await.json()
            }
            Self::HttpStateless(site) => {
                let message = stateless(1, "tools/call", params).to_string();
                let version = ("mcp-protocol-version", "2026-07-28");
                let headers = [version, ("mcp-method", "tools/call"), ("mcp-name", tool)];
                site.send("POST", &headers, &message).await.json()
            }
        };
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// The structured result of a call that succeeds.
    async fn structured(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert!(result["isError"].is_null(), "{result}");
        result["structuredContent"].clone()
    }

    /// The error text of a call that fails.
    async fn error_text(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        words(&result)
    }

    async fn watch(&mut self, uris: &[&str]) -> String {
        let told = self.structured("resources_watch", json!({ "uris": uris })).await;
        told["handle"].as_str().unwrap().to_owned()
    }

    /// Waits for changes and returns them.
    async fn changed(&mut self, handle: &str) -> Value {
        let arguments = json!({ "handle": handle, "wait_ms": LONG });
        self.structured("resources_changes", arguments).await["changed"].clone()
    }

    fn is_stateless(&self) -> bool {
        matches!(self, Self::Stateless(_) | Self::HttpStateless(_))
    }
}

fn words(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap().iter();
    blocks.map(|block| block["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn what_is_watched_is_told_once_in_every_way_to_ask() {
    let (memory, server) = live();
    for mut desk in ToolClient::all(&server).await {
        let handle = desk.watch(&[TEXT, "test://folder"]).await;
        assert_eq!(handle.len(), 32, "128 bits");
        memory.write(TEXT, "another");
        assert_eq!(desk.changed(&handle).await, json!([TEXT]));
        let again = desk.call("resources_changes", json!({ "handle": handle })).await;
        let nothing = json!({ "changed": [], "watching": 2 });
        assert_eq!(again["structuredContent"], nothing);
        assert_eq!(words(&again), "nothing has changed");
        memory.write("test://folder/a", "what lies in a collection");
        assert_eq!(desk.changed(&handle).await, json!(["test://folder/a"]));
        desk.structured("resources_unwatch", json!({ "handle": handle })).await;
    }
    until(|| memory.watch_count() == 0).await;
}

#[tokio::test]
async fn a_session_needs_no_handle_and_whoever_stands_alone_does() {
    let (memory, server) = live();
    for mut desk in ToolClient::all(&server).await {
        let early = desk.error_text("resources_changes", json!({})).await;
        desk.watch(&[TEXT]).await;
        memory.write(TEXT, "another");
        if desk.is_stateless() {
            assert_eq!(early, "pass the handle that resources_watch returned");
            for tool in ["resources_changes", "resources_unwatch"] {
                assert_eq!(desk.error_text(tool, json!({})).await, early);
            }
        } else {
            assert!(early.starts_with("nothing is watched yet"), "{early}");
            let told = desk.structured("resources_changes", json!({ "wait_ms": LONG })).await;
            assert_eq!(told["changed"], json!([TEXT]));
        }
    }
}

#[tokio::test]
async fn a_handle_is_of_use_to_its_owner_only() {
    let (memory, server) = live();
    let mut desks = ToolClient::all(&server).await.into_iter().collect::<Vec<_>>();
    desks.push(ToolClient::session(&server).await);
    let mut handles = Vec::new();
    for desk in &mut desks {
        handles.push(desk.watch(&[TEXT]).await);
    }
    assert_eq!(handles.iter().collect::<BTreeSet<_>>().len(), handles.len());
    handles.push("0".repeat(32));
    handles.push(handles[0][..8].to_owned());
    for (owner, foreign) in handles.iter().enumerate() {
        for (at, desk) in desks.iter_mut().enumerate() {
            let both_alone = owner < 5 && desk.is_stateless() && [1, 3].contains(&owner);
            if at == owner || both_alone {
                continue;
            }
            for tool in ["resources_changes", "resources_unwatch"] {
                let handle = json!({ "handle": foreign });
                assert_eq!(desk.error_text(tool, handle).await, UNKNOWN);
            }
            let more = json!({ "handle": foreign, "uris": [BINARY] });
            assert_eq!(desk.error_text("resources_watch", more).await, UNKNOWN);
        }
    }
    memory.write(TEXT, "another");
    for (desk, handle) in desks.iter_mut().zip(&handles) {
        assert_eq!(desk.changed(handle).await, json!([TEXT]), "each has changes of its own");
    }
}

#[tokio::test]
async fn what_is_only_looked_at_is_told_again() {
    let (memory, server) = live();
    let mut desk = ToolClient::session(&server).await;
    let handle = desk.watch(&[TEXT, BINARY]).await;
    memory.write(TEXT, "another");
    let peek = json!({ "peek": true, "wait_ms": LONG });
    for _ in 0..2 {
        let told = desk.structured("resources_changes", peek.clone()).await;
        assert_eq!(told["changed"], json!([TEXT]));
    }
    assert_eq!(desk.changed(&handle).await, json!([TEXT]));
    let told = desk.structured("resources_changes", json!({})).await;
    assert_eq!(told["changed"], json!([]));
}

#[tokio::test]
async fn whoever_stops_waiting_loses_nothing() {
    let (memory, server) = live();
    let mut pipe = StdioClient::open(server);
    let params = call("resources_watch", json!({ "uris": [TEXT] }));
    let told = pipe.call(&stateless(1, "tools/call", params)).await;
    let handle = &told["result"]["structuredContent"]["handle"];
    let changes = call("resources_changes", json!({ "handle": handle, "wait_ms": LONG }));
    pipe.send_message(&stateless(2, "tools/call", changes.clone())).await;
    let cancel = json!({ "requestId": 2 });
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel });
    pipe.send_message(&notice).await;
    // Messages are handled in order: this answer shows that the cancellation was handled.
    let answer = pipe.call(&stateless(3, "server/discover", json!({}))).await;
    assert_eq!(answer["id"], 3);
    memory.write(TEXT, "another");
    let answer = pipe.call(&stateless(4, "tools/call", changes)).await;
    assert_eq!(answer["result"]["structuredContent"]["changed"], json!([TEXT]));
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_when_it_is_over() {
    let (_memory, server) = live();
    let mut desk = ToolClient::session(&server).await;
    desk.watch(&[TEXT]).await;
    let told = desk.call("resources_changes", json!({ "wait_ms": 20_000 })).await;
    assert_eq!(words(&told), "nothing has changed");
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_changes_are_told_as_what_changed() {
    let uris: Vec<String> = (0..1000).map(|at| format!("test://many/{at}")).collect();
    let memory = uris
        .iter()
        .fold(MemoryProvider::new(), |memory, uri| memory.text(uri, "text"))
        .with_watches();
    let memory = Arc::new(memory);
    let server = fixture::server(Arc::clone(&memory), Limits::default(), CollectionsMode::Always);
    let mut desk = ToolClient::Stateless(StdioClient::open(server));
    let handle = desk.watch(&[&uris[0]]).await;
    for some in uris.chunks(100) {
        let more = json!({ "handle": handle, "uris": some });
        desk.structured("resources_watch", more).await;
    }
    for _ in 0..10 {
        for uri in &uris {
            memory.notify(&Change::Updated(Uri::parse(uri).unwrap()));
        }
        tokio::task::yield_now().await;
    }
    let changed = desk.changed(&handle).await;
    let changed: Vec<&str> =
        changed.as_array().unwrap().iter().map(|uri| uri.as_str().unwrap()).collect();
    assert_eq!(changed.len(), 1000, "each once");
    assert_eq!(changed.into_iter().collect::<BTreeSet<_>>().len(), 1000, "and all of them");
    let rest = desk.structured("resources_changes", json!({ "handle": handle })).await;
    assert_eq!(rest, json!({ "changed": [], "watching": 1000 }));
}

#[tokio::test]
async fn what_cannot_be_watched_is_named() {
    let (memory, server) = live();
    let mut desk = ToolClient::Stateless(StdioClient::open(Arc::clone(&server)));
    let some = json!({ "uris": [TEXT, "test://none"] });
    let told = desk.structured("resources_watch", some).await;
    let failed = json!([{ "uri": "test://none", "message": "Resource not found" }]);
    assert_eq!((&told["watching"], &told["failed"]), (&json!([TEXT]), &failed));
    let none = desk.error_text("resources_watch", json!({ "uris": ["test://none"] })).await;
    assert_eq!(none, "test://none: Resource not found");
    memory.inject_fault(FaultPoint::Watch, Fault::Fails(resource::ErrorKind::Unavailable));
    let failing = desk.error_text("resources_watch", json!({ "uris": [BINARY] })).await;
    assert_eq!(failing, format!("{BINARY}: injected failure"));
    assert_eq!(memory.watch_count(), 1);
}

#[tokio::test]
async fn one_watches_no_more_than_a_session_may_subscribe_to() {
    let limits = Limits { subscriptions: 1, ..Limits::default() };
    let server = fixture::server(Arc::new(memory()), limits, CollectionsMode::Always);
    let mut desk = ToolClient::session(&server).await;
    let told = desk.structured("resources_watch", json!({ "uris": [TEXT] })).await;
    assert!(told["failed"].is_null());
    let full = desk.error_text("resources_watch", json!({ "uris": [BINARY] })).await;
    assert_eq!(full, format!("{BINARY}: a watcher can watch at most 1 resources"));
    desk.structured("resources_unwatch", json!({ "uris": [TEXT] })).await;
    desk.watch(&[BINARY]).await;
}

#[tokio::test]
async fn what_is_watched_no_more_is_not_told() {
    let (memory, server) = live();
    for mut desk in ToolClient::all(&server).await {
        let handle = desk.watch(&[TEXT, BINARY]).await;
        memory.write(TEXT, "another");
        let peek = json!({ "handle": handle, "peek": true, "wait_ms": LONG });
        assert_eq!(desk.structured("resources_changes", peek).await["changed"], json!([TEXT]));
        let one = json!({ "handle": handle, "uris": [TEXT] });
        for _ in 0..2 {
            let told = desk.structured("resources_unwatch", one.clone()).await;
            assert_eq!(told, json!({ "watching": [BINARY] }));
        }
        let told = desk.structured("resources_changes", json!({ "handle": handle })).await;
        assert_eq!(told, json!({ "changed": [], "watching": 1 }));
        let all = json!({ "handle": handle });
        assert_eq!(desk.structured("resources_unwatch", all).await, json!({ "watching": [] }));
        until(|| memory.watch_count() == 0).await;
    }
}

#[tokio::test]
async fn what_a_session_watches_ends_with_it() {
    let (memory, server) = live();
    let mut desk = ToolClient::session(&server).await;
    desk.watch(&[TEXT]).await;
    let site = Arc::new(HttpFixture::open(server).await);
    let session = site.open_session("2025-06-18").await;
    ToolClient::HttpSession(Arc::clone(&site), session.clone()).watch(&[BINARY]).await;
    assert_eq!(memory.watch_count(), 2);
    let ended = site.send("DELETE", &[("mcp-session-id", &session)], "").await;
    assert!(ended.status < 300, "{ended:?}");
    until(|| memory.watch_count() == 1).await;
    let ToolClient::Session(pipe) = desk else { panic!("it is one") };
    pipe.close().await;
    until(|| memory.watch_count() == 0).await;
}

#[tokio::test]
async fn who_watches_what_is_told_and_no_handle_is() {
    let watchers = WatcherRegistry::new();
    let provider = Arc::clone(&watchers);
    let server = Server::new(provider, Limits::default(), [7; 32], CollectionsMode::Always);
    let server = Arc::new(server.with_watchers(watchers));
    let own = "refdesk://subscriptions";
    let mut alone = ToolClient::Stateless(StdioClient::open(Arc::clone(&server)));
    let first = alone.watch(&[own]).await;
    assert_eq!(alone.changed(&first).await, json!([own]), "it is told of there");
    let mut session = ToolClient::session(&server).await;
    let second = session.watch(&[own]).await;
    session.error_text("resources_watch", json!({ "uris": ["refdesk://other"] })).await;
    assert_eq!(alone.changed(&first).await, json!([own]));
    let read = alone.structured("resources_read", json!({ "uri": own })).await;
    let text = read["text"].as_str().unwrap();
    let told: Value = serde_json::from_str(text).unwrap();
    let watching = json!([{ "uri": own, "active": true }]);
    let last = "refdesk://other: Resource not found";
    let mut expected = vec![
        json!({ "handle": first[..8], "kind": "handle", "watching": watching,
            "last_error": null }),
        json!({ "handle": second[..8], "kind": "session", "watching": watching,
            "last_error": last }),
    ];
    expected.sort_by_key(|one| one["handle"].to_string());
    let both = json!({ "uri": own, "subscribers": 2, "last_change": null });
    assert_eq!(told, json!({ "watchers": expected, "subscriptions": [both] }));
}
