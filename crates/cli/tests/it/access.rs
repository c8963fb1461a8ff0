//! Tests of access control: tokens beyond loopback, and edits of the settings that change them.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::net::{self, AddressFamily, SocketType};
use serde_json::{Value, json};

use crate::program::{meta, output_text, project, refdesk, run};

/// A running program whose banner is JSON, killed on drop.
pub(crate) struct JsonProgram {
    pub(crate) child: Child,
    pub(crate) banner: Value,
    pub(crate) port: u16,
    /// Kept open: the program prints to it.
    _output: BufReader<ChildStdout>,
}

impl Drop for JsonProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl JsonProgram {
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        let arguments: Vec<&str> = ["serve", "--json"].iter().chain(arguments).copied().collect();
        Self::of(refdesk(folder, &arguments))
    }

    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let banner: Value = serde_json::from_str(&line).unwrap();
        let url = banner["url"].as_str().unwrap();
        let port = url.rsplit_once(':').unwrap().1.trim_end_matches("/mcp").parse().unwrap();
        Self { child, banner, port, _output: output }
    }

    /// Posts a request for the list of resources with these headers; returns the raw response.
    fn list(&self, headers: &str) -> String {
        let headers =
            format!("{headers}MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/list\r\n");
        self.post(&headers, "resources/list", &json!({ "_meta": meta(&Value::Null) }))
    }

    pub(crate) fn post(&self, headers: &str, method: &str, params: &Value) -> String {
        let body =
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
             Accept: application/json, text/event-stream\r\n{headers}\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    pub(crate) fn status(&self, headers: &str) -> u16 {
        self.list(headers).split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Waits until a request with these headers gets this status.
    fn until_status(&self, headers: &str, status: u16) {
        while self.status(headers) != status {
            std::thread::yield_now();
        }
    }
}

pub(crate) fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

/// The token and the settings that `refdesk token new` prints.
pub(crate) fn new_token(folder: &Path, arguments: &[&str]) -> (String, String) {
    let arguments: Vec<&str> = ["token", "new"].iter().chain(arguments).copied().collect();
    let text = output_text(&run(folder, &arguments));
    let token = text.lines().find(|line| line.starts_with("rdk_")).unwrap().to_owned();
    let table: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("[tokens"))
        .take_while(|line| !line.is_empty())
        .collect();
    (token, table.join("\n") + "\n")
}

/// Beyond loopback refdesk makes a token, shows it once, and lets nobody in without it.
#[test]
fn beyond_this_machine_every_client_needs_a_token() {
    let folder = project();
    let desk = JsonProgram::start(folder.path(), &["--listen", "0.0.0.0:0", "project"]);
    let token = desk.banner["token"].as_str().unwrap();
    assert!(token.starts_with("rdk_") && token.len() == 47, "{token}");
    assert!(desk.banner["warning"].as_str().unwrap().contains("without TLS"));
    let reachable = desk.banner["reachable"][0].as_str().unwrap();
    assert!(reachable.ends_with(&format!(":{}/mcp", desk.port)), "{reachable}");
    let refused = desk.list("");
    assert!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
    assert!(refused.contains("www-authenticate: Bearer realm=\"refdesk\"\r\n"), "{refused}");
    let wrong = desk.list(&bearer("rdk_wrong"));
    assert!(wrong.starts_with("HTTP/1.1 401 ") && wrong.contains("error=\"invalid_token\""));
    for answer in [&refused, &wrong] {
        assert!(!answer.contains("project") && !answer.contains("rdk_"), "{answer}");
    }
    assert_eq!(desk.status(&bearer(token)), 200);
}

/// A name of another domain leads to a loopback address through a proxy, for example.
#[test]
fn under_a_name_that_others_use_every_client_needs_a_token() {
    let folder = project();
    let settings = |hosts: &str| {
        let mount = "[mounts.project]\nkind = \"fs\"\npath = \"project\"\n";
        let settings = format!("[server]\nhosts = [{hosts}]\n{mount}");
        fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    };
    let log = folder.path().join("log");
    let start = || {
        let arguments = ["serve", "--json", "--listen", "127.0.0.1:0"];
        let mut command = refdesk(folder.path(), &arguments);
        command.env("REFDESK_LOG", "warn").stderr(fs::File::create(&log).unwrap());
        JsonProgram::of(command)
    };
    settings("\"localhost\", \"desk.example.com\"");
    let desk = start();
    let token = desk.banner["token"].as_str().unwrap();
    assert_eq!((desk.status(""), desk.status(&bearer(token))), (401, 200));
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.contains("desk.example.com") && log.contains("refdesk token new"), "{log}");
    settings("\"localhost\", \"desk.localhost\"");
    let desk = start();
    assert!(desk.banner["token"].is_null() && desk.status("") == 200);
}

#[test]
fn the_banner_shows_the_token_with_the_lines_to_paste() {
    let folder = project();
    let arguments = ["serve", "--listen", "0.0.0.0:0", "project"];
    let mut child = refdesk(folder.path(), &arguments).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut banner: Vec<String> = Vec::new();
    for line in lines {
        let is_last = line.contains("listening on");
        banner.push(line);
        if is_last {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let entry = banner.iter().find(|line| line.contains("mcpServers")).unwrap();
    let entry: Value = serde_json::from_str(entry.trim()).unwrap();
    let server = &entry["mcpServers"]["refdesk"];
    let header = server["headers"]["Authorization"].as_str().unwrap();
    assert!(header.starts_with("Bearer rdk_"), "{banner:?}");
    assert!(server["url"].as_str().unwrap().ends_with("/mcp"), "{banner:?}");
    assert!(banner.iter().any(|line| line.trim().starts_with("claude mcp add ")), "{banner:?}");
    assert!(banner.iter().any(|line| line.contains("warning: without TLS")), "{banner:?}");
    let open = "warning: other machines can reach this server, at";
    let at = banner.iter().position(|line| line.contains(open)).unwrap();
    assert!(banner[at + 1].trim().starts_with("http://"), "{banner:?}");
}

/// On loopback a token is needed once the settings have one. An edit revokes and adds tokens.
#[test]
fn tokens_of_the_settings_are_followed_without_a_restart() {
    let folder = project();
    let file = folder.path().join("refdesk.toml");
    let mount = "[mounts.project]\nkind = \"fs\"\npath = \"project\"\n";
    fs::write(&file, mount).unwrap();
    let desk = JsonProgram::start(folder.path(), &["--listen", "127.0.0.1:0"]);
    assert!(desk.banner.get("token").is_none() && desk.banner.get("warning").is_none());
    assert_eq!(desk.status(""), 200, "an open loopback address");
    let (ada, ada_table) = new_token(folder.path(), &["ada"]);
    let (alan, alan_table) = new_token(folder.path(), &["alan", "--expires", "1h", "--scope", "x"]);
    assert!(alan_table.contains("expires = ") && alan_table.contains("scopes = [\"x\"]"));
    fs::write(&file, format!("{mount}{ada_table}{alan_table}")).unwrap();
    desk.until_status("", 401);
    assert_eq!((desk.status(&bearer(&ada)), desk.status(&bearer(&alan))), (200, 200));
    fs::write(&file, format!("{mount}{alan_table}expire = 1\n")).unwrap();
    fs::write(&file, format!("{mount}{alan_table}")).unwrap();
    desk.until_status(&bearer(&ada), 401);
    assert_eq!(desk.status(&bearer(&alan)), 200);
    let broken = "[mounts.gone]\nkind = \"fs\"\npath = \"gone\"\n";
    fs::write(&file, format!("{broken}{ada_table}")).unwrap();
    desk.until_status(&bearer(&alan), 401);
    assert_eq!(desk.status(&bearer(&ada)), 200, "a broken mount does not keep tokens as they were");
    fs::write(&file, format!("{mount}{ada_table}expires = 2020-01-01\n")).unwrap();
    desk.until_status(&bearer(&ada), 401);
}

/// A settings file that an editor empties or moves away for a moment does not open the server.
#[test]
fn a_server_that_needed_tokens_never_opens_again() {
    let folder = project();
    let file = folder.path().join("refdesk.toml");
    let (ada, table) = new_token(folder.path(), &["ada"]);
    let log = folder.path().join("log");
    fs::write(&file, &table).unwrap();
    let mut command = refdesk(folder.path(), &["serve", "--json", "--listen", "127.0.0.1:0"]);
    command.env("REFDESK_LOG", "warn").stderr(fs::File::create(&log).unwrap());
    let desk = JsonProgram::of(command);
    let until_logged = |words: &str| {
        while !fs::read_to_string(&log).unwrap().contains(words) {
            std::thread::yield_now();
        }
    };
    fs::remove_file(&file).unwrap();
    until_logged("cannot read the settings file");
    assert_eq!((desk.status(""), desk.status(&bearer(&ada))), (401, 200));
    fs::write(&file, "").unwrap();
    until_logged("no client is let in");
    assert_eq!((desk.status(""), desk.status(&bearer(&ada))), (401, 401));
}

/// SEC-08: neither the most talkative log nor an error shows a token.
#[test]
fn a_token_appears_in_no_log() {
    let folder = project();
    let (token, table) = new_token(folder.path(), &["ada"]);
    let mount = "[mounts.project]\nkind = \"fs\"\npath = \"project\"\n";
    fs::write(folder.path().join("refdesk.toml"), format!("{mount}{table}")).unwrap();
    let log = fs::File::create(folder.path().join("log")).unwrap();
    let mut command = refdesk(folder.path(), &["serve", "--json", "--listen", "127.0.0.1:0"]);
    command.env("REFDESK_LOG", "trace").stderr(log);
    let desk = JsonProgram::of(command);
    assert_eq!(desk.status(&bearer(&token)), 200);
    assert_eq!(desk.status(&bearer(&format!("{token}x"))), 401);
    drop(desk);
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.contains("without a valid token"), "{log}");
    assert!(!log.contains(&token) && !log.contains("blake3:"), "{log}");
}

/// A Unix socket is its owner's alone, replaces one that was left behind, and goes with the server.
#[test]
fn a_unix_socket_is_the_owners_and_no_running_server_loses_it() {
    let folder = project();
    let path = folder.path().join("desk.sock");
    let address = format!("unix:{}", path.display());
    drop(UnixListener::bind(&path).unwrap());
    let start = || {
        let arguments = ["serve", "--json", "--listen", &address, "project"];
        let mut child = refdesk(folder.path(), &arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        (child, line, output)
    };
    let (mut child, banner, _output) = start();
    assert_eq!(serde_json::from_str::<Value>(&banner).unwrap()["url"], address);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let mut stream = UnixStream::connect(&path).unwrap();
    stream
        .write_all(b"GET /other HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    let second = output_text(&run(folder.path(), &["serve", "--listen", &address, "project"]));
    assert!(second.contains("another process listens on it"), "{second}");
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(child.wait().unwrap().success());
    assert!(!path.exists(), "the socket goes with the server");
    fs::write(&path, "a file").unwrap();
    let file = output_text(&run(folder.path(), &["serve", "--listen", &address, "project"]));
    assert!(file.contains("is not a socket") && path.exists(), "{file}");
}

/// A certificate is loaded at the start and again when its files change; a broken one is not.
#[test]
fn a_certificate_is_taken_up_when_its_files_change() {
    let folder = project();
    let path = |name: &str| folder.path().join(name);
    let write = |pair: &rcgen::CertifiedKey<rcgen::KeyPair>| {
        fs::write(path("key.pem"), pair.signing_key.serialize_pem()).unwrap();
        fs::write(path("cert.pem"), pair.cert.pem()).unwrap();
    };
    let pair = || rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (first, second) = (pair(), pair());
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--tls-cert", "cert.pem"];
    let arguments = [&arguments[..], &["--tls-key", "key.pem", "project"]].concat();
    let missing = output_text(&run(folder.path(), &arguments));
    assert!(missing.contains("cannot read cert.pem"), "{missing}");
    write(&first);
    let mut command = refdesk(folder.path(), &arguments);
    let log = fs::File::create(path("log")).unwrap();
    command.env("REFDESK_LOG", "info").stderr(log).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("listening on https://127.0.0.1:")));
    let until_logged = |words: &str| {
        while !fs::read_to_string(path("log")).unwrap().contains(words) {
            std::thread::yield_now();
        }
    };
    fs::write(path("cert.pem"), "no certificate").unwrap();
    until_logged("the TLS certificate stays as it was");
    write(&second);
    until_logged("the TLS certificate was loaded again");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Silent connections do not use up the files that the process may open.
#[test]
fn with_few_files_silent_connections_lock_nobody_out() {
    let folder = project();
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_refdesk");
    let script = "ulimit -n 200 && exec \"$0\" serve --json --listen 127.0.0.1:0 project";
    command.args(["-c", script, program]).current_dir(folder.path());
    command.env("XDG_STATE_HOME", folder.path().join(".state")).env("REFDESK_LOG", "error");
    let desk = JsonProgram::of(command);
    let connect = |_| {
        let socket = net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        net::bind(&socket, &SocketAddr::from(([127, 0, 0, 2], 0))).unwrap();
        net::connect(&socket, &SocketAddr::from(([127, 0, 0, 1], desk.port))).unwrap();
        socket
    };
    let silent: Vec<OwnedFd> = (0..300).map(connect).collect();
    let list = desk.list("");
    assert!(list.starts_with("HTTP/1.1 200 ") && list.contains("README.md"), "{list}");
    drop(silent);
}
