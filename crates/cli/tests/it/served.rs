//! End-to-end tests of folder mounts and static mounts.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::program::{HttpProgram, StdioProgram, project, refdesk};

fn uris(answer: &Value) -> Vec<&str> {
    let resources = answer["result"]["resources"].as_array().unwrap();
    resources.iter().map(|resource| resource["uri"].as_str().unwrap()).collect()
}

#[test]
fn a_folder_is_listed_opened_described_and_read() {
    let folder = project();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio", "project"]));
    let list = desk.request("resources/list", json!({}));
    assert_eq!(
        uris(&list),
        [
            "file:///project/README.md",
            "file:///project/docs/guide.md",
            "file:///project/logo.png",
            "file:///project/sjis.txt",
            "file:///project/src/lib.ts",
            "file:///project/src/main.rs",
        ]
    );
    let readme = &list["result"]["resources"][0];
    assert_eq!((&readme["mimeType"], &readme["size"]), (&json!("text/markdown"), &json!(10)));
    assert_eq!(readme["annotations"]["priority"], 1.0, "a README is worth much");
    assert!(readme["annotations"]["lastModified"].as_str().unwrap().ends_with('Z'));
    assert!(readme["_meta"]["dev.refdesk/etag"].is_string());

    let opened = desk.request("resources/list", json!({ "uri": "file:///project/src" }));
    assert_eq!(uris(&opened), ["file:///project/src/lib.ts", "file:///project/src/main.rs"]);
    let root = desk.request("resources/directory/read", json!({ "uri": "file:///project" }));
    assert!(uris(&root).contains(&"file:///project/docs"));
    let src = desk.request("resources/metadata", json!({ "uri": "file:///project/src" }));
    assert_eq!(src["result"]["resource"]["mimeType"], "inode/directory");
    assert_eq!(src["result"]["resource"]["isCollection"], true);

    let read = |desk: &mut StdioProgram, uri: &str| {
        desk.request("resources/read", json!({ "uri": uri }))["result"]["contents"].take()
    };
    let script = read(&mut desk, "file:///project/src/lib.ts");
    assert_eq!(
        (&script[0]["mimeType"], &script[0]["text"]),
        (&json!("text/typescript"), &json!("export const a = 1;\n"))
    );
    let logo = read(&mut desk, "file:///project/logo.png");
    assert_eq!(
        (&logo[0]["mimeType"], &logo[0]["blob"]),
        (&json!("image/png"), &json!("iVBORw0KGgoAAQL/"))
    );
    let sjis = read(&mut desk, "file:///project/sjis.txt");
    assert_eq!(
        (&sjis[0]["text"], &sjis[0]["_meta"]["dev.refdesk/charset"]),
        (&json!("日本語の文章です\n"), &json!("Shift_JIS"))
    );
    let src = read(&mut desk, "file:///project/src");
    assert_eq!(
        (&src[0]["uri"], &src[2]["text"]),
        (&json!("file:///project/src"), &json!("fn main() {}\n"))
    );

    let question = json!({ "ref": { "type": "ref/resource", "uri": "file:///project/{+path}" },
                           "argument": { "name": "path", "value": "src/m" } });
    let completion = desk.request("completion/complete", question);
    assert_eq!(completion["result"]["completion"]["values"][0], "src/main.rs");
    assert_eq!(desk.close(), (true, String::new()));
}

#[test]
fn windows_join_to_the_whole_and_a_pinned_version_is_kept() {
    let folder = project();
    let path = folder.path().join("project/ja.md");
    let text = "日本語とEnglishの混ざった文。🎌\r\n".repeat(50);
    fs::write(&path, &text).unwrap();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio", "project"]));
    let window = |desk: &mut StdioProgram, window: Value| {
        let params =
            json!({ "uri": "file:///project/ja.md", "_meta": { "dev.refdesk/window": window } });
        desk.request("resources/read", params)
    };
    let mut joined = String::new();
    let mut next = json!({ "offset": 0, "length": 100 });
    let etag = loop {
        let element = window(&mut desk, next.clone())["result"]["contents"][0].take();
        joined.push_str(element["text"].as_str().unwrap());
        let bounds = &element["_meta"]["dev.refdesk/window"];
        assert_eq!(bounds["total"], text.len());
        next["etag"] = bounds["etag"].clone();
        match bounds.get("next") {
            Some(offset) => next["offset"] = offset.clone(),
            None => break bounds["etag"].clone(),
        }
    };
    assert_eq!(joined, text);
    fs::write(&path, "another text, and of another length").unwrap();
    let changed = window(&mut desk, json!({ "offset": 0, "etag": etag }));
    assert_eq!(changed["error"]["code"], -32602);
    assert!(changed["error"]["message"].as_str().unwrap().contains("changed"), "{changed}");
    let now = &changed["error"]["data"]["etag"];
    assert!(now.is_string() && *now != etag);
    let again = window(&mut desk, json!({ "offset": 0, "etag": now }));
    assert_eq!(again["result"]["contents"][0]["text"], "another text, and of another length");
}

#[test]
fn what_is_too_large_is_refused_with_the_window_to_ask_for() {
    let folder = project();
    let settings = "[mounts.project]\nkind = \"fs\"\npath = \"project\"\nmax_read = \"1 KiB\"\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    fs::write(folder.path().join("project/at.txt"), "x".repeat(1024)).unwrap();
    fs::write(folder.path().join("project/over.txt"), "x".repeat(1025)).unwrap();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio"]));
    let at = desk.request("resources/read", json!({ "uri": "file:///project/at.txt" }));
    assert!(at["result"].is_object());
    let over = desk.request("resources/read", json!({ "uri": "file:///project/over.txt" }));
    assert_eq!(over["error"]["code"], -32602);
    let words = over["error"]["message"].as_str().unwrap();
    assert!(
        words.contains("1024") && words.contains("offset") && words.contains("length"),
        "{words}"
    );
    let meta = json!({ "dev.refdesk/window": {} });
    let part =
        desk.request("resources/read", json!({ "uri": "file:///project/over.txt", "_meta": meta }));
    assert_eq!(part["result"]["contents"][0]["_meta"]["dev.refdesk/window"]["next"], 1024);
}

#[test]
fn rules_of_the_settings_hold_over_the_built_in_ones() {
    let folder = project();
    let settings = "[mounts.project]\nkind = \"fs\"\npath = \"project\"\n\
        [[mounts.project.rules]]\nglob = \"docs/**/*.md\"\npriority = 0.9\naudience = [\"user\"]\n\
        [[mounts.project.rules]]\nglob = \"README.md\"\npriority = 0.3\ntitle = \"Start here\"\n\
        [[mounts.project.rules]]\nglob = \"src\"\nhide = true\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio"]));
    let list = desk.request("resources/list", json!({}));
    assert!(!uris(&list).iter().any(|uri| uri.contains("/src")), "{list}");
    let resources = &list["result"]["resources"];
    assert_eq!(
        (&resources[0]["title"], &resources[0]["annotations"]["priority"]),
        (&json!("Start here"), &json!(0.3))
    );
    assert_eq!(resources[1]["annotations"]["audience"], json!(["user"]));
    let hidden = desk.request("resources/read", json!({ "uri": "file:///project/src/main.rs" }));
    assert_eq!(hidden["error"]["message"], "Resource not found");
}

#[test]
fn a_rule_sets_the_charset_of_a_file() {
    let folder = project();
    // "Привет" in windows-1251.
    fs::write(folder.path().join("project/old.txt"), b"\xcf\xf0\xe8\xe2\xe5\xf2\n").unwrap();
    let settings = "[mounts.project]\nkind = \"fs\"\npath = \"project\"\n\
        [[mounts.project.rules]]\nglob = \"*.txt\"\ncharset = \"utf-8\"\n\
        [[mounts.project.rules]]\nglob = \"old*\"\ncharset = \"windows-1251\"\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio"]));
    let old = desk.request("resources/read", json!({ "uri": "file:///project/old.txt" }));
    let content = &old["result"]["contents"][0];
    assert_eq!(
        (&content["text"], &content["_meta"]["dev.refdesk/charset"]),
        (&json!("Привет\n"), &json!("windows-1251"))
    );
}

#[test]
fn declared_resources_have_formats_and_templates() {
    let folder = project();
    let settings = r##"
[mounts.notes]
kind = "static"

[[mounts.notes.resources]]
uri = "note://welcome"
name = "welcome"
mime = "text/markdown"
text = "# Welcome"

[[mounts.notes.resources]]
uri = "note://report"
name = "report"
formats = [
    { mime = "application/pdf", base64 = "JVBERi0xLjQK" },
    { mime = "text/plain", file = "project/README.md" },
]

[[mounts.notes.templates]]
uri = "note://person/{id}"
name = "person"
mime = "application/json"
text = '{"id": "{id}"}'
values = { id = ["ada", "grace"] }
"##;
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio"]));
    let list = desk.request("resources/list", json!({}));
    assert_eq!(uris(&list), ["note://welcome", "note://report"]);
    // S2093-12, 13, 14, 23, 25.
    let listed = &list["result"]["resources"][1];
    assert_eq!(listed["mimeType"], "application/pdf");
    let formats = listed["_meta"]["dev.refdesk/formats"].as_array().unwrap();
    let told: Vec<_> = formats.iter().map(|one| (&one["mimeType"], &one["size"])).collect();
    assert_eq!(told, [(&json!("application/pdf"), &json!(9)), (&json!("text/plain"), &json!(10))]);
    assert!(formats[0]["etag"].is_string() && formats[0]["etag"] != formats[1]["etag"]);
    let contents =
        desk.request("resources/read", json!({ "uri": "note://report" }))["result"]["contents"]
            .take();
    assert_eq!((&contents[0]["blob"], &contents[0]["size"]), (&json!("JVBERi0xLjQK"), &json!(9)));
    assert_eq!(
        (&contents[1]["text"], &contents[1]["mimeType"]),
        (&json!("# Project\n"), &json!("text/plain"))
    );
    assert!(
        contents
            .as_array()
            .unwrap()
            .iter()
            .all(|part| part["uri"] == "note://report" && part["name"] == "report")
    );
    let person = desk.request("resources/read", json!({ "uri": "note://person/a%22b" }));
    let text = person["result"]["contents"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), json!({ "id": "a\"b" }));
}

#[test]
fn declared_variables_are_shown_and_checked() {
    let folder = project();
    let settings = r##"
[mounts.notes]
kind = "static"

[[mounts.notes.templates]]
uri = "note://person/{id}"
name = "person"
text = "{id}"
variables = { id = { description = "who it is" } }

[[mounts.notes.templates]]
uri = "note://count/{n}"
name = "count"
text = "{n}"
variables = { n = { type = "integer", allowed = ["1", "2"] } }
"##;
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio"]));
    let templates = desk.request("resources/templates/list", json!({}));
    let variables =
        |at: usize| &templates["result"]["resourceTemplates"][at]["_meta"]["dev.refdesk/variables"];
    let id = json!([{ "name": "id", "description": "who it is", "type": "string" }]);
    assert_eq!(variables(0), &id);
    assert_eq!(variables(1), &json!([{ "name": "n", "type": "integer", "enum": ["1", "2"] }]));
    let three = desk.request("resources/read", json!({ "uri": "note://count/3" }));
    assert_eq!(three["error"]["code"], -32602, "{three}");
}

/// 2.7, L-05: a request with a progress token gets progress notifications before the response.
#[test]
fn long_work_reports_its_progress() {
    let folder = project();
    // Start before the files exist, so that the banner's count does not warm the caches.
    let listening = HttpProgram::start(folder.path(), &["project"]);
    let large = folder.path().join("project/large");
    fs::create_dir(&large).unwrap();
    for at in 0..25_000 {
        fs::File::create(large.join(format!("{at:05}"))).unwrap();
    }
    let params = json!({ "uri": "file:///project/large", "_meta": { "progressToken": "t" } });
    let mut answer = Vec::new();
    listening.stream_response("resources/list", params, |chunk| answer.extend_from_slice(chunk));
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.contains("content-type: text/event-stream"), "{answer}");
    let reported = answer.find("\"method\":\"notifications/progress\"").expect("a report");
    let answered = answer.find("\"nextCursor\":").expect("an answer");
    assert!(reported < answered && answer.contains("\"progressToken\":\"t\""));
}

/// A host that closes its end of the pipe ends the conversation; that is no failure.
#[test]
fn a_client_that_reads_no_more_ends_the_program_quietly() {
    let folder = project();
    let mut command = refdesk(folder.path(), &["serve", "--stdio", "project"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    writeln!(input, "{message}").unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), "");
    drop(input);
}
