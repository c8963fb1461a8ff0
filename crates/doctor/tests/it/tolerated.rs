//! Servers that differ from the base and break no rule: the specification leaves them a choice.

use serde_json::json;

use crate::base_server::error;
use crate::cases::{Case, case, examine_http, examine_pipes, modern, options};
use crate::faults::{Fault, set_reply};
use crate::http_server::{json_answer, status};

fn handshake_servers() -> Vec<Case> {
    let refuses = Fault::on("initialize", |request, outbox| {
        if request["params"]["protocolVersion"] == "1999-01-01" {
            set_reply(&mut outbox.messages[0], "error", &error(-32602, "unsupported version"));
        }
    });
    let pings = Fault::on("tools/list", |_, outbox| {
        outbox.messages.insert(0, json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" }));
    });
    let logs = Fault::on("tools/list", |_, outbox| {
        let message = json!({
            "jsonrpc": "2.0",
            "method": "notifications/message",
            "params": { "level": "info", "data": "x" },
        });
        outbox.messages.insert(0, message);
    });
    let empty = Fault::messages(|request, outbox| {
        let method = request["method"].as_str().unwrap_or_default();
        for message in &mut outbox.messages {
            match method {
                "initialize" => message["result"]["capabilities"] = json!({}),
                "ping" | "" => {}
                _ => set_reply(message, "error", &error(-32601, "method not found")),
            }
        }
    });
    let skips = Fault::messages(|request, outbox| {
        if request.is_null() {
            outbox.messages.clear();
        }
    });
    let announces = Fault::on("ping", |_, outbox| {
        let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
        outbox.messages.insert(0, changed);
    });
    vec![
        case("announces a change of a list with its first answer", announces),
        case("refuses an unknown version by an error", refuses),
        case("pings the client during a request", pings),
        case("logs during a request", logs),
        case("offers nothing", empty),
        case("skips a line that is no JSON", skips),
    ]
}

fn stateless_servers() -> Vec<Case> {
    let acknowledges = Fault::on("subscriptions/listen", |_, outbox| {
        if let Some(params) = outbox.messages[0].get_mut("params") {
            params["notifications"] = json!({ "resourcesListChanged": true });
        }
    });
    let asks = Fault::on("resources/read", |request, outbox| {
        if request["params"]["uri"] == "doc:///b.bin" {
            let meta = outbox.messages[0]["result"]["_meta"].clone();
            let result =
                json!({ "resultType": "input_required", "requestState": "x", "_meta": meta });
            set_reply(&mut outbox.messages[0], "result", &result);
        }
    });
    // The answer to a stream is its end, and a server may end it.
    let ends = Fault::on("subscriptions/listen", |request, outbox| {
        if request["params"]["notifications"].is_object() {
            let params = &mut outbox.messages[0]["params"];
            params["notifications"] = json!({ "resourcesListChanged": true });
            let (id, meta) = (&request["id"], &params["_meta"]);
            let result = json!({ "resultType": "complete", "_meta": meta });
            let end = json!({ "jsonrpc": "2.0", "id": id, "result": result });
            outbox.messages.push(end);
        }
    });
    vec![
        modern("ends a subscription", ends),
        modern("acknowledges a part of a subscription", acknowledges),
        modern("asks for input where it may", asks),
    ]
}

fn http_servers() -> Vec<Case> {
    let older = Fault::http(|seen, answer| {
        if seen.method == "POST" && seen.header("mcp-protocol-version").is_none() {
            let error = error(-32600, "missing session");
            *answer = json_answer(400, &json!({ "jsonrpc": "2.0", "id": null, "error": error }));
        }
    });
    let streams = Fault::http(|seen, answer| match seen.method.as_str() {
        "GET" => {
            *answer = status(200);
            answer.headers.push(("content-type".to_owned(), "text/event-stream".to_owned()));
        }
        "DELETE" => *answer = status(405),
        _ => {}
    });
    vec![
        modern("reads a request without a version as one of an older revision", older),
        case("offers a stream by GET and no end of a session", streams),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_server_over_pipes_that_uses_a_choice_breaks_no_rule() {
    for server in handshake_servers().into_iter().chain(stateless_servers()) {
        let report = examine_pipes(server.fault, &options(&[server.revision])).await;
        let findings = &report.findings;
        assert!(report.is_reached() && findings.is_empty(), "{}: {findings:#?}", server.rule);
    }
}

#[tokio::test]
async fn a_server_over_http_that_uses_a_choice_breaks_no_rule() {
    for server in http_servers() {
        let report = examine_http(server.fault, &options(&[server.revision])).await;
        let findings = &report.findings;
        assert!(report.is_reached() && findings.is_empty(), "{}: {findings:#?}", server.rule);
    }
}
