//! Tests of `refdesk://clients`: who is connected over each transport, and what they requested.

use std::sync::Arc;

use serde_json::{Value, json};
use server::transport::http::{AccessToken, HttpOptions, OriginGuard, TokenTable};
use server::{ClientRegistry, CollectionsMode, Limits, Server};

use crate::fixture::{HttpFixture, StdioClient, initialize, request, stateless};
use crate::sse_client::SseClient;

const OWN: &str = "refdesk://clients";

/// A server whose only resource lists its clients.
fn clients_server() -> Arc<Server> {
    let clients = ClientRegistry::new();
    let provider = Arc::clone(&clients);
    let server = Server::new(provider, Limits::default(), [7; 32], CollectionsMode::Always);
    Arc::new(server.with_clients(clients))
}

fn read(uri: &str) -> Value {
    request("read", "resources/read", json!({ "uri": uri }))
}

fn content(answer: &Value) -> Value {
    let text = answer["result"]["contents"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("{answer}"))).unwrap()
}

#[tokio::test]
async fn a_client_over_stdio_sees_itself_and_what_it_requested() {
    let mut pipe = StdioClient::open(clients_server());
    pipe.call(&initialize("2025-06-18")).await;
    pipe.call(&request(1, "resources/list", json!({}))).await;
    pipe.call(&read("file:///none")).await;
    pipe.call(&request(2, "no/such\u{7}method", json!({}))).await;
    pipe.call(&request(3, "resources/subscribe", json!({ "uri": OWN }))).await;
    let told = content(&pipe.call(&read(OWN)).await);
    let [client] = &told["clients"].as_array().unwrap()[..] else { panic!("{told}") };
    let expected = json!({
        "id": client["id"], "name": "test", "version": "1", "revision": "2025-06-18",
        "transport": "stdio", "principal": "local", "connected": client["connected"],
        "lastSeen": client["lastSeen"], "requests": 5, "errors": 2, "subscriptions": 1,
    });
    assert_eq!(*client, expected);
    let recent: Vec<_> = told["recent"].as_array().unwrap().iter().collect();
    let shown = |member: &str| recent.iter().map(|one| one[member].clone()).collect::<Value>();
    assert_eq!(
        shown("method"),
        json!(["no/such method", "resources/read", "resources/list", "initialize"])
    );
    assert_eq!(shown("outcome"), json!(["method not found", "not found", "ok", "ok"]));
    assert_eq!(recent[1]["uri"], "file:///none");
    assert_eq!(recent[1]["client"], client["id"]);
    assert_eq!(recent[2].get("uri"), None);
}

#[tokio::test]
async fn each_transport_and_lifecycle_is_told_apart() {
    let server = clients_server();
    let site = HttpFixture::open(Arc::clone(&server)).await;
    let session = site.open_session("2025-11-25").await;
    let mut pipe = StdioClient::open(Arc::clone(&server));
    pipe.call(&stateless(1, "resources/list", json!({}))).await;
    let mut sse = SseClient::open(&site, "GET", &[("accept", "text/event-stream")], "").await;
    let path = format!("POST {}", sse.next().await.data);
    site.send(&path, &[], &initialize("2024-11-05").to_string()).await;
    sse.message().await;
    let wishes = json!({ "notifications": { "resourceSubscriptions": [OWN] } });
    let mut events = SseClient::alone(&site, &stateless(1, "subscriptions/listen", wishes)).await;
    events.message().await;
    let told = content(&site.post_in_session(&session, &read(OWN)).await.json());
    let of = |transport: &str, revision: &str| {
        let clients = told["clients"].as_array().unwrap().iter();
        let is_it =
            |client: &&Value| client["transport"] == transport && client["revision"] == revision;
        let found: Vec<_> = clients.filter(is_it).collect();
        assert_eq!(found.len(), 1, "{transport} {revision}: {told}");
        found[0]["subscriptions"].clone()
    };
    assert_eq!(of("http", "2025-11-25"), 0);
    assert_eq!(of("stdio", "2026-07-28"), 0);
    assert_eq!(of("sse", "2024-11-05"), 0);
    assert_eq!(of("http", "2026-07-28"), 1);
    assert_eq!(told["clients"].as_array().unwrap().len(), 4);
    // The listener is told when another client comes, and a session that ends is gone.
    pipe.call(&initialize("2025-03-26")).await;
    let update = events.message().await;
    assert_eq!(update["params"]["uri"], OWN, "{update}");
    assert_eq!(site.send("DELETE", &[("mcp-session-id", &session)], "").await.status, 204);
    drop(sse);
    let alone = stateless(2, "resources/read", json!({ "uri": OWN }));
    let told = content(&site.post_stateless(&alone).await.json());
    let clients = told["clients"].as_array().unwrap();
    assert!(!clients.iter().any(|client| client["revision"] == "2025-11-25"), "{told}");
}

#[tokio::test]
async fn a_principal_sees_nothing_of_another() {
    let token = |name: &str| {
        let hash = *blake3::hash(format!("rdk_{name}").as_bytes()).as_bytes();
        AccessToken { name: name.to_owned(), hash, expires: None, scopes: Vec::new() }
    };
    let tokens = Arc::new(TokenTable::new(vec![token("ada"), token("alan")], true));
    let guard = OriginGuard { loopback: true, ..OriginGuard::default() };
    let options = HttpOptions { guard, tokens, ..HttpOptions::default() };
    let site = HttpFixture::open_with(clients_server(), options).await;
    for name in ["ada", "alan"] {
        let bearer = format!("Bearer rdk_{name}");
        let own = ("authorization", bearer.as_str());
        let opened = site.send("POST", &[own], &initialize("2025-11-25").to_string()).await;
        let session = opened.header("mcp-session-id").unwrap().to_owned();
        let headers = [own, ("mcp-session-id", session.as_str())];
        let missing = read(&format!("file:///{name}/secret")).to_string();
        site.send("POST", &headers, &missing).await;
        let told = content(&site.send("POST", &headers, &read(OWN).to_string()).await.json());
        assert_eq!(told["clients"].as_array().unwrap().len(), 1, "{told}");
        assert_eq!(told["clients"][0]["principal"], name, "{told}");
        assert_eq!(told["recent"].as_array().unwrap().len(), 2, "{told}");
        assert_eq!(told["recent"][0]["uri"], format!("file:///{name}/secret"), "{told}");
    }
}
