//! Tests of error mapping: which upstream errors reach the client, and with which message.

use serde_json::{Value, json};

use crate::fake_server::{Era, FakeRequest, FakeResponse, FakeServer, TransportKind};
use crate::program::project;
use crate::test_client::TestClient;

const OWN: &str = "[mounts.own]\nkind = \"fs\"\npath = \"project\"\n";

fn normal_response(request: &FakeRequest<'_>) -> FakeResponse {
    match request.method {
        "tools/list" => {
            let tool = json!({ "name": "echo", "inputSchema": { "type": "object" } });
            FakeResponse::Result(json!({ "tools": [tool] }))
        }
        "resources/templates/list" => FakeResponse::Result(
            json!({ "resourceTemplates": [{ "uriTemplate": "a://{n}", "name": "n" }] }),
        ),
        _ => FakeResponse::Error(-32601, "no such method"),
    }
}

/// One request of each kind for the upstream server.
fn requests() -> [(&'static str, Value); 5] {
    let reference = json!({ "type": "ref/resource", "uri": "bad+a://{n}" });
    [
        ("resources/read", json!({ "uri": "bad+a://x" })),
        ("resources/metadata", json!({ "uri": "bad+a://x" })),
        ("resources/list", json!({})),
        (
            "completion/complete",
            json!({ "ref": reference, "argument": { "name": "n", "value": "" } }),
        ),
        ("tools/call", json!({ "name": "bad_echo", "arguments": {} })),
    ]
}

/// 1.7: a server without the method counts as an empty list.
#[test]
fn a_server_that_knows_no_such_list_has_an_empty_one() {
    let folder = project();
    for (era, way) in [
        (Era::Legacy, TransportKind::Pipe),
        (Era::Modern, TransportKind::Pipe),
        (Era::Modern, TransportKind::Http),
    ] {
        let actor = FakeServer::start(era, way, |_| FakeResponse::Error(-32601, "no such method"));
        let settings = actor.mount("bad", "required = true") + OWN;
        let mut front = TestClient::piped(folder.path(), &settings);
        for (method, member, own) in [
            ("resources/list", "resources", 6),
            ("resources/templates/list", "resourceTemplates", 5),
        ] {
            let list = front.request(method, json!({}));
            assert_eq!(list["result"][member].as_array().map(Vec::len), Some(own), "{list}");
            assert!(list["result"]["_meta"].get("dev.refdesk/absent").is_none(), "{list}");
            assert_eq!(actor.count(method), 1);
        }
        assert_eq!(front.state_of("bad")["state"], "ready");
    }
}

/// 9.7: an upstream error about refdesk's own request is not passed on to the client.
#[test]
fn errors_about_our_own_requests_are_never_passed_on() {
    let folder = project();
    for (era, way) in [
        (Era::Legacy, TransportKind::Http),
        (Era::Modern, TransportKind::Pipe),
        (Era::Modern, TransportKind::Http),
    ] {
        for code in [-32020, -32021, -32022] {
            let actor = FakeServer::start(era, way, move |asked| match asked.method {
                "resources/read" | "resources/list" | "completion/complete" | "tools/call" => {
                    FakeResponse::Error(code, "at our own")
                }
                _ => normal_response(asked),
            });
            let settings = actor.mount("bad", "required = true") + OWN;
            let mut front = TestClient::piped(folder.path(), &settings);
            assert!(front.request("tools/list", json!({}))["result"].is_object());
            // -32021 on a tool call is about capabilities that the client sent, not refdesk.
            let ours = |(method, _): &(&str, Value)| code != -32021 || *method != "tools/call";
            for (method, params) in requests().into_iter().filter(ours) {
                let answer = front.request(method, params);
                let told = format!("{era:?} {way:?} {code} {method}: {answer}");
                assert_eq!(answer["error"]["code"], -32603, "{told}");
                assert!(!told.contains("at our own"), "{told}");
                let asked = actor.count(method);
                assert!(asked <= 4, "{told}: {asked} times");
            }
            assert_eq!(front.text_of("file:///own/README.md"), "# Project\n");
        }
    }
}

/// 9.7: a timeout error names the mount.
#[test]
fn time_that_runs_out_is_told_with_the_name_of_the_mount() {
    let folder = project();
    for way in [TransportKind::Pipe, TransportKind::Http] {
        let actor = FakeServer::start(Era::Modern, way, |asked| match asked.method {
            "resources/read" | "resources/list" | "completion/complete" | "tools/call" => {
                FakeResponse::Hang
            }
            _ => normal_response(asked),
        });
        let settings = actor.mount("bad", "required = true\ntimeout = \"300ms\"") + OWN;
        let mut front = TestClient::piped(folder.path(), &settings);
        assert!(front.request("tools/list", json!({}))["result"].is_object());
        for (method, params) in requests() {
            let answer = front.request(method, params);
            let error = &answer["error"];
            assert_eq!(error["code"], -32603, "{way:?} {method}: {answer}");
            assert_eq!(error["data"]["upstream"], "bad", "{way:?} {method}: {answer}");
            assert!(error["message"].as_str().unwrap().contains("in time"), "{method}: {answer}");
        }
    }
}

/// 9.7: what a server says of a request has its own code, words and data.
#[test]
fn what_a_server_says_of_a_request_is_passed_on() {
    let folder = project();
    for (era, way) in [(Era::Legacy, TransportKind::Pipe), (Era::Modern, TransportKind::Http)] {
        let error = |id: &Value, code: i64, words: &str| {
            let data = json!({ "uri": "a://x", "region": ["eu", 1.5] });
            let error = json!({ "code": code, "message": words, "data": data });
            json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
        };
        for (code, words) in [(-32602, "the region is not allowed"), (42, "quota used up")] {
            let actor = FakeServer::start(era, way, move |asked| match asked.method {
                "resources/read" | "completion/complete" => {
                    FakeResponse::RawMessage(Box::new(move |id| error(id, code, words)))
                }
                _ => normal_response(asked),
            });
            let mut front = TestClient::piped(folder.path(), &(actor.mount("bad", "") + OWN));
            for (method, params) in requests() {
                if !matches!(method, "resources/read" | "completion/complete") {
                    continue;
                }
                let error = front.request(method, params)["error"].take();
                let told = format!("{era:?} {method}: {error}");
                assert_eq!(
                    (&error["code"], &error["message"]),
                    (&json!(code), &json!(words)),
                    "{told}"
                );
                assert_eq!(error["data"]["region"], json!(["eu", 1.5]), "{told}");
                if method == "resources/read" {
                    assert_eq!(error["data"]["uri"], "bad+a://x", "{told}");
                }
            }
        }
    }
}
