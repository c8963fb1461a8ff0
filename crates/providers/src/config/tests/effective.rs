//! Tests of layers: the effective configuration and differences.

use resource::ErrorKind;
use serde_json::{Value, json};

use super::{ConfigFolder, complete, meta, read, try_read};

const LAYERS: [&str; 3] = ["base.toml", "conf/prod.yaml", "env:APP_*"];

fn folder() -> ConfigFolder {
    ConfigFolder::of(&[
        ("base.toml", "name = 'app'\nports = [1, 2]\n\n[db]\nhost = 'local'\nport = 5432\n"),
        ("conf/prod.yaml", "db:\n  host: prod\nports: [3]\nextra: true\n"),
    ])
}

#[tokio::test]
async fn later_layers_win_and_every_value_says_where_it_is_from() {
    let variables =
        [("APP_DB__PORT", "6000"), ("APP_DEBUG", "true"), ("APP_TAG", "007"), ("OTHER", "x")];
    let folder = folder();
    let served = folder.serve_layers(&LAYERS, &variables);
    let whole: Value = serde_json::from_str(&read(&served, "config:///effective").await).unwrap();
    let expected = json!({ "name": "app", "ports": [3], "db": { "host": "prod", "port": 6000 },
        "extra": true, "debug": true, "tag": "007" });
    assert_eq!(whole, expected);
    for (keys, origin) in [
        ("name", json!({ "file": "base.toml", "line": 1, "layer": "base.toml" })),
        ("db/host", json!({ "file": "conf/prod.yaml", "line": 2, "layer": "conf/prod.yaml" })),
        ("ports/0", json!({ "file": "conf/prod.yaml", "line": 3, "layer": "conf/prod.yaml" })),
        ("db/port", json!({ "variable": "APP_DB__PORT", "layer": "env:APP_*" })),
    ] {
        let told = meta(&served, &format!("config:///effective/{keys}"), "origin").await.unwrap();
        assert_eq!(serde_json::from_str::<Value>(&told).unwrap(), origin, "{keys}");
    }
    let own = meta(&served, "config:///keys/base.toml/name", "origin").await.unwrap();
    assert!(own.contains(r#""layer":"base.toml""#));
    let template = ("config:///effective/{+key}", "key");
    assert_eq!(complete(&served, template, "db/", None).await, ["db/host", "db/port"]);
}

#[tokio::test]
async fn differences_between_layers_are_markdown_and_json() {
    let folder = folder();
    let served = folder.serve_layers(&LAYERS, &[("APP_NAME", "a|b`c")]);
    let at = "config:///diff/base.toml..conf%2Fprod.yaml";
    let parts = try_read(&served, at, None).await.unwrap();
    let expected = "# base.toml → conf/prod.yaml\n\n\
        | key | before | after | where |\n| --- | --- | --- | --- |\n\
        | `name` | `\"app\"` | – | base.toml:1 |\n\
        | `ports` | `[ 1, 2 ]` | `[ 3 ]` | base.toml:2 → conf/prod.yaml:3 |\n\
        | `db.host` | `\"local\"` | `\"prod\"` | base.toml:5 → conf/prod.yaml:2 |\n\
        | `db.port` | `5432` | – | base.toml:6 |\n\
        | `extra` | – | `true` | conf/prod.yaml:4 |\n";
    assert_eq!(parts[0], ("text/markdown".to_owned(), expected.to_owned()));
    let json: Value = serde_json::from_str(&parts[1].1).unwrap();
    let host = json!({ "key": ["db", "host"], "status": "changed",
        "from": { "value": "local", "origin": { "file": "base.toml", "line": 5, "layer": "base.toml" } },
        "to": { "value": "prod",
            "origin": { "file": "conf/prod.yaml", "line": 2, "layer": "conf/prod.yaml" } } });
    assert_eq!(json[2], host);
    let back = read(&served, "config:///diff/conf%2Fprod.yaml..base.toml").await;
    assert!(back.contains("| `extra` | `true` | – |"), "{back}");
    let variables = read(&served, "config:///diff/base.toml..env:APP_*").await;
    assert!(variables.contains("``\"a\\|b`c\"``"), "{variables}");
    let layer = ("config:///diff/{from}..{to}", "to");
    assert_eq!(complete(&served, layer, "conf", None).await, ["conf/prod.yaml"]);
}

#[tokio::test]
async fn a_layer_without_a_file_is_empty_and_a_broken_one_is_named() {
    let folder = folder();
    let served = folder.serve_layers(&["base.toml", "local.toml"], &[]);
    assert_eq!(read(&served, "config:///effective/name").await, "app");
    let etag = super::stat(&served, "config:///effective").await.etag.clone();
    assert!(etag.is_some());
    folder.write("local.toml", "name = [");
    let error = try_read(&served, "config:///effective", None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid);
    assert!(error.message.starts_with("local.toml cannot be parsed: line 1"), "{error}");
    assert_eq!(super::stat(&served, "config:///effective").await.etag, None);
    folder.write("local.toml", "name = 'mine'");
    assert_eq!(read(&served, "config:///effective/name").await, "mine");
    assert_ne!(super::stat(&served, "config:///effective").await.etag, etag);
    let list = ConfigFolder::of(&[("a.json", "[1]")]);
    let error = try_read(&list.serve_layers(&["a.json"], &[]), "config:///effective", None).await;
    assert!(error.unwrap_err().message.contains("a.json is not a table"));
}
