//! Tests of the memory budget: beyond it a request is refused, and what runs goes on.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::json;
use server::{CollectionsMode, Limits, Server};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};
use tokio::io::AsyncReadExt;

use crate::fixture::{self, HttpFixture, StdioClient, initialize, memory, request, stateless};

const HEADERS: [(&str, &str); 2] =
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "server/discover")];

fn with_memory(bytes: usize) -> Arc<Server> {
    let limits = Limits { memory: bytes, ..Limits::default() };
    // More than the buffers of a socket take.
    let large = "x".repeat(24 << 20);
    let memory = memory().text("test://large", &large);
    fixture::server(Arc::new(memory), limits, CollectionsMode::Always)
}

/// A stateless request with `length` bytes of padding.
fn padded(length: usize) -> String {
    stateless(1, "server/discover", json!({ "pad": "x".repeat(length) })).to_string()
}

#[tokio::test]
async fn a_body_beyond_the_budget_is_refused_and_may_be_sent_again() {
    let site = HttpFixture::open(with_memory(64 << 10)).await;
    for _ in 0..3 {
        let refused = site.send("POST", &HEADERS, &padded(60 << 10)).await;
        assert_eq!(refused.refusal(), (503, -32603));
        assert_eq!(refused.header("retry-after"), Some("1"));
        assert!(refused.body.contains("memory limit"), "{refused:?}");
        let accepted = site.send("POST", &HEADERS, &padded(40 << 10)).await;
        assert_eq!(accepted.status, 200, "{accepted:?}");
    }
}

#[tokio::test]
async fn a_connection_has_a_share_of_the_budget() {
    let mut pipe = StdioClient::open(with_memory(800 << 10));
    pipe.send_line(&padded(110 << 10)).await;
    let refused = pipe.receive().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32603)));
    pipe.send_line(&padded(90 << 10)).await;
    assert!(pipe.receive().await["result"].is_object());
}

#[tokio::test]
async fn an_answer_that_nobody_reads_counts_until_its_client_is_gone() {
    let site = HttpFixture::open(with_memory(1 << 20)).await;
    let read = stateless(1, "resources/read", json!({ "uri": "test://large" })).to_string();
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "resources/read"),
        ("mcp-name", "test://large"),
    ];
    let mut slow = site.connect("POST", &headers, &read).await;
    let mut first = [0; 1];
    slow.read_exact(&mut first).await.unwrap();
    assert_eq!(site.send("POST", &HEADERS, &padded(1)).await.refusal(), (503, -32603));
    drop(slow);
    while site.send("POST", &HEADERS, &padded(1)).await.status != 200 {
        tokio::task::yield_now().await;
    }
    let whole = site.send("POST", &headers, &read).await;
    assert_eq!((whole.status, whole.body.len() > 24 << 20), (200, true));
}

#[tokio::test]
async fn a_tool_reserves_what_it_is_about_to_buffer() {
    let mut pipe = StdioClient::open(with_memory(1 << 20));
    let call = |bytes: usize| {
        let arguments = json!({ "uris": ["test://static-text"], "max_bytes": bytes });
        let params = json!({ "name": "resources_read_embedded", "arguments": arguments });
        stateless(1, "tools/call", params)
    };
    let refused = pipe.call(&call(200 << 10)).await;
    assert!(refused.to_string().contains("memory limit"), "{refused}");
    let embedded = pipe.call(&call(100 << 10)).await;
    assert_eq!(embedded["result"]["content"][0]["type"], "resource", "{embedded}");
}

#[tokio::test]
async fn what_a_provider_holds_for_a_request_counts() {
    let memory = Arc::new(memory().text("test://masked", "text"));
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let server = fixture::server(Arc::clone(&memory), limits, CollectionsMode::Always);
    let mut pipe = StdioClient::open(server);
    let read = || stateless(1, "resources/read", json!({ "uri": "test://masked" }));
    let point = || FaultPoint::Read(resource::Uri::parse("test://masked").unwrap());
    // Twice, since what was held before no longer counts.
    for _ in 0..2 {
        memory.inject_fault(point(), Fault::HoldsMemory(100 << 10));
        let answer = pipe.call(&read()).await;
        assert_eq!(answer["result"]["contents"][0]["text"], "text", "{answer}");
        memory.inject_fault(point(), Fault::HoldsMemory(200 << 10));
        let refused = pipe.call(&read()).await;
        assert!(refused["error"].to_string().contains("memory limit"), "{refused}");
    }
}

#[tokio::test]
async fn what_a_session_keeps_has_a_length() {
    let mut pipe = StdioClient::open(fixture::default_server());
    let long = "x".repeat(1025);
    let refused = pipe.call(&request(long.as_str(), "ping", json!({}))).await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(null), &json!(-32600)));
    let fits = "x".repeat(1022);
    let answered = pipe.call(&request(fits.as_str(), "ping", json!({}))).await;
    assert_eq!(answered["id"], fits);
    let mut greedy = initialize("2025-11-25");
    greedy["params"]["capabilities"] = json!({ "experimental": { "x": "x".repeat(65 << 10) } });
    let refused = pipe.call(&greedy).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert!(pipe.call(&initialize("2025-11-25")).await["result"].is_object());
}

/// A call of one of our own tools.
fn tool_call(name: &str, arguments: &serde_json::Value) -> serde_json::Value {
    stateless(1, "tools/call", json!({ "name": name, "arguments": arguments }))
}

/// Starts `crowd` searches for `pattern` at once, and returns how many of them run before the rest
/// is refused.
async fn crowd_of_searches(crowd: usize, pattern: &str, limits: Limits) -> usize {
    let text = "a line\n".repeat(80_000);
    let memory = Arc::new(MemoryProvider::new().text("test://a", &text));
    let point = FaultPoint::Read(resource::Uri::parse("test://a").unwrap());
    memory.inject_fault(point, Fault::Waits);
    let server = fixture::server(Arc::clone(&memory), limits, CollectionsMode::Always);
    let site = HttpFixture::open(server).await;
    let grep = tool_call("resources_grep", &json!({ "pattern": pattern }));
    let mut calls: FuturesUnordered<_> = (0..crowd).map(|_| site.post_stateless(&grep)).collect();
    let mut refused = 0;
    while refused + memory.counts().in_flight() < crowd {
        tokio::select! {
            Some(answer) = calls.next() => {
                assert!(answer.body.contains("memory limit"), "{answer:?}");
                refused += 1;
            }
            () = tokio::task::yield_now() => {}
        }
    }
    memory.clear_faults();
    while let Some(answer) = calls.next().await {
        assert!(answer.body.contains("a line"), "{answer:?}");
    }
    let after = site.post_stateless(&grep).await;
    assert!(after.body.contains("a line"), "the budget is free again: {after:?}");
    crowd - refused
}

#[tokio::test]
async fn a_crowd_of_searches_holds_no_more_than_the_budget() {
    let limits = Limits { memory: 8 << 20, ..Limits::default() };
    let running = crowd_of_searches(40, "a line", limits).await;
    // Three quarters of the budget, by the text, the pattern and 256 KiB for each call.
    assert!((1..=8).contains(&running), "{running} run");
}

#[tokio::test]
async fn a_crowd_of_large_patterns_holds_no_more_than_the_budget() {
    let limits = Limits { memory: 24 << 20, ..Limits::default() };
    // More than 8 MiB each, with its caches.
    let running = crowd_of_searches(12, "a line|(?-u:[a-m][a-y]{4000}[l-z])", limits).await;
    assert!((1..=2).contains(&running), "{running} run");
}

#[tokio::test]
async fn a_sorted_list_counts_what_it_sorts() {
    let mut memory = MemoryProvider::new();
    for number in 0..2000 {
        memory = memory.text(&format!("test://{number}"), "");
    }
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let server = fixture::server(Arc::new(memory), limits, CollectionsMode::Always);
    let site = HttpFixture::open(server).await;
    let list = |filter: &str| {
        tool_call("resources_list", &json!({ "sort": "name", "uri": filter, "recursive": true }))
    };
    let refused = site.post_stateless(&list("**")).await;
    assert!(refused.body.contains("memory limit"), "{refused:?}");
    let fits = site.post_stateless(&list("test://1?")).await;
    assert!(fits.body.contains("test://10"), "{fits:?}");
}
