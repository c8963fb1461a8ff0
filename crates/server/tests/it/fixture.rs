//! Test fixture: a server over an in-memory provider, with a stdio client and an HTTP client.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use resource::{Format, Icon, Role};
use serde_json::{Map, Value, json};
use server::transport::{http, stdio};
use server::{CollectionsMode, Limits, Server};
use testkit::MemoryProvider;
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Test timeout, longer than any step takes on any machine.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A provider with one resource of each kind.
pub(crate) fn memory() -> MemoryProvider {
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    MemoryProvider::new()
        .text("test://static-text", "plain \"text\"\n日本語\u{1f38c}")
        .with_description(|resource| {
            resource.title = Some("A text".to_owned());
            resource.description = Some("A text of four scripts".to_owned());
            resource.annotations.audience = vec![Role::User, Role::Assistant];
            resource.annotations.priority = Some(0.8);
            resource.annotations.modified = Some(modified);
            resource.icons = vec![Icon {
                src: "https://example.com/icon.png".to_owned(),
                mime: Some("image/png".to_owned()),
                sizes: vec!["48x48".to_owned()],
                theme: Some("light".to_owned()),
            }];
        })
        .blob("test://static-binary", &[0x89, b'P', b'N', b'G', 0, 255])
        .with_description(|resource| {
            resource.mime = Some("image/png".to_owned());
            resource.formats = vec![Format {
                mime: "image/png".to_owned(),
                size: Some(6),
                etag: None,
                is_made: false,
            }];
        })
        .collection("test://folder", &["test://folder/a", "test://folder/b", "test://folder/in"])
        .text("test://folder/a", "aaa")
        .text("test://folder/b", "bbb")
        .collection("test://folder/in", &["test://folder/in/c"])
        .text("test://folder/in/c", "ccc")
        .template("test://template/{id}/data", "{\"id\": \"{id}\"}", &[("id", &["ada", "alan"])])
        .with_watches()
}

pub(crate) fn server(
    memory: Arc<MemoryProvider>,
    limits: Limits,
    collections: CollectionsMode,
) -> Arc<Server> {
    Arc::new(Server::new(memory, limits, [7; 32], collections))
}

/// A server without tools of its own.
pub(crate) fn server_without_tools(
    memory: Arc<MemoryProvider>,
    limits: Limits,
    collections: CollectionsMode,
) -> Arc<Server> {
    Arc::new(Server::new(memory, limits, [7; 32], collections).without_tools())
}

pub(crate) fn default_server() -> Arc<Server> {
    server(Arc::new(memory()), Limits::default(), CollectionsMode::Always)
}

/// `_meta` of a stateless request.
pub(crate) fn stateless_meta() -> Map<String, Value> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    meta.as_object().unwrap().clone()
}

/// A stateless request.
pub(crate) fn stateless(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let mut params = params;
    let meta = params["_meta"].as_object().cloned().unwrap_or_default();
    params["_meta"] = stateless_meta().into_iter().chain(meta).collect::<Map<_, _>>().into();
    request(id, method, params)
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub(crate) fn initialize(revision: &str) -> Value {
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": info });
    request("open", "initialize", params)
}

/// Waits until `happened`, while other tasks run.
pub(crate) async fn until(happened: impl Fn() -> bool) {
    let waiting = async {
        while !happened() {
            tokio::task::yield_now().await;
        }
    };
    timeout(TEST_TIMEOUT, waiting).await.expect("it happens in time");
}

/// A stdio client of a server.
pub(crate) struct StdioClient {
    write: WriteHalf<DuplexStream>,
    read: BufReader<ReadHalf<DuplexStream>>,
    serving: JoinHandle<std::io::Result<()>>,
}

impl StdioClient {
    pub(crate) fn open(server: Arc<Server>) -> Self {
        Self::over(server, 1 << 20)
    }

    /// A pipe with a buffer smaller than one answer.
    pub(crate) fn narrow(server: Arc<Server>) -> Self {
        Self::over(server, 4 << 10)
    }

    fn over(server: Arc<Server>, width: usize) -> Self {
        let (ours, theirs) = tokio::io::duplex(width);
        let (input, output) = tokio::io::split(theirs);
        let serving = tokio::spawn(stdio::serve(server, input, output, std::future::pending()));
        let (read, write) = tokio::io::split(ours);
        Self { write, read: BufReader::new(read), serving }
    }

    pub(crate) async fn send_raw(&mut self, bytes: &[u8]) {
        self.write.write_all(bytes).await.unwrap();
    }

    pub(crate) async fn send_line(&mut self, line: &str) {
        self.send_raw(line.as_bytes()).await;
        self.send_raw(b"\n").await;
    }

    pub(crate) async fn send_message(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    /// The next message.
    pub(crate) async fn receive(&mut self) -> Value {
        let mut line = String::new();
        let read = timeout(TEST_TIMEOUT, self.read.read_line(&mut line)).await;
        assert_ne!(read.expect("an answer in time").unwrap(), 0, "the server hung up");
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) async fn call(&mut self, message: &Value) -> Value {
        self.send_message(message).await;
        self.receive().await
    }

    /// Closes the input and returns the remaining messages, until the server ends.
    pub(crate) async fn close(mut self) -> Vec<Value> {
        self.write.shutdown().await.unwrap();
        let mut rest = String::new();
        timeout(TEST_TIMEOUT, self.read.read_to_string(&mut rest))
            .await
            .expect("an end in time")
            .unwrap();
        timeout(TEST_TIMEOUT, self.serving).await.expect("an end in time").unwrap().unwrap();
        rest.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// An HTTP server on a local port. It stops when dropped.
pub(crate) struct HttpFixture {
    pub(crate) port: u16,
    stop: watch::Sender<bool>,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Drop for HttpFixture {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// An HTTP response.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl HttpAnswer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// Status and JSON-RPC error code.
    pub(crate) fn refusal(&self) -> (u16, i64) {
        (self.status, self.json()["error"]["code"].as_i64().unwrap_or(0))
    }
}

impl HttpFixture {
    pub(crate) async fn open(server: Arc<Server>) -> Self {
        let guard = http::OriginGuard { loopback: true, ..http::OriginGuard::default() };
        Self::open_with(server, guard.into()).await
    }

    pub(crate) async fn open_with(server: Arc<Server>, options: http::HttpOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let stop = watch::Sender::new(false);
        let mut stopped = stop.subscribe();
        let shutdown = async move { drop(stopped.wait_for(|stopped| *stopped).await) };
        let serving = tokio::spawn(http::serve(server, listener, options, shutdown));
        Self { port, stop, serving }
    }

    /// Starts the shutdown.
    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits for the end of the shutdown.
    pub(crate) async fn stopped(&mut self) {
        timeout(TEST_TIMEOUT, &mut self.serving).await.expect("an end in time").unwrap().unwrap();
    }

    /// Sends one request on a new connection. `headers` replace the default ones.
    pub(crate) async fn send(
        &self,
        verb: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> HttpAnswer {
        let mut stream = self.connect(verb, headers, body).await;
        let mut bytes = Vec::new();
        timeout(TEST_TIMEOUT, stream.read_to_end(&mut bytes))
            .await
            .expect("an answer in time")
            .unwrap();
        parse(&String::from_utf8(bytes).unwrap())
    }

    /// Sends one request and returns the connection without reading from it.
    pub(crate) async fn connect(
        &self,
        verb: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> TcpStream {
        let host = format!("127.0.0.1:{}", self.port);
        let length = body.len().to_string();
        let usual = [
            ("host", host.as_str()),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("content-length", &length),
            ("connection", "close"),
        ];
        let mut text = String::new();
        let (verb, path) = verb.split_once(' ').unwrap_or((verb, "/mcp"));
        text.push_str(&format!("{verb} {path} HTTP/1.1\r\n"));
        let replaced =
            |name: &str| headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        for (name, value) in usual.iter().filter(|(name, _)| !replaced(name)).chain(headers) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).await.unwrap();
        stream
    }

    /// Posts a stateless request with the headers that it needs.
    pub(crate) async fn post_stateless(&self, message: &Value) -> HttpAnswer {
        let method = message["method"].as_str().unwrap().to_owned();
        let name = match method.as_str() {
            "resources/read" => message["params"]["uri"].as_str(),
            "tools/call" | "prompts/get" => message["params"]["name"].as_str(),
            _ => None,
        };
        let mut headers =
            vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method.as_str())];
        headers.extend(name.map(|name| ("mcp-name", name)));
        self.send("POST", &headers, &message.to_string()).await
    }

    /// Opens a session and returns its id.
    pub(crate) async fn open_session(&self, revision: &str) -> String {
        let answer = self.send("POST", &[], &initialize(revision).to_string()).await;
        assert_eq!(answer.json()["result"]["protocolVersion"], revision);
        answer.header("mcp-session-id").unwrap().to_owned()
    }

    pub(crate) async fn post_in_session(&self, session: &str, message: &Value) -> HttpAnswer {
        self.send("POST", &[("mcp-session-id", session)], &message.to_string()).await
    }
}

fn parse(text: &str) -> HttpAnswer {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or("0");
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let chunked =
        headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if chunked { decode_chunked(body) } else { body.to_owned() };
    HttpAnswer { status: status.parse().unwrap(), headers, body }
}

fn decode_chunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        whole.push_str(&rest[..size]);
        body = rest[size..].strip_prefix("\r\n").unwrap_or_default();
        if size == 0 {
            break;
        }
    }
    whole
}
