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
const BOUND: Duration = Duration::from_secs(120);
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
pub(crate) enum Way {
    Pipe,
    Http,
}

/// A request to the fake server; `turn` counts the earlier requests of this method.
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: &'a Value,
    pub(crate) turn: usize,
}

/// The scripted response.
pub(crate) enum Deed {
    Give(Value),
    Refuse(i64, &'static str),
    /// Never answers.
    Hang,
    /// Sends this text instead of a response.
    Say(&'static str),
    /// Responds with a text of this many bytes.
    Flood(u64),
    /// Closes the connection in the middle of the response.
    Break,
}

type Act = Box<dyn Fn(&Asked<'_>) -> Deed + Send + Sync>;

/// A running fake server.
pub(crate) struct Actor {
    stage: Arc<Stage>,
    port: u16,
}

pub(crate) struct Stage {
    pub(crate) era: Era,
    way: Way,
    act: Act,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
pub(crate) struct State {
    /// The methods of all requests, in order.
    seen: Vec<String>,
    voices: Vec<Voice>,
    /// Process id of the program on the pipe.
    program: Option<i32>,
    /// How many sessions were opened; only the last one is valid.
    pub(crate) sessions: usize,
    pub(crate) forgets: bool,
    is_shut: bool,
}

/// A stream on which the server can send notifications.
struct Voice {
    stream: Arc<Mutex<TcpStream>>,
    /// Subscription id and filter of a `subscriptions/listen` request.
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

    /// The settings of a mount of this server.
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

    /// How many requests of `method` the server received.
    pub(crate) fn count(&self, method: &str) -> usize {
        count(&self.stage.state(), method)
    }

    /// Waits until the server has received `times` requests of `method`.
    pub(crate) fn awaits(&self, method: &str, times: usize) {
        self.stage.until(&format!("{method} {times}"), |state| count(state, method) >= times);
    }

    /// Sends a notification on every stream that subscribed to it.
    pub(crate) fn tell(&self, method: &str, params: &Value) {
        for voice in &self.stage.state().voices {
            voice.tell(method, params);
        }
    }

    /// Kills the program and blocks new connections until the test opens the server again.
    pub(crate) fn kill(&self) {
        let mut state = self.stage.state();
        state.is_shut = true;
        state.voices.clear();
        let program = rustix::process::Pid::from_raw(state.program.take().unwrap()).unwrap();
        rustix::process::kill_process(program, rustix::process::Signal::KILL).unwrap();
    }

    /// Accepts connections again.
    pub(crate) fn open(&self) {
        self.stage.state().is_shut = false;
        self.stage.changed.notify_all();
    }

    /// Invalidates the session.
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
        // A closed stream is not an error here.
        let _ = if self.is_event {
            let event = format!("data: {message}\n\n");
            write!(stream, "{:x}\r\n{event}\r\n", event.len())
        } else {
            writeln!(stream, "{message}")
        };
    }
}

impl Stage {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn until(&self, what: &str, is_so: impl Fn(&State) -> bool) {
        let waiting = self.changed.wait_timeout_while(self.state(), BOUND, |state| !is_so(state));
        let (state, waited) = waiting.unwrap();
        assert!(!waited.timed_out(), "waited for {what}, saw {:?}", state.seen);
    }

    /// Records a request; returns how many of this method came before.
    pub(crate) fn note(&self, method: &str) -> usize {
        let mut state = self.state();
        let turn = count(&state, method);
        state.seen.push(method.to_owned());
        self.changed.notify_all();
        turn
    }

    pub(crate) fn raise(&self, stream: &Arc<Mutex<TcpStream>>, listen: Option<&Value>) {
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

    /// Chooses the response to a request.
    pub(crate) fn decide(&self, message: &Value) -> Deed {
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

    /// Writes a response, in chunks if it is long.
    pub(crate) fn answer(
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
}

fn capabilities() -> Value {
    json!({ "resources": { "subscribe": true, "listChanged": true }, "completions": {}, "tools": {} })
}
