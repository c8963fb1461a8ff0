//! Tests of search and packs, as hosts and people use them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use resource::tokens;
use serde_json::{Value, json};

use crate::documents::write_pdf;
use crate::program::{StdioProgram, output_text, refdesk, run};

const SETTINGS: &str = "[mounts.app]\nkind = \"fs\"\npath = \"app\"\n";

/// A folder `app` with a guide, a report and configuration, and the settings beside it.
fn app(settings: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let app = folder.path().join("app");
    fs::create_dir(&app).unwrap();
    let filler = "This paragraph speaks of other things entirely.\n\n".repeat(60);
    let guide = format!(
        "# Guide\n\n{filler}## Rotating keys\n\nTo rotate the signing key, call `refdesk rotate`. \
         Old cursors stay valid for an hour.\n\n## 鍵の交換\n\n署名の鍵を交換するには rotate を使う。\n"
    );
    fs::write(app.join("guide.md"), guide).unwrap();
    fs::write(app.join("readme.txt"), "An overview of the harbour.\n").unwrap();
    let pages: Vec<String> = (1..=9)
        .map(|page| match page {
            7 => "The lighthouse keeper signs the ledger".to_owned(),
            _ => format!("Nothing of note on page {page}"),
        })
        .collect();
    write_pdf(&app.join("report.pdf"), &pages);
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    folder
}

fn start(folder: &Path) -> StdioProgram {
    let mut desk = StdioProgram::start(refdesk(folder, &["serve", "--stdio"]));
    wait_for_index(&mut desk, "app");
    desk
}

/// How long a test waits for the index.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Waits until the index covers the mount.
pub(crate) fn wait_for_index(desk: &mut StdioProgram, mount: &str) {
    let uri = format!("refdesk://mounts/{mount}");
    let end = Instant::now() + MAX_WAIT;
    loop {
        assert!(Instant::now() < end, "the index does not cover {mount}");
        let answer = desk.request("resources/read", json!({ "uri": uri }));
        let text = answer["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
        let status: Value = serde_json::from_str(&text).unwrap();
        if status["index"]["complete"] == true {
            return;
        }
    }
}

fn call(desk: &mut StdioProgram, tool: &str, arguments: &Value) -> Value {
    let answer = desk.request("tools/call", json!({ "name": tool, "arguments": arguments }));
    answer["result"].clone()
}

fn search(desk: &mut StdioProgram, query: &str) -> Value {
    call(desk, "resources_search", &json!({ "query": query }))["structuredContent"].clone()
}

fn uris(found: &Value) -> Vec<String> {
    let base = found["base"].as_str().unwrap_or_default();
    let hits = found["hits"].as_array().unwrap().iter();
    hits.map(|hit| format!("{base}{}", hit["uri"].as_str().unwrap())).collect()
}

/// Waits until a search gives these URIs.
fn settles(desk: &mut StdioProgram, query: &str, wanted: &[&str]) {
    let end = Instant::now() + MAX_WAIT;
    while uris(&search(desk, query)) != wanted {
        assert!(Instant::now() < end, "{query} does not find {wanted:?}");
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn a_question_is_answered_by_a_search_and_a_read_of_its_window() {
    let folder = app(SETTINGS);
    let mut desk = start(folder.path());
    let found = search(&mut desk, "how do I rotate the signing key");
    let hit = &found["hits"][0];
    assert_eq!(uris(&found)[0], "file:///app/guide.md", "{found}");
    assert!(hit["where"].as_str().unwrap().contains("Rotating keys"), "{hit}");
    assert!(hit["snippet"].as_str().unwrap().contains("**"), "{hit}");
    let window = json!({
        "uri": uris(&found)[0], "start_line": hit["start_line"], "max_lines": hit["max_lines"],
    });
    let read = call(&mut desk, "resources_read", &window)["structuredContent"].clone();
    let text = read["text"].as_str().unwrap();
    assert!(text.contains("refdesk rotate") && text.len() < 4_000, "{text}");
    let spent = tokens::estimate(&found.to_string()) + tokens::estimate(&read.to_string());
    assert!(spent < 3_000, "{spent}");
    assert_eq!(uris(&search(&mut desk, "署名の鍵を交換する"))[0], "file:///app/guide.md");
}

#[test]
fn a_document_is_found_by_its_text_with_the_page() {
    let folder = app(SETTINGS);
    let mut desk = start(folder.path());
    let found = search(&mut desk, "lighthouse keeper");
    assert_eq!(uris(&found), ["file:///app/report.pdf"], "{found}");
    assert!(found["hits"][0]["where"].as_str().unwrap().starts_with("page 7"), "{found}");
}

#[test]
fn changes_of_files_are_found_and_what_is_gone_is_not() {
    let folder = app(SETTINGS);
    let mut desk = start(folder.path());
    let file = folder.path().join("app/readme.txt");
    assert_eq!(uris(&search(&mut desk, "harbour")), ["file:///app/readme.txt"]);
    fs::write(&file, "An overview of the orchard.\n").unwrap();
    settles(&mut desk, "orchard", &["file:///app/readme.txt"]);
    assert!(uris(&search(&mut desk, "harbour")).is_empty());
    fs::rename(&file, folder.path().join("app/moved.txt")).unwrap();
    settles(&mut desk, "orchard", &["file:///app/moved.txt"]);
    fs::remove_file(folder.path().join("app/moved.txt")).unwrap();
    settles(&mut desk, "orchard", &[]);
}

#[test]
fn masked_secrets_are_in_no_file_of_the_index() {
    let folder = app(&format!("{SETTINGS}redact = true\n"));
    // Words without synonyms, which other texts may have.
    let secret = "zebra-horse-walnut-8431";
    let text = format!("[database]\nhost = \"lagoon\"\npassword = \"{secret}\"\n");
    fs::write(folder.path().join("app/settings.toml"), text).unwrap();
    let mut desk = start(folder.path());
    assert_eq!(uris(&search(&mut desk, "lagoon")), ["file:///app/settings.toml"]);
    assert!(uris(&search(&mut desk, secret)).is_empty());
    let files = files_below(&folder.path().join(".cache/refdesk/index"));
    assert!(!files.is_empty());
    for file in files {
        let bytes = fs::read(&file).unwrap();
        for part in [secret, "horse", "8431"] {
            let found = bytes.windows(part.len()).any(|window| window == part.as_bytes());
            assert!(!found, "{part} in {}", file.display());
        }
    }
}

#[test]
fn what_access_rules_deny_is_not_found_nor_counted() {
    let folder = app(&format!("{SETTINGS}access = [{{ deny = [\"secret\"] }}]\n"));
    fs::create_dir(folder.path().join("app/secret")).unwrap();
    fs::write(folder.path().join("app/secret/plan.txt"), "The walrus plan\n").unwrap();
    let mut desk = start(folder.path());
    for query in ["walrus", "walrs", "walrus plan", "path:secret", "name:plan"] {
        let found = search(&mut desk, query);
        assert!(uris(&found).is_empty() && found["suggestion"].is_null(), "{query}: {found}");
    }
    let pack = json!({ "question": "the walrus plan", "budget": 1000 });
    let pack = call(&mut desk, "resources_pack", &pack).to_string();
    assert!(!pack.contains("secret"), "{pack}");
    let state = desk.request("resources/read", json!({ "uri": "refdesk://mounts/app" }));
    let state = state["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["index"], json!({ "complete": true }));
    // The index does have it: without the rule it is found at once.
    fs::write(folder.path().join("refdesk.toml"), SETTINGS).unwrap();
    settles(&mut desk, "walrus", &["file:///app/secret/plan.txt"]);
}

#[test]
fn hosts_without_tools_search_by_uri_and_by_prompt() {
    let folder = app(SETTINGS);
    let mut desk = start(folder.path());
    let uri = "search://app/rotate%20signing%20key";
    let read = desk.request("resources/read", json!({ "uri": uri }))["result"].clone();
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("<file:///app/guide.md>"), "{text}");
    let missing = desk.request("resources/read", json!({ "uri": "search://nowhere/key" }));
    let nothing = missing["result"]["contents"][0]["text"].as_str();
    assert!(missing["error"].is_object() || nothing == Some("Nothing found.\n"), "{missing}");
    let pack = desk.request("resources/read", json!({ "uri": "pack://rotate%20key?budget=900" }));
    let contents = pack["result"]["contents"].as_array().unwrap();
    let has_answer = |part: &Value| part["text"].as_str().unwrap().contains("refdesk rotate");
    assert!(contents.iter().any(has_answer), "{contents:?}");
    let prompts = desk.request("prompts/list", json!({}));
    assert_eq!(prompts["result"]["prompts"][0]["name"], "context");
    let arguments = json!({ "question": "rotate the key", "budget": "900" });
    let prompt = json!({ "name": "context", "arguments": arguments });
    let prompt = desk.request("prompts/get", prompt)["result"].clone();
    let messages = prompt["messages"].as_array().unwrap();
    assert_eq!(messages[0]["content"]["type"], "resource", "{messages:?}");
    let last = messages.last().unwrap()["content"]["text"].as_str().unwrap();
    assert!(last.ends_with("rotate the key"), "{last}");
}

#[test]
fn ten_hits_cost_a_model_at_most_700_tokens() {
    let folder = app(SETTINGS);
    for at in 0..30 {
        let text = format!(
            "# Chapter {at}\n\nA long sentence about tides and currents, number {at}, which goes on \
             for a while so that a snippet has to cut it somewhere in the middle of it all, as \
             snippets do in the results of any search over longer texts.\n"
        );
        fs::write(folder.path().join(format!("app/chapter-{at:02}.md")), text).unwrap();
        let text = format!(
            "# 第{at}章\n\n潮の流れについての長い文章。{}\n",
            "海流は季節とともに変わる。".repeat(20)
        );
        fs::write(folder.path().join(format!("app/章-{at:02}.md")), text).unwrap();
    }
    let mut desk = start(folder.path());
    for query in ["tides and currents", "海流の変化"] {
        let found = search(&mut desk, query);
        assert_eq!(uris(&found).len(), 10, "{found}");
        let cost = tokens::estimate(&found.to_string());
        assert!(cost <= 700, "{query}: {cost} tokens: {found}");
        let cursor = found["cursor"].as_str().unwrap();
        assert!(cursor.len() <= 96, "{cursor}");
        let next = json!({ "query": query, "cursor": cursor });
        let next = call(&mut desk, "resources_search", &next)["structuredContent"].clone();
        assert!(uris(&next).iter().all(|uri| !uris(&found).contains(uri)), "{next}");
    }
}

#[test]
fn the_index_is_shown_filled_and_removed() {
    let folder = app(SETTINGS);
    let index = |arguments: &[&str]| run(folder.path(), &[&["index"], arguments].concat());
    let told = output_text(&index(&["status"]));
    assert!(told.contains("there is no index yet"), "{told}");
    let told = output_text(&index(&["rebuild"]));
    assert!(told.contains("indexed 3 resources"), "{told}");
    let status = output_text(&index(&["status", "--json"]));
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!((&status["resources"]["app"], &status["inUse"]), (&json!(3), &json!(false)));
    let desk = start(folder.path());
    let told = output_text(&index(&["clear"]));
    assert!(told.contains("a running refdesk writes this index"), "{told}");
    drop(desk);
    let mut desk = start(folder.path());
    assert_eq!(uris(&search(&mut desk, "harbour")), ["file:///app/readme.txt"]);
    desk.close();
    assert!(index(&["clear"]).status.success());
    let told = output_text(&index(&["status"]));
    assert!(told.contains("there is no index yet"), "{told}");
}

#[test]
fn without_an_index_there_are_no_tools_that_need_it() {
    for settings in
        [format!("[search]\nenabled = false\n{SETTINGS}"), format!("{SETTINGS}index = false\n")]
    {
        let folder = app(&settings);
        let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio"]));
        let tools = desk.request("tools/list", json!({}))["result"]["tools"].clone();
        let has = |name: &str| tools.as_array().unwrap().iter().any(|tool| tool["name"] == name);
        assert!(has("resources_grep") && !has("resources_search") && !has("resources_pack"));
    }
}
