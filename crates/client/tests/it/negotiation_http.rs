//! Tests of negotiation over HTTP: which era a server belongs to.

use client::{Client, Error, Request};
use serde_json::json;

use crate::scripted_http::{Reply, ScriptedHttpServer, legacy, modern};
use crate::scripted_pipe::{ask, fast_options, in_time, initialize_result};

async fn revision(client: &Client) -> String {
    in_time(client.peer()).await.unwrap().revision().to_owned()
}

/// MCP 2026-07-28, transports: the headers of every request.
#[tokio::test]
async fn a_server_that_can_be_discovered_is_modern_and_hears_so_in_headers() {
    let mut site = ScriptedHttpServer::open(|request, _| {
        modern(&request).unwrap_or_else(|| match request.method() {
            "subscriptions/listen" => Reply::error(404, &request, -32601),
            _ => Reply::result(&request, "{}"),
        })
    })
    .await;
    let client = site.client(fast_options());
    client.send_request(&Request::new("resources/read").uri("mem://café")).await.unwrap();
    assert_eq!(client.peer().await.unwrap().revision(), "2026-07-28");
    let discover = site.wait_for_method("server/discover").await;
    assert_eq!(discover.header("mcp-method"), "server/discover");
    let read = site.wait_for_method("resources/read").await;
    assert_eq!(read.header("mcp-protocol-version"), "2026-07-28");
    assert_eq!(read.header("mcp-method"), "resources/read");
    assert_eq!(read.header("mcp-name"), "=?base64?bWVtOi8vY2Fmw6k=?=");
    assert_eq!(read.header("accept"), "application/json, text/event-stream");
    assert!(!read.headers.contains_key("mcp-session-id"));
}

#[tokio::test]
async fn a_rejection_that_no_modern_server_gives_means_a_handshake() {
    for status in [400, 404, 405, 422] {
        let mut site = ScriptedHttpServer::open(move |request, _| match request.method() {
            "server/discover" => Reply::status(status),
            _ => legacy(&request, "s1").unwrap_or_else(|| Reply::result(&request, "{}")),
        })
        .await;
        let client = site.client(fast_options());
        ask(&client, "resources/list").await.unwrap();
        assert_eq!(revision(&client).await, "2025-11-25", "{status}");
        let listed = site.wait_for_method("resources/list").await;
        assert_eq!(listed.header("mcp-session-id"), "s1");
        assert_eq!(listed.header("mcp-protocol-version"), "2025-11-25");
        assert!(!listed.headers.contains_key("mcp-method"));
    }
}

#[tokio::test]
async fn an_error_that_no_modern_server_gives_means_a_handshake_whatever_its_status() {
    for (status, code) in [(200, -32601), (400, -32600), (404, -32001), (400, -32602)] {
        let site = ScriptedHttpServer::open(move |request, _| match request.method() {
            "server/discover" => Reply::error(status, &request, code),
            "initialize" => Reply::result(&request, &initialize_result("2025-03-26").to_string()),
            _ => Reply::status(202),
        })
        .await;
        assert_eq!(revision(&site.client(fast_options())).await, "2025-03-26", "{status} {code}");
    }
}

#[tokio::test]
async fn an_error_that_only_modern_servers_give_keeps_a_server_modern() {
    for code in [-32020, -32021] {
        let mut site =
            ScriptedHttpServer::open(move |request, _| Reply::error(400, &request, code)).await;
        let client = site.client(fast_options());
        assert_eq!(revision(&client).await, "2026-07-28", "{code}");
        site.wait_for_method("server/discover").await;
    }
    let site = ScriptedHttpServer::open(|request, _| {
        let error =
            json!({ "code": -32022, "message": "v", "data": { "supported": ["2026-07-28"] } });
        let body = json!({ "jsonrpc": "2.0", "id": request.id(), "error": error });
        Reply::json(400, &body.to_string())
    })
    .await;
    assert_eq!(revision(&site.client(fast_options())).await, "2026-07-28");
}

#[tokio::test]
async fn a_server_that_wants_to_know_who_we_are_gets_no_handshake() {
    for status in [401, 403, 500, 503] {
        let mut site = ScriptedHttpServer::open(move |_, _| Reply::status(status)).await;
        let error = in_time(site.client(fast_options()).peer()).await.unwrap_err();
        let has_kind = match &error {
            Error::Unauthorized => status == 401,
            Error::Unreachable(_) => status != 401,
            _ => false,
        };
        assert!(has_kind && error.to_string().contains(&status.to_string()), "{error}");
        assert_eq!(site.wait_for_verb("POST").await.method(), "server/discover");
    }
}

#[tokio::test]
async fn a_server_that_rejects_both_is_tried_the_oldest_way() {
    let mut site = ScriptedHttpServer::open(|request, _| match request.verb.as_str() {
        "GET" => Reply::status(404),
        _ => Reply::status(405),
    })
    .await;
    let error = in_time(site.client(fast_options()).peer()).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable(_)), "{error}");
    site.wait_for_method("server/discover").await;
    site.wait_for_method("initialize").await;
    assert_eq!(site.wait_for_verb("GET").await.header("accept"), "text/event-stream");
}

#[tokio::test]
async fn a_modern_server_that_turns_old_is_asked_again_in_its_way() {
    let site = ScriptedHttpServer::open(|request, number| match request.method() {
        _ if number == 0 => modern(&request).unwrap(),
        "subscriptions/listen" => Reply::error(404, &request, -32601),
        "resources/list" if request.header("mcp-session-id") == "s1" => {
            Reply::result(&request, "{}")
        }
        _ => legacy(&request, "s1").unwrap_or_else(|| Reply::status(400)),
    })
    .await;
    let client = site.client(fast_options());
    assert_eq!(revision(&client).await, "2026-07-28");
    in_time(ask(&client, "resources/list")).await.unwrap();
    assert_eq!(client.peer().await.unwrap().revision(), "2025-11-25");
}

#[tokio::test]
async fn an_old_server_that_turns_modern_is_asked_again_in_its_way() {
    let site = ScriptedHttpServer::open(|request, number| match request.method() {
        "server/discover" if number > 0 => modern(&request).unwrap(),
        "resources/list" if request.header("mcp-method").is_empty() => {
            Reply::error(400, &request, -32020)
        }
        "resources/list" => Reply::result(&request, "{}"),
        "subscriptions/listen" => Reply::error(404, &request, -32601),
        _ => legacy(&request, "s1").unwrap_or_else(|| Reply::status(405)),
    })
    .await;
    let client = site.client(fast_options());
    assert_eq!(revision(&client).await, "2025-11-25");
    in_time(ask(&client, "resources/list")).await.unwrap();
    assert_eq!(client.peer().await.unwrap().revision(), "2026-07-28");
}

#[tokio::test]
async fn an_old_server_that_comes_back_modern_is_found_to_be() {
    let old = ScriptedHttpServer::open(|request, _| {
        legacy(&request, "s1").unwrap_or_else(|| match request.verb.as_str() {
            "GET" => Reply::status(405),
            _ => Reply::result(&request, "{}"),
        })
    })
    .await;
    let (port, client) = (old.port, old.client(fast_options()));
    assert_eq!(revision(&client).await, "2025-11-25");
    drop(old);
    let down = async {
        while ask(&client, "resources/list").await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    in_time(down).await;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let _new = ScriptedHttpServer::on(listener, |request, _| {
        modern(&request).unwrap_or_else(|| match request.verb.as_str() {
            "GET" => Reply::status(405),
            _ => Reply::error(404, &request, -32601),
        })
    });
    let up = async {
        loop {
            match client.peer().await {
                Ok(peer) if !peer.has_handshake() => return,
                _ => tokio::task::yield_now().await,
            }
        }
    };
    in_time(up).await;
}
