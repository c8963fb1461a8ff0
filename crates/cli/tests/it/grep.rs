//! Tests of `resources_grep` against ripgrep, and of its filters over several mounts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake_server::{Era, FakeResponse, FakeServer, TransportKind};
use crate::program::{StdioProgram, project, refdesk};
use crate::test_client::TestClient;

/// Calls a tool; returns its structured content.
fn call(ask: &mut impl FnMut(&str, Value) -> Value, tool: &str, arguments: &Value) -> Value {
    let answer = ask("tools/call", json!({ "name": tool, "arguments": arguments }));
    let told = answer["result"]["structuredContent"].clone();
    assert!(told.is_object(), "{answer}");
    told
}

/// Follows the cursors to the end. Returns path and line number of each match, and the skips.
fn grep(desk: &mut StdioProgram, root: &str, mut arguments: Value) -> (Vec<(String, u64)>, u64) {
    let (mut found, mut skipped) = (Vec::new(), 0);
    let mut ask = |method: &str, params| desk.request(method, params);
    loop {
        let told = call(&mut ask, "resources_grep", &arguments);
        let base = told["base"].as_str().unwrap_or_default();
        for (path, lines) in told["matches"].as_object().unwrap() {
            let uri = format!("{base}{path}");
            let path = uri.strip_prefix(root).unwrap();
            for line in lines.as_array().unwrap() {
                let (number, _) = line.as_str().unwrap().split_once(':').unwrap();
                found.push((path.to_owned(), number.parse().unwrap()));
            }
        }
        skipped += told["skipped"].as_u64().unwrap_or(0);
        let Some(cursor) = told.get("cursor") else { return (found, skipped) };
        arguments["cursor"] = cursor.clone();
    }
}

/// Runs ripgrep; returns path and line number of each match.
fn ripgrep(folder: &Path, more: &[&str], pattern: &str) -> BTreeSet<(String, u64)> {
    let usual = [
        "--no-ignore-parent",
        "--no-config",
        "--line-number",
        "--null",
        "--no-heading",
        "--color=never",
    ];
    let mut command = Command::new("rg");
    command.args(usual).args(more).args(["-e", pattern, "."]).current_dir(folder);
    let output = command.output().expect("ripgrep is installed");
    let text = String::from_utf8(output.stdout).unwrap();
    let one = |line: &str| {
        let (path, rest) = line.split_once('\0').unwrap_or_else(|| panic!("{line}"));
        let number = rest.split(':').next().unwrap().parse().unwrap();
        (path.trim_start_matches("./").to_owned(), number)
    };
    text.lines().map(one).collect()
}

/// Copies the files of a tree as they are now. Somebody may edit the sources while the tests run, and
/// a file that is there for one search only is no difference between them.
fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (kind, target) = (entry.file_type().unwrap(), to.join(entry.file_name()));
        if kind.is_dir() {
            copy_tree(&entry.path(), &target);
        } else if kind.is_file() {
            // A file may be gone since it was listed.
            let _gone = fs::copy(entry.path(), target);
        }
    }
}

#[test]
fn the_sources_of_this_program_have_the_lines_that_ripgrep_finds() {
    let home = TempDir::with_prefix("grep").unwrap();
    let crates = home.path().join("crates");
    copy_tree(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap(), &crates);
    let mut desk = StdioProgram::start(refdesk(home.path(), &["serve", "--stdio", "crates"]));
    for (pattern, ignore_case, most) in [
        ("resources_grep", false, 100),
        (r"fn \w+_of\b", false, 17),
        ("^use (std|tokio)::", false, 1000),
        ("PROVIDER[s]?[.;]$", true, 100),
        (r"\bError\b.*\bResult\b", false, 100),
        (r"[^\x00-\x7f]{4,}", false, 100),
        (r"\A//!.*\.\z", false, 1000),
        ("^$", false, 1000),
        (r"impl\s+\w+\s+for", false, 50),
        ("no such line is anywhere, except he[r]e", false, 100),
    ] {
        let arguments = json!({ "pattern": pattern, "ignore_case": ignore_case,
            "max_matches": most, "context": 0 });
        let (found, skipped) = grep(&mut desk, "file:///crates/", arguments);
        let once: BTreeSet<_> = found.iter().cloned().collect();
        assert_eq!(once.len(), found.len(), "{pattern}: no match twice");
        let more: &[&str] = if ignore_case { &["--crlf", "--ignore-case"] } else { &["--crlf"] };
        let pattern = pattern.replace(r"\A", "^").replace(r"\z", "$");
        let expected = ripgrep(&crates, more, &pattern);
        let differ: Vec<_> = once.symmetric_difference(&expected).take(5).collect();
        assert!(differ.is_empty(), "{pattern}: {differ:?}, {skipped} files were skipped");
        assert!(!expected.is_empty() || pattern.starts_with("no such"), "{pattern}");
    }
}

#[test]
fn a_folder_that_is_a_tree_is_searched_to_its_leaves() {
    let home = TempDir::with_prefix("grep").unwrap();
    let root = home.path().join("tree");
    for folder in 0..30 {
        let path = root.join(format!("f{folder:02}/in/deep"));
        fs::create_dir_all(&path).unwrap();
        for file in 0..40 {
            let text = format!("first\nnumber {file}\r\n{}\n", "日本語".repeat(file));
            fs::write(path.join(format!("{file:02}.txt")), text).unwrap();
        }
    }
    fs::write(root.join("f00/binary"), b"number 7\n\0\xff").unwrap();
    let large = format!("{}number 7", "a line like any other\n".repeat(200_000));
    fs::write(root.join("f00/large.txt"), large).unwrap();
    let mut desk = StdioProgram::start(refdesk(home.path(), &["serve", "--stdio", "tree"]));
    for (pattern, most) in [("number [1-3]?7$", 50), ("^日本語", 1000)] {
        let arguments = json!({ "pattern": pattern, "max_matches": most });
        let (found, skipped) = grep(&mut desk, "file:///tree/", arguments);
        assert_eq!(skipped, 1, "the binary file is skipped");
        let once: BTreeSet<_> = found.iter().cloned().collect();
        assert_eq!(once.len(), found.len());
        assert!(once == ripgrep(&root, &["--crlf", "--glob", "!binary"], pattern), "{pattern}");
    }
    let within = json!({ "pattern": "number", "collection": "file:///tree/f07/in", "name": "1" });
    assert_eq!(grep(&mut desk, "file:///tree/f07/in/", within).0.len(), 13);
}

/// An upstream server with two resources, one of them only for the assistant.
fn server() -> FakeServer {
    FakeServer::start(Era::Modern, TransportKind::Http, |asked| match asked.method {
        "resources/list" => FakeResponse::Result(json!({ "resources": [
            { "uri": "a://one.md", "name": "one", "mimeType": "text/markdown", "size": 11,
              "annotations": { "audience": ["assistant"], "priority": 0.7,
                               "lastModified": "2020-02-02T00:00:00Z" } },
            { "uri": "a://two", "name": "two" },
        ]})),
        "resources/read" => {
            let uri = asked.params["uri"].as_str().unwrap();
            let text = format!("hello from\n{uri}\n");
            FakeResponse::Result(json!({ "contents": [{ "uri": uri, "text": text }] }))
        }
        _ => FakeResponse::Error(-32601, "no such method"),
    })
}

const NOTES: &str = r##"
[server]
page_size = 2

[mounts.notes]
kind = "static"

[[mounts.notes.resources]]
uri = "note://hello"
name = "hello"
mime = "text/markdown"
text = "# hello\nnotes"
priority = 0.8
audience = ["user"]

[mounts.project]
kind = "fs"
path = "project"
"##;

#[test]
fn filters_hold_over_folders_declared_resources_and_servers_behind() {
    let folder = project();
    let actor = server();
    let settings = format!("{NOTES}\n{}", actor.mount("far", ""));
    let mut front = TestClient::piped(folder.path(), &settings);
    let mut ask = |method: &str, params| front.request(method, params);
    for (arguments, expected) in [
        (json!({ "mount": "far" }), &["far+a://one.md", "far+a://two"][..]),
        (json!({ "mount": "notes" }), &["note://hello"]),
        (
            json!({ "mount": "project", "mime": "text/markdown" }),
            &["file:///project/README.md", "file:///project/docs/guide.md"],
        ),
        (
            json!({ "uri": "**/*.md", "audience": "assistant", "min_priority": 0.6 }),
            &["far+a://one.md", "file:///project/README.md"],
        ),
        (
            json!({ "audience": "user", "min_priority": 0.8, "name": "e" }),
            &["note://hello", "file:///project/README.md"],
        ),
        (
            json!({ "collection": "file:///project/src" }),
            &["file:///project/src/lib.ts", "file:///project/src/main.rs"],
        ),
        (
            json!({ "collection": "file:///project", "recursive": true, "uri": "**/*.{rs,ts}" }),
            &["file:///project/src/lib.ts", "file:///project/src/main.rs"],
        ),
        (json!({ "modified_since": "2020-02-02", "mount": "far" }), &["far+a://one.md"]),
        (json!({ "modified_since": "2020-02-02T00:00:01Z", "mount": "far" }), &[]),
        (
            json!({ "mime": "text/markdown", "sort": "priority" }),
            &[
                "file:///project/README.md",
                "note://hello",
                "far+a://one.md",
                "file:///project/docs/guide.md",
            ],
        ),
        (
            json!({ "name": "o", "mount": "far", "sort": "name" }),
            &["far+a://one.md", "far+a://two"],
        ),
    ] {
        let (mut arguments, mut found) = (arguments, Vec::new());
        loop {
            let told = call(&mut ask, "resources_list", &arguments);
            let page = told["resources"].as_array().unwrap();
            assert!(page.len() <= 2, "{told}");
            found.extend(page.iter().map(|one| one["uri"].as_str().unwrap().to_owned()));
            let Some(cursor) = told.get("cursor") else { break };
            arguments["cursor"] = cursor.clone();
        }
        assert_eq!(found, expected, "{arguments}");
    }
    let told = call(&mut ask, "resources_grep", &json!({ "pattern": "^# |^hello" }));
    let found: Vec<&str> =
        told["matches"].as_object().unwrap().keys().map(String::as_str).collect();
    let expected = ["far+a://one.md", "far+a://two", "file:///project/README.md", "note://hello"];
    assert_eq!(found, expected);
    assert_eq!(told["skipped"], 1, "the picture");
}
