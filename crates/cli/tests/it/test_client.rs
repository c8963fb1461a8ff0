//! Test client of refdesk: handshake or stateless era, over stdio or HTTP.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fake_server::{Era, TransportKind};
use crate::program::{HttpProgram, StdioProgram, meta, refdesk, serve_http};

/// A client with the refdesk process that it started.
pub(crate) struct TestClient {
    era: Era,
    transport: ClientTransport,
    last_id: u64,
    answers: HashMap<u64, Value>,
    notifications: VecDeque<Value>,
}

enum ClientTransport {
    Pipe(StdioProgram),
    Http { desk: HttpProgram, session: String, streams: Vec<BufReader<TcpStream>> },
}

impl TestClient {
    /// Starts refdesk in `folder` with `settings`, and connects.
    pub(crate) fn start(era: Era, transport: TransportKind, folder: &Path, settings: &str) -> Self {
        Self::start_in((era, transport), folder, settings, &[])
    }

    /// The same, with these variables in the environment.
    pub(crate) fn start_in(
        (era, transport): (Era, TransportKind),
        folder: &Path,
        settings: &str,
        environment: &[(&str, &str)],
    ) -> Self {
        fs::write(folder.join("refdesk.toml"), settings).unwrap();
        let desk = match transport {
            TransportKind::Pipe => {
                let mut command = refdesk(folder, &["serve", "--stdio"]);
                command.envs(environment.iter().copied());
                ClientTransport::Pipe(StdioProgram::start(command))
            }
            TransportKind::Http => {
                let mut command = serve_http(folder, &[]);
                let desk = HttpProgram::spawn(command.envs(environment.iter().copied()));
                ClientTransport::Http { desk, session: String::new(), streams: Vec::new() }
            }
        };
        let (answers, news) = Default::default();
        let mut front =
            Self { era: Era::Modern, transport: desk, last_id: 0, answers, notifications: news };
        front.wait_for_mounts(settings);
        front.era = era;
        if era == Era::Legacy {
            let info = json!({ "name": "test", "version": "1" });
            let params =
                json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
            assert!(front.request("initialize", params)["result"].is_object());
            front.notify("notifications/initialized");
            front.open_stream();
        }
        front
    }

    /// Waits until no server behind refdesk is starting, at most five seconds: their connections
    /// would race with what the test does.
    fn wait_for_mounts(&mut self, settings: &str) {
        let end = Instant::now() + Duration::from_secs(5);
        for line in settings.lines() {
            let name = line.strip_prefix("[mounts.").and_then(|rest| rest.strip_suffix(']'));
            let Some(name) = name.filter(|name| !name.contains('.')) else { continue };
            let uri = json!({ "uri": format!("refdesk://mounts/{name}") });
            let mut is_starting =
                || self.request("resources/read", uri.clone()).to_string().contains("starting");
            while is_starting() && Instant::now() < end {}
        }
    }

    /// A stateless client over stdio.
    pub(crate) fn piped(folder: &Path, settings: &str) -> Self {
        Self::start(Era::Modern, TransportKind::Pipe, folder, settings)
    }

    pub(crate) fn process(&self) -> u32 {
        match &self.transport {
            ClientTransport::Pipe(desk) => desk.id(),
            ClientTransport::Http { desk, .. } => desk.child.id(),
        }
    }

    /// Sends a request and waits for the response.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        if let ClientTransport::Pipe(_) = self.transport {
            let id = self.send_request(method, params);
            return self.wait_response(id);
        }
        let message = self.message(method, params);
        let mut stream = self.post(&message);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        if let ClientTransport::Http { session, .. } = &mut self.transport
            && let Some(id) = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "))
        {
            *session = format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
        }
        serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
    }

    /// Sends a request over stdio without waiting; returns its id.
    pub(crate) fn send_request(&mut self, method: &str, params: Value) -> u64 {
        let message = self.message(method, params);
        let ClientTransport::Pipe(desk) = &mut self.transport else {
            panic!("HTTP waits for an answer")
        };
        desk.send_message(&message);
        self.last_id
    }

    /// Waits for the response to a request sent with `begin`.
    pub(crate) fn wait_response(&mut self, id: u64) -> Value {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            self.receive();
        }
    }

    /// Subscribes to these resources and to list changes, as the client's era does it.
    pub(crate) fn subscribe(&mut self, uris: &[&str]) {
        if self.era == Era::Legacy {
            for uri in uris {
                let answer = self.request("resources/subscribe", json!({ "uri": uri }));
                assert_eq!(answer["result"], json!({}), "{answer}");
            }
            return;
        }
        let wishes = json!({ "resourceSubscriptions": uris, "resourcesListChanged": true });
        let granted = self.listen(&wishes);
        assert_eq!(granted["resourcesListChanged"], true, "{granted}");
        let count = granted["resourceSubscriptions"].as_array().map_or(0, Vec::len);
        assert_eq!(count, uris.len(), "{granted}");
    }

    /// Opens a stream of the notifications `wishes`; returns those that are granted.
    pub(crate) fn listen(&mut self, wishes: &Value) -> Value {
        self.listen_with(json!({ "notifications": wishes }))
    }

    /// The same, with these parameters.
    pub(crate) fn listen_with(&mut self, params: Value) -> Value {
        if let ClientTransport::Pipe(_) = self.transport {
            self.send_request("subscriptions/listen", params);
        } else {
            let message = self.message("subscriptions/listen", params);
            let stream = BufReader::new(self.post(&message));
            if let ClientTransport::Http { streams, .. } = &mut self.transport {
                streams.push(stream);
            }
        }
        self.next_notification()["params"]["notifications"].take()
    }

    /// Waits for the next notification.
    pub(crate) fn next_notification(&mut self) -> Value {
        loop {
            if let Some(news) = self.notifications.pop_front() {
                return news;
            }
            self.receive();
        }
    }

    /// Waits for a notification of `method`; skips others.
    pub(crate) fn wait_notification(&mut self, method: &str) -> Value {
        loop {
            let news = self.next_notification();
            if news["method"] == method {
                return news;
            }
        }
    }

    /// Reads the status resource of a mount.
    pub(crate) fn state_of(&mut self, mount: &str) -> Value {
        let told =
            self.request("resources/read", json!({ "uri": format!("refdesk://mounts/{mount}") }));
        let text = told["result"]["contents"][0]["text"].as_str();
        serde_json::from_str(text.unwrap_or_else(|| panic!("{told}"))).unwrap()
    }

    /// The text of a resource.
    pub(crate) fn text_of(&mut self, uri: &str) -> String {
        let told = self.request("resources/read", json!({ "uri": uri }));
        let text = told["result"]["contents"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("{told}")).to_owned()
    }

    fn message(&mut self, method: &str, mut params: Value) -> Value {
        self.last_id += 1;
        if self.era == Era::Modern {
            params["_meta"] = meta(&params["_meta"]);
        }
        json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params })
    }

    fn notify(&mut self, method: &str) {
        let message = json!({ "jsonrpc": "2.0", "method": method });
        match &mut self.transport {
            ClientTransport::Pipe(desk) => desk.send_message(&message),
            ClientTransport::Http { .. } => drop(self.post(&message).read_to_end(&mut Vec::new())),
        }
    }

    fn open_stream(&mut self) {
        let ClientTransport::Http { desk, session, streams } = &mut self.transport else { return };
        let mut stream = TcpStream::connect(("127.0.0.1", desk.port)).unwrap();
        let head = "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n";
        write!(stream, "{head}{session}\r\n").unwrap();
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(stream.read_line(&mut head).unwrap(), 0);
        }
        streams.push(stream);
    }

    fn post(&self, message: &Value) -> TcpStream {
        let ClientTransport::Http { desk, session, .. } = &self.transport else {
            panic!("a pipe has no posts")
        };
        let mut heading = session.clone();
        if self.era == Era::Modern {
            let method = message["method"].as_str().unwrap();
            heading = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n");
            let params = &message["params"];
            let named = ["uri", "name", "taskId"].map(|member| params[member].as_str());
            if let Some(name) = named.into_iter().flatten().next() {
                heading += &format!("Mcp-Name: {name}\r\n");
            }
        }
        let mut stream = TcpStream::connect(("127.0.0.1", desk.port)).unwrap();
        let body = message.to_string();
        let length = body.len();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
             Accept: application/json, text/event-stream\r\n{heading}\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        stream
    }

    /// Receives one message and sorts it into responses or notifications.
    fn receive(&mut self) {
        let message = match &mut self.transport {
            ClientTransport::Pipe(desk) => desk.receive(),
            ClientTransport::Http { streams, .. } => {
                read_event(streams.last_mut().expect("a stream is open"))
            }
        };
        match message["id"].as_u64() {
            Some(id) => drop(self.answers.insert(id, message)),
            None => self.notifications.push_back(message),
        }
    }
}

fn read_event(stream: &mut impl BufRead) -> Value {
    loop {
        let mut line = String::new();
        assert_ne!(stream.read_line(&mut line).unwrap(), 0, "the stream goes on");
        if let Some(data) = line.strip_prefix("data: ").filter(|data| data.starts_with('{')) {
            return serde_json::from_str(data).unwrap();
        }
    }
}
