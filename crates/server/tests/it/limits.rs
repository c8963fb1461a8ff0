//! Every bound: taken at it, refused one past it, and the server lives on.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use server::{Collections, Limits};
use testkit::memory::{Fault, Spot};

use crate::desk::{self, Pipe, Site, initialize, memory, request, stateless};

fn with(limits: Limits) -> Arc<server::Server> {
    desk::server(Arc::new(memory()), limits, Collections::Always)
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
    let site = Site::open(with(limits.clone())).await;
    assert_eq!(site.send("POST", &HEADERS, &sized(1000)).await.status, 200);
    assert_eq!(site.send("POST", &HEADERS, &sized(1001)).await.status, 413);
    let mut pipe = Pipe::open(with(limits));
    pipe.say_line(&sized(1000)).await;
    assert!(pipe.hear().await["result"].is_object());
    pipe.say_line(&sized(1001)).await;
    assert_eq!(pipe.hear().await["error"]["code"], -32700);
    pipe.say_line(&sized(999)).await;
    assert!(pipe.hear().await["result"].is_object());
}

#[tokio::test]
async fn headers_have_a_length() {
    let site = Site::open(with(Limits { headers: 8 << 10, ..Limits::default() })).await;
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
    let mut pipe = Pipe::open(with(Limits { uri: 100, ..Limits::default() }));
    let read = |length: usize| {
        let uri = format!("test://{}", "x".repeat(length - 7));
        stateless(1, "resources/read", json!({ "uri": uri }))
    };
    let words = |answer: Value| answer["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!(words(pipe.ask(&read(100)).await), "Resource not found");
    assert_eq!(words(pipe.ask(&read(101)).await), "uri: longer than 100 bytes");
}

#[tokio::test]
async fn a_page_has_a_size() {
    for (page, pages) in [(1, 3), (2, 2), (3, 1), (4, 1)] {
        let mut pipe = Pipe::open(with(Limits { page, ..Limits::default() }));
        let mut cursor = json!({});
        let mut seen = 0;
        for turn in 1.. {
            let answer = pipe.ask(&stateless(1, "resources/list", cursor)).await;
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
    memory.fault(Spot::Read(resource::Uri::parse("test://static-text").unwrap()), Fault::Hangs);
    let limits = Limits { in_flight: 2, ..Limits::default() };
    let mut pipe = Pipe::open(desk::server(Arc::clone(&memory), limits, Collections::Always));
    for id in 1..=2 {
        pipe.say(&stateless(id, "resources/read", json!({ "uri": "test://static-text" }))).await;
    }
    desk::until(|| memory.counts().running() == 2).await;
    let third = stateless(3, "resources/read", json!({ "uri": "test://static-binary" }));
    assert_eq!(pipe.ask(&third).await["error"]["code"], -32603);
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    pipe.say(&cancel).await;
    assert!(pipe.ask(&third).await["result"].is_object());
}

#[tokio::test]
async fn only_so_many_sessions_are_open_and_silent_ones_end() {
    let idle = Duration::from_secs(600);
    let limits = Limits { sessions: 2, session_idle: idle, ..Limits::default() };
    let site = Site::open(with(limits)).await;
    let first = site.session("2025-06-18").await;
    let second = site.session("2025-06-18").await;
    let open = initialize("2025-06-18").to_string();
    assert_eq!(site.send("POST", &[], &open).await.status, 503);
    assert_eq!(site.send("DELETE", &[("mcp-session-id", &first)], "").await.status, 204);
    let third = site.session("2025-06-18").await;
    tokio::time::pause();
    tokio::time::advance(idle / 2).await;
    tokio::time::resume();
    let ping = request(1, "ping", json!({}));
    assert_eq!(site.within(&second, &ping).await.status, 200);
    tokio::time::pause();
    tokio::time::advance(idle / 2 + Duration::from_secs(1)).await;
    tokio::time::resume();
    assert_eq!(site.within(&second, &ping).await.status, 200, "it spoke in between");
    assert_eq!(site.within(&third, &ping).await.status, 404, "it was silent for too long");
}

#[tokio::test]
async fn a_batch_has_a_length() {
    let mut pipe = Pipe::open(with(Limits { batch: 2, ..Limits::default() }));
    pipe.ask(&initialize("2025-03-26")).await;
    let batch = |count: usize| {
        Value::from((0..count).map(|id| request(id, "ping", json!({}))).collect::<Vec<_>>())
    };
    assert_eq!(pipe.ask(&batch(2)).await.as_array().unwrap().len(), 2);
    assert_eq!(pipe.ask(&batch(3)).await["error"]["code"], -32600);
}

#[tokio::test]
async fn nesting_has_a_depth() {
    let mut pipe = Pipe::open(with(Limits { depth: 8, ..Limits::default() }));
    let nested = |levels: usize| {
        let inner = (0..levels).fold(json!(1), |inner, _| json!([inner]));
        stateless(1, "server/discover", json!({ "pad": inner }))
    };
    assert!(pipe.ask(&nested(6)).await["result"].is_object());
    assert_eq!(pipe.ask(&nested(7)).await["error"]["code"], -32700);
}
