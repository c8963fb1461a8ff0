//! The test server over HTTP+SSE on loopback: a stream of events, and an endpoint for POST.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use crate::faults::{Fault, Outbox, SseFault};
use crate::pipe_server::replies;

/// A running server; it ends when it is dropped.
pub(crate) struct SseServer {
    address: SocketAddr,
    task: JoinHandle<()>,
}

/// The open streams by session, each with the version that it agreed on.
type Streams = Arc<Mutex<HashMap<String, (UnboundedSender<Bytes>, Value)>>>;
type SseResponse = Response<Either<Full<Bytes>, EventBody>>;

/// The body of a stream: events as they come.
struct EventBody(UnboundedReceiver<Bytes>);

impl Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
    }
}

impl SseServer {
    pub(crate) async fn start(fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let streams = Streams::default();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (fault, streams) = (fault.clone(), Arc::clone(&streams));
                let service = service_fn(move |request| {
                    let (fault, streams) = (fault.clone(), Arc::clone(&streams));
                    async move { Ok::<_, Infallible>(handle(request, &fault, &streams).await) }
                });
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection);
            }
        });
        Self { address, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/sse", self.address)
    }
}

impl Drop for SseServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn plain(status: u16, body: String) -> SseResponse {
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(Either::Left(Full::from(body))).unwrap()
}

async fn handle(request: Request<Incoming>, fault: &Fault, streams: &Streams) -> SseResponse {
    let is_local = |name: &str| {
        let value = request.headers().get(name).and_then(|value| value.to_str().ok());
        value.is_none_or(|value| value.contains("127.0.0.1"))
    };
    let is_refused = !is_local("origin") && fault.sse != Some(SseFault::Origin)
        || !is_local("host") && fault.sse != Some(SseFault::Host);
    if is_refused {
        return plain(403, String::new());
    }
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/sse") => open(fault, streams),
        (&Method::POST, "/messages") => {
            let session = request.uri().query().unwrap_or_default().to_owned();
            let body = request.into_body().collect().await.unwrap().to_bytes();
            let message = serde_json::from_slice(&body).unwrap_or_default();
            take(&session, &message, fault, streams)
        }
        (_, "/sse" | "/messages") => plain(405, String::new()),
        _ => plain(404, String::new()),
    }
}

fn open(fault: &Fault, streams: &Streams) -> SseResponse {
    let (sender, receiver) = unbounded_channel();
    let mut streams = streams.lock().unwrap();
    let session = format!("session={}", streams.len());
    if fault.sse == Some(SseFault::LateEndpoint) {
        let hello = json!({ "jsonrpc": "2.0", "method": "notifications/hello" });
        sender.send(event("message", &hello.to_string())).unwrap();
    }
    let endpoint = match fault.sse {
        Some(SseFault::ForeignEndpoint) => format!("http://127.0.0.1:1/messages?{session}"),
        _ => format!("/messages?{session}"),
    };
    sender.send(event("endpoint", &endpoint)).unwrap();
    streams.insert(session, (sender, Value::Null));
    let response = Response::builder().header("content-type", "text/event-stream");
    response.body(Either::Right(EventBody(receiver))).unwrap()
}

fn take(session: &str, message: &Value, fault: &Fault, streams: &Streams) -> SseResponse {
    let mut streams = streams.lock().unwrap();
    let Some((stream, version)) = streams.get_mut(session) else {
        return plain(404, String::new());
    };
    if message.is_null() {
        return plain(400, String::new());
    }
    if message["method"] == "initialize" {
        *version = message["params"]["protocolVersion"].clone();
    }
    let mut outbox = Outbox { messages: replies(message, version), ..Outbox::default() };
    if let Some(change) = &fault.message {
        change(message, &mut outbox);
    }
    if fault.sse == Some(SseFault::AnswerInPost) && message["method"] == "tools/list" {
        return plain(202, outbox.messages[0].to_string());
    }
    let name = if fault.sse == Some(SseFault::EventName) { "answer" } else { "message" };
    for message in &outbox.messages {
        // A client that has gone away needs no answer.
        let _ = stream.send(event(name, &message.to_string()));
    }
    plain(if fault.sse == Some(SseFault::Status) { 200 } else { 202 }, String::new())
}

fn event(name: &str, data: &str) -> Bytes {
    Bytes::from(format!("event: {name}\r\ndata: {data}\r\n\r\n"))
}
