//! A scripted server behind pipes for tests.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use client::{
    Backoff, Client, Error, Options, PipeOpener, PipeReader, PipeWriter, Request, ServerTarget,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Longer than anything here takes, on any machine; reaching it fails the test.
pub(crate) const BOUND: Duration = Duration::from_secs(60);

/// Waits for `event`, up to [`BOUND`].
pub(crate) async fn in_time<T>(event: impl Future<Output = T>) -> T {
    timeout(BOUND, event).await.expect("it happens in time")
}

/// Options with the shortest delays.
pub(crate) fn fast_options() -> Options {
    let moment = Duration::from_millis(1);
    Options {
        backoff: Backoff { first: moment, max: moment },
        exit_timeout: Duration::from_millis(200),
        ..Options::default()
    }
}

/// Sends a request without parameters.
pub(crate) async fn ask(client: &Client, method: &str) -> Result<Box<RawValue>, Error> {
    client.send_request(&Request::new(method)).await
}

pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap()
}

type ScriptFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A server behind pipes, started anew for each connection.
pub(crate) struct ScriptedPipeServer {
    act: Box<dyn Fn(ServerSide, usize) -> ScriptFuture + Send + Sync>,
    opened: AtomicUsize,
    heard: mpsc::UnboundedSender<Value>,
}

/// The messages that the scripted server received, in order.
pub(crate) struct ReceivedMessages(mpsc::UnboundedReceiver<Value>);

impl ReceivedMessages {
    /// Waits for the next message with this method.
    pub(crate) async fn next(&mut self, method: &str) -> Value {
        let wanted = async {
            loop {
                let message = self.0.recv().await.expect("the server is there");
                if message["method"] == method {
                    return message;
                }
            }
        };
        in_time(wanted).await
    }

    /// The methods of the messages received since the last call.
    pub(crate) fn so_far(&mut self) -> Vec<String> {
        let mut methods = Vec::new();
        while let Ok(message) = self.0.try_recv() {
            methods.push(message["method"].as_str().unwrap_or("answer").to_owned());
        }
        methods
    }
}

/// The server's side of a connection.
pub(crate) struct ServerSide {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
    heard: mpsc::UnboundedSender<Value>,
}

impl ScriptedPipeServer {
    /// A client of a server that runs `act`, which gets the number of earlier connections.
    pub(crate) fn client<F>(
        options: Options,
        act: impl Fn(ServerSide, usize) -> F + Send + Sync + 'static,
    ) -> (Client, ReceivedMessages)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (sender, heard) = mpsc::unbounded_channel();
        let act = Box::new(move |talk, turn| Box::pin(act(talk, turn)) as ScriptFuture);
        let stage = Self { act, opened: AtomicUsize::new(0), heard: sender };
        (Client::new(ServerTarget::Pipes(Arc::new(stage)), options), ReceivedMessages(heard))
    }
}

impl PipeOpener for ScriptedPipeServer {
    fn open(&self) -> io::Result<(PipeReader, PipeWriter)> {
        let (ours, theirs) = duplex(1 << 20);
        let (read, write) = split(theirs);
        let talk = ServerSide { read: BufReader::new(read), write, heard: self.heard.clone() };
        tokio::spawn((self.act)(talk, self.opened.fetch_add(1, Ordering::SeqCst)));
        let (read, write) = split(ours);
        Ok((Box::new(read), Box::new(write)))
    }
}

impl ServerSide {
    /// Reads the next message; `None` when the client has closed the pipe.
    pub(crate) async fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.read.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let message: Value = serde_json::from_str(&line).expect("a client writes JSON");
        let _ = self.heard.send(message.clone());
        Some(message)
    }

    /// Sends a part of a line.
    pub(crate) async fn send_part(&mut self, text: &str) {
        let _ = self.write.write_all(text.as_bytes()).await;
    }

    pub(crate) async fn send_line(&mut self, text: &str) {
        let _ = self.write.write_all(format!("{text}\n").as_bytes()).await;
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send_line(&message.to_string()).await;
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.send_line(
            &json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string(),
        )
        .await;
    }

    pub(crate) async fn refuse(&mut self, request: &Value, error: Value) {
        self.send_line(
            &json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }).to_string(),
        )
        .await;
    }

    /// Answers the opening messages of an era and returns the first message after them.
    pub(crate) async fn complete_opening(&mut self, era: Era) -> Option<Value> {
        loop {
            let message = self.receive().await?;
            match (message["method"].as_str(), era) {
                (Some("server/discover"), Era::Modern) => {
                    self.answer(&message, discover_result()).await;
                }
                (Some("server/discover"), Era::Legacy) => {
                    let error = json!({ "code": -32601, "message": "method not found" });
                    self.refuse(&message, error).await;
                }
                (Some("initialize"), _) => {
                    self.answer(&message, initialize_result("2025-11-25")).await
                }
                (Some("notifications/initialized"), _) => {}
                _ => return Some(message),
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Modern,
    Legacy,
}

pub(crate) const ERAS: [Era; 2] = [Era::Modern, Era::Legacy];

fn capabilities() -> Value {
    json!({ "resources": { "subscribe": true, "listChanged": true }, "tools": {} })
}

pub(crate) fn discover_result() -> Value {
    json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"],
        "capabilities": capabilities(), "ttlMs": 0, "cacheScope": "private",
        "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "new", "version": "1" } },
    })
}

pub(crate) fn initialize_result(revision: &str) -> Value {
    let info = json!({ "name": "old", "version": "1" });
    json!({ "protocolVersion": revision, "capabilities": capabilities(), "serverInfo": info })
}

/// The parameters that acknowledge the request `listen`.
pub(crate) fn acknowledged_params(listen: &Value) -> Value {
    let wanted = &listen["params"]["notifications"];
    json!({ "_meta": subscription_meta(listen), "notifications": wanted })
}

pub(crate) fn subscription_meta(listen: &Value) -> Value {
    json!({ "io.modelcontextprotocol/subscriptionId": listen["id"] })
}
