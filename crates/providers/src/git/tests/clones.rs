//! Clones and repositories of unusual kinds: partial ones, odd names, reflogs, mailmaps.

use resource::{ErrorKind, Provider, ReadRequest};

use super::{TestRepo, ctx, list_all, names, read_json, read_text, uri};
use crate::git::{Git, Options};

/// A clone of `repo` without blobs, and the folder that it is in.
fn partial_clone(repo: &TestRepo) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("clone");
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    let from = format!("file://{}", repo.path().display());
    let arguments = ["clone", "-q", "--no-checkout", "--filter=blob:none", &from];
    repo.git(&[&arguments[..], &[clone.to_str().unwrap()]].concat());
    (folder, clone)
}

#[tokio::test]
async fn a_partial_clone_says_which_file_is_missing_and_fetches_nothing() {
    let repo = TestRepo::new();
    repo.write("a.txt", "one\n");
    repo.write("b.txt", "other\n");
    repo.commit("first");
    repo.git(&["mv", "b.txt", "c.txt"]);
    repo.write("a.txt", "one\ntwo\n");
    repo.commit("second");
    let blob = repo.git_text(&["rev-parse", "HEAD:a.txt"]);
    let (_folder, clone) = partial_clone(&repo);
    let git = Git::open(&Options::new(&clone)).unwrap();
    assert_eq!(names(&git, "git:///HEAD").await, ["a.txt", "c.txt"]);
    let read = git.read(&ctx(), &uri("git:///HEAD/a.txt"), &ReadRequest::whole(99)).await;
    let error = read.err().unwrap();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(error.message.contains(&format!("git cat-file blob {blob}")), "{error}");
    // What needs no file is told: the log, and the names of the files of a commit.
    assert_eq!(read_json(&git, "git:///log").await.as_array().unwrap().len(), 2);
    let commit = read_text(&git, "git:///commit/HEAD").await;
    assert!(commit.contains("- M a.txt (not in this partial clone)"), "{commit}");
    // Git gets the file, and then it is read.
    let (ok, _, error) = super::run_git(&clone, &["cat-file", "blob", &blob], &[], b"");
    assert!(ok, "{error}");
    assert_eq!(read_text(&git, "git:///HEAD/a.txt").await, "one\ntwo\n");
}

#[tokio::test]
async fn revisions_of_the_reflog_name_what_git_finds() {
    let repo = TestRepo::new();
    for (at, days) in [9, 5, 0].into_iter().enumerate() {
        repo.write("a.txt", format!("{at}\n"));
        repo.git(&["add", "-A"]);
        let seconds = std::time::SystemTime::now()
            .duration_since(std::time::SystemTime::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let date = format!("{} +0000", seconds - days * 24 * 60 * 60);
        let env = [("GIT_COMMITTER_DATE", date.as_str())];
        repo.git_with(&["commit", "-q", "-m", "next"], &env, b"");
    }
    repo.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    let git = repo.serve();
    for revision in
        ["HEAD@{1}", "main@{1}", "@{0}", "@{-1}", "main@{yesterday}", "main@{7.days.ago}"]
    {
        let expected = repo.git_text(&["show", &format!("{revision}:a.txt")]);
        let segment: String = revision.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let found = read_text(&git, &format!("git:///{segment}/a.txt")).await;
        assert_eq!(found.trim_end(), expected, "{revision}");
    }
}

#[tokio::test]
async fn names_are_those_of_the_commit_whatever_the_mailmap_says() {
    let repo = TestRepo::new();
    repo.write(".mailmap", "Grace <grace@example.com> <ada@example.com>\n");
    repo.write("a.txt", "a\n");
    let commit = repo.commit("first");
    let git = repo.serve();
    let json = read_json(&git, &format!("git:///commit/{commit}")).await;
    assert_eq!(json["author"]["name"], "Ada");
    assert_eq!(read_json(&git, "git:///blame/HEAD/a.txt").await[0]["author"], "Ada");
    assert_eq!(names(&git, "git:///log/HEAD?author=grace").await.len(), 0);
    assert_eq!(names(&git, "git:///log/HEAD?author=ADA").await.len(), 1);
}

#[tokio::test]
async fn a_shallow_clone_of_a_merge_has_a_log_diffs_and_blame_to_its_end() {
    let repo = TestRepo::new();
    repo.write("a.txt", "one\n");
    repo.commit("first");
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.write("b.txt", "b\n");
    repo.commit("side");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("a.txt", "one\ntwo\n");
    let second = repo.commit("second");
    repo.git(&["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("clone");
    let from = format!("file://{}", repo.path().display());
    repo.git(&["clone", "-q", "--depth", "2", &from, clone.to_str().unwrap()]);
    let git = Git::open(&Options::new(&clone)).unwrap();
    let (_, log, _) = super::run_git(&clone, &["log", "--format=%H"], &[], b"");
    let told = read_json(&git, "git:///log").await;
    let ours: Vec<&str> =
        told.as_array().unwrap().iter().map(|one| one["hash"].as_str().unwrap()).collect();
    assert_eq!(ours, String::from_utf8(log).unwrap().lines().collect::<Vec<_>>());
    assert_eq!(ours.len(), 3);
    let blame = read_json(&git, "git:///blame/HEAD/a.txt").await;
    assert_eq!(blame[0]["commit"], second, "the clone ends there");
    assert!(read_text(&git, &format!("git:///commit/{second}")).await.contains("+one"));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn names_that_are_no_utf_8_are_read_in_every_view() {
    use std::os::unix::ffi::OsStrExt as _;
    let repo = TestRepo::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    let folder = repo.path().join(std::ffi::OsStr::from_bytes(b"d\xff"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join(name), "one\n").unwrap();
    repo.commit("first");
    std::fs::write(folder.join(name), "one\ntwo\n").unwrap();
    repo.commit("second");
    std::fs::write(folder.join(name), "three\n").unwrap();
    let git = repo.serve();
    let listed = list_all(&git, "git:///HEAD/d%FF", 9).await;
    assert_eq!(listed[0].uri.as_str(), "git:///HEAD/d%FF/caf%E9.txt");
    assert_eq!(read_text(&git, "git:///HEAD/d%FF/caf%E9.txt").await, "one\ntwo\n");
    assert_eq!(names(&git, "git:///log/HEAD/d%FF/caf%E9.txt?follow=true").await.len(), 2);
    let blame = read_json(&git, "git:///blame/HEAD/d%FF/caf%E9.txt").await;
    assert_eq!(blame.as_array().unwrap().len(), 2);
    for diff in ["git:///diff/HEAD~1..HEAD/d%FF/caf%E9.txt", "git:///diff/worktree/d%FF"] {
        let diff = read_text(&git, diff).await;
        assert!(diff.contains("\"a/d\\377/caf\\351.txt\""), "as git quotes it: {diff}");
    }
    assert!(read_text(&git, "git:///status").await.contains("d\\377/caf\\351.txt"));
}

#[tokio::test]
async fn the_commits_of_a_log_have_their_files_if_asked() {
    let repo = TestRepo::new();
    repo.write("a.txt", "one\ntwo\nthree\nfour\n");
    repo.commit("first");
    repo.git(&["mv", "a.txt", "b.txt"]);
    repo.write("c.txt", "c\n");
    repo.commit("second");
    let git = repo.serve();
    let plain = read_json(&git, "git:///log/main").await;
    assert!(plain[0].get("files").is_none(), "{plain}");
    let log = read_json(&git, "git:///log/main?files=true&grep=second").await;
    assert_eq!(log.as_array().unwrap().len(), 1);
    let commit = read_json(&git, "git:///commit/main").await;
    assert_eq!(log[0]["files"], commit["files"]);
    assert_eq!(log[0]["files"].as_array().unwrap().len(), 2, "{log}");
    let error = git.stat(&ctx(), &uri("git:///log/main?files=some")).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::Invalid);
}

#[tokio::test]
async fn objects_of_an_alternate_are_read() {
    let repo = TestRepo::new();
    repo.write("a.txt", "one\n");
    repo.write("large.bin", vec![0; 65 << 20]);
    repo.commit("first");
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("clone");
    let from = repo.path();
    repo.git(&["clone", "-q", "--shared", from.to_str().unwrap(), clone.to_str().unwrap()]);
    assert!(clone.join(".git/objects/info/alternates").is_file());
    let git = Git::open(&Options::new(&clone)).unwrap();
    assert_eq!(read_text(&git, "git:///HEAD/a.txt").await, "one\n");
    assert_eq!(read_json(&git, "git:///log").await.as_array().unwrap().len(), 1);
    let part = resource::Window::Part { offset: 64 << 20, length: 9, etag: None };
    git.read(&ctx(), &uri("git:///HEAD/large.bin"), &ReadRequest::from(part)).await.unwrap();
}

#[tokio::test]
async fn a_submodule_is_shown_as_its_commit_in_every_view() {
    let (part, repo) = (TestRepo::new(), TestRepo::new());
    part.write("p.txt", "p\n");
    let first = part.commit("part");
    let from = part.path();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"];
    repo.git(&[&add[..], &[from.to_str().unwrap(), "part"]].concat());
    repo.commit("with a part");
    let git = repo.serve();
    let text = format!("Subproject commit {first}\n");
    assert_eq!(read_text(&git, "git:///HEAD/part").await, text);
    assert_eq!(read_json(&git, "git:///status").await, serde_json::json!([]));
    let inner = repo.path().join("part");
    let (ok, _, error) =
        super::run_git(&inner, &["commit", "-q", "--allow-empty", "-m", "next"], &[], b"");
    assert!(ok, "{error}");
    let status = read_json(&git, "git:///status").await;
    assert_eq!((&status[0]["path"], &status[0]["worktree"]), (&"part".into(), &"M".into()));
    let diff = read_text(&git, "git:///diff/worktree").await;
    assert!(diff.contains(&format!("-{text}+Subproject commit ")), "{diff}");
}

#[tokio::test]
async fn a_configuration_that_includes_itself_ends() {
    let repo = TestRepo::new();
    repo.write("a.txt", "a\n");
    repo.commit("first");
    let path = repo.path().join(".git/config");
    let config = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{config}[include]\n\tpath = config\n")).unwrap();
    match Git::open(&Options::new(repo.path())) {
        Ok(git) => assert_eq!(read_text(&git, "git:///HEAD/a.txt").await, "a\n"),
        Err(fault) => assert_eq!(fault.reason, "the git repository cannot be opened"),
    }
}
