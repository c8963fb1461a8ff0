//! Runs the provider contract against configuration files.

use std::sync::Arc;

use testkit::{Expectations, WatchCounter, contract};

use super::{ConfigFolder, uri};

#[tokio::test]
async fn configuration_is_a_provider_like_any_other() {
    let folder = ConfigFolder::of(&[
        ("app.toml", "name = 'Grüße 🦀'\n[db]\nport = 1\nlist = [1, 'a/b']\n"),
        ("sub/a b.yaml", "x: {y: 1}\n\"a/b\": 2\n\"..\": 3\n"),
        ("tsconfig.json", "{\n  // note\n  \"a\": [1, 2,],\n}\n"),
        ("keys/x.ini", "[s]\nk = v\n"),
        ("plain.txt", "not parsed\n"),
        (".env", "A=1\n"),
        ("hidden.log", "not served"),
    ]);
    let globs = ["**/*.{toml,yaml,json,ini,txt}", ".env"];
    let known = Expectations {
        leaves: vec![
            (uri("config:///plain.txt"), b"not parsed\n".to_vec()),
            (uri("config:///.env"), b"A=1\n".to_vec()),
            (uri("config:///%6Beys/x.ini"), b"[s]\nk = v\n".to_vec()),
            (uri("config:///keys/app.toml/name"), "Grüße 🦀".into()),
            (uri("config:///keys/app.toml/db/list/1"), b"a/b".to_vec()),
            (uri("config:///keys/sub/a%20b.yaml/a%2Fb"), b"2".to_vec()),
            (uri("config:///keys/sub/a%20b.yaml/%2E%2E"), b"3".to_vec()),
            (uri("config:///keys/keys/x.ini/s/k"), b"v".to_vec()),
            (uri("config:///keys/.env/A"), b"1".to_vec()),
        ],
        collections: vec![
            (
                uri("config:///keys"),
                ["app.toml", "sub/a%20b.yaml", "tsconfig.json", "keys/x.ini", ".env"]
                    .map(|path| uri(&format!("config:///keys/{path}")))
                    .into(),
            ),
            (
                uri("config:///keys/app.toml/db"),
                ["port", "list"]
                    .map(|key| uri(&format!("config:///keys/app.toml/db/{key}")))
                    .into(),
            ),
            (
                uri("config:///"),
                [
                    "keys",
                    ".env",
                    "app.toml",
                    "%6Beys/x.ini",
                    "plain.txt",
                    "sub/a%20b.yaml",
                    "tsconfig.json",
                ]
                .map(|path| uri(&format!("config:///{path}")))
                .into(),
            ),
        ],
        missing: [
            "config:///none.toml",
            "config:///hidden.log",
            "config:///app.toml/",
            "config:///app.toml/db",
            "config:///sub",
            "config:///effective",
            "config:///diff",
            "config:///keys/none.toml",
            "config:///keys/plain.txt",
            "config:///keys/app.toml/none",
            "config:///keys/app.toml/name/x",
            "config:///keys/app.toml/db/list/01",
            "config:///keys/app.toml/db/list/2",
            "config:///keys/app.toml/db/port/",
        ]
        .map(uri)
        .to_vec(),
        prefix: Some("config:///".to_owned()),
        outside: Vec::new(),
        open_watches: None,
    };
    let served = Arc::new(folder.serve(&globs));
    let watched = Arc::clone(&served);
    let count = move || usize::from(watched.watchers.is_running());
    let open_watches = Some(WatchCounter(Arc::new(count)));
    contract(&*served, &Expectations { open_watches, ..known }).await;
}

#[tokio::test]
async fn layers_are_a_provider_like_any_other() {
    let folder = ConfigFolder::of(&[
        ("base.toml", "a = 1\n[db]\nhost = 'x'\nport = 1\n"),
        ("prod.toml", "[db]\nhost = 'y'\n"),
    ]);
    let served = folder.serve_layers(&["base.toml", "prod.toml", "env:APP_*"], &[("APP_A", "2")]);
    let known = Expectations {
        leaves: vec![
            (uri("config:///effective/a"), b"2".to_vec()),
            (uri("config:///effective/db/host"), b"y".to_vec()),
        ],
        collections: vec![
            (
                uri("config:///effective"),
                ["a", "db"].map(|key| uri(&format!("config:///effective/{key}"))).into(),
            ),
            (
                uri("config:///diff"),
                ["base.toml..prod.toml", "base.toml..env:APP_*", "prod.toml..env:APP_*"]
                    .map(|pair| uri(&format!("config:///diff/{pair}")))
                    .into(),
            ),
        ],
        missing: ["config:///effective/none", "config:///diff/a..b", "config:///diff/base.toml"]
            .map(uri)
            .to_vec(),
        prefix: None,
        outside: Vec::new(),
        open_watches: None,
    };
    contract(&served, &known).await;
}
