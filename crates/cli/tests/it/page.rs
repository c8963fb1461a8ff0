//! Tests of the page for people in the program: where it is, its token, and how to turn it off.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;

use crate::access::{JsonProgram, new_token};
use crate::program::{project, refdesk};

/// A running program, asked for its page.
struct PageProgram(JsonProgram);

impl PageProgram {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let arguments: Vec<&str> = ["serve", "--json"].iter().chain(arguments).copied().collect();
        let mut command = refdesk(folder, &arguments);
        let log = fs::File::create(folder.join("log")).unwrap();
        command.env("REFDESK_LOG", "trace").stderr(log);
        Self(JsonProgram::of(command))
    }

    /// The whole answer to `GET path`.
    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.0.port)).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn status(&self, path: &str) -> u16 {
        self.get(path).split(' ').nth(1).unwrap().parse().unwrap()
    }
}

#[test]
fn the_page_is_at_the_root_of_the_address_in_the_banner() {
    let folder = project();
    let desk = PageProgram::start(folder.path(), &["--listen", "127.0.0.1:0", "project"]);
    assert_eq!(desk.0.banner["page"], format!("http://127.0.0.1:{}/", desk.0.port));
    let page = desk.get("/");
    assert!(page.starts_with("HTTP/1.1 200 ") && page.contains("/explorer/app.js"), "{page}");
    assert_eq!(desk.status("/explorer/app.js"), 200);
}

/// The line for people, the last one of the banner.
#[test]
fn the_banner_names_the_page_and_says_when_a_token_is_missing() {
    let folder = project();
    let last_line = |table: &str| {
        let mount = "[mounts.project]\nkind = \"fs\"\npath = \"project\"\n";
        fs::write(folder.path().join("refdesk.toml"), format!("{mount}{table}")).unwrap();
        let mut command = refdesk(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut lines = output.lines().map(Result::unwrap);
        let line = lines.find(|line| line.trim_start().starts_with("page ")).unwrap();
        let _ = child.kill();
        let _ = child.wait();
        line
    };
    let open = last_line("");
    assert!(open.starts_with("  page  http://127.0.0.1:") && open.ends_with('/'), "{open}");
    let (_, table) = new_token(folder.path(), &["ada"]);
    let closed = last_line(&table);
    assert!(closed.contains("?token=") && closed.contains("refdesk token new"), "{closed}");
    assert!(!closed.contains("rdk_"), "{closed}");
}

#[test]
fn the_page_can_be_turned_off_by_an_argument_and_by_a_setting() {
    let folder = project();
    let listen = ["--listen", "127.0.0.1:0"];
    let by_argument = [&listen[..], &["--no-page", "project"]].concat();
    let desk = PageProgram::start(folder.path(), &by_argument);
    assert_eq!((desk.status("/"), desk.0.banner.get("page")), (404, None));
    drop(desk);
    let settings = "[server]\npage = false\n[mounts.project]\nkind = \"fs\"\npath = \"project\"\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let desk = PageProgram::start(folder.path(), &listen);
    assert_eq!((desk.status("/"), desk.0.banner.get("page")), (404, None));
    assert_eq!(desk.status("/health"), 200);
}

/// Beyond loopback the banner has an address with the token, which no log repeats.
#[test]
fn beyond_this_machine_the_page_opens_with_the_token_that_was_printed() {
    let folder = project();
    let desk = PageProgram::start(folder.path(), &["--listen", "0.0.0.0:0", "project"]);
    let token = desk.0.banner["token"].as_str().unwrap().to_owned();
    let page = desk.0.banner["page"].as_str().unwrap();
    let (host, query) = page.split_once("/?").unwrap();
    assert_eq!(query, format!("token={token}"));
    let host = host.strip_prefix("http://").unwrap().rsplit_once(':').unwrap().0;
    assert!(host.parse::<std::net::IpAddr>().is_ok(), "a page of another name is refused: {host}");
    assert_eq!((desk.status("/"), desk.status("/explorer/app.js")), (401, 401));
    assert_eq!(desk.status(&format!("/?token={token}")), 200);
    assert_eq!(desk.status("/?token=rdk_wrong"), 401);
    drop(desk);
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(!log.contains(&token), "{log}");
}

#[test]
fn tokens_of_the_settings_open_the_page_of_a_loopback_address_too() {
    let folder = project();
    let (token, table) = new_token(folder.path(), &["ada"]);
    fs::write(folder.path().join("refdesk.toml"), table).unwrap();
    let desk = PageProgram::start(folder.path(), &["--listen", "127.0.0.1:0"]);
    assert_eq!(desk.0.banner["page"], format!("http://127.0.0.1:{}/", desk.0.port));
    assert_eq!((desk.status("/"), desk.status(&format!("/?token={token}"))), (401, 200));
}
