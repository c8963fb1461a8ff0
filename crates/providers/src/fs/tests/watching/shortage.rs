//! Tests of watching while the process has no free file descriptors.

use std::fs::{self, File};
use std::io::Write as _;
use std::time::Duration;

use futures_util::StreamExt as _;
use resource::Interest;

use super::super::{ListingMode, Tree};
use super::{ChangeReader, updated};
use crate::file_watch::tests::fd_limit::{exhaust_descriptors, in_limited_process};

/// The test `name` of this module, as the test runner spells it.
fn test_path(name: &str) -> String {
    let (_, module) = module_path!().split_once("::").unwrap();
    format!("{module}::{name}")
}

/// Waits long enough for a scan to fail.
async fn wait_for_failed_scan(reader: &mut ChangeReader) {
    let _early = tokio::time::timeout(Duration::from_millis(200), reader.0.next()).await;
}

#[tokio::test]
async fn a_file_is_heard_after_a_moment_without_room_for_open_files() {
    let name = "a_file_is_heard_after_a_moment_without_room_for_open_files";
    if !in_limited_process(&test_path(name)) {
        return;
    }
    let tree = Tree::of(["x/y/a"]);
    let desk = tree.serve(ListingMode::Flat);
    // A cached open folder is found even then, but its path cannot be resolved.
    while desk.0.root.folder_cache.get(&b"x/y"[..]).is_none() {
        desk.stat("file:///x/y/a").await.unwrap();
    }
    let mut one = desk.subscribe_to("file:///x/y/a").await;
    let mut file = File::options().append(true).open(tree.at("x/y/a")).unwrap();
    let taken = exhaust_descriptors();
    file.write_all(b"1").unwrap();
    wait_for_failed_scan(&mut one).await;
    drop(taken);
    for _ in 0..4 {
        file.write_all(b"2").unwrap();
        assert_eq!(one.next().await, updated("file:///x/y/a"));
    }
}

#[tokio::test]
async fn a_folder_that_comes_in_a_moment_without_room_for_open_files_is_heard() {
    let name = "a_folder_that_comes_in_a_moment_without_room_for_open_files_is_heard";
    if !in_limited_process(&test_path(name)) {
        return;
    }
    let tree = Tree::of(["b"]);
    let outside = tree.home.path().join("new");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("c"), "c").unwrap();
    let desk = tree.serve(ListingMode::Flat);
    let mut all = desk.subscribe(Interest::Everything).await;
    let taken = exhaust_descriptors();
    fs::rename(&outside, tree.at("new")).unwrap();
    wait_for_failed_scan(&mut all).await;
    drop(taken);
    all.all_of([updated("file:///new/c")]).await;
    tree.write("new/d", "");
    all.all_of([updated("file:///new/d")]).await;
}
