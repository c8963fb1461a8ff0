//! Tests of bearer tokens: 401 and its challenge, and a principal for each token.

use std::sync::Arc;

use serde_json::json;
use server::transport::http::{AccessToken, HttpOptions, OriginGuard, TokenTable};

use crate::fixture::{HttpFixture, default_server, initialize, request, stateless};
use crate::sse_client::SseClient;

fn token(name: &str) -> AccessToken {
    let hash = *blake3::hash(format!("rdk_{name}").as_bytes()).as_bytes();
    AccessToken { name: name.to_owned(), hash, expires: None, scopes: Vec::new() }
}

fn options(tokens: &Arc<TokenTable>) -> HttpOptions {
    let guard = OriginGuard { loopback: true, ..OriginGuard::default() };
    HttpOptions { guard, tokens: Arc::clone(tokens), ..HttpOptions::default() }
}

const ADA: (&str, &str) = ("authorization", "Bearer rdk_ada");
const ALAN: (&str, &str) = ("authorization", "Bearer rdk_alan");

/// AU-03, RFC 6750 section 3.1: a token that was sent and is wrong is named, an absent one is not.
#[tokio::test]
async fn a_request_without_a_valid_token_is_challenged() {
    let tokens = Arc::new(TokenTable::new(vec![token("ada")], true));
    let site = HttpFixture::open_with(default_server(), options(&tokens)).await;
    let body = stateless(1, "server/discover", json!({})).to_string();
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "server/discover")];
    let with = |more: Option<(&'static str, &'static str)>| {
        headers.iter().copied().chain(more).collect::<Vec<_>>()
    };
    assert_eq!(site.send("POST", &with(Some(ADA)), &body).await.status, 200);
    let missing = site.send("POST", &with(None), &body).await;
    assert_eq!(missing.status, 401);
    assert_eq!(missing.header("www-authenticate"), Some("Bearer realm=\"refdesk\""));
    let wrong = site.send("POST", &with(Some(ALAN)), &body).await;
    let challenge = wrong.header("www-authenticate").unwrap();
    assert!(wrong.status == 401 && challenge.contains("error=\"invalid_token\""), "{wrong:?}");
    let query = site.send("POST /mcp?access_token=rdk_ada", &with(None), &body).await;
    assert_eq!(query.status, 401, "a token in the query string is none");
    let elsewhere = site.send("GET /secret", &[], "").await;
    assert_eq!(elsewhere.status, 401, "an unknown path is not told apart without a token");
}

/// SEC-06: the session id of another principal opens nothing.
#[tokio::test]
async fn a_session_belongs_to_the_token_that_opened_it() {
    let tokens = Arc::new(TokenTable::new(vec![token("ada"), token("alan")], true));
    let site = HttpFixture::open_with(default_server(), options(&tokens)).await;
    let opened = site.send("POST", &[ADA], &initialize("2025-06-18").to_string()).await;
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let ping = request(1, "ping", json!({})).to_string();
    let id = ("mcp-session-id", session.as_str());
    assert_eq!(site.send("POST", &[ADA, id], &ping).await.status, 200);
    assert_eq!(site.send("POST", &[ALAN, id], &ping).await.status, 404);
    assert_eq!(site.send("DELETE", &[ALAN, id], "").await.status, 404);
    assert_eq!(site.send("POST", &[id], &ping).await.status, 401);
    assert_eq!(site.send("DELETE", &[ADA, id], "").await.status, 204);
}

#[tokio::test]
async fn a_stream_ends_when_its_token_is_revoked() {
    let tokens = Arc::new(TokenTable::new(vec![token("ada")], true));
    let site = HttpFixture::open_with(default_server(), options(&tokens)).await;
    let wishes = json!({ "notifications": { "resourcesListChanged": true } });
    let listen = stateless(1, "subscriptions/listen", wishes);
    let headers =
        [ADA, ("mcp-protocol-version", "2026-07-28"), ("mcp-method", "subscriptions/listen")];
    let mut events = SseClient::open(&site, "POST", &headers, &listen.to_string()).await;
    events.message().await;
    tokens.replace(vec![token("alan")]);
    assert_eq!(events.try_next().await, None);
}

/// A table in which ada has these scopes.
fn scoped(scopes: &[&str]) -> Vec<AccessToken> {
    let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
    vec![AccessToken { scopes, ..token("ada") }]
}

#[tokio::test]
async fn a_session_ends_when_the_scopes_of_its_token_change() {
    let tokens = Arc::new(TokenTable::new(scoped(&["docs", "secret"]), true));
    let site = HttpFixture::open_with(default_server(), options(&tokens)).await;
    let opened = site.send("POST", &[ADA], &initialize("2025-03-26").to_string()).await;
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let headers = [ADA, ("mcp-session-id", session.as_str())];
    let read = request(1, "resources/read", json!({ "uri": "test://static-text" }));
    let batch = json!([read]).to_string();
    assert_eq!(site.send("POST", &headers, &batch).await.status, 200);
    tokens.replace(scoped(&["docs", "secret"]));
    assert_eq!(site.send("POST", &headers, &batch).await.status, 200, "nothing has changed");
    tokens.replace(scoped(&["docs"]));
    for body in [batch, read.to_string()] {
        assert_eq!(site.send("POST", &headers, &body).await.status, 404, "{body}");
    }
    assert_eq!(site.send("GET", &headers, "").await.status, 404);
    let again = site.send("POST", &[ADA], &initialize("2025-03-26").to_string()).await;
    let session = again.header("mcp-session-id").unwrap();
    let headers = [ADA, ("mcp-session-id", session)];
    assert_eq!(site.send("POST", &headers, &read.to_string()).await.status, 200);
}

#[tokio::test]
async fn streams_end_when_the_scopes_of_their_token_change() {
    let tokens = Arc::new(TokenTable::new(scoped(&["docs", "secret"]), true));
    let site = HttpFixture::open_with(default_server(), options(&tokens)).await;
    let wishes = json!({ "notifications": { "resourcesListChanged": true } });
    let listen = stateless(1, "subscriptions/listen", wishes).to_string();
    let stateless_headers =
        [ADA, ("mcp-protocol-version", "2026-07-28"), ("mcp-method", "subscriptions/listen")];
    let mut listening = SseClient::open(&site, "POST", &stateless_headers, &listen).await;
    listening.message().await;
    let opened = site.send("POST", &[ADA], &initialize("2025-06-18").to_string()).await;
    let id = opened.header("mcp-session-id").unwrap();
    let mut session = SseClient::open(&site, "GET", &[ADA, ("mcp-session-id", id)], "").await;
    let mut pipe = SseClient::open(&site, "GET", &[ADA, ("accept", "text/event-stream")], "").await;
    let endpoint = format!("POST {}", pipe.next().await.data);
    let ping = request(1, "ping", json!({})).to_string();
    assert_eq!(site.send(&endpoint, &[ADA], &ping).await.status, 202);
    assert_eq!(pipe.message().await["result"], json!({}));
    tokens.replace(scoped(&["docs"]));
    assert_eq!(site.send(&endpoint, &[ADA], &ping).await.status, 404);
    for stream in [&mut listening, &mut session, &mut pipe] {
        while let Some(event) = stream.try_next().await {
            assert!(event.data.is_empty(), "nothing but the start of a stream: {event:?}");
        }
    }
}
