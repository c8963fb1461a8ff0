//! Servers that break rules about HTTP.

use serde_json::{Value, json};

use crate::cases::{Case, case, modern};
use crate::faults::{Fault, HttpSeen};
use crate::http_server::{answer_code, status};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
const UNKNOWN_SESSION: &str = "00000000-0000-4000-8000-000000000000";

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = handshake();
    cases.extend(sessions());
    cases.extend(stateless());
    cases.extend(streams());
    cases
}

/// Notifications on streams beside the requests.
fn streams() -> Vec<Case> {
    let updated = |id: &Value| {
        let params = json!({ "uri": "doc:///b.bin", "_meta": { SUBSCRIPTION_ID: id } });
        json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params })
    };
    vec![
        case(
            "update-subscribed",
            Fault::http(move |seen, answer| {
                if seen.method == "GET" {
                    *answer = status(200);
                    answer.headers.push(header("content-type", "text/event-stream"));
                    answer.body = format!("data: {}\n\n", updated(&json!(1))).into_bytes();
                }
            }),
        ),
        modern(
            "listen-honoured",
            Fault::on("subscriptions/listen", move |request, outbox| {
                if request["params"]["notifications"].is_object() {
                    outbox.messages.push(updated(&request["id"]));
                }
            }),
        ),
    ]
}

/// A server that sends another status for some requests.
fn status_if(code: u16, is_meant: fn(&HttpSeen) -> bool) -> Fault {
    Fault::http(move |seen, answer| {
        if is_meant(seen) {
            answer.status = code;
        }
    })
}

fn header(name: &'static str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

fn handshake() -> Vec<Case> {
    vec![
        case(
            "http-answer",
            Fault::http(|seen, answer| {
                if seen.method_is("prompts/list") {
                    answer.body.clear();
                }
            }),
        ),
        case(
            "http-content-type",
            Fault::http(|seen, answer| {
                if seen.method_is("prompts/list") {
                    answer.headers = vec![header("content-type", "text/plain")];
                }
            }),
        ),
        case(
            "http-notification",
            status_if(200, |seen| seen.message.is_object() && seen.message.get("id").is_none()),
        ),
        case(
            "http-invalid-json",
            status_if(200, |seen| seen.method == "POST" && seen.message.is_null()),
        ),
        case("http-origin", status_if(200, |seen| seen.header("origin").is_some())),
        case(
            "http-host",
            status_if(200, |seen| {
                seen.header("host").is_some_and(|host| !host.starts_with("127."))
            }),
        ),
        case("http-get", status_if(500, |seen| seen.method == "GET")),
        case(
            "http-version-header",
            status_if(200, |seen| seen.header("mcp-protocol-version") == Some("1999-01-01")),
        ),
        case("http-challenge", Fault::http(|_, answer| *answer = status(401))),
    ]
}

fn sessions() -> Vec<Case> {
    vec![
        case(
            "http-session-characters",
            Fault::http(|seen, answer| {
                if seen.method_is("initialize") {
                    answer.headers.retain(|(name, _)| name != "mcp-session-id");
                    answer.headers.push(header("mcp-session-id", "a b"));
                }
                // The server under the fault does not know that id.
                if seen.method == "DELETE" {
                    answer.status = 405;
                }
            }),
        ),
        case(
            "http-session-required",
            status_if(200, |seen| {
                seen.method_is("ping") && seen.header("mcp-session-id").is_none()
            }),
        ),
        case(
            "http-session-unknown",
            status_if(400, |seen| seen.header("mcp-session-id") == Some(UNKNOWN_SESSION)),
        ),
        case(
            "http-session-end",
            Fault::http(|seen, answer| {
                if answer.status == 404 && seen.header("mcp-session-id") != Some(UNKNOWN_SESSION) {
                    answer.status = 200;
                }
            }),
        ),
    ]
}

fn stateless() -> Vec<Case> {
    vec![
        modern(
            "http-version-header-missing",
            status_if(200, |seen| seen.header("mcp-protocol-version").is_none()),
        ),
        modern(
            "http-version-mismatch",
            status_if(200, |seen| {
                let version = &seen.message["params"]["_meta"][VERSION];
                seen.header("mcp-protocol-version") == Some("2026-07-28") && version == "2099-01-01"
            }),
        ),
        modern(
            "http-method-header",
            status_if(200, |seen| {
                seen.method == "POST"
                    && seen.header("mcp-method").is_none()
                    && !seen.message.is_null()
            }),
        ),
        modern(
            "http-name-header",
            status_if(200, |seen| {
                seen.header("mcp-name").is_some_and(|name| name.ends_with("/another"))
            }),
        ),
        modern(
            "http-unknown-method",
            status_if(200, |seen| seen.method_is("refdesk-doctor/unknown")),
        ),
        modern(
            "http-meta-status",
            Fault::http(|_, answer| {
                if answer_code(answer) == Some(-32022) {
                    answer.status = 200;
                }
            }),
        ),
        modern(
            "http-session-minted",
            Fault::http(|_, answer| {
                answer.headers.push(header("mcp-session-id", "s-1"));
            }),
        ),
    ]
}
