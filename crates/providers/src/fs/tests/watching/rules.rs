//! Tests of notifications under ignore rules: no hidden path is reported.

use resource::{Change, Interest};

use super::super::{ListingMode, Tree};
use super::{about, removed, updated};

#[tokio::test]
async fn ignored_and_hidden_things_are_silent_and_not_watched() {
    let tree = Tree::of(["a", "target/deep/er/x", ".git/objects/y", "secret/z", ".dot/w"]);
    tree.write(".gitignore", "target/\n*.log\n");
    let desk = tree.serve_hiding(ListingMode::Flat, |path| path.starts_with("secret"));
    let mut ear = desk.subscribe(Interest::Everything).await;
    desk.assert_watched(1);
    for path in ["target/deep/er/x", "target/new", "a.log", ".git/index", "secret/z", ".dot/w"] {
        tree.write(path, "changed");
    }
    tree.write("a", "changed");
    let heard = ear.until(&updated("file:///a")).await;
    assert_eq!(heard, [updated("file:///a")]);
    desk.assert_watched(1);
}

#[tokio::test]
async fn an_ignore_file_that_hides_removes_and_one_that_reveals_updates() {
    let tree = Tree::of(["a.log", "sub/b.log", "sub/c.txt"]);
    let desk = tree.serve(ListingMode::Flat);
    let mut all = desk.subscribe(Interest::Everything).await;
    let mut one = desk.subscribe_to("file:///sub/b.log").await;
    let mut folder = desk.subscribe_to("file:///sub").await;
    let mut lists = desk.subscribe(Interest::Listing).await;
    tree.write(".gitignore", "*.log\n");
    all.all_of([removed("file:///a.log"), removed("file:///sub/b.log"), Change::Listing]).await;
    assert_eq!(one.next().await, removed("file:///sub/b.log"));
    folder.all_of([removed("file:///sub/b.log"), updated("file:///sub")]).await;
    assert_eq!(lists.next().await, Change::Listing);
    assert!(desk.is_not_found("file:///sub/b.log").await);
    tree.write(".gitignore", "*.tmp\n");
    all.all_of([updated("file:///a.log"), updated("file:///sub/b.log"), Change::Listing]).await;
    assert_eq!(one.next().await, updated("file:///sub/b.log"));
    folder.all_of([updated("file:///sub/b.log"), updated("file:///sub")]).await;
    assert_eq!(lists.next().await, Change::Listing);
}

#[tokio::test]
async fn a_folder_that_is_revealed_is_heard_with_all_that_is_in_it() {
    let tree = Tree::of(["a", "target/x/y"]);
    tree.write(".ignore", "target\n");
    let desk = tree.serve(ListingMode::Flat);
    let mut ear = desk.subscribe(Interest::Everything).await;
    tree.remove(".ignore");
    ear.all_of([updated("file:///target"), updated("file:///target/x/y")]).await;
    tree.write("target/x/y", "changed");
    ear.all_of([updated("file:///target/x/y")]).await;
    tree.write(".ignore", "target\n");
    ear.all_of([removed("file:///target"), removed("file:///target/x/y")]).await;
    tree.write("target/x/y", "changed unseen");
    tree.write("a", "changed");
    let heard = ear.until(&updated("file:///a")).await;
    let unseen = |change: &&Change| about(change).is_some_and(|uri| uri.as_str().ends_with("/y"));
    assert_eq!(heard.iter().filter(unseen).count(), 0, "{heard:?}");
}

#[tokio::test]
async fn what_is_hidden_behind_a_link_is_not_told_when_the_link_goes() {
    let tree = Tree::of(["real/a", "real/b"]);
    tree.link("alias", "real");
    let desk = tree.serve_hiding(ListingMode::Flat, |path| path == "alias/a");
    let mut ear = desk.subscribe_to("file:///alias").await;
    tree.remove("alias");
    let heard = ear.until(&removed("file:///alias/b")).await;
    assert_eq!(heard, [removed("file:///alias"), removed("file:///alias/b")]);
}
