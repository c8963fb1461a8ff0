//! Tests of HTTP/1.1 edge cases: half-closed clients, clients who left, forms of the target.

use std::sync::Arc;

use serde_json::json;
use server::{CollectionsMode, Limits};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::fixture::{self, HttpFixture, default_server, stateless, until};

const TEXT: &str = "test://static-text";

fn read_headers(uri: &str) -> [(&str, &str); 3] {
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "resources/read"), ("mcp-name", uri)]
}

fn read(uri: &str) -> String {
    stateless(1, "resources/read", json!({ "uri": uri })).to_string()
}

fn slow_site() -> (Arc<MemoryProvider>, Arc<server::Server>) {
    let memory = Arc::new(fixture::memory());
    let uri = resource::Uri::parse(TEXT).unwrap();
    memory.inject_fault(FaultPoint::Read(uri), Fault::Hangs);
    let server = fixture::server(Arc::clone(&memory), Limits::default(), CollectionsMode::Always);
    (memory, server)
}

/// A client that sends its request and closes its side for writing gets the whole answer.
#[tokio::test]
async fn a_half_closed_client_gets_its_answer() {
    let large = "x".repeat(8 << 20);
    let memory = MemoryProvider::new().text("test://large", &large);
    let server = fixture::server(Arc::new(memory), Limits::default(), CollectionsMode::Always);
    let site = HttpFixture::open(server).await;
    let uri = "test://large";
    let mut stream = site.connect("POST", &read_headers(uri), &read(uri)).await;
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let status = answer.rsplit("HTTP/1.1 ").next().unwrap();
    assert!(status.starts_with("200 "), "{answer:.200}");
    assert!(answer.len() > large.len() && answer.ends_with("0\r\n\r\n"), "{}", answer.len());
}

/// The end of the input may arrive together with the request: hyper then sees it before the handler
/// has the whole body.
#[tokio::test]
async fn a_client_that_closes_its_half_at_once_gets_its_answer() {
    let site = HttpFixture::open(default_server()).await;
    for _ in 0..100 {
        let mut stream = site.connect("POST", &read_headers(TEXT), &read(TEXT)).await;
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.contains("HTTP/1.1 200 "), "{answer:.200}");
    }
}

/// A half-closed client may wait long: interim responses find out that it is still there.
#[tokio::test]
async fn a_half_closed_client_is_waited_for() {
    let (memory, server) = slow_site();
    let site = HttpFixture::open(server).await;
    let mut stream = site.connect("POST", &read_headers(TEXT), &read(TEXT)).await;
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    while !String::from_utf8_lossy(&answer).contains("100 Continue\r\n\r\nHTTP/1.1 100") {
        assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0, "{answer:?}");
    }
    assert_eq!(memory.counts().in_flight(), 1, "the request goes on");
}

/// A request of a client that left does not go on.
#[tokio::test]
async fn the_request_of_a_client_that_left_is_cancelled() {
    let (memory, server) = slow_site();
    let site = HttpFixture::open(server).await;
    let stream = site.connect("POST", &read_headers(TEXT), &read(TEXT)).await;
    until(|| memory.counts().in_flight() == 1).await;
    drop(stream);
    until(|| memory.counts().in_flight() == 0).await;
}

/// RFC 9112, 3.2.2: a server accepts the absolute form, and its authority replaces `Host`.
#[tokio::test]
async fn a_target_in_absolute_form_is_served_and_checked() {
    let site = HttpFixture::open(default_server()).await;
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "server/discover")];
    let body = stateless(1, "server/discover", json!({})).to_string();
    for (target, status) in [
        ("POST http://localhost/mcp", 200),
        ("POST http://127.0.0.1:7878/mcp", 200),
        ("POST http://evil.example/mcp", 403),
        ("POST http://localhost/other", 404),
        ("OPTIONS *", 404),
    ] {
        assert_eq!(site.send(target, &headers, &body).await.status, status, "{target}");
    }
    let twice = [headers[0], headers[1], ("host", "localhost"), ("host", "localhost")];
    assert_eq!(site.send("POST", &twice, &body).await.status, 400, "RFC 9112, 3.2");
    let evil = [headers[0], headers[1], ("host", "evil.example")];
    assert_eq!(site.send("POST", &evil, &body).await.status, 403);
}
