//! Tests of a process that may open few files.

use std::fs;
use std::io::Read as _;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{HttpProgram, project, serve_http};

/// Longer than any answer takes on a slow machine.
const TIMEOUT: Duration = Duration::from_secs(60);

fn request(served: &HttpProgram, method: &str, params: Value) -> Value {
    let mut stream = served.post(method, params);
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer in time");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
}

/// Serves the project after a command of the shell.
fn serve_limited(folder: &Path, limit: &str) -> HttpProgram {
    let program = serve_http(folder, &["project"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("{limit}; exec \"$0\" \"$@\"")]);
    limited.arg(program.get_program()).args(program.get_args()).current_dir(folder);
    limited.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    HttpProgram::spawn(&mut limited)
}

#[test]
fn the_soft_limit_on_open_files_is_raised_to_the_hard_one() {
    let folder = project();
    let served = serve_limited(folder.path(), "ulimit -Sn 64; ulimit -Hn 1024");
    let limits = fs::read_to_string(format!("/proc/{}/limits", served.child.id())).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let numbers: Vec<&str> = files.split_whitespace().skip(3).take(2).collect();
    assert_eq!(numbers, ["1024", "1024"], "{files}");
    // More than the soft limit had room for.
    let idle: Vec<TcpStream> =
        (0..100).map(|_| TcpStream::connect(("127.0.0.1", served.port)).unwrap()).collect();
    let read = request(&served, "resources/read", json!({ "uri": "file:///project/README.md" }));
    assert!(read["result"].is_object(), "{read}");
    drop(idle);
}

#[test]
fn a_process_that_may_open_few_files_serves_many_folders_and_accepts_connections() {
    let folder = project();
    for number in 0..200 {
        let inner = folder.path().join(format!("project/d{number}/e"));
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("a"), number.to_string()).unwrap();
    }
    let served = serve_limited(folder.path(), "ulimit -n 64");
    // More clients than there is room for: the others wait.
    let idle: Vec<TcpStream> =
        (0..24).map(|_| TcpStream::connect(("127.0.0.1", served.port)).unwrap()).collect();
    for round in 0..2 {
        for number in 0..200 {
            let parent = format!("file:///project/d{number}/e");
            let list = request(&served, "resources/list", json!({ "uri": parent }));
            assert_eq!(list["result"]["resources"][0]["uri"], format!("{parent}/a"), "{list}");
            let read = request(&served, "resources/read", json!({ "uri": format!("{parent}/a") }));
            let text = &read["result"]["contents"][0]["text"];
            assert_eq!(*text, number.to_string(), "round {round}: {read}");
        }
        let list = request(&served, "resources/list", json!({}));
        assert_eq!(list["result"]["_meta"]["dev.refdesk/absent"], Value::Null, "{list}");
    }
    drop(idle);
}
