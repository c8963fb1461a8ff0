//! Runs the provider contract against repositories.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use testkit::{Expectations, WatchCounter, contract};

use super::{TestRepo, names, read_json, read_text, run_git, uri};
use crate::git::{Git, Options, find_repository};

fn sample() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("a.txt", "a\n");
    repo.write("docs/guide.md", "# Guide\n");
    repo.write("docs/deep/er/x", "x");
    repo.write("sp ace/\u{65e5}\u{672c}.md", "\u{65e5}\u{672c}\u{8a9e}\n".repeat(50));
    repo.write("blob.bin", [0, 159, 146, 150, 255]);
    repo.commit("first");
    repo.write("a.txt", "a\nb\n");
    repo.commit("second");
    repo.git(&["tag", "v1"]);
    repo
}

#[tokio::test]
async fn a_repository_is_a_provider_like_any_other() {
    let repo = sample();
    let known = Expectations {
        leaves: vec![
            (uri("git:///HEAD/a.txt"), b"a\nb\n".to_vec()),
            (uri("git:///HEAD~1/a.txt"), b"a\n".to_vec()),
            (uri("git:///v1/docs/guide.md"), b"# Guide\n".to_vec()),
            (uri("git:///main/blob.bin"), vec![0, 159, 146, 150, 255]),
        ],
        collections: vec![(
            uri("git:///HEAD/docs"),
            vec![uri("git:///HEAD/docs/guide.md"), uri("git:///HEAD/docs/deep")],
        )],
        missing: vec![
            uri("git:///none"),
            uri("git:///HEAD/none"),
            uri("git:///HEAD/a.txt/x"),
            uri("git:///HEAD/a.txt/"),
            uri("git:///commit/none"),
            uri("git:///diff/none..HEAD"),
            uri("git:///blame/HEAD/none"),
            uri("git:///log/none"),
        ],
        prefix: Some("git:///HEAD/".to_owned()),
        outside: vec!["../secret.txt".to_owned(), ".git/config".to_owned()],
        open_watches: None,
    };
    let served = repo.serve();
    let repository = Arc::clone(&served.repository);
    let count = move || usize::from(repository.rescan_loop.is_running());
    let open_watches = Some(WatchCounter(Arc::new(count)));
    let known = Expectations { open_watches, ..known };
    contract(&served, &known).await;
    let known = Expectations { prefix: Some("git:///".to_owned()), ..known };
    contract(&served, &known).await;
}

#[tokio::test]
async fn bare_repositories_and_worktrees_are_served() {
    let repo = sample();
    let folder = tempfile::tempdir().unwrap();
    let (bare, tree) = (folder.path().join("bare"), folder.path().join("tree"));
    repo.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let git = Git::open(&Options::new(&bare)).unwrap();
    assert_eq!(names(&git, "git:///").await, ["HEAD", "refs", "log"]);
    assert_eq!(read_text(&git, "git:///main/a.txt").await, "a\nb\n");
    repo.git(&["worktree", "add", "-q", "-b", "side", tree.to_str().unwrap(), "HEAD~1"]);
    let git = Git::open(&Options::new(tree.join("docs"))).unwrap();
    assert_eq!(read_text(&git, "git:///HEAD/a.txt").await, "a\n");
    assert_eq!(names(&git, "git:///").await, ["HEAD", "refs", "log", "status", "diff"]);
    let refs = read_json(&repo.serve(), "git:///refs").await;
    let kinds: Vec<&str> =
        refs.as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["head", "branch", "branch", "tag", "worktree"]);
}

#[tokio::test]
async fn a_repository_without_a_commit_is_served() {
    let repo = TestRepo::new();
    let git = repo.serve();
    assert_eq!(names(&git, "git:///").await, ["refs", "log", "status", "diff"]);
    assert!(read_text(&git, "git:///log").await.contains("No commits"));
    repo.write("a", "a");
    assert_eq!(read_json(&git, "git:///status").await[0]["path"], "a");
    repo.commit("first");
    assert_eq!(read_text(&git, "git:///HEAD/a").await, "a");
}

#[test]
fn what_cannot_be_served_says_why_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let fault = |path: &std::path::Path| Git::open(&Options::new(path)).err().unwrap();
    assert_eq!(fault(folder.path()).reason, "there is no git repository");
    let tables = folder.path().join("tables");
    std::fs::create_dir(&tables).unwrap();
    let (ok, _, _) = run_git(&tables, &["init", "-q", "--ref-format=reftable", "."], &[], b"");
    assert!(ok, "git makes a repository with a reftable");
    let fault = fault(&tables);
    assert!(fault.reason.contains("reftable"), "{fault}");
    assert!(fault.advice.contains("git refs migrate"), "{fault}");
}

/// gix would wait for the writer of a pipe.
#[test]
fn a_repository_with_a_pipe_among_its_files_is_refused_at_once() {
    let repo = TestRepo::new();
    repo.write("a", "a");
    repo.commit("first");
    let (git_dir, tree) = (repo.folder.path().join(".git"), repo.folder.path().join("tree"));
    repo.git(&["worktree", "add", "-q", "-b", "side", tree.to_str().unwrap(), "HEAD"]);
    let pipe = |path: &Path| {
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, path, FileType::Fifo, mode, 0).unwrap();
    };
    for name in ["HEAD", "packed-refs", "commondir", "config", "index", "objects/info/alternates"] {
        let (file, kept) = (git_dir.join(name), git_dir.join("kept"));
        let was_there = fs::rename(&file, &kept).is_ok();
        pipe(&file);
        let fault = Git::open(&Options::new(repo.folder.path())).err().expect(name);
        assert!(fault.advice.contains(&file.display().to_string()), "{fault}");
        assert_eq!(find_repository(repo.folder.path()), None, "{name}");
        fs::remove_file(&file).unwrap();
        if was_there {
            fs::rename(&kept, &file).unwrap();
        }
    }
    pipe(&git_dir.join("packed-refs"));
    assert!(Git::open(&Options::new(&tree)).is_err(), "the repository of a worktree has a pipe");
    fs::remove_file(git_dir.join("packed-refs")).unwrap();
    assert!(Git::open(&Options::new(&tree)).is_ok());
    fs::remove_file(tree.join(".git")).unwrap();
    pipe(&tree.join(".git"));
    assert!(Git::open(&Options::new(&tree)).err().unwrap().advice.contains("is a pipe"));
}

#[tokio::test]
async fn a_repository_with_sha_256_is_served() {
    let repo = TestRepo { folder: tempfile::tempdir().unwrap() };
    repo.git(&["init", "-q", "-b", "main", "--object-format=sha256", "."]);
    repo.write("a", "a\n");
    let hash = repo.commit("first");
    assert_eq!(hash.len(), 64);
    let git = repo.serve();
    assert_eq!(read_text(&git, &format!("git:///{hash}/a")).await, "a\n");
    assert_eq!(read_json(&git, "git:///log").await[0]["hash"], hash);
    assert!(read_text(&git, &format!("git:///commit/{hash}")).await.contains("+a\n"));
}
