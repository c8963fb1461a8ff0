//! Tests of change notifications of lists, declared resources and settings.

use std::fs;

use serde_json::{Value, json};

use crate::live::{StreamClient, text_of};
use crate::program::{HttpProgram, project};

/// R-24-11: added and removed files and folders change the list; changed content does not.
#[test]
fn a_list_is_heard_of_when_it_holds_something_else() {
    let folder = project();
    let root = folder.path().join("project");
    let desk = HttpProgram::start(folder.path(), &["project"]);
    let mut listener = StreamClient::open(&desk, &json!({ "resourcesListChanged": true }));
    assert_eq!(listener.next().unwrap()["params"]["notifications"]["resourcesListChanged"], true);
    let method = |listener: &mut StreamClient| listener.next().unwrap()["method"].clone();
    let changed = "notifications/resources/list_changed";
    fs::write(root.join("src/new.rs"), "").unwrap();
    assert_eq!(method(&mut listener), changed);
    fs::rename(root.join("src/new.rs"), root.join("docs/new.rs")).unwrap();
    assert_eq!(method(&mut listener), changed);
    fs::write(root.join("target/ignored"), "").unwrap();
    fs::write(root.join("src/main.rs"), "another content").unwrap();
    let mut resource = StreamClient::subscribe(&desk, &["file:///project/docs/new.rs".to_owned()]);
    fs::remove_dir_all(root.join("docs")).unwrap();
    assert_eq!(resource.uri(), "file:///project/docs/new.rs");
    assert_eq!(method(&mut listener), changed, "and no other notification");
}

/// With too few inotify watches the folder is polled: still served, watchable, but `degraded`.
#[test]
fn where_the_kernel_has_no_watches_left_one_looks_now_and_then() {
    let folder = project();
    let settings = "[mounts.project]\nkind = \"fs\"\npath = \"project\"\nwatches = 1\npoll = \"20ms\"\nindex = false\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let desk = HttpProgram::start(folder.path(), &[]);
    let state = |desk: &HttpProgram| -> Value {
        serde_json::from_str(&text_of(desk, "refdesk://mounts/project")).unwrap()
    };
    let before = state(&desk);
    assert_eq!(before["state"], "ready");
    assert_eq!(before["since"], state(&desk)["since"]);
    let uri = "file:///project/src/main.rs".to_owned();
    let mut listener = StreamClient::subscribe(&desk, std::slice::from_ref(&uri));
    let told = state(&desk);
    assert_eq!(told["state"], "degraded");
    assert!(told["since"].as_str() >= before["since"].as_str(), "{told}");
    assert!(told["words"].as_str().unwrap().contains("polling"), "{told}");
    for version in 0..3 {
        let text = format!("// found by looking {version}");
        fs::write(folder.path().join("project/src/main.rs"), &text).unwrap();
        assert_eq!(listener.uri(), uri);
        assert_eq!(text_of(&desk, &uri), text);
    }
}

/// A static resource with a `file` is watchable: a change of the file is a change of the resource.
#[test]
fn a_declared_resource_is_heard_of_when_its_file_changes() {
    let folder = project();
    let settings = "[mounts.notes]\nkind = \"static\"\n[[mounts.notes.resources]]\n\
        uri = \"note://readme\"\nname = \"readme\"\nfile = \"project/README.md\"\n\
        [[mounts.notes.resources]]\nuri = \"note://fixed\"\nname = \"fixed\"\ntext = \"x\"\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let desk = HttpProgram::start(folder.path(), &[]);
    let wishes = json!({ "resourceSubscriptions": ["note://fixed", "note://readme"] });
    let mut listener = StreamClient::open(&desk, &wishes);
    let ack = listener.next().unwrap();
    let granted = &ack["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(*granted, json!(["note://fixed", "note://readme"]), "a text changes by an edit");
    fs::write(folder.path().join("project/README.md"), "# New").unwrap();
    assert_eq!(listener.uri(), "note://readme");
    assert_eq!(text_of(&desk, "note://readme"), "# New");
}

/// Edited settings apply at once without dropping a client; broken ones do not apply.
#[test]
fn edited_settings_are_served_without_dropping_anybody() {
    let folder = project();
    let file = folder.path().join("refdesk.toml");
    let mount = |name: &str, path: &str| {
        format!("[mounts.{name}]\nkind = \"fs\"\npath = \"project/{path}\"\n")
    };
    fs::write(&file, mount("docs", "docs")).unwrap();
    let desk = HttpProgram::start(folder.path(), &[]);
    let guide = "file:///docs/guide.md".to_owned();
    let mut resource = StreamClient::subscribe(&desk, std::slice::from_ref(&guide));
    let mut lists = StreamClient::open(&desk, &json!({ "resourcesListChanged": true }));
    let method = |listener: &mut StreamClient| listener.next().unwrap()["method"].clone();
    method(&mut lists);
    let changed = "notifications/resources/list_changed";
    fs::write(&file, mount("docs", "docs") + &mount("src", "src")).unwrap();
    assert_eq!(method(&mut lists), changed, "a mount came");
    assert_eq!(text_of(&desk, "file:///src/main.rs"), "fn main() {}\n");
    fs::write(&file, "[mounts.docs]\nkind = \"fss\"\n").unwrap();
    fs::write(folder.path().join("project/docs/guide.md"), "still served").unwrap();
    assert_eq!(resource.uri(), guide, "what did not change goes on");
    fs::write(&file, mount("src", "src")).unwrap();
    assert_eq!(resource.uri(), guide, "its mount is gone");
    assert_eq!(method(&mut lists), changed);
    assert_eq!(text_of(&desk, "file:///src/main.rs"), "fn main() {}\n");
    fs::write(&file, mount("docs", "docs")).unwrap();
    assert_eq!(resource.uri(), guide, "and is back");
    assert_eq!(text_of(&desk, &guide), "still served");
}
