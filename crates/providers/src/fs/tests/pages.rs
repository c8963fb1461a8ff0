//! Tests of paging: pages join without gaps or repeats, whatever changes between them.

use std::fs;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use resource::{Cursor, ErrorKind, Filter, PageRequest, PathFilter, Provider as _};

use super::{ListingMode, Tree, path};

const FILES: [&str; 12] = [
    "a-b", "a.txt", "a/b", "a/c/d", "a/c/e", "a/c.txt", "b", "c/c/c/c", "c/d", "z/y/x", "z/y0", "é",
];

/// In walk order: by names, not by whole paths.
const WALKED: [&str; 12] = [
    "a/b", "a/c/d", "a/c/e", "a/c.txt", "a-b", "a.txt", "b", "c/c/c/c", "c/d", "z/y/x", "z/y0",
    "%C3%A9",
];

#[tokio::test]
async fn pages_of_any_size_join_without_gap_or_repeat() {
    let tree = Tree::of(FILES);
    tree.folder("empty/inner");
    tree.folder("z/zz/zzz");
    let flat = tree.serve(ListingMode::Flat);
    let nested = tree.serve(ListingMode::Tree);
    for limit in 1..=FILES.len() + 1 {
        assert_eq!(flat.paths_by(None, limit).await, WALKED, "{limit}");
        let children = ["a", "a-b", "a.txt", "b", "c", "empty", "z", "%C3%A9"];
        assert_eq!(nested.paths_by(None, limit).await, children, "{limit}");
        assert_eq!(nested.paths_by(Some("file:///"), limit).await, children, "{limit}");
        let inner = ["a/b", "a/c", "a/c.txt"];
        assert_eq!(nested.paths_by(Some("file:///a"), limit).await, inner, "{limit}");
    }
}

#[tokio::test]
async fn what_comes_and_goes_between_pages_neither_repeats_nor_hides_others() {
    for cut in 1..FILES.len() {
        let tree = Tree::of(FILES);
        let desk = tree.serve(ListingMode::Flat);
        let first = desk.page(None, None, cut).await.unwrap();
        let seen: Vec<_> = first.items.iter().map(|item| path(item)).collect();
        let last = seen.last().unwrap().replace("%C3%A9", "é");
        tree.remove(&last);
        for name in ["0", "a/0", "a/c/0", "a/c/dd", "a0", "c/c/c/a", "zz"] {
            tree.write(name, "");
        }
        let mut all = seen;
        let mut from = first.next;
        while from.is_some() {
            let page = desk.page(None, from, 2).await.unwrap();
            all.extend(page.items.iter().map(|item| path(item)));
            from = page.next;
        }
        let old: Vec<_> = all.iter().filter(|path| WALKED.contains(&path.as_str())).collect();
        assert_eq!(old, WALKED.iter().collect::<Vec<_>>(), "cut at {cut}");
        let mut once = all.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), all.len(), "cut at {cut}: {all:?}");
    }
}

#[tokio::test]
async fn a_walk_goes_on_where_the_folder_of_its_cursor_is_gone() {
    let tree = Tree::of(["a/x", "b/c/d", "b/c/e", "d"]);
    let desk = tree.serve(ListingMode::Flat);
    let first = desk.page(None, None, 2).await.unwrap();
    assert_eq!(path(&first.items[1]), "b/c/d");
    fs::remove_dir_all(tree.at("b")).unwrap();
    let second = desk.page(None, first.next.clone(), 2).await.unwrap();
    assert_eq!(second.items.iter().map(|item| path(item)).collect::<Vec<_>>(), ["d"]);
    tree.write("b", "a file now");
    let second = desk.page(None, first.next, 2).await.unwrap();
    assert_eq!(second.items.iter().map(|item| path(item)).collect::<Vec<_>>(), ["d"]);
}

#[tokio::test]
async fn a_page_that_passes_very_many_empty_folders_is_short_but_goes_on() {
    let tree = Tree::of(["zz/last"]);
    for number in 0..2_500 {
        tree.folder(&format!("f{number:04}/inner"));
    }
    let desk = tree.serve(ListingMode::Flat);
    let mut pages = 0;
    let mut from = None;
    let mut items = Vec::new();
    loop {
        let page = desk.page(None, from, 100).await.unwrap();
        pages += 1;
        items.extend(page.items.iter().map(|item| path(item)));
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    assert_eq!(items, ["zz/last"]);
    assert!((5..=8).contains(&pages), "{pages}");
}

#[tokio::test]
async fn a_cursor_made_elsewhere_is_refused() {
    let tree = Tree::of(["a/b", "c"]);
    let desk = tree.serve(ListingMode::Tree);
    let refused = async |parent: Option<&str>, cursor: &'static [u8]| {
        let cursor = Some(Cursor(Bytes::from_static(cursor)));
        desk.page(parent, cursor, 10).await.is_err_and(|error| error.kind == ErrorKind::Invalid)
    };
    assert!(refused(None, b"nonsense").await);
    assert!(refused(None, b"").await);
    assert!(refused(None, b"t../x").await);
    assert!(refused(None, b"ta/b").await, "of another folder");
    assert!(refused(Some("file:///a"), b"tc").await, "of another folder");
    assert!(refused(Some("file:///a"), b"fa/b").await, "of a flat walk");
    assert!(!refused(Some("file:///a"), b"ta/a").await);
}

#[tokio::test]
async fn listings_follow_every_change_at_once() {
    let tree = Tree::of(["a"]);
    let desk = tree.serve(ListingMode::Flat);
    for number in 0..200 {
        let name = format!("f{number}");
        tree.write(&name, "");
        assert!(desk.paths(None).await.contains(&name));
        tree.remove(&name);
        assert!(!desk.paths(None).await.contains(&name));
    }
}

#[tokio::test]
async fn a_filtered_list_enters_no_folder_below_which_nothing_can_match() {
    let tree = Tree::of(["docs/a.md", "docs/deep/b.md", "src/a.rs", "src/in/b.rs", "z.txt"]);
    let judged: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = Arc::clone(&judged);
    let flat = tree.serve_hiding(ListingMode::Flat, move |path| {
        sink.lock().push(path.to_owned());
        false
    });
    let path = PathFilter::new("file:///src/in/", |uri| uri.starts_with("file:///src/in/"));
    let filter = Filter { path: Some(path), ..Filter::default() };
    let request = PageRequest::first(9).with_filter(Some(Arc::new(filter)));
    let page = flat.0.list(&testkit::local_context(), None, &request).await.unwrap();
    let names: Vec<_> = page.items.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(names, ["b.rs"]);
    let judged = judged.lock();
    assert!(judged.iter().any(|path| path == "src/in/b.rs"), "{judged:?}");
    assert!(!judged.iter().any(|path| path.starts_with("docs/")), "{judged:?}");
}
