//! Somebody else's server, played by a test: of one era only, over a pipe or over HTTP.
//!
//! Over a pipe, refdesk starts a shell that hands everything on to this process, so that there is
//! a program to be ended and yet the test decides what it says.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// Longer than anything here takes, on any machine; reaching it fails the test.
const BOUND: Duration = Duration::from_secs(120);
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Whether a server knows only handshakes, or only requests that stand alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Pipe,
    Http,
}

/// What the server is asked; `turn` counts what it was asked of this method before.
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: &'a Value,
    pub(crate) turn: usize,
}

/// What the server does about it.
pub(crate) enum Deed {
    Give(Value),
    Refuse(i64, &'static str),
    /// Never answers.
    Hang,
    /// Says this instead of an answer.
    Say(&'static str),
    /// Answers a text of this many bytes.
    Flood(u64),
    /// Ends the connection in the middle of the answer.
    Break,
}

type Act = Box<dyn Fn(&Asked<'_>) -> Deed + Send + Sync>;

/// A server that somebody plays.
pub(crate) struct Actor {
    stage: Arc<Stage>,
    port: u16,
}

struct Stage {
    era: Era,
    way: Way,
    act: Act,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The methods that were asked, each in its turn.
    seen: Vec<String>,
    voices: Vec<Voice>,
    /// The program at the other end of the pipe.
    program: Option<i32>,
    /// How many sessions there were; only the last one is known.
    sessions: usize,
    forgets: bool,
    is_shut: bool,
}

/// A way to tell something unasked.
struct Voice {
    stream: Arc<Mutex<TcpStream>>,
    /// What it was asked to tell, and under which id.
    wish: Option<(Value, Value)>,
    is_event: bool,
}

impl Actor {
    pub(crate) fn play(
        era: Era,
        way: Way,
        act: impl Fn(&Asked<'_>) -> Deed + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (state, changed) = Default::default();
        let stage = Arc::new(Stage { era, way, act: Box::new(act), state, changed });
        let playing = Arc::clone(&stage);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let stage = Arc::clone(&playing);
                thread::spawn(move || match stage.way {
                    Way::Pipe => stage.pipe(stream),
                    Way::Http => stage.http(&stream),
                });
            }
        });
        Self { stage, port }
    }

    /// What the settings say of it.
    pub(crate) fn mount(&self, name: &str, more: &str) -> String {
        let port = self.port;
        let place = match self.stage.way {
            Way::Pipe => format!(
                "command = [\"bash\", \"-c\", \"exec 3<>/dev/tcp/127.0.0.1/{port}; \
                 echo $$ >&3; cat <&3 & exec cat >&3\"]"
            ),
            Way::Http => format!("url = \"http://127.0.0.1:{port}/mcp\""),
        };
        format!("[mounts.{name}]\nkind = \"upstream\"\n{place}\n{more}\n")
    }

    /// How often it was asked for `method`.
    pub(crate) fn count(&self, method: &str) -> usize {
        count(&self.stage.state(), method)
    }

    /// Waits until it was asked for `method` this often.
    pub(crate) fn awaits(&self, method: &str, times: usize) {
        self.stage.until(&format!("{method} {times}"), |state| count(state, method) >= times);
    }

    /// Tells something unasked to whoever wants to hear it.
    pub(crate) fn tell(&self, method: &str, params: &Value) {
        for voice in &self.stage.state().voices {
            voice.tell(method, params);
        }
    }

    /// Ends the program at once, and lets no other one begin before [`Actor::open`].
    pub(crate) fn kill(&self) {
        let mut state = self.stage.state();
        state.is_shut = true;
        state.voices.clear();
        let program = rustix::process::Pid::from_raw(state.program.take().unwrap()).unwrap();
        rustix::process::kill_process(program, rustix::process::Signal::KILL).unwrap();
    }

    /// Lets the next one begin.
    pub(crate) fn open(&self) {
        self.stage.state().is_shut = false;
        self.stage.changed.notify_all();
    }

    /// Knows its session no more.
    pub(crate) fn forget(&self) {
        self.stage.state().forgets = true;
    }
}

fn count(state: &State, method: &str) -> usize {
    state.seen.iter().filter(|seen| *seen == method).count()
}

impl Voice {
    fn tell(&self, method: &str, params: &Value) {
        let mut params = params.clone();
        if let Some((id, wishes)) = &self.wish {
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
        // Whoever is gone hears nothing.
        let _ = if self.is_event {
            let event = format!("data: {message}\n\n");
            write!(stream, "{:x}\r\n{event}\r\n", event.len())
        } else {
            writeln!(stream, "{message}")
        };
    }
}

impl Stage {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn until(&self, what: &str, is_so: impl Fn(&State) -> bool) {
        let waiting = self.changed.wait_timeout_while(self.state(), BOUND, |state| !is_so(state));
        let (state, waited) = waiting.unwrap();
        assert!(!waited.timed_out(), "waited for {what}, saw {:?}", state.seen);
    }

    /// Remembers that `method` was asked; how often it was before.
    fn note(&self, method: &str) -> usize {
        let mut state = self.state();
        let turn = count(&state, method);
        state.seen.push(method.to_owned());
        self.changed.notify_all();
        turn
    }

    fn raise(&self, stream: &Arc<Mutex<TcpStream>>, listen: Option<&Value>) {
        let wish = listen
            .map(|message| (message["id"].clone(), message["params"]["notifications"].clone()));
        let is_event = self.way == Way::Http;
        let voice = Voice { stream: Arc::clone(stream), wish, is_event };
        if let Some((_, wishes)) = &voice.wish {
            let ack = json!({ "notifications": wishes });
            voice.tell("notifications/subscriptions/acknowledged", &ack);
        }
        self.state().voices.push(voice);
    }

    /// What is done about a request.
    fn decide(&self, message: &Value) -> Deed {
        let method = message["method"].as_str().unwrap_or_default();
        let is_opening = matches!(method, "initialize" | "server/discover");
        if is_opening && self.state().is_shut {
            self.until("an open door", |state| !state.is_shut);
        }
        let turn = self.note(method);
        let era = if message["params"]["_meta"][REVISION].is_string() {
            Era::Modern
        } else {
            Era::Legacy
        };
        if era != self.era {
            return Deed::Refuse(-32601, "another era");
        }
        let deed = (self.act)(&Asked { method, params: &message["params"], turn });
        match (method, &deed) {
            ("initialize", Deed::Refuse(-32601, _)) => {
                let info = json!({ "name": "old", "version": "1" });
                Deed::Give(json!({ "protocolVersion": "2025-11-25", "serverInfo": info,
                    "capabilities": capabilities() }))
            }
            ("server/discover", Deed::Refuse(-32601, _)) => Deed::Give(json!({
                "supportedVersions": ["2026-07-28"], "capabilities": capabilities(),
            })),
            ("resources/subscribe" | "resources/unsubscribe" | "ping", _) => Deed::Give(json!({})),
            _ => deed,
        }
    }

    fn pipe(&self, stream: TcpStream) {
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let Some(Ok(program)) = lines.next() else { return };
        self.state().program = program.parse().ok();
        let stream = Arc::new(Mutex::new(stream));
        if self.era == Era::Legacy {
            self.raise(&stream, None);
        }
        for line in lines.map_while(Result::ok) {
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == "subscriptions/listen" && self.era == Era::Modern {
                self.raise(&stream, Some(&message));
                self.note("subscriptions/listen");
            } else if message.get("id").is_some() {
                let deed = self.decide(&message);
                let mut stream = stream.lock().unwrap();
                let _ = self.answer(&message, &deed, &mut *stream, b"\n");
            } else {
                let cancelled = &message["params"]["requestId"];
                let is_other =
                    |voice: &Voice| voice.wish.as_ref().is_none_or(|(id, _)| id != cancelled);
                self.state().voices.retain(is_other);
            }
        }
    }

    /// Writes an answer, in pieces where it is long.
    fn answer(
        &self,
        message: &Value,
        deed: &Deed,
        out: &mut impl Write,
        end: &[u8],
    ) -> std::io::Result<()> {
        let id = &message["id"];
        match deed {
            Deed::Give(result) => {
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
            Deed::Refuse(code, words) => {
                let error = json!({ "code": code, "message": words });
                write!(out, "{}", json!({ "jsonrpc": "2.0", "id": id, "error": error }))?;
            }
            Deed::Say(words) => write!(out, "{words}")?,
            Deed::Flood(size) => {
                let uri = &message["params"]["uri"];
                let head = r#""result":{"resultType":"complete","contents":[{"uri":"#;
                write!(out, r#"{{"jsonrpc":"2.0","id":{id},{head}{uri},"text":""#)?;
                let block = [b'x'; 1 << 16];
                (0..size >> 16).try_for_each(|_| out.write_all(&block))?;
                write!(out, r#""}}]}}}}"#)?;
            }
            Deed::Hang | Deed::Break => return Ok(()),
        }
        out.write_all(end)?;
        if matches!(deed, Deed::Flood(_)) {
            self.note("flooded");
        }
        Ok(())
    }

    fn http(&self, stream: &TcpStream) {
        let mut input = BufReader::new(stream.try_clone().unwrap());
        while let Some((verb, headers, body)) = request(&mut input) {
            let mut out = stream;
            let session = headers.get("mcp-session-id");
            let message: Value = serde_json::from_slice(&body).unwrap_or_default();
            let method = message["method"].as_str().unwrap_or_default();
            let is_known = || {
                let state = self.state();
                !state.forgets && session == Some(&format!("s{}", state.sessions))
            };
            let is_opening = method == "initialize" || method == "server/discover";
            let done = if self.era == Era::Legacy && !is_opening && !is_known() {
                self.note("forgotten");
                empty(out, "404 Not Found")
            } else if verb == "GET" && self.era == Era::Legacy
                || method == "subscriptions/listen" && self.era == Era::Modern
            {
                let _ = head(
                    out,
                    "200 OK",
                    "content-type: text/event-stream\r\ntransfer-encoding: chunked",
                );
                let listen = (verb == "POST").then_some(&message);
                self.raise(&Arc::new(Mutex::new(stream.try_clone().unwrap())), listen);
                self.note(if verb == "GET" { "GET" } else { method });
                // It goes on until the other side is gone.
                let _ = input.read(&mut [0]);
                return;
            } else if verb != "POST" {
                empty(out, if verb == "DELETE" { "204 Gone" } else { "405 No" })
            } else if message.get("id").is_none() {
                empty(out, "202 Accepted")
            } else {
                self.post(&message, &mut out)
            };
            if done.is_err() {
                let _ = stream.shutdown(Shutdown::Both);
                return;
            }
        }
    }

    fn post(&self, message: &Value, out: &mut &TcpStream) -> std::io::Result<()> {
        let deed = self.decide(message);
        let mut bytes = Vec::new();
        match deed {
            Deed::Flood(_) => {
                head(out, "200 OK", "content-type: application/json\r\nconnection: close")?;
                let _ = self.answer(message, &deed, out, b"");
                Err(std::io::ErrorKind::ConnectionReset.into())
            }
            Deed::Break => {
                head(
                    out,
                    "200 OK",
                    "content-type: text/event-stream\r\ntransfer-encoding: chunked",
                )?;
                write!(out, "10\r\ndata: {{\"jsonrpc\"\r\n")?;
                Err(std::io::ErrorKind::ConnectionReset.into())
            }
            Deed::Hang => {
                // Until the other side is gone.
                let _ = out.read(&mut [0]);
                Err(std::io::ErrorKind::ConnectionReset.into())
            }
            _ => {
                self.answer(message, &deed, &mut bytes, b"")?;
                let status = match &deed {
                    Deed::Refuse(-32601, _) if self.era == Era::Modern => "404 Not Found",
                    Deed::Refuse(-32601, "another era") => "400 Bad Request",
                    _ => "200 OK",
                };
                let length = bytes.len();
                let mut fields =
                    format!("content-type: application/json\r\ncontent-length: {length}");
                if message["method"] == "initialize" && self.era == Era::Legacy {
                    let mut state = self.state();
                    state.sessions += 1;
                    state.forgets = false;
                    fields += &format!("\r\nmcp-session-id: s{}", state.sessions);
                }
                head(out, status, &fields)?;
                out.write_all(&bytes)
            }
        }
    }
}

fn head(mut out: &TcpStream, status: &str, fields: &str) -> std::io::Result<()> {
    write!(out, "HTTP/1.1 {status}\r\n{fields}\r\n\r\n")
}

fn empty(out: &TcpStream, status: &str) -> std::io::Result<()> {
    head(out, status, "content-length: 0")
}

fn capabilities() -> Value {
    json!({ "resources": { "subscribe": true, "listChanged": true }, "completions": {}, "tools": {} })
}

/// A request of HTTP; nothing once the other side is gone.
fn request(input: &mut impl BufRead) -> Option<(String, HashMap<String, String>, Vec<u8>)> {
    let mut line = String::new();
    input.read_line(&mut line).ok()?;
    let verb = line.split_once(' ')?.0.to_owned();
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        input.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    input.read_exact(&mut body).ok()?;
    Some((verb, headers, body))
}
