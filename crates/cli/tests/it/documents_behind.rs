//! Tests of documents behind a gateway: the refdesk that has them converts them.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::documents::{pages, write_pdf};
use crate::program::{StdioProgram, refdesk};

const WINDOW: &str = "dev.refdesk/window";
const ACCEPT: &str = "dev.refdesk/accept";
const PDF: &str = "far+file:///app/report.pdf";

/// A gateway before a refdesk that serves a report of three pages.
fn gateway(mount: &str) -> (TempDir, StdioProgram) {
    let folder = tempfile::tempdir().unwrap();
    let app = folder.path().join("app");
    fs::create_dir(&app).unwrap();
    write_pdf(&app.join("report.pdf"), &pages(3));
    fs::write(app.join("main.rs"), "fn main() {}\n").unwrap();
    let (program, path) = (env!("CARGO_BIN_EXE_refdesk"), app.display());
    let command = format!("[\"{program}\", \"serve\", \"--stdio\", \"{path}\"]");
    let settings = format!("[mounts.far]\nkind = \"upstream\"\ncommand = {command}\n{mount}");
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut command = refdesk(folder.path(), &["serve", "--stdio"]);
    command.env("XDG_CACHE_HOME", folder.path().join("cache"));
    (folder, StdioProgram::start(command))
}

fn read(desk: &mut StdioProgram, uri: &str, meta: &Value) -> Value {
    desk.request("resources/read", json!({ "uri": uri, "_meta": meta }))
}

fn first(answer: &Value) -> &Value {
    answer["result"]["contents"].get(0).unwrap_or_else(|| panic!("{answer}"))
}

fn text_of(answer: &Value) -> &str {
    first(answer)["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// Page 2 alone, as Markdown.
fn assert_is_page_2(text: &str) {
    assert!(text.contains("page number 2 ") && !text.contains("page number 1 "), "{text}");
    assert!(!text.contains("page number 3 "), "{text}");
}

#[test]
fn a_page_of_a_document_behind_a_gateway_is_read_as_the_format_that_is_accepted() {
    for mount in ["", "render = true\n", "redact = true\n"] {
        let (_folder, mut desk) = gateway(mount);
        let window = json!({ "page": 2 });
        let page = read(&mut desk, PDF, &json!({ WINDOW: window, ACCEPT: ["text/markdown"] }));
        assert_eq!(first(&page)["mimeType"], "text/markdown", "{mount}: {page}");
        assert_is_page_2(text_of(&page));
        // Without a format as well, after the other pages, and by lines.
        let others = read(&mut desk, PDF, &json!({ WINDOW: { "pages": "2-3" } }));
        assert!(text_of(&others).contains("page number 3 "), "{mount}: {others}");
        let lines = json!({ "page": 2, "start_line": 1 });
        assert_is_page_2(text_of(&read(&mut desk, PDF, &json!({ WINDOW: lines }))));
        let error = read(&mut desk, PDF, &json!({ WINDOW: { "page": 4 } }))["error"].clone();
        assert_eq!(error["code"], -32602, "{error}");
        assert!(error["message"].as_str().unwrap().contains("3 pages"), "{error}");
        let plain = read(&mut desk, PDF, &json!({ ACCEPT: ["text/plain"] }));
        assert_eq!(first(&plain)["mimeType"], "text/plain", "{mount}: {plain}");
        assert!(text_of(&plain).contains("page number 3 "), "{mount}: {plain}");
        // The form alone was read: it is not taken for the whole.
        let whole = read(&mut desk, PDF, &json!({}));
        let types = whole["result"]["contents"].as_array().unwrap();
        let types: Vec<_> = types.iter().map(|part| part["mimeType"].as_str().unwrap()).collect();
        assert_eq!(types, ["application/pdf", "text/markdown"], "{mount}");
    }
}

#[test]
fn a_model_reads_a_page_behind_a_gateway_in_two_calls() {
    let (_folder, mut desk) = gateway("");
    let mut call = |tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        desk.request("tools/call", params)["result"]["structuredContent"].clone()
    };
    let described = call("resources_metadata", json!({ "uris": [PDF] }));
    assert_eq!(described["resources"][0]["sections"], "3 pages", "{described}");
    let page = call("resources_read", json!({ "uri": PDF, "page": 2 }));
    assert_is_page_2(page["text"].as_str().unwrap_or_else(|| panic!("{page}")));
    let code = "far+file:///app/main.rs";
    let html = call("resources_read", json!({ "uri": code, "accept": "text/html" }));
    assert!(html["text"].as_str().is_some_and(|text| text.contains("hl-")), "{html}");
    let none = read(&mut desk, code, &json!({ WINDOW: { "page": 1 } }));
    assert!(none["error"]["message"].as_str().unwrap().contains("no pages"), "{none}");
}
