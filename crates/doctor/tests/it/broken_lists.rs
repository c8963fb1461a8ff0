//! Servers that break rules about lists and their entries.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::base_server::error;
use crate::cases::{Case, case};
use crate::faults::{Fault, set_reply};

const A: &str = "doc:///a.txt";

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = pages();
    cases.extend(entries());
    cases
}

fn pages() -> Vec<Case> {
    let second = AtomicBool::new(false);
    vec![
        case("list-answers", Fault::reply("tools/list", "error", error(-32603, "broken"))),
        case("list-shape", Fault::result("prompts/list", |result| result["prompts"] = json!({}))),
        case(
            "list-cursor-type",
            Fault::result("tools/list", |result| {
                result["nextCursor"] = json!(null);
            }),
        ),
        case(
            "list-pages-end",
            Fault::on("resources/list", |request, outbox| {
                if request["params"]["cursor"] == "two" {
                    outbox.messages[0]["result"]["nextCursor"] = json!("two");
                }
            }),
        ),
        case(
            "list-invalid-cursor",
            Fault::on("resources/list", |request, outbox| {
                if request["params"]["cursor"].as_str().is_some_and(|cursor| cursor != "two") {
                    set_reply(&mut outbox.messages[0], "result", &json!({ "resources": [] }));
                }
            }),
        ),
        case(
            "list-stable",
            Fault::result("tools/list", move |result| {
                if second.fetch_xor(true, Ordering::Relaxed) {
                    result["tools"].as_array_mut().unwrap().reverse();
                }
            }),
        ),
        case(
            "list-duplicates",
            Fault::result("prompts/list", |result| {
                result["prompts"][1] = result["prompts"][0].clone();
            }),
        ),
        case(
            "templates-answer",
            Fault::reply("resources/templates/list", "error", error(-32601, "method not found")),
        ),
    ]
}

fn entries() -> Vec<Case> {
    let annotations = |member: &'static str, value: Value| {
        Fault::resource(A, move |entry| entry["annotations"][member] = value.clone())
    };
    let template = |change: fn(&mut Value)| {
        Fault::result("resources/templates/list", move |result| {
            change(&mut result["resourceTemplates"][0]);
        })
    };
    vec![
        case(
            "resource-uri",
            Fault::on("resources/list", |request, outbox| {
                if request["params"]["cursor"] == "two" {
                    let resources = &mut outbox.messages[0]["result"]["resources"];
                    resources.as_array_mut().unwrap().push(json!({ "name": "lost" }));
                }
            }),
        ),
        case("resource-name", template(|entry| entry["name"] = json!(""))),
        case("member-types", template(|entry| entry["description"] = json!(null))),
        case("mime-form", template(|entry| entry["mimeType"] = json!("text"))),
        case("template-uri", template(|entry| entry["uriTemplate"] = json!("doc:///item/{id"))),
        case("resource-size", Fault::resource(A, |entry| entry["size"] = json!(-1))),
        case("annotations-audience", annotations("audience", json!(["everyone"]))),
        case("annotations-priority", annotations("priority", json!(7))),
        case("annotations-last-modified", annotations("lastModified", json!("yesterday"))),
        case(
            "icon-src",
            Fault::resource(A, |entry| {
                entry["icons"] = json!([{ "src": "javascript:alert(1)" }]);
            }),
        ),
        case(
            "prompt-arguments",
            Fault::result("prompts/list", |result| {
                result["prompts"][0]["arguments"] = json!([{ "description": "who" }]);
            }),
        ),
        case(
            "hidden-characters",
            Fault::result("tools/list", |result| {
                result["tools"][0]["description"] = json!("Safe.\u{202e}efas toN");
            }),
        ),
        case("uri-credentials", extra_resource("http://ann:secret@example.org/x")),
        case("home-paths", extra_resource("file:///home/ann/notes.txt")),
    ]
}

/// A server that has one more resource.
fn extra_resource(uri: &'static str) -> Fault {
    Fault::messages(move |request, outbox| {
        let entry = json!({ "uri": uri, "name": "extra", "text": "extra" });
        let mut described = entry.clone();
        described.as_object_mut().unwrap().remove("text");
        let params = &request["params"];
        match request["method"].as_str().unwrap_or_default() {
            "resources/list" if params["cursor"] == "two" => {
                let resources = &mut outbox.messages[0]["result"]["resources"];
                resources.as_array_mut().unwrap().push(described);
            }
            "resources/read" if params["uri"] == uri => {
                set_reply(&mut outbox.messages[0], "result", &json!({ "contents": [entry] }));
            }
            "resources/metadata" if params["uri"] == uri => {
                set_reply(&mut outbox.messages[0], "result", &json!({ "resource": described }));
            }
            _ => {}
        }
    })
}
