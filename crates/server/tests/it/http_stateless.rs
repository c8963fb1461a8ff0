//! Tests of stateless Streamable HTTP (2026-07-28).

use std::sync::Arc;

use resource::{HealthState, HealthStatus};
use serde_json::{Value, json};
use server::{CollectionsMode, Limits};
use testkit::memory::{Fault, FaultPoint};
use tokio::io::AsyncWriteExt;

use crate::fixture::{
    self, HttpFixture, default_server, memory, request, stateless, stateless_meta,
};

/// Posts `message` with these headers.
async fn post(fixture: &HttpFixture, headers: &[(&str, &str)], message: &Value) -> (u16, i64) {
    let answer = fixture.send("POST", headers, &message.to_string()).await;
    if answer.status < 300 || answer.header("content-type") == Some("application/json") {
        assert_eq!(answer.json()["id"], message["id"], "H-18: the answer names its request");
    }
    answer.refusal()
}

const VERSION: (&str, &str) = ("mcp-protocol-version", "2026-07-28");

/// H-20, V-01: no handshake, a new connection each time.
#[tokio::test]
async fn each_request_is_answered_by_itself() {
    let site = HttpFixture::open(default_server()).await;
    let answer = site.post_stateless(&stateless("d", "server/discover", json!({}))).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("mcp-session-id"), None, "H-13");
    assert_eq!(answer.json()["result"]["supportedVersions"][0], "2026-07-28");
    let read = stateless(2, "resources/read", json!({ "uri": "test://static-text" }));
    let answer = site.post_stateless(&read).await.json();
    assert_eq!(answer["result"]["contents"][0]["text"], "plain \"text\"\n日本語\u{1f38c}");
}

#[tokio::test]
async fn what_we_can_do_is_not_to_be_kept_while_a_source_is_not_there() {
    for (state, ttl) in [
        (HealthState::Ready, 300_000),
        (HealthState::Degraded, 300_000),
        (HealthState::Starting, 0),
        (HealthState::Failed, 0),
    ] {
        let memory = memory().with_health(HealthStatus::new(state, None));
        let server = fixture::server(Arc::new(memory), Limits::default(), CollectionsMode::Always);
        let site = HttpFixture::open(server).await;
        let told = site.post_stateless(&stateless(1, "server/discover", json!({}))).await.json();
        let result = &told["result"];
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(ttl), &json!("public")));
    }
}

/// H-02, H-03, H-04, H-05, V-02.
#[tokio::test]
async fn a_request_must_say_its_terms_in_body_and_header() {
    let site = HttpFixture::open(default_server()).await;
    let discover = ("mcp-method", "server/discover");
    let with = |alter: fn(&mut serde_json::Map<String, Value>)| {
        let mut meta = stateless_meta();
        alter(&mut meta);
        request(1, "server/discover", json!({ "_meta": meta }))
    };
    let bare = request(1, "server/discover", json!({}));
    assert_eq!(post(&site, &[VERSION, discover], &bare).await, (400, -32602));
    let no_capabilities =
        with(|meta| drop(meta.remove("io.modelcontextprotocol/clientCapabilities")));
    assert_eq!(post(&site, &[VERSION, discover], &no_capabilities).await, (400, -32602));
    let no_info = with(|meta| drop(meta.remove("io.modelcontextprotocol/clientInfo")));
    assert_eq!(post(&site, &[VERSION, discover], &no_info).await, (200, 0));
    let level =
        with(|meta| drop(meta.insert("io.modelcontextprotocol/logLevel".into(), "loud".into())));
    assert_eq!(post(&site, &[VERSION, discover], &level).await, (400, -32602), "H-22");

    let whole = stateless(1, "server/discover", json!({}));
    assert_eq!(post(&site, &[discover], &whole).await, (400, -32020));
    let other = ("mcp-protocol-version", "2025-11-25");
    assert_eq!(post(&site, &[other, discover], &whole).await, (400, -32020));
    for date in ["v999", "2025-06-18"] {
        let mut meta = stateless_meta();
        meta.insert("io.modelcontextprotocol/protocolVersion".into(), date.into());
        let message = request(1, "server/discover", json!({ "_meta": meta }));
        assert_eq!(post(&site, &[VERSION, discover], &message).await, (400, -32020));
        let answer = site
            .send("POST", &[("mcp-protocol-version", date), discover], &message.to_string())
            .await;
        assert_eq!(answer.refusal(), (400, -32022));
        let data = &answer.json()["error"]["data"];
        assert_eq!(data, &json!({ "supported": ["2026-07-28"], "requested": date }));
    }
}

/// H-06, H-07, H-08, H-09.
#[tokio::test]
async fn headers_that_repeat_the_body_must_agree_with_it() {
    let site = HttpFixture::open(default_server()).await;
    let read = stateless(1, "resources/read", json!({ "uri": "test://static-text" }));
    let method = ("mcp-method", "resources/read");
    let name = ("mcp-name", "test://static-text");
    assert_eq!(post(&site, &[VERSION, method, name], &read).await, (200, 0));
    let loose = [
        ("MCP-PROTOCOL-VERSION", " 2026-07-28 "),
        ("Mcp-Method", " resources/read "),
        ("MCP-NAME", " test://static-text"),
    ];
    assert_eq!(post(&site, &loose, &read).await, (200, 0));
    let encoded = ("mcp-name", "=?base64?dGVzdDovL3N0YXRpYy10ZXh0?=");
    assert_eq!(post(&site, &[VERSION, method, encoded], &read).await, (200, 0));
    for headers in [
        vec![VERSION, name],
        vec![VERSION, method],
        vec![VERSION, ("mcp-method", "Resources/Read"), name],
        vec![VERSION, ("mcp-method", "resources/list"), name],
        vec![VERSION, method, ("mcp-name", "test://static-binary")],
        vec![VERSION, method, ("mcp-name", "=?base64?%%%?=")],
        vec![VERSION, VERSION, method, name],
        vec![VERSION, method, method, name],
        vec![VERSION, method, name, ("mcp-name", "test://static-binary")],
    ] {
        assert_eq!(post(&site, &headers, &read).await, (400, -32020), "{headers:?}");
    }
    // B-09: methods of SEP-2093 may repeat their URI in the header, and then it must match.
    let metadata = stateless(1, "resources/metadata", json!({ "uri": "test://static-text" }));
    let method = ("mcp-method", "resources/metadata");
    assert_eq!(post(&site, &[VERSION, method], &metadata).await, (200, 0));
    let wrong = ("mcp-name", "test://static-binary");
    assert_eq!(post(&site, &[VERSION, method, wrong], &metadata).await, (400, -32020));
}

/// H-10, R-26-10.
#[tokio::test]
async fn unknown_and_removed_methods_are_not_found() {
    let site = HttpFixture::open(default_server()).await;
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "prompts/list",
        "no/such",
    ] {
        let message = stateless(1, method, json!({ "uri": "test://static-text" }));
        assert_eq!(site.post_stateless(&message).await.refusal(), (404, -32601), "{method}");
    }
}

/// H-01, H-11, H-23, and malformed bodies.
#[tokio::test]
async fn what_is_no_request_gets_the_status_it_should() {
    let site = HttpFixture::open(default_server()).await;
    for verb in ["GET", "DELETE", "PUT"] {
        let answer = site.send(verb, &[VERSION], "").await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{verb}");
    }
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/anything" }).to_string();
    let answer = site.send("POST", &[VERSION], &note).await;
    assert_eq!((answer.status, answer.body.as_str()), (202, ""));
    let wrong = site.send("POST", &[VERSION, ("mcp-method", "other")], &note).await;
    assert_eq!(wrong.refusal(), (400, -32020));
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        ("\"text\"", -32600),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
    ] {
        let answer = site.send("POST", &[VERSION], body).await;
        assert_eq!(answer.refusal(), (400, code), "{body}");
        assert_eq!(answer.json().get("id"), None, "{body}");
    }
    assert_eq!(site.send("POST /other", &[VERSION], "{}").await.status, 404);
}

/// Handler errors have status 200, so that no client takes them for a wrong revision.
#[tokio::test]
async fn a_missing_resource_is_bad_parameters_and_never_empty() {
    let site = HttpFixture::open(default_server()).await;
    let missing = stateless(1, "resources/read", json!({ "uri": "test://nope" }));
    let answer = site.post_stateless(&missing).await;
    assert_eq!(answer.refusal(), (200, -32602));
    assert_eq!(answer.json()["error"]["data"], json!({ "uri": "test://nope" }));
}

/// H-21, SEC-01, SEC-02.
#[tokio::test]
async fn strange_origins_and_hosts_are_turned_away() {
    let site = HttpFixture::open(default_server()).await;
    let message = stateless(1, "server/discover", json!({})).to_string();
    for header in [("origin", "http://evil.example"), ("host", "evil.example")] {
        let answer = site
            .send("POST", &[VERSION, ("mcp-method", "server/discover"), header], &message)
            .await;
        assert_eq!(answer.status, 403, "{header:?}");
    }
    let own = format!("http://127.0.0.1:{}", site.port);
    let headers = [VERSION, ("mcp-method", "server/discover"), ("origin", own.as_str())];
    assert_eq!(site.send("POST", &headers, &message).await.status, 200);
}

/// H-15: closing the connection cancels the request.
#[tokio::test]
async fn hanging_up_drops_the_work() {
    let memory = Arc::new(memory());
    let uri = resource::Uri::parse("test://static-text").unwrap();
    memory.inject_fault(FaultPoint::Read(uri), Fault::Hangs);
    let site = HttpFixture::open(fixture::server(
        Arc::clone(&memory),
        Limits::default(),
        CollectionsMode::Always,
    ))
    .await;
    let read = stateless(1, "resources/read", json!({ "uri": "test://static-text" }));
    let headers = [VERSION, ("mcp-method", "resources/read"), ("mcp-name", "test://static-text")];
    let mut stream = site.connect("POST", &headers, &read.to_string()).await;
    fixture::until(|| memory.counts().in_flight() == 1).await;
    stream.shutdown().await.unwrap();
    drop(stream);
    fixture::until(|| memory.counts().in_flight() == 0).await;
}

/// P-06: a cursor is valid on another connection and in another process with the same key.
#[tokio::test]
async fn a_walk_begun_here_is_finished_there() {
    let limits = Limits { page: 1, ..Limits::default() };
    let server = || fixture::server(Arc::new(memory()), limits.clone(), CollectionsMode::Always);
    let (here, there) = (HttpFixture::open(server()).await, HttpFixture::open(server()).await);
    let page = |cursor: Option<String>| {
        let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        stateless(1, "resources/list", params)
    };
    let mut seen = Vec::new();
    let mut cursor = None;
    for turn in 0.. {
        let site = if turn % 2 == 0 { &here } else { &there };
        let result = site.post_stateless(&page(cursor)).await.json()["result"].take();
        seen.extend(result["resources"].as_array().unwrap().iter().map(|r| r["uri"].clone()));
        assert_eq!(result["cacheScope"], "private", "P-07");
        cursor = result.get("nextCursor").map(|cursor| cursor.as_str().unwrap().to_owned());
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["test://static-text", "test://static-binary", "test://folder"]);
}
