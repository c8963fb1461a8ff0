//! Tests of schemas in the metadata of keys.

use super::super::{ConfigFiles, ConfigLayer, Options};
use super::{ConfigFolder, list, meta, stat};

const SCHEMA: &str = r#"{"required": ["mode"], "properties": {
    "mode": {"title": "Mode", "description": "How it runs", "default": "dev", "enum": ["dev", "prod"]},
    "port": {"type": "integer"}}}"#;

#[tokio::test]
async fn a_schema_describes_keys_and_marks_what_does_not_fit() {
    let folder = ConfigFolder::of(&[
        ("a.toml", "mode = 'test'\nport = 1\n"),
        ("b.json", r#"{"$schema": "./schemas/own.json", "port": true}"#),
        ("schemas/own.json", r#"{"properties": {"port": {"type": "boolean", "title": "Own"}}}"#),
        ("schemas/mount.json", SCHEMA),
    ]);
    let options = folder.options(&["*.toml", "*.json"]);
    let schema = Some("schemas/mount.json".to_owned());
    let layers = vec![ConfigLayer::parse("a.toml", &Default::default()).unwrap()];
    let served = ConfigFiles::new(Options { schema, layers, ..options });
    let mode = stat(&served, "config:///keys/a.toml/mode").await;
    assert_eq!(mode.title.as_deref(), Some("Mode"));
    assert_eq!(mode.description.as_deref(), Some("How it runs"));
    let told = meta(&served, "config:///keys/a.toml/mode", "schema").await.unwrap();
    let faults = r#""faults":["must be one of the allowed values"]"#;
    assert_eq!(told, format!(r#"{{"default":"dev","allowed":["dev","prod"],{faults}}}"#));
    assert_eq!(meta(&served, "config:///effective/mode", "schema").await, Some(told));
    assert_eq!(meta(&served, "config:///keys/a.toml/port", "schema").await, None);
    let own = stat(&served, "config:///keys/b.json/port").await;
    assert_eq!(own.title.as_deref(), Some("Own"));
    assert_eq!(meta(&served, "config:///keys/b.json/port", "schema").await, None);
    // The schemas themselves are not served.
    assert!(!list(&served, "").await.iter().any(|uri| uri.contains("schemas")));
}
