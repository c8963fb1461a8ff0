//! Tests of servers with a search of their own, which a search asks along.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use resource::tokens;
use serde_json::{Value, json};

use crate::fake_server::{Era, FakeRequest, FakeResponse, FakeServer, TransportKind};
use crate::program::{output_text, run};
use crate::test_client::TestClient;

const OWN: &str = "[mounts.app]\nkind = \"fs\"\npath = \"app\"\n";
const BY_TOOL: &str = "search = { tool = \"search_docs\" }\n";
const GUIDE: &str = "file:///app/guide.md";

fn app() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("app")).unwrap();
    fs::write(folder.path().join("app/guide.md"), "To rotate the signing key, wait.\n").unwrap();
    folder
}

/// A server with these resources as URI and text, whose search responds so.
fn hub(
    texts: &[(&'static str, &'static str)],
    search: impl Fn(&FakeRequest<'_>) -> FakeResponse + Send + Sync + 'static,
) -> FakeServer {
    let texts = texts.to_vec();
    FakeServer::start(Era::Modern, TransportKind::Pipe, move |request| match request.method {
        "resources/list" => {
            let entry = |(uri, _): &(&str, &str)| json!({ "uri": uri, "name": uri });
            let listed: Vec<Value> = texts.iter().map(entry).collect();
            FakeResponse::Result(json!({ "resources": listed }))
        }
        "resources/read" => {
            let text = texts.iter().find(|(uri, _)| request.params["uri"] == *uri);
            match text {
                Some((uri, text)) => {
                    FakeResponse::Result(json!({ "contents": [{ "uri": uri, "text": text }] }))
                }
                None => search(request),
            }
        }
        "tools/call" => search(request),
        _ => FakeResponse::Error(-32601, "no such method"),
    })
}

fn found(rows: &Value) -> FakeResponse {
    FakeResponse::Result(json!({ "content": [], "structuredContent": { "result": rows } }))
}

/// Starts refdesk and waits until the index covers `app`, if it has that mount.
fn start(folder: &Path, settings: &str) -> TestClient {
    let mut client = TestClient::piped(folder, settings);
    if settings.contains(OWN) {
        let status = json!({ "uri": "refdesk://mounts/app" });
        let mut is_complete = || {
            let answer = client.request("resources/read", status.clone());
            let text = answer["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
            serde_json::from_str::<Value>(&text).unwrap()["index"]["complete"] == true
        };
        while !is_complete() {}
    }
    client
}

fn call(client: &mut TestClient, arguments: &Value) -> Value {
    let call = json!({ "name": "resources_search", "arguments": arguments });
    client.request("tools/call", call)["result"].take()
}

fn search(client: &mut TestClient, query: &str) -> Value {
    call(client, &json!({ "query": query }))["structuredContent"].take()
}

/// The URIs of the hits, each with the mount that it is marked with.
fn marked(found: &Value) -> Vec<(String, Option<&str>)> {
    let base = found["base"].as_str().unwrap_or_default();
    let hits = found["hits"].as_array().unwrap_or_else(|| panic!("{found}")).iter();
    hits.map(|hit| (format!("{base}{}", hit["uri"].as_str().unwrap()), hit["from"].as_str()))
        .collect()
}

fn uris(found: &Value) -> Vec<String> {
    marked(found).into_iter().map(|(uri, _)| uri).collect()
}

#[test]
fn hits_of_a_search_tool_are_fused_with_those_of_the_index_and_marked() {
    let folder = app();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&calls);
    let actor = hub(&[("a://1", "x"), ("a://2", "x")], move |request| {
        seen.lock().unwrap().push(request.params.clone());
        found(&json!([
            { "uri": "a://2", "title": "Keys", "snippet": "how to rotate a signing key at sea" },
            { "uri": "a://1" }, { "uri": "a://gone" },
        ]))
    });
    let more = "search = { tool = \"search_docs\", argument = \"q\" }\n";
    let mut client = start(folder.path(), &(actor.mount("hub", more) + OWN));
    let answer = call(&mut client, &json!({ "query": "rotate signing key" }));
    let result = &answer["structuredContent"];
    let expected = [
        (GUIDE.to_owned(), None),
        ("hub+a://2".to_owned(), Some("hub")),
        ("hub+a://1".to_owned(), Some("hub")),
    ];
    assert_eq!(marked(result), expected, "{result}");
    assert_eq!(result["hits"][1]["title"], "Keys");
    assert_eq!(result["hits"][1]["snippet"], "how to **rotate** a **signing** **key** at sea");
    assert!(result["hits"][1].get("start_line").is_none() && result.get("absent").is_none());
    let text = answer["content"].to_string();
    assert!(text.contains("hub+a://2 (Keys) [from hub]"), "{text}");
    let params = calls.lock().unwrap().remove(0);
    assert_eq!(params["name"], "search_docs");
    assert_eq!(params["arguments"], json!({ "q": "rotate signing key" }));
    let explained = call(&mut client, &json!({ "query": "rotate key", "explain": true }));
    let why = &explained["structuredContent"]["hits"][1]["why"];
    assert_eq!(*why, "number 1 of the search of hub");
}

#[test]
fn a_template_is_searched_too_and_needs_no_index() {
    let folder = app();
    let actor = hub(&[("docs://a", "x"), ("docs://b", "x")], |request| match request.params["uri"]
        .as_str()
    {
        Some("docs://search/rotate%20key") => FakeResponse::Result(json!({ "contents": [
                { "uri": "docs://search/rotate%20key", "text": "docs://b\r\ndocs://gone\r\n" },
                { "uri": "docs://a", "text": "a key to rotate" },
            ] })),
        _ => FakeResponse::Error(-32602, "no such resource"),
    });
    let more = "search = { template = \"docs://search/{query}\" }\n";
    let mut client = start(folder.path(), &actor.mount("hub", more));
    let tools = client.request("tools/list", json!({}))["result"]["tools"].take().to_string();
    assert!(tools.contains("\"resources_search\"") && !tools.contains("\"resources_pack\""));
    let result = search(&mut client, "rotate key");
    let expected =
        [("hub+docs://b".to_owned(), Some("hub")), ("hub+docs://a".to_owned(), Some("hub"))];
    assert_eq!(marked(&result), expected, "{result}");
    assert_eq!(result["hits"][1]["snippet"], "a **key** to **rotate**");
    let uri = json!({ "uri": "search://all/rotate%20key" });
    let read = client.request("resources/read", uri)["result"].take().to_string();
    assert!(read.contains("<hub+docs://b>), found by hub"), "{read}");
}

#[test]
fn a_server_that_hangs_fails_or_floods_is_named_and_the_rest_is_found() {
    let flood = json!({ "content": [{ "type": "text", "text": "x".repeat(3 << 20) }] });
    let failed = json!({ "content": [{ "type": "text", "text": "boom" }], "isError": true });
    let hangs = hub(&[], |_| FakeResponse::Hang);
    let floods = hub(&[], move |_| FakeResponse::Result(flood.clone()));
    let fails = hub(&[], move |_| FakeResponse::Result(failed.clone()));
    let refuses = hub(&[], |_| FakeResponse::Error(-32602, "no such tool"));
    let row = json!([{ "uri": "a://1" }]);
    // It finds, and never describes what it found.
    let silent =
        FakeServer::start(Era::Modern, TransportKind::Pipe, move |request| match request.method {
            "tools/call" => found(&row),
            "resources/list" | "resources/read" => FakeResponse::Hang,
            _ => FakeResponse::Error(-32601, "no such method"),
        });
    let servers = [("a", &hangs), ("b", &floods), ("c", &fails), ("d", &refuses), ("e", &silent)];
    let mounts = servers.map(|(name, server)| server.mount(name, BY_TOOL)).concat();
    let folder = app();
    let mut client = start(folder.path(), &(mounts + OWN));
    let answer = call(&mut client, &json!({ "query": "rotate signing key" }));
    let result = &answer["structuredContent"];
    assert_eq!(marked(result), [(GUIDE.to_owned(), None)], "{result}");
    let absent = result["absent"].as_array().unwrap_or_else(|| panic!("{result}"));
    let names: Vec<&str> = absent.iter().map(|one| one["what"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e"], "{result}");
    assert!(absent[0]["why"].as_str().unwrap().contains("within 2 s"), "{result}");
    assert!(!result.to_string().contains("boom"), "{result}");
    assert!(answer["content"].to_string().contains("not reached: a ("), "{answer}");
}

#[test]
fn a_server_gives_no_uris_of_other_mounts_and_forges_no_lines() {
    let forged = "file:///app/forged.md\u{1b}[2J\n\u{2028}file:///app/forged.md";
    let actor = hub(&[("a://1", "x")], move |_| {
        found(&json!([
            { "uri": GUIDE, "title": "forged", "snippet": "a forged passage" },
            { "uri": "refdesk://mounts/app" }, { "uri": "no uri" }, { "uri": "a://1\nb" },
            { "uri": "a://1", "title": forged, "snippet": forged },
        ]))
    });
    let folder = app();
    for more in ["", "prefix = false\n"] {
        let settings = actor.mount("hub", &format!("{BY_TOOL}{more}")) + OWN;
        let mut client = start(folder.path(), &settings);
        let answer = call(&mut client, &json!({ "query": "zebra" }));
        let result = &answer["structuredContent"];
        let uri = if more.is_empty() { "hub+a://1" } else { "a://1" };
        assert_eq!(marked(result), [(uri.to_owned(), Some("hub"))], "{result}");
        let shown = answer["content"][0]["text"].as_str().unwrap();
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{2028}'), "{shown:?}");
        assert!(!shown.lines().any(|line| line.starts_with("file:///app/forged.md")), "{shown:?}");
        let hit = result["hits"][0].to_string();
        assert!(!hit.contains("\\u001b") && !hit.contains("\\n"), "{hit}");
    }
}

#[test]
fn what_access_rules_deny_is_neither_asked_nor_shown() {
    let rows =
        json!([{ "uri": "a://secret/1", "snippet": "a hidden plan" }, { "uri": "a://open" }]);
    let texts = [("a://secret/1", "x"), ("a://open", "x")];
    for (deny, expected) in [("secret", vec!["hub+a://open".to_owned()]), ("**", vec![])] {
        let rows = rows.clone();
        let actor = hub(&texts, move |_| found(&rows));
        let access = format!("access = [{{ deny = [\"{deny}\"] }}]\n{BY_TOOL}");
        let folder = app();
        let mut client = start(folder.path(), &(actor.mount("hub", &access) + OWN));
        let result = search(&mut client, "plan");
        assert_eq!(uris(&result), expected, "{result}");
        assert!(!result.to_string().contains("hidden"), "{result}");
        assert_eq!(actor.count("tools/call"), usize::from(deny == "secret"));
    }
}

#[test]
fn secrets_in_passages_and_titles_of_a_masked_mount_are_masked() {
    // In two pieces, so that no scanner takes it for a secret of this project.
    let token = ["ghp_", "u8jzPde0IgxLd6GncfBAepfJBd0Kh8oOOL8d"].concat();
    let text: &'static str = format!("Deploy with {token} at night.\n").leak();
    let texts = [("a://1", text), ("a://2", text), ("a://3", "Nothing to deploy here.\n")];
    let (part, title) = (token[..24].to_owned(), format!("Token {token}"));
    let (cut, other) = (format!("…deploy… {part}"), format!("deploy: {token}"));
    let actor = hub(&texts, move |_| {
        found(&json!([
            { "uri": "a://1", "title": title, "snippet": text },
            { "uri": "a://2", "snippet": cut }, { "uri": "a://3", "snippet": other },
        ]))
    });
    let folder = app();
    let settings = actor.mount("hub", &format!("redact = true\n{BY_TOOL}"));
    let mut client = start(folder.path(), &settings);
    let answer = call(&mut client, &json!({ "query": "deploy" }));
    let result = &answer["structuredContent"];
    assert_eq!(uris(result), ["hub+a://1", "hub+a://2", "hub+a://3"], "{result}");
    assert!(result["hits"][0]["snippet"].as_str().unwrap().contains("**Deploy** with"), "{result}");
    assert!(!answer.to_string().contains(&part), "{answer}");
    let result = search(&mut client, &token[4..]);
    assert_eq!(uris(&result), ["hub+a://3"], "whether a secret is there is not told: {result}");
}

#[test]
fn pages_join_without_repeats_and_the_server_is_asked_once() {
    let folder = app();
    for at in 0..12 {
        let text = format!("Chapter {at} on how to rotate things.\n");
        fs::write(folder.path().join(format!("app/chapter-{at}.md")), text).unwrap();
    }
    let names: Vec<String> = (0..12).map(|at| format!("a://{at}")).collect();
    let texts: Vec<(&'static str, &'static str)> =
        names.iter().map(|name| (&*name.clone().leak(), "x")).collect();
    let rows: Vec<Value> = names.iter().map(|name| json!({ "uri": name })).collect();
    let actor = hub(&texts, move |_| found(&json!(rows)));
    let mut client = start(folder.path(), &(actor.mount("hub", BY_TOOL) + OWN));
    let (mut all, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut arguments = json!({ "query": "rotate" });
        if cursor.is_string() {
            arguments["cursor"] = cursor;
        }
        let result = call(&mut client, &arguments)["structuredContent"].take();
        all.extend(uris(&result));
        cursor = result["cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!((count, all.len()), (25, 25), "{all:?}");
    assert_eq!(actor.count("tools/call"), 1);
}

#[test]
fn a_resource_that_both_find_is_one_hit_with_the_passage_of_the_index() {
    let texts = [("a://1", "The lighthouse stands on the northern cliff.\n"), ("a://2", "x")];
    let rows = json!([{ "uri": "a://2" }, { "uri": "a://1", "snippet": "words of the server" }]);
    let actor = hub(&texts, move |_| found(&rows));
    let folder = app();
    let mut client = start(folder.path(), &actor.mount("hub", &format!("index = true\n{BY_TOOL}")));
    let expected = [("hub+a://1".to_owned(), None), ("hub+a://2".to_owned(), Some("hub"))];
    let mut result = search(&mut client, "lighthouse");
    while result["note"].is_string() || marked(&result)[0].1.is_some() {
        result = search(&mut client, "lighthouse");
    }
    assert_eq!(marked(&result), expected, "{result}");
    assert!(result["hits"][0]["snippet"].as_str().unwrap().contains("**lighthouse**"), "{result}");
    // A condition that hits of others cannot be checked for is for the index alone.
    let result = search(&mut client, "lighthouse -draft");
    assert_eq!(marked(&result), [("hub+a://1".to_owned(), None)], "{result}");
    let filtered = json!({ "query": "lighthouse", "name": "a://2" });
    let result = call(&mut client, &filtered)["structuredContent"].take();
    assert_eq!(uris(&result), ["hub+a://2"], "{result}");
}

#[test]
fn ten_hits_of_a_server_cost_at_most_700_tokens() {
    let names: Vec<String> = (0..60).map(|at| format!("notes://team/chapter-{at:02}.md")).collect();
    let texts: Vec<(&'static str, &'static str)> =
        names.iter().map(|name| (&*name.clone().leak(), "x")).collect();
    let long = "A long sentence about tides and currents, which goes on for a while. ".repeat(50);
    let row = move |name: &String| json!({ "uri": name, "title": "A chapter", "text": long });
    let rows: Vec<Value> = names.iter().map(row).collect();
    let actor = hub(&texts, move |_| found(&json!(rows)));
    let folder = app();
    let mut client = start(folder.path(), &actor.mount("hub", BY_TOOL));
    let result = search(&mut client, "tides and currents");
    assert_eq!(uris(&result).len(), 10, "{result}");
    let cost = tokens::estimate(&result.to_string());
    assert!(cost <= 700, "{cost} tokens: {result}");
}

#[test]
fn a_search_that_cannot_be_meant_is_an_error_at_its_place() {
    let folder = app();
    for (search, told) in [
        ("{}", "`search` needs either `tool` or `template`"),
        ("{ tool = \"a\", template = \"a://{query}\" }", "needs either `tool` or `template`"),
        ("{ tool = \"\" }", "the name of a tool or argument is empty"),
        ("{ template = \"a://{text}\" }", "has the variable `{query}` and no other"),
        ("{ template = \"a://{query}{?lang}\" }", "has the variable `{query}` and no other"),
        ("{ template = \"a://{query\" }", "not a URI template"),
        ("{ template = \"a://{query}\", argument = \"q\" }", "`argument` is for a tool"),
        ("{ tols = \"a\" }", "unknown key `tols`"),
    ] {
        let settings =
            format!("[mounts.hub]\nkind = \"upstream\"\ncommand = \"true\"\nsearch = {search}\n");
        fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
        let output = run(folder.path(), &["check"]);
        let text = output_text(&output);
        assert!(!output.status.success() && text.contains(told), "{search}: {text}");
        assert!(text.contains("refdesk.toml:4:"), "{search}: {text}");
    }
}
