//! Tests of documents whose names do not tell what they are: the content does, in every mount.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::documents::{document, pdf};

use crate::program::{StdioProgram, output_text, refdesk};

const ACCEPT: &str = "dev.refdesk/accept";
const FORMATS: &str = "dev.refdesk/formats";
const WINDOW: &str = "dev.refdesk/window";

/// A key by shape, in two pieces so that no scanner takes this file for a leak.
pub(crate) fn key() -> String {
    ["AKIA", "QYLPMN5HFIQR7XYB"].concat()
}

fn run_program(folder: &Path, program: &str, args: &[&str]) {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{program} {args:?}: {}", output_text(&output));
}

/// A folder `app` of documents, as files, in an archive and in a commit.
fn documents(words: &str) -> TempDir {
    let home = TempDir::with_prefix("types").unwrap();
    let app = home.path().join("app");
    fs::create_dir(&app).unwrap();
    let report = pdf(&[words.to_owned(), "The second page".to_owned()]);
    fs::write(app.join("report"), &report).unwrap();
    fs::write(app.join("misnamed.docx"), &report).unwrap();
    fs::write(app.join("letter.doc"), document("rtf", words)).unwrap();
    fs::write(app.join("deckfile"), document("pptx", words)).unwrap();
    fs::write(app.join("plan.bin"), document("xlsx", words)).unwrap();
    fs::write(app.join("notes"), "plain notes\n").unwrap();
    let names = ["report", "misnamed.docx", "letter.doc", "deckfile", "plan.bin", "notes"];
    run_program(&app, "zip", &[&["-q", "all.zip"][..], &names[..]].concat());
    run_program(&app, "git", &["init", "-q", "-b", "main", "."]);
    run_program(&app, "git", &["add", "-A"]);
    let author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    run_program(&app, "git", &[&author[..], &["commit", "-q", "-m", "Add"]].concat());
    home
}

fn start(home: &TempDir, more: &str) -> StdioProgram {
    let settings = format!(
        "[mounts.app]\nkind = \"fs\"\npath = \"app\"\nindex = false\n{more}\n\
         [mounts.past]\nkind = \"git\"\npath = \"app\"\nindex = false\n{more}\n"
    );
    start_with(home, &settings)
}

fn start_with(home: &TempDir, settings: &str) -> StdioProgram {
    fs::write(home.path().join("refdesk.toml"), settings).unwrap();
    StdioProgram::start(refdesk(home.path(), &["serve", "--stdio"]))
}

/// Where the same documents are.
const PLACES: [&str; 3] = ["file:///app/", "file:///app/all.zip/", "git://past/main/"];

fn read(desk: &mut StdioProgram, uri: &str, meta: &Value) -> Value {
    desk.request("resources/read", json!({ "uri": uri, "_meta": meta }))
}

#[test]
fn documents_without_and_with_a_wrong_ending_have_the_forms_of_their_content() {
    let home = documents("Words about harbours");
    let mut desk = start(&home, "");
    let documents = [
        ("report", "application/pdf"),
        ("misnamed.docx", "application/pdf"),
        ("letter.doc", "application/rtf"),
        ("deckfile", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
        ("plan.bin", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ];
    for place in PLACES {
        for (name, mime) in documents {
            let uri = format!("{place}{name}");
            let metadata = desk.request("resources/metadata", json!({ "uri": uri }));
            let resource = &metadata["result"]["resource"];
            assert_eq!(resource["mimeType"], mime, "{uri} {metadata}");
            assert_eq!(resource["_meta"][FORMATS][1]["mimeType"], "text/markdown", "{uri}");
            let whole = read(&mut desk, &uri, &json!({}));
            let contents = &whole["result"]["contents"];
            let types = [&contents[0]["mimeType"], &contents[1]["mimeType"]];
            assert_eq!(types, [mime, "text/markdown"], "{uri} {whole}");
            let text = read(&mut desk, &uri, &json!({ ACCEPT: ["text/markdown"] }));
            let text = text["result"]["contents"][0]["text"].as_str().unwrap_or_default();
            assert!(text.contains("Words about harbours"), "{uri} {text}");
        }
        let page = read(&mut desk, &format!("{place}report"), &json!({ WINDOW: { "page": 2 } }));
        let page = page["result"]["contents"][0]["text"].as_str().unwrap_or_default();
        assert!(page.contains("The second page") && !page.contains("harbours"), "{place} {page}");
        let refused = read(&mut desk, &format!("{place}report"), &json!({ ACCEPT: ["image/png"] }));
        let formats = refused["error"]["data"]["formats"].as_array().unwrap();
        assert!(formats.contains(&json!("text/markdown")), "{refused}");
        let notes = desk.request("resources/metadata", json!({ "uri": format!("{place}notes") }));
        let formats = &notes["result"]["resource"]["_meta"][FORMATS];
        assert!(formats.is_null(), "a text has no forms: {notes}");
    }
    let listed = desk.request("resources/list", json!({})).to_string();
    assert!(!listed.contains("presentationml"), "a list reads no file: {listed}");
}

#[test]
fn a_window_of_a_document_without_an_ending_gives_no_secret() {
    let home = documents(&format!("the key is {}", key()));
    let mut desk = start(&home, "redact = true");
    for place in PLACES {
        for name in ["deckfile", "plan.bin", "report", "misnamed.docx"] {
            let uri = format!("{place}{name}");
            let whole = read(&mut desk, &uri, &json!({}));
            let contents = whole["result"]["contents"].as_array().unwrap();
            assert_eq!(contents.len(), 1, "{uri} {whole}");
            assert!(!whole.to_string().contains(&key()), "{uri}");
            let bytes = json!({ WINDOW: { "offset": 0, "length": 5000 } });
            let window = read(&mut desk, &uri, &bytes);
            let message = window["error"]["message"].as_str().unwrap_or_default();
            assert!(message.contains("withheld"), "{uri} {window}");
            let metadata = desk.request("resources/metadata", json!({ "uri": uri }));
            assert!(!metadata.to_string().contains(&key()), "{uri} {metadata}");
            let arguments = json!({ "uris": [uri] });
            let call = json!({ "name": "resources_metadata", "arguments": arguments });
            let told = desk.request("tools/call", call);
            assert!(!told.to_string().contains(&key()), "{uri} {told}");
        }
    }
}

/// What no converter could look into within its time is not given where secrets are masked.
#[test]
fn a_document_that_takes_too_long_is_withheld_where_secrets_are_masked() {
    let home = documents(&format!("the key is {}", key()));
    let mut desk = start_with(
        &home,
        "[mounts.app]\nkind = \"fs\"\npath = \"app\"\nindex = false\nredact = true\n\
         [render]\ntime = \"1ms\"\n",
    );
    for name in ["report", "plan.bin"] {
        let uri = format!("file:///app/{name}");
        let bytes = json!({ WINDOW: { "offset": 0, "length": 5000 } });
        for meta in [json!({}), bytes, json!({ ACCEPT: ["application/*"] })] {
            let refused = read(&mut desk, &uri, &meta);
            let message = refused["error"]["message"].as_str().unwrap_or_default();
            assert!(message.contains("longer than 1ms"), "{uri} {meta} {refused}");
        }
    }
}
