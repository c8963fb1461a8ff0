//! Tests of servers that start slowly: they delay no client, and their lists follow.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::program::{StdioProgram, project, refdesk};

fn request(id: &str, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Opens a session of a revision in which a server sends notifications by itself.
fn open_session(desk: &mut StdioProgram) -> Value {
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    desk.send_message(&request("open", "initialize", &params));
    let opened = desk.receive();
    desk.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    opened
}

/// A server that begins to answer when the file `go` exists.
#[test]
fn a_server_that_starts_slowly_is_absent_and_then_its_lists_change() {
    let folder = project();
    let program = env!("CARGO_BIN_EXE_refdesk");
    let script =
        format!("while [ ! -e go ]; do sleep 0.05; done; exec {program} serve --stdio project");
    let settings = format!(
        "[server]\nstart_wait = \"50 ms\"\n[mounts.own]\nkind = \"fs\"\npath = \"project/docs\"\n\
         [mounts.slow]\nkind = \"upstream\"\ncommand = [\"sh\", \"-c\", \"{script}\"]\n"
    );
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut command = refdesk(folder.path(), &["serve", "--stdio"]);
    command.env_remove("REFDESK_START_WAIT");
    let mut desk = StdioProgram::start(command);
    let opened = open_session(&mut desk);
    let capabilities = &opened["result"]["capabilities"];
    for kind in ["resources", "tools", "prompts"] {
        assert_eq!(capabilities[kind]["listChanged"], true, "{opened}");
    }
    desk.send_message(&request("list", "resources/list", &json!({})));
    let listed = desk.receive();
    assert_eq!(listed["result"]["resources"].as_array().unwrap().len(), 1, "{listed}");
    let absent = &listed["result"]["_meta"]["dev.refdesk/absent"];
    assert!(absent.to_string().contains("slow"), "{listed}");
    desk.send_message(&request("tools", "tools/list", &json!({})));
    let tools = desk.receive();
    assert!(!tools.to_string().contains("slow_resources_read"), "{tools}");
    fs::write(folder.path().join("go"), "").unwrap();
    let mut changed = BTreeSet::new();
    while changed.len() < 3 {
        let notice = desk.receive();
        let method = notice["method"].as_str().unwrap_or_else(|| panic!("{notice}"));
        changed.insert(method.to_owned());
    }
    let kinds = ["resources", "tools", "prompts"];
    assert_eq!(changed, kinds.map(|kind| format!("notifications/{kind}/list_changed")).into());
    desk.send_message(&request("again", "resources/list", &json!({})));
    let listed = loop {
        let message = desk.receive();
        if message["id"] == "again" {
            break message;
        }
    };
    assert_eq!(listed["result"]["resources"].as_array().unwrap().len(), 7, "{listed}");
}

/// `initialize` waits for no server: here a list would wait much longer than the test may take.
#[test]
fn a_session_opens_at_once_whatever_the_servers_behind_do() {
    let folder = project();
    let settings = "[server]\nstart_wait = \"1 h\"\n\
         [mounts.slow]\nkind = \"upstream\"\ncommand = [\"sleep\", \"1000\"]\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut command = refdesk(folder.path(), &["serve", "--stdio"]);
    command.env_remove("REFDESK_START_WAIT");
    let mut desk = StdioProgram::start(command);
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    // A list that came first does not delay it either.
    desk.send_request("tools/list", json!({}));
    desk.send_message(&request("open", "initialize", &params));
    let opened = desk.receive();
    assert_eq!(opened["id"], "open", "{opened}");
    let instructions = opened["result"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("- slow: server, starting"), "{instructions}");
}
