//! Path traversal tests: no request opens anything outside the folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::program::{StdioProgram, project, refdesk};

const CANARY: &str = "the canary outside";

#[test]
fn no_disguise_reaches_what_lies_outside() {
    let folder = project();
    fs::write(folder.path().join("canary.txt"), CANARY).unwrap();
    symlink("../canary.txt", folder.path().join("project/out.txt")).unwrap();
    symlink(folder.path(), folder.path().join("project/up")).unwrap();
    symlink(".env", folder.path().join("project/hidden.txt")).unwrap();
    symlink("docs", folder.path().join("project/inside")).unwrap();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio", "project"]));
    let long = format!("file:///project/{}", "a/".repeat(32 << 10));
    for uri in [
        "file:///project/../canary.txt",
        "file:///project/../../etc/passwd",
        "file:///project/%2e%2e/canary.txt",
        "file:///project/%2e%2e%2fcanary.txt",
        "file:///project/..%2fcanary.txt",
        "file:///project/src/..%2f..%2fcanary.txt",
        "file:///project/src/../../canary.txt",
        "file:///project/README.md%00.txt",
        "file:///project/..\\canary.txt",
        "file:///project/..%5ccanary.txt",
        "file:///project//etc/passwd",
        "file:///project/%2fetc%2fpasswd",
        "file:///etc/passwd",
        "file://evil/project/README.md",
        "file:///project/out.txt",
        "file:///project/up/canary.txt",
        "file:///project/hidden.txt",
        "file:///project/.env",
        "file:///project/.git/config",
        "file:///project/target/out",
        "file:///project/./README.md",
        "file:///project/README.md/",
        &long,
    ] {
        for method in ["resources/read", "resources/metadata", "resources/list"] {
            let answer = desk.request(method, json!({ "uri": uri }));
            assert_eq!(answer["error"]["code"], -32602, "{method} {uri}");
            assert!(!answer.to_string().contains(CANARY));
        }
    }
    let inside =
        desk.request("resources/read", json!({ "uri": "file:///project/inside/guide.md" }));
    assert_eq!(
        inside["result"]["contents"][0]["text"], "案内\n",
        "links that stay inside are followed"
    );
}

/// Stops the racing thread on drop, also when the test fails.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A thread swaps a folder for a symlink to the outside and back, while a client keeps reading.
#[test]
fn a_race_with_a_link_reaches_nothing_outside() {
    let folder = project();
    let root = folder.path();
    fs::create_dir_all(root.join("outside")).unwrap();
    fs::write(root.join("outside/file.txt"), CANARY).unwrap();
    fs::create_dir_all(root.join("project/inner")).unwrap();
    fs::write(root.join("project/inner/file.txt"), "inside").unwrap();
    symlink("../outside", root.join("project/link")).unwrap();
    let mut desk = StdioProgram::start(refdesk(root, &["serve", "--stdio", "project"]));
    let done = AtomicBool::new(false);
    let (mut inside, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (inner, link, spare) =
                (root.join("project/inner"), root.join("project/link"), root.join("project/spare"));
            while !done.load(Ordering::Relaxed) {
                fs::rename(&inner, &spare).unwrap();
                fs::rename(&link, &inner).unwrap();
                fs::rename(&inner, &link).unwrap();
                fs::rename(&spare, &inner).unwrap();
            }
        });
        let _done = StopOnDrop(&done);
        for _ in 0..3000 {
            let answer =
                desk.request("resources/read", json!({ "uri": "file:///project/inner/file.txt" }));
            match answer["result"]["contents"][0]["text"].as_str() {
                Some(text) => {
                    assert_eq!(text, "inside");
                    inside += 1;
                }
                None => {
                    assert!(answer["error"].is_object(), "{answer}");
                    refused += 1;
                }
            }
        }
    });
    assert!(inside > 0 && refused > 0, "{inside} read, {refused} refused: no race");
}

#[test]
fn a_file_that_goes_away_costs_only_itself() {
    let folder = project();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio", "project"]));
    let listed = desk.request("resources/list", json!({}))["result"]["resources"].take();
    fs::remove_file(folder.path().join("project/README.md")).unwrap();
    fs::remove_dir_all(folder.path().join("project/src")).unwrap();
    let gone = desk.request("resources/read", json!({ "uri": listed[0]["uri"] }));
    assert_eq!(gone["error"]["code"], -32602);
    let folder_gone = desk.request("resources/list", json!({ "uri": "file:///project/src" }));
    assert_eq!(folder_gone["error"]["code"], -32602);
    let rest = desk.request("resources/list", json!({}))["result"]["resources"].take();
    assert_eq!(rest.as_array().unwrap().len(), listed.as_array().unwrap().len() - 3);
}

#[test]
fn a_mount_whose_folder_is_gone_is_named_and_the_rest_is_served() {
    let folder = project();
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("a.txt"), "a").unwrap();
    let mut desk =
        StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio", "other", "project"]));
    assert_eq!(
        desk.request("resources/list", json!({}))["result"]["resources"].as_array().unwrap().len(),
        7
    );
    fs::remove_dir_all(&other).unwrap();
    let list = desk.request("resources/list", json!({}));
    assert_eq!(list["result"]["_meta"]["dev.refdesk/absent"][0]["what"], "other");
    assert_eq!(list["result"]["resources"].as_array().unwrap().len(), 6);
}
