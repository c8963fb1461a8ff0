//! Tests of the log: its level and file, and a line for each request.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{HttpProgram, output_text, project, refdesk, serve_http};

/// Posts a request and reads the answer to its end.
fn post(desk: &HttpProgram, method: &str, params: Value) -> String {
    let mut answer = String::new();
    desk.post(method, params).read_to_string(&mut answer).unwrap();
    answer
}

/// Waits until the log has `count` lines with `text`.
fn wait_for_lines(log: &Path, text: &str, count: usize) -> String {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let read = fs::read_to_string(log).unwrap_or_default();
        if read.lines().filter(|line| line.contains(text)).count() >= count {
            return read;
        }
        assert!(Instant::now() < end, "no {text:?} in\n{read}");
        std::thread::yield_now();
    }
}

#[test]
fn each_request_is_a_line_at_info_with_client_time_and_size() {
    let folder = project();
    let log = folder.path().join("desk.log");
    let arguments = ["--log-level", "info", "--log-file", "desk.log", "project"];
    let desk = HttpProgram::start(folder.path(), &arguments);
    let info = json!({ "name": "probe\nforged", "version": "1" });
    let meta = json!({ "io.modelcontextprotocol/clientInfo": info });
    // More than the log's rate limit lets through.
    for _ in 0..30 {
        post(&desk, "resources/read", json!({ "uri": "file:///project/README.md", "_meta": meta }));
    }
    post(&desk, "resources/read", json!({ "uri": "file:///project/none" }));
    let line = "POST resources/read file:///project/README.md by probe forged (2026-07-28): 200, ";
    let read = wait_for_lines(&log, line, 30);
    let line = read.lines().find(|one| one.contains(line)).unwrap();
    assert!(line.contains(" ms, ") && line.ends_with(" bytes"), "{line}");
    assert!(line.contains("INFO"), "{line}");
    let failed =
        "file:///project/none by a client without a name (2026-07-28): 200 with error -32602";
    wait_for_lines(&log, failed, 1);
}

#[test]
fn a_client_of_a_session_is_named_in_each_line() {
    let folder = project();
    let log = folder.path().join("desk.log");
    let settings = "[server]\nlog_level = \"info\"\nlog_file = \"desk.log\"\n\
        [mounts.project]\nkind = \"fs\"\npath = \"project\"\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut command = serve_http(folder.path(), &[]);
    let desk = HttpProgram::spawn(command.env_remove("REFDESK_LOG"));
    let open = crate::web_pages::open_session(&desk, "");
    let session = open.lines().find(|line| line.starts_with("mcp-session-id: ")).unwrap();
    let headers = format!("{session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    crate::web_pages::send(
        &desk,
        "POST",
        "/mcp",
        &headers,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    );
    wait_for_lines(&log, "POST initialize by tester (2025-11-25): 200", 1);
    wait_for_lines(&log, "POST tools/list by tester (2025-11-25): 200", 1);
}

#[test]
fn a_start_that_fails_says_so_in_the_log_file_too() {
    let folder = project();
    let arguments = ["serve", "--stdio", "--log-file", "desk.log", "nowhere"];
    let told = output_text(&refdesk(folder.path(), &arguments).output().unwrap());
    assert!(told.contains("cannot serve the folder nowhere"), "{told}");
    let log = fs::read_to_string(folder.path().join("desk.log")).unwrap();
    assert!(log.contains("refdesk stops: cannot serve the folder nowhere"), "{log}");
}
