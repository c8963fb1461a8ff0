//! Status and the diff of the worktree, compared with git.

use std::collections::BTreeSet;

use super::{TestRepo, read_as, read_json};

fn dirty() -> TestRepo {
    let repo = TestRepo::new();
    for at in 0..12 {
        let lines: Vec<String> = (0..20).map(|line| format!("{at} {line}")).collect();
        repo.write(&format!("dir/f{at}.txt"), lines.join("\n"));
    }
    repo.write("crlf.txt", "a\r\nb\r\n");
    repo.write(".gitignore", "ignored*\n");
    repo.write("sp ace.txt", "x\n");
    repo.commit("first");
    repo.write("dir/f0.txt", "changed\n");
    repo.write("dir/f1.txt", "staged\n");
    repo.git(&["add", "dir/f1.txt"]);
    repo.write("dir/f1.txt", "staged and changed\n");
    std::fs::remove_file(repo.path().join("dir/f2.txt")).unwrap();
    repo.git(&["rm", "-q", "dir/f3.txt"]);
    repo.git(&["mv", "dir/f4.txt", "moved.txt"]);
    repo.write("new.txt", "new\n");
    repo.git(&["add", "new.txt"]);
    repo.git(&["rm", "-q", "--cached", "dir/f5.txt"]);
    std::fs::remove_file(repo.path().join("dir/f6.txt")).unwrap();
    std::os::unix::fs::symlink("f7.txt", repo.path().join("dir/f6.txt")).unwrap();
    let script = repo.path().join("dir/f8.txt");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(script, mode).unwrap();
    repo.write("ignored.txt", "ignored");
    repo.write("untracked/deep/x", "x");
    repo.write("intent.txt", "later\n");
    repo.git(&["add", "-N", "intent.txt"]);
    repo
}

#[tokio::test]
async fn status_equals_that_of_git() {
    let repo = dirty();
    let json = read_json(&repo.serve(), "git:///status").await;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let ours: BTreeSet<String> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let letters = format!("{}{}", text(&one["index"]), text(&one["worktree"]));
            format!("{letters} {} {}", text(&one["path"]), text(&one["from"]))
        })
        .collect();
    let told = repo.git(&["status", "--porcelain", "-z"]);
    let told = String::from_utf8(told).unwrap();
    let mut words = told.split('\0').filter(|word| !word.is_empty());
    let mut rows = BTreeSet::new();
    while let Some(word) = words.next() {
        let from = if word.starts_with('R') { words.next().unwrap() } else { "" };
        rows.insert(format!("{word} {from}"));
    }
    assert_eq!(ours, rows);
}

#[tokio::test]
async fn the_diff_of_the_worktree_applies() {
    let repo = dirty();
    let patch = read_as(&repo.serve(), "git:///diff/worktree", None).await;
    let index = repo.path().join(".git/test-index");
    let env = [("GIT_INDEX_FILE", index.to_str().unwrap())];
    repo.git_with(&["read-tree", "HEAD"], &env, b"");
    repo.git_with(&["apply", "--cached", "--whitespace=nowarn"], &env, &patch);
    let ours = repo.git_with(&["write-tree"], &env, b"");
    std::fs::copy(repo.path().join(".git/index"), &index).unwrap();
    repo.git_with(&["add", "-u"], &env, b"");
    let told = repo.git_with(&["write-tree"], &env, b"");
    let shown = String::from_utf8_lossy(&patch).into_owned();
    assert_eq!(ours, told, "{shown}");
}

#[tokio::test]
async fn a_link_in_the_worktree_leads_nowhere() {
    let repo = TestRepo::new();
    repo.write("dir/secret.txt", "old\n");
    repo.commit("first");
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.txt"), "a secret of this machine\n").unwrap();
    std::fs::remove_dir_all(repo.path().join("dir")).unwrap();
    std::os::unix::fs::symlink(outside.path(), repo.path().join("dir")).unwrap();
    let diff = read_as(&repo.serve(), "git:///diff/worktree", None).await;
    let diff = String::from_utf8(diff).unwrap();
    assert!(!diff.contains("secret of"), "{diff}");
    assert!(diff.contains("deleted file mode"), "{diff}");
}
