//! HTTP transport of the fake server.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::actor::{Deed, Era, Stage};

impl Stage {
    pub(crate) fn http(&self, stream: &TcpStream) {
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
                // The stream stays open until the client closes it.
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
                // Hang until the client closes the connection.
                let _ = out.read(&mut [0]);
                Err(std::io::ErrorKind::ConnectionReset.into())
            }
            _ => {
                self.answer(message, &deed, &mut bytes, b"")?;
                if matches!(deed, Deed::Give(_)) {
                    // Some servers pretty-print over HTTP; on a pipe a message must be one line.
                    let answer: Value = serde_json::from_slice(&bytes)?;
                    bytes = serde_json::to_vec_pretty(&answer)?;
                }
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

/// Reads an HTTP request; `None` once the client has closed the connection.
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
