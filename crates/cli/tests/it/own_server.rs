//! Tests of settings that lead back to refdesk itself: no mount starts it without end.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{HttpProgram, StdioProgram, output_text, project, refdesk, run};

/// The state of a mount.
fn state(desk: &mut StdioProgram, mount: &str) -> Value {
    let uri = format!("refdesk://mounts/{mount}");
    let read = desk.request("resources/read", json!({ "uri": uri }));
    let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read}"));
    serde_json::from_str(text).unwrap()
}

/// Starts refdesk with its log in the file `log`.
fn start_logged(folder: &Path, arguments: &[&str]) -> StdioProgram {
    let mut command = refdesk(folder, arguments);
    command.stderr(fs::File::create(folder.join("log")).unwrap());
    StdioProgram::start(command)
}

#[test]
fn a_host_file_that_names_refdesk_with_that_file_leaves_the_entry_out() {
    let folder = project();
    let program = env!("CARGO_BIN_EXE_refdesk");
    let serve = |file: &str| json!({ "command": program, "args": ["serve", "--stdio", "--mcp-config", file] });
    let whole = folder.path().join(".mcp.json");
    let config = json!({ "mcpServers": {
        "desk": serve("./.mcp.json"),
        "elsewhere": { "command": program, "args": ["serve", "--stdio", "--mcp-config", whole], "cwd": "/" },
        "docs": { "command": program, "args": ["serve", "--stdio", "project/docs"] },
    } });
    fs::write(&whole, config.to_string()).unwrap();
    let mut desk = start_logged(folder.path(), &["serve", "--stdio", "--mcp-config", ".mcp.json"]);
    let listed = desk.request("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"].as_array().unwrap().len(), 1, "{listed}");
    for name in ["desk", "elsewhere"] {
        let state = state(&mut desk, name);
        assert_eq!(state["state"], "failed", "{state}");
        assert!(state["words"].as_str().unwrap().contains("refdesk itself"), "{state}");
    }
    assert_eq!(state(&mut desk, "docs")["state"], "ready");
    assert!(desk.close().0);
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(
        log.contains("mount desk is left out: .mcp.json: server \"desk\", key \"command\""),
        "{log}"
    );
}

#[test]
fn a_settings_file_that_names_refdesk_in_its_own_folder_leaves_the_mount_out() {
    let folder = project();
    let program = env!("CARGO_BIN_EXE_refdesk");
    let settings = format!(
        "[mounts.docs]\nkind = \"fs\"\npath = \"project/docs\"\n\
         [mounts.me]\nkind = \"upstream\"\ncommand = \"{program} serve --stdio\"\n\
         "
    );
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut desk = start_logged(folder.path(), &["serve", "--stdio"]);
    assert_eq!(state(&mut desk, "me")["state"], "failed");
    assert!(desk.close().0);
    let checked = run(folder.path(), &["check"]);
    let told = output_text(&checked);
    assert!(!checked.status.success() && told.contains("mount `me`, key `command`"), "{told}");
}

/// By any name of the address at which it listens, and not by another port.
#[test]
fn a_settings_file_that_names_the_address_of_refdesk_leaves_the_mount_out() {
    let folder = project();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let mount = |(name, url): (&str, String)| {
        format!("[mounts.{name}]\nkind = \"upstream\"\nurl = \"{url}\"\n")
    };
    let mounts = [
        ("here", format!("http://localhost:{port}/mcp")),
        ("by-ip", format!("http://127.0.0.1:{port}/mcp")),
        ("by-name", format!("http://desk.example:{port}/mcp")),
        ("other", format!("http://127.0.0.1:{}/mcp", other.local_addr().unwrap().port())),
    ];
    let own = "hosts = [\"desk.example\"]\n[mounts.docs]\nkind = \"fs\"\npath = \"project/docs\"\n";
    let settings = format!("[server]\nlisten = \"127.0.0.1:{port}\"\n{own}");
    let settings = settings + &mounts.map(mount).concat();
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut command = refdesk(folder.path(), &["serve"]);
    let log = folder.path().join("log");
    command.stderr(fs::File::create(&log).unwrap());
    let desk = HttpProgram::spawn(&mut command);
    assert_eq!(desk.port, port);
    drop(desk);
    let log = fs::read_to_string(log).unwrap();
    for name in ["here", "by-ip", "by-name"] {
        let line = format!("mount {name} is left out: refdesk.toml:");
        assert!(log.contains(&line), "{name}: {log}");
    }
    assert!(log.contains("this is refdesk itself, at the address where it listens"), "{log}");
    assert!(!log.contains("mount other is left out"), "{log}");
}

/// `sh` hides what it starts, so only the depth can end this circle.
#[test]
fn a_circle_through_other_programs_ends_at_a_depth() {
    let folder = project();
    let program = env!("CARGO_BIN_EXE_refdesk");
    let script = format!("echo $REFDESK_DEPTH >> depths; exec {program} serve --stdio");
    let settings =
        format!("[mounts.again]\nkind = \"upstream\"\ncommand = [\"sh\", \"-c\", \"{script}\"]\n");
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio"]));
    let depths = || fs::read_to_string(folder.path().join("depths")).unwrap_or_default();
    while !depths().lines().any(|depth| depth == "4") {
        desk.request("resources/list", json!({}));
    }
    assert!(desk.close().0);
    assert!(depths().lines().all(|depth| ["1", "2", "3", "4"].contains(&depth)), "{}", depths());
    let mut command = refdesk(folder.path(), &["serve", "--stdio"]);
    let refused = output_text(&command.env("REFDESK_DEPTH", "4").output().unwrap());
    assert!(refused.starts_with("error: too many refdesks start each other"), "{refused}");
}
