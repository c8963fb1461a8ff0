//! Tests of Streamable HTTP with sessions (2025-03-26 to 2025-11-25), and of HTTP+SSE.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use server::{CollectionsMode, Limits};
use testkit::memory::{Fault, FaultPoint};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;

use crate::fixture::{self, HttpFixture, default_server, initialize, memory, request, stateless};

const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// HL-01, HL-11, HL-13.
#[tokio::test]
async fn a_session_is_opened_by_a_handshake_and_named_in_visible_ascii() {
    let site = HttpFixture::open(default_server()).await;
    for revision in REVISIONS {
        let id = site.open_session(revision).await;
        assert!(id.len() >= 32 && id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{id}");
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let answer = site.post_in_session(&id, &note).await;
        assert_eq!((answer.status, answer.body.as_str()), (202, ""));
        let list = site.post_in_session(&id, &request(1, "resources/list", json!({}))).await.json();
        assert_eq!(list["result"].get("resultType"), None);
        assert!(list["result"]["resources"].is_array());
    }
    for date in ["2026-07-28", "1999-01-01"] {
        let answer = site.send("POST", &[], &initialize(date).to_string()).await;
        assert_eq!(answer.json()["result"]["protocolVersion"], "2025-11-25");
    }
}

/// HL-02, HL-03, HL-10.
#[tokio::test]
async fn a_session_must_be_named_and_open() {
    let site = HttpFixture::open(default_server()).await;
    let list = request(1, "resources/list", json!({}));
    assert_eq!(site.send("POST", &[], &list.to_string()).await.status, 400);
    assert_eq!(site.post_in_session("unknown", &list).await.status, 404);
    let twice = [("mcp-session-id", "one"), ("mcp-session-id", "other")];
    assert_eq!(site.send("POST", &twice, &list.to_string()).await.status, 404);
    let id = site.open_session("2025-06-18").await;
    let bad = [("mcp-session-id", id.as_str()), ("mcp-protocol-version", "2099-01-01")];
    assert_eq!(site.send("POST", &bad, &list.to_string()).await.status, 400);
    let other = [("mcp-session-id", id.as_str()), ("mcp-protocol-version", "2025-11-25")];
    assert_eq!(site.send("POST", &other, &list.to_string()).await.status, 200);
    let unknown = site.post_in_session(&id, &request(2, "no/such", json!({}))).await;
    assert_eq!(unknown.refusal(), (200, -32601));
    let late = site.post_in_session(&id, &request(3, "server/discover", json!({}))).await;
    assert_eq!(late.refusal(), (200, -32601));
    assert_eq!(site.send("DELETE", &[], "").await.status, 405);
    assert_eq!(site.send("DELETE", &[("mcp-session-id", &id)], "").await.status, 204);
    assert_eq!(site.send("DELETE", &[("mcp-session-id", &id)], "").await.status, 404);
    assert_eq!(site.post_in_session(&id, &list).await.status, 404);
    assert_eq!(site.send("GET", &[("mcp-session-id", &id)], "").await.status, 404);
}

/// L-03, HL-12.
#[tokio::test]
async fn an_open_session_is_not_opened_again_and_answers_pings() {
    let site = HttpFixture::open(default_server()).await;
    let id = site.open_session("2025-11-25").await;
    assert_eq!(site.post_in_session(&id, &initialize("2025-11-25")).await.refusal(), (200, -32600));
    let pong = site.post_in_session(&id, &request("p", "ping", json!({}))).await.json();
    assert_eq!(pong, json!({ "jsonrpc": "2.0", "id": "p", "result": {} }));
}

/// R-25A-01, R-25B-01, HL-09.
#[tokio::test]
async fn batches_are_taken_in_the_one_revision_that_has_them() {
    let site = HttpFixture::open(default_server()).await;
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let batch = json!([request(1, "ping", json!({})), note, request("b", "no/such", json!({})), 5]);
    for revision in REVISIONS {
        let id = site.open_session(revision).await;
        let answer = site.post_in_session(&id, &batch).await;
        if revision == "2025-03-26" {
            let answers = answer.json();
            assert_eq!(answers[0], json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
            assert_eq!(
                (&answers[1]["id"], &answers[1]["error"]["code"]),
                (&json!("b"), &json!(-32601))
            );
            assert_eq!(
                (answers[2].get("id"), &answers[2]["error"]["code"]),
                (None, &json!(-32600))
            );
            assert_eq!(site.post_in_session(&id, &json!([note])).await.status, 202);
        } else {
            assert_eq!(answer.refusal(), (400, -32600), "{revision}");
        }
    }
}

/// L-06, L-08: requests of a batch are in flight as others are.
#[tokio::test]
async fn a_batch_keeps_the_rules_of_requests_in_flight() {
    let memory = Arc::new(memory());
    memory.inject_fault(
        FaultPoint::Read(resource::Uri::parse("test://static-text").unwrap()),
        Fault::Hangs,
    );
    let limits = Limits { in_flight: 1, ..Limits::default() };
    let server = fixture::server(Arc::clone(&memory), limits, CollectionsMode::Always);
    let site = Arc::new(HttpFixture::open(server).await);
    let id = site.open_session("2025-03-26").await;
    let ping = |id: i64| request(id, "ping", json!({}));
    let codes = |answers: &Value| {
        let codes = answers.as_array().unwrap().iter();
        codes.map(|answer| answer["error"]["code"].as_i64()).collect::<Vec<_>>()
    };
    let twice = site.post_in_session(&id, &json!([ping(1), ping(1), ping(2)])).await.json();
    assert_eq!(codes(&twice), [None, Some(-32600), None], "an id is in use; one place is enough");
    let read = request(7, "resources/read", json!({ "uri": "test://static-text" }));
    let asking = tokio::spawn({
        let (site, id, batch) = (Arc::clone(&site), id.clone(), json!([read, ping(8)]));
        async move { site.post_in_session(&id, &batch).await }
    });
    fixture::until(|| memory.counts().in_flight() == 1).await;
    let full = site.post_in_session(&id, &json!([ping(3), ping(4)])).await.json();
    assert_eq!(codes(&full), [Some(-32603), Some(-32603)]);
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    assert_eq!(site.post_in_session(&id, &cancel).await.status, 202);
    let answers = asking.await.unwrap().json();
    assert_eq!((answers.as_array().unwrap().len(), &answers[0]["id"]), (1, &json!(8)));
    assert_eq!(memory.counts().in_flight(), 0);
    assert_eq!(codes(&site.post_in_session(&id, &json!([ping(7)])).await.json()), [None]);
}

/// L-06: a cancelled request is aborted and gets no answer.
#[tokio::test]
async fn a_request_can_be_cancelled_from_another_connection() {
    let memory = Arc::new(memory());
    memory.inject_fault(
        FaultPoint::Read(resource::Uri::parse("test://static-text").unwrap()),
        Fault::Hangs,
    );
    let server = fixture::server(Arc::clone(&memory), Limits::default(), CollectionsMode::Always);
    let site = Arc::new(HttpFixture::open(server).await);
    let id = site.open_session("2025-06-18").await;
    let read = request(7, "resources/read", json!({ "uri": "test://static-text" }));
    let asking = tokio::spawn({
        let (site, id, read) = (Arc::clone(&site), id.clone(), read.clone());
        async move { site.post_in_session(&id, &read).await }
    });
    fixture::until(|| memory.counts().in_flight() == 1).await;
    assert_eq!(
        site.post_in_session(&id, &read).await.refusal(),
        (200, -32600),
        "L-08: its id is in use"
    );
    let cancel = |id: Value| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    assert_eq!(site.post_in_session(&id, &cancel(json!("7"))).await.status, 202);
    assert_eq!(site.post_in_session(&id, &request(8, "ping", json!({}))).await.status, 200);
    assert_eq!(memory.counts().in_flight(), 1, "\"7\" is not 7");
    assert_eq!(site.post_in_session(&id, &cancel(json!(7))).await.status, 202);
    let answer = asking.await.unwrap();
    assert_eq!((answer.status, answer.body.as_str()), (202, ""));
    assert_eq!(memory.counts().in_flight(), 0);
}

/// The end of a session aborts its requests.
#[tokio::test]
async fn ending_a_session_ends_what_is_under_way_in_it() {
    let memory = Arc::new(memory());
    memory.inject_fault(
        FaultPoint::Read(resource::Uri::parse("test://static-text").unwrap()),
        Fault::Hangs,
    );
    let server = fixture::server(Arc::clone(&memory), Limits::default(), CollectionsMode::Always);
    let site = Arc::new(HttpFixture::open(server).await);
    let id = site.open_session("2025-06-18").await;
    let read = request(7, "resources/read", json!({ "uri": "test://static-text" }));
    let asking = tokio::spawn({
        let (site, id) = (Arc::clone(&site), id.clone());
        async move { site.post_in_session(&id, &read).await.status }
    });
    fixture::until(|| memory.counts().in_flight() == 1).await;
    assert_eq!(site.send("DELETE", &[("mcp-session-id", &id)], "").await.status, 204);
    assert_eq!(asking.await.unwrap(), 202);
    assert_eq!(memory.counts().in_flight(), 0);
}

/// HL-04: beyond the limit the oldest stream ends; it may be broken.
#[tokio::test]
async fn a_session_may_hold_streams_open_up_to_a_bound() {
    let limits = Limits { streams: 2, ..Limits::default() };
    let site =
        HttpFixture::open(fixture::server(Arc::new(memory()), limits, CollectionsMode::Always))
            .await;
    let id = site.open_session("2025-11-25").await;
    let headers = [("mcp-session-id", id.as_str())];
    let (first, second) = (open(&site, &headers).await, open(&site, &headers).await);
    assert_eq!((first.0, second.0, open(&site, &headers).await.0), (200, 200, 200));
    let json_only = [headers[0], ("accept", "application/json")];
    assert_eq!(site.send("GET", &json_only, "").await.status, 406);
    for (ended, mut stream) in [("by the third", first.1), ("with its session", second.1)] {
        let mut rest = String::new();
        while stream.read_line(&mut rest).await.unwrap() > 0 {}
        assert!(rest.ends_with("0\r\n\r\n"), "the stream ends {ended}: {rest:?}");
        site.send("DELETE", &headers, "").await;
    }
}

/// Opens a stream and reads its head.
async fn open(fixture: &HttpFixture, headers: &[(&str, &str)]) -> (u16, BufReader<TcpStream>) {
    let mut stream = BufReader::new(fixture.connect("GET", headers, "").await);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(stream.read_line(&mut head).await.unwrap(), 0);
    }
    (head.split(' ').nth(1).unwrap().parse().unwrap(), stream)
}

/// The type and data of the next event; skips keep-alives and chunk sizes.
async fn event(stream: &mut BufReader<TcpStream>) -> (String, String) {
    let (mut kind, mut data) = (String::new(), String::new());
    loop {
        let mut line = String::new();
        assert_ne!(stream.read_line(&mut line).await.unwrap(), 0, "the stream ended");
        if let Some(rest) = line.strip_prefix("event: ") {
            kind = rest.trim().to_owned();
        } else if let Some(rest) = line.strip_prefix("data: ") {
            data = rest.trim_end().to_owned();
        } else if kind == "message" && line.trim_end().ends_with('}') {
            data.push_str(line.trim_end());
        }
        let whole = kind == "endpoint" || serde_json::from_str::<Value>(&data).is_ok();
        if !data.is_empty() && whole {
            return (kind, data);
        }
    }
}

/// HS-01.
#[tokio::test]
async fn the_oldest_clients_are_served_over_one_stream() {
    let site = HttpFixture::open(default_server()).await;
    let (status, mut stream) = open(&site, &[("accept", "text/event-stream")]).await;
    assert_eq!(status, 200);
    let (kind, endpoint) = event(&mut stream).await;
    assert_eq!(kind, "endpoint");
    let post = format!("POST {endpoint}");
    for message in [initialize("2024-11-05"), request(2, "ping", json!({}))] {
        let answer = site.send(&post, &[], &message.to_string()).await;
        assert_eq!((answer.status, answer.body.as_str()), (202, ""));
        let (kind, data) = event(&mut stream).await;
        let said: Value = serde_json::from_str(&data).unwrap();
        assert_eq!((kind.as_str(), &said["id"]), ("message", &message["id"]));
    }
    drop(stream);
    let gone = async {
        while site.send(&post, &[], "{}").await.status != 404 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone).await.expect("the session ends with it");
}

/// 1.12: requests with and without session at one path.
#[tokio::test]
async fn both_eras_are_served_at_one_address() {
    let site = HttpFixture::open(default_server()).await;
    let id = site.open_session("2025-06-18").await;
    let alone = stateless(1, "resources/list", json!({}));
    assert_eq!(site.post_stateless(&alone).await.json()["result"]["resultType"], "complete");
    let old = site.post_in_session(&id, &request(1, "resources/list", json!({}))).await.json();
    assert_eq!(old["result"].get("resultType"), None);
    let headers = [
        ("mcp-session-id", "unknown"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "resources/list"),
    ];
    assert_eq!(site.send("POST", &headers, &alone.to_string()).await.status, 200, "H-13");
}
