//! Tests of access rules on real mounts: the provider contract under two principals, for each kind of
//! mount with all its layers.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use resource::{Provider, Uri};
use server::transport::http::{self, OriginGuard};
use server::{CollectionsMode, Limits, Server};
use testkit::{Denial, Expectations, MemoryProvider, contract_with_denial};
use tokio::net::TcpListener;

use super::{OwnResources, assemble};
use crate::settings::Settings;

/// The rules of every mount: what is called `hidden` is denied to the second principal.
const ACCESS: &str = "access = [{ deny = [\"hidden*\"], principals = [\"other\"] }, \
                      { allow = [\"**\"], principals = [\"local\", \"other\"] }]\n";

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

fn is_hidden(uri: &Uri) -> bool {
    uri.as_str().split('/').any(|segment| segment.starts_with("hidden"))
}

/// Checks the contract for the mount that `settings` declare, in `folder`.
async fn check(folder: &Path, settings: &str, missing: &str) {
    check_denied(folder, &format!("{settings}{ACCESS}"), missing, &is_hidden).await;
}

/// The same with rules of its own, which deny what `is_denied` names.
async fn check_denied(
    folder: &Path,
    settings: &str,
    missing: &str,
    is_denied: &(dyn Fn(&Uri) -> bool + Sync),
) {
    let file = folder.join("refdesk.toml");
    fs::write(&file, format!("[mounts.m]\n{settings}")).unwrap();
    let settings = Settings::read_file(&file).unwrap();
    let assembly = assemble(&settings, &[], &OwnResources::new(), None).unwrap();
    for mount in &assembly.mounts {
        assert_eq!(mount.left_out, None);
        mount.connect().await;
    }
    let expected = Expectations { missing: vec![uri(missing)], ..Expectations::default() };
    let [whole, limited] = testkit::two_contexts();
    let denial = Denial { whole, limited, is_denied };
    contract_with_denial(&*assembly.catalog as &dyn Provider, &expected, &denial).await;
}

/// A folder of texts, some of them hidden.
fn texts() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["1.md", "docs/guide.md", "docs/hidden.md", "hidden.md", "hidden/a.md", "z.md"] {
        let path = folder.path().join("files").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("# About {name}\n\nSome words.\n")).unwrap();
    }
    folder
}

#[tokio::test]
async fn a_folder_keeps_the_contract_under_access_rules() {
    let folder = texts();
    for listing in ["flat", "tree"] {
        let settings = format!("kind = \"fs\"\npath = \"files\"\nlisting = \"{listing}\"\n");
        check(folder.path(), &settings, "file:///m/none.md").await;
    }
}

#[tokio::test]
async fn documentation_keeps_the_contract_under_access_rules() {
    let folder = texts();
    check(folder.path(), "kind = \"docs\"\npath = \"files\"\n", "file:///m/none.md").await;
}

#[tokio::test]
async fn a_repository_keeps_the_contract_under_access_rules() {
    let folder = texts();
    for arguments in [
        &["init", "-q", "-b", "main", "."][..],
        &["add", "-A"],
        &["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-qm", "first"],
    ] {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(folder.path().join("files"));
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        assert!(git.status().unwrap().success(), "{arguments:?}");
    }
    let settings = "kind = \"git\"\npath = \"files\"\n";
    check(folder.path(), settings, "git://m/HEAD/none.md").await;
}

#[tokio::test]
async fn configuration_keeps_the_contract_under_access_rules() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("app.toml"), "a = 1\nhidden = 2\n[b]\nc = 3\n").unwrap();
    fs::write(folder.path().join("hidden.toml"), "a = 1\n").unwrap();
    let settings = "kind = \"config\"\npath = \".\"\nfiles = [\"*.toml\"]\n";
    check(folder.path(), settings, "config://m/files/none.toml").await;
}

#[tokio::test]
async fn static_texts_keep_the_contract_under_access_rules() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "kind = \"static\"\n\
        resources = [{ uri = \"note://a\", name = \"a\", text = \"some words\" }, \
        { uri = \"note://hidden\", name = \"h\", text = \"other words\" }, { uri = \"note://z\", name = \"z\", text = \"z\" }]\n";
    check(folder.path(), settings, "note://none").await;
}

#[tokio::test]
async fn variables_keep_the_contract_under_access_rules() {
    let folder = tempfile::tempdir().unwrap();
    // Every process has these.
    let settings = "kind = \"env\"\nnames = [\"PATH\", \"HOME\"]\n";
    let access = "access = [{ deny = [\"HOME\"], principals = [\"other\"] }, \
                  { allow = [\"**\"], principals = [\"local\", \"other\"] }]\n";
    let is_home = |uri: &Uri| uri.as_str().ends_with("/HOME");
    let settings = format!("{settings}{access}");
    check_denied(folder.path(), &settings, "env://m/NONE", &is_home).await;
}

#[tokio::test]
async fn a_server_keeps_the_contract_under_access_rules() {
    let memory = MemoryProvider::new()
        .text("mem:///a", "some words")
        .text("mem:///hidden", "other words")
        .collection("mem:///shelf/", &["mem:///shelf/hidden", "mem:///shelf/b"])
        .text("mem:///shelf/hidden", "hidden words")
        .text("mem:///shelf/b", "b")
        .template("mem:///notes/{id}", "{id}", &[("id", &["a", "hidden"])])
        .with_watches();
    let key = [7; 32];
    let server = Server::new(Arc::new(memory), Limits::default(), key, CollectionsMode::Always);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let guard = OriginGuard { loopback: true, ..OriginGuard::default() };
    let serving = http::serve(Arc::new(server), listener, guard, std::future::pending());
    let serving = tokio::spawn(serving);
    let folder = tempfile::tempdir().unwrap();
    let settings = format!("kind = \"upstream\"\nurl = \"{url}\"\n");
    check(folder.path(), &settings, "m+mem:///none").await;
    serving.abort();
}
