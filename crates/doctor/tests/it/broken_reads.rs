//! Servers that break rules about reads, subscriptions, completion and collections.

use serde_json::{Value, json};

use crate::base_server::error;
use crate::cases::{Case, case, modern};
use crate::faults::{Fault, set_reply};

const A: &str = "doc:///a.txt";
const B: &str = "doc:///b.bin";
const GUIDE: &str = "doc:///guide";
const MISSING: &str = "refdesk-doctor://nowhere/no-such-resource";

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = reads();
    cases.extend(missing());
    cases.extend(paths());
    cases.extend(changes());
    cases.extend(subscriptions_and_completion());
    cases.extend(collections());
    cases
}

/// Changes what is sent for a method with a URI.
fn on_uri(
    method: &'static str,
    uri: &'static str,
    change: impl Fn(&mut Value) + Send + Sync + 'static,
) -> Fault {
    Fault::on(method, move |request, outbox| {
        if request["params"]["uri"] == uri {
            outbox.messages.iter_mut().for_each(&change);
        }
    })
}

/// Changes the first element of a read.
fn on_element(uri: &'static str, change: impl Fn(&mut Value) + Send + Sync + 'static) -> Fault {
    on_uri("resources/read", uri, move |message| change(&mut message["result"]["contents"][0]))
}

/// Answers a method with a URI by this result or error.
fn reply_uri(method: &'static str, uri: &'static str, member: &'static str, value: Value) -> Fault {
    on_uri(method, uri, move |message| set_reply(message, member, &value))
}

fn reads() -> Vec<Case> {
    let broken = error(-32603, "broken");
    let read = |value: Value| reply_uri("resources/read", B, "result", value);
    vec![
        case("read-listed", reply_uri("resources/read", B, "error", broken)),
        case("read-shape", read(json!({ "contents": {} }))),
        case("read-empty", read(json!({ "contents": [] }))),
        case(
            "read-element-uri",
            on_element(B, |element| {
                element.as_object_mut().unwrap().remove("uri");
            }),
        ),
        case("read-text-or-blob", on_element(B, |element| element["text"] = json!("abc"))),
        case("read-base64", on_element(B, |element| element["blob"] = json!("AAE"))),
        case("read-uri-matches", on_element(B, |element| element["uri"] = json!("doc:///B.bin"))),
        case("read-mime", on_element(A, |element| element["mimeType"] = json!("text/html"))),
        case("read-size", on_element(A, |element| element["text"] = json!("hello!"))),
    ]
}

fn missing() -> Vec<Case> {
    let found = json!({ "contents": [{ "uri": MISSING, "name": "x", "text": "" }] });
    let code = |code: i64| {
        on_uri("resources/read", MISSING, move |message| message["error"]["code"] = json!(code))
    };
    vec![
        case("not-found-error", reply_uri("resources/read", MISSING, "result", found.clone())),
        case("not-found-code", code(-32603)),
        modern("not-found-code-stateless", code(-32002)),
        case(
            "not-found-uri",
            on_uri("resources/read", MISSING, |message| {
                message["error"]["data"] = json!(null);
            }),
        ),
        case("malformed-uri", reply_uri("resources/read", "not a uri", "result", found)),
    ]
}

/// A server that gives a file outside for some URIs.
fn escape(is_meant: fn(&str) -> bool) -> Fault {
    Fault::on("resources/read", move |request, outbox| {
        let uri = request["params"]["uri"].as_str().unwrap_or_default();
        if uri.contains("hostname") && is_meant(uri) {
            let contents = json!([{ "uri": uri, "name": "x", "text": "desk-1\n" }]);
            set_reply(&mut outbox.messages[0], "result", &json!({ "contents": contents }));
        }
    })
}

fn paths() -> Vec<Case> {
    let is_nul = |uri: &str| uri.contains("%00");
    vec![
        case("path-traversal", escape(|uri| uri.contains("/../") && !uri.contains("%00"))),
        case("path-traversal", escape(|uri| uri.contains("%2e%2e/"))),
        case("path-traversal", escape(|uri| uri.contains("..%2f"))),
        case("path-traversal", escape(|uri| uri.contains("%252e%252e%252f"))),
        case("path-traversal", escape(|uri| uri.ends_with("/files//etc/hostname"))),
        case("path-absolute", escape(|uri| uri == "file:///etc/hostname")),
        case("path-nul", escape(is_nul)),
    ]
}

fn changes() -> Vec<Case> {
    let notice = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params });
    // With the answer to the subscription, or to a later request.
    let with = |method: &'static str, uri: &'static str, message: Value| {
        Fault::on(method, move |request, outbox| {
            if request["params"]["uri"] == uri {
                outbox.messages.push(message.clone());
            }
        })
    };
    let subscribe = "resources/subscribe";
    let updated = |uri: &str| notice("resources/updated", json!({ "uri": uri }));
    let mut numbered = updated(GUIDE);
    numbered["id"] = json!(77);
    vec![
        case("notification-id", with(subscribe, GUIDE, numbered)),
        case("update-shape", with(subscribe, GUIDE, notice("resources/updated", json!({})))),
        case("update-subscribed", with(subscribe, GUIDE, updated(B))),
        case("update-ended", with(subscribe, MISSING, updated(GUIDE))),
        case(
            "list-changed-undeclared",
            with("resources/read", B, notice("prompts/list_changed", json!({}))),
        ),
    ]
}

fn subscriptions_and_completion() -> Vec<Case> {
    let broken = error(-32603, "broken");
    let completion = |change: fn(&mut Value)| {
        Fault::result("completion/complete", move |result| change(&mut result["completion"]))
    };
    vec![
        case("subscribe-answers", reply_uri("resources/subscribe", GUIDE, "error", broken.clone())),
        case("unsubscribe-answers", reply_uri("resources/unsubscribe", GUIDE, "error", broken)),
        case(
            "subscribe-undeclared",
            Fault::result("initialize", |result| {
                result["capabilities"]["resources"] = json!({ "listChanged": true });
            }),
        ),
        case("subscribe-unknown", reply_uri("resources/subscribe", MISSING, "result", json!({}))),
        case(
            "completion-answers",
            Fault::reply("completion/complete", "error", error(-32601, "method not found")),
        ),
        case("completion-shape", completion(|completion| completion["values"] = json!([1]))),
        case(
            "completion-limit",
            completion(|completion| {
                completion["values"] = json!(vec!["x"; 101]);
                completion["total"] = json!(101);
            }),
        ),
        case("completion-total", completion(|completion| completion["total"] = json!(1))),
        case(
            "completion-unknown",
            Fault::on("completion/complete", |request, outbox| {
                if request["params"]["ref"]["type"] == "ref/prompt" {
                    let result = json!({ "completion": { "values": [] } });
                    set_reply(&mut outbox.messages[0], "result", &result);
                }
            }),
        ),
    ]
}

fn collections() -> Vec<Case> {
    let metadata = |change: fn(&mut Value)| {
        on_uri("resources/metadata", B, move |message| change(&mut message["result"]))
    };
    let scoped = |change: fn(&mut Value)| on_uri("resources/list", GUIDE, change);
    let broken = error(-32603, "broken");
    let empty = json!({ "resources": [] });
    vec![
        case("metadata-answers", metadata(|result| *result = json!({}))),
        case("metadata-no-content", metadata(|result| result["resource"]["text"] = json!("x"))),
        case("metadata-equals-list", metadata(|result| result["resource"]["name"] = json!("x"))),
        case(
            "metadata-unknown",
            reply_uri(
                "resources/metadata",
                MISSING,
                "result",
                json!({ "resource": { "uri": MISSING, "name": "x" } }),
            ),
        ),
        case(
            "collection-flags",
            Fault::resource(GUIDE, |entry| {
                entry["isCollection"] = json!(false);
            }),
        ),
        case("collection-lists", reply_uri("resources/list", GUIDE, "error", broken.clone())),
        case(
            "collection-children",
            scoped(|message| {
                let guide = json!({ "uri": GUIDE, "name": "guide" });
                message["result"]["resources"].as_array_mut().unwrap().push(guide);
            }),
        ),
        case(
            "collection-child-reachable",
            reply_uri("resources/metadata", "doc:///guide/1", "error", broken),
        ),
        case("collection-unlistable", reply_uri("resources/list", A, "result", empty)),
        case(
            "collection-single",
            on_uri("resources/read", A, |message| {
                let other = json!({ "uri": B, "name": "b.bin", "text": "x" });
                message["result"]["contents"].as_array_mut().unwrap().push(other);
            }),
        ),
        case(
            "read-metadata",
            on_element(A, |element| {
                element.as_object_mut().unwrap().remove("name");
            }),
        ),
    ]
}
