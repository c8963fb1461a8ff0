//! Tests of files that change while a client reads them.

use std::fs;
use std::io::Read as _;

use serde_json::{Value, json};

use crate::program::{HttpProgram, StdioProgram, project, refdesk};

/// More bytes than pipes and sockets hold between the program and a client that does not read.
const SIZE: usize = 64 << 20;

const SETTINGS: &str = "[mounts.own]\nkind = \"fs\"\npath = \"project\"\nmax_read = \"100 MiB\"\n";

#[test]
fn an_answer_over_http_with_a_file_that_changes_meanwhile_is_cut() {
    let folder = project();
    let file = folder.path().join("project/large.txt");
    fs::write(folder.path().join("refdesk.toml"), SETTINGS).unwrap();
    for overwritten in [vec![b'b'; SIZE], Vec::new()] {
        fs::write(&file, vec![b'a'; SIZE]).unwrap();
        let served = HttpProgram::start(folder.path(), &[]);
        let mut stream = served.post("resources/read", json!({ "uri": "file:///own/large.txt" }));
        let mut answer = vec![0; 1 << 16];
        stream.read_exact(&mut answer).unwrap();
        fs::write(&file, &overwritten).unwrap();
        // The connection may also be reset.
        let _ = stream.read_to_end(&mut answer);
        let head = String::from_utf8_lossy(&answer[..1024]).to_lowercase();
        assert!(head.contains("transfer-encoding: chunked"), "{head}");
        assert!(!answer.ends_with(b"\r\n0\r\n\r\n"), "the answer looks complete");
    }
}

#[test]
fn an_answer_over_stdio_with_a_file_that_changes_meanwhile_is_an_error() {
    let folder = project();
    let file = folder.path().join("project/large.txt");
    fs::write(&file, vec![b'a'; SIZE]).unwrap();
    fs::write(folder.path().join("refdesk.toml"), SETTINGS).unwrap();
    let mut served = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio"]));
    served.send_request("resources/read", json!({ "uri": "file:///own/large.txt" }));
    assert_eq!(served.peek_byte(), b'{');
    fs::write(&file, vec![b'b'; SIZE]).unwrap();
    let half = served.read_line();
    assert!(serde_json::from_str::<Value>(&half).is_err());
    assert!(served.receive()["error"].is_object());
}
