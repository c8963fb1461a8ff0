//! Servers of the tests: a refdesk, and a stranger that answers from a script.

use std::io;
use std::sync::Arc;

use client::{PipeOpener, PipeReader, PipeWriter};
use parking_lot::Mutex;
use serde_json::{Value, json};
use server::transport::stdio;
use server::{CollectionsMode, Limits, Server};
use testkit::MemoryProvider;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex, split};

/// A refdesk that serves what is in memory.
pub(super) struct Desk {
    pub(super) memory: Arc<MemoryProvider>,
}

impl Desk {
    pub(super) fn new(memory: MemoryProvider) -> Arc<Self> {
        Arc::new(Self { memory: Arc::new(memory) })
    }
}

impl PipeOpener for Desk {
    fn open(&self) -> io::Result<(PipeReader, PipeWriter)> {
        let provider = Arc::clone(&self.memory);
        let server = Server::new(provider, Limits::default(), [7; 32], CollectionsMode::Always);
        let (near, far) = duplex(1 << 16);
        let (input, output) = split(far);
        let serving = stdio::serve(Arc::new(server), input, output, std::future::pending());
        tokio::spawn(async move { drop(serving.await) });
        let (read, write) = split(near);
        Ok((Box::new(read), Box::new(write)))
    }
}

type Script = dyn Fn(&str, &Value) -> Value + Send + Sync;

/// A server of 2025-06-18 without anything of refdesk: a script gives its results.
pub(super) struct Stranger {
    script: Arc<Script>,
    capabilities: Value,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Stranger {
    pub(super) fn new(script: impl Fn(&str, &Value) -> Value + Send + Sync + 'static) -> Arc<Self> {
        let capabilities = json!({ "resources": {} });
        Arc::new(Self { script: Arc::new(script), capabilities, requests: Arc::default() })
    }

    /// One that lists these URIs, two a page, and whose texts are their URIs.
    pub(super) fn listing(uris: &[&str]) -> Arc<Self> {
        let uris: Vec<String> = uris.iter().map(|uri| (*uri).to_owned()).collect();
        Self::new(move |method, params| match method {
            "resources/list" => {
                let from: usize = params["cursor"].as_str().unwrap_or("0").parse().unwrap();
                let page = uris.iter().skip(from).take(2);
                let rows: Vec<Value> =
                    page.map(|uri| json!({ "uri": uri, "name": uri.rsplit('/').next() })).collect();
                let next = (from + 2 < uris.len()).then(|| (from + 2).to_string());
                json!({ "resources": rows, "nextCursor": next })
            }
            "resources/read" => {
                let part = json!({ "uri": params["uri"], "text": params["uri"] });
                json!({ "contents": [part] })
            }
            _ => json!({}),
        })
    }

    /// What it answers to a request.
    pub(super) fn result(&self, method: &str, params: &Value) -> Value {
        (self.script)(method, params)
    }

    /// How often a method was called since the last question.
    pub(super) fn take_count(&self, method: &str) -> usize {
        let mut requests = self.requests.lock();
        let before = requests.len();
        requests.retain(|known| known != method);
        before - requests.len()
    }
}

/// The answer to one message, if it needs one.
fn answer(message: &Value, script: &Script, capabilities: &Value) -> Option<Value> {
    let (method, id) = (message["method"].as_str()?, message.get("id")?);
    let result = match method {
        "server/discover" => {
            let error = json!({ "code": -32601, "message": "method not found" });
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "capabilities": capabilities,
            "serverInfo": { "name": "stranger", "version": "1" },
        }),
        method => script(method, &message["params"]),
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

impl PipeOpener for Stranger {
    fn open(&self) -> io::Result<(PipeReader, PipeWriter)> {
        let (ours, theirs) = duplex(1 << 20);
        let (read, mut write) = split(theirs);
        let (script, capabilities) = (Arc::clone(&self.script), self.capabilities.clone());
        let requests = Arc::clone(&self.requests);
        tokio::spawn(async move {
            let mut lines = BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                requests.lock().extend(message["method"].as_str().map(str::to_owned));
                let Some(answer) = answer(&message, &*script, &capabilities) else { continue };
                if write.write_all(format!("{answer}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        let (read, write) = split(ours);
        Ok((Box::new(read), Box::new(write)))
    }
}
