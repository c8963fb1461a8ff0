//! Tests of redaction: names of people and of references in git history.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use super::{SETTINGS, TRACE, ask, call, git, secrets};
use crate::fake_server::{Era, TransportKind};
use crate::test_client::TestClient;

#[test]
fn people_and_references_of_history_tell_no_secret() {
    let (folder, token) = (TempDir::with_prefix("secrets").unwrap(), secrets()[7].clone());
    let app = folder.path().join("app");
    fs::create_dir_all(&app).unwrap();
    fs::create_dir_all(folder.path().join("notes")).unwrap();
    fs::write(app.join("a.txt"), "one\n").unwrap();
    git(&app, &["init", "-q", "-b", "main"]);
    git(&app, &["add", "."]);
    let author = format!("--author=Ada {token} <{token}@example.com>");
    git(&app, &["commit", "-q", "-m", "first", &author]);
    git(&app, &["tag", &format!("v1-{token}")]);
    git(&app, &["switch", "-q", "-c", &token]);
    for more in ["", "archives = false\n"] {
        let settings = format!(
            "{SETTINGS}[mounts.past]\nkind = \"git\"\npath = \"app\"\nredact = true\n{more}"
        );
        let how = (Era::Modern, TransportKind::Pipe);
        let mut desk = TestClient::start_in(how, folder.path(), &settings, &[TRACE]);
        for place in ["refs", "log/HEAD", "commit/HEAD", "blame/HEAD/a.txt", "status", "HEAD/a.txt"]
        {
            let uri = format!("git://past/{place}");
            ask(&mut desk, "resources/read", json!({ "uri": uri }));
            call(&mut desk, "resources_read", json!({ "uri": uri, "format": "application/json" }));
            call(&mut desk, "resources_metadata", json!({ "uris": [uri] }));
        }
        let log = ask(&mut desk, "resources/read", json!({ "uri": "git://past/log/HEAD" }));
        assert!(log.contains("Ada [redacted "), "{log}");
        for collection in ["git://past/refs", "git://past/log/HEAD", "git://past/HEAD"] {
            call(&mut desk, "resources_list", json!({ "collection": collection }));
        }
        for (template, name) in [
            ("git://past/{revision}/{+path}", "revision"),
            ("git://past/log/{revision}{?author,since,until,grep,files}", "author"),
        ] {
            let reference = json!({ "type": "ref/resource", "uri": template });
            let argument = json!({ "name": name, "value": "" });
            let question = json!({ "ref": reference, "argument": argument });
            let completed = ask(&mut desk, "completion/complete", question);
            assert!(completed.contains("\"values\":["), "{completed}");
        }
        // What only a secret has is found by nothing.
        for search in [format!("log/HEAD?author={token}"), format!("log/%3A%2F{}", &token[..5])] {
            let uri = json!({ "uri": format!("git://past/{search}") });
            let found = desk.request("resources/read", uri);
            let text = found["result"]["contents"][0]["text"].as_str().unwrap_or("No commits");
            assert!(text.contains("No commits"), "{found}");
        }
    }
}
