//! Is anything lost while no files can be opened?

use std::fs::{self, File};
use std::io::Write as _;
use std::time::Duration;

use futures_util::StreamExt as _;
use resource::Interest;

use super::super::{Listing, Tree};
use super::updated;
use crate::vigil::tests::shortage::{is_alone, take_all};

#[tokio::test]
async fn after_a_moment_without_room_for_open_files_everything_is_heard() {
    if !is_alone(concat!(
        "fs::tests::watching::shortage::",
        "after_a_moment_without_room_for_open_files_everything_is_heard"
    )) {
        return;
    }
    let tree = Tree::of(["x/y/a", "b"]);
    let outside = tree.home.path().join("new");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("c"), "c").unwrap();
    let desk = tree.serve(Listing::Flat);
    let mut one = desk.hear_of("file:///x/y/a").await;
    let mut all = desk.hear(Interest::Everything).await;
    let mut file = File::options().append(true).open(tree.at("x/y/a")).unwrap();
    let taken = take_all();
    file.write_all(b"1").unwrap();
    fs::rename(&outside, tree.at("new")).unwrap();
    // Long enough that somebody looks, in vain.
    let _early = tokio::time::timeout(Duration::from_millis(200), one.0.next()).await;
    drop(taken);
    all.all_of([updated("file:///new/c")]).await;
    for _ in 0..3 {
        file.write_all(b"2").unwrap();
        assert_eq!(one.next().await, updated("file:///x/y/a"));
    }
    tree.write("new/d", "");
    all.all_of([updated("file:///new/d")]).await;
}
