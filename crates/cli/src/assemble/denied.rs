//! Tests of access rules on real mounts: the provider contract under two principals, for each kind of
//! mount with all its layers.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use resource::{
    Body, ByteSource, Content, Context, ErrorKind, PageRequest, Provider, ReadRequest, Uri,
};
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
    let files = folder.path().join("files");
    run_git(&files, &["init", "-q", "-b", "main", "."]);
    commit(&files, "first");
    let settings = "kind = \"git\"\npath = \"files\"\n";
    check(folder.path(), settings, "git://m/HEAD/none.md").await;
}

/// A repository with a history of texts, some of them hidden, and a change of each in the worktree.
fn history() -> tempfile::TempDir {
    let folder = texts();
    let files = folder.path().join("files");
    fs::write(files.join("x.key"), "a key\n").unwrap();
    run_git(&files, &["init", "-q", "-b", "main", "."]);
    commit(&files, "first");
    for name in ["hidden/a.md", "hidden/b.md"] {
        fs::write(files.join(name), "covert words\n").unwrap();
    }
    commit(&files, "covert");
    for name in ["z.md", "hidden.md", "x.key"] {
        fs::write(files.join(name), "other words\n").unwrap();
    }
    commit(&files, "both");
    for name in ["z.md", "hidden.md", "hidden/c.md"] {
        fs::write(files.join(name), "words to come\n").unwrap();
    }
    folder
}

fn run_git(folder: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(folder);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = git.output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(folder: &Path, message: &str) {
    run_git(folder, &["add", "-A"]);
    let person = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    run_git(folder, &[&person[..], &["commit", "-qm", message]].concat());
}

/// The catalog of one git mount with these settings.
fn git_catalog(folder: &Path, settings: &str) -> Arc<catalog::Catalog> {
    catalog_of(folder, &format!("kind = \"git\"\npath = \"files\"\n{settings}"))
}

/// The catalog of one mount with these settings.
fn catalog_of(folder: &Path, settings: &str) -> Arc<catalog::Catalog> {
    let file = folder.join("refdesk.toml");
    fs::write(&file, format!("[mounts.m]\n{settings}")).unwrap();
    let settings = Settings::read_file(&file).unwrap();
    assemble(&settings, &[], &OwnResources::new(), None).unwrap().catalog
}

/// What a principal reads of `text` in all formats; `None` if it does not exist.
async fn read_by(catalog: &catalog::Catalog, ctx: &Context, text: &str) -> Option<String> {
    let request = ReadRequest::whole(1 << 20);
    let described = catalog.stat(ctx, &uri(text)).await;
    let reading = match catalog.read(ctx, &uri(text), &request).await {
        Ok(reading) => reading,
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::NotFound, "{text}: {error:?}");
            assert!(described.is_err(), "{text} is described and not read");
            return None;
        }
    };
    let mut all = format!("{:?}", described.unwrap());
    let Content::Parts(parts) = reading.content else { return Some(all) };
    for part in parts {
        let (Body::Text(ByteSource::Bytes(bytes)) | Body::Blob(ByteSource::Bytes(bytes))) =
            part.body
        else {
            panic!("{text} is a stream")
        };
        all.push_str(&String::from_utf8_lossy(&bytes));
    }
    Some(all)
}

#[tokio::test]
async fn no_resource_of_a_repository_tells_of_a_denied_file() {
    let folder = history();
    let files = folder.path().join("files");
    let access = format!("redact = false\n{ACCESS}").replace("hidden*", "hidden*\", \"*.key");
    let catalog = git_catalog(folder.path(), &access);
    let [whole, limited] = testkit::two_contexts();
    let [blob, tree, covert] = ["HEAD:hidden.md", "HEAD:hidden", "HEAD~1"]
        .map(|revision| run_git(&files, &["rev-parse", revision]));
    for denied in [
        "HEAD:hidden.md".to_owned(),
        "HEAD:hidden%2Fa.md".to_owned(),
        "main~1:hidden%2Fa.md".to_owned(),
        "HEAD:hidden/a.md".to_owned(),
        format!("{tree}/a.md"),
        "log/HEAD/x.key?files=true".to_owned(),
        "diff/HEAD~2..HEAD/x.key".to_owned(),
        "blame/HEAD/hidden.md".to_owned(),
        format!("commit/{covert}"),
        blob,
    ] {
        let denied = format!("git://m/{denied}");
        assert!(read_by(&catalog, &whole, &denied).await.is_some(), "{denied}");
        assert_eq!(read_by(&catalog, &limited, &denied).await, None, "{denied}");
    }
    for open in [
        "diff/HEAD~2..HEAD",
        "diff/HEAD~2...main",
        "diff/worktree",
        "commit/HEAD",
        "log",
        "log?files=true",
        "log/HEAD?grep=o",
        "status",
        "refs",
        "blame/HEAD/z.md",
        "HEAD/z.md",
        "HEAD:z.md",
        "HEAD/docs",
    ] {
        let open = format!("git://m/{open}");
        let all = read_by(&catalog, &whole, &open).await;
        assert!(all.is_some(), "{open}");
        let shown = read_by(&catalog, &limited, &open).await.unwrap_or_else(|| panic!("{open}"));
        for word in ["hidden", "x.key", "covert"] {
            assert!(!shown.contains(word), "{open} tells of {word}: {shown}");
        }
        let is_about_all = open.contains("diff") || open.contains("commit/");
        assert!(!is_about_all || shown.contains("z.md"), "{open}: {shown}");
    }
}

#[tokio::test]
async fn a_hidden_file_of_a_repository_is_hidden_in_its_history() {
    let folder = history();
    let hide = "[[mounts.m.rules]]\nglob = \"hidden*\"\nhide = true\n";
    let catalog = git_catalog(folder.path(), hide);
    let [ctx, _] = testkit::two_contexts();
    for document in
        ["diff/HEAD~2..HEAD", "diff/worktree", "commit/HEAD", "log?files=true", "status"]
    {
        let text = read_by(&catalog, &ctx, &format!("git://m/{document}")).await.unwrap();
        assert!(!text.contains("hidden"), "{document}: {text}");
    }
    assert_eq!(read_by(&catalog, &ctx, "git://m/HEAD:hidden.md").await, None);
    assert!(read_by(&catalog, &ctx, "git://m/HEAD:z.md").await.is_some());
}

#[tokio::test]
async fn a_principal_that_may_have_one_folder_of_a_revision_has_it() {
    let folder = history();
    let access =
        "access = [{ allow = [\"HEAD/docs/**\", \"diff\", \"refs\"], principals = [\"other\"] }]\n";
    let catalog = git_catalog(folder.path(), access);
    let [_, limited] = testkit::two_contexts();
    let listed = catalog.list(&limited, Some(&uri("git://m/HEAD/")), &PageRequest::first(10)).await;
    let listed: Vec<_> = listed.unwrap().items.iter().map(|item| item.name.clone()).collect();
    assert_eq!(listed, ["docs"]);
    let guide = read_by(&catalog, &limited, "git://m/HEAD/docs/guide.md").await;
    assert!(guide.is_some_and(|text| text.contains("About docs/guide.md")));
    assert_eq!(read_by(&catalog, &limited, "git://m/HEAD:docs%2Fguide.md").await, None);
    let diff = read_by(&catalog, &limited, "git://m/diff/HEAD~2..HEAD").await.unwrap();
    assert!(!diff.contains("z.md"), "{diff}");
}

#[tokio::test]
async fn configuration_keeps_the_contract_under_access_rules() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("app.toml"), "a = 1\nhidden = 2\n[b]\nc = 3\n").unwrap();
    fs::write(folder.path().join("hidden.toml"), "a = 1\n").unwrap();
    let settings = "kind = \"config\"\npath = \".\"\nfiles = [\"*.toml\"]\n";
    check(folder.path(), settings, "config://m/files/none.toml").await;
}

/// Files and layers, one of them in a folder, and what is made of the file `deploy/hidden.toml`.
fn layers() -> (tempfile::TempDir, &'static str, [&'static str; 4]) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("deploy")).unwrap();
    fs::write(folder.path().join("app.toml"), "port = 1\n").unwrap();
    fs::write(folder.path().join("deploy/hidden.toml"), "covert = 2\n").unwrap();
    let settings = "kind = \"config\"\npath = \".\"\nfiles = [\"**/*.toml\"]\n\
        layers = [\"app.toml\", \"deploy/hidden.toml\"]\n";
    let made = [
        "deploy/hidden.toml",
        "keys/deploy/hidden.toml/covert",
        "effective/covert",
        "diff/app.toml..deploy%2Fhidden.toml",
    ];
    (folder, settings, made)
}

#[tokio::test]
async fn nothing_of_a_configuration_tells_of_a_denied_file() {
    let (folder, settings, made) = layers();
    let access = ACCESS.replace("hidden*", "deploy/hidden.toml");
    let catalog = catalog_of(folder.path(), &format!("{settings}{access}"));
    let [whole, limited] = testkit::two_contexts();
    for denied in made.map(|path| format!("config://m/{path}")) {
        assert!(read_by(&catalog, &whole, &denied).await.is_some(), "{denied}");
        assert_eq!(read_by(&catalog, &limited, &denied).await, None, "{denied}");
    }
    for open in ["effective", "keys", "diff", "keys/app.toml"] {
        let shown = read_by(&catalog, &limited, &format!("config://m/{open}")).await.unwrap();
        assert!(!shown.contains("hidden") && !shown.contains("covert"), "{open}: {shown}");
    }
}

#[tokio::test]
async fn nothing_of_a_configuration_tells_of_a_hidden_file() {
    let (folder, settings, made) = layers();
    let hide = "[[mounts.m.rules]]\nglob = \"deploy/hidden.toml\"\nhide = true\n";
    let catalog = catalog_of(folder.path(), &format!("{settings}{hide}"));
    let [ctx, _] = testkit::two_contexts();
    for hidden in made {
        assert_eq!(
            read_by(&catalog, &ctx, &format!("config://m/{hidden}")).await,
            None,
            "{hidden}"
        );
    }
    assert!(read_by(&catalog, &ctx, "config://m/effective/port").await.is_some());
}

#[tokio::test]
async fn a_principal_that_may_have_what_is_made_of_a_file_has_it_without_the_file() {
    let (folder, settings, _) = layers();
    let access = "access = [{ allow = [\"keys/app.toml/**\", \"effective/**\"], \
                  principals = [\"other\"] }]\n";
    let catalog = catalog_of(folder.path(), &format!("{settings}{access}"));
    let [_, limited] = testkit::two_contexts();
    for open in ["keys/app.toml/port", "effective/port", "effective/covert"] {
        let open = format!("config://m/{open}");
        assert!(read_by(&catalog, &limited, &open).await.is_some(), "{open}");
    }
    assert_eq!(read_by(&catalog, &limited, "config://m/app.toml").await, None);
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
