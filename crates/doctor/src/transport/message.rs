//! JSON-RPC messages as a server sends them, and what is wrong with their shape.

use serde_json::Value;

use crate::plain_text::{plain, plain_json};

/// A message of the server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PeerMessage {
    Response { id: Value, outcome: ReplyOutcome },
    Request { id: Value, method: String },
    Notification { method: String, params: Value },
}

/// What a request came to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReplyOutcome {
    Result(Value),
    Error(RpcFault),
    /// An HTTP status came, and no JSON-RPC message.
    Status,
    /// There is no answer; the reason is already recorded.
    Nothing,
}

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcFault {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Value,
}

/// A rule that a message breaks, with the evidence.
pub(super) type ShapeFault = (&'static str, String);

/// Reads a message. Faults that leave it readable are added to `faults`.
pub(super) fn read(value: &Value, faults: &mut Vec<ShapeFault>) -> Option<PeerMessage> {
    let Some(members) = value.as_object() else {
        faults.push(("message-json", format!("it sent {}, no JSON-RPC object", plain_json(value))));
        return None;
    };
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        faults.push(("message-version", format!("it sent {}", plain_json(value))));
    }
    if let Some(method) = members.get("method").and_then(Value::as_str) {
        let method = method.to_owned();
        return Some(match members.get("id") {
            Some(id) => PeerMessage::Request { id: id.clone(), method },
            None => {
                let params = members.get("params").cloned().unwrap_or_default();
                PeerMessage::Notification { method, params }
            }
        });
    }
    let id = members.get("id").cloned().unwrap_or_default();
    match (members.get("result"), members.get("error")) {
        (Some(result), None) => {
            if !result.is_object() {
                let shown = plain_json(result);
                faults.push(("response-shape", format!("the result is {shown}, no object")));
            }
            Some(PeerMessage::Response { id, outcome: ReplyOutcome::Result(result.clone()) })
        }
        (result, Some(error)) => {
            if result.is_some() {
                let evidence = "a response has both result and error".to_owned();
                faults.push(("response-shape", evidence));
            }
            Some(PeerMessage::Response { id, outcome: ReplyOutcome::Error(fault(error, faults)) })
        }
        (None, None) => {
            let shown = plain_json(value);
            faults
                .push(("response-shape", format!("neither result nor error nor method: {shown}")));
            None
        }
    }
}

fn fault(error: &Value, faults: &mut Vec<ShapeFault>) -> RpcFault {
    let code = error.get("code").and_then(Value::as_i64);
    let message = error.get("message").and_then(Value::as_str);
    if code.is_none() || message.is_none() {
        faults.push(("error-shape", format!("the error is {}", plain_json(error))));
    }
    RpcFault {
        code: code.unwrap_or_default(),
        message: plain(message.unwrap_or_default()),
        data: error.get("data").cloned().unwrap_or_default(),
    }
}
