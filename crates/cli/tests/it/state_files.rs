//! Tests of state and settings files that are pipes, empty or on a full disk.

use std::fs;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::program::{HttpProgram, StdioProgram, project, refdesk};

/// Longer than any step takes on a slow machine.
const TIMEOUT: Duration = Duration::from_secs(60);

fn make_pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Starts refdesk over stdio, requests a list and ends the program.
fn serve_once(command: Command) {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut served = StdioProgram::start(command);
        let list = served.request("resources/list", json!({}));
        let _ = sender.send((list, served.close().0));
    });
    let (list, is_ok) = receiver.recv_timeout(TIMEOUT).expect("the program starts and ends");
    assert!(list["result"]["resources"].is_array() && is_ok, "{list}");
}

#[test]
fn a_full_disk_leaves_no_key_that_is_not_whole() {
    let folder = project();
    let key = folder.path().join(".state/refdesk/cursor.key");
    let program = refdesk(folder.path(), &["serve", "--stdio", "project"]);
    let mut limited = Command::new("sh");
    // A file size limit of zero fails each write as a full disk does.
    limited.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]);
    limited.arg(program.get_program()).args(program.get_args()).current_dir(folder.path());
    limited.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    serve_once(limited);
    assert!(!key.exists());
    serve_once(program);
    assert_eq!(fs::read(key).unwrap().len(), 32);
}

#[test]
fn a_key_file_that_is_a_pipe_does_not_stop_the_start() {
    let folder = project();
    fs::create_dir_all(folder.path().join(".state/refdesk")).unwrap();
    make_pipe(&folder.path().join(".state/refdesk/cursor.key"));
    serve_once(refdesk(folder.path(), &["serve", "--stdio", "project"]));
}

#[test]
fn a_settings_file_that_becomes_a_pipe_stops_neither_requests_nor_the_exit() {
    let folder = project();
    let settings = folder.path().join("refdesk.toml");
    fs::write(&settings, "[mounts.own]\nkind = \"fs\"\npath = \"project\"\n").unwrap();
    let mut served = HttpProgram::start_logged(folder.path(), &[]);
    make_pipe(&folder.path().join("pipe"));
    fs::rename(folder.path().join("pipe"), &settings).unwrap();
    let line = first_line_logged(&mut served);
    assert!(line.contains("settings are invalid"), "{line}");
    let mut answer = String::new();
    served.post("resources/list", json!({})).read_to_string(&mut answer).unwrap();
    assert!(answer.contains("file:///own/README.md"), "{answer}");
    kill_process(Pid::from_child(&served.child), Signal::TERM).unwrap();
    assert!(served.child.wait().unwrap().success());
}

#[test]
fn a_certificate_that_becomes_a_pipe_stops_neither_connections_nor_the_exit() {
    let folder = project();
    let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    fs::write(folder.path().join("key.pem"), pair.signing_key.serialize_pem()).unwrap();
    fs::write(folder.path().join("cert.pem"), pair.cert.pem()).unwrap();
    let arguments = ["--tls-cert", "cert.pem", "--tls-key", "key.pem", "project"];
    let mut served = HttpProgram::start_logged(folder.path(), &arguments);
    make_pipe(&folder.path().join("pipe"));
    fs::rename(folder.path().join("pipe"), folder.path().join("cert.pem")).unwrap();
    let line = first_line_logged(&mut served);
    assert!(line.contains("the TLS certificate stays as it was"), "{line}");
    let mut stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream.write_all(b"no handshake").unwrap();
    let mut alert = Vec::new();
    stream.read_to_end(&mut alert).expect("the server refuses the handshake");
    kill_process(Pid::from_child(&served.child), Signal::TERM).unwrap();
    assert!(served.child.wait().unwrap().success());
}

/// Waits for the first line of the program's log.
fn first_line_logged(served: &mut HttpProgram) -> String {
    let (sender, receiver) = mpsc::channel();
    let log = served.child.stderr.take().unwrap();
    std::thread::spawn(move || sender.send(BufReader::new(log).lines().next()));
    receiver.recv_timeout(TIMEOUT).expect("the program logs").unwrap().unwrap()
}
