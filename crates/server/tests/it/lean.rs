//! Tests of what the tools' results cost a model, in tokens and bytes.
//!
//! Some hosts give the model the structured content instead of the text, others only the text, so
//! that each has to be lean and complete by itself.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use resource::tokens;
use serde_json::{Value, json};
use server::{CollectionsMode, Limits};
use testkit::MemoryProvider;

use crate::fixture::{self, StdioClient, initialize, request};

async fn open(memory: MemoryProvider) -> StdioClient {
    let server = fixture::server(Arc::new(memory), Limits::default(), CollectionsMode::Always);
    let mut pipe = StdioClient::open(server);
    pipe.call(&initialize("2025-11-25")).await;
    pipe
}

async fn call(pipe: &mut StdioClient, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    let result = pipe.call(&request(1, "tools/call", params)).await["result"].take();
    assert_ne!(result["isError"], true, "{result}");
    result
}

/// The structured content and the text blocks of a result, as a model reads them.
fn shown(result: &Value) -> [(&'static str, String); 2] {
    let blocks = result["content"].as_array().unwrap();
    let text = blocks.iter().filter_map(|block| block["text"].as_str());
    let others = blocks.iter().filter(|block| block.get("text").is_none());
    let text = text.map(str::to_owned).chain(others.map(Value::to_string));
    [
        ("structured", result["structuredContent"].to_string()),
        ("text", text.collect::<Vec<_>>().join("\n")),
    ]
}

/// Asserts that each form of the result costs at most `ratio` times the bare text in that form, in
/// tokens and bytes.
fn assert_lean(what: &str, result: &Value, [structured, text]: [&str; 2], ratio: f64) {
    for ((form, shown), bare) in shown(result).into_iter().zip([structured, text]) {
        let tokens = tokens::estimate(&shown) as f64 / tokens::estimate(bare) as f64;
        let bytes = shown.len() as f64 / bare.len() as f64;
        assert!(bytes <= ratio && tokens <= ratio, "{what}, {form}: {bytes:.2}, {tokens:.2}");
    }
}

/// A hundred files, described as those of a folder are.
fn files(names: impl Fn(usize) -> String) -> (MemoryProvider, Vec<String>) {
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let uris: Vec<String> =
        (0..100).map(|at| format!("file:///code/crates/server/src/{}", names(at))).collect();
    let with = |memory: MemoryProvider, uri: &String| {
        memory.text(uri, "fn main() {}\n").with_description(|resource| {
            resource.mime = Some("text/x-rust".to_owned());
            resource.etag = Some("1a2b3c4d5e6f7a8b".to_owned());
            resource.size = Some(uri.len() as u64 * 37);
            resource.annotations.modified = Some(modified);
            resource.annotations.priority = Some(0.5);
        })
    };
    (uris.iter().fold(MemoryProvider::new(), with), uris)
}

#[tokio::test]
async fn a_page_of_files_costs_little_more_than_its_uris() {
    let plain = files(|at| format!("module_{at}.rs"));
    let same_names = files(|at| match at % 2 {
        0 => format!("part_{at}/mod.rs"),
        _ => format!("part_{at}.rs"),
    });
    let one_name = files(|at| format!("part_{at}/mod.rs"));
    for (memory, uris) in [plain, same_names, one_name] {
        let result = call(&mut open(memory).await, "resources_list", json!({ "uri": "**" })).await;
        let bare = uris.join("\n");
        assert_lean("100 files", &result, [&bare, &bare], 2.5);
        for (form, shown) in shown(&result) {
            assert!(uris.iter().all(|uri| shown.contains(uri)), "{form}");
            for word in ["etag", "capabilities", "_meta", "1a2b3c4d"] {
                assert!(!shown.contains(word), "{form} has {word}");
            }
        }
    }
}

const PATHS: [&str; 5] =
    ["src/list.rs", "src/grep/mod.rs", "src/read.rs", "tests/it/main.rs", "build.rs"];

#[tokio::test]
async fn thirty_matches_cost_little_more_than_what_ripgrep_prints() {
    let many: Vec<String> = (0..30).map(|at| format!("src/part_{at}/mod.rs")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for paths in [&PATHS[..], &PATHS[..1], &many] {
        let (mut memory, mut printed) = (MemoryProvider::new(), String::new());
        for path in paths {
            let mut text = String::new();
            for line in 1..=30 / paths.len() * 10 {
                let is_found = line % 10 == 0;
                let words = match is_found {
                    true => {
                        format!("    let found_{line} = search(\"needle\", &haystack[{line}..]);")
                    }
                    false => "    nothing(of, interest);".to_owned(),
                };
                if is_found {
                    printed.push_str(&format!("{path}:{line}:{words}\n"));
                }
                text.push_str(&words);
                text.push('\n');
            }
            memory = memory.text(&format!("file:///code/{path}"), &text);
        }
        let arguments = json!({ "pattern": "needle" });
        let result = call(&mut open(memory).await, "resources_grep", arguments).await;
        assert_lean("30 matches", &result, [&printed, &printed], 1.3);
    }
}

#[tokio::test]
async fn a_read_costs_its_text_and_hardly_more() {
    let text = "The quick brown fox jumps over the lazy dog.\n".repeat(1000);
    let memory =
        MemoryProvider::new().text("file:///code/long.txt", &text).with_description(|one| {
            one.etag = Some("1a2b3c4d5e6f7a8b".to_owned());
        });
    let mut pipe = open(memory).await;
    let arguments =
        json!({ "uri": "file:///code/long.txt", "max_lines": 1000, "max_bytes": 100_000 });
    let result = call(&mut pipe, "resources_read", arguments).await;
    // As a JSON string, each line break has two characters.
    assert_lean("1,000 lines", &result, [&json!(text).to_string(), &text], 1.05);
    assert!(result["structuredContent"].to_string().len() < text.len() * 105 / 100);
    let first = json!({ "uri": "file:///code/long.txt" });
    let result = call(&mut pipe, "resources_read", first).await;
    let (window, _) = text.split_at(24_975);
    assert_lean("the first window", &result, [&json!(window).to_string(), window], 1.05);
    assert!(result["structuredContent"]["etag"] == "1a2b3c4d5e6f7a8b", "to continue safely");
}

#[tokio::test]
async fn what_every_session_pays_for_is_short() {
    let mut pipe = StdioClient::open(fixture::default_server());
    let opened = pipe.call(&initialize("2025-11-25")).await["result"].take();
    let words = opened["instructions"].as_str().unwrap();
    assert!(tokens::estimate(words) < 400 && !words.contains("_meta"), "{words}");
    let tools = pipe.call(&request(1, "tools/list", json!({}))).await["result"].take();
    let cost = tokens::estimate(&tools.to_string());
    assert!(cost < 3_300, "tools/list costs {cost} tokens");
}
