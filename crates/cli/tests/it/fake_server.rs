//! Scripted fake MCP server for tests: handshake or stateless era, over stdio or HTTP.
//!
//! Over stdio, refdesk starts a shell that connects its pipes to a socket of this process. So
//! there is a real program to kill, and the test still decides every response.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// Test timeout, longer than any step takes on a slow machine.
const TIMEOUT: Duration = Duration::from_secs(120);
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The protocol era: with a handshake (through 2025-11-25), or stateless (from 2026-07-28).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// The transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransportKind {
    Pipe,
    Http,
}

/// A request to the fake server; `turn` counts the earlier requests of this method.
pub(crate) struct FakeRequest<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: &'a Value,
    pub(crate) turn: usize,
}

/// The scripted response.
pub(crate) enum FakeResponse {
    Result(Value),
    Error(i64, &'static str),
    /// Never answers.
    Hang,
    /// Responds with this JSON as the result, byte for byte.
    RawResult(String),
    /// Sends this text instead of a response.
    Raw(&'static str),
    /// Sends the message that this makes of the request's id.
    RawMessage(Box<dyn Fn(&Value) -> String>),
    /// Responds with a text of this many bytes.
    Flood(u64),
    /// Closes the connection in the middle of the response.
    Disconnect,
    /// Over HTTP: asks the client this question (elicitation), then responds with its answer.
    Ask(Value),
}

type FakeScript = Box<dyn Fn(&FakeRequest<'_>) -> FakeResponse + Send + Sync>;

/// A running fake server.
pub(crate) struct FakeServer {
    inner: Arc<FakeServerInner>,
    port: u16,
}

pub(crate) struct FakeServerInner {
    pub(crate) era: Era,
    /// Whether it speaks the other era too.
    is_dual: bool,
    transport: TransportKind,
    script: FakeScript,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
pub(crate) struct State {
    /// The methods of all requests, in order.
    seen: Vec<String>,
    streams: Vec<FakeNotificationStream>,
    /// Process id of the program on the pipe.
    program: Option<i32>,
    /// How many sessions were opened; only the last one is valid.
    pub(crate) sessions: usize,
    pub(crate) session_lost: bool,
    /// The client's answers to questions.
    pub(crate) answers: Vec<Value>,
    is_closed: bool,
}

/// A stream on which the server can send notifications.
struct FakeNotificationStream {
    stream: Arc<Mutex<TcpStream>>,
    /// Subscription id and filter of a `subscriptions/listen` request.
    filter: Option<(Value, Value)>,
    is_event: bool,
}

impl FakeServer {
    pub(crate) fn start(
        era: Era,
        transport: TransportKind,
        act: impl Fn(&FakeRequest<'_>) -> FakeResponse + Send + Sync + 'static,
    ) -> Self {
        Self::start_any(era, false, transport, Box::new(act))
    }

    /// A server of both eras over HTTP.
    pub(crate) fn start_dual(
        act: impl Fn(&FakeRequest<'_>) -> FakeResponse + Send + Sync + 'static,
    ) -> Self {
        Self::start_any(Era::Modern, true, TransportKind::Http, Box::new(act))
    }

    fn start_any(era: Era, is_dual: bool, transport: TransportKind, script: FakeScript) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (state, changed) = Default::default();
        let inner = Arc::new(FakeServerInner { era, is_dual, transport, script, state, changed });
        let playing = Arc::clone(&inner);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let stage = Arc::clone(&playing);
                thread::spawn(move || match stage.transport {
                    TransportKind::Pipe => stage.serve_pipe(stream),
                    TransportKind::Http => stage.serve_http(&stream),
                });
            }
        });
        Self { inner, port }
    }

    /// The settings of a mount of this server.
    pub(crate) fn mount(&self, name: &str, more: &str) -> String {
        let port = self.port;
        let place = match self.inner.transport {
            TransportKind::Pipe => format!(
                "command = [\"bash\", \"-c\", \"exec 3<>/dev/tcp/127.0.0.1/{port}; \
                 echo $$ >&3; cat <&3 & exec cat >&3\"]"
            ),
            TransportKind::Http => format!("url = \"http://127.0.0.1:{port}/mcp\""),
        };
        format!("[mounts.{name}]\nkind = \"upstream\"\n{place}\n{more}\n")
    }

    /// How many requests of `method` the server received.
    pub(crate) fn count(&self, method: &str) -> usize {
        count(&self.inner.state(), method)
    }

    /// Waits until the server has received `times` requests of `method`.
    pub(crate) fn wait_for(&self, method: &str, times: usize) {
        self.inner.wait_until(&format!("{method} {times}"), |state| count(state, method) >= times);
    }

    /// Sends a notification on every stream that subscribed to it.
    pub(crate) fn notify(&self, method: &str, params: &Value) {
        for voice in &self.inner.state().streams {
            voice.send(method, params);
        }
    }

    /// Kills the program and blocks new connections until the test opens the server again.
    pub(crate) fn kill(&self) {
        let mut state = self.inner.state();
        state.is_closed = true;
        state.streams.clear();
        let program = rustix::process::Pid::from_raw(state.program.take().unwrap()).unwrap();
        rustix::process::kill_process(program, rustix::process::Signal::KILL).unwrap();
    }

    /// Accepts connections again.
    pub(crate) fn open(&self) {
        self.inner.state().is_closed = false;
        self.inner.changed.notify_all();
    }

    /// Invalidates the session.
    pub(crate) fn drop_session(&self) {
        self.inner.state().session_lost = true;
    }
}

fn count(state: &State, method: &str) -> usize {
    state.seen.iter().filter(|seen| *seen == method).count()
}

impl FakeNotificationStream {
    fn send(&self, method: &str, params: &Value) {
        let mut params = params.clone();
        if let Some((id, wishes)) = &self.filter {
            let uris = wishes["resourceSubscriptions"].as_array();
            let wanted = match params["uri"].as_str() {
                Some(uri) => uris.is_some_and(|uris| uris.iter().any(|wish| wish == uri)),
                None => wishes["resourcesListChanged"] == true,
            };
            if !wanted && method != "notifications/subscriptions/acknowledged" {
                return;
            }
            params["_meta"][SUBSCRIPTION] = id.clone();
        }
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        let mut stream = self.stream.lock().unwrap();
        // A closed stream is not an error here.
        let _ = if self.is_event {
            let event = format!("data: {message}\n\n");
            write!(stream, "{:x}\r\n{event}\r\n", event.len())
        } else {
            writeln!(stream, "{message}")
        };
    }
}

impl FakeServerInner {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Keeps the client's answer to a question.
    pub(crate) fn keep_answer(&self, answer: &Value) {
        self.state().answers.push(answer.clone());
        self.changed.notify_all();
    }

    /// Waits for the client's answer to a question.
    pub(crate) fn wait_for_answer(&self) -> Value {
        self.wait_until("an answer", |state| !state.answers.is_empty());
        self.state().answers.remove(0)
    }

    fn wait_until(&self, what: &str, is_so: impl Fn(&State) -> bool) {
        let waiting = self.changed.wait_timeout_while(self.state(), TIMEOUT, |state| !is_so(state));
        let (state, waited) = waiting.unwrap();
        assert!(!waited.timed_out(), "waited for {what}, saw {:?}", state.seen);
    }

    /// Whether the server speaks `era`.
    pub(crate) fn speaks(&self, era: Era) -> bool {
        self.is_dual || self.era == era
    }

    /// Records a request; returns how many of this method came before.
    pub(crate) fn record(&self, method: &str) -> usize {
        let mut state = self.state();
        let turn = count(&state, method);
        state.seen.push(method.to_owned());
        self.changed.notify_all();
        turn
    }

    pub(crate) fn open_stream(&self, stream: &Arc<Mutex<TcpStream>>, listen: Option<&Value>) {
        let wish = listen
            .map(|message| (message["id"].clone(), message["params"]["notifications"].clone()));
        let is_event = self.transport == TransportKind::Http;
        let voice = FakeNotificationStream { stream: Arc::clone(stream), filter: wish, is_event };
        if let Some((_, wishes)) = &voice.filter {
            let ack = json!({ "notifications": wishes });
            voice.send("notifications/subscriptions/acknowledged", &ack);
        }
        self.state().streams.push(voice);
    }

    /// Chooses the response to a request.
    pub(crate) fn respond_to(&self, message: &Value) -> FakeResponse {
        let method = message["method"].as_str().unwrap_or_default();
        let is_opening = matches!(method, "initialize" | "server/discover");
        if is_opening && self.state().is_closed {
            self.wait_until("an open door", |state| !state.is_closed);
        }
        let turn = self.record(method);
        if !self.speaks(era_of(message)) {
            return FakeResponse::Error(-32601, "another era");
        }
        let deed = (self.script)(&FakeRequest { method, params: &message["params"], turn });
        match (method, &deed) {
            ("initialize", FakeResponse::Error(-32601, _)) => {
                let info = json!({ "name": "old", "version": "1" });
                FakeResponse::Result(json!({ "protocolVersion": "2025-11-25", "serverInfo": info,
                    "capabilities": capabilities() }))
            }
            ("server/discover", FakeResponse::Error(-32601, _)) => FakeResponse::Result(json!({
                "supportedVersions": ["2026-07-28"], "capabilities": capabilities(),
            })),
            ("resources/subscribe" | "resources/unsubscribe" | "ping", _) => {
                FakeResponse::Result(json!({}))
            }
            _ => deed,
        }
    }

    fn serve_pipe(&self, stream: TcpStream) {
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let Some(Ok(program)) = lines.next() else { return };
        self.state().program = program.parse().ok();
        let stream = Arc::new(Mutex::new(stream));
        if self.era == Era::Legacy {
            self.open_stream(&stream, None);
        }
        for line in lines.map_while(Result::ok) {
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == "subscriptions/listen" && self.era == Era::Modern {
                self.open_stream(&stream, Some(&message));
                self.record("subscriptions/listen");
            } else if message.get("id").is_some() {
                let deed = self.respond_to(&message);
                let mut stream = stream.lock().unwrap();
                let _ = self.write_response(&message, &deed, &mut *stream, b"\n");
            } else {
                let cancelled = &message["params"]["requestId"];
                let is_other = |stream: &FakeNotificationStream| {
                    stream.filter.as_ref().is_none_or(|(id, _)| id != cancelled)
                };
                self.state().streams.retain(is_other);
            }
        }
    }

    /// Writes a response, in chunks if it is long.
    pub(crate) fn write_response(
        &self,
        message: &Value,
        response: &FakeResponse,
        out: &mut impl Write,
        end: &[u8],
    ) -> std::io::Result<()> {
        let id = &message["id"];
        match response {
            FakeResponse::Result(result) => {
                let mut result = result.clone();
                if self.era == Era::Modern {
                    for (name, value) in [
                        ("resultType", json!("complete")),
                        ("ttlMs", json!(0)),
                        ("cacheScope", json!("private")),
                    ] {
                        result.as_object_mut().unwrap().entry(name).or_insert(value);
                    }
                }
                write!(out, "{}", json!({ "jsonrpc": "2.0", "id": id, "result": result }))?;
            }
            FakeResponse::Error(code, words) => {
                let error = json!({ "code": code, "message": words });
                write!(out, "{}", json!({ "jsonrpc": "2.0", "id": id, "error": error }))?;
            }
            FakeResponse::RawResult(result) => {
                write!(out, r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)?;
            }
            FakeResponse::Raw(words) => write!(out, "{words}")?,
            FakeResponse::RawMessage(message) => write!(out, "{}", message(id))?,
            FakeResponse::Flood(size) => {
                let uri = &message["params"]["uri"];
                let head = r#""result":{"resultType":"complete","contents":[{"uri":"#;
                write!(out, r#"{{"jsonrpc":"2.0","id":{id},{head}{uri},"text":""#)?;
                let block = [b'x'; 1 << 16];
                (0..size >> 16).try_for_each(|_| out.write_all(&block))?;
                write!(out, r#""}}]}}}}"#)?;
            }
            FakeResponse::Hang | FakeResponse::Disconnect | FakeResponse::Ask(_) => return Ok(()),
        }
        out.write_all(end)?;
        if matches!(response, FakeResponse::Flood(_)) {
            self.record("flooded");
        }
        Ok(())
    }
}

/// The era of a request.
pub(crate) fn era_of(message: &Value) -> Era {
    let is_modern = message["params"]["_meta"][REVISION].is_string();
    if is_modern { Era::Modern } else { Era::Legacy }
}

fn capabilities() -> Value {
    json!({ "resources": { "subscribe": true, "listChanged": true }, "completions": {}, "tools": {} })
}
