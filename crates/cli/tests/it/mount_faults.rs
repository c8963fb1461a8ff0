//! Tests of mounts that cannot work: each costs itself only, and the log says plainly why.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use crate::program::{StdioProgram, project, refdesk};

/// Starts refdesk with its log, from `level` on, in the file `log`.
fn start_logged(folder: &Path, level: &str, arguments: &[&str]) -> StdioProgram {
    let arguments = [&["serve", "--stdio"], arguments].concat();
    let mut command = refdesk(folder, &arguments);
    command.env("REFDESK_LOG", level).env("NO_COLOR", "1");
    command.stderr(fs::File::create(folder.join("log")).unwrap());
    StdioProgram::start(command)
}

/// Waits until the mount has failed, and returns its state.
fn failed_state(desk: &mut StdioProgram, mount: &str) -> Value {
    loop {
        let uri = json!({ "uri": format!("refdesk://mounts/{mount}") });
        let read = desk.request("resources/read", uri);
        let text = read["result"]["contents"][0]["text"].as_str();
        let state: Value = serde_json::from_str(text.unwrap_or_else(|| panic!("{read}"))).unwrap();
        if state["state"] == "failed" {
            return state;
        }
    }
}

/// Ends the program and returns its log.
fn close_and_read_log(desk: StdioProgram, folder: &Path) -> String {
    assert!(desk.close().0);
    fs::read_to_string(folder.join("log")).unwrap()
}

#[test]
fn a_command_as_one_text_is_split_and_its_arguments_are_not_logged() {
    let folder = project();
    let settings = "[mounts.m]\nkind = \"upstream\"\ncommand = \"nosuch --token hunter2\"\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut desk = start_logged(folder.path(), "trace", &[]);
    failed_state(&mut desk, "m");
    desk.request("resources/list", json!({}));
    let log = close_and_read_log(desk, folder.path());
    assert!(!log.contains("hunter2"), "{log}");
    let told = "mount m: the server cannot be reached: cannot start nosuch: No such file";
    assert!(log.contains(told), "{log}");
    for dump in ["Error {", "Unreachable(", "cause="] {
        assert!(!log.contains(dump), "{dump} in {log}");
    }
}

#[test]
fn a_wrong_entry_and_an_unset_variable_cost_that_server_only() {
    let folder = project();
    let program = env!("CARGO_BIN_EXE_refdesk");
    let config = format!(
        "// JSON with comments\n{{ \"mcpServers\": {{\n\
         \"good\": {{ \"command\": \"{program} serve --stdio\", \"args\": [\"${{workspaceFolder}}/project\",], }},\n\
         \"off\": {{ \"command\": \"none\", \"enabled\": false }},\n\
         \"typed\": {{ \"command\": \"none\", \"args\": \"--token hunter2\" }},\n\
         \"unset\": {{ \"url\": \"http://127.0.0.1:9/mcp\", \"headers\": {{ \"Authorization\": \"hunter2 ${{NO_SUCH_VAR}}\" }} }},\n\
         \"empty\": {{}},\n\
         }}, }}"
    );
    fs::write(folder.path().join("mcp.json"), config).unwrap();
    let mut desk = start_logged(folder.path(), "warn", &["--mcp-config", "mcp.json"]);
    let listed = desk.request("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"].as_array().unwrap().len(), 6, "{listed}");
    let absent = listed["result"]["_meta"]["dev.refdesk/absent"].to_string();
    assert!(absent.contains("the environment variable `NO_SUCH_VAR` is not set"), "{listed}");
    desk.request("resources/list", json!({}));
    desk.request("resources/list", json!({}));
    let typed = failed_state(&mut desk, "typed");
    assert!(typed["words"].as_str().unwrap().starts_with("left out: "), "{typed}");
    let off = desk.request("resources/read", json!({ "uri": "refdesk://mounts/off" }));
    assert!(off["error"].is_object(), "{off}");
    let log = close_and_read_log(desk, folder.path());
    for line in [
        "mount typed is left out: mcp.json: server \"typed\": \"args\" must be a list of texts",
        "mount unset is left out: mcp.json: server \"unset\", key \"headers.Authorization\": \
         the environment variable `NO_SUCH_VAR` is not set",
        "mount empty is left out: mcp.json: server \"empty\": it needs either \"command\" or \"url\"",
    ] {
        assert!(log.contains(line), "{line}\n{log}");
    }
    assert_eq!(log.matches("mount typed cannot be listed").count(), 1, "{log}");
    assert!(!log.contains("hunter2"), "{log}");
}

#[test]
fn an_unset_variable_of_the_settings_file_costs_that_mount_only() {
    let folder = project();
    let settings = "[mounts.docs]\nkind = \"fs\"\npath = \"project/docs\"\n[mounts.m]\n\
        kind = \"upstream\"\ncommand = [\"x\", \"--token\", \"hunter2\", \"${NO_SUCH_VAR}\"]\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut desk = start_logged(folder.path(), "warn", &[]);
    let listed = desk.request("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"].as_array().unwrap().len(), 1, "{listed}");
    let log = close_and_read_log(desk, folder.path());
    let line = "mount m is left out: refdesk.toml:6:11: mount `m`, key `command`: the environment \
        variable `NO_SUCH_VAR` is not set; set it";
    assert!(log.contains(line) && !log.contains("hunter2"), "{log}");
}

/// Answers every request with 401 until the process ends.
fn start_locked_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut bytes = [0; 4096];
            if stream.read(&mut bytes).is_ok() {
                let _ = stream.write_all(
                    b"HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                );
            }
        }
    });
    port
}

#[test]
fn a_server_that_wants_authorization_is_said_to_want_it() {
    let folder = project();
    let url = format!("http://127.0.0.1:{}/mcp", start_locked_server());
    let mount = format!("team={url}");
    let mut desk = start_logged(folder.path(), "warn", &["--mount", &mount]);
    let state = failed_state(&mut desk, "team");
    assert_eq!(state["words"], "the server wants authorization", "{state}");
    let listed = desk.request("resources/list", json!({})).to_string();
    assert!(listed.contains("wants authorization"), "{listed}");
    let log = close_and_read_log(desk, folder.path());
    let line =
        "mount team: the server wants authorization: set a valid `Authorization` in `headers`";
    assert!(log.contains(line), "{log}");
}

/// A server that answers until the file `stop` exists, then ends with a reason.
const LEAVING: &str = r#"
say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}
  if [ -e stop ]; then echo first >&2; echo "the disk is full" >&2; exit 3; fi
  case $line in
    *server/discover*) say '"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"resources":{}},"serverInfo":{"name":"leaver","version":"1"}}';;
    *) say '"result":{"resultType":"complete","resources":[],"resourceTemplates":[]}';;
  esac
done
"#;

#[test]
fn each_mount_is_told_by_name_when_it_comes_when_it_fails_and_when_it_is_back() {
    let folder = project();
    fs::write(folder.path().join("server.sh"), LEAVING).unwrap();
    let mut desk = start_logged(folder.path(), "info", &["--mount", "m=sh server.sh"]);
    desk.request("resources/list", json!({}));
    fs::write(folder.path().join("stop"), "").unwrap();
    desk.request("resources/read", json!({ "uri": "m+a:b" }));
    failed_state(&mut desk, "m");
    let absent = |desk: &mut StdioProgram| {
        desk.request("resources/list", json!({}))["result"]["_meta"]["dev.refdesk/absent"].take()
    };
    assert_ne!(absent(&mut desk), Value::Null);
    fs::remove_file(folder.path().join("stop")).unwrap();
    while absent(&mut desk) != Value::Null {}
    let log = close_and_read_log(desk, folder.path());
    assert!(log.contains("mount m: connected to leaver (revision 2026-07-28)"), "{log}");
    assert!(log.contains("mount m: connected again to leaver (revision 2026-07-28)"), "{log}");
    // One cause, and it comes first.
    for line in [
        "WARN mount m cannot be listed: the program exited with status 3, and",
        "WARN the program exited with status 3, and its last words are: the disk is full, so \
         request f0 failed: the server behind this mount cannot be reached\n",
    ] {
        assert!(log.contains(line), "{line}\n{log}");
    }
    let failure = "mount m: the connection ended: the program exited with status 3, and its last \
        words are: the disk is full";
    assert!(log.contains(failure) && !log.contains("first"), "{log}");
}

#[test]
fn a_mount_that_an_edit_adds_changes_or_removes_is_told_by_name() {
    let folder = project();
    let mount = |name: &str, more: &str| {
        format!("[mounts.{name}]\nkind = \"fs\"\npath = \"project\"\n{more}")
    };
    let file = folder.path().join("refdesk.toml");
    fs::write(&file, mount("kept", "") + &mount("old", "") + &mount("edited", "")).unwrap();
    let mut desk = start_logged(folder.path(), "info", &[]);
    // The program is up, so that it sees the edit.
    desk.request("resources/list", json!({}));
    fs::write(&file, mount("kept", "") + &mount("new", "") + &mount("edited", "hidden = true\n"))
        .unwrap();
    let listed = || fs::read_to_string(folder.path().join("log")).unwrap();
    while !listed().contains("mount new: added by the settings") {
        desk.request("resources/list", json!({}));
    }
    let log = close_and_read_log(desk, folder.path());
    for line in ["mount old: removed by the settings", "mount edited: changed by the settings"] {
        assert!(log.contains(line), "{line}\n{log}");
    }
    assert!(!log.contains("mount kept"), "{log}");
}
