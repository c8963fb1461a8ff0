//! Tests of refdesk as a gateway: several servers, themselves refdesk, behind one address.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{HttpProgram, StdioProgram, project, refdesk};

/// The settings of a mount that starts refdesk to serve `path`.
fn child(name: &str, path: &Path) -> String {
    let program = env!("CARGO_BIN_EXE_refdesk");
    let path = path.display();
    format!(
        "[mounts.{name}]\nkind = \"upstream\"\ncommand = [\"{program}\", \"serve\", \"--stdio\", \"{path}\"]\n"
    )
}

/// Starts refdesk with these settings.
fn desk(folder: &TempDir, settings: &str) -> StdioProgram {
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio"]))
}

fn uris(answer: &Value) -> Vec<String> {
    let resources = answer["result"]["resources"].as_array().unwrap_or_else(|| panic!("{answer}"));
    resources.iter().map(|resource| resource["uri"].as_str().unwrap().to_owned()).collect()
}

/// The URIs of all pages of the plain list.
fn walk(desk: &mut StdioProgram) -> Vec<String> {
    let mut all = Vec::new();
    let mut params = json!({});
    loop {
        let page = desk.request("resources/list", params);
        all.extend(uris(&page));
        match page["result"].get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return all,
        }
    }
}

#[test]
fn servers_over_a_pipe_and_over_http_are_one_server() {
    let folder = project();
    let elsewhere = project();
    let far = HttpProgram::start(elsewhere.path(), &["project"]);
    let url = far.url();
    let settings = child("near", &folder.path().join("project"))
        + &format!("[mounts.far]\nkind = \"upstream\"\nurl = \"{url}\"\n")
        + "[mounts.own]\nkind = \"fs\"\npath = \"project/docs\"\n";
    let mut desk = desk(&folder, &settings);
    let all = walk(&mut desk);
    assert_eq!(all.len(), 6 + 6 + 1);
    for uri in ["far+file:///project/README.md", "near+file:///project/README.md"] {
        assert!(all.contains(&uri.to_owned()), "{all:?}");
        let read = desk.request("resources/read", json!({ "uri": uri }));
        let first = &read["result"]["contents"][0];
        assert_eq!((&first["uri"], &first["text"]), (&json!(uri), &json!("# Project\n")));
        let told = desk.request("resources/metadata", json!({ "uri": uri }));
        assert_eq!(told["result"]["resource"]["uri"], uri);
        assert_eq!(told["result"]["resource"]["mimeType"], "text/markdown");
    }
    let logo = desk.request("resources/read", json!({ "uri": "far+file:///project/logo.png" }));
    assert_eq!(logo["result"]["contents"][0]["blob"], "iVBORw0KGgoAAQL/");
    let templates = desk.request("resources/templates/list", json!({}));
    let patterns: BTreeSet<&str> = templates["result"]["resourceTemplates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|template| template["uriTemplate"].as_str().unwrap())
        .collect();
    assert!(patterns.contains("near+file:///project/{+path}"), "{patterns:?}");
    let question = json!({
        "ref": { "type": "ref/resource", "uri": "far+file:///project/{+path}" },
        "argument": { "name": "path", "value": "src/m" },
    });
    let completion = desk.request("completion/complete", question);
    assert_eq!(completion["result"]["completion"]["values"][0], "src/main.rs");
    let missing = desk.request("resources/read", json!({ "uri": "near+file:///project/none" }));
    assert_eq!(missing["error"]["code"], -32602);
    assert_eq!(missing["error"]["data"]["uri"], "near+file:///project/none");
    let src = desk.request("resources/list", json!({ "uri": "far+file:///project/src" }));
    assert_eq!(uris(&src), ["far+file:///project/src/lib.ts", "far+file:///project/src/main.rs"]);
}

#[test]
fn a_change_behind_a_server_is_heard_in_front_of_it() {
    let folder = project();
    let mut desk = desk(&folder, &child("near", &folder.path().join("project")));
    let uri = "near+file:///project/src/main.rs";
    assert!(desk.request("resources/read", json!({ "uri": uri }))["result"].is_object());
    let wishes = json!({ "resourceSubscriptions": [uri], "resourcesListChanged": true });
    let ack = desk.request("subscriptions/listen", json!({ "notifications": wishes }));
    assert_eq!(ack["params"]["notifications"], wishes);
    fs::write(folder.path().join("project/src/main.rs"), "// new").unwrap();
    assert_eq!(desk.receive()["params"]["uri"], uri);
    fs::write(folder.path().join("project/src/more.rs"), "").unwrap();
    assert_eq!(desk.receive()["method"], "notifications/resources/list_changed");
}

#[test]
fn a_server_that_is_not_there_is_named_and_the_rest_is_served() {
    let folder = project();
    let settings = "[mounts.gone]\nkind = \"upstream\"\ncommand = \"/no/such/program\"\n\
        [mounts.own]\nkind = \"fs\"\npath = \"project\"\n";
    let mut desk = desk(&folder, settings);
    let list = desk.request("resources/list", json!({}));
    assert_eq!(uris(&list).len(), 6);
    let absent = &list["result"]["_meta"]["dev.refdesk/absent"];
    assert_eq!(absent[0]["what"], "gone", "{list}");
    let told = desk.request("resources/read", json!({ "uri": "refdesk://mounts/gone" }));
    let state: Value =
        serde_json::from_str(told["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&state["kind"], &state["state"]), (&json!("upstream"), &json!("failed")));
    assert_eq!(state["last_error"]["words"], "the server cannot be reached");
    assert!(state["last_error"]["at"].as_str() >= state["since"].as_str(), "{state}");
    assert!(state["since"].as_str().unwrap().ends_with('Z'), "{state}");
    assert_eq!((&state["era"], &state["counts"]), (&Value::Null, &Value::Null));
    assert!(!state.to_string().contains("/no/such/program"), "{state}");
    let read = desk.request("resources/read", json!({ "uri": "gone+file:///a" }));
    assert_eq!(read["error"]["code"], -32603);
    let settings = "[mounts.gone]\nkind = \"upstream\"\ncommand = \"/no/such/program\"\nrequired = true\n\
        [mounts.own]\nkind = \"fs\"\npath = \"project\"\n";
    let mut strict = self::desk(&folder, settings);
    assert_eq!(strict.request("resources/list", json!({}))["error"]["code"], -32603);
}

/// Three servers of 3,333 resources: a walk sees each once, and two walks in the same order.
#[test]
fn a_long_walk_through_many_servers_sees_everything_once() {
    const FILES: usize = 3_333;
    let folder = TempDir::with_prefix("walk").unwrap();
    let mut settings = String::new();
    for name in ["one", "two", "three"] {
        let path = folder.path().join(name);
        fs::create_dir(&path).unwrap();
        for at in 0..FILES {
            fs::File::create(path.join(format!("{at:04}"))).unwrap();
        }
        settings += &child(name, &path);
    }
    let mut desk = desk(&folder, &settings);
    let first = walk(&mut desk);
    assert_eq!(first.len(), 3 * FILES);
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 3 * FILES);
    assert!(first == walk(&mut desk), "the same order twice");
}

#[test]
fn the_file_that_a_host_has_is_taken_as_it_is() {
    let folder = project();
    let program = env!("CARGO_BIN_EXE_refdesk");
    let config = json!({ "mcpServers": {
        "My Files": { "command": program, "args": ["serve", "--stdio", "${FOLDER}"], "env": {} },
        "off": { "command": "none", "disabled": true },
    } });
    fs::write(folder.path().join(".mcp.json"), config.to_string()).unwrap();
    let mut command =
        refdesk(folder.path(), &["serve", "--stdio", "--mcp-config", ".mcp.json", "project/docs"]);
    command.env("FOLDER", folder.path().join("project"));
    let mut desk = StdioProgram::start(command);
    let all = walk(&mut desk);
    assert_eq!(all.len(), 7, "{all:?}");
    assert!(all.contains(&"my-files+file:///project/README.md".to_owned()));
    let mount = format!("far={}", HttpProgram::start(folder.path(), &["project"]).url());
    let mut desk = StdioProgram::start(refdesk(
        folder.path(),
        &["serve", "--stdio", "--mount", &mount, "project"],
    ));
    let absent = desk.request("resources/list", json!({}));
    assert_eq!(uris(&absent).len(), 6, "that server has stopped");
    let bad = refdesk(folder.path(), &["serve", "--stdio", "--mcp-config", ".mcp.json"]).output();
    let said = String::from_utf8(bad.unwrap().stderr).unwrap();
    assert!(said.contains("the environment variable `FOLDER` is not set"), "{said}");
}

/// refdesk does not advertise a capability that no upstream server has.
#[test]
fn a_server_without_prompts_offers_none_and_its_tools_stand_alone_if_ours_are_off() {
    let folder = project();
    let near = "[search]\nenabled = false\n[mounts.project]\nkind = \"fs\"\npath = \"project\"\n";
    fs::write(folder.path().join("near.toml"), near).unwrap();
    let program = env!("CARGO_BIN_EXE_refdesk");
    let settings = format!(
        "[server]\ntools = false\n[mounts.near]\nkind = \"upstream\"\n\
         command = [\"{program}\", \"serve\", \"--stdio\", \"--settings\", \"near.toml\"]\n"
    );
    let mut desk = desk(&folder, &settings);
    // Until the server has connected, it may have prompts.
    let state = json!({ "uri": "refdesk://mounts/near" });
    while desk.request("resources/read", state.clone()).to_string().contains("starting") {}
    let found = desk.request("server/discover", json!({}));
    let told = &found["result"]["capabilities"];
    assert!(told.get("prompts").is_none(), "{told}");
    assert_eq!(told["resources"], json!({ "subscribe": true, "listChanged": true }));
    assert_eq!(desk.request("prompts/list", json!({}))["error"]["code"], -32601);
    let listed = desk.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(!tools.is_empty());
    for tool in tools {
        assert!(tool["name"].as_str().unwrap().starts_with("near_resources_"), "{tool}");
    }
    let read = json!({ "name": "near_resources_read", "arguments": {
        "uri": "near+file:///project/README.md" } });
    let given = desk.request("tools/call", read);
    assert_eq!(given["result"]["structuredContent"]["text"], "# Project\n");
}

/// Starts a proxy to `port` that counts the bytes of the answers. Returns its own port.
fn counting_proxy(port: u16, count: &Arc<AtomicUsize>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    let count = Arc::clone(count);
    thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            let far = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let (asked, told) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            let (unheard, count) = (Arc::new(AtomicUsize::new(0)), Arc::clone(&count));
            thread::spawn(move || pass(asked, far, &unheard));
            thread::spawn(move || pass(told, near, &count));
        }
    });
    own
}

/// Passes all bytes on and counts them.
fn pass(mut from: TcpStream, mut to: TcpStream, count: &AtomicUsize) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        count.fetch_add(read, Ordering::SeqCst);
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

#[test]
fn a_window_of_a_large_file_is_cut_where_the_file_is() {
    const SIZE: u64 = 64 << 20;
    let (folder, elsewhere) = (project(), project());
    let path = elsewhere.path().join("project/large.bin");
    fs::File::create(&path).unwrap().set_len(SIZE).unwrap();
    let far = HttpProgram::start(elsewhere.path(), &["project"]);
    let count = Arc::new(AtomicUsize::new(0));
    let port = counting_proxy(far.port, &count);
    let url = format!("http://127.0.0.1:{port}/mcp");
    let mut desk = desk(&folder, &format!("[mounts.far]\nkind = \"upstream\"\nurl = \"{url}\"\n"));
    let window = json!({ "offset": SIZE - 5_000, "length": 4_096 });
    let read = |desk: &mut StdioProgram, window: &Value| {
        let meta = json!({ "dev.refdesk/window": window });
        let params = json!({ "uri": "far+file:///project/large.bin", "_meta": meta });
        desk.request("resources/read", params)
    };
    let first = read(&mut desk, &window);
    let first = first["result"]["contents"].get(0).unwrap_or_else(|| panic!("{first}"));
    let bounds = &first["_meta"]["dev.refdesk/window"];
    assert_eq!((&bounds["length"], &bounds["total"]), (&json!(4_096), &json!(SIZE)), "{bounds}");
    assert_eq!(bounds["next"], json!(SIZE - 5_000 + 4_096));
    let read_bytes = count.load(Ordering::SeqCst);
    assert!(read_bytes < 1_000_000, "{read_bytes} bytes for a window of 4 KiB");
    // Another version is told apart here as well.
    let pinned = json!({ "offset": 0, "length": 10, "etag": "other" });
    let changed = read(&mut desk, &pinned);
    assert!(changed["error"]["data"]["etag"].is_string(), "{changed}");
    assert_eq!(changed["error"]["data"]["uri"], "far+file:///project/large.bin");
}
