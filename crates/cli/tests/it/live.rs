//! Tests of change notifications: they reach every subscriber soon, once, and no other client.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{HttpProgram, StdioProgram, project, refdesk};

/// Test timeout, longer than any step takes on a slow machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A client that reads a notification stream.
pub(crate) struct StreamClient {
    stream: BufReader<TcpStream>,
}

impl StreamClient {
    pub(crate) fn open(desk: &HttpProgram, notifications: &Value) -> Self {
        let params = json!({ "notifications": notifications });
        let stream = desk.post("subscriptions/listen", params);
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    pub(crate) fn subscribe(desk: &HttpProgram, uris: &[String]) -> Self {
        let mut listener = Self::open(desk, &json!({ "resourceSubscriptions": uris }));
        let ack = listener.next().unwrap();
        assert_eq!(ack["params"]["notifications"]["resourceSubscriptions"], json!(uris));
        listener
    }

    /// The next message; `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.stream.read_line(&mut line).expect("news in time") == 0 {
                return None;
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    }

    pub(crate) fn uri(&mut self) -> String {
        let told = self.next().expect("the stream goes on");
        assert_eq!(told["method"], "notifications/resources/updated", "{told}");
        told["params"]["uri"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn text_of(desk: &HttpProgram, uri: &str) -> String {
    let mut answer = Vec::new();
    desk.stream_response("resources/read", json!({ "uri": uri }), |chunk| {
        answer.extend_from_slice(chunk)
    });
    let answer = String::from_utf8(answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let answer: Value = serde_json::from_str(body).unwrap();
    answer["result"]["contents"][0]["text"].as_str().unwrap().to_owned()
}

fn post(desk: &HttpProgram, headers: &str, message: &Value) -> String {
    let body = message.to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", desk.port)).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Opens a handshake session that subscribes to `uri`; returns its stream.
fn session(desk: &HttpProgram, uri: &str) -> StreamClient {
    let info = json!({ "name": "test", "version": "1" });
    let opening =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info });
    let opening = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening });
    let answer = post(desk, "", &opening);
    let id = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
    let header = format!("Mcp-Session-Id: {id}\r\n");
    let params = json!({ "uri": uri });
    let asked =
        json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": params });
    assert!(post(desk, &header, &asked).ends_with(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#));
    let mut stream = TcpStream::connect(("127.0.0.1", desk.port)).unwrap();
    write!(
        stream,
        "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n{header}\r\n"
    )
    .unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(stream.read_line(&mut head).unwrap(), 0);
    }
    StreamClient { stream }
}

/// S-17: a read after a notification returns the new content, every time, in both eras.
#[test]
fn one_change_reaches_both_eras_and_is_read_at_once() {
    let folder = project();
    let desk = HttpProgram::start(folder.path(), &["project"]);
    let uri = "file:///project/src/main.rs".to_owned();
    let mut modern = StreamClient::subscribe(&desk, std::slice::from_ref(&uri));
    let mut legacy = session(&desk, &uri);
    for version in 0..9 {
        let text = format!("// version {version}");
        let path = folder.path().join("project/src/main.rs");
        if version % 3 == 0 {
            // Replace the file by rename, as editors do.
            fs::write(folder.path().join("project/src/.main.rs~"), &text).unwrap();
            fs::rename(folder.path().join("project/src/.main.rs~"), path).unwrap();
        } else {
            fs::write(path, &text).unwrap();
        }
        assert_eq!(modern.uri(), uri);
        assert_eq!(text_of(&desk, &uri), text, "read after the notification");
        assert_eq!(legacy.uri(), uri);
    }
}

/// The name of file number `at`, padded to `length`.
fn file_name(at: usize, length: usize) -> String {
    format!("{at:0length$}.txt")
}

/// Creates `count` files in a folder; returns their URIs.
fn create_files(folder: &Path, count: usize, length: usize) -> Vec<String> {
    for at in 0..count {
        fs::write(folder.join(file_name(at, length)), "first").unwrap();
    }
    (0..count).map(|at| format!("file:///many/{}", file_name(at, length))).collect()
}

/// 10,000 changes of 1,000 files, 100 listeners: every listener learns of the last change of each
/// of its files, and none is flooded.
#[test]
fn a_storm_of_changes_is_heard_whole_and_short() {
    const FILES: usize = 1000;
    const LISTENERS: usize = 100;
    const ROUNDS: usize = 10;
    let folder = TempDir::with_prefix("storm").unwrap();
    let path = folder.path().join("many");
    fs::create_dir(&path).unwrap();
    let uris = create_files(&path, FILES, 4);
    let desk = HttpProgram::start(folder.path(), &["many"]);
    let listeners: Vec<(StreamClient, Vec<String>)> = (0..LISTENERS)
        .map(|at| {
            // Every file has ten listeners, every listener a hundred files.
            let mine: Vec<String> = uris.iter().skip(at % 10).step_by(10).cloned().collect();
            (StreamClient::subscribe(&desk, &mine), mine)
        })
        .collect();
    let last: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let hearing: Vec<_> = listeners
        .into_iter()
        .map(|(mut listener, mine)| {
            let last = Arc::clone(&last);
            thread::spawn(move || {
                let mut waiting: BTreeSet<String> = mine.into_iter().collect();
                let mut heard = 0_usize;
                while !waiting.is_empty() {
                    let uri = listener.uri();
                    heard += 1;
                    // The lock waits for a write in progress, so `last` is complete here.
                    if last.lock().unwrap().contains(&uri) {
                        waiting.remove(&uri);
                    }
                }
                heard
            })
        })
        .collect();
    let start = Instant::now();
    for round in 0..ROUNDS {
        for (at, uri) in uris.iter().enumerate() {
            let mut last = last.lock().unwrap();
            fs::write(path.join(file_name(at, 4)), format!("round {round}")).unwrap();
            if round + 1 == ROUNDS {
                last.insert(uri.clone());
            }
        }
    }
    let took = start.elapsed();
    for listener in hearing {
        let heard = listener.join().unwrap();
        // A file is reported at most every half second.
        let most = FILES / 10 * (usize::try_from(took.as_millis() / 500).unwrap() + 2);
        assert!(heard <= most, "{heard} notices, not {most}, in {took:?}");
    }
}

fn rss(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// S-15: a client that does not read delays no other, and gets every change once it reads.
#[test]
fn a_listener_that_does_not_read_holds_nobody_up() {
    const FILES: usize = 200;
    const ROUNDS: usize = 110;
    const LENGTH: usize = 200;
    let folder = TempDir::with_prefix("slow").unwrap();
    let path = folder.path().join("many");
    fs::create_dir(&path).unwrap();
    let uris = create_files(&path, FILES + 1, LENGTH);
    let settings = "[server]\nquiet = \"1ms\"\nhold = \"2ms\"\n[search]\nenabled = false\n\
        [mounts.many]\nkind = \"fs\"\npath = \"many\"\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let desk = HttpProgram::start(folder.path(), &[]);
    let mut slow = StreamClient::subscribe(&desk, &uris);
    sockopt::set_socket_recv_buffer_size(slow.stream.get_ref(), 4096).unwrap();
    let mut quick = StreamClient::subscribe(&desk, &uris);
    let mut before = None;
    // About 8 MB of notifications, far more than a connection buffers.
    for round in 0..ROUNDS {
        for at in 0..FILES {
            fs::write(path.join(file_name(at, LENGTH)), format!("round {round}")).unwrap();
        }
        let mut waiting: BTreeSet<String> = uris[..FILES].iter().cloned().collect();
        while !waiting.is_empty() {
            waiting.remove(&quick.uri());
        }
        if round == 20 {
            before = Some(rss(desk.child.id()));
        }
    }
    let grown = rss(desk.child.id()).saturating_sub(before.unwrap());
    assert!(grown < 8 << 20, "memory grew by {grown} bytes for a client that does not read");
    // This file has not changed before, so its notification comes after all others.
    fs::write(path.join(file_name(FILES, LENGTH)), "the last").unwrap();
    while quick.uri() != uris[FILES] {}
    sockopt::set_socket_recv_buffer_size(slow.stream.get_ref(), 1 << 20).unwrap();
    let mut heard = Vec::new();
    while heard.last() != Some(&uris[FILES]) {
        heard.push(slow.uri());
    }
    // Notifications already sent may repeat; after them each changed URI comes once.
    let tail: BTreeSet<&String> = heard.iter().rev().take(FILES + 1).collect();
    assert_eq!(tail.len(), FILES + 1, "each of them once at the end");
    assert!(heard.len() < ROUNDS * FILES * 3 / 4, "{} notices were not piled up", heard.len());
}

/// The number of open file descriptors and of inotify watches of a process.
fn descriptors_and_watches(process: u32) -> (usize, usize) {
    let folder = format!("/proc/{process}");
    let descriptors = fs::read_dir(format!("{folder}/fd")).unwrap().count();
    let watches = fs::read_dir(format!("{folder}/fdinfo")).unwrap().flatten().map(|entry| {
        let info = fs::read_to_string(entry.path()).unwrap_or_default();
        info.lines().filter(|line| line.starts_with("inotify wd:")).count()
    });
    (descriptors, watches.sum())
}

/// Listeners that come and go leave no descriptor, watch or memory behind.
#[test]
fn a_thousand_listeners_leave_nothing_behind() {
    let folder = project();
    let settings = "[mounts.project]\nkind = \"fs\"\npath = \"project\"\nindex = false\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let desk = HttpProgram::start(folder.path(), &[]);
    let process = desk.child.id();
    let uri = vec!["file:///project/src/main.rs".to_owned()];
    let round = |count: usize| {
        for _ in 0..count / 10 {
            let open: Vec<_> = (0..10).map(|_| StreamClient::subscribe(&desk, &uri)).collect();
            drop(open);
        }
        // After the last listener is gone, no inotify watch may remain.
        let end = Instant::now() + TIMEOUT;
        while descriptors_and_watches(process).1 > 0 {
            assert!(Instant::now() < end, "{:?} is still held", descriptors_and_watches(process));
            thread::yield_now();
        }
        descriptors_and_watches(process).0
    };
    let before = (round(200), rss(process));
    let after = (round(1000), rss(process));
    assert!(after.0 <= before.0 + 2, "{before:?} {after:?}");
    assert!(after.1 < before.1 + (4 << 20), "{before:?} {after:?}");
}

/// S-08: on a shutdown signal the program completes its streams and requests, and exits with 0.
#[test]
fn told_to_stop_the_program_says_good_bye() {
    let folder = project();
    let mut desk = HttpProgram::start(folder.path(), &["project"]);
    let mut listener = StreamClient::subscribe(&desk, &["file:///project/README.md".to_owned()]);
    let process = rustix::process::Pid::from_child(&desk.child);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    let end = listener.next().expect("an answer to the listener");
    assert_eq!((&end["id"], &end["result"]["resultType"]), (&json!(1), &json!("complete")));
    assert_eq!(listener.next(), None);
    assert!(desk.child.wait().unwrap().success());
}

/// S-08, D-03 over stdio: the end of the input ends all subscriptions.
#[test]
fn the_end_of_the_input_is_answered_too() {
    let folder = project();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio", "project"]));
    let wishes = json!({ "resourceSubscriptions": ["file:///project/README.md"] });
    let ack = desk.request("subscriptions/listen", json!({ "notifications": wishes }));
    assert_eq!(ack["params"]["notifications"], wishes);
    fs::write(folder.path().join("project/README.md"), "# Changed").unwrap();
    let told = desk.receive();
    assert_eq!(told["params"]["uri"], "file:///project/README.md");
    let (well, rest) = desk.close();
    let end: Value = serde_json::from_str(&rest).unwrap();
    assert!(well && end["result"]["resultType"] == "complete", "{rest}");
}
