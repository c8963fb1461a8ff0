//! Tests of the stat cache: listings that skip `stat` are never stale.

use std::fs;
use std::sync::Arc;

use resource::Resource;

use crate::fs::tests::{ListingMode, ServedFs, Tree};
use crate::fs::{Fs, Options, WatchMode};

/// Requests the first page of a folder of a hundred files until it makes no `stat` calls.
async fn wait_until_cached(served: &ServedFs, parent: Option<&str>) -> Vec<Arc<Resource>> {
    let began = std::time::Instant::now();
    while began.elapsed().as_secs() < 10 {
        let before = served.0.root.stat_count();
        let page = served.page(parent, None, 100).await.unwrap();
        if served.0.root.stat_count() == before {
            return page.items.into();
        }
    }
    panic!("the page still makes stat calls");
}

fn write_hundred_files(tree: &Tree) {
    for number in 0..100 {
        tree.write(format!("f/{number:03}"), "");
    }
}

#[tokio::test]
async fn a_page_that_is_trusted_looks_at_no_file_and_gives_the_same_descriptions() {
    let tree = Tree::of(["z/a"]);
    write_hundred_files(&tree);
    for (listing, parent) in [(ListingMode::Tree, Some("file:///f")), (ListingMode::Flat, None)] {
        let desk = tree.serve(listing);
        let first = wait_until_cached(&desk, parent).await;
        let second = wait_until_cached(&desk, parent).await;
        assert!(first.iter().zip(&second).all(|(a, b)| Arc::ptr_eq(a, b)));
        assert_eq!(first.len(), 100);
    }
}

#[tokio::test]
async fn what_is_written_is_listed_at_once_however_often() {
    let tree = Tree::of(["a"]);
    write_hundred_files(&tree);
    let desk = tree.serve(ListingMode::Tree);
    for number in 1..=1_000_u64 {
        if number % 50 == 1 {
            wait_until_cached(&desk, Some("file:///f")).await;
        }
        let name = format!("f/{:03}", number % 100);
        let size = number % 7 + number % 50;
        fs::write(tree.at(&name), vec![b'x'; usize::try_from(size).unwrap()]).unwrap();
        let page = desk.page(Some("file:///f"), None, 100).await.unwrap();
        let item = &page.items[usize::try_from(number % 100).unwrap()];
        assert_eq!(item.size, Some(size), "{number}");
        assert_eq!(*item, desk.stat(item.uri.as_str()).await.unwrap(), "{number}");
    }
}

#[tokio::test]
async fn a_change_is_listed_at_once_in_pages_of_every_size() {
    let tree = Tree::of(["z/a"]);
    write_hundred_files(&tree);
    for (listing, parent) in [(ListingMode::Tree, Some("file:///f")), (ListingMode::Flat, None)] {
        let desk = tree.serve(listing);
        for turn in 1..=100_usize {
            let file = turn % 7;
            if turn % 10 == 1 {
                wait_until_cached(&desk, parent).await;
            }
            fs::write(tree.at(format!("f/{file:03}")), vec![b'x'; turn]).unwrap();
            for limit in [100, 7, 33, 100, 7] {
                let page = desk.page(parent, None, limit).await.unwrap();
                assert_eq!(page.items.len(), limit);
                assert_eq!(page.items[file].size, Some(turn as u64), "{turn} {limit}");
            }
        }
    }
}

#[tokio::test]
async fn names_that_come_and_go_are_listed_at_once() {
    let tree = Tree::of(["a"]);
    write_hundred_files(&tree);
    let desk = tree.serve(ListingMode::Tree);
    for number in 0..30 {
        wait_until_cached(&desk, Some("file:///f")).await;
        let name = format!("f/new{number}");
        tree.write(&name, "");
        assert!(desk.paths(Some("file:///f")).await.contains(&name));
        tree.remove(&name);
        assert!(!desk.paths(Some("file:///f")).await.contains(&name));
    }
}

#[tokio::test]
async fn another_folder_in_the_place_of_a_trusted_one_is_seen_at_once() {
    let tree = Tree::of(["a"]);
    write_hundred_files(&tree);
    let desk = tree.serve(ListingMode::Tree);
    wait_until_cached(&desk, Some("file:///f")).await;
    fs::rename(tree.at("f"), tree.at("old")).unwrap();
    for number in 0..100 {
        tree.write(format!("f/{number:03}"), "another");
    }
    for _ in 0..3 {
        let page = desk.page(Some("file:///f"), None, 100).await.unwrap();
        assert!(page.items.iter().all(|item| item.size == Some(7)));
    }
    wait_until_cached(&desk, Some("file:///f")).await;
    fs::write(tree.at("f/000"), "").unwrap();
    assert_eq!(desk.page(Some("file:///f"), None, 1).await.unwrap().items[0].size, Some(0));
}

#[tokio::test]
async fn without_watches_every_file_is_looked_at() {
    let tree = Tree::of(["a"]);
    write_hundred_files(&tree);
    for options in [
        Options { watch: WatchMode::Off, ..tree.options(ListingMode::Tree) },
        Options { watches: 1, ..tree.options(ListingMode::Tree) },
    ] {
        let desk = ServedFs(Fs::open(options).unwrap());
        for _ in 0..5 {
            let before = desk.0.root.stat_count();
            desk.page(Some("file:///f"), None, 100).await.unwrap();
            assert_eq!(desk.0.root.stat_count(), before + 100);
        }
        assert_eq!(desk.0.root.cache_guards.len(), 0);
    }
}

#[tokio::test]
async fn folders_and_links_are_never_trusted() {
    let tree = Tree::of(["a"]);
    write_hundred_files(&tree);
    tree.folder("f/0folder");
    tree.link("f/1link", "../a");
    let desk = tree.serve(ListingMode::Tree);
    let page = async || desk.page(Some("file:///f"), None, 200).await.unwrap().items;
    while desk.0.root.cache_guards.len() == 0 {
        page().await;
    }
    for number in 0..20_u64 {
        tree.write(format!("f/0folder/{number}"), "");
        fs::write(tree.at("a"), vec![b'a'; usize::try_from(number).unwrap()]).unwrap();
        for item in page().await.iter().filter(|item| item.name.len() > 3) {
            assert_eq!(*item, desk.stat(item.uri.as_str()).await.unwrap());
        }
    }
}
