//! Tests of subscriptions to one file.

use std::fs::{self, FileTimes};
use std::time::SystemTime;

use resource::{ErrorKind, Interest};

use super::super::{ListingMode, Tree, uri};
use super::{removed, updated};

const A: &str = "file:///sub/a.txt";

#[tokio::test]
async fn a_file_written_in_place_is_updated() {
    let tree = Tree::of(["sub/a.txt", "sub/b.txt"]);
    let desk = tree.serve(ListingMode::Tree);
    let mut ear = desk.subscribe_to(A).await;
    tree.write("sub/b.txt", "another file is none of its business");
    tree.write("sub/a.txt", "new");
    assert_eq!(ear.next().await, updated(A));
    assert_eq!(desk.text(A).await, "new");
}

#[tokio::test]
async fn writes_of_the_same_length_within_one_tick_are_all_heard() {
    let tree = Tree::of(["sub/a.txt"]);
    let desk = tree.serve(ListingMode::Tree);
    let mut ear = desk.subscribe_to(A).await;
    for number in 0..50 {
        let text = format!("{number:09}");
        tree.write("sub/a.txt", &text);
        while desk.text(A).await != text {}
        assert_eq!(ear.next().await, updated(A), "{number}");
    }
}

#[tokio::test]
async fn a_touch_and_the_same_content_again_are_silent() {
    let tree = Tree::of(["sub/a.txt"]);
    let desk = tree.serve(ListingMode::Tree);
    let mut ear = desk.subscribe_to(A).await;
    let file = fs::File::options().write(true).open(tree.at("sub/a.txt")).unwrap();
    file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH)).unwrap();
    fs::write(tree.at("sub/tmp"), "sub/a.txt").unwrap();
    fs::rename(tree.at("sub/tmp"), tree.at("sub/a.txt")).unwrap();
    fs::rename(tree.at("sub/a.txt"), tree.at("sub/moved")).unwrap();
    assert_eq!(ear.next().await, removed(A));
    fs::rename(tree.at("sub/moved"), tree.at("sub/a.txt")).unwrap();
    assert_eq!(ear.next().await, updated(A));
}

#[tokio::test]
async fn a_save_by_rename_is_one_update() {
    let tree = Tree::of(["sub/a.txt", "sub/z"]);
    let desk = tree.serve(ListingMode::Tree);
    let mut ear = desk.subscribe_to(A).await;
    for number in 0..20 {
        fs::write(tree.at("sub/.a.tmp"), format!("{number}")).unwrap();
        fs::rename(tree.at("sub/.a.tmp"), tree.at("sub/a.txt")).unwrap();
        assert_eq!(ear.next().await, updated(A));
        assert_eq!(desk.text(A).await, format!("{number}"));
    }
    tree.remove("sub/a.txt");
    assert_eq!(ear.next().await, removed(A));
}

#[tokio::test]
async fn a_file_that_goes_and_comes_back_is_still_heard_of() {
    let tree = Tree::of(["sub/a.txt"]);
    let desk = tree.serve(ListingMode::Tree);
    let mut ear = desk.subscribe_to(A).await;
    for _ in 0..3 {
        tree.remove("sub/a.txt");
        assert_eq!(ear.next().await, removed(A));
        tree.write("sub/a.txt", "sub/a.txt");
        assert_eq!(ear.next().await, updated(A));
    }
}

#[tokio::test]
async fn a_folder_moved_away_and_made_again_is_followed() {
    let tree = Tree::of(["x/y/a.txt"]);
    let desk = tree.serve(ListingMode::Tree);
    let mut ear = desk.subscribe_to("file:///x/y/a.txt").await;
    for number in 0..3 {
        fs::rename(tree.at("x"), tree.at(format!("away{number}"))).unwrap();
        assert_eq!(ear.next().await, removed("file:///x/y/a.txt"));
        tree.write("x/y/a.txt", format!("again {number}"));
        ear.until(&updated("file:///x/y/a.txt")).await;
        while desk.text("file:///x/y/a.txt").await != format!("again {number}") {}
    }
    tree.write("x/y/a.txt", "and written");
    assert_eq!(ear.until(&updated("file:///x/y/a.txt")).await.len(), 1);
}

#[tokio::test]
async fn what_a_link_leads_to_is_heard_under_the_link() {
    let tree = Tree::of(["deep/er/real.txt", "other.txt"]);
    tree.link("link", "deep/second");
    tree.link("deep/second", "er/real.txt");
    tree.link("folder", "deep");
    let desk = tree.serve(ListingMode::Tree);
    let mut link = desk.subscribe_to("file:///link").await;
    let mut folder = desk.subscribe_to("file:///folder/er/real.txt").await;
    tree.write("deep/er/real.txt", "changed");
    assert_eq!(link.next().await, updated("file:///link"));
    assert_eq!(folder.next().await, updated("file:///folder/er/real.txt"));
    tree.remove("deep/second");
    assert_eq!(link.next().await, removed("file:///link"));
    tree.link("deep/second", "../other.txt");
    assert_eq!(link.next().await, updated("file:///link"));
    tree.write("other.txt", "changed too");
    assert_eq!(link.next().await, updated("file:///link"));
}

#[tokio::test]
async fn the_uri_is_told_as_it_was_written() {
    let tree = Tree::of(["café/a b.txt"]);
    let desk = tree.serve(ListingMode::Tree);
    for text in ["file:///café/a%20b.txt", "FILE://localhost/caf%c3%a9/%61%20b.txt"] {
        let mut ear = desk.subscribe_to(text).await;
        tree.write("café/a b.txt", text);
        assert_eq!(ear.next().await, updated(text));
    }
}

#[tokio::test]
async fn what_is_not_there_or_not_seen_cannot_be_watched() {
    let tree = Tree::of(["a.txt", "b.log", ".hidden", "secret/x"]);
    tree.write(".gitignore", "*.log\n");
    tree.link("out", "../outside");
    let desk = tree.serve_hiding(ListingMode::Tree, |path| path == "secret");
    for text in ["none", "b.log", ".hidden", "secret", "secret/x", "out", "a.txt/"] {
        let asked = Interest::Resource(uri(&format!("file:///{text}")));
        let error = desk.try_subscribe(asked).await.err().unwrap();
        assert_eq!(error.kind, ErrorKind::NotFound, "{text}");
    }
    let error = desk.try_subscribe(Interest::Resource(uri("note://a.txt"))).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn a_large_file_is_told_by_its_date() {
    let tree = Tree::of(["sub/x"]);
    tree.write("sub/a.txt", vec![b'a'; 2_000_000]);
    let desk = tree.serve(ListingMode::Tree);
    let mut ear = desk.subscribe_to(A).await;
    tree.write("sub/a.txt", vec![b'b'; 2_000_000]);
    assert_eq!(ear.next().await, updated(A));
}
