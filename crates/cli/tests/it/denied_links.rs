//! Tests of tool results that name resources which access rules deny.

use serde_json::json;

use crate::fake_server::{Era, FakeRequest, FakeResponse, FakeServer, TransportKind};
use crate::program::project;
use crate::test_client::TestClient;

/// A server whose tool links to an open and to a secret resource, and embeds the secret one.
fn serve(request: &FakeRequest<'_>) -> FakeResponse {
    match request.method {
        "tools/list" => {
            let tool = json!({ "name": "find", "inputSchema": { "type": "object" } });
            FakeResponse::Result(json!({ "tools": [tool] }))
        }
        "tools/call" => FakeResponse::Result(json!({ "content": [
            { "type": "resource_link", "uri": "a://secret/plan", "name": "plan" },
            { "type": "resource", "resource": { "uri": "a://secret/plan", "text": "the plan" } },
            { "type": "resource_link", "uri": "a://open/x", "name": "x" },
        ] })),
        _ => FakeResponse::Error(-32601, "no such method"),
    }
}

#[test]
fn a_tool_result_tells_nothing_of_what_is_denied() {
    for era in [Era::Legacy, Era::Modern] {
        let folder = project();
        let actor = FakeServer::start(era, TransportKind::Http, serve);
        let settings = actor.mount("up", "access = [{ deny = [\"secret\"] }]");
        let mut front = TestClient::start(era, TransportKind::Pipe, folder.path(), &settings);
        let called = front.request("tools/call", json!({ "name": "up_find", "arguments": {} }));
        let content = &called["result"]["content"];
        let empty = json!({ "type": "text", "text": "" });
        assert_eq!((&content[0], &content[1]), (&empty, &empty), "{called}");
        assert_eq!(content[2]["uri"], "up+a://open/x", "{called}");
        assert!(!called.to_string().contains("plan"), "{called}");
    }
}
