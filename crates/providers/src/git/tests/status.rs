//! Status and the diff of the worktree, compared with git.

use std::collections::BTreeSet;

use super::{TestRepo, read_as, read_json, read_text};

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
    assert_eq!(our_status(&repo).await, status_of_git(&repo));
}

/// The letters, the path and the earlier path of each file.
async fn our_status(repo: &TestRepo) -> BTreeSet<String> {
    let json = read_json(&repo.serve(), "git:///status").await;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let rows = json.as_array().unwrap().iter().map(|one| {
        let letters = format!("{}{}", text(&one["index"]), text(&one["worktree"]));
        format!("{letters} {} {}", text(&one["path"]), text(&one["from"]))
    });
    rows.collect()
}

fn status_of_git(repo: &TestRepo) -> BTreeSet<String> {
    let told = repo.git(&["status", "--porcelain", "-z"]);
    let told = String::from_utf8(told).unwrap();
    let mut words = told.split('\0').filter(|word| !word.is_empty());
    let mut rows = BTreeSet::new();
    while let Some(word) = words.next() {
        let from = if word.starts_with('R') { words.next().unwrap() } else { "" };
        rows.insert(format!("{word} {from}"));
    }
    rows
}

#[tokio::test]
async fn conflicts_of_a_merge_are_told_as_git_tells_them() {
    let repo = TestRepo::new();
    for name in ["both.txt", "ours-gone.txt", "theirs-gone.txt", "same.txt", "deep/gone.txt"] {
        repo.write(name, format!("{name}\n"));
    }
    repo.commit("base");
    repo.git(&["switch", "-q", "-c", "side"]);
    repo.write("both.txt", "theirs\n");
    repo.write("ours-gone.txt", "theirs\n");
    repo.write("deep/gone.txt", "theirs\n");
    repo.write("added.txt", "theirs\n");
    repo.git(&["rm", "-q", "theirs-gone.txt"]);
    repo.commit("theirs");
    repo.git(&["switch", "-q", "main"]);
    repo.write("both.txt", "ours\n");
    repo.write("theirs-gone.txt", "ours\n");
    repo.write("added.txt", "ours\n");
    repo.git(&["rm", "-q", "ours-gone.txt", "deep/gone.txt"]);
    repo.commit("ours");
    let (merged, ..) = super::run_git(&repo.path(), &["merge", "-q", "side"], &[], b"");
    assert!(!merged, "the merge has conflicts");
    repo.write("untracked.txt", "x");
    let alone = our_status(&repo).await;
    assert_eq!(alone, status_of_git(&repo));
    assert!(!alone.iter().any(|row| row.contains("deep/ ")), "{alone:?}");
    for name in ["deep/new.txt", "deep/er/new.txt", "deep/er/newer.txt"] {
        repo.write(name, "x");
    }
    let ours = our_status(&repo).await;
    assert_eq!(ours, status_of_git(&repo));
    let expected = [
        "?? deep/er/ ",
        "?? deep/new.txt ",
        "?? untracked.txt ",
        "AA added.txt ",
        "DU deep/gone.txt ",
        "DU ours-gone.txt ",
        "UD theirs-gone.txt ",
        "UU both.txt ",
    ];
    assert_eq!(ours, expected.map(str::to_owned).into());
    let text = read_text(&repo.serve(), "git:///status").await;
    assert!(text.contains("- `UU` both.txt\n"), "{text}");
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

#[tokio::test]
async fn binary_files_are_named_in_diffs_and_not_shown() {
    let repo = TestRepo::new();
    repo.write("image.bin", b"\0\x01old-bytes\xff");
    repo.write("gone.bin", b"\0gone-bytes");
    repo.write("a.txt", "one\n");
    repo.commit("first");
    repo.write("image.bin", b"\0\x01new-bytes\xff");
    repo.git(&["rm", "-q", "gone.bin"]);
    repo.write("a.txt", "two\n");
    repo.commit("second");
    repo.write("image.bin", b"\0\x01next-bytes\xff");
    let git = repo.serve();
    for place in ["diff/HEAD~1..HEAD", "commit/HEAD", "diff/worktree"] {
        let text = read_text(&git, &format!("git:///{place}")).await;
        assert!(text.contains("Binary files a/image.bin and b/image.bin differ\n"), "{text}");
        assert!(!text.contains("-bytes"), "{place}: {text}");
    }
    let diff = read_text(&git, "git:///diff/HEAD~1..HEAD").await;
    assert!(diff.contains("Binary files a/gone.bin and /dev/null differ\n"), "{diff}");
    assert!(diff.contains("-one\n+two\n"), "{diff}");
    let json = read_json(&git, "git:///commit/HEAD").await;
    let image = &json["files"].as_array().unwrap().iter().find(|one| one["path"] == "image.bin");
    let image = image.unwrap();
    assert_eq!((&image["omitted"], &image["additions"]), (&"binary".into(), &0.into()), "{image}");
}
