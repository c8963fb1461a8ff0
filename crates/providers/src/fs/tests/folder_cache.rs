//! Tests of the cache of open folders: an entry is used only while its name refers to it.

use std::fs;
use std::sync::Arc;

use resource::{Content, Window};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{ListingMode, ServedFs, Tree};
use crate::fs::locate::{Folder, PathEntry};
use crate::fs::path::LocalPath;

const FILE: &str = "file:///sub/deep/a.txt";

fn tree() -> Tree {
    let tree = Tree::of(["sub/deep/a.txt", "b.txt"]);
    fs::create_dir_all(tree.home.path().join("outside/deep")).unwrap();
    fs::write(tree.home.path().join("outside/deep/a.txt"), "the canary sings").unwrap();
    tree
}

/// Requests the file until its folder is cached and the file known, which happens once nothing has
/// changed for a while.
async fn wait_until_cached(served: &ServedFs) -> Arc<Folder> {
    let path = LocalPath::from_bytes(b"sub/deep").unwrap();
    let find = || match served.0.root.find(&path).unwrap() {
        PathEntry::Folder(folder) => folder,
        PathEntry::File(_) => panic!("no folder"),
    };
    loop {
        let folder = find();
        assert!(served.whole(FILE).await.is_ok());
        if Arc::ptr_eq(&folder, &find()) {
            return folder;
        }
    }
}

#[tokio::test]
async fn a_folder_is_kept_open_until_it_changes() {
    let tree = tree();
    let desk = tree.serve(ListingMode::Tree);
    let folder = wait_until_cached(&desk).await;
    assert!(Arc::ptr_eq(&folder, &wait_until_cached(&desk).await));
    tree.write("sub/deep/b.txt", "");
    assert!(desk.stat("file:///sub/deep/b.txt").await.is_ok());
    assert!(!Arc::ptr_eq(&folder, &wait_until_cached(&desk).await));
}

#[tokio::test]
async fn a_kept_folder_that_became_a_link_or_another_folder_serves_no_more() {
    let tree = tree();
    let desk = tree.serve(ListingMode::Tree);
    for (folder, target) in [("sub", "../outside"), ("sub/deep", "../../outside/deep")] {
        wait_until_cached(&desk).await;
        fs::rename(tree.at(folder), tree.at("away")).unwrap();
        tree.link(folder, target);
        assert!(desk.is_not_found(FILE).await, "{folder}");
        tree.remove(folder);
        fs::rename(tree.at("away"), tree.at(folder)).unwrap();
    }
    wait_until_cached(&desk).await;
    fs::rename(tree.at("sub"), tree.at("away")).unwrap();
    assert!(desk.is_not_found(FILE).await);
    tree.write("sub/deep/a.txt", "another");
    assert_eq!(desk.text(FILE).await, "another");
}

#[tokio::test]
async fn a_known_file_that_became_something_else_is_that() {
    let tree = tree();
    let desk = tree.serve(ListingMode::Tree);
    let path = "sub/deep/a.txt";
    let replace = || {
        tree.remove(path);
        path
    };
    wait_until_cached(&desk).await;
    tree.write(path, "rewritten in place");
    assert_eq!(desk.text(FILE).await, "rewritten in place");
    wait_until_cached(&desk).await;
    tree.link(replace(), "../../../outside/deep/a.txt");
    assert!(desk.is_not_found(FILE).await);
    tree.write(replace(), "back");
    wait_until_cached(&desk).await;
    tree.link(replace(), "../../b.txt");
    assert_eq!(desk.text(FILE).await, "b.txt");
    tree.write(replace(), "back");
    wait_until_cached(&desk).await;
    mknodat(CWD, tree.at(replace()), FileType::Fifo, Mode::RWXU, 0).unwrap();
    assert!(desk.is_not_found(FILE).await);
    tree.write(replace(), "back");
    wait_until_cached(&desk).await;
    tree.folder(replace());
    let folder = desk.content(FILE, Window::Whole { limit: 100 }).await.unwrap();
    assert!(matches!(folder, Content::Collection(_)));
}

#[tokio::test]
async fn rules_that_come_change_or_go_are_seen_at_once() {
    let tree = tree();
    let desk = tree.serve(ListingMode::Tree);
    for (file, rule, other) in [
        (".gitignore", "*.txt\n", "*.tmp\n"),
        ("sub/.ignore", "deep/\n", "/deep\n!deep\n"),
        ("sub/deep/.refdeskignore", "/a.txt\n", "/b.txt\n"),
    ] {
        wait_until_cached(&desk).await;
        tree.write(file, rule);
        assert!(desk.is_not_found(FILE).await, "{file} came");
        tree.write(file, other);
        wait_until_cached(&desk).await;
        // In place, so that only the file's own timestamp changes.
        tree.write(file, rule);
        assert!(desk.is_not_found(FILE).await, "{file} changed");
        tree.remove(file);
        assert!(desk.stat(FILE).await.is_ok(), "{file} went");
    }
}
