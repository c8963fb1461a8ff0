//! Servers that break rules about messages, the opening and general errors.

use doctor::DoctorRevision;
use serde_json::{Value, json};

use crate::base_server::error;
use crate::cases::{Case, case};
use crate::faults::{Fault, set_reply};

const UNKNOWN: &str = "refdesk-doctor/unknown";

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = shapes();
    cases.extend(unasked());
    cases.extend(opening());
    cases
}

fn shapes() -> Vec<Case> {
    vec![
        case(
            "message-json",
            Fault::on("tools/list", |_, outbox| outbox.raw = b"listening on stdio\n".to_vec()),
        ),
        case("message-version", without_member("ping", "jsonrpc")),
        case(
            "response-shape",
            Fault::on(UNKNOWN, |_, outbox| outbox.messages[0]["result"] = json!({})),
        ),
        case("error-shape", Fault::error(UNKNOWN, |error| *error = json!({ "code": -32601 }))),
        case(
            "id-echoed",
            Fault::messages(|_, outbox| {
                for message in &mut outbox.messages {
                    if let Some(number) = message["id"].as_i64() {
                        message["id"] = json!(number.to_string());
                    }
                }
            }),
        ),
        case(
            "stray-response",
            Fault::on("prompts/list", |_, outbox| {
                outbox.messages.push(json!({ "jsonrpc": "2.0", "id": 9999, "result": {} }));
            }),
        ),
    ]
}

fn unasked() -> Vec<Case> {
    let request = |method: &str| json!({ "jsonrpc": "2.0", "id": 7, "method": method });
    let (roots, early) = (request("roots/list"), request("roots/list"));
    vec![
        case(
            "notification-unanswered",
            Fault::on("notifications/refdesk-doctor/unknown", |_, outbox| {
                let error = error(-32601, "method not found");
                outbox.messages.push(json!({ "jsonrpc": "2.0", "id": null, "error": error }));
            }),
        ),
        case(
            "invalid-json-survived",
            Fault::messages(|request, outbox| {
                outbox.ends = request.is_null();
                outbox.messages.retain(|_| !request.is_null());
            }),
        ),
        case(
            "progress-unasked",
            Fault::on("tools/list", |_, outbox| {
                let params = json!({ "progressToken": 1, "progress": 1 });
                let message = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
                outbox.messages.insert(0, message);
            }),
        ),
        case(
            "server-request-capability",
            Fault::on("tools/list", move |_, outbox| {
                outbox.messages.insert(0, roots.clone());
            }),
        ),
        case(
            "before-initialized",
            Fault::on("initialize", move |_, outbox| {
                outbox.messages.insert(0, early.clone());
            }),
        ),
        case("exit-with-input", Fault { lingers: true, ..Fault::default() }),
    ]
}

fn opening() -> Vec<Case> {
    let initialize = |change: fn(&mut Value)| Fault::result("initialize", change);
    let batches = Fault::messages(|request, outbox| {
        if request.is_array() {
            outbox.messages.clear();
        }
    });
    vec![
        case("initialize-result", initialize(|result| result["instructions"] = json!(5))),
        case("server-info", initialize(|result| result["serverInfo"] = json!({ "name": "x" }))),
        case("version-known", initialize(|result| result["protocolVersion"] = json!("2026-07-28"))),
        case(
            "version-negotiation",
            Fault::on("initialize", |request, outbox| {
                let version = request["params"]["protocolVersion"].clone();
                outbox.messages[0]["result"]["protocolVersion"] = version;
            }),
        ),
        case("ping", Fault::result("ping", |result| result["pong"] = json!(true))),
        case("unknown-method", Fault::reply(UNKNOWN, "result", json!({}))),
        case(
            "missing-params",
            Fault::on("resources/read", |request, outbox| {
                if request["params"].get("uri").is_none() {
                    set_reply(&mut outbox.messages[0], "error", &error(-32603, "uri is undefined"));
                }
            }),
        ),
        Case { rule: "batch-accepted", revision: DoctorRevision::Y2025M03, fault: batches },
        case(
            "capability-shape",
            initialize(|result| {
                result["capabilities"]["prompts"] = json!(true);
            }),
        ),
        case("capability-methods", Fault::reply("prompts/list", "error", error(-32601, "no"))),
        case(
            "capability-undeclared",
            initialize(|result| {
                result["capabilities"].as_object_mut().unwrap().remove("prompts");
            }),
        ),
        case(
            "instructions-length",
            initialize(|result| {
                result["instructions"] = json!("Read the guide first. ".repeat(1_000));
            }),
        ),
    ]
}

fn without_member(method: &'static str, member: &'static str) -> Fault {
    Fault::on(method, move |_, outbox| {
        for message in &mut outbox.messages {
            message.as_object_mut().unwrap().remove(member);
        }
    })
}
