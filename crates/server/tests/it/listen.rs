//! Tests of listening requests, which stream notifications (2026-07-28).

use std::sync::Arc;
use std::time::Duration;

use resource::ErrorKind;
use schema_2026_07_28::mcp_2026_07_28;
use serde_json::{Value, json};
use server::{CollectionsMode, Limits, Server};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};

use crate::fixture::{self, HttpFixture, StdioClient, memory, request, stateless, until};
use crate::sse_client::SseClient;

const TAG: &str = "io.modelcontextprotocol/subscriptionId";
const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";

fn live() -> (Arc<MemoryProvider>, Arc<Server>) {
    let memory = Arc::new(memory());
    let server = fixture::server(Arc::clone(&memory), Limits::default(), CollectionsMode::Always);
    (memory, server)
}

fn listen(id: impl Into<Value>, notifications: Value) -> Value {
    stateless(id, "subscriptions/listen", json!({ "notifications": notifications }))
}

fn to(uris: &[&str]) -> Value {
    json!({ "resourceSubscriptions": uris })
}

fn updated(id: impl Into<Value>, uri: &str) -> Value {
    let params = json!({ "_meta": { TAG: id.into() }, "uri": uri });
    json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params })
}

fn list_changed(id: impl Into<Value>) -> Value {
    let params = json!({ "_meta": { TAG: id.into() } });
    json!({ "jsonrpc": "2.0", "method": "notifications/resources/list_changed", "params": params })
}

fn cancel(id: impl Into<Value>) -> Value {
    let params = json!({ "requestId": id.into(), "reason": "done" });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

/// S-01, S-02, S-04, S-11 over HTTP, and the shape of each message by its schema.
#[tokio::test]
async fn a_listener_is_told_first_what_it_will_be_told() {
    let (memory, server) = live();
    let site = HttpFixture::open(server).await;
    for id in [json!(7), json!("7"), json!(0), json!(""), json!(-3)] {
        let asked = json!({
            "resourcesListChanged": true,
            "promptsListChanged": true,
            "resourceSubscriptions": [BINARY, "test://none", "not a uri", TEXT, BINARY],
        });
        let mut events = SseClient::alone(&site, &listen(id.clone(), asked)).await;
        assert_eq!(events.status, 200);
        let head = events.head.to_ascii_lowercase();
        assert!(head.contains("content-type: text/event-stream") && head.contains("no-cache"));
        assert!(head.contains("x-accel-buffering: no") && !head.contains("mcp-session-id"));
        let first = events.next().await;
        assert_eq!((&first.id, first.retry), (&None, None), "streams are not resumed");
        let granted =
            json!({ "resourcesListChanged": true, "resourceSubscriptions": [BINARY, TEXT] });
        let ack = json!({
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": { "_meta": { TAG: id }, "notifications": granted },
        });
        assert_eq!(first.json(), ack);
        type Ack = mcp_2026_07_28::SubscriptionsAcknowledgedNotification;
        serde_json::from_value::<Ack>(ack).expect("an acknowledgement by its schema");
        memory.write(TEXT, "new");
        let told = events.message().await;
        assert_eq!(told, updated(id.clone(), TEXT));
        serde_json::from_value::<mcp_2026_07_28::ResourceUpdatedNotification>(told).unwrap();
        memory.remove("test://folder/in/c");
        let told = events.message().await;
        assert_eq!(told, list_changed(id.clone()));
        serde_json::from_value::<mcp_2026_07_28::ResourceListChangedNotification>(told).unwrap();
        memory.write("test://folder/in/c", "back");
        assert_eq!(events.message().await, list_changed(id));
    }
}

/// S-03, S-05: each request gets what it asked for, under its own id, and nothing else.
#[tokio::test]
async fn several_listeners_each_hear_their_own() {
    let (memory, server) = live();
    let site = HttpFixture::open(server).await;
    let mut both = SseClient::alone(&site, &listen("both", to(&[TEXT, BINARY]))).await;
    let mut one = SseClient::alone(&site, &listen("one", to(&[TEXT]))).await;
    let mut lists =
        SseClient::alone(&site, &listen(3, json!({ "resourcesListChanged": true }))).await;
    for events in [&mut both, &mut one, &mut lists] {
        events.message().await;
    }
    memory.write(BINARY, "new");
    assert_eq!(both.message().await, updated("both", BINARY));
    memory.write(TEXT, "new");
    assert_eq!(both.message().await, updated("both", TEXT));
    assert_eq!(one.message().await, updated("one", TEXT), "and nothing before it");
    memory.add_template("test://more/{x}", "{x}");
    assert_eq!(lists.message().await, list_changed(3), "S-18: templates are lists too");
    memory.write(BINARY, "newer");
    assert_eq!(both.message().await, updated("both", BINARY), "no list was asked for");
}

/// S-06, S-10: closing the connection ends the request; a new one starts afresh.
#[tokio::test]
async fn a_listener_that_hangs_up_leaves_nothing_behind() {
    let (memory, server) = live();
    let site = HttpFixture::open(server).await;
    for _ in 0..3 {
        let mut events = SseClient::alone(&site, &listen(1, to(&[TEXT]))).await;
        assert_eq!(events.message().await["params"]["notifications"], to(&[TEXT]));
        assert_eq!(memory.watch_count(), 1);
        memory.write(TEXT, "heard");
        assert_eq!(events.message().await, updated(1, TEXT));
        drop(events);
        until(|| memory.watch_count() == 0).await;
        memory.write(TEXT, "heard by nobody, and not told later");
    }
}

/// S-08 over HTTP: a shutdown answers the listening request.
#[tokio::test]
async fn a_server_that_stops_answers_its_listeners() {
    let (_, server) = live();
    let mut site = HttpFixture::open(server).await;
    let mut events = SseClient::alone(&site, &listen("last", to(&[TEXT]))).await;
    events.message().await;
    site.stop();
    let end = events.message().await;
    assert_eq!(end["id"], "last");
    assert_eq!(end["result"]["resultType"], "complete");
    assert_eq!(end["result"]["_meta"][TAG], "last");
    type End = mcp_2026_07_28::SubscriptionsListenResult;
    serde_json::from_value::<End>(end["result"].clone()).expect("an end by its schema");
    assert_eq!(events.try_next().await, None);
    site.stopped().await;
}

/// S-13, S-14, and other errors in the request.
#[tokio::test]
async fn a_listener_must_say_what_it_wants() {
    let (_, server) = live();
    let site = HttpFixture::open(server).await;
    let missing = stateless(1, "subscriptions/listen", json!({}));
    assert_eq!(site.post_stateless(&missing).await.refusal(), (200, -32602));
    assert_eq!(site.post_stateless(&listen(1, json!([]))).await.refusal(), (200, -32602));
    let bad = listen(1, json!({ "resourceSubscriptions": TEXT }));
    assert_eq!(site.post_stateless(&bad).await.refusal(), (200, -32602));
    let mut events = SseClient::alone(&site, &listen(1, json!({ "new": 1, "tools": true }))).await;
    assert_eq!(events.message().await["params"]["notifications"], json!({}));
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "subscriptions/listen"),
        ("accept", "application/json"),
    ];
    let message = listen(1, to(&[TEXT])).to_string();
    assert_eq!(site.send("POST", &headers, &message).await.status, 406);
}

/// R-24-13, also for 2026-07-28: what is not advertised is not served.
#[tokio::test]
async fn where_nothing_changes_nobody_listens() {
    let still = Arc::new(MemoryProvider::new().text("test://still", ""));
    let server = fixture::server(still, Limits::default(), CollectionsMode::Always);
    let site = HttpFixture::open(Arc::clone(&server)).await;
    assert_eq!(
        site.post_stateless(&listen(1, to(&["test://still"]))).await.refusal(),
        (404, -32601)
    );
    let found = site.post_stateless(&stateless(1, "server/discover", json!({}))).await.json();
    assert_eq!(found["result"]["capabilities"]["resources"], json!({}));
    let id = site.open_session("2025-11-25").await;
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let message = request(1, method, json!({ "uri": "test://still" }));
        assert_eq!(site.post_in_session(&id, &message).await.refusal(), (200, -32601), "{method}");
    }
    let (_, server) = live();
    let site = HttpFixture::open(server).await;
    let found = site.post_stateless(&stateless(1, "server/discover", json!({}))).await.json();
    let told = &found["result"]["capabilities"]["resources"];
    assert_eq!(*told, json!({ "subscribe": true, "listChanged": true }));
}

/// S-12: a source that does not answer does not block the acknowledgement.
#[tokio::test(start_paused = true)]
async fn a_source_that_does_not_answer_holds_nothing_up() {
    let (memory, server) = live();
    memory.inject_fault(FaultPoint::Watch, Fault::Hangs);
    let mut pipe = StdioClient::open(server);
    let ack = pipe.call(&listen(1, to(&[TEXT]))).await;
    assert_eq!(ack["params"]["notifications"], json!({}));
    memory.inject_fault(FaultPoint::Watch, Fault::Fails(ErrorKind::Unavailable));
    let ack = pipe.call(&listen(2, to(&[TEXT]))).await;
    assert_eq!(ack["params"]["notifications"], json!({}));
    memory.clear_faults();
    let ack = pipe.call(&listen(3, to(&[TEXT]))).await;
    assert_eq!(ack["params"]["notifications"], to(&[TEXT]));
}

/// S-09, S-16: an idle stream sends keep-alives, and no progress.
#[tokio::test]
async fn a_silent_stream_shows_that_it_lives() {
    let (memory, server) = live();
    let site = HttpFixture::open(server).await;
    let mut message = listen(1, to(&[TEXT]));
    message["params"]["_meta"]["progressToken"] = json!("p");
    let mut events = SseClient::alone(&site, &message).await;
    events.message().await;
    tokio::time::pause();
    let start = tokio::time::Instant::now();
    events.wait_for_keep_alive().await;
    events.wait_for_keep_alive().await;
    assert!(start.elapsed() <= Duration::from_secs(60));
    tokio::time::resume();
    memory.write(TEXT, "new");
    assert_eq!(events.message().await, updated(1, TEXT));
}

/// S-01, S-02, S-05, S-07 over stdio, beside other requests.
#[tokio::test]
async fn listeners_share_a_pipe_and_are_cancelled_one_by_one() {
    let (memory, server) = live();
    let mut pipe = StdioClient::open(server);
    for id in [json!(7), json!("7")] {
        let ack = pipe.call(&listen(id.clone(), to(&[TEXT]))).await;
        assert_eq!(ack["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(ack["params"]["_meta"][TAG], id);
    }
    assert_eq!(pipe.call(&listen(7, to(&[]))).await["error"]["code"], -32600, "an id in use");
    memory.write(TEXT, "new");
    let told = [pipe.receive().await, pipe.receive().await];
    assert!(told.contains(&updated(7, TEXT)) && told.contains(&updated("7", TEXT)), "{told:?}");
    pipe.send_message(&cancel(7)).await;
    let list = pipe.call(&stateless(8, "resources/list", json!({}))).await;
    assert_eq!(list["id"], 8, "the cancelled listener is not answered");
    memory.write(TEXT, "newer");
    assert_eq!(pipe.receive().await, updated("7", TEXT));
    let ack = pipe.call(&listen(7, to(&[BINARY]))).await;
    assert_eq!(ack["params"]["notifications"], to(&[BINARY]), "its id is free again");
    let rest = pipe.close().await;
    let mut ended: Vec<_> =
        rest.iter().map(|end| (&end["id"], &end["result"]["_meta"][TAG])).collect();
    ended.sort_by_key(|(id, _)| id.to_string());
    let (text, number) = (json!("7"), json!(7));
    assert_eq!(ended, [(&text, &text), (&number, &number)], "S-08, D-03");
    assert_eq!(memory.watch_count(), 0);
}

/// Listening requests have a limit of their own, apart from other requests in flight.
#[tokio::test]
async fn a_pipe_has_so_many_listeners_and_no_more() {
    let memory = Arc::new(memory());
    let limits = Limits { listeners: 2, in_flight: 1, subscriptions: 1, ..Limits::default() };
    let mut pipe =
        StdioClient::open(fixture::server(Arc::clone(&memory), limits, CollectionsMode::Always));
    for id in [1, 2] {
        let ack = pipe.call(&listen(id, to(&[TEXT, BINARY]))).await;
        assert_eq!(ack["params"]["notifications"], to(&[TEXT]), "as many as may be");
    }
    assert_eq!(pipe.call(&listen(3, to(&[TEXT]))).await["error"]["code"], -32603);
    assert_eq!(pipe.call(&stateless(4, "resources/list", json!({}))).await["id"], 4);
}
