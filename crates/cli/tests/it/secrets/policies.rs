//! Tests of redaction: what the settings of mounts and of the server decide.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;
use tempfile::TempDir;

use crate::test_client::TestClient;

const PASSWORD: &str = "correct-horse-battery";
const OTHER: &str = "wrong-horse-battery-x";

/// Folders with the same files, each a mount with its own settings.
fn serve(server: &str, mounts: &[(&str, &str)]) -> (TempDir, TestClient) {
    let folder = TempDir::with_prefix("policies").unwrap();
    let app = folder.path().join("app");
    fs::create_dir_all(&app).unwrap();
    let config = format!("db:\n  password: {PASSWORD}\n  admin_password: {OTHER}\n  port: 5432\n");
    fs::write(app.join("config.yaml"), config).unwrap();
    fs::write(app.join("again.toml"), format!("api_key = \"{PASSWORD}\"\n")).unwrap();
    fs::write(app.join("notes.md"), format!("see postgres://app:{PASSWORD}@db/x\n")).unwrap();
    let mut settings = server.to_owned();
    for (name, more) in mounts {
        let mount = format!("[mounts.{name}]\nkind = \"fs\"\npath = \"app\"\n{more}\n");
        settings.push_str(&mount);
    }
    let desk = TestClient::piped(folder.path(), &settings);
    (folder, desk)
}

#[test]
fn each_mount_masks_what_its_settings_say() {
    let mounts = [
        ("usual", ""),
        ("auto", "redact = \"auto\""),
        ("strict", "redact = true"),
        ("open", "redact = false"),
        ("shown", "redact = true\nreveal = [\"db/password\", \"**/x\"]"),
    ];
    let (_folder, mut desk) = serve("", &mounts);
    let mut holds = |mount: &str, file: &str, text: &str| {
        desk.text_of(&format!("file:///{mount}/{file}")).contains(text)
    };
    for (mount, in_config, in_notes) in [
        ("usual", false, true),
        ("auto", false, true),
        ("strict", false, false),
        ("open", true, true),
        ("shown", true, false),
    ] {
        assert_eq!(holds(mount, "config.yaml", PASSWORD), in_config, "{mount}");
        assert_eq!(holds(mount, "notes.md", PASSWORD), in_notes, "{mount}");
        assert!(holds(mount, "config.yaml", "port: 5432"), "{mount}");
    }
    // A rule shows the value at its path, and no other one.
    assert!(!holds("shown", "config.yaml", OTHER) && !holds("shown", "again.toml", PASSWORD));
    assert!(holds("open", "again.toml", PASSWORD), "one mount is off, the others are not");
    // A client cannot turn it off.
    let meta = json!({ "dev.refdesk/redact": false, "redact": false });
    let asked = json!({ "uri": "file:///strict/config.yaml", "_meta": meta, "redact": false });
    assert!(!desk.request("resources/read", asked).to_string().contains(PASSWORD));
}

/// The masks of a text.
fn masks(text: &str) -> Vec<String> {
    let starts = text.match_indices("[redacted ");
    starts.map(|(at, _)| text[at..].split_inclusive(']').next().unwrap().to_owned()).collect()
}

#[test]
fn with_a_key_equal_secrets_have_equal_digits_and_without_one_they_have_none() {
    let (_folder, mut desk) =
        serve("[server]\nredact_key = \"of the masks\"\n", &[("app", "redact = true")]);
    let texts = ["config.yaml", "again.toml", "notes.md"]
        .map(|name| desk.text_of(&format!("file:///app/{name}")));
    let digits = |mask: &String| mask.trim_end_matches(']').rsplit(' ').next().unwrap().to_owned();
    let all: Vec<String> = texts.iter().flat_map(|text| masks(text)).collect();
    let [password, other, key, url] = [0, 1, 2, 3].map(|at| digits(&all[at]));
    assert_eq!(all.len(), 4, "{all:?}");
    assert!(
        password.len() == 16 && password.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{all:?}"
    );
    assert_eq!((&key, &url), (&password, &password), "the same secret in three files: {all:?}");
    assert_ne!(other, password, "{all:?}");
    drop(desk);
    let (_folder, mut desk) =
        serve("[server]\nredact_key = \"another\"\n", &[("app", "redact = true")]);
    let again = masks(&desk.text_of("file:///app/again.toml"));
    assert_ne!(digits(&again[0]), password, "another key gives other digits");
    drop(desk);
    let (_folder, mut desk) = serve("", &[("app", "redact = true")]);
    let plain: BTreeSet<usize> = ["config.yaml", "again.toml", "notes.md"]
        .iter()
        .flat_map(|name| masks(&desk.text_of(&format!("file:///app/{name}"))))
        .map(|mask| mask.split(' ').count())
        .collect();
    assert_eq!(plain, BTreeSet::from([3]), "kind and length, and no digits");
}
