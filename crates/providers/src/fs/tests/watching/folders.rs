//! Tests of subscriptions to folders, lists and everything.

use std::fs;

use resource::{Change, Interest};

use super::super::{ListingMode, Tree, uri};
use super::{about, removed, updated};

#[tokio::test]
async fn a_collection_tells_of_what_lies_directly_in_it() {
    let tree = Tree::of(["docs/a.md", "docs/deep/b.md", "c.md"]);
    let desk = tree.serve(ListingMode::Tree);
    let mut ear = desk.subscribe_to("file://localhost/docs/").await;
    tree.write("c.md", "elsewhere");
    tree.write("docs/deep/b.md", "too deep");
    tree.write("docs/a.md", "changed");
    assert_eq!(ear.next().await, updated("file:///docs/a.md"));
    tree.write("docs/new.md", "new");
    ear.all_of([updated("file:///docs/new.md"), updated("file://localhost/docs/")]).await;
    tree.remove("docs/a.md");
    ear.all_of([removed("file:///docs/a.md"), updated("file://localhost/docs/")]).await;
    fs::rename(tree.at("docs"), tree.at("away")).unwrap();
    ear.all_of([removed("file://localhost/docs/"), removed("file:///docs/new.md")]).await;
    tree.write("docs/again.md", "");
    ear.all_of([updated("file://localhost/docs/"), updated("file:///docs/again.md")]).await;
}

#[tokio::test]
async fn a_link_in_a_collection_is_told_when_its_target_changes() {
    let tree = Tree::of(["docs/a.md", "elsewhere/real.md"]);
    tree.link("docs/link.md", "../elsewhere/real.md");
    let desk = tree.serve(ListingMode::Tree);
    let mut ear = desk.subscribe_to("file:///docs").await;
    let mut all = desk.subscribe(Interest::Everything).await;
    tree.write("elsewhere/real.md", "changed");
    assert_eq!(ear.next().await, updated("file:///docs/link.md"));
    all.all_of([updated("file:///docs/link.md"), updated("file:///elsewhere/real.md")]).await;
}

#[tokio::test]
async fn a_new_folder_with_files_in_it_is_heard_with_all_of_them() {
    let tree = Tree::of(["a"]);
    let desk = tree.serve(ListingMode::Tree);
    let mut ear = desk.subscribe(Interest::Everything).await;
    for number in 0..20 {
        let folder = format!("n{number}/x/y");
        for name in ["1", "2", "3"] {
            tree.write(format!("{folder}/{name}"), "");
        }
        let files = ["1", "2", "3"].map(|name| updated(&format!("file:///{folder}/{name}")));
        ear.all_of(files).await;
    }
    fs::rename(tree.at("n0"), tree.at("n0.away")).unwrap();
    ear.all_of([removed("file:///n0/x/y/1"), updated("file:///n0.away/x/y/1")]).await;
    tree.write("n0.away/x/y/1", "written after the move");
    ear.all_of([updated("file:///n0.away/x/y/1")]).await;
}

#[tokio::test]
async fn a_burst_is_heard_to_its_end() {
    let tree = Tree::of(["z"]);
    for number in 0..1_000 {
        tree.write(format!("f{}/{number}", number % 10), "");
    }
    let desk = tree.serve(ListingMode::Tree);
    let mut ear = desk.subscribe(Interest::Everything).await;
    for round in 0..10 {
        for number in 0..1_000 {
            fs::write(tree.at(format!("f{}/{number}", number % 10)), format!("{round}")).unwrap();
        }
    }
    let all = (0..1_000).map(|number| updated(&format!("file:///f{}/{number}", number % 10)));
    ear.all_of(all).await;
}

#[tokio::test]
async fn each_file_of_a_burst_is_heard_after_its_last_change() {
    let tree = Tree::of(["z"]);
    for number in 0..50 {
        tree.write(format!("f/{number}"), "");
    }
    let desk = tree.serve(ListingMode::Tree);
    let mut ear = desk.subscribe(Interest::Everything).await;
    for round in 0..10 {
        for number in 0..50 {
            fs::write(tree.at(format!("f/{number}")), format!("{round}")).unwrap();
        }
    }
    let mut behind: std::collections::HashSet<_> =
        (0..50).map(|number| uri(&format!("file:///f/{number}"))).collect();
    while !behind.is_empty() {
        let change = ear.next().await;
        let Some(uri) = about(&change) else { continue };
        if behind.contains(uri) && desk.text(uri.as_str()).await == "9" {
            behind.remove(uri);
        }
    }
}

#[tokio::test]
async fn a_stream_that_is_not_read_holds_each_uri_once() {
    let tree = Tree::of(["a", "b"]);
    let desk = tree.serve(ListingMode::Tree);
    let mut ear = desk.subscribe(Interest::Everything).await;
    let mut other = desk.subscribe_to("file:///b").await;
    for number in 0..10_000 {
        fs::write(tree.at("a"), format!("{number}")).unwrap();
    }
    fs::write(tree.at("b"), "last").unwrap();
    other.next().await;
    for party in desk.0.root.rescan_loop.subscribers() {
        assert!(party.changes.len() <= 2, "{}", party.changes.len());
    }
    ear.all_of([updated("file:///a"), updated("file:///b")]).await;
}

#[tokio::test]
async fn names_that_come_and_go_change_lists_and_content_does_not() {
    let tree = Tree::of(["a", "sub/b"]);
    for (listing, name) in
        [(ListingMode::Tree, "n"), (ListingMode::Flat, "sub/n"), (ListingMode::Auto, "sub/n")]
    {
        let desk = tree.serve(listing);
        let mut lists = desk.subscribe(Interest::Listing).await;
        let mut content = desk.subscribe_to("file:///a").await;
        tree.write("a", format!("{listing:?}"));
        content.next().await;
        let party = &desk.0.root.rescan_loop.subscribers()[0];
        assert_eq!(party.changes.len(), 0);
        tree.write(name, "");
        assert_eq!(lists.next().await, Change::Listing);
        let renamed = format!("{name}.new");
        fs::rename(tree.at(name), tree.at(&renamed)).unwrap();
        assert_eq!(lists.next().await, Change::Listing);
        tree.remove(&renamed);
        assert_eq!(lists.next().await, Change::Listing);
    }
}

#[tokio::test]
async fn a_folder_that_was_listed_by_itself_changes_lists_too() {
    let tree = Tree::of(["a", "sub/deep/b"]);
    let desk = tree.serve(ListingMode::Tree);
    let mut lists = desk.subscribe(Interest::Listing).await;
    desk.paths(Some("file:///sub/deep")).await;
    tree.write("sub/deep/c", "");
    assert_eq!(lists.next().await, Change::Listing);
    assert_eq!(desk.paths(Some("file:///sub/deep")).await, ["sub/deep/b", "sub/deep/c"]);
}
