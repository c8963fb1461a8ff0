//! End-to-end tests of documentation mounts: listed, read by section and by language, over MCP.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{StdioProgram, output_text, refdesk};

const SETTINGS: &str = r#"
[mounts.manual]
kind = "docs"
path = "docs"
languages = ["ja", "en"]

[[mounts.manual.rules]]
glob = "ja/pinned.md"
priority = 1.0
"#;

fn folder(settings: &str) -> TempDir {
    let folder = TempDir::with_prefix("docs").unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("refdesk.toml", settings);
    write("docs/ja/guide.md", "# 手引き\n\n説明です。\n\n## 使い方\n\nneedle こう使います。\n");
    write("docs/en/guide.md", "# Guide\n\nThis is the guide.\n\n## Usage\n\nUse it.\n");
    write("docs/en/only.md", "# Only\n\nThis is the page, and it is not translated.\n");
    write("docs/ja/pinned.md", "---\npriority: 0.1\n---\n# 固定\n");
    write("docs/broken.md", "---\ntitle: [\n---\n# Broken\n");
    folder
}

fn tool(desk: &mut StdioProgram, name: &str, arguments: &Value) -> Value {
    desk.request("tools/call", json!({ "name": name, "arguments": arguments }))["result"].clone()
}

fn read(desk: &mut StdioProgram, uri: &str) -> Value {
    desk.request("resources/read", json!({ "uri": uri }))["result"]["contents"][0].clone()
}

#[test]
fn documentation_is_listed_and_read_by_section_and_by_language() {
    let folder = folder(SETTINGS);
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio"]));
    let listed = desk.request("resources/list", json!({}))["result"]["resources"].clone();
    let item = |uri: &str| {
        let all = listed.as_array().unwrap();
        all.iter()
            .find(|item| item["uri"] == uri)
            .unwrap_or_else(|| panic!("{uri}: {listed}"))
            .clone()
    };
    let guide = item("file:///manual/ja/guide.md");
    assert_eq!((&guide["title"], &guide["description"]), (&json!("手引き"), &json!("説明です。")));
    let links = &guide["_meta"]["dev.refdesk/translations"];
    assert_eq!(links[0]["uri"], "file:///manual/en/guide.md", "{guide}");
    let pinned = item("file:///manual/ja/pinned.md");
    assert_eq!(pinned["annotations"]["priority"], 1.0, "a rule is above front matter: {pinned}");
    let section = read(&mut desk, "file:///manual/ja/guide.md/%C2%A7%E4%BD%BF%E3%81%84%E6%96%B9");
    assert_eq!(section["text"], "## 使い方\n\nneedle こう使います。\n", "{section}");
    let page = read(&mut desk, "docs://manual/ja/only.md");
    assert!(page["text"].as_str().unwrap().starts_with("# Only"), "{page}");
    assert!(page.to_string().contains("no version of this page in `ja`"), "{page}");
    let found = tool(&mut desk, "resources_grep", &json!({ "pattern": "needle" }));
    let matches = found["structuredContent"]["matches"].as_object().unwrap();
    assert_eq!(matches.len(), 1, "a page is searched once: {found}");
    let found = tool(
        &mut desk,
        "resources_grep",
        &json!({ "pattern": "needle", "collection": "file:///manual/ja" }),
    );
    assert_eq!(found["structuredContent"]["matches"].as_object().unwrap().len(), 1, "{found}");
    let text = tool(&mut desk, "resources_read", &json!({ "uri": "file:///manual/ja/guide.md" }));
    assert!(text.to_string().contains("こう使います"), "a page is read, not listed: {text}");
    let told =
        tool(&mut desk, "resources_metadata", &json!({ "uris": ["file:///manual/ja/guide.md"] }));
    assert!(told.to_string().contains("has sections"), "{told}");
    let state = read(&mut desk, "refdesk://mounts/manual").to_string();
    assert!(state.contains("broken.md") && state.contains("front matter"), "{state}");
}

#[test]
fn access_rules_hold_for_links_and_for_pages_that_are_made() {
    let settings = format!("{SETTINGS}\n[[mounts.manual.access]]\ndeny = [\"ja/**\"]\n");
    let folder = folder(&settings);
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio"]));
    let listed = desk.request("resources/list", json!({}))["result"].to_string();
    assert!(listed.contains("en/guide.md") && !listed.contains("/ja/"), "{listed}");
    for uri in ["docs://manual/guide.md", "docs://manual/fr/guide.md"] {
        assert!(read(&mut desk, uri)["text"].as_str().unwrap().starts_with("# Guide"));
    }
    for uri in ["file:///manual/llms.txt", "file:///manual/llms-full.txt"] {
        let text = read(&mut desk, uri).to_string();
        assert!(
            text.contains("Only") && !text.contains("手引き") && !text.contains("needle"),
            "{text}"
        );
    }
}

#[test]
fn check_shows_documentation() {
    let folder = folder(SETTINGS);
    let output = refdesk(folder.path(), &["check"]).output().unwrap();
    let text = output_text(&output);
    assert!(
        output.status.success() && text.contains("docs") && text.contains("file:///manual/"),
        "{text}"
    );
}
