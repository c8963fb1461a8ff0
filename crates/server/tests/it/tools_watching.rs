//! Tests of the watch tools, for hosts that cannot subscribe: in a session, and with a handle.

use std::collections::BTreeSet;
use std::sync::Arc;

use resource::{Change, Uri};
use serde_json::{Value, json};
use server::{Collections, Limits, Server, Watchers};
use testkit::Memory;
use testkit::memory::{Fault, Spot};

use crate::desk::{self, Pipe, Site, initialize, memory, request, stateless, until};

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
/// Longer than any wait in these tests.
const LONG: u64 = 30_000;
const UNKNOWN: &str = "no such handle; call resources_watch again";

fn live() -> (Arc<Memory>, Arc<Server>) {
    let memory = Arc::new(memory());
    (Arc::clone(&memory), desk::server(memory, Limits::default(), Collections::Always))
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// A client that calls tools over one of the four transports and lifecycles.
enum Desk {
    /// A session over stdio.
    Session(Pipe),
    /// Stateless, over stdio.
    Alone(Pipe),
    /// A session over HTTP.
    Web(Arc<Site>, String),
    /// Stateless, over HTTP.
    WebAlone(Arc<Site>),
}

impl Desk {
    async fn session(server: &Arc<Server>) -> Self {
        let mut pipe = Pipe::open(Arc::clone(server));
        pipe.ask(&initialize("2025-06-18")).await;
        Self::Session(pipe)
    }

    /// One of each.
    async fn all(server: &Arc<Server>) -> [Self; 4] {
        let site = Arc::new(Site::open(Arc::clone(server)).await);
        let session = site.session("2025-11-25").await;
        [
            Self::session(server).await,
            Self::Alone(Pipe::open(Arc::clone(server))),
            Self::Web(Arc::clone(&site), session),
            Self::WebAlone(site),
        ]
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = call(tool, arguments);
        let answer = match self {
            Self::Session(pipe) => pipe.ask(&request(1, "tools/call", params)).await,
            Self::Alone(pipe) => pipe.ask(&stateless(1, "tools/call", params)).await,
            Self::Web(site, session) => {
                site.within(session, &request(1, "tools/call", params)).await.json()
            }
            Self::WebAlone(site) => {
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
    async fn told(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert!(result["isError"].is_null(), "{result}");
        result["structuredContent"].clone()
    }

    /// The error text of a call that fails.
    async fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        words(&result)
    }

    async fn watch(&mut self, uris: &[&str]) -> String {
        let told = self.told("resources_watch", json!({ "uris": uris })).await;
        told["handle"].as_str().unwrap().to_owned()
    }

    /// Waits for changes and returns them.
    async fn changed(&mut self, handle: &str) -> Value {
        let arguments = json!({ "handle": handle, "wait_ms": LONG });
        self.told("resources_changes", arguments).await["changed"].clone()
    }

    fn stands_alone(&self) -> bool {
        matches!(self, Self::Alone(_) | Self::WebAlone(_))
    }
}

fn words(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap().iter();
    blocks.map(|block| block["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn what_is_watched_is_told_once_in_every_way_to_ask() {
    let (memory, server) = live();
    for mut desk in Desk::all(&server).await {
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
        desk.told("resources_unwatch", json!({ "handle": handle })).await;
    }
    until(|| memory.watchers() == 0).await;
}

#[tokio::test]
async fn a_session_needs_no_handle_and_whoever_stands_alone_does() {
    let (memory, server) = live();
    for mut desk in Desk::all(&server).await {
        let early = desk.refused("resources_changes", json!({})).await;
        desk.watch(&[TEXT]).await;
        memory.write(TEXT, "another");
        if desk.stands_alone() {
            assert_eq!(early, "pass the handle that resources_watch returned");
            for tool in ["resources_changes", "resources_unwatch"] {
                assert_eq!(desk.refused(tool, json!({})).await, early);
            }
        } else {
            assert!(early.starts_with("nothing is watched yet"), "{early}");
            let told = desk.told("resources_changes", json!({ "wait_ms": LONG })).await;
            assert_eq!(told["changed"], json!([TEXT]));
        }
    }
}

#[tokio::test]
async fn a_handle_is_of_use_to_its_owner_only() {
    let (memory, server) = live();
    let mut desks = Desk::all(&server).await.into_iter().collect::<Vec<_>>();
    desks.push(Desk::session(&server).await);
    let mut handles = Vec::new();
    for desk in &mut desks {
        handles.push(desk.watch(&[TEXT]).await);
    }
    assert_eq!(handles.iter().collect::<BTreeSet<_>>().len(), handles.len());
    handles.push("0".repeat(32));
    handles.push(handles[0][..8].to_owned());
    for (owner, foreign) in handles.iter().enumerate() {
        for (at, desk) in desks.iter_mut().enumerate() {
            let both_alone = owner < 5 && desk.stands_alone() && [1, 3].contains(&owner);
            if at == owner || both_alone {
                continue;
            }
            for tool in ["resources_changes", "resources_unwatch"] {
                let handle = json!({ "handle": foreign });
                assert_eq!(desk.refused(tool, handle).await, UNKNOWN);
            }
            let more = json!({ "handle": foreign, "uris": [BINARY] });
            assert_eq!(desk.refused("resources_watch", more).await, UNKNOWN);
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
    let mut desk = Desk::session(&server).await;
    let handle = desk.watch(&[TEXT, BINARY]).await;
    memory.write(TEXT, "another");
    let peek = json!({ "peek": true, "wait_ms": LONG });
    for _ in 0..2 {
        let told = desk.told("resources_changes", peek.clone()).await;
        assert_eq!(told["changed"], json!([TEXT]));
    }
    assert_eq!(desk.changed(&handle).await, json!([TEXT]));
    let told = desk.told("resources_changes", json!({})).await;
    assert_eq!(told["changed"], json!([]));
}

#[tokio::test]
async fn whoever_stops_waiting_loses_nothing() {
    let (memory, server) = live();
    let mut pipe = Pipe::open(server);
    let params = call("resources_watch", json!({ "uris": [TEXT] }));
    let told = pipe.ask(&stateless(1, "tools/call", params)).await;
    let handle = &told["result"]["structuredContent"]["handle"];
    let changes = call("resources_changes", json!({ "handle": handle, "wait_ms": LONG }));
    pipe.say(&stateless(2, "tools/call", changes.clone())).await;
    let cancel = json!({ "requestId": 2 });
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel });
    pipe.say(&notice).await;
    // Messages are handled in order: this answer shows that the cancellation was handled.
    let answer = pipe.ask(&stateless(3, "server/discover", json!({}))).await;
    assert_eq!(answer["id"], 3);
    memory.write(TEXT, "another");
    let answer = pipe.ask(&stateless(4, "tools/call", changes)).await;
    assert_eq!(answer["result"]["structuredContent"]["changed"], json!([TEXT]));
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_when_it_is_over() {
    let (_memory, server) = live();
    let mut desk = Desk::session(&server).await;
    desk.watch(&[TEXT]).await;
    let told = desk.call("resources_changes", json!({ "wait_ms": 20_000 })).await;
    assert_eq!(words(&told), "nothing has changed");
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_changes_are_told_as_what_changed() {
    let uris: Vec<String> = (0..1000).map(|at| format!("test://many/{at}")).collect();
    let memory = uris.iter().fold(Memory::new(), |memory, uri| memory.text(uri, "text")).live();
    let memory = Arc::new(memory);
    let server = desk::server(Arc::clone(&memory), Limits::default(), Collections::Always);
    let mut desk = Desk::Alone(Pipe::open(server));
    let handle = desk.watch(&[&uris[0]]).await;
    for some in uris.chunks(100) {
        let more = json!({ "handle": handle, "uris": some });
        desk.told("resources_watch", more).await;
    }
    for _ in 0..10 {
        for uri in &uris {
            memory.tell(&Change::Updated(Uri::parse(uri).unwrap()));
        }
        tokio::task::yield_now().await;
    }
    let changed = desk.changed(&handle).await;
    let changed: Vec<&str> =
        changed.as_array().unwrap().iter().map(|uri| uri.as_str().unwrap()).collect();
    assert_eq!(changed.len(), 1000, "each once");
    assert_eq!(changed.into_iter().collect::<BTreeSet<_>>().len(), 1000, "and all of them");
    let rest = desk.told("resources_changes", json!({ "handle": handle })).await;
    assert_eq!(rest, json!({ "changed": [], "watching": 1000 }));
}

#[tokio::test]
async fn what_cannot_be_watched_is_named() {
    let (memory, server) = live();
    let mut desk = Desk::Alone(Pipe::open(Arc::clone(&server)));
    let some = json!({ "uris": [TEXT, "test://none"] });
    let told = desk.told("resources_watch", some).await;
    let failed = json!([{ "uri": "test://none", "message": "Resource not found" }]);
    assert_eq!((&told["watching"], &told["failed"]), (&json!([TEXT]), &failed));
    let none = desk.refused("resources_watch", json!({ "uris": ["test://none"] })).await;
    assert_eq!(none, "test://none: Resource not found");
    memory.fault(Spot::Watch, Fault::Fails(resource::ErrorKind::Unavailable));
    let failing = desk.refused("resources_watch", json!({ "uris": [BINARY] })).await;
    assert_eq!(failing, format!("{BINARY}: injected failure"));
    assert_eq!(memory.watchers(), 1);
}

#[tokio::test]
async fn one_watches_no_more_than_a_session_may_subscribe_to() {
    let limits = Limits { subscriptions: 1, ..Limits::default() };
    let server = desk::server(Arc::new(memory()), limits, Collections::Always);
    let mut desk = Desk::session(&server).await;
    let told = desk.told("resources_watch", json!({ "uris": [TEXT] })).await;
    assert!(told["failed"].is_null());
    let full = desk.refused("resources_watch", json!({ "uris": [BINARY] })).await;
    assert_eq!(full, format!("{BINARY}: a watcher can watch at most 1 resources"));
    desk.told("resources_unwatch", json!({ "uris": [TEXT] })).await;
    desk.watch(&[BINARY]).await;
}

#[tokio::test]
async fn what_is_watched_no_more_is_not_told() {
    let (memory, server) = live();
    for mut desk in Desk::all(&server).await {
        let handle = desk.watch(&[TEXT, BINARY]).await;
        memory.write(TEXT, "another");
        let peek = json!({ "handle": handle, "peek": true, "wait_ms": LONG });
        assert_eq!(desk.told("resources_changes", peek).await["changed"], json!([TEXT]));
        let one = json!({ "handle": handle, "uris": [TEXT] });
        for _ in 0..2 {
            let told = desk.told("resources_unwatch", one.clone()).await;
            assert_eq!(told, json!({ "watching": [BINARY] }));
        }
        let told = desk.told("resources_changes", json!({ "handle": handle })).await;
        assert_eq!(told, json!({ "changed": [], "watching": 1 }));
        let all = json!({ "handle": handle });
        assert_eq!(desk.told("resources_unwatch", all).await, json!({ "watching": [] }));
        until(|| memory.watchers() == 0).await;
    }
}

#[tokio::test]
async fn what_a_session_watches_ends_with_it() {
    let (memory, server) = live();
    let mut desk = Desk::session(&server).await;
    desk.watch(&[TEXT]).await;
    let site = Arc::new(Site::open(server).await);
    let session = site.session("2025-06-18").await;
    Desk::Web(Arc::clone(&site), session.clone()).watch(&[BINARY]).await;
    assert_eq!(memory.watchers(), 2);
    let ended = site.send("DELETE", &[("mcp-session-id", &session)], "").await;
    assert!(ended.status < 300, "{ended:?}");
    until(|| memory.watchers() == 1).await;
    let Desk::Session(pipe) = desk else { panic!("it is one") };
    pipe.close().await;
    until(|| memory.watchers() == 0).await;
}

#[tokio::test]
async fn who_watches_what_is_told_and_no_handle_is() {
    let watchers = Watchers::new();
    let provider = Arc::clone(&watchers);
    let server = Server::new(provider, Limits::default(), [7; 32], Collections::Always);
    let server = Arc::new(server.with_watchers(watchers));
    let own = "refdesk://subscriptions";
    let mut alone = Desk::Alone(Pipe::open(Arc::clone(&server)));
    let first = alone.watch(&[own]).await;
    assert_eq!(alone.changed(&first).await, json!([own]), "it is told of there");
    let mut session = Desk::session(&server).await;
    let second = session.watch(&[own]).await;
    session.refused("resources_watch", json!({ "uris": ["refdesk://other"] })).await;
    assert_eq!(alone.changed(&first).await, json!([own]));
    let read = alone.told("resources_read", json!({ "uri": own })).await;
    let text = read["parts"][0]["text"].as_str().unwrap();
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
    assert_eq!(told, json!({ "watchers": expected }));
}
