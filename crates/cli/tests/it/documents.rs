//! Tests of documents in other forms, from the command line and over MCP.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::program::{StdioProgram, refdesk};

const WINDOW: &str = "dev.refdesk/window";
const ACCEPT: &str = "dev.refdesk/accept";
const PDF: &str = "file:///app/report.pdf";

/// A PDF whose pages each have a line of text.
pub(crate) fn write_pdf(path: &Path, pages: &[String]) {
    fs::write(path, testkit::documents::pdf(pages)).unwrap();
}

pub(crate) fn pages(count: usize) -> Vec<String> {
    (1..=count).map(|page| format!("Words of page number {page} about harbours")).collect()
}

/// A folder `app` with a report of 500 pages, a text and a program.
fn app() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let app = folder.path().join("app");
    fs::create_dir(&app).unwrap();
    write_pdf(&app.join("report.pdf"), &pages(500));
    fs::write(app.join("notes.txt"), "plain notes\n").unwrap();
    fs::write(app.join("main.rs"), "fn main() {\n    run();\n}\n\nstruct Desk;\n").unwrap();
    fs::write(app.join("table.csv"), "name,price\n茶,120\n").unwrap();
    fs::write(app.join("broken.docx"), "PK no package").unwrap();
    folder
}

fn start(folder: &Path, settings: &str) -> StdioProgram {
    fs::write(folder.join("refdesk.toml"), settings).unwrap();
    let mut command = refdesk(folder, &["serve", "--stdio"]);
    command.env("XDG_CACHE_HOME", folder.join("cache"));
    StdioProgram::start(command)
}

// The index would convert documents too.
const SETTINGS: &str = "[mounts.app]\nkind = \"fs\"\npath = \"app\"\nindex = false\n";

fn read(desk: &mut StdioProgram, uri: &str, meta: &Value) -> Value {
    desk.request("resources/read", json!({ "uri": uri, "_meta": meta }))
}

fn call(desk: &mut StdioProgram, tool: &str, arguments: &Value) -> Value {
    let answer = desk.request("tools/call", json!({ "name": tool, "arguments": arguments }));
    answer["result"].clone()
}

fn convert(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = refdesk(folder, &["convert"]);
    command.args(arguments).env("XDG_CACHE_HOME", folder.join("cache")).output().unwrap()
}

#[test]
fn a_document_is_read_with_its_text_and_by_page() {
    let folder = app();
    let mut desk = start(folder.path(), SETTINGS);
    let answer = read(&mut desk, PDF, &json!({}));
    let contents = answer["result"]["contents"].as_array().unwrap();
    let types: Vec<_> = contents.iter().map(|one| one["mimeType"].as_str().unwrap()).collect();
    assert_eq!(types, ["application/pdf", "text/markdown"]);
    let text = contents[1]["text"].as_str().unwrap();
    assert!(text.contains("<!-- page 37 -->") && text.contains("page number 37"), "{text}");
    let window = json!({ WINDOW: { "page": 37 } });
    let page = read(&mut desk, PDF, &window)["result"]["contents"][0].clone();
    let text = page["text"].as_str().unwrap();
    assert!(text.contains("page number 37") && !text.contains("page number 38"), "{text}");
    let error = read(&mut desk, PDF, &json!({ WINDOW: { "page": 501 } }))["error"].clone();
    assert_eq!(error["code"], -32602);
    assert!(error["message"].as_str().unwrap().contains("500 pages"), "{error}");
    let plain = read(&mut desk, "file:///app/notes.txt", &json!({}));
    assert_eq!(plain["result"]["contents"].as_array().unwrap().len(), 1);
    let broken = read(&mut desk, "file:///app/broken.docx", &json!({}));
    let contents = broken["result"]["contents"].as_array().unwrap();
    assert_eq!(contents.len(), 1);
    assert!(contents[0]["_meta"]["dev.refdesk/notes"][0].as_str().unwrap().contains("left out"));
}

#[test]
fn the_accepted_form_is_given_and_a_refusal_lists_what_there_is() {
    let folder = app();
    let mut desk = start(folder.path(), SETTINGS);
    let code = "file:///app/main.rs";
    let mut form = |uri: &str, accept: Value| read(&mut desk, uri, &json!({ ACCEPT: accept }));
    let html = form(code, json!(["image/png", "text/html;q=0.5"]));
    let html = html["result"]["contents"][0].clone();
    assert_eq!(html["mimeType"], "text/html;variant=highlighted");
    assert!(html["text"].as_str().unwrap().contains("L2"), "{html}");
    let outline = form(code, json!("application/json"));
    let outline: Value =
        serde_json::from_str(outline["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&outline[0]["name"], &outline[1]["start_line"]), (&json!("main"), &json!(5)));
    let plain = form(code, json!([]));
    assert_eq!(plain["result"]["contents"].as_array().unwrap().len(), 1);
    for wrong in [json!(["image/png"]), json!(["no type"])] {
        let error = form(code, wrong)["error"].clone();
        assert_eq!(error["code"], -32602, "{error}");
        let formats = error["data"]["formats"].as_array().unwrap();
        assert!(formats.contains(&json!("application/json;variant=outline")), "{error}");
    }
    let table = form("file:///app/table.csv", json!(["text/markdown"]));
    let table = table["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(table.contains("| 茶 | 120 |"), "{table}");
}

#[test]
fn a_model_reads_a_page_in_two_calls_and_searches_the_text() {
    let folder = app();
    let mut desk = start(folder.path(), SETTINGS);
    let described = call(&mut desk, "resources_metadata", &json!({ "uris": [PDF] }));
    assert_eq!(
        described["structuredContent"]["resources"][0]["sections"], "500 pages",
        "{described}"
    );
    let metadata = desk.request("resources/metadata", json!({ "uri": PDF }));
    let formats = &metadata["result"]["resource"]["_meta"]["dev.refdesk/formats"];
    let made = [&formats[1]["size"], &formats[1]["etag"], &formats[2]["size"]];
    let is_told = made.map(|fact| !fact.is_null());
    assert_eq!(is_told, [true, true, false], "the Markdown was made for the count: {formats}");
    let arguments = json!({ "uri": PDF, "page": 37 });
    let page = call(&mut desk, "resources_read", &arguments);
    let text = page["structuredContent"]["text"].as_str().unwrap();
    assert!(text.contains("page number 37 ") && !text.contains("page number 36 "), "{text}");
    let found = call(&mut desk, "resources_grep", &json!({ "pattern": "number 3[78] about" }));
    let lines = found["structuredContent"]["matches"].to_string();
    assert!(lines.contains("page number 37") && lines.contains("page number 38"), "{found}");
    let both = call(&mut desk, "resources_read_embedded", &json!({ "uris": [PDF] }));
    assert_eq!(both["content"][0]["resource"]["mimeType"], "text/markdown");
    let lines = json!({ "uri": PDF, "start_line": 1, "max_lines": 2 });
    let window = call(&mut desk, "resources_read", &lines);
    let text = window["structuredContent"]["text"].as_str().unwrap();
    assert!(text.starts_with("<!-- page 1 -->"), "{text}");
    let (line, etag) = (&window["structuredContent"]["next"], &window["structuredContent"]["etag"]);
    let mut next = json!({ "uri": PDF, "max_lines": 2, "etag": etag });
    next["start_line"] = line["start_line"].clone();
    let next = call(&mut desk, "resources_read", &next);
    assert!(next["structuredContent"]["text"].is_string(), "{next}");
}

#[test]
fn attachments_of_a_mail_are_resources_of_their_own() {
    let folder = app();
    let mail = "From: Ann <ann@example.com>\r\nSubject: The plan\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=\"b\"\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n\
        See the table.\r\n--b\r\nContent-Type: text/csv; name=\"plan.csv\"\r\n\
        Content-Disposition: attachment; filename=\"plan.csv\"\r\n\
        Content-Transfer-Encoding: base64\r\n\r\nYSxiCjEsMgo=\r\n--b--\r\n";
    fs::write(folder.path().join("app/mail.eml"), mail).unwrap();
    let mut desk = start(folder.path(), SETTINGS);
    let uri = "file:///app/mail.eml";
    let listed = call(&mut desk, "resources_list", &json!({ "collection": uri }));
    let name = listed["structuredContent"]["resources"][0]["uri"].as_str().unwrap().to_owned();
    assert!(name.ends_with("/mail.eml/1-plan.csv"), "{listed}");
    let table =
        call(&mut desk, "resources_read", &json!({ "uri": name, "accept": "text/markdown" }));
    assert!(table["structuredContent"]["text"].as_str().unwrap().contains("| a | b |"), "{table}");
    let text = call(&mut desk, "resources_read", &json!({ "uri": uri }));
    let text = text["structuredContent"]["text"].as_str().unwrap();
    assert!(text.starts_with("# The plan") && text.contains("1-plan.csv"), "{text}");
    let plain = read(&mut desk, uri, &json!({}))["result"]["contents"].clone();
    assert_eq!(plain.as_array().unwrap().len(), 1);
    assert!(plain[0]["text"].as_str().unwrap().starts_with("From: Ann"), "{plain}");
    let all = call(&mut desk, "resources_list", &json!({ "recursive": true }));
    assert!(!all.to_string().contains("1-plan.csv"), "a walk does not enter it");
}

#[test]
fn a_document_over_the_limits_fails_alone() {
    let folder = app();
    let settings = format!("{SETTINGS}\n[render]\ntime = \"1ms\"\n");
    let mut desk = start(folder.path(), &settings);
    let contents = read(&mut desk, PDF, &json!({}))["result"]["contents"].clone();
    assert_eq!(contents.as_array().unwrap().len(), 1);
    let note = contents[0]["_meta"]["dev.refdesk/notes"][0].as_str().unwrap();
    assert!(note.contains("longer than 1ms"), "{note}");
    let error = read(&mut desk, PDF, &json!({ ACCEPT: ["text/markdown"] }))["error"].clone();
    assert!(error["message"].as_str().unwrap().contains("longer than"), "{error}");
    assert!(read(&mut desk, "file:///app/notes.txt", &json!({}))["result"].is_object());
}

#[test]
fn a_restart_does_not_convert_again() {
    let folder = app();
    let accept = json!({ ACCEPT: ["text/markdown"] });
    let first = read(&mut start(folder.path(), SETTINGS), PDF, &accept);
    let text = first["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    let forms = || fs::read_dir(folder.path().join("cache/refdesk/forms")).unwrap().count();
    assert_eq!(forms(), 1);
    // No conversion would be done in this time.
    let quick = format!("{SETTINGS}\n[render]\ntime = \"1ms\"\n");
    let mut desk = start(folder.path(), &quick);
    let again = read(&mut desk, PDF, &accept);
    assert_eq!(again["result"]["contents"][0]["text"], text);
    let status = read(&mut desk, "refdesk://mounts/app", &json!({}));
    let status = status["result"]["contents"][0]["text"].as_str().unwrap();
    let cache = serde_json::from_str::<Value>(status).unwrap()["cache"].take();
    assert_eq!((&cache["converted"], &cache["reused"]), (&json!(0), &json!(1)), "{cache}");
    assert!(cache["bytes"].as_u64() > Some(0) && cache["max_bytes"].is_u64(), "{cache}");
    let masked = format!("{SETTINGS}redact = true\n");
    let mut desk = start(folder.path(), &masked);
    fs::write(folder.path().join("app/other.csv"), "a,b\n1,2\n").unwrap();
    assert!(read(&mut desk, "file:///app/other.csv", &accept)["result"].is_object());
    assert_eq!(forms(), 1, "nothing of a redacted mount is kept");
}

#[test]
fn a_person_converts_on_the_command_line() {
    let folder = app();
    let run = |arguments: &[&str]| {
        let output = convert(folder.path(), arguments);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    };
    let (code, text, _) = run(&["app/report.pdf", "--pages", "2-3"]);
    assert!(code == 0 && text.contains("number 3 ") && !text.contains("number 4 "), "{text}");
    let (code, text, _) = run(&["app/table.csv", "--to", "application/json"]);
    assert!(code == 0 && text.contains("茶"), "{text}");
    let (code, text, _) = run(&["--list"]);
    assert!(code == 0 && text.contains("application/pdf"), "{text}");
    let (code, _, error) = run(&["app/broken.docx"]);
    assert!(code == 1 && error.starts_with("error: "), "{error}");
    let (code, _, error) = run(&["app/notes.txt", "--to", "image/png"]);
    assert!(code == 1 && error.contains("--list"), "{error}");
    let (code, _, error) = run(&["app/main.rs", "--to", "image/png"]);
    assert!(code == 1 && error.contains("variant=outline"), "{error}");
    assert_eq!(run(&["app/main.rs", "--to", "nonsense"]).0, 2);
    assert_eq!(run(&[]).0, 2);
    let (code, list, _) = run(&["--list", "--json"]);
    let list: Value = serde_json::from_str(&list).unwrap();
    let rows = list["conversions"].as_array().unwrap();
    let pdf = rows.iter().find(|row| row["from"] == "application/pdf").unwrap();
    assert!(code == 0 && rows.len() == 21, "{list}");
    assert_eq!(pdf["to"], json!(["text/markdown", "text/plain"]));
    assert_eq!(run(&["--json"]).0, 2, "--json is of the list");
}

#[test]
fn a_person_converts_what_another_program_gives_and_single_sheets_and_slides() {
    let folder = app();
    let piped = |arguments: &[&str], input: &[u8]| {
        let mut command = refdesk(folder.path(), &["convert", "-"]);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    };
    let report = testkit::documents::document("pdf", "Words by pipe");
    let (code, text, _) = piped(&["--pages", "1"], &report);
    assert!(code == 0 && text.contains("Words by pipe") && !text.contains("second page"), "{text}");
    let (code, text, _) = piped(&["--from", "text/csv"], b"name,price\nTea,120\n");
    assert!(code == 0 && text.contains("| Tea | 120 |"), "{text}");
    let (code, _, error) = piped(&[], b"name,price\nTea,120\n");
    assert!(code == 1 && error.contains("--from"), "{error}");
    let (code, text, _) = piped(&["--from", "text/csv", "--to", "text/plain"], &report);
    assert!(code == 0 && text.contains("Words by pipe"), "the content decides: {text}");

    let sheets = testkit::documents::document("xlsx", "Costs");
    let (code, text, _) = piped(&["--sheet", "Costs", "--to", "text/csv"], &sheets);
    assert_eq!((code, text.as_str()), (0, "Costs\n"));
    let (code, text, _) = piped(&["--sheet", "2"], &sheets);
    assert!(code == 0 && text.starts_with("## 日本"), "{text}");
    let (code, _, error) = piped(&["--sheet", "none"], &sheets);
    assert!(code == 1 && error.contains("Costs"), "what there is: {error}");
    let slides = testkit::documents::document("pptx", "Harbours");
    let (code, text, _) = piped(&["--slides", "2"], &slides);
    assert!(code == 0 && text.starts_with("## Slide 2: Harbours"), "{text}");
    let (code, _, error) = piped(&["--slides", "2-9"], &slides);
    assert!(code == 1 && error.contains("2 slides"), "{error}");
    assert_eq!(piped(&["--slides", "2", "--sheet", "1"], &slides).0, 2);
    assert_eq!(piped(&["--pages", "x"], &report).0, 2);
}
