//! Tests of masking: what the redactor finds in a file appears nowhere.

use std::sync::Arc;

use machinery::PathGlob;
use redaction::{Redaction, RedactionScope, Redactor, RedactorOptions};
use serde_json::Value;
use testkit::contract::walk;

use super::super::parse::ConfigSyntax;
use super::super::{ConfigFiles, ConfigLayer, Options};
use super::{ConfigFolder, complete, try_read};

const PEM: &str = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n\
                   BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END PRIVATE KEY-----\n";

const SCHEMA: &str = r#"{"properties": {"db": {"properties": {"password":
    {"type": "string", "default": "hunter2-schema", "enum": ["hunter2-allowed", "hunter2-a"]}}}}}"#;

/// Files, and the key and line of a value that stands behind their secrets.
fn files() -> [(&'static str, String, &'static str, u32); 6] {
    let indented = PEM.replace('\n', "\n  ");
    [
        (
            "a.toml",
            "name = 'app'\n[db]\npassword = 'hunter2-a'\nport = 1\n".to_owned(),
            "db/port",
            4,
        ),
        (
            "b.yaml",
            format!("token: &t hunter2-b\nsame: {{secret: *t}}\nkey: |\n  {indented}\nlast: 1\n"),
            "last",
            9,
        ),
        ("c.json", "{\"api_key\": [\"hunter2-d\"],\n\"n\": 5}".to_owned(), "n", 2),
        (".env", "export DB_PASSWORD=\"hunter2-e\"\nLANG=C\n".to_owned(), "LANG", 2),
        ("d.desktop", "[s]\npassword = hunter2-f\nx = 1\n".to_owned(), "s/x", 3),
        ("e.properties", format!("db.password=hunter2-g\nx={}\n", "y"), "x", 2),
    ]
}

/// Every text of a mount: descriptions and all formats of all resources, and completions.
async fn everything(served: &ConfigFiles) -> String {
    let mut told = String::new();
    for seen in walk(served).await {
        let read = try_read(served, seen.resource.uri.as_str(), None).await;
        told.push_str(&format!("{:?}{read:?}", seen.resource));
    }
    for (path, ..) in files() {
        let key = ("config:///keys/{+file}/{+key}", "key");
        told.push_str(&format!("{:?}", complete(served, key, "", Some(path)).await));
    }
    told
}

#[tokio::test]
async fn keys_json_layers_and_schemas_are_made_of_masked_text() {
    let folder = ConfigFolder::of(&[("schema.json5", SCHEMA)]);
    files().iter().for_each(|(path, text, ..)| folder.write(path, text));
    let redaction = Redaction::new(RedactionScope::Everything, Arc::new(Redactor::default()));
    let variables = [("APP_DB__PASSWORD".to_owned(), "hunter2-v".to_owned())].into();
    let layers = ["a.toml", "c.json", "env:APP_*"].map(|name| ConfigLayer::parse(name, &variables));
    let served = ConfigFiles::new(Options {
        redaction: redaction.clone(),
        layers: layers.into_iter().map(Result::unwrap).collect(),
        schema: Some("schema.json5".to_owned()),
        ..folder.options(&["[a-e].*", ".env"])
    });
    let redactor = redaction.redactor();
    let told = everything(&served).await;
    assert!(!told.contains("hunter2") && !told.contains("MIIEvQ"), "{told}");
    for (path, text, key, line) in files() {
        let own = ConfigSyntax::of_path(path).unwrap();
        let syntax = redaction::Syntax::of_path(own.typical_name());
        let masked = redactor.mask(&text, syntax);
        let parts = try_read(&served, &format!("config:///{path}"), None).await.unwrap();
        assert_eq!(parts[0].1, masked, "{path}");
        assert_eq!(parts[1].1, own.parse(&masked).unwrap().to_json(), "{path}");
        let _valid: Value = serde_json::from_str(&parts[1].1).unwrap();
        for secret in redactor.find(&text, syntax) {
            let secret = text[secret.range].trim_matches(['"', '\'']);
            assert!(!told.contains(secret) && !told.contains(&secret.escape_debug().to_string()));
        }
        // Masks may have other lines than what they stand for.
        let origin = super::meta(&served, &format!("config:///keys/{path}/{key}"), "origin").await;
        let expected = format!("\"line\":{line}");
        assert!(origin.as_ref().unwrap().contains(&expected), "{path}: {origin:?}");
    }
    for secret in ["hunter2-v", "hunter2-schema", "hunter2-allowed"] {
        let is_secret = redactor.mask_value(&["db", "password"], secret).is_some();
        assert!(!is_secret || !told.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn a_secret_word_in_the_prefix_of_a_layer_of_variables_counts() {
    let folder = ConfigFolder::of(&[("base.toml", "db = 'x'\nport = 1\n")]);
    let variables = [
        ("APP_SECRET_DB", "hunter2-p"),
        ("APP_SECRET_PORT", "8080"),
        ("APP_SECRET_SHOWN", "plain-1"),
        ("APP_SECRET_OTHER", "plain-2"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let layers = ["base.toml", "env:APP_SECRET_*"].map(|name| ConfigLayer::parse(name, &variables));
    let globs = ["shown", "APP_SECRET_OTHER"].map(|glob| PathGlob::parse(glob).unwrap());
    let options = RedactorOptions { reveal: globs.into(), hmac_key: None };
    let redaction = Redaction::new(RedactionScope::Everything, Arc::new(Redactor::new(options)));
    let served = ConfigFiles::new(Options {
        redaction,
        layers: layers.into_iter().map(Result::unwrap).collect(),
        ..folder.options(&["*"])
    });
    let told = everything(&served).await;
    assert!(told.contains("8080") && !told.contains("hunter2"), "{told}");
    for uri in ["effective", "effective/db", "diff/base.toml..env:APP_SECRET_*"] {
        let text = try_read(&served, &format!("config:///{uri}"), None).await.unwrap().remove(0).1;
        assert!(text.contains("[redacted secret short]") && !text.contains("hunter2"), "{text}");
    }
    for (key, value) in [("shown", "plain-1"), ("other", "plain-2"), ("port", "8080")] {
        let uri = format!("config:///effective/{key}");
        assert_eq!(try_read(&served, &uri, None).await.unwrap()[0].1, value);
    }
}

#[tokio::test]
async fn a_link_is_masked_by_the_name_of_the_file_that_it_leads_to() {
    let folder = ConfigFolder::of(&[(".env", "LANG=C\nDB_PASSWORD=hunter2\n")]);
    for link in ["plain.txt", "other.json"] {
        std::os::unix::fs::symlink(".env", folder.at(link)).unwrap();
    }
    let redaction = Redaction::new(RedactionScope::Everything, Arc::new(Redactor::default()));
    let served = ConfigFiles::new(Options { redaction, ..folder.options(&["*", ".env"]) });
    for link in ["plain.txt", "other.json"] {
        let text = try_read(&served, &format!("config:///{link}"), None).await.unwrap().remove(0).1;
        assert!(text.contains("LANG=C") && !text.contains("hunter2"), "{link}: {text}");
    }
}
