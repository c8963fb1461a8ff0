//! Tests of the cache of files: an entry is used only while the file is unchanged and visible.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::time::Instant;

use resource::{ErrorKind, Window};

use super::{ListingMode, PATIENCE, ServedFs, Tree};

/// Reads the file until it comes from the cache, which happens once it has not changed for a while.
async fn wait_until_cached(desk: &ServedFs, uri: &str) {
    let (read, start) = (async || desk.whole(uri).await.unwrap().resource, Instant::now());
    while !Arc::ptr_eq(&read().await, &read().await) {
        assert!(start.elapsed() < PATIENCE, "{uri} is never cached");
    }
}

#[tokio::test]
async fn a_cached_file_is_read_again_after_every_kind_of_change() {
    let tree = Tree::of(["sub/a.txt"]);
    let (desk, uri) = (tree.serve(ListingMode::Tree), "file:///sub/a.txt");
    wait_until_cached(&desk, uri).await;
    assert_eq!(desk.text(uri).await, "sub/a.txt");
    tree.write("sub/a.txt", "in.place!");
    assert_eq!(desk.text(uri).await, "in.place!", "written in place with the same length");
    wait_until_cached(&desk, uri).await;
    tree.write("sub/b.txt", "renamed");
    fs::rename(tree.at("sub/b.txt"), tree.at("sub/a.txt")).unwrap();
    assert_eq!(desk.text(uri).await, "renamed");
    wait_until_cached(&desk, uri).await;
    let modified = fs::metadata(tree.at("sub/a.txt")).unwrap().modified().unwrap();
    tree.write("sub/a.txt", "ancient");
    fs::File::open(tree.at("sub/a.txt")).unwrap().set_modified(modified).unwrap();
    assert_eq!(desk.text(uri).await, "ancient", "with its old date restored");
}

#[tokio::test]
async fn a_cached_file_that_is_hidden_or_gone_is_not_served() {
    let tree = Tree::of(["sub/a.txt", "b.txt"]);
    symlink("b.txt", tree.at("link.txt")).unwrap();
    let desk = tree.serve(ListingMode::Tree);
    for uri in ["file:///sub/a.txt", "file:///b.txt", "file:///link.txt"] {
        wait_until_cached(&desk, uri).await;
    }
    tree.write(".ignore", "a.txt\n");
    assert!(desk.is_not_found("file:///sub/a.txt").await);
    tree.remove("b.txt");
    assert!(desk.is_not_found("file:///b.txt").await);
    assert!(desk.is_not_found("file:///link.txt").await);
}

#[tokio::test]
async fn a_cached_file_keeps_its_limit_and_its_windows() {
    let tree = Tree::of(["a.txt"]);
    let (desk, uri) = (tree.serve(ListingMode::Tree), "file:///a.txt");
    wait_until_cached(&desk, uri).await;
    let refused = desk.part(uri, Window::Whole { limit: 4 }).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::TooLarge);
    let window = desk.window(uri, 2, 3).await;
    assert_eq!(super::bytes(window.body).await, "txt");
}

#[tokio::test]
async fn files_beyond_a_mebibyte_are_not_cached() {
    const MEBIBYTE: usize = 1 << 20;
    let tree = Tree::of([]);
    tree.write("largest.txt", vec![b'x'; MEBIBYTE]);
    tree.write("larger.txt", vec![b'x'; MEBIBYTE + 1]);
    let desk = tree.serve(ListingMode::Tree);
    wait_until_cached(&desk, "file:///largest.txt").await;
    let read = async || desk.whole("file:///larger.txt").await.unwrap().resource;
    assert!(!Arc::ptr_eq(&read().await, &read().await));
    tree.write("largest.txt", "short");
    assert_eq!(desk.text("file:///largest.txt").await, "short");
}
