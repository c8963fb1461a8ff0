//! End-to-end tests of archives: made by other programs, listed, read and searched over MCP.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{StdioProgram, output_text, refdesk};
use crate::test_client::TestClient;

fn make(folder: &Path, program: &str, args: &[&str]) {
    let output = Command::new(program).args(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{program} {args:?}: {}", output_text(&output));
}

/// What Python writes: a directory entry, a Japanese name, zip64, a link, and PAX headers.
const PYTHON: &str = r#"
import io, tarfile, zipfile
with zipfile.ZipFile("app/py.zip", "w", zipfile.ZIP_DEFLATED) as made:
    made.writestr("folder/", "")
    made.writestr("folder/資料.txt", "the needle of python\n")
    with made.open("large.txt", "w", force_zip64=True) as member:
        member.write(b"zip64\n")
with tarfile.open("app/py.tar", "w", format=tarfile.PAX_FORMAT) as made:
    info = tarfile.TarInfo("長い" * 60 + "/x.txt")
    info.size = 5
    made.addfile(info, io.BytesIO(b"long\n"))
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    made.addfile(link)
with tarfile.open("app/gnu.tar.gz", "w:gz", format=tarfile.GNU_FORMAT) as made:
    info = tarfile.TarInfo("d" * 200 + ".txt")
    info.size = 4
    made.addfile(info, io.BytesIO(b"gnu\n"))
"#;

/// A folder `app` with a text and archives of several programs.
fn archives() -> TempDir {
    let home = TempDir::with_prefix("archives").unwrap();
    let app = home.path().join("app");
    fs::create_dir_all(app.join("pack/inner")).unwrap();
    fs::write(app.join("readme.txt"), "the needle outside\n").unwrap();
    fs::write(app.join("pack/inner/x.txt"), "one\nthe needle inside\n").unwrap();
    fs::write(app.join("pack/app.toml"), "password = \"correct-horse-battery\"\n").unwrap();
    make(&app, "zip", &["-qr", "made.zip", "pack"]);
    make(&app, "zip", &["-qr", "-P", "secret", "locked.zip", "pack"]);
    make(&app, "tar", &["czf", "made.tar.gz", "pack"]);
    make(&app, "zip", &["-q0", "nested.zip", "made.tar.gz"]);
    fs::remove_dir_all(app.join("pack")).unwrap();
    make(home.path(), "python3", &["-c", PYTHON]);
    home
}

fn call(desk: &mut StdioProgram, tool: &str, arguments: &Value) -> Value {
    let answer = desk.request("tools/call", json!({ "name": tool, "arguments": arguments }));
    answer["result"].clone()
}

fn uris(result: &Value) -> Vec<String> {
    let structured = &result["structuredContent"];
    let rows = structured["resources"].as_array().unwrap_or_else(|| panic!("{result}"));
    let base = structured["base"].as_str().unwrap_or_default();
    rows.iter().map(|row| format!("{base}{}", row["uri"].as_str().unwrap())).collect()
}

fn matches(result: &Value) -> usize {
    let found = result["structuredContent"]["matches"].as_object();
    found.unwrap_or_else(|| panic!("{result}")).len()
}

#[test]
fn members_of_archives_are_listed_read_and_searched_where_they_are_named() {
    let home = archives();
    let mut desk = StdioProgram::start(refdesk(home.path(), &["serve", "--stdio", "app"]));
    let all = uris(&call(&mut desk, "resources_list", &json!({ "recursive": true })));
    assert!(all.contains(&"file:///app/made.zip".to_owned()), "{all:?}");
    assert!(all.iter().all(|uri| !uri.contains(".zip/") && !uri.contains(".gz/")), "{all:?}");
    for archive in ["made.zip", "made.tar.gz", "nested.zip/made.tar.gz"] {
        let archive = format!("file:///app/{archive}");
        let inside = json!({ "collection": archive, "recursive": true });
        let listed = uris(&call(&mut desk, "resources_list", &inside));
        let member = format!("{archive}/pack/inner/x.txt");
        assert!(listed.contains(&member), "{member} in {listed:?}");
        let read = call(&mut desk, "resources_read", &json!({ "uri": member }));
        assert_eq!(read["structuredContent"]["text"], "one\nthe needle inside\n", "{read}");
        let config = format!("{archive}/pack/app.toml");
        let masked = call(&mut desk, "resources_read", &json!({ "uri": config })).to_string();
        assert!(masked.contains("password") && !masked.contains("correct-horse"), "{masked}");
        let grep = json!({ "pattern": "needle", "collection": archive });
        assert_eq!(matches(&call(&mut desk, "resources_grep", &grep)), 1, "{archive}");
        let folder = json!({ "pattern": "needle", "collection": format!("{archive}/pack") });
        assert_eq!(matches(&call(&mut desk, "resources_grep", &folder)), 1, "{archive}");
    }
    let grep = json!({ "pattern": "needle" });
    assert_eq!(matches(&call(&mut desk, "resources_grep", &grep)), 1, "not in archives");
    let glob = json!({ "pattern": "needle", "uri": "file:///app/made.zip/**" });
    assert_eq!(matches(&call(&mut desk, "resources_grep", &glob)), 1, "a pattern names it");
    let listing = call(&mut desk, "resources_read", &json!({ "uri": "file:///app/made.zip" }));
    assert!(listing.to_string().contains("file:///app/made.zip/pack"), "{listing}");
    let read = desk.request("resources/read", json!({ "uri": "file:///app/made.zip" }));
    let first = &read["result"]["contents"][0];
    assert_eq!(first["mimeType"], "text/markdown", "{read}");
    assert_eq!(desk.close(), (true, String::new()));
}

#[test]
fn archives_of_other_programs_are_read_and_those_with_a_password_refused() {
    let home = archives();
    let mut desk = StdioProgram::start(refdesk(home.path(), &["serve", "--stdio", "app"]));
    let long = ["%E9%95%B7%E3%81%84".repeat(60), "d".repeat(200)];
    for (member, text) in [
        ("py.zip/folder/%E8%B3%87%E6%96%99.txt", "the needle of python\n"),
        ("py.zip/large.txt", "zip64\n"),
        (&format!("py.tar/{}/x.txt", long[0]), "long\n"),
        (&format!("gnu.tar.gz/{}.txt", long[1]), "gnu\n"),
    ] {
        let uri = format!("file:///app/{member}");
        let read = desk.request("resources/read", json!({ "uri": uri }));
        assert_eq!(read["result"]["contents"][0]["text"], text, "{read}");
    }
    let tar = json!({ "collection": "file:///app/py.tar", "recursive": true });
    let tar = call(&mut desk, "resources_list", &tar);
    assert!(!tar.to_string().contains("py.tar/link"), "{tar}");
    assert!(tar.to_string().contains("1 links and special files"), "{tar}");
    let locked = "file:///app/locked.zip/pack/inner/x.txt";
    let refused = call(&mut desk, "resources_read", &json!({ "uri": locked })).to_string();
    assert!(refused.contains("protected by a password"), "{refused}");
    for outside in ["file:///app/made.zip/../readme.txt", "file:///app/made.zip/..%2freadme.txt"] {
        let read = desk.request("resources/read", json!({ "uri": outside }));
        assert!(read.get("error").is_some(), "{read}");
    }
    assert_eq!(desk.close(), (true, String::new()));
}

#[test]
fn the_bytes_of_an_archive_with_a_secret_are_withheld() {
    let home = archives();
    let mut desk = StdioProgram::start(refdesk(home.path(), &["serve", "--stdio", "app"]));
    let mut bytes_of = |archive: &str, mime: &str| {
        let accept = json!({ "dev.refdesk/accept": [mime] });
        let uri = format!("file:///app/{archive}");
        desk.request("resources/read", json!({ "uri": uri, "_meta": accept }))
    };
    for (archive, mime) in [
        ("made.zip", "application/zip"),
        ("made.tar.gz", "application/gzip"),
        ("nested.zip", "application/zip"),
        ("nested.zip/made.tar.gz", "application/gzip"),
        ("locked.zip", "application/zip"),
    ] {
        let refused = bytes_of(archive, mime)["error"]["message"].to_string();
        assert!(refused.contains("withheld"), "{archive}: {refused}");
    }
    for (archive, mime) in [("py.zip", "application/zip"), ("py.tar", "application/x-tar")] {
        let given = bytes_of(archive, mime);
        assert!(given["result"]["contents"][0]["blob"].is_string(), "{given}");
    }
    // A model that reads the archive still gets its members.
    let listing = call(&mut desk, "resources_read", &json!({ "uri": "file:///app/made.zip" }));
    assert!(listing.to_string().contains("file:///app/made.zip/pack"), "{listing}");
    let accepted = json!({ "uri": "file:///app/made.zip", "accept": "application/zip" });
    let refused = call(&mut desk, "resources_read", &accepted).to_string();
    assert!(refused.contains("withheld"), "{refused}");
    assert_eq!(desk.close(), (true, String::new()));
}

#[test]
fn a_mount_can_leave_archives_as_files() {
    let home = archives();
    let settings = "[mounts.app]\nkind = \"fs\"\npath = \"app\"\narchives = false\n";
    let mut client = TestClient::piped(home.path(), settings);
    let member = "file:///app/made.zip/pack/inner/x.txt";
    let read = client.request("resources/read", json!({ "uri": member }));
    assert!(read.get("error").is_some(), "{read}");
    let whole = client.request("resources/read", json!({ "uri": "file:///app/made.zip" }));
    assert!(whole["result"]["contents"][0]["blob"].is_string(), "{whole}");
}

#[test]
fn members_of_archives_in_a_repository_are_read_at_a_revision_and_masked() {
    let home = archives();
    let app = home.path().join("app");
    let git = |args: &[&str]| {
        let name = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
        make(&app, "git", &[&name[..], args].concat());
    };
    git(&["init", "-q", "-b", "main", "."]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "Add archives"]);
    let settings = "[mounts.app]\nkind = \"git\"\npath = \"app\"\n";
    let mut client = TestClient::piped(home.path(), settings);
    let at = "git://app/HEAD/made.zip/pack";
    assert_eq!(client.text_of(&format!("{at}/inner/x.txt")), "one\nthe needle inside\n");
    let masked = client.text_of(&format!("{at}/app.toml"));
    assert!(masked.contains("password") && !masked.contains("correct-horse"), "{masked}");
    let log = client.text_of("git://app/log/HEAD/made.zip");
    assert!(log.contains("Add archives"), "{log}");
}
