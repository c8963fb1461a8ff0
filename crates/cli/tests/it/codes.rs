//! Tests of error mapping: which upstream errors reach the client, and with which message.

use serde_json::{Value, json};

use crate::actor::{Actor, Asked, Deed, Era, Way};
use crate::front::Front;
use crate::program::project;

const OWN: &str = "[mounts.own]\nkind = \"fs\"\npath = \"project\"\n";

fn usual(asked: &Asked<'_>) -> Deed {
    match asked.method {
        "tools/list" => {
            let tool = json!({ "name": "echo", "inputSchema": { "type": "object" } });
            Deed::Give(json!({ "tools": [tool] }))
        }
        "resources/templates/list" => {
            Deed::Give(json!({ "resourceTemplates": [{ "uriTemplate": "a://{n}", "name": "n" }] }))
        }
        _ => Deed::Refuse(-32601, "no such method"),
    }
}

/// One request of each kind for the upstream server.
fn questions() -> [(&'static str, Value); 5] {
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
    for (era, way) in [(Era::Legacy, Way::Pipe), (Era::Modern, Way::Pipe), (Era::Modern, Way::Http)]
    {
        let actor = Actor::play(era, way, |_| Deed::Refuse(-32601, "no such method"));
        let settings = actor.mount("bad", "required = true") + OWN;
        let mut front = Front::piped(folder.path(), &settings);
        for (method, member, own) in [
            ("resources/list", "resources", 6),
            ("resources/templates/list", "resourceTemplates", 1),
        ] {
            let list = front.ask(method, json!({}));
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
    for (era, way) in [(Era::Legacy, Way::Http), (Era::Modern, Way::Pipe), (Era::Modern, Way::Http)]
    {
        for code in [-32020, -32021, -32022] {
            let actor = Actor::play(era, way, move |asked| match asked.method {
                "resources/read" | "resources/list" | "completion/complete" | "tools/call" => {
                    Deed::Refuse(code, "at our own")
                }
                _ => usual(asked),
            });
            let settings = actor.mount("bad", "required = true") + OWN;
            let mut front = Front::piped(folder.path(), &settings);
            assert!(front.ask("tools/list", json!({}))["result"].is_object());
            // -32021 on a tool call is about capabilities that the client sent, not refdesk.
            let ours = |(method, _): &(&str, Value)| code != -32021 || *method != "tools/call";
            for (method, params) in questions().into_iter().filter(ours) {
                let answer = front.ask(method, params);
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
    for way in [Way::Pipe, Way::Http] {
        let actor = Actor::play(Era::Modern, way, |asked| match asked.method {
            "resources/read" | "resources/list" | "completion/complete" | "tools/call" => {
                Deed::Hang
            }
            _ => usual(asked),
        });
        let settings = actor.mount("bad", "required = true\ntimeout = \"300ms\"") + OWN;
        let mut front = Front::piped(folder.path(), &settings);
        assert!(front.ask("tools/list", json!({}))["result"].is_object());
        for (method, params) in questions() {
            let answer = front.ask(method, params);
            let error = &answer["error"];
            assert_eq!(error["code"], -32603, "{way:?} {method}: {answer}");
            assert_eq!(error["data"]["upstream"], "bad", "{way:?} {method}: {answer}");
            assert!(error["message"].as_str().unwrap().contains("in time"), "{method}: {answer}");
        }
    }
}
