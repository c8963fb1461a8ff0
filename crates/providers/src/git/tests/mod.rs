//! Tests of the git provider, with git itself as the oracle.

mod clones;
mod completing;
mod contract;
mod history;
mod hostile;
mod large;
mod lfs;
mod made_history;
mod masking;
mod revisions;
mod status;
mod updates;
mod visibility;
mod watching;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use resource::{
    Body, ByteSource, Content, Context, ErrorKind, Page, PageRequest, Principal, Provider,
    ReadRequest, Resource, Uri,
};
use tempfile::TempDir;

use super::{Git, Options};

/// A repository that a test makes.
pub(super) struct TestRepo {
    pub(super) folder: TempDir,
}

impl TestRepo {
    /// An empty repository.
    pub(super) fn new() -> Self {
        let repo = Self { folder: tempfile::tempdir().unwrap() };
        repo.git(&["init", "-q", "-b", "main", "."]);
        repo
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Runs git, which must succeed, and returns what it prints.
    pub(super) fn git(&self, args: &[&str]) -> Vec<u8> {
        self.git_with(args, &[], b"")
    }

    pub(super) fn git_text(&self, args: &[&str]) -> String {
        String::from_utf8(self.git(args)).unwrap().trim_end().to_owned()
    }

    pub(super) fn git_with(&self, args: &[&str], env: &[(&str, &str)], input: &[u8]) -> Vec<u8> {
        let (ok, output, error) = run_git(self.folder.path(), args, env, input);
        assert!(ok, "git {args:?}: {error}");
        output
    }

    pub(super) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Commits everything.
    pub(super) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git_text(&["rev-parse", "HEAD"])
    }

    pub(super) fn serve(&self) -> Git {
        Git::open(&Options::new(self.path())).unwrap()
    }
}

/// Runs git in `folder`, with the settings of no user.
pub(super) fn run_git(
    folder: &Path,
    args: &[&str],
    env: &[(&str, &str)],
    input: &[u8],
) -> (bool, Vec<u8>, String) {
    let mut command = Command::new("git");
    command
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_AUTHOR_NAME", "Ada")
        .env("GIT_AUTHOR_EMAIL", "ada@example.com")
        .env("GIT_COMMITTER_NAME", "Ada")
        .env("GIT_COMMITTER_EMAIL", "ada@example.com")
        .env("LC_ALL", "C")
        .envs(env.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::Builder::new().spawn(move || drop(pipe.write_all(&input))).unwrap();
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), output.stdout, error)
}

pub(super) fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

pub(super) fn ctx() -> Context {
    Context::new(Principal::local())
}

pub(super) async fn list_page(git: &Git, parent: &str, ask: &PageRequest) -> Page<Resource> {
    git.list(&ctx(), Some(&uri(parent)), ask).await.unwrap()
}

/// All members of a collection, in pages of `limit`.
pub(super) async fn list_all(git: &Git, parent: &str, limit: usize) -> Vec<Arc<Resource>> {
    let mut ask = PageRequest::first(limit);
    let mut all = Vec::new();
    loop {
        let page = list_page(git, parent, &ask).await;
        all.extend(page.items);
        match page.next {
            Some(next) => ask.cursor = Some(next),
            None => return all,
        }
    }
}

pub(super) async fn names(git: &Git, parent: &str) -> Vec<String> {
    list_all(git, parent, 1000).await.iter().map(|item| item.name.clone()).collect()
}

/// The content of a resource in a format, or else in its primary one.
pub(super) async fn read_as(git: &Git, text: &str, format: Option<&str>) -> Vec<u8> {
    let request = ReadRequest {
        format: format.map(str::to_owned),
        part: Some(0),
        ..ReadRequest::whole(1 << 30)
    };
    let reading = git.read(&ctx(), &uri(text), &request).await;
    let reading = reading.unwrap_or_else(|error| panic!("{text}: {}", error.with_causes()));
    let Content::Parts(parts) = reading.content else { panic!("{text} is a collection") };
    match parts.into_iter().next().unwrap().body {
        Body::Text(ByteSource::Bytes(bytes)) | Body::Blob(ByteSource::Bytes(bytes)) => bytes.into(),
        Body::Text(_) | Body::Blob(_) => panic!("{text} is a stream"),
    }
}

pub(super) async fn read_text(git: &Git, text: &str) -> String {
    String::from_utf8(read_as(git, text, None).await).unwrap()
}

pub(super) async fn read_json(git: &Git, text: &str) -> serde_json::Value {
    let bytes = read_as(git, text, Some("application/json")).await;
    serde_json::from_slice(&bytes).unwrap()
}

pub(super) async fn read_error(git: &Git, text: &str) -> ErrorKind {
    let read = git.read(&ctx(), &uri(text), &ReadRequest::whole(1 << 30)).await;
    read.err().unwrap_or_else(|| panic!("{text} was read")).kind
}
