//! Tests of fair shares: no client locks the others out, however much it opens.

use std::net::Ipv4Addr;
use std::sync::Arc;

use serde_json::json;
use server::transport::http::{AccessToken, HttpOptions, OriginGuard, TokenTable};
use server::{CollectionsMode, Limits, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::fixture::{self, HttpFixture, initialize, memory, request, stateless};
use crate::sse_client::SseClient;

fn with(limits: Limits) -> Arc<Server> {
    fixture::server(Arc::new(memory()), limits, CollectionsMode::Always)
}

const DISCOVER: [(&str, &str); 2] =
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "server/discover")];

fn discover() -> String {
    stateless(1, "server/discover", json!({})).to_string()
}

fn listen() -> serde_json::Value {
    let wishes = json!({ "notifications": { "resourcesListChanged": true } });
    stateless(1, "subscriptions/listen", wishes)
}

/// A connection from another address of this machine.
async fn connect_from(last: u8, site: &HttpFixture) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::new(127, 0, 0, last), 0).into()).unwrap();
    socket.connect((Ipv4Addr::LOCALHOST, site.port).into()).await.unwrap()
}

/// Two tokens: ada and alan.
fn two_tokens() -> HttpOptions {
    let token = |name: &str| AccessToken {
        name: name.to_owned(),
        hash: *blake3::hash(name.as_bytes()).as_bytes(),
        expires: None,
        scopes: Vec::new(),
    };
    let tokens = Arc::new(TokenTable::new(vec![token("ada"), token("alan")], true));
    let guard = OriginGuard { loopback: true, ..OriginGuard::default() };
    HttpOptions { guard, tokens, ..HttpOptions::default() }
}

const ADA: (&str, &str) = ("authorization", "Bearer ada");
const ALAN: (&str, &str) = ("authorization", "Bearer alan");

/// A client that fills every place with silent connections loses one to a client that has none.
#[tokio::test]
async fn silent_connections_lock_nobody_out() {
    let site = HttpFixture::open(with(Limits { connections: 8, ..Limits::default() })).await;
    let mut silent = Vec::new();
    for _ in 0..10 {
        silent.push(connect_from(2, &site).await);
    }
    for _ in 0..3 {
        assert_eq!(site.send("POST", &DISCOVER, &discover()).await.status, 200);
    }
    let mut ended = [0; 1];
    assert_eq!(silent[0].read(&mut ended).await.unwrap_or(0), 0, "the longest silent made room");
}

/// A request that stops in the middle is as silent as none.
#[tokio::test]
async fn half_a_request_locks_nobody_out() {
    let site = HttpFixture::open(with(Limits { connections: 4, ..Limits::default() })).await;
    let mut slow = Vec::new();
    for _ in 0..4 {
        let mut stream = connect_from(2, &site).await;
        stream
            .write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{")
            .await
            .unwrap();
        slow.push(stream);
    }
    assert_eq!(site.send("POST", &DISCOVER, &discover()).await.status, 200);
}

/// The same client gets in again, too: its own silent connections make room after a second.
#[tokio::test]
async fn a_client_that_forgot_its_connections_is_served() {
    let site = HttpFixture::open(with(Limits { connections: 2, ..Limits::default() })).await;
    let _first = connect_from(1, &site).await;
    let _second = connect_from(1, &site).await;
    assert_eq!(site.send("POST", &DISCOVER, &discover()).await.status, 200);
}

/// Idle listening requests of one principal make room for one of another, with a final answer.
#[tokio::test]
async fn idle_listeners_lock_nobody_out() {
    let limits = Limits { total_streams: 3, ..Limits::default() };
    let site = HttpFixture::open_with(with(limits), two_tokens()).await;
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "subscriptions/listen")];
    let body = listen().to_string();
    let open = async |token| {
        let headers = [headers[0], headers[1], token];
        SseClient::open(&site, "POST", &headers, &body).await
    };
    let mut greedy = Vec::new();
    for _ in 0..3 {
        let mut events = open(ADA).await;
        events.message().await;
        greedy.push(events);
    }
    assert_eq!(open(ADA).await.status, 503, "it has the most, and none of them is idle for long");
    let mut honest = open(ALAN).await;
    assert_eq!(honest.status, 200);
    honest.message().await;
    assert!(greedy[0].message().await["result"].is_object(), "the oldest ends with an answer");
    assert_eq!(greedy[0].try_next().await, None);
    assert_eq!(site.send("POST", &[DISCOVER[0], DISCOVER[1], ADA], &discover()).await.status, 200);
}

/// A principal with all sessions loses the longest idle one to a principal with none.
#[tokio::test]
async fn sessions_lock_nobody_out() {
    let limits = Limits { sessions: 3, ..Limits::default() };
    let site = HttpFixture::open_with(with(limits), two_tokens()).await;
    let open = initialize("2025-06-18").to_string();
    let mut sessions = Vec::new();
    for _ in 0..3 {
        let answer = site.send("POST", &[ADA], &open).await;
        sessions.push(answer.header("mcp-session-id").unwrap().to_owned());
    }
    let ping = request(1, "ping", json!({})).to_string();
    let status = async |session: &str| {
        site.send("POST", &[ADA, ("mcp-session-id", session)], &ping).await.status
    };
    assert_eq!(status(&sessions[0]).await, 200);
    assert_eq!(site.send("POST", &[ADA], &open).await.status, 503);
    assert_eq!(site.send("POST", &[ALAN], &open).await.status, 200);
    assert_eq!(status(&sessions[1]).await, 404, "the longest idle made room");
    assert_eq!((status(&sessions[0]).await, status(&sessions[2]).await), (200, 200));
}
