//! Tests of masking: whatever the redactor finds in a file appears nowhere.

use std::sync::Arc;

use redaction::{Redaction, RedactionScope, Redactor};
use serde_json::Value;
use testkit::contract::walk;
use testkit::local_context;

use super::super::parse::ConfigSyntax;
use super::super::{ConfigFiles, Options};
use super::{ConfigFolder, try_read};

fn masked() -> Redaction {
    Redaction::new(RedactionScope::Everything, Arc::new(Redactor::default()))
}

const FILES: [(&str, &str); 4] = [
    ("a.toml", "name = 'app'\n[db]\npassword = 'hunter2-a'\nport = 1\n"),
    ("b.yaml", "token: &t hunter2-b\nsame: {secret: *t}\nurl: https://u:hunter2-c@h/x\n"),
    ("c.json", "{\"api_key\": [\"hunter2-d\"], \"n\": 5}"),
    (".env", "export DB_PASSWORD=\"hunter2-e\"\nLANG=C\n"),
];

#[tokio::test]
async fn keys_and_json_are_made_of_the_masked_text() {
    let folder = ConfigFolder::of(&FILES);
    let redaction = masked();
    let options = Options { redaction: redaction.clone(), ..folder.options(&["*", ".env"]) };
    let served = ConfigFiles::new(options);
    for (path, text) in FILES {
        let syntax = redaction.syntax_of(path).unwrap();
        let expected = redaction.redactor().mask(text, syntax);
        let parts = try_read(&served, &format!("config:///{path}"), None).await.unwrap();
        assert_eq!(parts[0].1, expected);
        let tree = ConfigSyntax::of_path(path).unwrap().parse(&expected).unwrap();
        assert_eq!(parts[1].1, tree.to_json());
        let _valid: Value = serde_json::from_str(&parts[1].1).unwrap();
        let secrets: Vec<&str> = redaction
            .redactor()
            .find(text, syntax)
            .iter()
            .map(|secret| {
                text[secret.range.clone()].trim_matches(['"', '\'']).to_owned().leak() as &str
            })
            .collect();
        for seen in walk(&served).await {
            let uri = seen.resource.uri.as_str();
            let told = format!("{:?}{:?}", seen.resource, try_read(&served, uri, None).await);
            let leak = secrets.iter().find(|secret| told.contains(**secret));
            assert_eq!(leak, None, "in {uri}");
        }
    }
    drop(local_context());
}
