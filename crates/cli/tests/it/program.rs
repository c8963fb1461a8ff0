//! Test support: starts the `refdesk` program, over stdio or HTTP.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The `refdesk` command with these arguments in `folder`, with its own state directory.
pub(crate) fn refdesk(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_refdesk"));
    command.args(arguments).current_dir(folder).env("REFDESK_LOG", "error");
    // A loaded machine starts the servers of a test slowly; their lists must not go without them.
    command.env("REFDESK_START_WAIT", "60s");
    command.env("XDG_STATE_HOME", folder.join(".state")).env("COLUMNS", "100");
    command.env("XDG_CACHE_HOME", folder.join(".cache"));
    command
}

pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    refdesk(folder, arguments).output().unwrap()
}

/// Standard output and standard error of the program.
pub(crate) fn output_text(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

/// A temporary folder with a small project in it.
pub(crate) fn project() -> TempDir {
    let folder = TempDir::with_prefix("project").unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join("project").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    file("README.md", b"# Project\n");
    file("src/main.rs", b"fn main() {}\n");
    file("src/lib.ts", b"export const a = 1;\n");
    file("docs/guide.md", "案内\n".as_bytes());
    file("logo.png", &[0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 1, 2, 255]);
    file(
        "sjis.txt",
        &[
            0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea, 0x82, 0xcc, 0x95, 0xb6, 0x8f, 0xcd, 0x82, 0xc5,
            0x82, 0xb7, 0x0a,
        ],
    );
    file(".gitignore", b"target/\n*.log\n");
    file("target/out", b"built");
    file("a.log", b"logged");
    file(".env", b"SECRET=1");
    folder
}

/// A running program over stdio.
pub(crate) struct StdioProgram {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl StdioProgram {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { input: child.stdin.take(), child, output }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.send_request(method, params);
        self.receive()
    }

    /// Sends a request without waiting for the answer.
    pub(crate) fn send_request(&mut self, method: &str, mut params: Value) {
        params["_meta"] = meta(&params["_meta"]);
        self.send_message(
            &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }),
        );
    }

    pub(crate) fn send_message(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Reads the next message.
    pub(crate) fn receive(&mut self) -> Value {
        serde_json::from_str(&self.read_line()).unwrap()
    }

    /// Reads the next line.
    pub(crate) fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    /// Waits for output and returns its first byte without taking it.
    pub(crate) fn peek_byte(&mut self) -> u8 {
        self.output.fill_buf().unwrap()[0]
    }

    /// Closes the input. Returns whether the program exits successfully, and its remaining output.
    pub(crate) fn close(mut self) -> (bool, String) {
        self.input.take();
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().success(), rest)
    }
}

/// The `_meta` of a stateless request, plus `more`.
pub(crate) fn meta(more: &Value) -> Value {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        meta[key] = value.clone();
    }
    meta
}

/// The command that serves over HTTP at any free port.
pub(crate) fn serve_http(folder: &Path, arguments: &[&str]) -> Command {
    let arguments: Vec<&str> =
        ["serve", "--listen", "127.0.0.1:0"].iter().chain(arguments).copied().collect();
    refdesk(folder, &arguments)
}

/// A running program over HTTP, killed on drop.
pub(crate) struct HttpProgram {
    pub(crate) child: Child,
    pub(crate) banner: String,
    pub(crate) port: u16,
}

impl Drop for HttpProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl HttpProgram {
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::spawn(&mut serve_http(folder, arguments))
    }

    /// The same, with standard error as a pipe.
    pub(crate) fn start_logged(folder: &Path, arguments: &[&str]) -> Self {
        Self::spawn(serve_http(folder, arguments).stderr(Stdio::piped()))
    }

    /// Starts `command` and waits until it listens.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut banner = String::new();
        let port = loop {
            let line = lines.next().expect("the program says where it listens").unwrap();
            banner.push_str(&line);
            banner.push('\n');
            if let Some((_, rest)) = line.split_once("://127.0.0.1:") {
                break rest.split('/').next().unwrap().parse().unwrap();
            }
        };
        Self { child, banner, port }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Sends a request and passes the raw response to `take` chunk by chunk.
    pub(crate) fn stream_response(&self, method: &str, params: Value, mut take: impl FnMut(&[u8])) {
        let mut stream = self.post(method, params);
        let mut buffer = vec![0; 1 << 16];
        loop {
            match stream.read(&mut buffer).unwrap() {
                0 => break,
                read => take(&buffer[..read]),
            }
        }
    }

    /// Sends a request; the caller reads the response.
    pub(crate) fn post(&self, method: &str, mut params: Value) -> TcpStream {
        params["_meta"] = meta(&params["_meta"]);
        let body =
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let name =
            params["uri"].as_str().map_or(String::new(), |uri| format!("Mcp-Name: {uri}\r\n"));
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
             Accept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        stream
    }
}
