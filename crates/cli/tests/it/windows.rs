//! Tests of windowed reads by bytes, lines and tokens.

use std::fs;

use serde_json::{Value, json};

use crate::program::{HttpProgram, StdioProgram, project, refdesk};

const KEY: &str = "dev.refdesk/window";

fn read(desk: &mut StdioProgram, name: &str, window: &Value) -> Value {
    let uri = format!("file:///project/{name}");
    desk.request("resources/read", json!({ "uri": uri, "_meta": { KEY: window } }))
}

/// Reads a whole file window by window, following `next`.
fn joined(desk: &mut StdioProgram, name: &str, first: &Value) -> String {
    let (mut all, mut window) = (String::new(), first.clone());
    loop {
        let answer = read(desk, name, &window);
        let element = &answer["result"]["contents"][0];
        let bounds = &element["_meta"][KEY];
        assert_eq!(bounds["offset"], all.len(), "{window}");
        all.push_str(element["text"].as_str().unwrap());
        assert_eq!(bounds["eof"], bounds.get("next").is_none());
        if bounds["eof"] == true {
            return all;
        }
        if let Some(line) = bounds.get("next_line") {
            window["start_line"] = line.clone();
        } else if first.get("max_lines").is_some() {
            window = json!({ "offset": bounds["next"], "length": 1 << 20 });
        } else {
            window["offset"] = bounds["next"].clone();
        }
        window["etag"] = bounds["etag"].clone();
    }
}

#[test]
fn a_file_is_joined_from_its_windows_in_every_measure() {
    let folder = project();
    let file = |name: &str, text: &str| {
        fs::write(folder.path().join("project").join(name), text).unwrap();
    };
    let texts = [
        ("ja.md", "日本語とEnglishの混ざった文。👨\u{200d}👩\u{200d}👧\r\n".repeat(300)),
        ("open.txt", "か\u{3099} e\u{301}\n\n\nno end".repeat(50)),
        ("long.txt", format!("first\n{}\nlast", "word 単語 ".repeat(200_000))),
        ("empty.txt", String::new()),
    ];
    for (name, text) in &texts {
        file(name, text);
    }
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio", "project"]));
    for (name, text) in &texts {
        let large = text.len() > 1 << 20;
        let windows = [
            json!({ "offset": 0, "length": if large { 300_000 } else { 100 } }),
            json!({ "max_lines": if large { 1000 } else { 7 } }),
            json!({ "max_tokens": if large { 90_000 } else { 50 } }),
        ];
        for window in windows {
            let told = joined(&mut desk, name, &window);
            assert!(told == *text, "{name} by {window}");
        }
    }
    // A file in another charset can be read by lines too.
    let sjis = read(&mut desk, "sjis.txt", &json!({ "max_lines": 5 }));
    let element = &sjis["result"]["contents"][0];
    assert_eq!(element["text"], "日本語の文章です\n");
    assert_eq!(
        (&element["_meta"][KEY]["lines"], &element["_meta"][KEY]["eof"]),
        (&json!(1), &json!(true))
    );
    let logo = read(&mut desk, "logo.png", &json!({ "max_lines": 5 }));
    assert!(logo["error"]["message"].as_str().unwrap().contains("offset"), "{logo}");
}

#[test]
fn a_file_that_changes_between_two_pinned_windows_says_so() {
    let folder = project();
    let path = folder.path().join("project/log.txt");
    fs::write(&path, "one\ntwo\nthree\n").unwrap();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio", "project"]));
    let first = read(&mut desk, "log.txt", &json!({ "max_lines": 1 }));
    let bounds = &first["result"]["contents"][0]["_meta"][KEY];
    fs::write(&path, "another one\nanother two\nanother three\n").unwrap();
    let window = json!({ "start_line": bounds["next_line"], "etag": bounds["etag"] });
    let changed = read(&mut desk, "log.txt", &window);
    assert_eq!(changed["error"]["code"], -32602);
    assert!(changed["error"]["message"].as_str().unwrap().contains("changed"), "{changed}");
    let now = &changed["error"]["data"]["etag"];
    assert!(now.is_string() && *now != bounds["etag"]);
    // With the new etag, and without one, the lines are those of the new version.
    for window in [
        json!({ "start_line": 2, "max_lines": 1, "etag": now }),
        json!({ "start_line": 2, "max_lines": 1 }),
    ] {
        let again = read(&mut desk, "log.txt", &window);
        assert_eq!(again["result"]["contents"][0]["text"], "another two\n");
        assert_eq!(again["result"]["contents"][0]["_meta"][KEY]["etag"], *now);
    }
}

/// Bytes that a process has read, from `/proc/PID/io`.
fn has_read(process: u32) -> u64 {
    let io = fs::read_to_string(format!("/proc/{process}/io")).unwrap();
    let line = io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
    line.parse().unwrap()
}

#[test]
fn a_window_of_a_huge_file_reads_little_of_it() {
    const SIZE: u64 = 5 << 30;
    let folder = project();
    let path = folder.path().join("project/huge.txt");
    let text = "a line of a log, one of many\n".repeat(4000);
    fs::write(&path, &text).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_len(SIZE).unwrap();
    // The index would read of it too.
    let settings = "[mounts.project]\nkind = \"fs\"\npath = \"project\"\nindex = false\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let listening = HttpProgram::start(folder.path(), &[]);
    let windows = [
        json!({ "offset": 4096, "length": 4096 }),
        json!({ "offset": 3_u64 << 30, "length": 4096 }),
        json!({ "start_line": 100, "max_lines": 100 }),
        json!({ "offset": 4096, "max_tokens": 1000 }),
    ];
    for window in windows {
        let before = has_read(listening.child.id());
        let params = json!({ "uri": "file:///project/huge.txt", "_meta": { KEY: window } });
        let mut answer = Vec::new();
        listening
            .stream_response("resources/read", params, |chunk| answer.extend_from_slice(chunk));
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.contains(&format!("\"total\":{SIZE},\"eof\":false")), "{answer}");
        let read = has_read(listening.child.id()) - before;
        assert!(read < 1_000_000, "{read} bytes were read for {window}");
    }
}
