//! Tests of our own tools, for hosts that know only tools.

use std::sync::Arc;

use serde_json::{Value, json};
use server::{CollectionsMode, Limits, Server};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};

use crate::fixture::{self, memory, stateless};
use crate::tool_host::{MODERN, REVISIONS, ToolHost, serve_with_page_size};

fn names(page: &Value) -> Vec<&str> {
    page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

const ALL: [&str; 9] = [
    "resources_list",
    "resources_templates",
    "resources_metadata",
    "resources_read",
    "resources_read_embedded",
    "resources_grep",
    "resources_watch",
    "resources_unwatch",
    "resources_changes",
];

#[tokio::test]
async fn the_tools_are_listed_in_one_order_as_each_revision_knows_them() {
    for revision in REVISIONS.into_iter().chain([MODERN]) {
        let mut host = ToolHost::of(revision, serve_with_page_size(memory(), 100)).await;
        let page = host.ask("tools/list", json!({})).await;
        assert_eq!(names(&page), ALL, "{revision}");
        for tool in page["tools"].as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["type"], "object");
            let is_blocks = tool["name"] == "resources_read_embedded";
            let has_schema = revision >= "2025-06-18" && !is_blocks;
            assert_eq!(tool.get("outputSchema").is_some(), has_schema);
            assert_eq!(tool["annotations"]["readOnlyHint"] == true, revision >= "2025-03-26");
        }
    }
}

/// Our resources, five relayed tools, and a relayed tool with one of our names.
fn with_relayed_tools() -> MemoryProvider {
    let described = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let with = |memory: MemoryProvider, at: usize| {
        let name = format!("other_{at}");
        memory.tool(&name, &described(&name).to_string(), r#"{"content":[]}"#)
    };
    let impostor = described("resources_list").to_string();
    (0..5).fold(memory(), with).tool("resources_list", &impostor, r#"{"content":[],"x":1}"#)
}

/// Our tools come first, and a name of ours always means our tool.
#[tokio::test]
async fn tools_of_others_come_behind_ours() {
    let others = (0..5).map(|at| format!("other_{at}"));
    let all: Vec<String> = ALL.into_iter().map(str::to_owned).chain(others).collect();
    for page in [1, 2, 4, 9, 10, 100] {
        let mut host = ToolHost::modern(serve_with_page_size(with_relayed_tools(), page)).await;
        let (mut seen, mut params) = (Vec::new(), json!({}));
        loop {
            let page = host.ask("tools/list", params).await;
            seen.extend(names(&page).iter().map(|name| (*name).to_owned()));
            match page.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        assert_eq!(seen, all, "pages of {page}");
        assert!(host.call("resources_list", json!({})).await.get("x").is_none());
    }
}

#[tokio::test]
async fn a_server_may_go_without_tools() {
    let server =
        Server::new(Arc::new(memory()), Limits::default(), [7; 32], CollectionsMode::Always);
    let mut host = ToolHost::modern(Arc::new(server.without_tools())).await;
    let told = host.pipe.call(&stateless(1, "server/discover", json!({}))).await;
    assert!(told["result"]["capabilities"].get("tools").is_none());
    let refused = host.pipe.call(&stateless(1, "tools/list", json!({}))).await;
    assert_eq!(refused["error"]["code"], -32601);
}

#[tokio::test]
async fn everything_is_listed_once_and_can_be_read() {
    for page in [1, 3, 100] {
        let mut host = ToolHost::modern(serve_with_page_size(memory(), page)).await;
        let (mut seen, mut arguments) = (Vec::new(), json!({ "recursive": true, "links": true }));
        loop {
            let result = host.call("resources_list", arguments.clone()).await;
            let structured = &result["structuredContent"];
            let resources = structured["resources"].as_array().unwrap();
            // The text names the same resources, and each has a link.
            assert_eq!(result["content"].as_array().unwrap().len(), 1 + resources.len());
            for (resource, link) in
                resources.iter().zip(&result["content"].as_array().unwrap()[1..])
            {
                assert_eq!(
                    (&link["type"], &link["uri"]),
                    (&json!("resource_link"), &resource["uri"])
                );
                let words = result["content"][0]["text"].as_str().unwrap();
                assert!(words.contains(resource["uri"].as_str().unwrap()), "{words}");
                seen.push(resource["uri"].clone());
            }
            match structured.get("cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => break,
            }
        }
        let mut once = seen.clone();
        once.dedup();
        assert_eq!((once.len(), seen.len()), (7, 7), "pages of {page}: {seen:?}");
        for uri in &seen {
            assert!(host.is_readable(uri).await, "{uri}");
        }
    }
}

/// A cycle, or an entry that disappears between two pages, repeats nothing.
#[tokio::test]
async fn a_walk_goes_round_no_circle_and_stands_on_no_single_entry() {
    let memory = MemoryProvider::new()
        .text("test://1", "")
        .collection("test://top", &["test://a"])
        .collection("test://a", &["test://b"])
        .collection("test://b", &["test://a", "test://c"])
        .text("test://c", "")
        .text("test://2", "");
    let mut host = ToolHost::modern(serve_with_page_size(memory, 1)).await;
    let (mut seen, mut arguments) = (Vec::new(), json!({ "recursive": true }));
    for _ in 0..20 {
        let page = host.structured("resources_list", arguments.clone()).await;
        seen.extend(page["resources"].as_array().unwrap().iter().map(|one| one["uri"].clone()));
        let Some(cursor) = page.get("cursor") else { break };
        arguments["cursor"] = cursor.clone();
    }
    let names = ["1", "top", "a", "b", "a", "c", "2"].map(|name| json!(format!("test://{name}")));
    assert_eq!(seen, names);
    let memory = Arc::new(
        (0..4).fold(MemoryProvider::new(), |memory, at| memory.text(&format!("test://{at}"), "")),
    );
    let limits = Limits { page: 2, ..Limits::default() };
    let server = fixture::server(Arc::clone(&memory), limits, CollectionsMode::Always);
    let mut host = ToolHost::modern(server).await;
    let first = host.structured("resources_list", json!({})).await;
    memory.remove("test://1");
    let rest = host.structured("resources_list", json!({ "cursor": first["cursor"] })).await;
    let uris: Vec<&Value> =
        rest["resources"].as_array().unwrap().iter().map(|one| &one["uri"]).collect();
    assert_eq!(uris, ["test://2", "test://3"]);
}

#[tokio::test]
async fn a_list_can_be_sorted_page_by_page() {
    let sized = |memory: MemoryProvider, at: usize| {
        let text = "x".repeat(at * 7 % 10 + 1);
        memory.text(&format!("test://{at}"), &text).with_description(|resource| {
            resource.size = Some((at * 7 % 10 + 1) as u64);
            resource.annotations.priority = (at > 2).then_some(at as f64 / 10.0);
        })
    };
    let memory = (0..10).fold(MemoryProvider::new(), sized);
    let mut host = ToolHost::modern(serve_with_page_size(memory, 3)).await;
    for (sort, member) in [("size", "size"), ("priority", "priority")] {
        let (mut seen, mut arguments) = (Vec::new(), json!({ "sort": sort }));
        loop {
            let page = host.structured("resources_list", arguments.clone()).await;
            for resource in page["resources"].as_array().unwrap() {
                let value = resource.get(member).or(resource["annotations"].get(member));
                seen.push(value.and_then(Value::as_f64).unwrap_or(-1.0));
            }
            match page.get("cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => break,
            }
        }
        assert_eq!(seen.len(), 10);
        assert!(seen.is_sorted_by(|one, other| one >= other), "{sort}: {seen:?}");
    }
    let forged = host.error_text("resources_list", json!({ "sort": "size", "cursor": "x" })).await;
    assert!(forged.contains("cursor"), "{forged}");
}

/// The structured result that programs rely on.
#[tokio::test]
async fn a_window_says_where_it_lies_and_how_to_go_on() {
    let text = "一行目\n二行目\n三行目\n";
    let mut host =
        ToolHost::modern(serve_with_page_size(MemoryProvider::new().text("test://ja", text), 100))
            .await;
    let arguments = json!({ "uri": "test://ja", "offset": 0, "max_bytes": 12 });
    let given = host.structured("resources_read", arguments).await;
    let etag = &given["etag"];
    let window = json!({ "text": "一行目\n", "total_bytes": 30, "next": { "offset": 10 },
        "etag": etag });
    assert_eq!(given, window);
    let lines = json!({ "uri": "test://ja", "start_line": 2, "max_lines": 1 });
    let given = host.structured("resources_read", lines).await;
    assert_eq!(given["text"], "二行目\n");
    assert_eq!(given["next"], json!({ "start_line": 3 }));
    let whole = host.call("resources_read", json!({ "uri": "test://ja" })).await;
    assert_eq!(whole["structuredContent"], json!({ "text": text }));
    assert_eq!(whole["content"], json!([{ "type": "text", "text": text }]));
    let numbered = json!({ "uri": "test://ja", "start_line": 2, "line_numbers": true });
    let given = host.structured("resources_read", numbered).await;
    assert_eq!(given["text"], "2\t二行目\n3\t三行目\n");
    let tokens = json!({ "uri": "test://ja", "max_tokens": 3 });
    let given = host.structured("resources_read", tokens).await;
    assert!(given["text"].as_str().unwrap().len() < 30, "{given}");
    // The same window as an embedded resource, with the window in `_meta`.
    let blocks = json!({ "uri": "test://ja", "max_bytes": 12, "use_content_blocks": true });
    let result = host.call("resources_read", blocks).await;
    let block = &result["content"][0];
    assert_eq!(
        (&block["type"], &block["resource"]["text"]),
        (&json!("resource"), &json!("一行目\n"))
    );
    assert_eq!(block["resource"]["_meta"]["dev.refdesk/window"]["next"], 10);
    let told = json!({ "total_bytes": 30, "next": { "offset": 10 }, "etag": etag });
    assert_eq!(result["structuredContent"], told, "nothing comes twice");
}

#[tokio::test]
async fn blobs_are_cut_on_their_own_bytes() {
    let bytes: Vec<u8> = (0..=255).collect();
    let mut host =
        ToolHost::modern(serve_with_page_size(MemoryProvider::new().blob("test://b", &bytes), 100))
            .await;
    let (mut all, mut offset) = (Vec::new(), json!(0));
    loop {
        let arguments = json!({ "uri": "test://b", "offset": offset, "max_bytes": 100,
            "use_content_blocks": true });
        let given = host.call("resources_read", arguments).await;
        let blob = given["content"][0]["resource"]["blob"].as_str().unwrap();
        all.extend(base64_simd::STANDARD.decode_to_vec(blob).unwrap());
        match given["structuredContent"]["next"].get("offset") {
            Some(next) => offset = next.clone(),
            None => break,
        }
    }
    assert_eq!(all, bytes);
    let given = host.structured("resources_read", json!({ "uri": "test://b" })).await;
    assert_eq!((&given["total_bytes"], given.get("text")), (&json!(256), None));
    assert!(given["note"].as_str().unwrap().contains("use_content_blocks"), "{given}");
}

#[tokio::test]
async fn measures_that_exclude_each_other_are_refused() {
    let mut host = ToolHost::modern(serve_with_page_size(memory(), 100)).await;
    for more in [
        json!({ "offset": 1, "start_line": 1 }),
        json!({ "max_tokens": 1, "max_lines": 1 }),
        json!({ "max_tokens": 1, "max_bytes": 1 }),
    ] {
        let mut arguments = json!({ "uri": "test://static-text" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let words = host.error_text("resources_read", arguments).await;
        assert!(words.contains("exclude"), "{words}");
    }
    let words =
        host.error_text("resources_read", json!({ "uri": "test://static-text", "max": 1 })).await;
    assert!(words.contains("unknown field `max`"), "{words}");
}

#[tokio::test]
async fn what_does_not_exist_is_refused_with_the_nearest_names() {
    let mut host = ToolHost::modern(serve_with_page_size(memory(), 100)).await;
    let result = host.call("resources_read", json!({ "uri": "test://static-tex" })).await;
    let words = result["content"][0]["text"].as_str().unwrap();
    assert!(words.contains("did you mean test://static-text"), "{words}");
    let facts = &result["_meta"]["dev.refdesk/error"];
    assert_eq!(facts, &json!({ "kind": "not_found", "uri": "test://static-tex" }));
    let words = host.error_text("resources_read", json!({ "uri": "other:thing" })).await;
    assert!(words.contains("resources_list"), "{words}");
}

/// S2093-26, B-14: each revision gets only the content types it knows.
#[tokio::test]
async fn embedded_resources_are_shaped_as_each_revision_knows_them() {
    for revision in REVISIONS.into_iter().chain([MODERN]) {
        let mut host = ToolHost::of(revision, serve_with_page_size(memory(), 100)).await;
        let uris = json!(["test://static-text", "test://static-binary"]);
        let result = host.call("resources_read_embedded", json!({ "uris": uris })).await;
        let blocks = result["content"].as_array().unwrap();
        assert_eq!(blocks.len(), 2, "{revision}: {result}");
        assert_eq!(blocks[0]["resource"]["uri"], "test://static-text");
        assert!(blocks[0]["resource"]["text"].as_str().unwrap().contains("日本語"));
        assert_eq!(blocks[1]["resource"]["blob"], "iVBORwD/");
        assert_eq!(blocks[0]["annotations"]["priority"], 0.8, "{revision}");
        assert_eq!(result.get("structuredContent"), None, "nothing comes twice");
        let media = json!({ "uris": uris, "media": true });
        let result = host.call("resources_read_embedded", media).await;
        let image = &result["content"][1];
        assert_eq!((&image["type"], &image["data"]), (&json!("image"), &json!("iVBORwD/")));
        // What does not fit is a link, or text in revisions without links.
        let little = json!({ "uris": uris, "max_bytes": 8 });
        let result = host.call("resources_read_embedded", little).await;
        let first = &result["content"][0];
        let links = revision >= "2025-06-18";
        assert_eq!(first["type"], if links { "resource_link" } else { "text" });
        if links {
            assert_eq!(first["uri"], uris[0]);
            assert_eq!(first["_meta"]["dev.refdesk/window"], json!({ "offset": 0 }));
        }
        assert_eq!(result["content"][1]["resource"]["uri"], uris[1]);
    }
}

#[tokio::test]
async fn one_that_fails_does_not_fail_the_others() {
    let mut host = ToolHost::modern(serve_with_page_size(memory(), 100)).await;
    let uris = json!(["test://folder/a", "test://none", "test://folder"]);
    let given = host.structured("resources_metadata", json!({ "uris": uris })).await;
    assert_eq!(given["failed"][0]["uri"], "test://none");
    assert_eq!(given["failed"].as_array().unwrap().len(), 1, "{given}");
    let given = host.call("resources_read_embedded", json!({ "uris": uris })).await;
    let last = given["content"].as_array().unwrap().last().unwrap();
    assert!(last["text"].as_str().unwrap().starts_with("test://none: "), "{given}");
    for tool in ["resources_read_embedded", "resources_metadata"] {
        let words = host.error_text(tool, json!({ "uris": ["test://none"] })).await;
        assert!(words.contains("not found"), "{words}");
    }
}

#[tokio::test]
async fn descriptions_tell_size_and_tokens_without_content() {
    let text = "word ".repeat(10_000);
    let mut host =
        ToolHost::modern(serve_with_page_size(memory().text("test://long", &text), 100)).await;
    let uris = json!(["test://long", "test://static-binary", "test://folder"]);
    let given = host.structured("resources_metadata", json!({ "uris": uris })).await;
    let [long, binary, folder] = [0, 1, 2].map(|at| &given["resources"][at]);
    let tokens = long["tokens"].as_u64().unwrap();
    assert!((8_000..13_000).contains(&tokens), "{tokens}");
    assert!(long.get("text").is_none() && binary.get("tokens").is_none(), "{given}");
    assert_eq!(folder["isCollection"], true);
}

#[tokio::test]
async fn templates_tell_their_variables() {
    let mut host = ToolHost::modern(serve_with_page_size(memory(), 100)).await;
    let given = host.structured("resources_templates", json!({})).await;
    let template = &given["templates"][0];
    assert_eq!(template["uriTemplate"], "test://template/{id}/data");
    assert_eq!(template.get("variables"), None, "the template names them");
}

/// A read of a pinned version fails if the resource has changed.
#[tokio::test]
async fn a_change_between_two_windows_is_told() {
    let memory = Arc::new(
        MemoryProvider::new().text("test://a", "one two three").with_description(|resource| {
            resource.etag = Some("v1".to_owned());
        }),
    );
    let server = fixture::server(Arc::clone(&memory), Limits::default(), CollectionsMode::Always);
    let mut host = ToolHost::modern(server).await;
    let first = json!({ "uri": "test://a", "max_bytes": 4 });
    let given = host.structured("resources_read", first).await;
    assert_eq!(given["etag"], "v1");
    let second = json!({ "uri": "test://a", "offset": 4, "max_bytes": 4, "etag": "v0" });
    let result = host.call("resources_read", second).await;
    assert_eq!(result["isError"], true);
    let facts = &result["_meta"]["dev.refdesk/error"];
    assert_eq!((&facts["kind"], &facts["etag"]), (&json!("changed"), &json!("v1")));
    let words = result["content"][0]["text"].as_str().unwrap();
    assert!(words.contains("the current etag is v1"), "{words}");
}

/// The error does not wait until a source that hangs is given up.
#[tokio::test(start_paused = true)]
async fn a_suggestion_waits_for_no_source_that_hangs() {
    let memory = Arc::new(memory());
    let server = fixture::server(Arc::clone(&memory), Limits::default(), CollectionsMode::Always);
    let mut host = ToolHost::modern(server).await;
    memory.inject_fault(FaultPoint::List, Fault::Hangs);
    let begun = tokio::time::Instant::now();
    let words = host.error_text("resources_read", json!({ "uri": "test://static-tex" })).await;
    assert!(words.contains("call resources_list to see what exists"), "{words}");
    assert!(begun.elapsed() <= std::time::Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn what_is_no_uri_is_refused_where_there_are_no_mounts() {
    let mut host = ToolHost::modern(serve_with_page_size(memory(), 100)).await;
    let words = host.error_text("resources_read", json!({ "uri": "static-text" })).await;
    assert!(words.contains("is not a URI"), "{words}");
    let note = host.structured("resources_list", json!({ "name": "ccc" })).await;
    assert!(note["note"].as_str().unwrap().contains("pass recursive: true"), "{note}");
}
