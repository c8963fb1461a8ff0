//! Servers that break rules of 2026-07-28.

use std::sync::Mutex;

use serde_json::{Value, json};

use crate::base_server::{answer, error};
use crate::cases::{Case, modern};
use crate::faults::{Fault, set_reply};

const META: &str = "io.modelcontextprotocol/";

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = results();
    cases.extend(requests());
    cases.extend(streams());
    cases
}

fn results() -> Vec<Case> {
    let tools = |change: fn(&mut Value)| Fault::result("tools/list", change);
    vec![
        modern(
            "discover-shape",
            Fault::result("server/discover", |result| {
                result["supportedVersions"] = json!("2026-07-28");
            }),
        ),
        modern("result-type", tools(|result| result["resultType"] = json!("done"))),
        modern("input-required", tools(|result| result["resultType"] = json!("input_required"))),
        modern("cache-hints", tools(|result| result["ttlMs"] = json!(-1))),
        modern(
            "cache-scope-pages",
            Fault::on("resources/list", |request, outbox| {
                if request["params"]["cursor"] == "two" {
                    outbox.messages[0]["result"]["cacheScope"] = json!("public");
                }
            }),
        ),
        modern("server-info-meta", tools(|result| result["_meta"] = json!({}))),
    ]
}

fn requests() -> Vec<Case> {
    let lacks = |request: &Value, member: &str| {
        request["params"]["_meta"].get(format!("{META}{member}")).is_none()
    };
    let insert = |message: Value| {
        Fault::on("tools/list", move |_, outbox| outbox.messages.insert(0, message.clone()))
    };
    vec![
        modern(
            "meta-required",
            Fault::on("server/discover", move |request, outbox| {
                if lacks(request, "clientCapabilities") {
                    let mut request = request.clone();
                    request["params"]["_meta"][format!("{META}clientCapabilities")] = json!({});
                    outbox.messages = answer(&request);
                }
            }),
        ),
        modern(
            "client-info-optional",
            Fault::on("server/discover", move |request, outbox| {
                if lacks(request, "clientInfo") {
                    set_reply(&mut outbox.messages[0], "error", &error(-32602, "who are you"));
                }
            }),
        ),
        modern(
            "version-unsupported",
            Fault::error("resources/list", |error| {
                if error["code"] == -32022 {
                    error["data"] = json!({});
                }
            }),
        ),
        modern(
            "removed-methods",
            Fault::on("ping", |_, outbox| {
                let meta =
                    json!({ (format!("{META}serverInfo")): { "name": "base", "version": "1" } });
                let result = json!({ "resultType": "complete", "_meta": meta });
                set_reply(&mut outbox.messages[0], "result", &result);
            }),
        ),
        modern(
            "server-request-forbidden",
            insert(json!({
                "jsonrpc": "2.0", "id": 5, "method": "ping",
            })),
        ),
        modern(
            "log-unasked",
            insert(json!({
                "jsonrpc": "2.0",
                "method": "notifications/message",
                "params": { "level": "info", "data": "started" },
            })),
        ),
    ]
}

fn updated(id: &Value, uri: &str) -> Value {
    let meta = json!({ (format!("{META}subscriptionId")): id });
    let params = json!({ "uri": uri, "_meta": meta });
    json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params })
}

/// A server that goes on after the subscription was cancelled.
fn late_update() -> Fault {
    let open = Mutex::new(Value::Null);
    Fault::messages(move |request, outbox| {
        let has_filter = request["params"]["notifications"].is_object();
        if request["method"] == "subscriptions/listen" && has_filter {
            *open.lock().unwrap() = request["id"].clone();
        }
        // In this revision, the doctor sends it after the end of its subscription.
        if request["method"] == "ping" {
            outbox.messages.push(updated(&open.lock().unwrap(), "doc:///guide"));
        }
    })
}

fn streams() -> Vec<Case> {
    // Only of listens with a filter.
    let listen = |change: fn(&Value, &mut Value)| {
        Fault::on("subscriptions/listen", move |request, outbox| {
            if request["params"]["notifications"].is_object() {
                change(request, &mut outbox.messages[0]);
            }
        })
    };
    vec![
        modern(
            "listen-acknowledged",
            listen(|request, message| {
                let result = json!({ "resultType": "complete" });
                *message = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
            }),
        ),
        modern(
            "listen-id",
            listen(|_, message| {
                message["params"]["_meta"][format!("{META}subscriptionId")] = json!("mine");
            }),
        ),
        modern(
            "listen-subset",
            listen(|_, message| {
                message["params"]["notifications"]["promptsListChanged"] = json!(true);
            }),
        ),
        modern(
            "listen-honoured",
            Fault::on("subscriptions/listen", |request, outbox| {
                if request["params"]["notifications"].is_object() {
                    outbox.messages.push(updated(&request["id"], "doc:///b.bin"));
                }
            }),
        ),
        modern("listen-ended", late_update()),
        modern(
            "listen-filter",
            Fault::on("subscriptions/listen", |request, outbox| {
                if request["params"].get("notifications").is_none() {
                    let meta = json!({ (format!("{META}subscriptionId")): request["id"] });
                    outbox.messages = vec![json!({
                        "jsonrpc": "2.0",
                        "method": "notifications/subscriptions/acknowledged",
                        "params": { "_meta": meta, "notifications": {} },
                    })];
                }
            }),
        ),
    ]
}
