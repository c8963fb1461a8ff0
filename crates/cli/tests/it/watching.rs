//! Tests of the watch tools: a host without subscriptions polls for changes on disk.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::fake_server::{Era, TransportKind};
use crate::program::{StdioProgram, project, refdesk};
use crate::test_client::TestClient;

const MAIN: &str = "file:///project/src/main.rs";
const OWN: &str = "refdesk://subscriptions";

fn call_tool(desk: &mut StdioProgram, tool: &str, arguments: &Value) -> Value {
    let answer = desk.request("tools/call", json!({ "name": tool, "arguments": arguments }));
    assert!(answer["result"]["isError"].is_null(), "{answer}");
    answer["result"]["structuredContent"].clone()
}

fn subscriptions(desk: &mut StdioProgram) -> Value {
    let answer = desk.request("resources/read", json!({ "uri": OWN }));
    serde_json::from_str(answer["result"]["contents"][0]["text"].as_str().unwrap()).unwrap()
}

#[test]
fn what_is_written_is_told_by_a_tool() {
    let folder = project();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio", "project"]));
    let watched =
        call_tool(&mut desk, "resources_watch", &json!({ "uris": [MAIN, "file:///none"] }));
    assert_eq!(
        (&watched["watching"], &watched["failed"][0]["uri"]),
        (&json!([MAIN]), &json!("file:///none"))
    );
    let handle = watched["handle"].as_str().unwrap();
    for version in 0..3 {
        fs::write(folder.path().join("project/src/main.rs"), format!("// {version}")).unwrap();
        let wait = json!({ "handle": handle, "wait_ms": 60_000 });
        assert_eq!(call_tool(&mut desk, "resources_changes", &wait)["changed"], json!([MAIN]));
    }
    let shown = subscriptions(&mut desk);
    assert_eq!(shown["watchers"][0]["handle"], handle[..8]);
    assert_eq!(shown["watchers"][0]["watching"], json!([{ "uri": MAIN, "active": true }]));
    assert_eq!(shown["subscriptions"][0]["uri"], MAIN);
    assert!(shown["subscriptions"][0]["last_change"].is_string(), "{shown}");
    call_tool(&mut desk, "resources_unwatch", &json!({ "handle": handle }));
    assert_eq!(subscriptions(&mut desk), json!({ "watchers": [], "subscriptions": [] }));
    assert!(desk.close().0);
}

#[test]
fn a_folder_with_the_portable_file_api_is_confined_and_its_changes_are_told() {
    let folder = project();
    let settings = "[mounts.project]\nkind = \"fs\"\npath = \"project\"\npoll = \"20ms\"\n\
        file_api = \"portable\"\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    symlink("../refdesk.toml", folder.path().join("project/out.toml")).unwrap();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio"]));
    let read = |desk: &mut StdioProgram, uri: &str| {
        desk.request("resources/read", json!({ "uri": uri }))["result"]["contents"][0]["text"]
            .clone()
    };
    assert_eq!(read(&mut desk, MAIN), "fn main() {}\n");
    assert_eq!(read(&mut desk, "file:///project/out.toml"), Value::Null);
    let state = read(&mut desk, "refdesk://mounts/project");
    assert!(state.as_str().unwrap().contains("changes are found by polling every 20ms"), "{state}");
    let watched = call_tool(&mut desk, "resources_watch", &json!({ "uris": [MAIN] }));
    for version in 0..3 {
        let text = format!("// {version}");
        fs::write(folder.path().join("project/src/main.rs"), &text).unwrap();
        let wait = json!({ "handle": watched["handle"], "wait_ms": 60_000 });
        assert_eq!(call_tool(&mut desk, "resources_changes", &wait)["changed"], json!([MAIN]));
        assert_eq!(read(&mut desk, MAIN), text);
    }
    assert!(desk.close().0);
}

#[test]
fn one_subscription_tells_of_all() {
    let folder = project();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio", "project"]));
    let say = |desk: &mut StdioProgram, id: i64, method: &str, params: Value| {
        desk.send_message(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }),
        );
    };
    let info = json!({ "name": "test", "version": "1" });
    let opening =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info });
    say(&mut desk, 1, "initialize", opening);
    assert_eq!(desk.receive()["id"], 1);
    say(&mut desk, 2, "resources/subscribe", json!({ "uri": OWN }));
    assert_eq!(desk.receive()["result"], json!({}));
    let watch = json!({ "name": "resources_watch", "arguments": { "uris": [MAIN] } });
    say(&mut desk, 3, "tools/call", watch);
    // The response and the notification arrive in either order.
    let mut heard = [desk.receive(), desk.receive()];
    heard.sort_by_key(|message| message["id"].is_null());
    assert_eq!(heard[0]["result"]["structuredContent"]["watching"], json!([MAIN]));
    assert_eq!(heard[1]["params"], json!({ "uri": OWN }));
    assert!(desk.close().0);
}

/// A text of the settings changes with the settings.
#[test]
fn a_subscriber_to_a_declared_text_hears_of_an_edit_of_the_settings() {
    let settings = |text: &str| {
        format!(
            "[mounts.notes]\nkind = \"static\"\n[[mounts.notes.resources]]\n\
             uri = \"note://a\"\nname = \"a\"\ntext = \"{text}\"\n"
        )
    };
    for era in [Era::Legacy, Era::Modern] {
        let folder = project();
        let mut front =
            TestClient::start(era, TransportKind::Pipe, folder.path(), &settings("one"));
        assert_eq!(front.text_of("note://a"), "one");
        front.subscribe(&["note://a"]);
        fs::write(folder.path().join("refdesk.toml"), settings("two")).unwrap();
        let told = front.wait_notification("notifications/resources/updated");
        assert_eq!(told["params"]["uri"], "note://a");
        assert_eq!(front.text_of("note://a"), "two");
    }
}
