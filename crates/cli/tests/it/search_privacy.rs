//! A mount that a principal may not see leaves no trace in what a search tells it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{StdioProgram, refdesk};
use crate::search::wait_for_index;

const OPEN: &str = "[mounts.app]\nkind = \"fs\"\npath = \"app\"\n\
    [mounts.vault]\nkind = \"fs\"\npath = \"vault\"\n";
const DENIED: &str = "access = [{ allow = [\"**\"], principals = [\"alice\"] }]\n";
const ALONE: &str = "[mounts.app]\nkind = \"fs\"\npath = \"app\"\n";

/// What a search tells of the word that stands in the vault alone.
fn traces(desk: &mut StdioProgram) -> Vec<Value> {
    let mut told = Vec::new();
    let searches = [
        json!({ "query": "zyxwcorp" }),
        // A misspelling, a beginning, another word of the vault, a word of both mounts.
        json!({ "query": "zyxwcrop" }),
        json!({ "query": "zyxw*" }),
        json!({ "query": "acquisition", "explain": true }),
        json!({ "query": "quarterly", "limit": 1 }),
        json!({ "query": "mount:vault quarterly" }),
        json!({ "query": "quarterly", "mount": "vault" }),
    ];
    for arguments in searches {
        let params = json!({ "name": "resources_search", "arguments": arguments });
        told.push(desk.request("tools/call", params)["result"].clone());
    }
    let pack = json!({ "question": "quarterly acquisition of zyxwcorp", "budget": 2000 });
    let params = json!({ "name": "resources_pack", "arguments": pack });
    told.push(desk.request("tools/call", params)["result"].clone());
    for typed in ["", "v"] {
        let template = json!({ "type": "ref/resource", "uri": "search://{mount}/{query}" });
        let argument = json!({ "name": "mount", "value": typed });
        let params = json!({ "ref": template, "argument": argument });
        told.push(desk.request("completion/complete", params)["result"].clone());
    }
    for uri in ["search://all/zyxwcorp", "search://vault/quarterly", "refdesk://mounts"] {
        let read = desk.request("resources/read", json!({ "uri": uri }));
        // The state of a mount has times in it.
        let is_state = uri.starts_with("refdesk:");
        let text = read.to_string();
        told.push(if is_state { json!(text.contains("vault")) } else { json!(text) });
    }
    told
}

fn traces_with(folder: &Path, settings: &str, mounts: &[&str]) -> Vec<Value> {
    fs::write(folder.join("refdesk.toml"), settings).unwrap();
    let mut desk = StdioProgram::start(refdesk(folder, &["serve", "--stdio"]));
    for mount in mounts {
        wait_for_index(&mut desk, mount);
    }
    traces(&mut desk)
}

#[test]
fn of_a_mount_that_is_denied_a_search_tells_what_it_tells_of_none() {
    let folder = tempfile::tempdir().unwrap();
    for (mount, text) in [
        ("app", "# Figures\n\nThe quarterly figures for everyone.\n"),
        ("vault", "# Secret\n\nThe quarterly acquisition of Zyxwcorp.\n"),
    ] {
        fs::create_dir(folder.path().join(mount)).unwrap();
        fs::write(folder.path().join(mount).join("page.md"), text).unwrap();
    }
    // The first run leaves both mounts in the index.
    let open = traces_with(folder.path(), OPEN, &["app", "vault"]);
    assert!(json!(open).to_string().contains("vault/page.md"), "{open:?}");
    let denied = traces_with(folder.path(), &format!("{OPEN}{DENIED}"), &["app"]);
    let alone = traces_with(folder.path(), ALONE, &["app"]);
    for (denied, alone) in denied.iter().zip(&alone) {
        assert_eq!(denied, alone);
    }
    assert_ne!(open, alone);
}
