//! Tests of what a model meets first: instructions, mounts, paths instead of URIs, and its slips.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake_server::{Era, FakeResponse, FakeServer, TransportKind};
use crate::program::project;
use crate::test_client::TestClient;

const OWN: &str = "[mounts.project]\nkind = \"fs\"\npath = \"project\"\n";

fn call(front: &mut TestClient, tool: &str, arguments: Value) -> Value {
    let mut params = json!({ "name": tool });
    params["arguments"] = arguments;
    front.request("tools/call", params)["result"].take()
}

fn structured(front: &mut TestClient, tool: &str, arguments: Value) -> Value {
    let mut result = call(front, tool, arguments);
    assert_ne!(result["isError"], true, "{result}");
    result["structuredContent"].take()
}

fn error_text(front: &mut TestClient, tool: &str, arguments: Value) -> String {
    let result = call(front, tool, arguments);
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

/// A server with one resource and instructions of its own.
fn server() -> FakeServer {
    FakeServer::start(Era::Modern, TransportKind::Http, |asked| match asked.method {
        "server/discover" => FakeResponse::Result(json!({
            "supportedVersions": ["2026-07-28"], "capabilities": { "resources": {} },
            "instructions": "Ask for\nnotes by number.", "ttlMs": 0, "cacheScope": "private",
        })),
        "resources/list" => FakeResponse::Result(json!({ "resources": [
            { "uri": "a://one", "name": "one" },
        ]})),
        _ => FakeResponse::Error(-32601, "no such method"),
    })
}

#[test]
fn the_mounts_are_told_in_the_instructions_and_by_a_list_without_arguments() {
    let (folder, far) = (project(), server());
    let mut front = TestClient::piped(folder.path(), &format!("{OWN}{}", far.mount("far", "")));
    structured(&mut front, "resources_list", json!({ "mount": "far" }));
    let told = front.request("server/discover", json!({}))["result"].take();
    let words = told["instructions"].as_str().unwrap();
    assert!(words.contains("\n- far: server"), "{words}");
    let own = "\n- project: folder file:///project/ – docs/, src/, README.md, logo.png, sjis.txt\n";
    assert!(words.contains(own), "{words}");
    assert!(words.ends_with("\nThe server far says: Ask for notes by number."), "{words}");
    assert!(!words.contains("_meta"), "{words}");
    let path = folder.path().to_str().unwrap();
    assert!(!told.to_string().contains(path), "no path of the machine");
    assert_eq!(told["cacheScope"], "private", "not every principal has the same mounts");
    let result = call(&mut front, "resources_list", json!({}));
    let mounts = json!({ "mounts": [
        { "name": "far", "kind": "server" },
        { "name": "project", "kind": "folder", "uri": "file:///project/" },
    ]});
    assert_eq!(result["structuredContent"], mounts);
    let words = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(words.lines().count(), 3, "{words}");
    for (tool, arguments) in [
        ("resources_list", json!({ "mount": "none" })),
        ("resources_grep", json!({ "mount": "none", "pattern": "x" })),
    ] {
        let words = error_text(&mut front, tool, arguments);
        let told = "there is no mount \"none\"; the mounts are far, project";
        assert!(words.contains(told), "{words}");
    }
}

#[test]
fn a_path_stands_for_the_resource_that_it_names() {
    let folder = project();
    fs::create_dir_all(folder.path().join("project/資料")).unwrap();
    fs::write(folder.path().join("project/資料/a b.md"), "hello\n").unwrap();
    let other = "[mounts.other]\nkind = \"fs\"\npath = \"project/src\"\n";
    let mut front = TestClient::piped(folder.path(), &format!("{OWN}{other}"));
    let main = "file:///project/src/main.rs";
    let inside = folder.path().join("project/src/main.rs");
    for path in ["src/main.rs", "project/src/main.rs", "/project/src/main.rs", "./src/main.rs"] {
        let read = structured(&mut front, "resources_read", json!({ "uri": path }));
        assert_eq!(read, json!({ "uri": main, "text": "fn main() {}\n" }), "{path}");
    }
    let words = error_text(&mut front, "resources_read", json!({ "uri": inside }));
    assert!(words.contains("in several mounts; pass one of"), "two mounts have this file: {words}");
    for uri in ["file:///project/資料/a b.md", "資料/a b.md"] {
        let read = structured(&mut front, "resources_read", json!({ "uri": uri }));
        assert_eq!(read["text"], "hello\n", "{uri}");
    }
    let described = json!({ "uris": ["README.md", "project/docs"] });
    let described = structured(&mut front, "resources_metadata", described);
    assert_eq!(described["resources"][0]["uri"], "file:///project/README.md");
    assert_eq!(described["resources"][1]["isCollection"], true);
    let inside = json!({ "collection": "project/docs" });
    let listed = structured(&mut front, "resources_list", inside);
    assert_eq!(listed["resources"][0]["uri"], "file:///project/docs/guide.md");
    let words = error_text(&mut front, "resources_read", json!({ "uri": "main.rs/../x" }));
    assert!(words.contains("no resource has the path"), "{words}");
}

#[test]
fn a_folder_that_is_read_gives_its_listing() {
    let folder = project();
    let mut front = TestClient::piped(folder.path(), OWN);
    let read = structured(&mut front, "resources_read", json!({ "uri": "project/src" }));
    let text = read["text"].as_str().unwrap();
    assert!(text.contains("file:///project/src/lib.ts (20 bytes)\n"), "{text}");
    assert!(read["note"].as_str().unwrap().contains("this is a folder"), "{read}");
}

#[test]
fn slips_are_answered_with_the_names_that_are_near() {
    let folder = project();
    let mut front = TestClient::piped(folder.path(), OWN);
    let main = "file:///project/src/main.rs";
    for slip in ["file:///project/src/mian.rs", "src/Main.rs", "file:///project/main.rs", "main.rs"]
    {
        let words = error_text(&mut front, "resources_read", json!({ "uri": slip }));
        assert!(words.contains(&format!("did you mean {main}?")), "{slip}: {words}");
    }
    for tool in ["resources_metadata", "resources_read_embedded"] {
        let words = error_text(&mut front, tool, json!({ "uris": "file:///project/src/mian.rs" }));
        assert!(words.contains(&format!("did you mean {main}?")), "{tool}: {words}");
    }
    let words = error_text(&mut front, "resources_read", json!({ "uri": "file:///none/main.rs" }));
    assert!(words.contains("it is in no mount; the mounts are project"), "{words}");
    let note = structured(&mut front, "resources_list", json!({ "uri": "**/*.xyz" }));
    assert!(note["note"].as_str().unwrap().contains("no resources match"), "{note}");
}

#[test]
fn slips_are_found_in_every_mount_that_may_be_meant_and_first_in_the_one_that_is_named() {
    let folder = TempDir::with_prefix("mounts").unwrap();
    for path in ["a/other.txt", "b/src/main.rs", "c/src/mien.rs", "c/docs/deep/guide.md"] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x\n").unwrap();
    }
    let mount = |name: &str| format!("[mounts.{name}]\nkind = \"fs\"\npath = \"{name}\"\n");
    let mut front = TestClient::piped(folder.path(), &["a", "b", "c"].map(mount).concat());
    let (main, mien) = ("file:///b/src/main.rs", "file:///c/src/mien.rs");
    for (slip, near) in [
        ("src/mian.rs", format!("{main}, {mien}")),
        ("b/src/mian.rs", main.to_owned()),
        ("c/src/main.rs", mien.to_owned()),
        ("guide.md", "file:///c/docs/deep/guide.md".to_owned()),
    ] {
        let words = error_text(&mut front, "resources_read", json!({ "uri": slip }));
        assert!(words.ends_with(&format!("did you mean {near}?")), "{slip}: {words}");
    }
}

#[test]
fn slips_are_found_in_a_folder_of_any_size() {
    let folder = TempDir::with_prefix("large").unwrap();
    let modules = folder.path().join("project/modules");
    fs::create_dir_all(&modules).unwrap();
    for number in 0..3000 {
        fs::write(modules.join(format!("module_{number:05}.txt")), "").unwrap();
    }
    let mut front = TestClient::piped(folder.path(), OWN);
    let meant = "file:///project/modules/module_02500.txt";
    for slip in ["modules/modul_02500.txt", "file:///project/modules/modul_02500.txt"] {
        let words = error_text(&mut front, "resources_read", json!({ "uri": slip }));
        assert!(words.contains(&format!("did you mean {meant}")), "{slip}: {words}");
    }
}

/// "Nothing matches" says what was not looked at.
#[test]
fn a_list_or_search_that_finds_nothing_says_that_a_mount_is_absent() {
    let folder = project();
    let gone = "[mounts.gone]\nkind = \"upstream\"\ncommand = [\"/no/such/program\"]\n";
    let mut front = TestClient::piped(folder.path(), &format!("{OWN}{gone}"));
    let listed = structured(&mut front, "resources_list", json!({ "uri": "**/*.xyz" }));
    assert_eq!(
        listed["note"],
        "no resources match; nested folders were not looked at: pass recursive: true; some sources \
         could not be looked at"
    );
    assert_eq!(listed["absent"][0]["what"], "gone", "{listed}");
    let found = structured(&mut front, "resources_grep", json!({ "pattern": "no such words" }));
    let note = found["note"].as_str().unwrap();
    assert!(note.ends_with("; some sources could not be searched"), "{note}");
    assert_eq!(found["absent"][0]["what"], "gone", "{found}");
    let listed =
        structured(&mut front, "resources_list", json!({ "mount": "project", "uri": "x" }));
    assert!(!listed["note"].as_str().unwrap().contains("some sources"), "{listed}");
}

#[test]
fn names_are_shown_and_matched_as_people_read_them() {
    let folder = project();
    for name in ["資料/覚書.md", "資料/mod.rs", "src/mod.rs"] {
        let path = folder.path().join("project").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x\n").unwrap();
    }
    let mut front = TestClient::piped(folder.path(), OWN);
    let arguments = json!({ "uri": "**/資料/*", "recursive": true });
    let listed = structured(&mut front, "resources_list", arguments);
    let rows = listed["resources"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{listed}");
    let note = rows.iter().find(|row| row["uri"].as_str().unwrap().ends_with(".md")).unwrap();
    assert_eq!(note["uri"], "file:///project/%E8%B3%87%E6%96%99/%E8%A6%9A%E6%9B%B8.md");
    assert_eq!(note["title"], "覚書.md");
    let same = json!({ "uri": "**/mod.rs", "recursive": true });
    let listed = structured(&mut front, "resources_list", same);
    let mut titles: Vec<_> =
        listed["resources"].as_array().unwrap().iter().map(|row| row["title"].clone()).collect();
    titles.sort_by_key(ToString::to_string);
    assert_eq!(titles, ["src/mod.rs", "資料/mod.rs"]);
    let found = json!({ "pattern": "x", "uri": "**/資料/*" });
    let found = structured(&mut front, "resources_grep", found);
    assert_eq!(found["base"], "file:///project/%E8%B3%87%E6%96%99/");
    assert_eq!(found["names"], json!({ "%E8%A6%9A%E6%9B%B8.md": "覚書.md" }));
    let templates = structured(&mut front, "resources_templates", json!({}));
    assert_eq!(templates["templates"][0]["name"], "project files");
}

fn deep_tree() -> TempDir {
    let home = TempDir::with_prefix("deep").unwrap();
    let mut path = home.path().join("project");
    for level in 0..30 {
        path = path.join(format!("a rather long folder name {level}"));
        fs::create_dir_all(&path).unwrap();
        for file in 0..3 {
            fs::write(path.join(format!("file {file}.txt")), "needle\n").unwrap();
        }
    }
    home
}

/// Follows the cursors of a tool; returns the number of calls.
fn follow(front: &mut TestClient, tool: &str, mut arguments: Value) -> usize {
    for calls in 1.. {
        let told = structured(front, tool, arguments.clone());
        let Some(cursor) = told.get("cursor") else { return calls };
        assert!(cursor.as_str().unwrap().len() <= 96, "{cursor}");
        arguments["cursor"] = cursor.clone();
    }
    0
}

#[test]
fn cursors_are_short_at_any_depth() {
    let home = deep_tree();
    let settings = format!("[server]\npage_size = 7\n{OWN}listing = \"tree\"\n");
    let mut front = TestClient::piped(home.path(), &settings);
    assert!(follow(&mut front, "resources_list", json!({ "recursive": true })) >= 17);
    assert!(
        follow(&mut front, "resources_list", json!({ "recursive": true, "sort": "name" })) >= 17
    );
    let search = json!({ "pattern": "needle", "max_matches": 5 });
    assert!(follow(&mut front, "resources_grep", search) >= 18);
    flat_list(home.path());
}

/// `resources/list` of a folder that lists all files, however deep.
fn flat_list(home: &Path) {
    let settings = format!("[server]\npage_size = 7\n{OWN}listing = \"flat\"\n");
    let mut front = TestClient::piped(home, &settings);
    let (mut params, mut seen) = (json!({}), 0);
    loop {
        let page = front.request("resources/list", params)["result"].take();
        seen += page["resources"].as_array().unwrap().len();
        let Some(cursor) = page.get("nextCursor") else { break };
        assert!(cursor.as_str().unwrap().len() <= 96, "{cursor}");
        params = json!({ "cursor": cursor });
    }
    assert_eq!(seen, 90);
    let forged = json!({ "cursor": "AAAAAAAAAAAAAAAAAAAAAA" });
    let refused = front.request("resources/list", forged);
    let words = refused["error"]["message"].as_str().unwrap();
    assert!(words.contains("list again from the start"), "{words}");
}

/// What is denied does not exist: no list, error, path or suggestion tells of it.
#[test]
fn a_mount_that_is_denied_looks_like_none() {
    let folder = project();
    fs::create_dir(folder.path().join("vault")).unwrap();
    fs::write(folder.path().join("vault/secret.txt"), "s3cret\n").unwrap();
    let vault = "[mounts.vault]\nkind = \"fs\"\npath = \"vault\"\naccess = [{ deny = [\"**\"] }]\n";
    let mut front = TestClient::piped(folder.path(), &format!("{OWN}{vault}"));
    let told = front.request("server/discover", json!({}))["result"].to_string();
    let mounts = call(&mut front, "resources_list", json!({})).to_string();
    assert!(!told.contains("vault") && !mounts.contains("vault"), "{told} {mounts}");
    let inside = folder.path().join("vault/secret.txt");
    for (denied, unknown) in [
        (json!({ "uri": "file:///vault/secret.txt" }), "file:///absent/secret.txt".to_owned()),
        (json!({ "uri": "file:///vault/secret.tx" }), "file:///absent/secret.tx".to_owned()),
        (json!({ "uri": "secret.txt" }), "absent.txt".to_owned()),
        (json!({ "uri": "vault/secret.txt" }), "absent/secret.txt".to_owned()),
        (json!({ "uri": inside }), "/absent/secret.txt".to_owned()),
    ] {
        let name = denied["uri"].as_str().unwrap().to_owned();
        let words = error_text(&mut front, "resources_read", denied).replace(&name, "?");
        let other = error_text(&mut front, "resources_read", json!({ "uri": unknown }));
        assert_eq!(words, other.replace(&unknown, "?"), "{name}");
    }
    let words = error_text(&mut front, "resources_list", json!({ "mount": "vault" }));
    assert!(words.contains("there is no mount \"vault\"; the mounts are project"), "{words}");
}

/// Models pass the URI that the list of mounts shows.
#[test]
fn the_uri_of_a_folder_lists_and_searches_what_is_in_it() {
    let folder = project();
    let mut front = TestClient::piped(folder.path(), OWN);
    let mounts = structured(&mut front, "resources_list", json!({}));
    let root = mounts["mounts"][0]["uri"].clone();
    for uri in [root, json!("project/")] {
        let listed = structured(&mut front, "resources_list", json!({ "uri": uri }));
        assert_eq!(listed["resources"][0]["uri"], "file:///project/README.md", "{listed}");
        let search = json!({ "uri": uri, "pattern": "Project", "output": "files" });
        let found = structured(&mut front, "resources_grep", search);
        assert!(found.to_string().contains("README.md"), "{found}");
    }
}
