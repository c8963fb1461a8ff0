//! Tests of the command line: help, banner, errors, host config and completions.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use rustix::pty::OpenptFlags;
use serde_json::Value;

use crate::program::{HttpProgram, output_text, project, refdesk, run};

#[test]
fn help_teaches_by_example() {
    let folder = project();
    let reading = [
        "ls", "cat", "stat", "find", "search", "grep", "get", "call", "watch", "pack", "cp",
        "pick", "top", "doctor",
    ];
    let others = [
        vec![],
        vec!["serve"],
        vec!["check"],
        vec!["host-config"],
        vec!["import"],
        vec!["completions"],
        vec!["index"],
        vec!["index", "rebuild"],
        vec!["models"],
        vec!["models", "add"],
    ];
    for command in others.into_iter().chain(reading.map(|name| vec![name])) {
        let mut arguments = command.clone();
        arguments.push("--help");
        let help = output_text(&run(folder.path(), &arguments));
        let name = if command.is_empty() { "refdesk".to_owned() } else { command.join("-") };
        insta::assert_snapshot!(format!("help-{name}"), help);
    }
}

#[test]
fn serving_says_what_and_where() {
    let folder = project();
    let listening = HttpProgram::start(&folder.path().join("project"), &["."]);
    let banner = listening.banner.replace(&listening.port.to_string(), "PORT");
    insta::assert_snapshot!("banner", banner);
}

#[test]
fn serving_for_machines_is_one_line_of_json() {
    let folder = project();
    let listening = HttpProgram::start(&folder.path().join("project"), &["--json"]);
    let said: Value = serde_json::from_str(&listening.banner).unwrap();
    assert_eq!(said["url"], listening.url());
    assert_eq!(said["mounts"][0]["name"], "project");
    assert_eq!(said["mounts"][0]["resources"], 6);
}

#[test]
fn a_settings_file_in_the_folder_is_used_and_checked() {
    let folder = project();
    let settings = "[mounts.docs]\nkind = \"fs\"\npath = \"project/docs\"\n\n[mounts.notes]\n\
        kind = \"static\"\n[[mounts.notes.resources]]\nuri = \"note://a\"\nname = \"a\"\ntext = \"\"\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let checked = run(folder.path(), &["check"]);
    assert!(checked.status.success());
    insta::assert_snapshot!("check", output_text(&checked));
    let json: Value =
        serde_json::from_str(&output_text(&run(folder.path(), &["check", "--json"]))).unwrap();
    assert_eq!(json["mounts"][1]["name"], "notes");
    let listening = HttpProgram::start(folder.path(), &[]);
    assert!(listening.banner.contains("notes"), "{}", listening.banner);
}

#[test]
fn a_broken_settings_file_is_refused_with_the_place_and_a_hint() {
    let folder = project();
    let file = folder.path().join("refdesk.toml");
    fs::write(&file, "[mounts.a]\nkind = \"fs\"\npath = \"project\"\nlistng = \"flat\"\n").unwrap();
    for arguments in [vec!["check"], vec!["serve"], vec!["serve", "--stdio"]] {
        let output = run(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty(), "standard output carries only the protocol");
        let said = output_text(&output);
        assert!(said.contains("refdesk.toml:4:1: unknown key `listng`"), "{said}");
        assert!(said.contains("did you mean `listing`?"), "{said}");
    }
}

#[test]
fn mistakes_are_told_with_what_to_do_next() {
    let folder = project();
    let missing = output_text(&run(folder.path(), &["serve", "nowhere"]));
    assert!(missing.contains("cannot serve the folder nowhere"), "{missing}");
    let file = output_text(&run(folder.path(), &["serve", "project/README.md"]));
    assert!(file.contains("is a file, not a folder") && file.contains("--settings"), "{file}");
    let none = output_text(&run(folder.path(), &["check"]));
    assert!(none.contains("cannot read the settings file refdesk.toml"), "{none}");
    let first = HttpProgram::start(folder.path(), &[]);
    let address = format!("127.0.0.1:{}", first.port);
    let taken = run(folder.path(), &["serve", "--listen", &address]);
    let told = output_text(&taken);
    let cause = format!("error: port {} is in use by another program", first.port);
    assert!(told.starts_with(&cause), "{told}");
    assert!(told.contains("choose another with --listen 127.0.0.1:0"), "{told}");
    let wrong = run(folder.path(), &["serve", "--listen", "nonsense"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn a_port_alone_is_one_of_this_machine() {
    let folder = project();
    for address in ["0", ":0", "localhost:0"] {
        let mut command = refdesk(folder.path(), &["serve", "--listen", address, "project"]);
        assert!(HttpProgram::spawn(&mut command).port > 0, "{address}");
    }
}

/// A terminal: the end of the person, and the end of a program.
pub(crate) fn open_terminal() -> (fs::File, fs::File) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let terminal = rustix::pty::openpt(flags).unwrap();
    rustix::pty::unlockpt(&terminal).unwrap();
    let name = rustix::pty::ptsname(&terminal, Vec::new()).unwrap();
    let end = fs::File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    (terminal.into(), end)
}

/// The other end of the terminal ends the input when it is closed.
#[test]
fn a_server_for_a_host_says_on_a_terminal_what_it_is_and_how_to_leave() {
    let folder = project();
    let (terminal, file) = open_terminal();
    let mut command = refdesk(folder.path(), &["serve", "--stdio", "project"]);
    command.stdin(file).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("refdesk serves MCP over standard input and output"), "{line}");
    drop(terminal);
    assert!(child.wait().unwrap().success());
}

#[test]
fn shells_can_complete() {
    let folder = project();
    for shell in ["bash", "zsh", "fish"] {
        let script = output_text(&run(folder.path(), &["completions", shell]));
        // The script asks the program at each Tab; what that answers is tried in real shells.
        assert!(script.contains("COMPLETE") && script.contains("refdesk"), "{shell}: {script}");
    }
}

#[test]
fn asking_to_stop_stops_at_once() {
    let folder = project();
    let mut listening = HttpProgram::start(folder.path(), &[]);
    let id = listening.child.id().to_string();
    let told = std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap();
    assert!(told.success());
    assert!(listening.child.wait().unwrap().success());
    drop(refdesk(folder.path(), &[]));
}
