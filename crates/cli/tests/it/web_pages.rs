//! Tests of what browsers and probes meet over HTTP: CORS for allowed origins, and the health check.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::program::{HttpProgram, project};

/// Sends a request and returns the raw response, its head in lower case.
pub(crate) fn send(
    desk: &HttpProgram,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", desk.port)).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Opens a session as the client `tester`.
pub(crate) fn open_session(desk: &HttpProgram, headers: &str) -> String {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}"#;
    send(desk, "POST", "/mcp", headers, body)
}

const PREFLIGHT: &str = "Access-Control-Request-Method: POST\r\n\
    Access-Control-Request-Headers: content-type,mcp-session-id,mcp-param-city\r\n";

#[test]
fn a_page_of_an_allowed_origin_passes_the_preflight_and_reads_the_session() {
    let folder = project();
    let settings = "[server]\norigins = [\"http://localhost:3000\"]\n\
        [mounts.project]\nkind = \"fs\"\npath = \"project\"\n";
    std::fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let desk = HttpProgram::start(folder.path(), &[]);
    let origin = "Origin: http://localhost:3000\r\n";
    let preflight = send(&desk, "OPTIONS", "/mcp", &format!("{origin}{PREFLIGHT}"), "");
    assert!(preflight.starts_with("HTTP/1.1 204 "), "{preflight}");
    for line in [
        "access-control-allow-origin: http://localhost:3000\r\n",
        "access-control-allow-methods: GET, POST, DELETE\r\n",
        "access-control-allow-headers: content-type,mcp-session-id,mcp-param-city\r\n",
        "vary: origin\r\n",
    ] {
        assert!(preflight.contains(line), "{line}{preflight}");
    }
    let opened = open_session(&desk, origin);
    assert!(opened.contains("access-control-allow-origin: http://localhost:3000\r\n"), "{opened}");
    let exposed = opened.lines().find(|line| line.starts_with("access-control-expose-headers:"));
    assert!(exposed.unwrap().contains("mcp-session-id"), "{opened}");
    let plain = open_session(&desk, "");
    assert!(plain.contains("mcp-session-id: ") && !plain.contains("access-control"), "{plain}");
}

#[test]
fn a_page_of_another_origin_gets_no_cors_header() {
    let folder = project();
    let desk = HttpProgram::start(folder.path(), &["project"]);
    // Another port of this machine is another origin: a page of any program may be there.
    let others = ["http://evil.example", "null", "http://localhost.evil.example:80"];
    for origin in others.into_iter().chain(["http://localhost:3000", "http://127.0.0.1:3000"]) {
        let headers = format!("Origin: {origin}\r\n{PREFLIGHT}");
        let answers = [send(&desk, "OPTIONS", "/mcp", &headers, ""), open_session(&desk, &headers)];
        for answer in answers {
            assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
            assert!(!answer.contains("access-control"), "{answer}");
        }
    }
}

/// Even where every client needs a token, and whatever name the probe uses.
#[test]
fn the_health_check_needs_no_token_and_tells_only_that_the_server_runs() {
    let folder = project();
    let (_, table) = crate::access::new_token(folder.path(), &["ada"]);
    let settings = format!("{table}[mounts.project]\nkind = \"fs\"\npath = \"project\"\n");
    std::fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let desk = HttpProgram::start(folder.path(), &[]);
    assert!(open_session(&desk, "").starts_with("HTTP/1.1 401 "));
    let healthy = send(&desk, "GET", "/health", "", "");
    assert!(healthy.starts_with("HTTP/1.1 200 "), "{healthy}");
    assert!(healthy.ends_with("\r\n\r\n{\"status\":\"ok\"}"), "{healthy}");
    let head = send(&desk, "HEAD", "/health", "", "");
    assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "{head}");
    let posted = send(&desk, "POST", "/health", "", "");
    assert!(posted.starts_with("HTTP/1.1 405 ") && posted.contains("allow: GET\r\n"), "{posted}");
}
