//! Tests of configuration and environment mounts through the program.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::memory::peak;
use crate::program::{StdioProgram, output_text, refdesk, run};

const SETTINGS: &str = r#"
[mounts.app]
kind = "config"
index = false
path = "etc"
files = ["**/*.yaml", ".env"]
layers = ["base.toml", "prod.toml", "env:APP_*"]
schema = "schema.json"

[mounts.vars]
kind = "env"
names = ["APP_*", "GREETING"]
"#;

fn folder() -> TempDir {
    let folder = TempDir::with_prefix("configuration").unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("refdesk.toml", SETTINGS);
    write("etc/base.toml", "mode = 'dev'\n\n[db]\nhost = 'local'\nport = 1\n");
    write("etc/prod.toml", "[db]\nhost = 'prod'\n");
    write("etc/sub/k8s.yaml", "kind: Pod\n---\nkind: Service\n");
    write("etc/.env", "LANG=C\n");
    write("etc/.gitignore", ".env\n");
    write("etc/other.txt", "not served");
    write("etc/schema.json", r#"{"properties": {"mode": {"title": "Mode", "enum": ["prod"]}}}"#);
    folder
}

fn start(folder: &Path) -> StdioProgram {
    let mut command = refdesk(folder, &["serve", "--stdio"]);
    command.env("APP_DB__PORT", "6000").env("GREETING", "hello").env("HIDDEN_VARIABLE", "x");
    StdioProgram::start(command)
}

fn text_of(desk: &mut StdioProgram, uri: &str) -> String {
    let told = desk.request("resources/read", json!({ "uri": uri }));
    told["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned()
}

fn uris(desk: &mut StdioProgram, params: Value) -> Vec<String> {
    let told = desk.request("resources/list", params);
    let rows = told["result"]["resources"].as_array().unwrap_or_else(|| panic!("{told}"));
    rows.iter().map(|row| row["uri"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn configuration_and_environment_are_listed_and_read_key_by_key() {
    let folder = folder();
    let mut desk = start(folder.path());
    let listed = uris(&mut desk, json!({}));
    let expected = [
        "config://app/effective",
        "config://app/diff",
        "config://app/keys",
        "config://app/.env",
        "config://app/base.toml",
        "config://app/prod.toml",
        "config://app/sub/k8s.yaml",
        "env://vars/APP_DB__PORT",
        "env://vars/GREETING",
    ];
    assert_eq!(listed, expected);
    let members = uris(&mut desk, json!({ "uri": "config://app/keys/base.toml/db" }));
    assert_eq!(
        members,
        ["config://app/keys/base.toml/db/host", "config://app/keys/base.toml/db/port"]
    );
    for (uri, text) in [
        ("config://app/.env", "LANG=C\n"),
        ("config://app/keys/sub/k8s.yaml/1/kind", "Service"),
        ("config://app/effective/db/host", "prod"),
        ("config://app/effective/db/port", "6000"),
        ("env://vars/GREETING", "hello"),
    ] {
        assert_eq!(text_of(&mut desk, uri), text, "{uri}");
    }
    let whole = desk.request("resources/read", json!({ "uri": "config://app/base.toml" }));
    let parts = whole["result"]["contents"].as_array().unwrap();
    assert_eq!(parts[0]["mimeType"], "application/toml");
    assert_eq!(parts[1]["mimeType"], "application/json;variant=normalised");
    let json: Value = serde_json::from_str(parts[1]["text"].as_str().unwrap()).unwrap();
    assert_eq!(json, json!({ "mode": "dev", "db": { "host": "local", "port": 1 } }));
    let diff = text_of(&mut desk, "config://app/diff/base.toml..prod.toml");
    assert!(diff.contains("| `db.host` | `\"local\"` | `\"prod\"` |"), "{diff}");
    for missing in ["config://app/other.txt", "env://vars/HIDDEN_VARIABLE", "config://app/../x"] {
        let told = desk.request("resources/read", json!({ "uri": missing }));
        assert!(told["error"]["code"].is_i64(), "{told}");
    }
}

#[test]
fn a_value_says_its_origin_and_what_the_schema_says() {
    let folder = folder();
    let mut desk = start(folder.path());
    let mut meta = |uri: &str| {
        let told = desk.request("resources/list", json!({ "uri": uri }));
        let rows = told["result"]["resources"].as_array().unwrap_or_else(|| panic!("{told}"));
        rows.iter().map(|row| (row["name"].clone(), row.clone())).collect::<Vec<_>>()
    };
    let rows = meta("config://app/effective");
    let mode = &rows.iter().find(|(name, _)| name == "mode").unwrap().1;
    assert_eq!(mode["title"], "Mode");
    let origin = json!({ "file": "base.toml", "line": 1, "layer": "base.toml" });
    assert_eq!(mode["_meta"]["dev.refdesk/origin"], origin);
    let schema = json!({ "allowed": ["prod"], "faults": ["must be one of the allowed values"] });
    assert_eq!(mode["_meta"]["dev.refdesk/schema"], schema);
    let rows = meta("config://app/effective/db");
    let port = &rows.iter().find(|(name, _)| name == "port").unwrap().1;
    let origin = json!({ "variable": "APP_DB__PORT", "layer": "env:APP_*" });
    assert_eq!(port["_meta"]["dev.refdesk/origin"], origin);
}

#[test]
fn keys_are_completed_with_the_file_that_is_given() {
    let folder = folder();
    let mut desk = start(folder.path());
    let mut complete = |template: &str, name: &str, value: &str| {
        let params = json!({ "ref": { "type": "ref/resource", "uri": template },
            "argument": { "name": name, "value": value },
            "context": { "arguments": { "file": "base.toml" } } });
        let told = desk.request("completion/complete", params);
        told["result"]["completion"]["values"].clone()
    };
    let keys = "config://app/keys/{+file}/{+key}";
    assert_eq!(complete(keys, "file", "s"), json!(["sub/"]));
    assert_eq!(complete(keys, "key", ""), json!(["mode", "db/"]));
    assert_eq!(complete(keys, "key", "db/"), json!(["db/host", "db/port"]));
    assert_eq!(complete("env://vars/{variable}", "variable", "gr"), json!(["GREETING"]));
}

#[test]
fn a_changed_key_is_told_and_its_sibling_is_not() {
    let folder = folder();
    let mut desk = start(folder.path());
    let watched = ["config://app/keys/base.toml/db/port", "config://app/effective/mode"];
    let wishes = json!({ "notifications": { "resourceSubscriptions": watched } });
    desk.send_request("subscriptions/listen", wishes);
    let granted = desk.receive();
    assert_eq!(
        granted["params"]["notifications"]["resourceSubscriptions"],
        json!(watched),
        "{granted}"
    );
    fs::write(folder.path().join("etc/base.toml"), "mode = 'test'\n[db]\nhost = 'x'\nport = 1\n")
        .unwrap();
    let told = desk.receive();
    assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    assert_eq!(told["params"]["uri"], watched[1], "{told}");
    fs::write(folder.path().join("etc/base.toml"), "mode = 'test'\n[db]\nhost = 'x'\nport = 2\n")
        .unwrap();
    let told = desk.receive();
    assert_eq!(told["params"]["uri"], watched[0], "{told}");
}

#[test]
fn bombs_are_refused_within_bounded_memory() {
    let folder = folder();
    let etc = folder.path().join("etc");
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let below = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{below}]\n"));
    }
    fs::write(etc.join("bomb.yaml"), bomb).unwrap();
    fs::write(etc.join("deep.yaml"), "[".repeat(1 << 20)).unwrap();
    fs::write(etc.join("wide.yaml"), format!("[{}0]", "0,".repeat(7 << 20))).unwrap();
    fs::write(etc.join("large.yaml"), vec![b'a'; 100 << 20]).unwrap();
    let mut desk = start(folder.path());
    text_of(&mut desk, "config://app/effective");
    let before = peak(desk.id());
    for (file, words) in [
        ("bomb.yaml", "more than 200000 values"),
        ("wide.yaml", "more than 200000 values"),
        ("deep.yaml", "line 1"),
        ("large.yaml", "over 16 MiB"),
    ] {
        let uri = format!("config://app/keys/{file}");
        let told = desk.request("resources/read", json!({ "uri": uri }));
        let message = told["error"]["message"].as_str().unwrap_or_else(|| panic!("{told}"));
        assert!(message.contains(words), "{file}: {message}");
    }
    let grown = peak(desk.id()) - before;
    assert!(grown < 200 << 20, "memory grew by {grown} bytes");
    assert_eq!(text_of(&mut desk, "config://app/effective/db/host"), "prod");
}

#[test]
fn wrong_settings_are_refused_with_their_place() {
    let folder = folder();
    for (settings, words) in [
        ("kind = 'config'\npath = 'etc'", "needs `files` or `layers`"),
        ("kind = 'config'\npath = 'none'\nfiles = ['*']", "cannot be opened"),
        ("kind = 'config'\npath = 'etc'\nfiles = ['[']", "not a glob"),
        ("kind = 'config'\npath = 'etc'\nlayers = ['a', 'a']", "given twice"),
        ("kind = 'config'\npath = 'etc'\nfile = ['*']", "file"),
        ("kind = 'env'", "names"),
        ("kind = 'env'\nnames = ['[']", "not a glob"),
        ("kind = 'conf'", "config"),
    ] {
        fs::write(folder.path().join("refdesk.toml"), format!("[mounts.app]\n{settings}\n"))
            .unwrap();
        let told = run(folder.path(), &["check"]);
        assert!(!told.status.success(), "{settings}");
        assert!(output_text(&told).contains(words), "{settings}: {}", output_text(&told));
    }
    fs::write(folder.path().join("refdesk.toml"), SETTINGS).unwrap();
    let told = output_text(&run(folder.path(), &["check"]));
    assert!(told.contains("config://app/") && told.contains("env://vars/"), "{told}");
}
