//! A scripted HTTP server for tests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use client::{Client, Options, ServerTarget};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::scripted_pipe::{discover_result, in_time, initialize_result};

/// An HTTP server on a local port; dropping it stops it.
pub(crate) struct ScriptedHttpServer {
    pub(crate) port: u16,
    serving: JoinHandle<()>,
    seen: Mutex<mpsc::UnboundedReceiver<Observation>>,
}

/// What the server observed.
#[derive(Debug, Clone)]
pub(crate) enum Observation {
    /// A request arrived.
    Request(Request),
    /// The client closed the connection before the response ended.
    Gone(Request),
}

/// An HTTP request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn id(&self) -> &Value {
        &self.body["id"]
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// A scripted HTTP response.
#[derive(Default)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    /// The part of the body to send at once.
    body: Vec<u8>,
    /// Further chunks; the response ends when this channel closes.
    more: Option<mpsc::UnboundedReceiver<String>>,
    /// Whether the server never responds.
    hangs: bool,
    /// Whether the body is shorter than its Content-Length.
    breaks: bool,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &str) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self { status, headers, body: body.as_bytes().to_vec(), ..Self::default() }
    }

    pub(crate) fn result(request: &Request, result: &str) -> Self {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request.id());
        Self::json(200, &body)
    }

    pub(crate) fn error(status: u16, request: &Request, code: i64) -> Self {
        let error = json!({ "code": code, "message": "refused" });
        let body = json!({ "jsonrpc": "2.0", "id": request.id(), "error": error });
        Self::json(status, &body.to_string())
    }

    pub(crate) fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    pub(crate) fn hang() -> Self {
        Self { hangs: true, ..Self::default() }
    }

    /// An SSE stream with these events, which then ends.
    pub(crate) fn events(events: &[&str]) -> Self {
        let headers = vec![("content-type", "text/event-stream".to_owned())];
        Self { status: 200, headers, body: events.concat().into_bytes(), ..Self::default() }
    }

    /// An SSE stream that sends what arrives on `more`, until that channel closes.
    pub(crate) fn stream(more: mpsc::UnboundedReceiver<String>) -> Self {
        Self::streamed("text/event-stream", more)
    }

    /// A body that sends what arrives on `more`, until that channel closes.
    pub(crate) fn streamed(
        content_type: &'static str,
        more: mpsc::UnboundedReceiver<String>,
    ) -> Self {
        let headers = vec![("content-type", content_type.to_owned())];
        Self { status: 200, headers, more: Some(more), ..Self::default() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Breaks the connection before the body ends.
    pub(crate) fn broken(self) -> Self {
        Self { breaks: true, ..self }
    }
}

type Script = Arc<dyn Fn(Request, usize) -> Reply + Send + Sync>;

impl ScriptedHttpServer {
    /// A server that answers each request with `act`, which also gets the request's number.
    pub(crate) async fn open(
        act: impl Fn(Request, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::on(listener, act)
    }

    pub(crate) fn on(
        listener: TcpListener,
        act: impl Fn(Request, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let port = listener.local_addr().unwrap().port();
        let (sender, seen) = mpsc::unbounded_channel();
        let script: Script = Arc::new(act);
        let count = Arc::new(Mutex::new(0));
        let serving = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (act, sender, count) =
                    (Arc::clone(&script), sender.clone(), Arc::clone(&count));
                connections.spawn(serve_connection(stream, act, sender, count));
            }
        });
        Self { port, serving, seen: Mutex::new(seen) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    pub(crate) fn client(&self, options: Options) -> Client {
        Client::new(ServerTarget::Http { url: self.url(), headers: Vec::new() }, options)
    }

    /// Waits until the server observes something that is `wanted`.
    pub(crate) async fn wait_for(&mut self, wanted: impl Fn(&Observation) -> bool) -> Request {
        let seen = self.seen.get_mut().unwrap();
        let found = async {
            loop {
                let next = seen.recv().await.expect("the site is there");
                if wanted(&next) {
                    let (Observation::Request(request) | Observation::Gone(request)) = next;
                    return request;
                }
            }
        };
        in_time(found).await
    }

    pub(crate) async fn wait_for_method(&mut self, method: &str) -> Request {
        self.wait_for(
            |seen| matches!(seen, Observation::Request(request) if request.method() == method),
        )
        .await
    }

    pub(crate) async fn wait_for_disconnect(&mut self, method: &str) -> Request {
        self.wait_for(
            |seen| matches!(seen, Observation::Gone(request) if request.method() == method),
        )
        .await
    }

    pub(crate) async fn wait_for_verb(&mut self, verb: &str) -> Request {
        self.wait_for(|seen| matches!(seen, Observation::Request(request) if request.verb == verb))
            .await
    }
}

impl Drop for ScriptedHttpServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A modern server's reply to an opening request; `None` leaves the request to the test.
pub(crate) fn modern(request: &Request) -> Option<Reply> {
    match request.method() {
        "server/discover" => Some(Reply::result(request, &discover_result().to_string())),
        _ => None,
    }
}

/// A legacy server's reply to an opening request; `None` leaves the request to the test.
pub(crate) fn legacy(request: &Request, session: &str) -> Option<Reply> {
    match request.method() {
        "server/discover" => Some(Reply::error(400, request, -32600)),
        "initialize" => {
            let reply = Reply::result(request, &initialize_result("2025-11-25").to_string());
            Some(reply.with("mcp-session-id", session))
        }
        "notifications/initialized" | "notifications/cancelled" => Some(Reply::status(202)),
        _ if request.verb == "DELETE" => Some(Reply::status(204)),
        _ => None,
    }
}

async fn serve_connection(
    stream: TcpStream,
    script: Script,
    seen: mpsc::UnboundedSender<Observation>,
    count: Arc<Mutex<usize>>,
) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream).await {
        let _ = seen.send(Observation::Request(request.clone()));
        let number = {
            let mut count = count.lock().unwrap();
            *count += 1;
            *count
        };
        let reply = script(request.clone(), number - 1);
        if !write(&mut stream, reply).await {
            let _ = seen.send(Observation::Gone(request));
            return;
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    if stream.read_line(&mut line).await.ok()? == 0 {
        return None;
    }
    let mut parts = line.split(' ').map(str::to_owned);
    let (verb, path) = (parts.next()?, parts.next()?);
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Request { verb, path, headers, body })
}

/// Writes a reply. Returns whether the client read all of it.
async fn write(stream: &mut BufReader<TcpStream>, reply: Reply) -> bool {
    let Reply { status, headers, body, more, hangs, breaks } = reply;
    let mut scratch = [0; 16];
    if hangs {
        return stream.read(&mut scratch).await.is_ok_and(|read| read > 0);
    }
    let mut head = format!("HTTP/1.1 {status} X\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let length = body.len() + usize::from(breaks) * 100;
    let framing = if more.is_some() {
        "transfer-encoding: chunked".to_owned()
    } else {
        format!("content-length: {length}")
    };
    let mut bytes = format!("{head}{framing}\r\n\r\n").into_bytes();
    bytes.extend_from_slice(&body);
    if stream.get_mut().write_all(&bytes).await.is_err() || breaks {
        return false;
    }
    let Some(mut more) = more else { return true };
    loop {
        tokio::select! {
            read = stream.read(&mut scratch) => {
                if !read.is_ok_and(|read| read > 0) {
                    return false;
                }
            }
            next = more.recv() => {
                let text = next.clone().unwrap_or_default();
                let chunk = format!("{:x}\r\n{text}\r\n", text.len());
                if stream.get_mut().write_all(chunk.as_bytes()).await.is_err() {
                    return false;
                }
                if next.is_none() {
                    return true;
                }
            }
        }
    }
}
