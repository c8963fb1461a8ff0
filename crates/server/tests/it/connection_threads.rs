//! Tests of connections that run on threads of their own.

use std::sync::Arc;

use futures_util::future;
use serde_json::json;
use server::transport::http::{ConnectionThreads, HttpOptions, OriginGuard};

use crate::fixture::{HttpFixture, default_server, stateless};

async fn on_threads(count: usize) -> HttpFixture {
    let guard = OriginGuard { loopback: true, ..OriginGuard::default() };
    let threads = Some(Arc::new(ConnectionThreads::start(count).unwrap()));
    HttpFixture::open_with(default_server(), HttpOptions { threads, ..guard.into() }).await
}

#[tokio::test]
async fn connections_on_several_threads_are_answered_at_once() {
    let site = on_threads(2).await;
    let read = stateless(1, "resources/read", json!({ "uri": "test://static-text" }));
    let answers = future::join_all((0..8).map(|_| site.post_stateless(&read))).await;
    for answer in answers {
        let text = answer.json()["result"]["contents"][0]["text"].clone();
        assert_eq!(text, "plain \"text\"\n日本語\u{1f38c}");
    }
}

/// A session is no part of a thread: its requests may come over any connection.
#[tokio::test]
async fn a_session_goes_on_over_a_connection_of_another_thread() {
    let site = on_threads(2).await;
    let session = site.open_session("2025-11-25").await;
    // It stays open, so that the next connection goes to the other thread.
    let held = site.connect("GET", &[("mcp-session-id", &session)], "").await;
    for id in 1..4 {
        let ping = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
        assert_eq!(site.post_in_session(&session, &ping).await.json()["id"], id);
    }
    drop(held);
}

#[tokio::test]
async fn the_shutdown_ends_the_streams_of_all_threads() {
    let mut site = on_threads(2).await;
    let listen = stateless(1, "subscriptions/listen", json!({ "notifications": {} }));
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "subscriptions/listen")];
    let listen = listen.to_string();
    let listeners = [(); 4].map(|()| site.connect("POST", &headers, &listen));
    let listeners = future::join_all(listeners).await;
    site.stop();
    site.stopped().await;
    drop(listeners);
}
