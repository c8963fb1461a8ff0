//! Tests of the audit log over stdio, with the real program.

use std::fs;

use serde_json::{Value, json};

use crate::fake_server::{Era, FakeResponse, FakeServer, TransportKind};
use crate::program::{StdioProgram, project, refdesk};

fn shown(log: &str) -> Vec<String> {
    let show = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| line[key].as_str().unwrap_or("-").to_owned();
        assert!(line["status"].is_null() && line["tls"] == false, "{line}");
        let resources = line["resources"].as_array().map(|uris| format!(" {uris:?}"));
        ["principal", "peer", "method", "target", "outcome"].map(text).join(" ")
            + &format!(" {}{}", line["code"], resources.unwrap_or_default())
    };
    log.lines().map(show).collect()
}

#[test]
fn each_request_over_stdio_is_a_line_of_the_audit_log() {
    let folder = project();
    let arguments = ["serve", "--stdio", "--audit", "audit.log", "project"];
    let mut desk = StdioProgram::start(refdesk(folder.path(), &arguments));
    let readme = json!({ "uri": "file:///project/README.md" });
    let read = desk.request("resources/read", readme);
    assert!(read.to_string().contains("# Project"), "{read}");
    desk.request("resources/read", json!({ "uri": "file:///project/none.md" }));
    desk.request("no/method", json!({}));
    let tool = json!({ "name": "resources_read", "arguments": { "uri": "project/README.md" } });
    desk.request("tools/call", tool);
    let secret = "api_key=sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdef";
    for arguments in [
        json!({ "uri": "file:///project/none.md" }),
        json!({ "uri": format!("file:///project/none.md?{secret}") }),
    ] {
        let tool = json!({ "name": "resources_read", "arguments": arguments });
        assert_eq!(desk.request("tools/call", tool)["result"]["isError"], true);
    }
    let many = json!({ "uris": ["file:///project/README.md", "file:///project/src"] });
    desk.request("tools/call", json!({ "name": "resources_metadata", "arguments": many }));
    assert!(desk.close().0);
    let log = fs::read_to_string(folder.path().join("audit.log")).unwrap();
    let mut lines = shown(&log);
    let masked = lines.remove(5);
    assert_eq!(
        lines,
        [
            "local stdio resources/read file:///project/README.md ok null",
            "local stdio resources/read file:///project/none.md error -32602",
            "local stdio no/method - error -32601",
            "local stdio tools/call resources_read ok null [String(\"project/README.md\")]",
            "local stdio tools/call resources_read error null [String(\"file:///project/none.md\")]",
            "local stdio tools/call resources_metadata ok null \
             [String(\"file:///project/README.md\"), String(\"file:///project/src\")]",
        ]
    );
    assert!(masked.contains("resources_read error") && masked.contains("none.md?"), "{masked}");
    assert!(!log.contains("sk-proj"), "{log}");
    let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert!(first["bytes"].as_u64().unwrap() > 100 && first["time"].is_string(), "{first}");
    assert!(!log.contains("# Project") && !log.contains("\"_meta"), "{log}");
}

#[test]
fn a_cancelled_request_and_each_request_of_a_batch_have_a_line() {
    let folder = project();
    let hangs = |request: &crate::fake_server::FakeRequest<'_>| match request.method {
        "resources/read" => FakeResponse::Hang,
        "resources/list" => FakeResponse::Result(json!({ "resources": [] })),
        _ => FakeResponse::Error(-32601, "no such method"),
    };
    let actor = FakeServer::start(Era::Modern, TransportKind::Http, hangs);
    let settings = format!("[server]\naudit = \"audit.log\"\n{}", actor.mount("up", ""));
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio"]));
    let request = |id: u64, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let info = json!({ "name": "test", "version": "1" });
    let opening =
        json!({ "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": info });
    desk.send_message(&request(1, "initialize", opening));
    desk.receive();
    desk.send_message(&request(2, "resources/read", json!({ "uri": "up+a://x" })));
    actor.wait_for("resources/read", 1);
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 2 } });
    desk.send_message(&cancelled);
    desk.send_message(&json!([request(3, "ping", json!({})), request(4, "no/method", json!({}))]));
    desk.receive();
    assert!(desk.close().0);
    let log = fs::read_to_string(folder.path().join("audit.log")).unwrap();
    let mut lines = shown(&log);
    lines.sort();
    assert_eq!(
        lines,
        [
            "local stdio initialize - ok null",
            "local stdio no/method - error -32601",
            "local stdio ping - ok null",
            "local stdio resources/read up+a://x cancelled null",
        ]
    );
}
