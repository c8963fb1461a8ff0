//! Tests of redaction: a server behind a mount with `redact = true`.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{TRACE, ask, assert_no_secret, call, secrets};
use crate::fake_server::{Era, FakeRequest, FakeResponse, FakeServer, TransportKind};
use crate::test_client::TestClient;

/// A server that tells secrets wherever it can.
fn respond(asked: &FakeRequest<'_>) -> FakeResponse {
    let (secret, token) = (secrets()[0].clone(), secrets()[7].clone());
    let text = |text: String| json!([{ "type": "text", "text": text }]);
    let uri = "file:///srv/.env";
    FakeResponse::Result(match asked.method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "serverInfo": { "name": format!("desk {token}"), "version": "1" },
            "instructions": format!("{} use the key {token} for all", "word ".repeat(195)),
            "capabilities": { "resources": {}, "tools": {}, "prompts": {}, "logging": {},
                "completions": {} },
        }),
        "resources/list" => json!({ "resources": [
            { "uri": uri, "name": "env", "title": format!("with {token}"), "size": 44,
                "_meta": { "token": secret } }] }),
        "resources/templates/list" => json!({ "resourceTemplates": [
            { "uriTemplate": "file:///srv/{name}", "name": "t", "description": format!("as {token}") }] }),
        "resources/read" => json!({ "contents": [
            { "uri": uri, "text": format!("PORT=80\nDB_PASSWORD={secret}\n") }] }),
        "tools/list" => json!({ "tools": [{ "name": "peek", "description": format!("uses {token}"),
            "inputSchema": { "type": "object", "properties": { "password": { "type": "string" } } } }] }),
        "tools/call" => return talk(),
        "prompts/list" => {
            json!({ "prompts": [{ "name": "brief", "description": format!("with {token}"),
            "arguments": [{ "name": "topic" }] }] })
        }
        "prompts/get" => json!({ "messages": [{ "role": "user",
            "content": text(format!("{{\"password\": \"{secret}\"}} and {token}"))[0] }] }),
        "completion/complete" => {
            json!({ "completion": { "values": ["plain", format!("is {token}")] } })
        }
        _ => return FakeResponse::Error(-32601, "unknown"),
    })
}

/// Logs and reports progress before it answers.
fn talk() -> FakeResponse {
    FakeResponse::RawMessage(Box::new(|id: &Value| {
        let (secret, token) = (&secrets()[0], &secrets()[7]);
        let log = json!({ "jsonrpc": "2.0", "method": "notifications/message",
            "params": { "level": "warning", "data": { "password": secret, "note": token } } });
        let result = json!({ "content": [{ "type": "text", "text": format!("it is {token}") }],
            "structuredContent": { "password": secret, "port": 5432 } });
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        format!("{log}\n{answer}")
    }))
}

#[test]
fn a_masked_server_tells_no_secret() {
    let server = FakeServer::start(Era::Legacy, TransportKind::Pipe, respond);
    let settings = format!(
        "[server]\nlog_file = \"desk.log\"\naudit = \"audit.jsonl\"\n{}",
        server.mount("far", "redact = true")
    );
    let folder = TempDir::with_prefix("secrets").unwrap();
    for era in [Era::Modern, Era::Legacy] {
        let how = (era, TransportKind::Pipe);
        let mut desk = TestClient::start_in(how, folder.path(), &settings, &[TRACE]);
        let state = desk.state_of("far").to_string();
        assert_no_secret(state.as_bytes(), "the state of the mount");
        assert!(state.contains("use the key [redacted"), "masked, then cut: {state}");
        let opening = match era {
            Era::Modern => ask(&mut desk, "server/discover", json!({})),
            Era::Legacy => {
                desk.request("logging/setLevel", json!({ "level": "debug" }));
                String::new()
            }
        };
        assert!(era == Era::Legacy || opening.contains("The server far says"), "{opening}");
        for method in ["resources/list", "resources/templates/list", "tools/list", "prompts/list"] {
            let listed = ask(&mut desk, method, json!({}));
            assert!(listed.contains("[redacted "), "{method}: {listed}");
        }
        let read = ask(&mut desk, "resources/read", json!({ "uri": "far+file:///srv/.env" }));
        assert!(read.contains("PORT=80") && read.contains("[redacted "), "{read}");
        for offset in 0..60 {
            let window = json!({ "uri": "far+file:///srv/.env", "offset": offset, "max_bytes": 1 });
            call(&mut desk, "resources_read", window);
        }
        let tools = ask(&mut desk, "tools/list", json!({}));
        let tools: Value = serde_json::from_str(&tools).unwrap();
        let all = tools["result"]["tools"].as_array().unwrap();
        let name = |one: &Value| one["name"].as_str().unwrap().to_owned();
        let peek = all.iter().map(name).find(|name| name.contains("peek")).unwrap();
        let called = call(&mut desk, &peek, json!({}));
        assert!(called.contains("it is [redacted ") && called.contains("5432"), "{called}");
        if era == Era::Legacy {
            let log = desk.wait_notification("notifications/message").to_string();
            assert_no_secret(log.as_bytes(), "a log message");
            assert!(log.contains("[redacted "), "{log}");
        }
        let prompts = ask(&mut desk, "prompts/list", json!({}));
        let prompts: Value = serde_json::from_str(&prompts).unwrap();
        let all = prompts["result"]["prompts"].as_array().unwrap();
        let brief = all.iter().map(name).find(|name| name.contains("brief")).unwrap();
        let got = ask(&mut desk, "prompts/get", json!({ "name": brief, "arguments": {} }));
        assert!(got.contains("[redacted "), "{got}");
        let reference = json!({ "type": "ref/prompt", "name": brief });
        let argument = json!({ "name": "topic", "value": "" });
        let question = json!({ "ref": reference, "argument": argument });
        let completed = ask(&mut desk, "completion/complete", question);
        assert!(completed.contains("\"values\":[\"plain\"]"), "{completed}");
    }
    super::assert_no_secret_in_written_files(folder.path());
}
