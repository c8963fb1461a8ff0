//! A stand-in for an embeddings server: gives scripted answers, and remembers the requests.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with one request.
pub(crate) enum Act {
    /// Answers with a status, headers and a body.
    Answer(u16, Vec<(&'static str, &'static str)>, String),
    /// Embeds each text: its length and 1, the last text first.
    Embed,
    /// Says nothing, and keeps the connection.
    Silence,
    /// Closes the connection without an answer.
    Close,
    /// Sends a body without end.
    Endless,
    /// Promises a longer body than it sends.
    BreakOff,
}

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub(crate) struct SeenRequest {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// A server that runs until the test ends.
pub(crate) struct ScriptedServer {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<SeenRequest>>>,
}

impl ScriptedServer {
    /// Starts a server that acts in this order, and embeds after the last act.
    pub(crate) async fn start(script: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let requests = Arc::clone(&seen);
        tokio::spawn(async move {
            let mut script = script.into_iter();
            let mut silent = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let Some(request) = read_request(&mut stream).await else { continue };
                requests.lock().unwrap().push(request.clone());
                match script.next().unwrap_or(Act::Embed) {
                    Act::Silence => silent.push(stream),
                    act => act.perform(stream, &request).await,
                }
            }
        });
        Self { address, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<SeenRequest> {
        self.seen.lock().unwrap().clone()
    }

    /// The texts of each request.
    pub(crate) fn seen_inputs(&self) -> Vec<Vec<String>> {
        let inputs = self.seen().into_iter().map(|request| request.body["input"].clone());
        inputs.map(|input| serde_json::from_value(input).unwrap()).collect()
    }
}

impl Act {
    async fn perform(self, mut stream: TcpStream, request: &SeenRequest) {
        let answer = match self {
            Self::Answer(status, headers, body) => format_answer(status, &headers, &body),
            Self::Embed => format_answer(200, &[], &embed(&request.body).to_string()),
            Self::BreakOff => "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"data\":".to_owned(),
            Self::Endless => {
                let head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"data\":[";
                let mut sent = stream.write_all(head.as_bytes()).await;
                while sent.is_ok() {
                    sent = stream.write_all(&[b' '; 4_096]).await;
                }
                return;
            }
            Self::Silence | Self::Close => return,
        };
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.shutdown().await;
    }
}

fn format_answer(status: u16, headers: &[(&str, &str)], body: &str) -> String {
    let mut answer = format!("HTTP/1.1 {status} X\r\nconnection: close\r\n");
    for (name, value) in headers {
        write!(answer, "{name}: {value}\r\n").unwrap();
    }
    write!(answer, "content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    answer
}

/// The documented answer, with its items in the order that clients must not rely on.
fn embed(request: &Value) -> Value {
    let texts = request["input"].as_array().unwrap();
    let items = texts.iter().enumerate().rev().map(|(index, text)| {
        let length = text.as_str().unwrap().chars().count();
        json!({ "object": "embedding", "index": index, "embedding": [length, 1.0] })
    });
    let items: Vec<Value> = items.collect();
    json!({
        "object": "list", "data": items, "model": request["model"],
        "usage": { "prompt_tokens": texts.len(), "total_tokens": texts.len() }
    })
}

async fn read_request(stream: &mut TcpStream) -> Option<SeenRequest> {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4_096];
        let length = stream.read(&mut chunk).await.ok().filter(|length| *length > 0)?;
        bytes.extend_from_slice(&chunk[..length]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
        if bytes.len() >= end + 4 + length.parse::<usize>().ok()? {
            let body = serde_json::from_slice(&bytes[end + 4..]).ok()?;
            return Some(SeenRequest { head, body });
        }
    }
}
