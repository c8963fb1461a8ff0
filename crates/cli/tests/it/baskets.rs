//! Tests of baskets: collections that a person puts together, over the wire and on disk.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::access::new_token;
use crate::fake_server::{Era, TransportKind};
use crate::program::{HttpProgram, StdioProgram, meta, project, refdesk};
use crate::test_client::TestClient;

const SAVE: &str = "dev.refdesk/baskets/save";
const REMOVE: &str = "dev.refdesk/baskets/remove";
const REVIEW: &str = "basket://review";
const README: &str = "file:///project/README.md";
const MAIN: &str = "file:///project/src/main.rs";

const SETTINGS: &str = "[mounts.project]\nkind = \"fs\"\npath = \"project\"\n";

fn uris(list: &Value) -> Vec<&str> {
    let resources = list["result"]["resources"].as_array().unwrap_or_else(|| panic!("{list}"));
    resources.iter().map(|resource| resource["uri"].as_str().unwrap()).collect()
}

fn review() -> Value {
    json!({ "name": "review", "title": "確認 list", "uris": [MAIN, README, MAIN] })
}

#[test]
fn a_basket_is_saved_listed_read_watched_and_removed_in_each_era() {
    for era in [Era::Legacy, Era::Modern] {
        for transport in [TransportKind::Pipe, TransportKind::Http] {
            let folder = project();
            let mut front = TestClient::start(era, transport, folder.path(), SETTINGS);
            let saved = front.request(SAVE, json!({ "name": "review", "uris": [MAIN] }));
            assert_eq!(saved["result"]["uri"], REVIEW, "{saved}");
            front.subscribe(&[REVIEW]);
            front.request(SAVE, review());
            let mut told = [front.next_notification(), front.next_notification()];
            told.sort_by_key(|notice| notice["method"].to_string());
            assert_eq!(told[0]["method"], "notifications/resources/list_changed");
            assert_eq!(told[1]["params"]["uri"], REVIEW, "{told:?}");
            let all = front.request("resources/list", json!({}));
            let listed = all["result"]["resources"].as_array().unwrap().last().unwrap();
            assert_eq!(listed["uri"], REVIEW, "{all}");
            assert_eq!(listed["title"], "確認 list");
            assert_eq!(listed["description"], "2 resources that a person put together");
            let inside = front.request("resources/list", json!({ "uri": REVIEW }));
            assert_eq!(uris(&inside), [MAIN, README]);
            assert_eq!(inside["result"]["resources"][1]["mimeType"], "text/markdown");
            let stat = front.request("resources/metadata", json!({ "uri": REVIEW }));
            assert_eq!(stat["result"]["resource"]["isCollection"], true, "{stat}");
            let read = front.request("resources/read", json!({ "uri": REVIEW }));
            let parts = read["result"]["contents"].as_array().unwrap();
            let named: Vec<_> = parts.iter().map(|part| part["uri"].as_str().unwrap()).collect();
            assert_eq!(named, [REVIEW, MAIN, README], "{read}");
            assert!(parts[0]["text"].as_str().unwrap().starts_with("# 確認 list\n"), "{read}");
            assert_eq!(parts[2]["text"], "# Project\n");
            let removed = front.request(REMOVE, json!({ "name": "review" }));
            assert_eq!(removed["error"], Value::Null, "{removed}");
            let updated = front.wait_notification("notifications/resources/updated");
            assert_eq!(updated["params"]["uri"], REVIEW);
            let gone = front.request("resources/read", json!({ "uri": REVIEW }));
            assert_eq!(gone["error"]["data"]["uri"], REVIEW, "{gone}");
            let again = front.request(REMOVE, json!({ "name": "review" }));
            assert_eq!(again["error"]["message"], "Resource not found", "{again}");
        }
    }
}

#[test]
fn the_extension_is_announced_and_costs_no_model_a_token() {
    let folder = project();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio", "project"]));
    let before = desk.request("server/discover", json!({}));
    desk.request(SAVE, review());
    let about = desk.request("server/discover", json!({}));
    for place in ["extensions", "experimental"] {
        let capability = &about["result"]["capabilities"][place]["dev.refdesk/baskets"];
        assert_eq!(*capability, json!({}), "{about}");
    }
    assert_eq!(before["result"]["instructions"], about["result"]["instructions"]);
    for method in ["tools/list", "resources/templates/list"] {
        let text = desk.request(method, json!({})).to_string();
        assert!(!text.contains("basket"), "{text}");
    }
    // The tools take a basket like any collection; a walk through all mounts does not enter it.
    let call = |desk: &mut StdioProgram, name: &str, arguments: Value| {
        let call = json!({ "name": name, "arguments": arguments });
        desk.request("tools/call", call)["result"].clone()
    };
    let mounts = call(&mut desk, "resources_list", json!({})).to_string();
    assert!(!mounts.contains("basket"), "{mounts}");
    let inside = call(&mut desk, "resources_list", json!({ "collection": REVIEW })).to_string();
    assert!(inside.contains(MAIN) && inside.contains(README), "{inside}");
    let read = call(&mut desk, "resources_read", json!({ "uri": REVIEW })).to_string();
    assert!(read.contains(README), "{read}");
    let walk = call(&mut desk, "resources_list", json!({ "recursive": true })).to_string();
    assert_eq!(walk.matches(&format!("\"{README}\"")).count(), {
        desk.request(REMOVE, json!({ "name": "review" }));
        let alone = call(&mut desk, "resources_list", json!({ "recursive": true })).to_string();
        alone.matches(&format!("\"{README}\"")).count()
    });
    assert!(desk.close().0);
}

#[test]
fn a_bad_basket_is_refused_with_what_to_do() {
    let folder = project();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio", "project"]));
    for (params, words) in [
        (json!({ "name": "../x", "uris": [] }), "name: write 1 to 64"),
        (json!({ "name": "a", "uris": [README, "file:///project/.env"] }), "file:///project/.env"),
        (json!({ "name": "a", "uris": [README, "file:///none"] }), "file:///none cannot be read"),
        (json!({ "name": "a", "uris": ["no uri"] }), "uris[0]"),
        (json!({ "name": "a", "uris": vec![README; 3000] }), ""),
        (json!({ "name": "a", "uris": [REVIEW] }), "is a basket"),
        (json!({ "name": "a", "title": "\u{1b}[2J", "uris": [] }), "title:"),
        (json!({ "uris": [] }), "name"),
    ] {
        let answer = desk.request(SAVE, params.clone());
        if words.is_empty() {
            assert_eq!(answer["result"]["uri"], "basket://a", "the same again is no more");
            continue;
        }
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{answer}");
    }
    assert!(desk.close().0);
}

/// The files of all baskets below `folder`.
fn basket_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { basket_files(&path) } else { vec![path] }).collect()
}

#[test]
fn baskets_outlive_the_program_and_a_broken_file_is_kept_aside() {
    let folder = project();
    fs::write(folder.path().join("refdesk.toml"), SETTINGS).unwrap();
    fs::write(folder.path().join("other.toml"), SETTINGS).unwrap();
    let start = |arguments: &[&str]| {
        let all: Vec<_> = ["serve", "--stdio"].iter().chain(arguments).copied().collect();
        let mut command = refdesk(folder.path(), &all);
        command.stderr(fs::File::create(folder.path().join("log")).unwrap());
        StdioProgram::start(command)
    };
    let mut desk = start(&[]);
    desk.request(SAVE, review());
    desk.request(SAVE, json!({ "name": "other", "uris": [README] }));
    assert!(desk.close().0);
    let mut desk = start(&[]);
    let inside = desk.request("resources/list", json!({ "uri": REVIEW }));
    assert_eq!(uris(&inside), [MAIN, README]);
    // A second process with the same settings sees what the first saves; one with others does not.
    let mut second = start(&[]);
    let mut stranger = start(&["--settings", "other.toml"]);
    desk.request(SAVE, json!({ "name": "third", "uris": [MAIN] }));
    while second.request("resources/metadata", json!({ "uri": "basket://third" }))["error"]
        != Value::Null
    {}
    assert!(!stranger.request("resources/list", json!({})).to_string().contains("basket://"));
    assert!(desk.close().0 && second.close().0 && stranger.close().0);
    let files = basket_files(&folder.path().join(".state/refdesk/baskets"));
    let file = files.iter().find(|file| file.ends_with("review.json")).unwrap();
    fs::write(file, "{\"name\":").unwrap();
    let mut desk = start(&[]);
    let listed = desk.request("resources/list", json!({})).to_string();
    assert!(!listed.contains(REVIEW) && listed.contains("basket://other"), "{listed}");
    assert!(desk.request(SAVE, review())["result"].is_object());
    assert!(desk.close().0);
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.contains("review.json is broken"), "{log}");
    let aside = file.with_file_name("review.json.broken");
    assert_eq!(fs::read_to_string(aside).unwrap(), "{\"name\":");
}

#[test]
fn a_state_folder_that_cannot_be_written_is_an_error_for_the_caller() {
    let folder = project();
    fs::create_dir_all(folder.path().join(".state/refdesk")).unwrap();
    fs::write(folder.path().join(".state/refdesk/baskets"), "no folder").unwrap();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio", "project"]));
    let answer = desk.request(SAVE, review());
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    let words = answer["error"]["message"].as_str().unwrap();
    assert!(words.contains("the basket is not saved") && !words.contains(".state"), "{answer}");
    assert!(uris(&desk.request("resources/list", json!({}))).contains(&README));
    assert!(desk.close().0);
}

/// Access rules hold for what is in a basket, also if they change later.
#[test]
fn what_a_principal_may_not_see_any_more_is_left_out() {
    let folder = project();
    let mut front = TestClient::piped(folder.path(), SETTINGS);
    front.request(SAVE, review());
    let denied = format!("{SETTINGS}access = [{{ deny = [\"README.md\"] }}]\n");
    fs::write(folder.path().join("refdesk.toml"), denied).unwrap();
    while front.request("resources/read", json!({ "uri": README }))["error"] == Value::Null {}
    let inside = front.request("resources/list", json!({ "uri": REVIEW }));
    assert_eq!(uris(&inside), [MAIN]);
    let read = front.request("resources/read", json!({ "uri": REVIEW })).to_string();
    assert!(!read.contains("README") && !read.contains("# Project"), "{read}");
    let again = front.request(SAVE, review());
    assert_eq!(again["error"]["code"], -32602, "{again}");
}

#[test]
fn a_basket_of_one_token_does_not_exist_for_another() {
    let folder = project();
    let (ada, ada_table) = new_token(folder.path(), &["ada"]);
    let (alan, alan_table) = new_token(folder.path(), &["alan"]);
    let settings = format!("{SETTINGS}{ada_table}{alan_table}");
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let desk = HttpProgram::start(folder.path(), &[]);
    let send = |token: &str, method: &str, mut params: Value| {
        params["_meta"] = meta(&Value::Null);
        post_with_token(&desk, token, method, &params)
    };
    assert!(send(&ada, SAVE, review()).contains(REVIEW));
    assert!(send(&ada, "resources/list", json!({})).contains(REVIEW));
    assert!(!send(&alan, "resources/list", json!({})).contains(REVIEW));
    let foreign = send(&alan, "resources/metadata", json!({ "uri": REVIEW }));
    assert!(foreign.contains("Resource not found"), "{foreign}");
    let foreign = send(&alan, REMOVE, json!({ "name": "review" }));
    assert!(foreign.contains("Resource not found"), "{foreign}");
    assert!(send(&ada, "resources/list", json!({ "uri": REVIEW })).contains(MAIN));
}

fn post_with_token(desk: &HttpProgram, token: &str, method: &str, params: &Value) -> String {
    use std::io::{Read as _, Write as _};
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", desk.port)).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
         Accept: application/json, text/event-stream\r\nAuthorization: Bearer {token}\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
