//! End-to-end tests of git mounts: history through resources and the tools.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{StdioProgram, output_text, refdesk, run};
use crate::test_client::TestClient;

/// Runs git with the settings of no user.
fn git(folder: &Path, args: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", output_text(&output));
}

/// A repository `app` with two commits and a tag on the first.
fn repository() -> TempDir {
    let home = TempDir::with_prefix("git").unwrap();
    let app = home.path().join("app");
    fs::create_dir_all(app.join("src")).unwrap();
    git(&app, &["init", "-q", "-b", "main", "."]);
    fs::write(app.join("src/old.txt"), "the needle of old\n").unwrap();
    git(&app, &["add", "-A"]);
    git(&app, &["commit", "-q", "-m", "Plant the needle"]);
    git(&app, &["tag", "v1.2"]);
    fs::write(app.join("src/old.txt"), "hay\n").unwrap();
    git(&app, &["commit", "-q", "-am", "Make hay"]);
    home
}

fn call(desk: &mut StdioProgram, tool: &str, arguments: &Value) -> Value {
    let answer = desk.request("tools/call", json!({ "name": tool, "arguments": arguments }));
    let told = answer["result"]["structuredContent"].clone();
    assert!(told.is_object(), "{answer}");
    told
}

#[test]
fn a_folder_in_a_repository_is_served_with_its_history() {
    let home = repository();
    let mut desk = StdioProgram::start(refdesk(home.path(), &["serve", "--stdio", "app"]));
    let discovered = desk.request("server/discover", json!({}));
    let told = discovered["result"]["instructions"].as_str().unwrap();
    assert!(told.contains("app-git: git git://app-git/"), "{told}");
    let list = desk.request("resources/list", json!({}));
    let listed = list["result"]["resources"].as_array().unwrap();
    let uris: Vec<&str> = listed.iter().map(|one| one["uri"].as_str().unwrap()).collect();
    assert_eq!(
        uris,
        [
            "file:///app/src/old.txt",
            "git://app-git/HEAD",
            "git://app-git/refs",
            "git://app-git/log",
            "git://app-git/status",
            "git://app-git/diff/worktree",
        ]
    );
    let old = desk.request("resources/read", json!({ "uri": "git://app-git/v1.2/src/old.txt" }));
    assert_eq!(old["result"]["contents"][0]["text"], "the needle of old\n");
    // A search through everything finds files once, as they are; one at a revision finds it there.
    let now = call(&mut desk, "resources_grep", &json!({ "pattern": "hay" }));
    assert_eq!(now["matches"].as_object().unwrap().len(), 1, "{now}");
    let gone = call(&mut desk, "resources_grep", &json!({ "pattern": "needle" }));
    assert_eq!(gone["matches"].as_object().unwrap().len(), 0, "{gone}");
    let at = json!({ "pattern": "needle", "collection": "git://app-git/v1.2/src" });
    let then = call(&mut desk, "resources_grep", &at);
    assert_eq!(then["matches"].as_object().unwrap().len(), 1, "{then}");
    let log = json!({ "uri": "git://app-git/log/main?grep=needle" });
    let log = desk.request("resources/read", log).to_string();
    assert!(log.contains("Plant the needle") && !log.contains("Make hay"), "{log}");
    let question = json!({
        "ref": { "type": "ref/resource", "uri": "git://app-git/{revision}/{+path}" },
        "argument": { "name": "path", "value": "src/" },
        "context": { "arguments": { "revision": "v1.2" } },
    });
    let completion = desk.request("completion/complete", question);
    assert_eq!(completion["result"]["completion"]["values"], json!(["src/old.txt"]));
    assert_eq!(desk.close(), (true, String::new()));
}

#[test]
fn a_repository_that_cannot_be_served_leaves_the_others_served() {
    let home = repository();
    let settings = "[mounts.app]\nkind = \"git\"\npath = \"app\"\n\
                    [mounts.gone]\nkind = \"git\"\npath = \"none\"\n";
    let mut client = TestClient::piped(home.path(), settings);
    assert_eq!(client.text_of("git://app/HEAD/src/old.txt"), "hay\n");
    let state = client.state_of("gone").to_string();
    assert!(state.contains("there is no git repository"), "{state}");
    let told = output_text(&run(home.path(), &["check"]));
    assert!(told.contains("there is no git repository"), "{told}");
}
