//! Tests of every limit: accepted at it, refused beyond it, and the server stays up.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use server::{CollectionsMode, Limits};
use testkit::memory::{Fault, FaultPoint};

use crate::fixture::{self, HttpFixture, StdioClient, initialize, memory, request, stateless};

fn with(limits: Limits) -> Arc<server::Server> {
    fixture::server(Arc::new(memory()), limits, CollectionsMode::Always)
}

/// A request of exactly `length` bytes.
fn sized(length: usize) -> String {
    let message = stateless(1, "server/discover", json!({ "pad": "" })).to_string();
    let pad = "x".repeat(length - message.len());
    message.replace("\"pad\":\"\"", &format!("\"pad\":\"{pad}\""))
}

const HEADERS: [(&str, &str); 2] =
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "server/discover")];

#[tokio::test]
async fn a_message_has_a_length() {
    let limits = Limits { message: 1000, ..Limits::default() };
    let site = HttpFixture::open(with(limits.clone())).await;
    assert_eq!(site.send("POST", &HEADERS, &sized(1000)).await.status, 200);
    assert_eq!(site.send("POST", &HEADERS, &sized(1001)).await.status, 413);
    let mut pipe = StdioClient::open(with(limits));
    pipe.send_line(&sized(1000)).await;
    assert!(pipe.receive().await["result"].is_object());
    pipe.send_line(&sized(1001)).await;
    assert_eq!(pipe.receive().await["error"]["code"], -32600);
    pipe.send_line(&sized(999)).await;
    assert!(pipe.receive().await["result"].is_object());
}

#[tokio::test]
async fn headers_have_a_length() {
    let site = HttpFixture::open(with(Limits { headers: 8 << 10, ..Limits::default() })).await;
    let (fits, over) = ("x".repeat(7 << 10), "x".repeat(9 << 10));
    let send = |pad: String| {
        let site = &site;
        async move {
            let headers = [HEADERS[0], HEADERS[1], ("x-pad", pad.as_str())];
            site.send("POST", &headers, &sized(800)).await.status
        }
    };
    assert_eq!(send(fits).await, 200);
    assert_eq!(send(over).await, 431);
    assert_eq!(send(String::new()).await, 200);
}

#[tokio::test]
async fn a_uri_has_a_length() {
    let mut pipe = StdioClient::open(with(Limits { uri: 100, ..Limits::default() }));
    let read = |length: usize| {
        let uri = format!("test://{}", "x".repeat(length - 7));
        stateless(1, "resources/read", json!({ "uri": uri }))
    };
    let words = |answer: Value| answer["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!(words(pipe.call(&read(100)).await), "Resource not found");
    assert_eq!(words(pipe.call(&read(101)).await), "uri: longer than 100 bytes");
}

#[tokio::test]
async fn a_page_has_a_size() {
    for (page, pages) in [(1, 3), (2, 2), (3, 1), (4, 1)] {
        let mut pipe = StdioClient::open(with(Limits { page, ..Limits::default() }));
        let mut cursor = json!({});
        let mut seen = 0;
        for turn in 1.. {
            let answer = pipe.call(&stateless(1, "resources/list", cursor)).await;
            let items = answer["result"]["resources"].as_array().unwrap().len();
            assert!(items <= page);
            seen += items;
            let Some(next) = answer["result"].get("nextCursor") else {
                assert_eq!((turn, seen), (pages, 3));
                break;
            };
            cursor = json!({ "cursor": next });
        }
    }
}

#[tokio::test]
async fn only_so_many_requests_are_under_way() {
    let memory = Arc::new(memory());
    memory.inject_fault(
        FaultPoint::Read(resource::Uri::parse("test://static-text").unwrap()),
        Fault::Hangs,
    );
    let limits = Limits { in_flight: 2, ..Limits::default() };
    let mut pipe =
        StdioClient::open(fixture::server(Arc::clone(&memory), limits, CollectionsMode::Always));
    for id in 1..=2 {
        pipe.send_message(&stateless(id, "resources/read", json!({ "uri": "test://static-text" })))
            .await;
    }
    fixture::until(|| memory.counts().in_flight() == 2).await;
    let third = stateless(3, "resources/read", json!({ "uri": "test://static-binary" }));
    assert_eq!(pipe.call(&third).await["error"]["code"], -32603);
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    pipe.send_message(&cancel).await;
    assert!(pipe.call(&third).await["result"].is_object());
}

#[tokio::test]
async fn only_so_many_sessions_are_open_and_silent_ones_end() {
    let idle = Duration::from_secs(600);
    let limits = Limits { sessions: 2, session_idle: idle, ..Limits::default() };
    let site = HttpFixture::open(with(limits)).await;
    let first = site.open_session("2025-06-18").await;
    let second = site.open_session("2025-06-18").await;
    let open = initialize("2025-06-18").to_string();
    assert_eq!(site.send("POST", &[], &open).await.status, 503);
    assert_eq!(site.send("DELETE", &[("mcp-session-id", &first)], "").await.status, 204);
    let third = site.open_session("2025-06-18").await;
    tokio::time::pause();
    tokio::time::advance(idle / 2).await;
    tokio::time::resume();
    let ping = request(1, "ping", json!({}));
    assert_eq!(site.post_in_session(&second, &ping).await.status, 200);
    tokio::time::pause();
    tokio::time::advance(idle / 2 + Duration::from_secs(1)).await;
    tokio::time::resume();
    assert_eq!(site.post_in_session(&second, &ping).await.status, 200, "it spoke in between");
    assert_eq!(site.post_in_session(&third, &ping).await.status, 404, "it was silent for too long");
}

/// Clients that never end their sessions do not lock out all others.
#[tokio::test]
async fn a_session_that_has_been_silent_for_a_minute_makes_room() {
    let site = HttpFixture::open(with(Limits { sessions: 2, ..Limits::default() })).await;
    let (first, second) =
        (site.open_session("2025-06-18").await, site.open_session("2025-06-18").await);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(61)).await;
    tokio::time::resume();
    let ping = request(1, "ping", json!({}));
    assert_eq!(site.post_in_session(&second, &ping).await.status, 200);
    site.open_session("2025-06-18").await;
    assert_eq!(
        site.post_in_session(&first, &ping).await.status,
        404,
        "the longest silent has gone"
    );
    assert_eq!(site.post_in_session(&second, &ping).await.status, 200);
}

#[tokio::test]
async fn completions_have_a_pace() {
    let mut pipe =
        StdioClient::open(with(Limits { completions_per_second: 2, ..Limits::default() }));
    let question = json!({ "ref": { "type": "ref/resource", "uri": "test://template/{id}/data" },
                           "argument": { "name": "id", "value": "a" } });
    tokio::time::pause();
    let mut codes = Vec::new();
    for id in 0..3 {
        let answer = pipe.call(&stateless(id, "completion/complete", question.clone())).await;
        codes.push(answer["error"]["code"].as_i64());
    }
    assert_eq!(codes, [None, None, Some(-32603)]);
}

#[tokio::test]
async fn only_so_many_connections_are_served_at_once() {
    let site = HttpFixture::open(with(Limits { connections: 1, ..Limits::default() })).await;
    let idle = tokio::net::TcpStream::connect(("127.0.0.1", site.port)).await.unwrap();
    let body = sized(800);
    let waiting = site.send("POST", &HEADERS, &body);
    tokio::pin!(waiting);
    let early = tokio::select! {
        biased;
        answer = &mut waiting => Some(answer),
        () = async { for _ in 0..1000 { tokio::task::yield_now().await } } => None,
    };
    assert!(early.is_none(), "a second connection was served beside the first");
    drop(idle);
    assert_eq!(waiting.await.status, 200);
}

/// A request that does not arrive in time gets status 408.
#[tokio::test]
async fn a_request_has_a_time_to_arrive() {
    let limits = Limits { io_timeout: Duration::from_secs(1), ..Limits::default() };
    let site = HttpFixture::open(with(limits)).await;
    let slow = [HEADERS[0], HEADERS[1], ("content-length", "5000")];
    let answer = site.send("POST", &slow, "{").await;
    assert_eq!(answer.status, 408);
}

#[tokio::test]
async fn a_batch_has_a_length() {
    let mut pipe = StdioClient::open(with(Limits { batch: 2, ..Limits::default() }));
    pipe.call(&initialize("2025-03-26")).await;
    let batch = |count: usize| {
        Value::from((0..count).map(|id| request(id, "ping", json!({}))).collect::<Vec<_>>())
    };
    assert_eq!(pipe.call(&batch(2)).await.as_array().unwrap().len(), 2);
    assert_eq!(pipe.call(&batch(3)).await["error"]["code"], -32600);
}

#[tokio::test]
async fn nesting_has_a_depth() {
    let mut pipe = StdioClient::open(with(Limits { depth: 8, ..Limits::default() }));
    let nested = |levels: usize| {
        let inner = (0..levels).fold(json!(1), |inner, _| json!([inner]));
        stateless(1, "server/discover", json!({ "pad": inner }))
    };
    assert!(pipe.call(&nested(6)).await["result"].is_object());
    assert_eq!(pipe.call(&nested(7)).await["error"]["code"], -32700);
}

/// Write timeout: a client that stops reading loses its connection, which frees its place.
#[tokio::test]
async fn an_answer_has_a_time_to_be_read() {
    let arrival = Duration::from_secs(1);
    let limits = Limits { connections: 1, io_timeout: arrival, ..Limits::default() };
    let memory = testkit::MemoryProvider::new().text("test://large", &"x".repeat(32 << 20));
    let site =
        HttpFixture::open(fixture::server(Arc::new(memory), limits, CollectionsMode::Always)).await;
    let read = stateless(1, "resources/read", json!({ "uri": "test://large" })).to_string();
    let headers = [HEADERS[0], ("mcp-method", "resources/read"), ("mcp-name", "test://large")];
    let unread = site.connect("POST", &headers, &read).await;
    assert_eq!(site.send("POST", &HEADERS, &sized(800)).await.status, 200);
    drop(unread);
}
