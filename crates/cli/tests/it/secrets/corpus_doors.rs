//! Tests of redaction: the secrets of the corpus at every door of the program, of every kind of mount.

#[path = "../../../../redaction/tests/it/corpus/mod.rs"]
#[expect(dead_code, reason = "the look-alikes are for the tests of the redactor")]
mod corpus;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use self::corpus::{CorpusText, NEIGHBOURS};
use super::needles::Needles;
use super::{git, walk};
use crate::fake_server::{Era, TransportKind};
use crate::test_client::TestClient;

const SETTINGS: &str = "[server]\nlog_file = \"desk.log\"\naudit = \"audit.jsonl\"\n\
    [mounts.app]\nkind = \"fs\"\npath = \"app\"\nhidden = true\nredact = true\n\
    [mounts.past]\nkind = \"git\"\npath = \"app\"\nredact = true\n\
    [mounts.set]\nkind = \"config\"\npath = \"app\"\nfiles = [\"**/*\", \"**/.*\", \"**/.*/*\"]\n\
    layers = [\"0/app.toml\", \"env:CORPUS_*\"]\n\
    [mounts.vars]\nkind = \"env\"\nnames = [\"CORPUS_*\"]\n";

/// How many requests are on their way at a time.
const IN_FLIGHT: usize = 32;

/// A program that serves the corpus, and the secrets that it must not tell.
struct Doors {
    desk: TestClient,
    needles: Needles,
    texts: Vec<(String, CorpusText)>,
    folder: TempDir,
}

impl Doors {
    /// Writes the corpus, commits it, and serves it from folders, history, configuration and
    /// environment.
    fn open() -> Self {
        let folder = TempDir::with_prefix("corpus").unwrap();
        let app = folder.path().join("app");
        let texts: Vec<(String, CorpusText)> = corpus::secrets()
            .into_iter()
            .enumerate()
            .map(|(at, text)| (format!("{at}/{}", text.file), text))
            .collect();
        for (path, text) in &texts {
            write(&app.join(path), &text.text);
        }
        let shaped = texts.iter().filter(|(_, text)| text.kind.starts_with("GitHub"));
        let message: String = shaped.map(|(_, text)| format!("{}\n", text.values[0])).collect();
        git(&app, &["init", "-q", "-b", "main"]);
        git(&app, &["add", "-f", "."]);
        git(&app, &["commit", "-q", "-m", &format!("rotate\n\n{message}")]);
        for (path, _) in texts.iter().skip(1).step_by(2) {
            fs::remove_file(app.join(path)).unwrap();
        }
        git(&app, &["commit", "-q", "-a", "-m", "remove half of it"]);
        git(&app, &["checkout", "-q", "HEAD~1", "--", "."]);
        let variables: Vec<(String, &str)> = texts
            .iter()
            .filter(|(_, text)| text.kind == "password" || text.kind == "AWS")
            .enumerate()
            .map(|(at, (_, text))| (format!("CORPUS_{at}_PASSWORD"), text.values[0].as_str()))
            .collect();
        let mut environment: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        // The variable counts, and not the settings.
        environment.push(("REFDESK_LOG", "trace"));
        let how = (Era::Modern, TransportKind::Pipe);
        let desk = TestClient::start_in(how, folder.path(), SETTINGS, &environment);
        let needles = Needles::new(texts.iter().flat_map(|(_, text)| text.values.clone()));
        Self { desk, needles, texts, folder }
    }

    /// Sends a request and checks its response.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.ask_all(method, &[params]).remove(0)
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({ "name": tool });
        params["arguments"] = arguments;
        self.ask("tools/call", params)
    }

    /// Sends requests, several at a time, and checks their responses.
    fn ask_all(&mut self, method: &str, all: &[Value]) -> Vec<Value> {
        let mut answers = Vec::with_capacity(all.len());
        for some in all.chunks(IN_FLIGHT) {
            let sent: Vec<u64> =
                some.iter().map(|params| self.desk.send_request(method, params.clone())).collect();
            for (id, params) in sent.into_iter().zip(some) {
                let answer = self.desk.wait_response(id);
                self.check(&answer, &format!("{method} {params}"));
                answers.push(answer);
            }
        }
        answers
    }

    #[track_caller]
    fn check(&self, told: &Value, of: &str) {
        self.needles.assert_none(told.to_string().as_bytes(), of);
    }

    /// Reads every text of the corpus below `prefix`; returns how many of them are masked.
    fn read_all(&mut self, prefix: &str) -> usize {
        let uris = self.texts.iter().map(|(path, _)| json!({ "uri": format!("{prefix}{path}") }));
        let answers = self.ask_all("resources/read", &uris.collect::<Vec<_>>());
        answers.iter().filter(|answer| answer.to_string().contains("[redacted ")).count()
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn the_secrets_of_the_corpus_appear_at_no_door() {
    let mut doors = Doors::open();
    let all = doors.texts.len();
    assert_eq!(doors.read_all("file:///app/"), all, "each file is masked");
    lists_and_tools(&mut doors);
    windows_of_any_size(&mut doors);
    searches(&mut doors);
    notices(&mut doors);
    history_and_configuration(&mut doors);
    let Doors { desk, needles, folder, .. } = doors;
    drop(desk);
    let mut looked = BTreeSet::new();
    for path in walk(folder.path()) {
        let name = path.strip_prefix(folder.path()).unwrap().display().to_string();
        if !name.starts_with("app/") {
            needles.assert_none(&fs::read(&path).unwrap(), &name);
            looked.insert(name);
        }
    }
    for written in ["desk.log", "audit.jsonl"] {
        assert!(looked.contains(written), "{written} in {looked:?}");
    }
    assert!(looked.iter().any(|name| name.starts_with(".cache")), "the index: {looked:?}");
    let log = fs::read_to_string(folder.path().join("desk.log")).unwrap();
    assert!(log.contains(" DEBUG "), "the log has every level");
}

/// Lists, descriptions and tools that read.
fn lists_and_tools(doors: &mut Doors) {
    for method in ["resources/list", "resources/templates/list", "tools/list", "prompts/list"] {
        doors.ask(method, json!({}));
    }
    let mut arguments = json!({ "mount": "app", "recursive": true, "links": true });
    loop {
        let page = doors.call("resources_list", arguments.clone());
        let cursor = page["result"]["structuredContent"]["cursor"].clone();
        if cursor.is_null() {
            break;
        }
        arguments["cursor"] = cursor;
    }
    let uris: Vec<String> =
        doors.texts.iter().map(|(path, _)| format!("file:///app/{path}")).collect();
    for some in uris.chunks(25) {
        doors.call("resources_metadata", json!({ "uris": some }));
        doors.call("resources_read_embedded", json!({ "uris": some }));
    }
    for uri in uris.iter().step_by(7) {
        doors.ask("resources/metadata", json!({ "uri": uri }));
        doors.call("resources_read", json!({ "uri": uri, "start_line": 1, "max_lines": 2 }));
        doors.call("resources_read", json!({ "uri": uri, "max_tokens": 20 }));
        doors.call("resources_read", json!({ "uri": uri, "use_content_blocks": true }));
    }
    doors.ask("resources/directory/read", json!({ "uri": "file:///app/3" }));
}

/// Windows from one byte up, over the whole of a text of each kind: joined, they are the masked text.
fn windows_of_any_size(doors: &mut Doors) {
    let mut kinds = BTreeSet::new();
    let chosen: Vec<String> = doors
        .texts
        .iter()
        .filter(|(_, text)| text.text.is_ascii() && text.text.len() < 200)
        .filter(|(_, text)| kinds.insert(text.kind.clone()))
        .map(|(path, _)| format!("file:///app/{path}"))
        .collect();
    assert!(chosen.len() >= 60, "{} kinds of secrets", chosen.len());
    for (at, uri) in chosen.iter().enumerate() {
        let whole = doors.ask("resources/read", json!({ "uri": uri }));
        let whole = whole["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
        for length in [1, 2 + at % 40] {
            let windows = (0..whole.len()).step_by(length).map(|offset| {
                let window = json!({ "offset": offset, "length": length });
                json!({ "uri": uri, "_meta": { "dev.refdesk/window": window } })
            });
            let answers = doors.ask_all("resources/read", &windows.collect::<Vec<_>>());
            let parts = answers.iter().map(|answer| &answer["result"]["contents"][0]["text"]);
            let joined: String = parts.map(|part| part.as_str().unwrap()).collect();
            assert_eq!(joined, whole, "{uri} by {length}");
        }
    }
}

/// Searches find nothing by a secret, and show none beside what they find.
fn searches(doors: &mut Doors) {
    let secrets: Vec<String> =
        doors.texts.iter().flat_map(|(_, text)| text.values.clone()).collect();
    for some in secrets.chunks(60) {
        // Braces, so that the pattern itself holds no secret where it is said back.
        let pattern =
            |secret: &String| secret.chars().map(|letter| format!("[{letter}]")).collect();
        let some = some.iter().filter(|secret| secret.chars().all(char::is_alphanumeric));
        let pattern = some.map(pattern).collect::<Vec<String>>().join("|");
        // An empty pattern would match each line.
        if pattern.is_empty() {
            continue;
        }
        let found = doors.call("resources_grep", json!({ "pattern": pattern, "mount": "app" }));
        let hits = &found["result"]["structuredContent"]["matches"];
        assert!(hits.as_object().is_none_or(serde_json::Map::is_empty), "{hits}");
    }
    for pattern in [".", "(?i)pass|token|key", "redacted", NEIGHBOURS[0]] {
        let arguments = json!({ "pattern": pattern, "mount": "app", "context": 2 });
        doors.call("resources_grep", arguments);
    }
    wait_for_index(doors);
    for query in ["inventory-service", "password", "token key secret", "db.internal.example"] {
        let found = doors.call("resources_search", json!({ "query": query, "limit": 50 }));
        assert!(found["result"]["structuredContent"]["hits"].is_array(), "{found}");
        let question = json!({ "question": query, "budget": 20_000 });
        doors.call("resources_pack", question.clone());
        let prompt = json!({ "name": "context", "arguments": { "question": query } });
        doors.ask("prompts/get", prompt);
        doors.ask("resources/read", json!({ "uri": format!("search://app/{query}") }));
    }
    for secret in secrets.iter().step_by(23) {
        let arguments = json!({ "name": "resources_search", "arguments": { "query": secret } });
        let found = doors.desk.request("tools/call", arguments);
        // What a client wrote may be said back.
        let hits = found["result"]["structuredContent"]["hits"].clone();
        doors.check(&hits, &format!("a search for {secret}"));
    }
}

fn wait_for_index(doors: &mut Doors) {
    let end = Instant::now() + Duration::from_secs(120);
    while doors.desk.state_of("app")["index"]["complete"] != true {
        assert!(Instant::now() < end, "the index covers the corpus");
    }
}

/// Notices and tools that watch, while another secret is written.
fn notices(doors: &mut Doors) {
    let path = doors.texts[0].0.clone();
    let mut others = doors.texts[1..].iter().map(|(_, text)| text);
    let other = others.find(|text| text.file == doors.texts[0].1.file).unwrap().text.clone();
    let uri = format!("file:///app/{path}");
    let watched = doors.call("resources_watch", json!({ "uris": [uri] }));
    let handle = watched["result"]["structuredContent"]["handle"].as_str().unwrap().to_owned();
    doors.desk.subscribe(&[&uri]);
    write(&doors.folder.path().join("app").join(&path), &format!("{other}# more\n"));
    let notice = doors.desk.wait_notification("notifications/resources/updated");
    doors.check(&notice, "a notice");
    let changes = json!({ "handle": handle, "wait_ms": 60_000 });
    let changes = doors.call("resources_changes", changes);
    assert_eq!(changes["result"]["structuredContent"]["changed"], json!([uri]), "{changes}");
    for own in ["refdesk://subscriptions", "refdesk://clients", "refdesk://mounts/app"] {
        doors.ask("resources/read", json!({ "uri": own }));
    }
}

/// Revisions, diffs, keys, layers and variables.
fn history_and_configuration(doors: &mut Doors) {
    let all = doors.texts.len();
    assert_eq!(doors.read_all("git://past/HEAD~1/"), all, "each file of history is masked");
    assert!(doors.read_all("config://set/") >= all * 9 / 10);
    assert!(doors.read_all("config://set/keys/") >= all / 2);
    for piece in ["log/HEAD", "commit/HEAD", "commit/HEAD~1", "diff/HEAD~1..HEAD", "status", "refs"]
    {
        let uri = format!("git://past/{piece}");
        doors.ask("resources/read", json!({ "uri": uri }));
        doors.call("resources_read", json!({ "uri": uri, "format": "application/json" }));
        doors.call("resources_list", json!({ "collection": uri }));
    }
    let blames: Vec<Value> = doors
        .texts
        .iter()
        .step_by(9)
        .map(|(path, _)| json!({ "uri": format!("git://past/blame/HEAD~1/{path}") }))
        .collect();
    doors.ask_all("resources/read", &blames);
    for uri in ["config://set/effective", "config://set/diff/0%2Fapp.toml..env:CORPUS_*"] {
        let read = doors.ask("resources/read", json!({ "uri": uri }));
        assert!(read.to_string().contains("[redacted "), "{read}");
    }
    let listed = doors.call("resources_list", json!({ "mount": "vars" }));
    let variables =
        doors.texts.iter().filter(|(_, text)| ["password", "AWS"].contains(&&*text.kind));
    let names: Vec<Value> = (0..variables.count())
        .map(|at| json!({ "uri": format!("env://vars/CORPUS_{at}_PASSWORD") }))
        .collect();
    assert!(listed.to_string().contains("CORPUS_0_PASSWORD"), "{listed}");
    for read in doors.ask_all("resources/read", &names) {
        assert!(read.to_string().contains("[redacted "), "{read}");
    }
    for (uri, name) in [
        ("git://past/{revision}/{+path}", "revision"),
        ("config://set/keys/{+file}/{+key}", "file"),
        ("env://vars/{variable}", "variable"),
    ] {
        let argument = json!({ "name": name, "value": "" });
        let reference = json!({ "type": "ref/resource", "uri": uri });
        doors.ask("completion/complete", json!({ "ref": reference, "argument": argument }));
    }
}
