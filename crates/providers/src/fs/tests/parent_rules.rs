//! Tests of the ignore rules from above the root.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use resource::{Change, ErrorKind, Interest};

use super::watching::{removed, updated};
use super::{ListingMode, PATIENCE, ServedFs, Tree};
use crate::fs::{Fs, Options};

/// A tree whose root is the folder `root` of a repository.
fn in_repository<const N: usize>(paths: [&str; N]) -> Tree {
    let tree = Tree::of(paths);
    tree.write_above(".git/HEAD", "ref: refs/heads/main\n");
    tree
}

fn serve_folder(tree: &Tree, path: &str) -> ServedFs {
    let options = Options { listing: ListingMode::Flat, ..tree.options_at(path) };
    ServedFs(Fs::open(options).unwrap())
}

#[tokio::test]
async fn what_the_repository_ignores_is_hidden_in_a_subfolder_that_is_served() {
    let tree = in_repository(["sub/secret.key", "sub/a.txt", "sub/deep/b.log", "sub/keep.log"]);
    tree.write_above(".gitignore", "*.key\n*.log\n/root/sub/deep/\n/sub/a.txt\n");
    tree.write(".ignore", "!keep.log\n");
    let desk = serve_folder(&tree, "sub");
    assert_eq!(desk.paths(None).await, ["a.txt", "keep.log"]);
    for path in ["secret.key", "deep", "deep/b.log"] {
        assert!(desk.is_not_found(&format!("file:///{path}")).await, "{path}");
    }
    tree.write("sub/.refdeskignore", "!secret.key\n");
    assert_eq!(desk.paths(None).await, ["a.txt", "keep.log", "secret.key"]);
}

#[tokio::test]
async fn a_folder_that_the_repository_ignores_can_be_served_itself() {
    let tree = in_repository(["target/doc/a.html", "target/doc/b.tmp"]);
    tree.write_above(".gitignore", "target/\n*.tmp\n");
    assert_eq!(serve_folder(&tree, "target/doc").paths(None).await, ["a.html"]);
}

#[tokio::test]
async fn info_exclude_holds_in_the_repository_and_its_worktrees_and_gives_way_to_ignore_files() {
    let tree = in_repository(["a.x", "a.y", "a.z"]);
    tree.write_above(".git/info/exclude", "*.x\n*.y\n");
    tree.write_above(".gitignore", "!*.y\n");
    assert_eq!(serve_folder(&tree, "").paths(None).await, ["a.y", "a.z"]);

    let tree = Tree::of(["a.x", "b.y"]);
    tree.write(".git/info/exclude", "*.x\n");
    assert_eq!(serve_folder(&tree, "").paths(None).await, ["b.y"]);

    let tree = Tree::of(["sub/a.x", "sub/b.y"]);
    tree.write(".git", "gitdir: ../main/.git/worktrees/w\n");
    tree.write_above("main/.git/worktrees/w/commondir", "../..\n");
    tree.write_above("main/.git/info/exclude", "/sub/*.x\n");
    let desk = serve_folder(&tree, "sub");
    assert_eq!(desk.paths(None).await, ["b.y"]);
    tree.write_above("main/.git/info/exclude", "/sub/*.y\n");
    assert_eq!(desk.paths(None).await, ["a.x"]);
}

#[tokio::test(start_paused = true)]
async fn a_nested_repository_ends_the_search_and_without_a_repository_there_is_none() {
    let tree = in_repository(["nested/sub/a.log", "nested/sub/a.tmp"]);
    tree.write_above(".gitignore", "*.log\n");
    tree.write("nested/.gitignore", "*.tmp\n");
    assert!(serve_folder(&tree, "nested/sub").paths(None).await.is_empty());
    tree.write("nested/.git/HEAD", "");
    assert_eq!(serve_folder(&tree, "nested/sub").paths(None).await, ["a.log"]);
    assert_eq!(serve_folder(&tree, "nested").paths(None).await, ["sub/a.log"]);

    let tree = Tree::of(["a.log"]);
    tree.write_above(".gitignore", "*.log\n");
    let desk = serve_folder(&tree, "");
    assert_eq!(desk.paths(None).await, ["a.log"]);
    tree.write_above(".git/HEAD", "");
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(desk.paths(None).await.is_empty(), "a repository that is made later counts");
}

#[tokio::test]
async fn edits_above_the_root_take_effect_at_once() {
    let tree = in_repository(["a.txt", "b.txt", "sub/a.txt", "sub/b.txt"]);
    let desk = tree.serve(ListingMode::Flat);
    for round in 0..40 {
        let (hidden, shown) = if round % 2 == 0 { ("a", "b") } else { ("b", "a") };
        let file = if round % 4 < 2 { ".gitignore" } else { ".git/info/exclude" };
        tree.write_above(file, format!("{hidden}.txt\n"));
        let expected = [format!("{shown}.txt"), format!("sub/{shown}.txt")];
        assert_eq!(desk.paths(None).await, expected, "round {round}");
        assert!(desk.is_not_found(&format!("file:///sub/{hidden}.txt")).await, "round {round}");
        assert!(desk.stat(&format!("file:///sub/{shown}.txt")).await.is_ok());
        tree.write_above(file, "");
    }
    assert_eq!(desk.paths(None).await.len(), 4);
}

/// The target of a link appears without a change of the folder that has the link.
#[tokio::test]
async fn a_link_above_the_root_that_led_nowhere_counts_once_its_target_is_there() {
    let tree = Tree::of(["sub/a.txt"]);
    fs::create_dir(tree.at(".git")).unwrap();
    fs::create_dir(tree.at("rules")).unwrap();
    tree.link(".gitignore", "rules/all");
    let desk = ServedFs(Fs::open(tree.options_at("sub")).unwrap());
    // Until nothing that is looked at is new any more.
    let rules = || desk.0.root.parent_rules.rules_above(&tree.at("sub").canonicalize().unwrap());
    let start = Instant::now();
    while !rules().unwrap().0.is_settled() {
        assert!(start.elapsed() < PATIENCE, "the rules never settle");
    }
    assert_eq!(desk.text("file:///a.txt").await, "sub/a.txt");
    tree.write("rules/all", "a.txt\n");
    assert!(desk.is_not_found("file:///a.txt").await);
}

#[tokio::test]
async fn what_cannot_be_read_above_is_no_error_and_what_is_over_a_bound_is() {
    let tree = in_repository(["a.txt", "b.log"]);
    let above = |path: &str| tree.home.path().join(path);
    symlink("nowhere", above(".gitignore")).unwrap();
    fs::create_dir(above(".ignore")).unwrap();
    let pipe = above(".refdeskignore");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
    fs::write(above(".git/info"), "a file").unwrap();
    let desk = tree.serve(ListingMode::Flat);
    assert_eq!(desk.paths(None).await, ["a.txt", "b.log"]);
    fs::remove_file(&pipe).unwrap();
    fs::write(&pipe, "x\n".repeat(10_001)).unwrap();
    let error = desk.stat("file:///a.txt").await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    fs::write(&pipe, "*.log\n").unwrap();
    assert_eq!(desk.paths(None).await, ["a.txt"]);
}

#[tokio::test]
async fn subscribers_hear_of_edits_above_the_root() {
    let tree = in_repository(["sub/a.log", "sub/b.txt"]);
    tree.write_above(".git/info/exclude", "");
    let desk = serve_folder(&tree, "sub");
    let mut all = desk.subscribe(Interest::Everything).await;
    let mut one = desk.subscribe_to("file:///a.log").await;
    tree.write_above(".gitignore", "*.log\n");
    all.all_of([removed("file:///a.log"), Change::Listing]).await;
    assert_eq!(one.next().await, removed("file:///a.log"));
    tree.write_above(".gitignore", "");
    all.all_of([updated("file:///a.log"), Change::Listing]).await;
    assert_eq!(one.next().await, updated("file:///a.log"));
    tree.write_above(".git/info/exclude", "*.txt\n");
    all.all_of([removed("file:///b.txt"), Change::Listing]).await;
}
