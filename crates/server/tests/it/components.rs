//! Tests of relayed tools and prompts.

use std::sync::Arc;

use resource::ComponentKind;
use serde_json::{Value, json};
use server::{CollectionsMode, Limits, Server};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};

use crate::fixture::{self, HttpFixture, StdioClient, initialize, request, stateless, until};
use crate::sse_client::SseClient;

const TAG: &str = "io.modelcontextprotocol/subscriptionId";
const OLDER: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// A provider with tools and a prompt that use every member.
pub(crate) fn offering() -> MemoryProvider {
    let icon = json!({ "src": "https://example.com/i.png", "mimeType": "image/png" });
    let tool = json!({
        "name": "everything", "title": "Everything", "description": "One of each",
        "inputSchema": { "type": "object", "properties": { "uri": { "type": "string" } } },
        "outputSchema": { "type": "object", "properties": { "n": { "type": "number" } } },
        "annotations": { "readOnlyHint": true }, "icons": [icon],
        "_meta": { "example.com/kept": 1 },
    });
    let rows = json!({
        "name": "rows", "inputSchema": { "type": "object" },
        "outputSchema": { "type": "array", "items": { "type": "number" } },
    });
    let asks = json!({ "name": "asks", "inputSchema": { "type": "object" } });
    let prompt = json!({
        "name": "greet", "title": "Greet", "description": "Says hello", "icons": [icon],
        "arguments": [{ "name": "who", "title": "Who", "required": true }],
        "_meta": { "example.com/kept": 2 },
    });
    let everything = json!({
        "content": [
            { "type": "text", "text": "t", "_meta": { "example.com/kept": 3 },
              "annotations": { "priority": 0.5, "lastModified": "2025-01-01T00:00:00Z" } },
            { "type": "image", "data": "AAAA", "mimeType": "image/png" },
            { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" },
            { "type": "resource", "resource": { "uri": "test://static-text", "text": "embedded" } },
            { "type": "resource_link", "uri": "test://static-text", "name": "static-text",
              "title": "A text" },
        ],
        "structuredContent": { "n": 1 }, "isError": false,
    });
    let greeting = json!({ "description": "Hello", "messages": [
        { "role": "user", "content": { "type": "text", "text": "hello" } },
        { "role": "assistant", "content":
            { "type": "resource_link", "uri": "test://static-text", "name": "static-text" } },
    ]});
    let numbers = json!({
        "resultType": "complete", "structuredContent": [1, 2],
        "content": [{ "type": "text", "text": "[1,2]" }],
    });
    let back = json!({ "resultType": "input_required", "inputRequests": {
        "where": { "method": "roots/list" } } });
    MemoryProvider::new()
        .text("test://static-text", "text")
        .tool("everything", &tool.to_string(), &everything.to_string())
        .tool("rows", &rows.to_string(), &numbers.to_string())
        .tool("asks", &asks.to_string(), &back.to_string())
        .prompt("greet", &prompt.to_string(), &greeting.to_string())
        .with_suggestions(&["Ada", "Alan", "Grace"])
        .with_watches()
}

fn served() -> (Arc<MemoryProvider>, Arc<Server>) {
    let memory = Arc::new(offering());
    let server = fixture::server_without_tools(
        Arc::clone(&memory),
        Limits::default(),
        CollectionsMode::Always,
    );
    (memory, server)
}

fn call(name: &str) -> Value {
    json!({ "name": name, "arguments": {} })
}

fn changed(what: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": format!("notifications/{what}/list_changed") })
}

fn add(memory: &MemoryProvider, kind: ComponentKind) {
    memory.add_component(kind, "more", r#"{"name":"more"}"#, "{}");
}

#[tokio::test]
async fn what_is_not_offered_is_neither_declared_nor_served() {
    let memory = MemoryProvider::new().text("test://a", "").tool("t", r#"{"name":"t"}"#, "{}");
    let server =
        fixture::server_without_tools(Arc::new(memory), Limits::default(), CollectionsMode::Always);
    let mut pipe = StdioClient::open(server);
    let told = pipe.call(&stateless(1, "server/discover", json!({}))).await;
    let capabilities = &told["result"]["capabilities"];
    assert_eq!((&capabilities["tools"], capabilities.get("prompts")), (&json!({}), None));
    for method in ["prompts/list", "prompts/get", "completion/complete"] {
        let refused = pipe.call(&stateless(1, method, json!({ "name": "p" }))).await;
        assert_eq!(refused["error"]["code"], -32601, "{method}");
    }
    let (_, server) = served();
    let told = StdioClient::open(server).call(&stateless(1, "server/discover", json!({}))).await;
    let capabilities = &told["result"]["capabilities"];
    for what in ["tools", "prompts"] {
        assert_eq!(capabilities[what], json!({ "listChanged": true }));
    }
    assert_eq!(capabilities["completions"], json!({}));
}

/// H-07, H-08: a header repeats the name.
#[tokio::test]
async fn a_header_that_names_another_tool_is_refused() {
    let (memory, server) = served();
    let site = HttpFixture::open(server).await;
    for (method, name) in [("tools/call", "everything"), ("prompts/get", "greet")] {
        let message = stateless(1, method, call(name)).to_string();
        let version = ("mcp-protocol-version", "2026-07-28");
        let headers = |name| [version, ("mcp-method", method), ("mcp-name", name)];
        let answer = site.send("POST", &headers(name), &message).await;
        assert_eq!((answer.status, answer.json()["error"].is_null()), (200, true));
        let wrong = site.send("POST", &headers("another"), &message).await;
        assert_eq!(wrong.refusal(), (400, -32020));
        let missing = site.send("POST", &headers(name)[..2], &message).await;
        assert_eq!(missing.refusal(), (400, -32020));
    }
    assert_eq!(memory.counts().calls(), 2);
}

#[tokio::test]
async fn a_list_goes_on_where_it_ended() {
    let memory = Arc::new(offering());
    let limits = Limits { page: 2, ..Limits::default() };
    let mut pipe =
        StdioClient::open(fixture::server_without_tools(memory, limits, CollectionsMode::Always));
    let first = pipe.call(&stateless(1, "tools/list", json!({}))).await["result"].clone();
    let more = json!({ "cursor": first["nextCursor"] });
    let rest = pipe.call(&stateless(2, "tools/list", more.clone())).await["result"].clone();
    let names = |page: &Value| page["tools"].as_array().unwrap().len();
    assert_eq!((names(&first), names(&rest)), (2, 1));
    assert_eq!(rest.get("nextCursor"), None);
    let strange = pipe.call(&stateless(3, "prompts/list", more)).await;
    assert_eq!(strange["error"]["code"], -32602, "a cursor belongs to its list");
}

/// L-05, 9.9.
#[tokio::test]
async fn progress_passes_with_its_fractions_and_its_words() {
    for revision in OLDER {
        let (memory, server) = served();
        let mut pipe = StdioClient::open(server);
        pipe.call(&initialize(revision)).await;
        memory.inject_fault(FaultPoint::Call("everything".to_owned()), Fault::Waits);
        let mut params = call("everything");
        params["_meta"] = json!({ "progressToken": "p" });
        let told = pipe.call(&request(1, "tools/call", params)).await;
        let expected =
            json!({ "progressToken": "p", "progress": 0.5, "total": 2, "message": "halfway" });
        assert_eq!(told["params"], expected, "{revision}");
        memory.clear_faults();
        assert_eq!(pipe.receive().await["id"], 1);
    }
}

/// L-06, D-05.
#[tokio::test]
async fn a_call_that_is_cancelled_ends_where_it_runs() {
    let (memory, server) = served();
    let mut pipe = StdioClient::open(server);
    memory.inject_fault(FaultPoint::Call("everything".to_owned()), Fault::Hangs);
    pipe.send_message(&stateless(1, "tools/call", call("everything"))).await;
    until(|| memory.counts().in_flight() == 1).await;
    let cancel = json!({ "requestId": 1 });
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel });
    pipe.send_message(&notice).await;
    until(|| memory.counts().in_flight() == 0).await;
    assert_eq!(pipe.call(&stateless(2, "tools/call", call("rows"))).await["id"], 2);
}

/// 9.7.
#[tokio::test]
async fn what_a_server_behind_says_is_passed_on() {
    let (memory, server) = served();
    let mut pipe = StdioClient::open(server);
    memory.inject_fault(FaultPoint::Call("rows".to_owned()), Fault::UpstreamError(-7));
    let refused = pipe.call(&stateless(1, "tools/call", call("rows"))).await;
    let expected = json!({ "code": -7, "message": "upstream failure", "data": { "why": 1.5 } });
    assert_eq!(refused["error"], expected);
}

#[tokio::test]
async fn older_sessions_hear_that_lists_of_offers_changed() {
    for revision in OLDER {
        let (memory, server) = served();
        let mut pipe = StdioClient::open(server);
        pipe.call(&initialize(revision)).await;
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        pipe.send_message(&ready).await;
        pipe.call(&request(1, "ping", json!({}))).await;
        add(&memory, ComponentKind::Tool);
        assert_eq!(pipe.receive().await, changed("tools"), "{revision}");
        memory.remove_component(ComponentKind::Prompt, "greet");
        assert_eq!(pipe.receive().await, changed("prompts"), "{revision}");
        assert_eq!(pipe.close().await, Vec::<Value>::new());
        assert_eq!(memory.watch_count(), 0);
    }
}

/// S-03, S-05.
#[tokio::test]
async fn listeners_hear_of_the_offers_that_they_asked_for_and_nobody_else_does() {
    let (memory, server) = served();
    let site = HttpFixture::open(server).await;
    let listen =
        |id, wish: Value| stateless(id, "subscriptions/listen", json!({ "notifications": wish }));
    let tools = json!({ "toolsListChanged": true });
    let prompts = json!({ "promptsListChanged": true });
    let neither = json!({ "resourcesListChanged": true });
    let mut streams = Vec::new();
    for (id, wish) in [(1, &tools), (2, &prompts), (3, &neither)] {
        let mut events = SseClient::alone(&site, &listen(id, wish.clone())).await;
        assert_eq!(events.message().await["params"]["notifications"], *wish);
        streams.push(events);
    }
    let told = |what: &str, id: i64| {
        let mut notice = changed(what);
        notice["params"] = json!({ "_meta": { TAG: id } });
        notice
    };
    add(&memory, ComponentKind::Tool);
    assert_eq!(streams[0].message().await, told("tools", 1));
    add(&memory, ComponentKind::Prompt);
    assert_eq!(streams[1].message().await, told("prompts", 2), "and nothing before it");
    memory.write("test://fresh", "one more");
    assert_eq!(streams[2].message().await, told("resources", 3), "and nothing before it");
    memory.remove_component(ComponentKind::Tool, "more");
    assert_eq!(streams[0].message().await, told("tools", 1), "and nothing in between");
}

#[tokio::test]
async fn what_is_not_offered_is_not_granted_to_a_listener() {
    let memory = MemoryProvider::new().tool("t", r#"{"name":"t"}"#, "{}").with_watches();
    let server =
        fixture::server_without_tools(Arc::new(memory), Limits::default(), CollectionsMode::Always);
    let wish = json!({ "toolsListChanged": true, "promptsListChanged": true });
    let listen = stateless(1, "subscriptions/listen", json!({ "notifications": wish }));
    let ack = StdioClient::open(server).call(&listen).await;
    assert_eq!(ack["params"]["notifications"], json!({ "toolsListChanged": true }));
}
