//! Tests of the tool `resources_grep`: matches, cursors, and the bounds of one call.

use std::sync::Arc;

use resource::{ErrorKind, Role, Uri};
use serde_json::{Value, json};
use server::{CollectionsMode, Limits};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};

use crate::fixture::{self, StdioClient, initialize, request, stateless, until};

pub(crate) fn open(memory: &Arc<MemoryProvider>, limits: Limits) -> StdioClient {
    StdioClient::open(fixture::server(Arc::clone(memory), limits, CollectionsMode::Always))
}

fn pipe(memory: MemoryProvider) -> (Arc<MemoryProvider>, StdioClient) {
    let memory = Arc::new(memory);
    let pipe = open(&memory, Limits::default());
    (memory, pipe)
}

/// The result of a tool call.
pub(crate) async fn call(pipe: &mut StdioClient, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    pipe.call(&stateless(1, "tools/call", params)).await["result"].take()
}

async fn grep(pipe: &mut StdioClient, arguments: Value) -> Value {
    call(pipe, "resources_grep", &arguments).await
}

pub(crate) fn matches(result: &Value) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    let matches = result["structuredContent"]["matches"].as_object();
    let base = result["structuredContent"]["base"].as_str().unwrap_or_default();
    for (path, lines) in matches.unwrap_or_else(|| panic!("{result}")) {
        let uri = format!("{base}{path}");
        let lines = lines.as_array().unwrap().iter().map(|line| line.as_str().unwrap());
        let matching = lines.filter_map(|line| {
            let digits = line.find(|letter: char| !letter.is_ascii_digit())?;
            line[digits..].starts_with(':').then(|| line[..digits].parse().unwrap())
        });
        found.extend(matching.map(|line| (uri.clone(), line)));
    }
    found
}

/// The matches of all pages, and the number of calls.
async fn all(pipe: &mut StdioClient, mut arguments: Value) -> (Vec<(String, u64)>, usize) {
    let (mut found, mut calls) = (Vec::new(), 0);
    loop {
        let result = grep(pipe, arguments.clone()).await;
        found.extend(matches(&result));
        calls += 1;
        let Some(cursor) = result["structuredContent"].get("cursor") else { break };
        arguments["cursor"] = cursor.clone();
    }
    (found, calls)
}

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

fn some(found: &[(&str, u64)]) -> Vec<(String, u64)> {
    found.iter().map(|(uri, line)| ((*uri).to_owned(), *line)).collect()
}

#[tokio::test]
async fn matches_are_told_as_lines_files_or_blocks() {
    let text = "one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\neight\r\n";
    let memory = MemoryProvider::new().text("test://a", text).with_description(|resource| {
        resource.annotations.priority = Some(0.5);
        resource.annotations.audience = vec![Role::User];
    });
    let (_, mut pipe) = pipe(memory.text("test://b", "nothing"));
    let mut arguments = json!({ "pattern": "^t|^eight$", "context": 1 });
    // Lines around two matches come once.
    let lines = ["1-one", "2:two", "3:three", "4-four", "7-seven", "8:eight"];
    let result = grep(&mut pipe, arguments.clone()).await;
    let structured = json!({ "matches": { "test://a": lines }, "searched": 2 });
    assert_eq!(result["structuredContent"], structured);
    let words = format!("test://a\n{}", lines.join("\n"));
    assert_eq!(result["content"], json!([{ "type": "text", "text": words }]));
    arguments["output"] = "files".into();
    let result = grep(&mut pipe, arguments.clone()).await;
    let structured = json!({ "files": { "test://a": 3 }, "searched": 2 });
    assert_eq!(result["structuredContent"], structured);
    assert_eq!(result["content"], json!([{ "type": "text", "text": "test://a: 3" }]));
    arguments["output"] = "blocks".into();
    let result = grep(&mut pipe, arguments).await;
    assert_eq!(result["structuredContent"], structured, "no line comes twice");
    // Adjacent matches share a block.
    let blocks = result["content"].as_array().unwrap();
    assert_eq!(blocks.len(), 3);
    let block = &blocks[1]["resource"];
    assert_eq!(block["text"], "one\r\ntwo\r\nthree\r\nfour\r\n");
    assert_eq!((&block["uri"], &block["mimeType"]), (&json!("test://a"), &json!("text/plain")));
    assert_eq!(block["annotations"], json!({ "audience": ["user"], "priority": 0.5 }));
    assert_eq!(block["_meta"]["dev.refdesk/match"], json!({ "line": 2, "lines": [2, 3] }));
    let window = &block["_meta"]["dev.refdesk/window"];
    assert_eq!((&window["start_line"], &window["lines"]), (&json!(1), &json!(4)));
    let block = &blocks[2]["resource"];
    assert_eq!(block["text"], "seven\r\neight\r\n");
    assert_eq!(block["_meta"]["dev.refdesk/match"], json!({ "line": 8 }));
    assert_eq!(block["_meta"]["dev.refdesk/window"]["start_line"], 7);
}

#[tokio::test]
async fn a_search_says_what_it_did_not_look_at() {
    let (_, mut pipe) = pipe(fixture::memory());
    let flat = json!({ "pattern": "ccc", "recursive": false });
    let told = grep(&mut pipe, flat).await["structuredContent"].take();
    assert_eq!(told["matches"], json!({}));
    let note = told["note"].as_str().unwrap();
    assert!(note.contains("no matches") && note.contains("nested folders were not searched"));
    let deep = grep(&mut pipe, json!({ "pattern": "ccc" })).await;
    assert_eq!(matches(&deep), some(&[("test://folder/in/c", 1)]));
}

/// `max_matches` counts resources here, and each is named once.
#[tokio::test]
async fn a_list_of_files_goes_on_at_the_next_file() {
    let mut memory = MemoryProvider::new();
    for at in 0..7 {
        memory = memory.text(&format!("test://{at}"), "x\nx\n");
    }
    let (_, mut pipe) = pipe(memory);
    let mut arguments = json!({ "pattern": "x", "output": "files", "max_matches": 3 });
    let mut found = Vec::new();
    loop {
        let told = grep(&mut pipe, arguments.clone()).await["structuredContent"].take();
        found.extend(told["files"].as_object().unwrap().clone());
        let Some(cursor) = told.get("cursor") else { break };
        arguments["cursor"] = cursor.clone();
    }
    let expected: Vec<_> = (0..7).map(|at| (format!("test://{at}"), json!(2))).collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn whoever_knows_no_structure_is_told_everything_in_words() {
    let (_, mut pipe) = pipe(MemoryProvider::new().text("test://a", "x1\nx2\n"));
    pipe.call(&initialize("2024-11-05")).await;
    let mut arguments = json!({ "pattern": "x", "max_matches": 1, "context": 0 });
    let mut said = String::new();
    for _ in 0..2 {
        let params = json!({ "name": "resources_grep", "arguments": arguments });
        let result = pipe.call(&request(1, "tools/call", params)).await["result"].take();
        assert_eq!(result.get("structuredContent"), None);
        let words = result["content"][0]["text"].as_str().unwrap();
        said.push_str(words);
        if let Some((_, cursor)) = words.split_once("call again with cursor ") {
            arguments["cursor"] = cursor.into();
        }
    }
    assert!(said.contains("test://a\n1:x1\n") && said.ends_with("test://a\n2:x2"), "{said}");
}

#[tokio::test]
async fn what_lies_deep_is_searched_and_what_is_no_text_is_left_out() {
    let memory = fixture::memory()
        .blob("test://bytes", b"aaa ccc")
        .text("test://zero", "ccc\0")
        .text("test://large", &"ccc\n".repeat((4 << 20) + 1));
    let (memory, mut pipe) = pipe(memory);
    memory.inject_fault(FaultPoint::Read(uri("test://folder/b")), Fault::Fails(ErrorKind::Denied));
    let result = grep(&mut pipe, json!({ "pattern": "(?i)A{3}|b{3}|C{3}" })).await;
    assert_eq!(matches(&result), some(&[("test://folder/a", 1), ("test://folder/in/c", 1)]));
    let told = &result["structuredContent"];
    assert_eq!((&told["searched"], &told["skipped"]), (&json!(3), &json!(5)));
    let words = result["content"][0]["text"].as_str().unwrap();
    assert!(words.contains("skipped 5 (binary, too large, or not readable)"), "{words}");
    let within = json!({ "pattern": "A{3}|C{3}", "ignore_case": true,
        "collection": "test://folder/in" });
    assert_eq!(matches(&grep(&mut pipe, within).await), some(&[("test://folder/in/c", 1)]));
    let filtered = json!({ "pattern": "[ab]{3}", "uri": "test://*/a", "mime": "text/" });
    assert_eq!(matches(&grep(&mut pipe, filtered).await), some(&[("test://folder/a", 1)]));
}

#[tokio::test]
async fn what_is_asked_wrongly_is_said_in_words() {
    let (memory, mut pipe) = pipe(fixture::memory());
    for (arguments, words) in [
        (json!({ "pattern": "a(b" }), "unclosed group, at character 2"),
        (json!({ "pattern": r"(\w{500}){500}" }), "too large"),
        (json!({ "pattern": "a", "cursor": "AAAA" }), "cursor"),
        (json!({ "pattern": "a", "uri": "[" }), "invalid glob"),
        (json!({ "pattern": "a", "collection": "test://none" }), "test://none"),
    ] {
        let result = grep(&mut pipe, arguments).await;
        let told = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && told.contains(words), "{told}");
    }
    assert_eq!(memory.counts().reads(), 0);
}

/// Texts of many sizes, and their lines with an x.
fn texts() -> (MemoryProvider, Vec<(String, u64)>) {
    let (mut memory, mut expected) = (MemoryProvider::new(), Vec::new());
    for (name, lines, every) in
        [("a", 10, 3), ("b", 0, 1), ("c", 150_000, 20_000), ("d", 300, 300), ("e", 5, 1)]
    {
        let uri = format!("test://{name}");
        let mut text = String::new();
        for line in 1..=lines {
            let is_found = line % every == 0;
            text.push_str(if is_found { "here is an x\n" } else { "日本語の長い行\n" });
            if is_found {
                expected.push((uri.clone(), line));
            }
        }
        memory = memory.text(&uri, &text);
    }
    (memory, expected)
}

#[tokio::test]
async fn whoever_follows_cursors_is_told_each_match_once() {
    let (memory, expected) = texts();
    let (_, mut pipe) = pipe(memory);
    for most in [1, 2, 7, 1000] {
        let (found, calls) = all(&mut pipe, json!({ "pattern": "x", "max_matches": most })).await;
        assert_eq!(found, expected, "{most} at once");
        assert_eq!(calls, expected.len().div_ceil(most), "no call is made in vain");
    }
}

#[tokio::test]
async fn a_cursor_belongs_to_its_search_and_outlives_what_it_names() {
    let (memory, mut pipe) = pipe(texts().0);
    let arguments = json!({ "pattern": "x", "max_matches": 4 });
    let first = grep(&mut pipe, arguments).await;
    assert_eq!(matches(&first).last().unwrap(), &("test://c".to_owned(), 20_000));
    let cursor = &first["structuredContent"]["cursor"];
    for other in [json!({ "pattern": "y" }), json!({ "pattern": "x", "ignore_case": true })] {
        let mut other = other;
        other["cursor"] = cursor.clone();
        assert_eq!(grep(&mut pipe, other).await["isError"], true);
    }
    memory.remove("test://c");
    let rest = grep(&mut pipe, json!({ "pattern": "x", "cursor": cursor })).await;
    assert_eq!(matches(&rest)[..2], some(&[("test://d", 300), ("test://e", 1)]));
}

#[tokio::test]
async fn a_result_is_bounded_in_bytes() {
    let text = format!("x{}\n", "y".repeat(5_000)).repeat(300);
    let (_, mut pipe) = pipe(MemoryProvider::new().text("test://a", &text));
    let arguments = json!({ "pattern": "x", "max_matches": 1000 });
    let first = grep(&mut pipe, arguments.clone()).await;
    assert!(first.to_string().len() < 3 << 19 && matches(&first).len() > 30);
    let (found, calls) = all(&mut pipe, arguments).await;
    let expected: Vec<_> = (1..=300).map(|line| ("test://a".to_owned(), line)).collect();
    assert!(found == expected && calls > 1, "{calls} calls");
}

#[tokio::test]
async fn so_many_resources_are_looked_at_in_one_call_and_no_more() {
    let mut memory = MemoryProvider::new();
    for at in 0..20_050 {
        memory = memory.text(&format!("test://{at}"), "x");
    }
    let (memory, mut pipe) = pipe(memory);
    let (found, calls) = all(&mut pipe, json!({ "pattern": "x", "uri": "test://2004?" })).await;
    let told = (found.len(), calls, memory.counts().reads());
    assert_eq!(told, (10, 1, 10), "the provider applies the filter, so that only matches count");
    let (found, calls) = all(&mut pipe, json!({ "pattern": "y" })).await;
    assert_eq!((found.len(), calls), (0, 2), "without a filter, all of them count");
}

#[tokio::test(start_paused = true)]
async fn what_takes_all_the_time_is_left_out_and_the_rest_is_found() {
    let memory =
        MemoryProvider::new().text("test://a", "x").text("test://b", "x").text("test://c", "x");
    let (memory, mut pipe) = pipe(memory);
    memory.inject_fault(FaultPoint::Read(uri("test://b")), Fault::Hangs);
    let arguments = json!({ "pattern": "x" });
    let (found, calls) = all(&mut pipe, arguments).await;
    assert_eq!(found, some(&[("test://a", 1), ("test://c", 1)]));
    assert_eq!(calls, 3, "it is waited for once more, alone");
    assert_eq!(memory.counts().in_flight(), 0);
}

/// L-06, D-05.
#[tokio::test]
async fn a_search_that_is_cancelled_reads_no_more() {
    let mut memory = MemoryProvider::new();
    for at in 0..100 {
        memory = memory.text(&format!("test://{at}"), "x");
    }
    let (memory, mut pipe) = pipe(memory);
    memory.inject_fault(FaultPoint::Read(uri("test://10")), Fault::Hangs);
    let params = json!({ "name": "resources_grep", "arguments": { "pattern": "x" } });
    pipe.send_message(&stateless(7, "tools/call", params)).await;
    until(|| memory.counts().reads() == 18).await;
    let cancel = json!({ "requestId": 7 });
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel });
    pipe.send_message(&notice).await;
    until(|| memory.counts().in_flight() == 0).await;
    memory.clear_faults();
    pipe.call(&stateless(8, "server/discover", json!({}))).await;
    assert_eq!(memory.counts().reads(), 18);
}

#[tokio::test]
async fn a_long_search_tells_how_far_it_has_come() {
    let mut memory = MemoryProvider::new();
    for at in 0..100 {
        memory = memory.text(&format!("test://{at}"), "x");
    }
    let (memory, mut pipe) = pipe(memory);
    memory.inject_fault(FaultPoint::Read(uri("test://50")), Fault::Waits);
    let params = json!({ "name": "resources_grep", "arguments": { "pattern": "x" },
        "_meta": { "progressToken": "p" } });
    pipe.send_message(&stateless(1, "tools/call", params)).await;
    loop {
        let told = pipe.receive().await;
        assert_eq!(told["params"]["progressToken"], "p");
        if told["params"]["progress"] == 50 {
            break;
        }
    }
    memory.clear_faults();
    let mut told = pipe.receive().await;
    while told.get("id").is_none() {
        told = pipe.receive().await;
    }
    assert_eq!(matches(&told["result"]).len(), 100);
}
