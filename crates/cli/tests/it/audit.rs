//! Tests of the audit log with the real program.

use std::fs;

use serde_json::{Value, json};

use crate::access::{JsonProgram, bearer, new_token};
use crate::fake_server::{Era, FakeResponse, FakeServer, TransportKind};
use crate::program::{StdioProgram, meta, project, refdesk};

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

/// The audit log names who did what with which outcome, and holds no content, argument or token.
#[test]
fn each_request_over_http_is_a_line_of_the_audit_log() {
    let folder = project();
    let (token, table) = new_token(folder.path(), &["ada"]);
    let settings = format!(
        "[server]\naudit = \"audit.log\"\ntrusted_proxies = [\"127.0.0.1\"]\n\
         [mounts.project]\nkind = \"fs\"\npath = \"project\"\n{table}"
    );
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut desk = JsonProgram::start(folder.path(), &["--listen", "127.0.0.1:0"]);
    let proxied = "X-Forwarded-For: 192.0.2.9\r\nX-Forwarded-Proto: https\r\n";
    assert_eq!(desk.status(&format!("{proxied}{}", bearer(&token))), 200);
    assert_eq!(desk.status(&bearer("rdk_wrong")), 401);
    let read = |uri: &str| {
        let params = json!({ "uri": uri, "_meta": meta(&Value::Null) });
        let headers = format!(
            "{}MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: {uri}\r\n",
            bearer(&token)
        );
        desk.post(&headers, "resources/read", &params)
    };
    assert!(read("file:///project/README.md").contains("# Project"));
    assert!(read("file:///project/none.md").contains("not found"));
    let id = desk.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(desk.child.wait().unwrap().success());
    let log = fs::read_to_string(folder.path().join("audit.log")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let shown: Vec<_> = lines
        .iter()
        .map(|line| {
            let text = |key: &str| line[key].as_str().unwrap_or("-").to_owned();
            ["principal", "peer", "method", "target", "outcome"].map(text).join(" ")
        })
        .collect();
    assert_eq!(
        shown,
        [
            "ada 192.0.2.9 resources/list - ok",
            "- 127.0.0.1 - - refused",
            "ada 127.0.0.1 resources/read file:///project/README.md ok",
            "ada 127.0.0.1 resources/read file:///project/none.md error",
        ]
    );
    assert_eq!((&lines[0]["tls"], &lines[1]["tls"]), (&json!(true), &json!(false)));
    assert!(lines[0]["bytes"].as_u64().unwrap() > 100 && lines[0]["time"].is_string());
    assert!(!log.contains("# Project") && !log.contains("rdk_") && !log.contains("_meta"), "{log}");
}

/// A full disk costs lines of the audit log, which are counted, and nothing else.
#[test]
fn requests_go_on_when_the_audit_log_cannot_be_written() {
    let folder = project();
    let log = folder.path().join("log");
    let arguments =
        ["serve", "--json", "--listen", "127.0.0.1:0", "--audit", "/dev/full", "project"];
    let mut command = refdesk(folder.path(), &arguments);
    command.env("REFDESK_LOG", "warn").stderr(fs::File::create(&log).unwrap());
    let desk = JsonProgram::of(command);
    for _ in 0..10 {
        assert_eq!(desk.status(""), 200);
    }
    while !fs::read_to_string(&log).unwrap().contains("the audit log cannot be written") {
        std::thread::yield_now();
    }
}
