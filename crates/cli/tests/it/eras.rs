//! Tests of every combination of client and server era, over stdio and HTTP.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::fake_server::{Era, FakeRequest, FakeResponse, FakeServer, TransportKind};
use crate::program::{StdioProgram, project, refdesk};
use crate::test_client::TestClient;

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];
const WAYS: [TransportKind; 2] = [TransportKind::Pipe, TransportKind::Http];
const UPDATED: &str = "notifications/resources/updated";

/// A server with a text, a blob and a template.
fn serve(era: Era, version: usize, request: &FakeRequest<'_>) -> FakeResponse {
    let uri = &request.params["uri"];
    match request.method {
        "resources/list" => FakeResponse::Result(json!({ "resources": [
            { "uri": "a://text", "name": "text", "mimeType": "text/plain", "x-own": [1.50] },
            { "uri": "a://blob", "name": "blob", "size": 4 },
        ] })),
        "resources/templates/list" => FakeResponse::Result(json!({ "resourceTemplates": [
            { "uriTemplate": "a://{name}", "name": "any" },
        ] })),
        "completion/complete" => {
            assert_eq!(request.params["ref"]["uri"], "a://{name}");
            FakeResponse::Result(json!({ "completion": { "values": ["text"] } }))
        }
        "resources/read" if uri == "a://text" => {
            let text = format!("version {version}");
            FakeResponse::Result(json!({ "contents": [{ "uri": uri, "text": text }] }))
        }
        "resources/read" if uri == "a://blob" => {
            FakeResponse::Result(json!({ "contents": [{ "uri": uri, "blob": "AP/+/Q==" }] }))
        }
        "resources/read" if era == Era::Legacy => FakeResponse::Error(-32002, "Resource not found"),
        "resources/read" => FakeResponse::Error(-32602, "Resource not found"),
        _ => FakeResponse::Error(-32601, "no such method"),
    }
}

/// 9.1, 9.2, 9.7: every combination behaves the same.
#[test]
fn every_pair_of_eras_gets_along_over_every_pair_of_ways() {
    for (front_era, front_way) in ERAS.into_iter().flat_map(|era| WAYS.map(|way| (era, way))) {
        for (era, way) in ERAS.into_iter().flat_map(|era| WAYS.map(|way| (era, way))) {
            let pair = format!("{front_era:?} {front_way:?} in front of {era:?} {way:?}");
            play((front_era, front_way), (era, way), &pair);
        }
    }
}

fn play(in_front: (Era, TransportKind), behind: (Era, TransportKind), pair: &str) {
    let folder = project();
    let version = Arc::new(AtomicUsize::new(1));
    let served = Arc::clone(&version);
    let actor = FakeServer::start(behind.0, behind.1, move |asked| {
        serve(behind.0, served.load(Ordering::SeqCst), asked)
    });
    let mut front =
        TestClient::start(in_front.0, in_front.1, folder.path(), &actor.mount("up", ""));
    lists(&mut front, pair);
    let read = |client: &mut TestClient, uri: &str| {
        let answer = client.request("resources/read", json!({ "uri": uri }));
        let first = answer["result"]["contents"][0].clone();
        assert_eq!(first["uri"], uri, "{pair}: {answer}");
        first
    };
    assert_eq!(read(&mut front, "up+a://text")["text"], "version 1", "{pair}");
    assert_eq!(read(&mut front, "up+a://blob")["blob"], "AP/+/Q==", "{pair}");
    front.subscribe(&["up+a://text"]);
    version.store(2, Ordering::SeqCst);
    actor.notify(UPDATED, &json!({ "uri": "a://text" }));
    assert_eq!(front.wait_notification(UPDATED)["params"]["uri"], "up+a://text", "{pair}");
    assert_eq!(read(&mut front, "up+a://text")["text"], "version 2", "{pair}");
    let missing = front.request("resources/read", json!({ "uri": "up+a://none" }));
    let code = if in_front.0 == Era::Legacy { -32002 } else { -32602 };
    assert_eq!(missing["error"]["code"], code, "{pair}: {missing}");
    assert_eq!(missing["error"]["data"]["uri"], "up+a://none", "{pair}: {missing}");
    let (handshakes, listens) = (actor.count("initialize"), actor.count("subscriptions/listen"));
    match behind.0 {
        Era::Legacy => assert_eq!((handshakes, listens), (1, 0), "{pair}"),
        Era::Modern => assert!(handshakes == 0 && listens > 0, "{pair}: {handshakes} {listens}"),
    }
}

fn lists(client: &mut TestClient, pair: &str) {
    let list = client.request("resources/list", json!({}));
    let resources = &list["result"]["resources"];
    let uris: Vec<&Value> = resources.as_array().unwrap().iter().map(|one| &one["uri"]).collect();
    assert_eq!(uris, ["up+a://text", "up+a://blob"], "{pair}: {list}");
    assert_eq!(resources[0]["x-own"], json!([1.5]), "{pair}");
    let templates = client.request("resources/templates/list", json!({}));
    let template = &templates["result"]["resourceTemplates"][0]["uriTemplate"];
    assert_eq!(template, "up+a://{name}", "{pair}: {templates}");
    let question = json!({
        "ref": { "type": "ref/resource", "uri": "up+a://{name}" },
        "argument": { "name": "name", "value": "t" },
    });
    let completion = client.request("completion/complete", question);
    assert_eq!(completion["result"]["completion"]["values"], json!(["text"]), "{pair}");
    let told = client.request("resources/metadata", json!({ "uri": "up+a://text" }));
    let resource = &told["result"]["resource"];
    assert_eq!(resource["uri"], "up+a://text", "{pair}: {told}");
    assert_eq!(resource["mimeType"], "text/plain", "{pair}: {told}");
    assert_eq!(resource["_meta"]["dev.refdesk/derived"], "list", "{pair}: {told}");
}

/// 9.2: the same URI on two servers is two resources.
#[test]
fn two_servers_of_one_uri_are_told_apart() {
    let folder = project();
    for (era, way) in ERAS.into_iter().flat_map(|era| WAYS.map(|way| (era, way))) {
        let server = |text: &'static str| {
            FakeServer::start(era, way, move |asked| match asked.method {
                "resources/list" => FakeResponse::Result(
                    json!({ "resources": [{ "uri": "a://same", "name": text }] }),
                ),
                "resources/read" => {
                    let one = json!({ "uri": asked.params["uri"], "text": text });
                    FakeResponse::Result(json!({ "contents": [one] }))
                }
                _ => FakeResponse::Error(-32601, "no such method"),
            })
        };
        let (one, two) = (server("first"), server("second"));
        let mut front =
            TestClient::piped(folder.path(), &(one.mount("one", "") + &two.mount("two", "")));
        let list = front.request("resources/list", json!({}));
        let names = |at: usize| {
            let resource = &list["result"]["resources"][at];
            (resource["uri"].as_str().unwrap(), resource["name"].as_str().unwrap())
        };
        assert_eq!((names(0), names(1)), (("one+a://same", "first"), ("two+a://same", "second")));
        assert_eq!(front.text_of("one+a://same"), "first");
        assert_eq!(front.text_of("two+a://same"), "second");
        front.subscribe(&["one+a://same", "two+a://same"]);
        // A notification for the wrong server would arrive here instead.
        for (actor, uri) in [(&two, "two+a://same"), (&one, "one+a://same"), (&two, "two+a://same")]
        {
            actor.notify(UPDATED, &json!({ "uri": "a://same" }));
            assert_eq!(front.wait_notification(UPDATED)["params"]["uri"], uri, "{era:?} {way:?}");
        }
    }
}

/// A server that has only tools and prompts reports changes of those.
#[test]
fn changed_tools_and_prompts_are_told_in_every_pair_of_eras() {
    const CHANGED: [&str; 2] =
        ["notifications/tools/list_changed", "notifications/prompts/list_changed"];
    let pairs = ERAS.into_iter().flat_map(|era| WAYS.map(|way| (era, way)));
    for (front_era, front_way) in pairs.clone() {
        for (era, way) in pairs.clone() {
            let pair = format!("{front_era:?} {front_way:?} in front of {era:?} {way:?}");
            let folder = project();
            let actor = FakeServer::start(era, way, |asked| match asked.method {
                "initialize" => FakeResponse::Result(json!({
                    "protocolVersion": "2025-11-25", "capabilities": only_components(),
                    "serverInfo": { "name": "old", "version": "1" },
                })),
                "server/discover" => FakeResponse::Result(json!({
                    "supportedVersions": ["2026-07-28"], "capabilities": only_components(),
                })),
                _ => FakeResponse::Error(-32601, "no such method"),
            });
            let mut front =
                TestClient::start(front_era, front_way, folder.path(), &actor.mount("up", ""));
            if front_era == Era::Modern {
                let wishes = json!({ "toolsListChanged": true, "promptsListChanged": true });
                assert_eq!(front.listen(&wishes), wishes, "{pair}");
            }
            for method in CHANGED {
                thread::scope(|scope| {
                    // Again and again: either subscription may open after the first one.
                    let (received, is_received) = mpsc::channel::<()>();
                    let actor = &actor;
                    scope.spawn(move || {
                        let pause = Duration::from_millis(50);
                        while is_received.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                            actor.notify(method, &json!({}));
                        }
                    });
                    front.wait_notification(method);
                    drop(received);
                });
            }
        }
    }
}

fn only_components() -> Value {
    json!({ "tools": { "listChanged": true }, "prompts": { "listChanged": true } })
}

/// A server of both eras whose tool and prompt tell in which they were called.
fn dual_server() -> FakeServer {
    FakeServer::start_dual(|asked| {
        let era = if asked.params["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string() {
            "modern"
        } else {
            "legacy"
        };
        match asked.method {
            "tools/list" => {
                let tool = json!({ "name": "era", "inputSchema": { "type": "object" } });
                FakeResponse::Result(json!({ "tools": [tool] }))
            }
            "tools/call" => {
                FakeResponse::Result(json!({ "content": [{ "type": "text", "text": era }] }))
            }
            _ => FakeResponse::Error(-32601, "no such method"),
        }
    })
}

/// 9.5: a session's call reaches a server of both eras in a session, where it can ask back.
#[test]
fn a_call_reaches_a_server_of_both_eras_in_the_era_of_its_client() {
    for (front_era, expected) in [(Era::Legacy, "legacy"), (Era::Modern, "modern")] {
        for way in WAYS {
            let folder = project();
            let actor = dual_server();
            let mut front =
                TestClient::start(front_era, way, folder.path(), &actor.mount("up", ""));
            for _ in 0..2 {
                let called =
                    front.request("tools/call", json!({ "name": "up_era", "arguments": {} }));
                assert_eq!(called["result"]["content"][0]["text"], expected, "{way:?} {called}");
            }
            assert_eq!(front.state_of("up")["revision"], "2026-07-28");
            assert_eq!(actor.count("initialize"), usize::from(front_era == Era::Legacy));
        }
    }
}

/// Only in a session can a server ask back before it answers.
#[test]
fn a_question_of_a_server_of_both_eras_reaches_a_client_with_a_session() {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let question = json!({ "message": "Who asks?", "requestedSchema": schema });
    let asked = question.clone();
    let actor = FakeServer::start_dual(move |request| match request.method {
        "tools/list" => {
            let tool = json!({ "name": "greet", "inputSchema": { "type": "object" } });
            FakeResponse::Result(json!({ "tools": [tool] }))
        }
        "tools/call" => FakeResponse::Ask(asked.clone()),
        _ => FakeResponse::Error(-32601, "no such method"),
    });
    let folder = project();
    fs::write(folder.path().join("refdesk.toml"), actor.mount("up", "")).unwrap();
    let mut front = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio"]));
    // Notifications come in between.
    let receive = |front: &mut StdioProgram| loop {
        let message = front.receive();
        if message.get("id").is_some() {
            return message;
        }
    };
    let send = |front: &mut StdioProgram, id: u64, method: &str, params: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        front.send_message(&message);
        receive(front)
    };
    let client = json!({ "name": "test", "version": "1" });
    let terms = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
        "clientInfo": client });
    assert!(send(&mut front, 1, "initialize", terms)["result"].is_object());
    front.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let call = json!({ "name": "up_greet", "arguments": {} });
    let told = send(&mut front, 2, "tools/call", call);
    assert_eq!(told["method"], "elicitation/create", "{told}");
    assert_eq!(told["params"]["message"], question["message"], "{told}");
    assert_eq!(told["params"]["requestedSchema"], question["requestedSchema"], "{told}");
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    front.send_message(&json!({ "jsonrpc": "2.0", "id": told["id"], "result": answer }));
    let called = receive(&mut front);
    assert_eq!(called["id"], 2, "{called}");
    let text = called["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), answer);
    assert_eq!(actor.count("server/discover"), 1, "the mount itself is stateless");
}

#[test]
fn a_revision_in_the_settings_is_the_one_that_is_spoken() {
    for (date, expected) in [("2025-11-25", "legacy"), ("2026-07-28", "modern")] {
        let folder = project();
        let actor = dual_server();
        let settings = actor.mount("up", &format!("revision = \"{date}\""));
        let mut front =
            TestClient::start(Era::Legacy, TransportKind::Pipe, folder.path(), &settings);
        let called = front.request("tools/call", json!({ "name": "up_era", "arguments": {} }));
        assert_eq!(called["result"]["content"][0]["text"], expected, "{called}");
        assert_eq!(front.state_of("up")["revision"], date);
        assert_eq!(actor.count("server/discover"), usize::from(expected == "modern"));
    }
    // The server answers with another one.
    let (folder, actor) = (project(), dual_server());
    let settings = actor.mount("up", "revision = \"2025-06-18\"");
    let mut front = TestClient::piped(folder.path(), &settings);
    assert_eq!(front.state_of("up")["state"], "failed");
}

/// A description costs no read.
#[test]
fn the_metadata_tool_reads_nothing_from_a_server() {
    let folder = project();
    let actor =
        FakeServer::start(Era::Modern, TransportKind::Pipe, |asked| serve(Era::Modern, 1, asked));
    let mut front = TestClient::piped(folder.path(), &actor.mount("up", ""));
    let arguments = json!({ "uris": ["up+a://text"] });
    let called = json!({ "name": "resources_metadata", "arguments": arguments });
    let told = front.request("tools/call", called);
    let row = &told["result"]["structuredContent"]["resources"][0];
    assert_eq!(row["uri"], "up+a://text", "{told}");
    assert_eq!(actor.count("resources/read"), 0);
}
