//! Tests of redaction: every door of the program, searched byte for byte for secrets.

mod corpus_doors;
mod needles;
mod people;
mod policies;
mod upstream;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake_server::{Era, TransportKind};
use crate::program::{output_text, refdesk, run};
use crate::test_client::TestClient;
use needles::Needles;

/// Logs at every level. The variable counts, and not `log_level` of the settings.
const TRACE: (&str, &str) = ("REFDESK_LOG", "trace");

const SETTINGS: &str = "[server]\nlog_file = \"desk.log\"\naudit = \"audit.jsonl\"\n\
    redact_key = \"the key of the masks\"\n\
    [mounts.app]\nkind = \"fs\"\npath = \"app\"\nhidden = true\n\
    [mounts.notes]\nkind = \"fs\"\npath = \"notes\"\nredact = true\n";

/// The secrets, each by itself in one of the files.
fn secrets() -> Vec<String> {
    let word = |at: usize| format!("Zq{at}vX-tomato-plum-{at}");
    let mut all: Vec<String> = (0..7).map(word).collect();
    // Shapes, in pieces so that no scanner takes this file for a leak.
    all.push(["AKIA", "QYLPMN5HFIQR7XYB"].concat());
    all.push("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7".to_owned());
    all.push(word(9));
    all
}

fn make_files(folder: &Path) {
    let secret = secrets();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    file("app/.env", format!("PORT=80\nexport DB_PASSWORD='{}'\n", secret[0]).as_bytes());
    file("app/config.yaml", format!("db:\n  host: h\n  password: {}\n", secret[1]).as_bytes());
    file("app/settings.toml", format!("name = \"x\"\napi_key = \"{}\"\n", secret[2]).as_bytes());
    file("app/appsettings.json", format!("{{\"token\": \"{}\", \"n\": 1}}", secret[3]).as_bytes());
    let utf_16: Vec<u8> = format!("\u{feff}[db]\r\npassword={}\r\nuser=ada\r\n", secret[4])
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    file("app/legacy.ini", &utf_16);
    let mut sjis = b"# \x93\xfa\x96\x7b\x8c\xea\x82\xcc\x95\xb6\x8f\xcd\x82\xc5\x82\xb7\n".to_vec();
    sjis.extend_from_slice(format!("db.password={}\nuser=ada\n", secret[5]).as_bytes());
    file("app/japanese.properties", &sjis);
    let mut euc_jp =
        b"# \xc6\xfc\xcb\xdc\xb8\xec\xa4\xce\xca\xb8\xbe\xcf\xa4\xc7\xa4\xb9\n".to_vec();
    euc_jp.extend_from_slice(b"\xa5\xd1\xa5\xb9\xa5\xef\xa1\xbc\xa5\xc9=");
    euc_jp.extend_from_slice(format!("{}\nuser=ada\n", secret[9]).as_bytes());
    file("app/euc-jp.properties", &euc_jp);
    let dashes = "-----";
    let pem = format!(
        "{dashes}BEGIN PRIVATE KEY{dashes}\n{}\n{dashes}END PRIVATE KEY{dashes}\n",
        secret[8]
    );
    file("app/server.pem", pem.as_bytes());
    file("app/src/main.rs", b"fn main() {}\n");
    std::os::unix::fs::symlink(".env", folder.join("app/plain.txt")).unwrap();
    let notes = format!("see postgres://app:{}@db/x\nand {}\n", secret[6], secret[7]);
    file("notes/memo.md", format!("{notes}{}\n{notes}", "filler ".repeat(9000)).as_bytes());
}

/// Panics if `bytes` hold a secret, also in base64 or percent-encoded.
fn assert_no_secret(bytes: &[u8], of: &str) {
    static NEEDLES: LazyLock<Needles> = LazyLock::new(|| Needles::new(secrets()));
    NEEDLES.assert_none(bytes, of);
}

/// Sends a request and checks its response; returns it as text.
fn ask(desk: &mut TestClient, method: &str, params: Value) -> String {
    let told = format!("{method} {params}");
    let answer = desk.request(method, params).to_string();
    assert_no_secret(answer.as_bytes(), &told);
    answer
}

fn call(desk: &mut TestClient, tool: &str, arguments: Value) -> String {
    let mut params = json!({ "name": tool });
    params["arguments"] = arguments;
    ask(desk, "tools/call", params)
}

const FILES: [&str; 11] = [
    "file:///app/.env",
    "file:///app/config.yaml",
    "file:///app/settings.toml",
    "file:///app/appsettings.json",
    "file:///app/legacy.ini",
    "file:///app/japanese.properties",
    "file:///app/server.pem",
    "file:///notes/memo.md",
    "file:///app/src/main.rs",
    "file:///app/plain.txt",
    "file:///app/euc-jp.properties",
];

fn read_every_way(desk: &mut TestClient) {
    for uri in FILES {
        let whole = ask(desk, "resources/read", json!({ "uri": uri }));
        assert_eq!(whole.contains("[redacted "), uri != FILES[8], "{whole}");
        for window in [
            json!({ "offset": 3, "length": 9 }),
            json!({ "start_line": 2, "max_lines": 1 }),
            json!({ "max_tokens": 5 }),
            json!({ "offset": 0, "length": 4, "etag": "another" }),
        ] {
            let meta = json!({ "dev.refdesk/window": window });
            ask(desk, "resources/read", json!({ "uri": uri, "_meta": meta }));
        }
        let length = if uri.starts_with("file:///notes") { 0 } else { 120 };
        for offset in 0..length {
            call(desk, "resources_read", json!({ "uri": uri, "offset": offset, "max_bytes": 1 }));
            call(desk, "resources_read", json!({ "uri": uri, "offset": offset, "max_bytes": 24 }));
        }
        call(desk, "resources_read", json!({ "uri": uri, "start_line": 1, "max_lines": 3 }));
        call(desk, "resources_read", json!({ "uri": uri, "max_tokens": 20 }));
        call(desk, "resources_read", json!({ "uri": uri, "use_content_blocks": true }));
        call(desk, "resources_read", json!({ "uri": uri, "format": "image/png" }));
        call(desk, "resources_read_embedded", json!({ "uris": [uri] }));
        call(desk, "resources_metadata", json!({ "uris": [uri] }));
        ask(desk, "resources/metadata", json!({ "uri": uri }));
    }
    let euc_jp = ask(desk, "resources/read", json!({ "uri": FILES[10] }));
    assert!(euc_jp.contains("日本語の文章") && euc_jp.contains("パスワード=[redacted"), "{euc_jp}");
    // A window near the end of a text that is masked as it streams.
    let tail = json!({ "uri": FILES[7], "offset": 63_050, "max_bytes": 4000 });
    assert!(call(desk, "resources_read", tail).contains("[redacted "));
}

fn search_every_way(desk: &mut TestClient) {
    for secret in secrets() {
        for output in ["lines", "files", "blocks"] {
            let pattern = secret.replace('-', ".");
            let found = desk.request(
                "tools/call",
                json!({ "name": "resources_grep", "arguments": { "pattern": pattern, "output": output } }),
            );
            let found = &found["result"]["structuredContent"];
            assert!(
                found.get("matches").is_none_or(|hits| hits.as_object().unwrap().is_empty()),
                "{found}"
            );
        }
    }
    for pattern in [".", "(?i)password", "redacted", "^"] {
        for output in ["lines", "files", "blocks"] {
            let arguments = json!({ "pattern": pattern, "output": output, "context": 3 });
            call(desk, "resources_grep", arguments);
        }
    }
    for arguments in [
        json!({}),
        json!({ "mount": "app", "recursive": true, "sort": "size", "links": true }),
        json!({ "uri": "**/*", "recursive": true }),
        json!({ "collection": "file:///app" }),
    ] {
        call(desk, "resources_list", arguments);
    }
}

#[test]
fn the_secrets_appear_nowhere() {
    for (era, transport) in [(Era::Legacy, TransportKind::Pipe), (Era::Modern, TransportKind::Http)]
    {
        let folder = TempDir::with_prefix("secrets").unwrap();
        make_files(folder.path());
        let how = (era, transport);
        let mut desk = TestClient::start_in(how, folder.path(), SETTINGS, &[TRACE]);
        for method in ["resources/list", "resources/templates/list", "tools/list"] {
            ask(&mut desk, method, json!({}));
        }
        ask(&mut desk, "resources/directory/read", json!({ "uri": "file:///app" }));
        ask(&mut desk, "resources/read", json!({ "uri": "file:///app" }));
        read_every_way(&mut desk);
        search_every_way(&mut desk);
        let path = json!({ "name": "path", "value": "" });
        let reference = json!({ "type": "ref/resource", "uri": "file:///app/{+path}" });
        ask(&mut desk, "completion/complete", json!({ "ref": reference, "argument": path }));
        say_back_no_more_than_the_uri(&mut desk, "file:///app/");
        drop(desk);
        assert_no_secret_in_written_files(folder.path());
    }
}

/// Sends URIs that hold a secret themselves: only `data.uri` may say it back.
fn say_back_no_more_than_the_uri(desk: &mut TestClient, prefix: &str) {
    // A token, which any text of a masked mount is searched for.
    let token = &secrets()[7];
    let encoded: String = token.bytes().map(|byte| format!("%{byte:02X}")).collect();
    for name in [token, &encoded] {
        let uri = format!("{prefix}.env/{name}");
        for method in ["resources/read", "resources/metadata", "resources/directory/read"] {
            let mut answer = desk.request(method, json!({ "uri": uri }));
            assert!(answer["error"].is_object(), "{method}: {answer}");
            if let Some(data) = answer["error"]["data"].as_object_mut() {
                data.remove("uri");
            }
            assert_no_secret(answer.to_string().as_bytes(), method);
        }
    }
    let told = ask(desk, "resources/read", json!({ "uri": "refdesk://clients" }));
    assert!(told.contains("[redacted "), "{told}");
}

/// Searches what refdesk wrote: logs and state.
fn assert_no_secret_in_written_files(folder: &Path) {
    let mut looked = 0;
    for entry in walk(folder) {
        let name = entry.strip_prefix(folder).unwrap().to_owned();
        if !name.starts_with("app") && !name.starts_with("notes") {
            assert_no_secret(&fs::read(&entry).unwrap(), &name.display().to_string());
            looked += 1;
        }
    }
    assert!(looked >= 3, "the log, the audit log and the settings were looked at: {looked}");
}

/// Runs git in `folder`, with nobody's settings.
fn git(folder: &Path, arguments: &[&str]) {
    let mut command = std::process::Command::new("git");
    command.args(["-c", "user.name=ada", "-c", "user.email=ada@example.com"]).args(arguments);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").current_dir(folder);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", output_text(&output));
}

/// Doors of history and configuration.
const PIECES: [&str; 22] = [
    "git://past/HEAD/config.yaml",
    "git://past/HEAD~1/.env",
    "git://past/HEAD~1/config.yaml",
    "git://past/HEAD/server.pem",
    "git://past/log/HEAD",
    "git://past/commit/HEAD~1",
    "git://past/commit/HEAD",
    "git://past/diff/HEAD~1..HEAD",
    "git://past/diff/HEAD~1..HEAD/server.pem",
    "git://past/diff/worktree",
    "git://past/blame/HEAD/config.yaml",
    "git://past/blame/HEAD/.env",
    "git://past/status",
    "config://set/config.yaml",
    "config://set/legacy.ini",
    "config://set/keys/config.yaml/db/password",
    "config://set/keys/appsettings.json/token",
    "config://set/effective/db",
    "config://set/effective/api_key",
    "config://set/diff/config.yaml..settings.toml",
    "env://vars/DESK_PASSWORD",
    "env://vars/DESK_NOTE",
];

/// Makes a repository of the files in `app`, with two commits and a change.
fn make_history(app: &Path) {
    let (secret, read) = (secrets(), |name: &str| fs::read_to_string(app.join(name)).unwrap());
    git(app, &["init", "-q", "-b", "main"]);
    git(app, &["add", "-f", "."]);
    git(app, &["commit", "-q", "-m", &format!("rotate {}", secret[7])]);
    fs::write(app.join("config.yaml"), read("config.yaml").replace(&secret[1], &secret[2]))
        .unwrap();
    // A hunk that begins inside a private key.
    let pem = format!(
        "{}{}",
        read("server.pem").replacen('\n', &format!("\n{}\n", secret[8]), 1),
        "end\n"
    );
    fs::write(app.join("server.pem"), pem).unwrap();
    git(app, &["commit", "-q", "-a", "-m", "second"]);
    fs::write(app.join(".env"), format!("PORT=81\nDB_PASSWORD={}\n", secret[3])).unwrap();
}

#[test]
fn history_and_configuration_tell_no_secret() {
    let folder = TempDir::with_prefix("secrets").unwrap();
    make_files(folder.path());
    make_history(&folder.path().join("app"));
    let settings = format!(
        "{SETTINGS}[mounts.past]\nkind = \"git\"\npath = \"app\"\n\
         [mounts.set]\nkind = \"config\"\npath = \"app\"\nfiles = [\"*\", \".env\"]\n\
         layers = [\"config.yaml\", \"settings.toml\"]\n\
         [mounts.vars]\nkind = \"env\"\nnames = [\"DESK_*\"]\n"
    );
    let (how, secret) = ((Era::Modern, TransportKind::Pipe), secrets());
    let note = format!("uses {}", secret[7]);
    let environment = [TRACE, ("DESK_PASSWORD", &secret[0]), ("DESK_NOTE", &note)];
    let mut desk = TestClient::start_in(how, folder.path(), &settings, &environment);
    let mut masked = 0;
    for uri in PIECES {
        let whole = ask(&mut desk, "resources/read", json!({ "uri": uri }));
        assert!(whole.contains("\"contents\""), "{uri}: {whole}");
        masked += usize::from(whole.contains("[redacted "));
        for format in ["application/json", "application/json;variant=normalised", "text/markdown"] {
            call(&mut desk, "resources_read", json!({ "uri": uri, "format": format }));
        }
        for offset in (0..400).step_by(7) {
            let window = json!({ "uri": uri, "offset": offset, "max_bytes": 9 });
            call(&mut desk, "resources_read", window);
        }
        call(&mut desk, "resources_metadata", json!({ "uris": [uri] }));
        call(&mut desk, "resources_read_embedded", json!({ "uris": [uri] }));
    }
    assert!(masked >= 17, "{masked} of the texts have a mask");
    for collection in ["git://past/HEAD", "git://past/HEAD~1", "config://set/", "env://vars/"] {
        for pattern in [".", "(?i)tomato|MIIE|AKIA"] {
            let arguments = json!({ "pattern": pattern, "collection": collection });
            call(&mut desk, "resources_grep", arguments);
        }
    }
    for (uri, name) in
        [("git://past/{revision}/{+path}", "revision"), ("config://set/keys/{+file}/{+key}", "key")]
    {
        let argument = json!({ "name": name, "value": "" });
        let reference = json!({ "type": "ref/resource", "uri": uri });
        let resolved = json!({ "arguments": { "file": "config.yaml" } });
        let question = json!({ "ref": reference, "argument": argument, "context": resolved });
        ask(&mut desk, "completion/complete", question);
    }
    search_history(&mut desk);
    say_back_no_more_than_the_uri(&mut desk, "git://past/HEAD/");
    drop(desk);
    assert_no_secret_in_written_files(folder.path());
}

/// What a message or an old file hides is found by no search, and shown by no list or window.
fn search_history(desk: &mut TestClient) {
    let token = &secrets()[7];
    let log = desk.request("resources/read", json!({ "uri": "git://past/log/HEAD?grep=rotate" }));
    assert!(log.to_string().contains("rotate [redacted "), "{log}");
    let log = json!({ "uri": format!("git://past/log/HEAD?grep={}", &token[4..]) });
    let found = desk.request("resources/read", log);
    assert!(found["result"]["contents"][0]["text"].as_str().unwrap().contains("No commits"));
    let typed = json!({ "name": "revision", "value": &token[4..] });
    let reference = json!({ "type": "ref/resource", "uri": "git://past/{revision}/{+path}" });
    let question = json!({ "ref": reference, "argument": typed });
    let found = desk.request("completion/complete", question);
    assert_eq!(found["result"]["completion"]["values"], json!([]), "{found}");
    for collection in ["git://past/", "git://past/log/HEAD", "git://past/refs", "git://past/HEAD~1"]
    {
        call(desk, "resources_list", json!({ "collection": collection }));
        ask(desk, "resources/directory/read", json!({ "uri": collection }));
    }
    for offset in 0..60 {
        for length in [1, 2, 3, 5, 8, 13, 21, 34] {
            let uri = "git://past/HEAD~1/config.yaml";
            let window = json!({ "uri": uri, "offset": offset, "max_bytes": length });
            call(desk, "resources_read", window);
        }
    }
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn check_lists_what_is_masked_by_file_and_line() {
    let folder = TempDir::with_prefix("secrets").unwrap();
    make_files(folder.path());
    make_history(&folder.path().join("app"));
    // Masked because of its MIME type, which its content gives.
    let json = format!("{{\"password\": \"{}\"}}", secrets()[0]);
    fs::write(folder.path().join("notes/data"), json).unwrap();
    let settings = format!(
        "{SETTINGS}[mounts.set]\nkind = \"config\"\npath = \"app\"\nfiles = [\"*.yaml\", \"*.desktop\"]\n\
         [mounts.vars]\nkind = \"env\"\nnames = [\"DESK_*\"]\n\
         [mounts.past]\nkind = \"git\"\npath = \"app\"\n"
    );
    let desktop = format!("[x]\npassword={}\n", secrets()[1]);
    fs::write(folder.path().join("app/x.desktop"), desktop).unwrap();
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut check = refdesk(folder.path(), &["check", "--secrets"]);
    check.env("DESK_PASSWORD", &secrets()[0]).env("DESK_PORT", "80");
    let output = check.output().unwrap();
    let text = output_text(&output);
    assert!(output.status.success(), "{text}");
    assert_no_secret(text.as_bytes(), "check --secrets");
    for place in [
        "file:///app/.env:2 ",
        "file:///app/config.yaml:3 ",
        "file:///app/legacy.ini:2 ",
        "file:///app/plain.txt:2 ",
        "file:///notes/memo.md:1 ",
        "config://set/config.yaml:3 ",
        "config://set/x.desktop:2 ",
        "env://vars/DESK_PASSWORD:1 ",
        "git://past/HEAD/config.yaml:3 ",
        "git://past/HEAD/server.pem:2 ",
    ] {
        assert!(text.contains(&format!("{place} [redacted ")), "{place} in {text}");
    }
    assert!(text.contains("mount past: only HEAD was looked through"), "{text}");
    let others = ["main.rs", "config://set/keys", "DESK_PORT", "git://past/log"];
    assert!(others.into_iter().all(|other| !text.contains(other)), "{text}");
    let json = run(folder.path(), &["check", "--secrets", "--json", "notes"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    // A folder on the command line masks only files that are named like it.
    assert_eq!((&json["secrets"], &json["files"]), (&json!([]), &json!(0)));
}
