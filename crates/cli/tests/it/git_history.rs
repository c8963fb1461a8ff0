//! End-to-end tests of git mounts: history through resources and the tools.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{HttpProgram, StdioProgram, output_text, refdesk, run};
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
fn the_banner_names_the_history_of_a_folder_in_a_repository() {
    let home = repository();
    let desk = HttpProgram::start(home.path(), &["app"]);
    let line = desk.banner.lines().find(|line| line.contains("app-git"));
    assert!(line.is_some_and(|line| line.contains("git://app-git/")), "{}", desk.banner);
    fs::create_dir(home.path().join("plain")).unwrap();
    let desk = HttpProgram::start(home.path(), &["plain"]);
    assert!(!desk.banner.contains("-git"), "{}", desk.banner);
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

/// The user ids of this process and of somebody else.
fn owners() -> (u32, u32) {
    let own = std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap());
    (own, if own == 4242 { 4243 } else { 4242 })
}

#[test]
fn a_repository_of_another_user_is_served_once_it_is_named_safe() {
    let home = repository();
    let (app, own) = (home.path().join("app"), home.path().join("own"));
    let (_, other) = owners();
    for folder in [app.clone(), app.join(".git")] {
        // Without the right to give files away, the repository stays one's own and is served.
        let _refused = std::os::unix::fs::chown(folder, Some(other), None);
    }
    let is_given = std::os::unix::fs::MetadataExt::uid(&fs::metadata(&app).unwrap()) == other;
    fs::create_dir(&own).unwrap();
    fs::write(own.join("mine.txt"), "mine\n").unwrap();
    let settings = "[mounts.app]\nkind = \"git\"\npath = \"app\"\n\
                    [mounts.own]\nkind = \"fs\"\npath = \"own\"\n";
    fs::write(home.path().join("refdesk.toml"), settings).unwrap();
    let read = |config: &Path| {
        let mut command = refdesk(home.path(), &["serve", "--stdio"]);
        command.env("GIT_CONFIG_GLOBAL", config).env("GIT_CONFIG_SYSTEM", "/dev/null");
        let mut desk = StdioProgram::start(command);
        let texts = ["git://app/v1.2/src/old.txt", "file:///own/mine.txt", "refdesk://mounts/app"]
            .map(|uri| {
                let read = desk.request("resources/read", json!({ "uri": uri }));
                read["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned()
            });
        let mut check = refdesk(home.path(), &["check"]);
        check.env("GIT_CONFIG_GLOBAL", config).env("GIT_CONFIG_SYSTEM", "/dev/null");
        (texts, output_text(&check.output().unwrap()))
    };
    let ([old, mine, state], told) = read(Path::new("/dev/null"));
    assert_eq!(mine, "mine\n", "the other mount is served");
    if is_given {
        assert_eq!(old, "");
        assert!(state.contains("belongs to another user"), "{state}");
        let advice = format!("git config --global --add safe.directory {}", app.display());
        assert!(told.contains(&advice), "{told}");
    }
    let config = home.path().join("gitconfig");
    fs::write(&config, format!("[safe]\n\tdirectory = {}\n", app.display())).unwrap();
    let ([old, ..], told) = read(&config);
    assert_eq!(old, "the needle of old\n", "{told}");
}
