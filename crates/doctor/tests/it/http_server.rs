//! The test server over HTTP on loopback: sessions, headers and statuses as the revisions say.

use std::collections::HashSet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::base_server::{self, LEGACY, MODERN, is_modern};
use crate::faults::{Fault, HttpAnswer, HttpSeen, Outbox};
use crate::pipe_server::replies;

/// A running server; it ends when it is dropped.
pub(crate) struct HttpServer {
    address: SocketAddr,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Sessions {
    open: HashSet<String>,
    count: usize,
}

impl HttpServer {
    pub(crate) async fn start(fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let sessions: Arc<Mutex<Sessions>> = Arc::default();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (fault, sessions) = (fault.clone(), Arc::clone(&sessions));
                let service = service_fn(move |request| {
                    let (fault, sessions) = (fault.clone(), Arc::clone(&sessions));
                    async move { Ok::<_, Infallible>(handle(request, &fault, &sessions).await) }
                });
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection);
            }
        });
        Self { address, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn handle(
    request: Request<Incoming>,
    fault: &Fault,
    sessions: &Mutex<Sessions>,
) -> Response<Full<Bytes>> {
    let method = request.method().to_string();
    let headers = request.headers().iter().map(|(name, value)| {
        (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let headers = headers.collect();
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let message = serde_json::from_slice(&body).unwrap_or_default();
    let seen = HttpSeen { method, headers, message };
    let mut answer = respond(&seen, fault, sessions);
    if let Some(change) = &fault.http {
        change(&seen, &mut answer);
    }
    let mut response = Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(name, value);
    }
    response.body(Full::from(answer.body)).unwrap()
}

pub(crate) fn status(status: u16) -> HttpAnswer {
    HttpAnswer { status, headers: Vec::new(), body: Vec::new() }
}

pub(crate) fn json_answer(code: u16, body: &Value) -> HttpAnswer {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    HttpAnswer { headers, body: body.to_string().into_bytes(), ..status(code) }
}

fn refuse(code: u16, seen: &HttpSeen, error: i64) -> HttpAnswer {
    let error = base_server::error(error, "refused");
    json_answer(code, &json!({ "jsonrpc": "2.0", "id": seen.message["id"], "error": error }))
}

fn respond(seen: &HttpSeen, fault: &Fault, sessions: &Mutex<Sessions>) -> HttpAnswer {
    let is_local = |name: &str| seen.header(name).is_none_or(|value| value.contains("127.0.0.1"));
    if !is_local("origin") || !is_local("host") {
        return status(403);
    }
    match seen.method.as_str() {
        "POST" if seen.message.is_null() => status(400),
        "POST" if is_modern(&seen.message) => respond_modern(seen, fault),
        "POST" => respond_legacy(seen, fault, sessions),
        "DELETE" => {
            let session = seen.header("mcp-session-id").unwrap_or_default();
            let is_known = sessions.lock().unwrap().open.remove(session);
            status(if is_known { 204 } else { 404 })
        }
        _ => status(405),
    }
}

fn respond_modern(seen: &HttpSeen, fault: &Fault) -> HttpAnswer {
    if seen.message.get("id").is_none() {
        return status(202);
    }
    let params = &seen.message["params"];
    let version = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
    let method = seen.message["method"].as_str();
    let name = match method {
        Some("resources/read") => params["uri"].as_str(),
        Some("tools/call" | "prompts/get") => params["name"].as_str(),
        _ => None,
    };
    let is_mirrored = seen.header("mcp-protocol-version") == version
        && seen.header("mcp-method") == method
        && seen.header("mcp-name") == name;
    if !is_mirrored {
        return refuse(400, seen, -32020);
    }
    let answer = send(seen, &json!(null), fault);
    let code = answer_code(&answer);
    let is_malformed =
        version != Some(MODERN) || code == Some(-32602) && method == Some("server/discover");
    match code {
        Some(-32601) => HttpAnswer { status: 404, ..answer },
        Some(_) if is_malformed => HttpAnswer { status: 400, ..answer },
        _ => answer,
    }
}

/// The code of the error that a body holds.
pub(crate) fn answer_code(answer: &HttpAnswer) -> Option<i64> {
    let body: Value = serde_json::from_slice(&answer.body).ok()?;
    body["error"]["code"].as_i64()
}

fn respond_legacy(seen: &HttpSeen, fault: &Fault, sessions: &Mutex<Sessions>) -> HttpAnswer {
    if seen.message["method"] == "initialize" {
        let mut sessions = sessions.lock().unwrap();
        sessions.count += 1;
        let asked = seen.message["params"]["protocolVersion"].as_str().unwrap_or_default();
        let session = format!("s-{}-{asked}", sessions.count);
        sessions.open.insert(session.clone());
        let mut answer = send(seen, &json!(asked), fault);
        answer.headers.push(("mcp-session-id".to_owned(), session));
        return answer;
    }
    let Some(session) = seen.header("mcp-session-id") else { return status(400) };
    // The second is the id that a fault gives out.
    if !sessions.lock().unwrap().open.contains(session) && session != "a b" {
        return status(404);
    }
    let version = seen.header("mcp-protocol-version");
    if version.is_some_and(|version| !LEGACY.contains(&version)) {
        return status(400);
    }
    let is_batch = session.ends_with("2025-03-26");
    if seen.message.is_object() && seen.message.get("id").is_none() {
        return status(202);
    }
    send(seen, &json!(if is_batch { "2025-03-26" } else { "" }), fault)
}

/// Sends the messages: one as JSON, several or those of a stream as events.
fn send(seen: &HttpSeen, version: &Value, fault: &Fault) -> HttpAnswer {
    let mut outbox = Outbox { messages: replies(&seen.message, version), ..Outbox::default() };
    if let Some(change) = &fault.message {
        change(&seen.message, &mut outbox);
    }
    let is_stream = ["tools/list", "subscriptions/listen"]
        .contains(&seen.message["method"].as_str().unwrap_or_default());
    let has_error = outbox.messages.iter().any(|message| message.get("error").is_some());
    match &outbox.messages[..] {
        [message] if !is_stream || has_error => json_answer(200, message),
        messages => {
            let event = |message: &Value| format!("event: message\ndata: {message}\n\n");
            let body: String = messages.iter().map(event).collect();
            let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
            HttpAnswer { headers, body: format!(": hello\n\n{body}").into_bytes(), ..status(200) }
        }
    }
}
