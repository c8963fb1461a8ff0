//! HTTP transport of the fake server.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::fake_server::{Era, FakeResponse, FakeServerInner, era_of};

impl FakeServerInner {
    pub(crate) fn serve_http(&self, stream: &TcpStream) {
        let mut input = BufReader::new(stream.try_clone().unwrap());
        while let Some((verb, headers, body)) = read_request(&mut input) {
            let mut out = stream;
            let session = headers.get("mcp-session-id");
            let message: Value = serde_json::from_slice(&body).unwrap_or_default();
            let method = message["method"].as_str().unwrap_or_default();
            let is_known = || {
                let state = self.state();
                !state.session_lost && session == Some(&format!("s{}", state.sessions))
            };
            let is_opening = method == "initialize" || method == "server/discover";
            let needs_session = self.speaks(Era::Legacy)
                && (self.era == Era::Legacy || era_of(&message) == Era::Legacy);
            let done = if needs_session && !is_opening && !is_known() {
                self.record("forgotten");
                write_empty(out, "404 Not Found")
            } else if verb == "GET" && self.speaks(Era::Legacy)
                || method == "subscriptions/listen" && self.speaks(Era::Modern)
            {
                let _ = write_head(
                    out,
                    "200 OK",
                    "content-type: text/event-stream\r\ntransfer-encoding: chunked",
                );
                let listen = (verb == "POST").then_some(&message);
                self.open_stream(&Arc::new(Mutex::new(stream.try_clone().unwrap())), listen);
                self.record(if verb == "GET" { "GET" } else { method });
                // The stream stays open until the client closes it.
                let _ = input.read(&mut [0]);
                return;
            } else if verb != "POST" {
                write_empty(out, if verb == "DELETE" { "204 Gone" } else { "405 No" })
            } else if let Some(answer) = message.get("result") {
                self.keep_answer(answer);
                write_empty(out, "202 Accepted")
            } else if message.get("id").is_none() {
                write_empty(out, "202 Accepted")
            } else {
                self.handle_post(&message, &mut out)
            };
            if done.is_err() {
                let _ = stream.shutdown(Shutdown::Both);
                return;
            }
        }
    }

    fn handle_post(&self, message: &Value, out: &mut &TcpStream) -> std::io::Result<()> {
        let deed = self.respond_to(message);
        let mut bytes = Vec::new();
        match deed {
            FakeResponse::Flood(_) => {
                write_head(out, "200 OK", "content-type: application/json\r\nconnection: close")?;
                let _ = self.write_response(message, &deed, out, b"");
                Err(std::io::ErrorKind::ConnectionReset.into())
            }
            FakeResponse::Disconnect => {
                write_head(
                    out,
                    "200 OK",
                    "content-type: text/event-stream\r\ntransfer-encoding: chunked",
                )?;
                write!(out, "10\r\ndata: {{\"jsonrpc\"\r\n")?;
                Err(std::io::ErrorKind::ConnectionReset.into())
            }
            FakeResponse::Ask(question) => self.ask(message, &question, out),
            FakeResponse::Hang => {
                // Hang until the client closes the connection.
                let _ = out.read(&mut [0]);
                Err(std::io::ErrorKind::ConnectionReset.into())
            }
            _ => {
                self.write_response(message, &deed, &mut bytes, b"")?;
                if matches!(deed, FakeResponse::Result(_)) {
                    // Some servers pretty-print over HTTP; on a pipe a message must be one line.
                    let answer: Value = serde_json::from_slice(&bytes)?;
                    bytes = serde_json::to_vec_pretty(&answer)?;
                }
                let status = match &deed {
                    FakeResponse::Error(-32601, _) if self.era == Era::Modern => "404 Not Found",
                    FakeResponse::Error(-32601, "another era") => "400 Bad Request",
                    _ => "200 OK",
                };
                let length = bytes.len();
                let mut fields =
                    format!("content-type: application/json\r\ncontent-length: {length}");
                if message["method"] == "initialize" && self.speaks(Era::Legacy) {
                    let mut state = self.state();
                    state.sessions += 1;
                    state.session_lost = false;
                    fields += &format!("\r\nmcp-session-id: s{}", state.sessions);
                }
                write_head(out, status, &fields)?;
                out.write_all(&bytes)
            }
        }
    }

    fn ask(&self, message: &Value, question: &Value, out: &mut &TcpStream) -> std::io::Result<()> {
        let fields = "content-type: text/event-stream\r\ntransfer-encoding: chunked";
        write_head(out, "200 OK", fields)?;
        let (method, id) = ("elicitation/create", "question");
        let asked = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": question });
        write_event(out, &asked)?;
        let text = self.wait_for_answer().to_string();
        let result = json!({ "content": [{ "type": "text", "text": text }] });
        write_event(out, &json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))?;
        write!(out, "0\r\n\r\n")
    }
}

/// Writes a message to an open stream of events.
fn write_event(mut out: &TcpStream, message: &Value) -> std::io::Result<()> {
    let event = format!("data: {message}\n\n");
    write!(out, "{:x}\r\n{event}\r\n", event.len())
}

fn write_head(mut out: &TcpStream, status: &str, fields: &str) -> std::io::Result<()> {
    write!(out, "HTTP/1.1 {status}\r\n{fields}\r\n\r\n")
}

fn write_empty(out: &TcpStream, status: &str) -> std::io::Result<()> {
    write_head(out, status, "content-length: 0")
}

/// Reads an HTTP request; `None` once the client has closed the connection.
fn read_request(input: &mut impl BufRead) -> Option<(String, HashMap<String, String>, Vec<u8>)> {
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
