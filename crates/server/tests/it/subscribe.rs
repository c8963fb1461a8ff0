//! Tests of subscriptions in a session, and of resuming SSE streams (through 2025-11-25).

use std::sync::Arc;

use serde_json::{Value, json};
use server::{CollectionsMode, Limits, Server};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};
use tokio::io::AsyncReadExt;

use crate::fixture::{
    self, HttpFixture, StdioClient, initialize, memory, request, stateless, until,
};
use crate::sse_client::SseClient;

const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";

fn live() -> (Arc<MemoryProvider>, Arc<Server>) {
    limited(Limits::default())
}

fn limited(limits: Limits) -> (Arc<MemoryProvider>, Arc<Server>) {
    let memory = Arc::new(memory());
    (Arc::clone(&memory), fixture::server(memory, limits, CollectionsMode::Always))
}

fn subscribe(id: i64, uri: &str) -> Value {
    request(id, "resources/subscribe", json!({ "uri": uri }))
}

fn unsubscribe(id: i64, uri: &str) -> Value {
    request(id, "resources/unsubscribe", json!({ "uri": uri }))
}

fn updated(uri: &str) -> Value {
    let params = json!({ "uri": uri });
    json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params })
}

fn list_changed() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/resources/list_changed" })
}

fn ready() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

fn done(id: i64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": {} })
}

/// R-24-02, R-24-11, R-24-12, R-24-20 over stdio, in every revision with sessions.
#[tokio::test]
async fn a_session_on_a_pipe_hears_what_it_subscribed_to() {
    for revision in REVISIONS {
        let (memory, server) = live();
        let mut pipe = StdioClient::open(server);
        let opened = pipe.call(&initialize(revision)).await;
        let told = &opened["result"]["capabilities"]["resources"];
        assert_eq!(*told, json!({ "subscribe": true, "listChanged": true }));
        pipe.send_message(&ready()).await;
        for id in [1, 2] {
            assert_eq!(pipe.call(&subscribe(id, TEXT)).await, done(id), "twice is once");
        }
        memory.write(BINARY, "nobody asked");
        memory.write(TEXT, "new");
        assert_eq!(pipe.receive().await, updated(TEXT), "{revision}");
        for id in [3, 4] {
            assert_eq!(pipe.call(&unsubscribe(id, TEXT)).await, done(id), "so is no more");
        }
        memory.write(TEXT, "silence");
        memory.write("test://fresh", "one more in the list");
        assert_eq!(pipe.receive().await, list_changed());
        memory.remove("test://fresh");
        assert_eq!(pipe.receive().await, list_changed());
        assert_eq!(pipe.close().await, Vec::<Value>::new());
        assert_eq!(memory.watch_count(), 0, "R-24-21");
    }
}

/// Concurrent requests share the limit.
#[tokio::test]
async fn no_more_is_subscribed_to_at_once_than_one_after_the_other() {
    let (memory, server) = limited(Limits { subscriptions: 1, ..Limits::default() });
    let mut pipe = StdioClient::open(server);
    pipe.call(&initialize("2025-11-25")).await;
    memory.inject_fault(FaultPoint::Watch, Fault::Waits);
    pipe.send_message(&subscribe(1, TEXT)).await;
    pipe.send_message(&subscribe(2, BINARY)).await;
    assert_eq!(pipe.call(&request(3, "ping", json!({}))).await, done(3), "both have begun");
    memory.clear_faults();
    let answers = [pipe.receive().await, pipe.receive().await];
    let refused = answers.iter().filter(|answer| answer["error"]["code"] == -32603).count();
    assert_eq!(refused, 1, "{answers:?}");
    until(|| memory.watch_count() == 1).await;
}

/// R-24-14, R-24-15: a subscription that fails gets the error for its cause.
#[tokio::test]
async fn only_what_is_there_is_subscribed_to() {
    let (memory, server) = limited(Limits { subscriptions: 1, ..Limits::default() });
    let mut pipe = StdioClient::open(server);
    pipe.call(&initialize("2025-11-25")).await;
    let missing = pipe.call(&subscribe(1, "test://none")).await;
    assert_eq!(missing["error"]["code"], -32002);
    assert_eq!(missing["error"]["data"]["uri"], "test://none");
    for params in [json!({}), json!({ "uri": "not a uri" }), json!({ "uri": 5 })] {
        let bad = pipe.call(&request(2, "resources/subscribe", params)).await;
        assert_eq!(bad["error"]["code"], -32602);
    }
    assert_eq!(pipe.call(&subscribe(3, TEXT)).await, done(3));
    assert_eq!(pipe.call(&subscribe(4, BINARY)).await["error"]["code"], -32603, "one is all");
    assert_eq!(pipe.call(&unsubscribe(5, TEXT)).await, done(5));
    assert_eq!(pipe.call(&subscribe(6, BINARY)).await, done(6));
    memory.write(BINARY, "new");
    assert_eq!(pipe.receive().await, updated(BINARY), "also before it said that it is ready");
}

/// R-24-18: a subscription to a collection covers its children.
#[tokio::test]
async fn a_subscription_to_a_collection_hears_of_its_children() {
    let (memory, server) = live();
    let mut pipe = StdioClient::open(server);
    pipe.call(&initialize("2025-06-18")).await;
    pipe.call(&subscribe(1, "test://folder")).await;
    memory.write("test://folder/in/c", "a grandchild");
    memory.write("test://folder/a", "a child");
    assert_eq!(pipe.receive().await, updated("test://folder/a"));
}

/// R-24-12, HL-04, HL-08 over HTTP.
#[tokio::test]
async fn a_session_over_http_hears_on_its_stream() {
    let (memory, server) = live();
    let site = HttpFixture::open(server).await;
    for revision in &REVISIONS[1..] {
        let id = site.open_session(revision).await;
        site.post_in_session(&id, &ready()).await;
        assert_eq!(site.post_in_session(&id, &subscribe(1, TEXT)).await.json(), done(1));
        memory.write(TEXT, "before there is a stream");
        let mut events = SseClient::session(&site, &id, None).await;
        let mut first = events.next().await;
        if *revision == "2025-11-25" {
            assert!(first.id.is_some() && first.retry.is_some() && first.data.is_empty());
            assert_eq!(first.kind, None);
            first = events.next().await;
        }
        assert_eq!((first.json(), first.id.is_some()), (updated(TEXT), true), "{revision}");
        memory.write(BINARY, "nobody asked");
        memory.write("test://fresh", "one more in the list");
        assert_eq!(events.message().await, list_changed());
        assert_eq!(site.post_in_session(&id, &unsubscribe(2, TEXT)).await.json(), done(2));
        memory.write(TEXT, "silence");
        memory.remove("test://fresh");
        assert_eq!(events.message().await, list_changed());
        assert_eq!(site.send("DELETE", &[("mcp-session-id", &id)], "").await.status, 204);
        assert_eq!(events.try_next().await, None);
        until(|| memory.watch_count() == 0).await;
    }
}

/// HS-01 with notifications: HTTP+SSE has one stream for everything.
#[tokio::test]
async fn the_oldest_clients_hear_on_their_one_stream() {
    let (memory, server) = live();
    let site = HttpFixture::open(server).await;
    let mut events = SseClient::open(&site, "GET", &[("accept", "text/event-stream")], "").await;
    let post = format!("POST {}", events.next().await.data);
    for message in [initialize("2024-11-05"), ready(), subscribe(1, TEXT)] {
        assert_eq!(site.send(&post, &[], &message.to_string()).await.status, 202);
    }
    assert_eq!(events.message().await["id"], "open");
    assert_eq!(events.message().await, done(1));
    memory.write(TEXT, "new");
    assert_eq!(events.message().await, updated(TEXT));
    drop(events);
    until(|| memory.watch_count() == 0).await;
}

/// HL-05: with several streams, each message goes over one of them.
#[tokio::test]
async fn each_message_goes_over_one_stream_only() {
    let (memory, server) = live();
    let site = HttpFixture::open(server).await;
    let id = site.open_session("2025-06-18").await;
    site.post_in_session(&id, &subscribe(1, TEXT)).await;
    let mut older = SseClient::session(&site, &id, None).await;
    memory.write(TEXT, "one");
    assert_eq!(older.message().await, updated(TEXT));
    let mut newer = SseClient::session(&site, &id, None).await;
    memory.write(TEXT, "two");
    assert_eq!(newer.message().await, updated(TEXT), "the older one may have broken");
    assert_eq!(site.send("DELETE", &[("mcp-session-id", &id)], "").await.status, 204);
    assert_eq!((older.try_next().await, newer.try_next().await), (None, None));
}

/// HL-07: a resumed stream replays what the broken one did not deliver.
#[tokio::test]
async fn a_stream_that_broke_is_gone_on_with() {
    let (memory, server) = live();
    let site = HttpFixture::open(server).await;
    let id = site.open_session("2025-11-25").await;
    for (at, uri) in [(1, TEXT), (2, BINARY), (3, "test://folder/a")] {
        site.post_in_session(&id, &subscribe(at, uri)).await;
    }
    let mut events = SseClient::session(&site, &id, None).await;
    let prime = events.next().await.id.unwrap();
    for uri in [TEXT, BINARY] {
        memory.write(uri, "new");
        assert_eq!(events.message().await, updated(uri));
    }
    drop(events);
    memory.write("test://folder/a", "while nobody listens");
    let mut events = SseClient::session(&site, &id, Some(&prime)).await;
    let again = events.next().await;
    assert_eq!((again.retry.is_some(), again.data.as_str()), (true, ""));
    assert_eq!(again.id.as_ref(), Some(&prime), "a client that breaks here resumes at the same id");
    drop(events);
    let mut events = SseClient::session(&site, &id, again.id.as_deref()).await;
    events.next().await;
    let mut first = None;
    for uri in [TEXT, BINARY, "test://folder/a"] {
        let event = events.next().await;
        assert_eq!(event.json(), updated(uri));
        first = first.or(event.id);
    }
    drop(events);
    let mut events = SseClient::session(&site, &id, first.as_deref()).await;
    events.next().await;
    assert_eq!(events.message().await, updated(BINARY), "after the first, the second");
    let other = site.open_session("2025-11-25").await;
    let mut strange = SseClient::session(&site, &other, first.as_deref()).await;
    assert_eq!(strange.next().await.data, "", "an event id of another session is ignored");
    for wrong in ["", "nonsense", "c999.999", "c1.18446744073709551615"] {
        let mut strange = SseClient::session(&site, &other, Some(wrong)).await;
        assert_eq!(strange.next().await.data, "", "{wrong}");
    }
}

/// HL-07: a client that missed more than the replay buffer holds is notified of everything.
#[tokio::test]
async fn whoever_missed_too_much_is_told_of_everything() {
    let (memory, server) = live();
    let site = HttpFixture::open(server).await;
    let id = site.open_session("2025-11-25").await;
    site.post_in_session(&id, &subscribe(1, TEXT)).await;
    site.post_in_session(&id, &subscribe(2, "test://folder")).await;
    let mut events = SseClient::session(&site, &id, None).await;
    let prime = events.next().await.id.unwrap();
    tokio::time::pause();
    for _ in 0..300 {
        memory.write("test://folder/a", "again");
        assert_eq!(events.message().await, updated("test://folder/a"));
    }
    tokio::time::resume();
    drop(events);
    let mut events = SseClient::session(&site, &id, Some(&prime)).await;
    events.next().await;
    let mut told = Vec::new();
    for _ in 0..3 {
        told.push(events.message().await);
    }
    for expected in [updated(TEXT), updated("test://folder"), list_changed()] {
        assert!(told.contains(&expected), "{told:?}");
    }
}

/// HL-06: a broken connection does not cancel; the client resumes to get the rest.
#[tokio::test]
async fn a_request_outlives_its_connection() {
    let (memory, server) = live();
    let site = HttpFixture::open(server).await;
    let id = site.open_session("2025-11-25").await;
    let uri = resource::Uri::parse(TEXT).unwrap();
    memory.inject_fault(FaultPoint::Read(uri.clone()), Fault::Waits);
    let headers = [("mcp-session-id", id.as_str())];
    let read = request(7, "resources/read", json!({ "uri": TEXT }));
    let mut plain = site.connect("POST", &headers, &read.to_string()).await;
    until(|| memory.counts().in_flight() == 1).await;
    drop(plain);
    assert_eq!(site.post_in_session(&id, &request(8, "ping", json!({}))).await.status, 200);
    assert_eq!(memory.counts().in_flight(), 1, "still under way");
    let mut reported = request(9, "resources/read", json!({ "uri": TEXT }));
    reported["params"]["_meta"] = json!({ "progressToken": "p" });
    let mut events = SseClient::open(&site, "POST", &headers, &reported.to_string()).await;
    let prime = events.next().await;
    assert!(prime.id.is_some() && prime.retry.is_some() && prime.data.is_empty());
    assert_eq!(events.message().await["method"], "notifications/progress");
    drop(events);
    let mut events = SseClient::session(&site, &id, prime.id.as_deref()).await;
    assert_eq!(events.message().await["params"]["progressToken"], "p");
    memory.clear_faults();
    let answer = events.message().await;
    assert_eq!((&answer["id"], answer["error"].is_null()), (&json!(9), true));
    assert_eq!(events.try_next().await, None, "nothing comes after the answer");
    until(|| memory.counts().in_flight() == 0).await;
    // A stateless request ends with its connection.
    memory.inject_fault(FaultPoint::Read(uri), Fault::Hangs);
    let alone = stateless(1, "resources/read", json!({ "uri": TEXT }));
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "resources/read"),
        ("mcp-name", TEXT),
    ];
    plain = site.connect("POST", &headers, &alone.to_string()).await;
    until(|| memory.counts().in_flight() == 1).await;
    drop(plain);
    until(|| memory.counts().in_flight() == 0).await;
}

/// HL-07: an answer too large for the replay buffer is replaced by an error.
#[tokio::test]
async fn an_answer_that_could_not_be_kept_is_to_be_asked_for_again() {
    let large = "x".repeat(300_000);
    let memory = Arc::new(MemoryProvider::new().text("test://large", &large).with_watches());
    let server = fixture::server(Arc::clone(&memory), Limits::default(), CollectionsMode::Always);
    let site = HttpFixture::open(server).await;
    let id = site.open_session("2025-11-25").await;
    let uri = resource::Uri::parse("test://large").unwrap();
    memory.inject_fault(FaultPoint::Read(uri), Fault::Waits);
    let mut read = request(9, "resources/read", json!({ "uri": "test://large" }));
    read["params"]["_meta"] = json!({ "progressToken": 1 });
    let headers = [("mcp-session-id", id.as_str())];
    let mut events = SseClient::open(&site, "POST", &headers, &read.to_string()).await;
    let prime = events.next().await.id;
    events.message().await;
    drop(events);
    memory.clear_faults();
    let mut events = SseClient::session(&site, &id, prime.as_deref()).await;
    assert_eq!(events.message().await["method"], "notifications/progress");
    let answer = events.message().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(9), &json!(-32603)));
    assert_eq!(events.try_next().await, None);
}

/// S-08 over HTTP+SSE: a shutdown answers requests in flight and listening requests.
#[tokio::test]
async fn the_oldest_transport_says_good_bye_as_well() {
    let (memory, server) = live();
    let mut site = HttpFixture::open(server).await;
    let mut events = SseClient::open(&site, "GET", &[("accept", "text/event-stream")], "").await;
    let post = format!("POST {}", events.next().await.data);
    let wishes = json!({ "notifications": { "resourceSubscriptions": [TEXT] } });
    let listen = stateless("last", "subscriptions/listen", wishes);
    memory.inject_fault(FaultPoint::Read(resource::Uri::parse(BINARY).unwrap()), Fault::Waits);
    let read = stateless("read", "resources/read", json!({ "uri": BINARY }));
    for message in [listen, read] {
        assert_eq!(site.send(&post, &[], &message.to_string()).await.status, 202);
    }
    assert_eq!(events.message().await["params"]["notifications"]["resourceSubscriptions"][0], TEXT);
    until(|| memory.counts().in_flight() == 1).await;
    site.stop();
    assert_eq!(events.message().await["id"], "last");
    memory.clear_faults();
    assert!(events.message().await["result"]["contents"].is_array());
    assert_eq!(events.try_next().await, None);
    site.stopped().await;
}

/// L-02: no notification before the client is ready, unless it subscribed.
#[tokio::test]
async fn a_session_that_is_not_ready_is_told_nothing() {
    let (memory, server) = live();
    let mut pipe = StdioClient::open(server);
    pipe.send_message(&ready()).await;
    pipe.call(&initialize("2025-11-25")).await;
    memory.write("test://fresh", "one more in the list");
    assert_eq!(pipe.call(&request(1, "ping", json!({}))).await, done(1));
    assert_eq!(memory.watch_count(), 0);
    pipe.send_message(&ready()).await;
    assert_eq!(pipe.call(&request(2, "ping", json!({}))).await, done(2));
    memory.remove("test://fresh");
    assert_eq!(pipe.receive().await, list_changed());
}

/// A shutdown ends the streams of HTTP sessions without an answer.
#[tokio::test]
async fn a_server_that_stops_ends_the_streams_of_sessions() {
    let (_, server) = live();
    let mut site = HttpFixture::open(server).await;
    let id = site.open_session("2025-06-18").await;
    let mut events = SseClient::session(&site, &id, None).await;
    site.stop();
    assert_eq!(events.try_next().await, None);
    site.stopped().await;
    let mut rest = Vec::new();
    let gone = tokio::net::TcpStream::connect(("127.0.0.1", site.port)).await;
    if let Ok(mut stream) = gone {
        assert_eq!(stream.read_to_end(&mut rest).await.unwrap_or(0), 0);
    }
}
