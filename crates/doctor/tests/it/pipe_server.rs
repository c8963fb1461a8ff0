//! The test server over pipes in this process.

use doctor::{DoctorPipeOpener, DoctorPipes};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

use crate::base_server;
use crate::faults::{Fault, Outbox};

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// How many bytes a pipe holds.
const PIPE_BYTES: usize = 64 << 10;

/// Starts a server for each connection.
pub(crate) struct PipeServer(pub(crate) Fault);

impl DoctorPipeOpener for PipeServer {
    fn open(&self) -> DoctorPipes {
        let (input, server_input) = tokio::io::duplex(PIPE_BYTES);
        let (server_output, output) = tokio::io::duplex(PIPE_BYTES);
        tokio::spawn(serve(server_input, server_output, self.0.clone()));
        DoctorPipes { reader: Box::new(output), writer: Box::new(input) }
    }
}

async fn serve(input: DuplexStream, mut output: DuplexStream, fault: Fault) {
    let mut lines = BufReader::new(input).lines();
    let mut version = json!(null);
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        if message["method"] == "initialize" {
            version = message["params"]["protocolVersion"].clone();
        }
        let mut outbox = Outbox { messages: replies(&message, &version), ..Outbox::default() };
        if let Some(change) = &fault.message {
            change(&message, &mut outbox);
        }
        let announced = announcements(&message, &outbox.messages);
        outbox.messages.extend(announced);
        let mut bytes = std::mem::take(&mut outbox.raw);
        for message in &outbox.messages {
            bytes.extend_from_slice(format!("{message}\n").as_bytes());
        }
        if output.write_all(&bytes).await.is_err() || outbox.ends {
            return;
        }
    }
    if fault.lingers {
        std::future::pending::<()>().await;
    }
}

/// The changes that a correct server announces at once to a new subscription.
fn announcements(request: &Value, sent: &[Value]) -> Vec<Value> {
    let Some(answer) = sent.first() else { return Vec::new() };
    let (params, meta) = (&request["params"], &answer["params"]["_meta"]);
    let listed = &answer["params"]["notifications"];
    let uri = match request["method"].as_str() {
        Some("resources/subscribe") if answer.get("result").is_some() => &params["uri"],
        Some("subscriptions/listen") if listed["resourceSubscriptions"].is_array() => {
            &listed["resourceSubscriptions"][0]
        }
        _ => return Vec::new(),
    };
    let meta = if meta.is_null() { json!({}) } else { json!({ SUBSCRIPTION_ID: request["id"] }) };
    let message = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params });
    vec![
        message("resources/updated", json!({ "uri": uri, "_meta": meta })),
        message("resources/list_changed", json!({ "_meta": meta })),
    ]
}

/// What a correct server sends for a line: an error without an id for one that is no JSON.
pub(crate) fn replies(message: &Value, version: &Value) -> Vec<Value> {
    if let Some(batch) = message.as_array().filter(|_| *version == "2025-03-26") {
        let parts: Vec<Value> = batch.iter().flat_map(base_server::answer).collect();
        return vec![Value::Array(parts)];
    }
    match message.is_object() {
        true => base_server::answer(message),
        false => {
            let error = base_server::error(-32700, "parse error");
            vec![json!({ "jsonrpc": "2.0", "id": null, "error": error })]
        }
    }
}
