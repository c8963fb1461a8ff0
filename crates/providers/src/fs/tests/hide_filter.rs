//! Tests of the hide filter: a hidden path looks as if it did not exist.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use resource::{Completion, CompletionRequest, Provider as _};

use super::{ListingMode, ServedFs, Tree};
use crate::fs::FileCount;

/// Returns a filter that hides `paths` and all below them.
fn hiding(paths: &'static [&'static str]) -> impl Fn(&str) -> bool + Send + Sync + 'static {
    move |path| {
        let mut rest = Some(path);
        while let Some(path) = rest {
            if paths.contains(&path) {
                return true;
            }
            rest = path.rsplit_once('/').map(|(folder, _)| folder);
        }
        false
    }
}

async fn complete(served: &ServedFs, typed: &str) -> Completion {
    let settled = BTreeMap::new();
    let question = CompletionRequest {
        template: "file:///{+path}",
        variable: "path",
        typed,
        resolved: &settled,
    };
    served
        .0
        .facets()
        .complete
        .unwrap()
        .complete(&testkit::local_context(), &question)
        .await
        .unwrap()
}

#[tokio::test]
async fn what_is_hidden_is_in_no_list_and_not_found() {
    let tree = Tree::of(["a.txt", "docs/a.md", "docs/b.md", "keys/deep/k.pem", "keys/l.pem"]);
    let hide = || hiding(&["docs/b.md", "keys"]);
    let flat = tree.serve_hiding(ListingMode::Flat, hide());
    let nested = tree.serve_hiding(ListingMode::Tree, hide());
    // Twice, because the first request fills the cache.
    for _ in 0..2 {
        assert_eq!(flat.paths(None).await, ["a.txt", "docs/a.md"]);
        assert_eq!(nested.paths(None).await, ["a.txt", "docs"]);
        assert_eq!(nested.paths(Some("file:///docs")).await, ["docs/a.md"]);
        for path in ["docs/b.md", "keys", "keys/", "keys/deep", "keys/deep/k.pem", "keys/none"] {
            assert!(flat.is_not_found(&format!("file:///{path}")).await, "{path}");
        }
        assert_eq!(flat.text("file:///docs/a.md").await, "docs/a.md");
    }
    assert_eq!(
        flat.0.count(&testkit::local_context(), 100).await,
        FileCount { files: 2, is_complete: true }
    );
}

#[tokio::test]
async fn completions_are_cut_and_counted_without_what_is_hidden() {
    let tree = Tree::of(["keys/k.pem"]);
    for number in 0..150 {
        tree.write(format!("docs/{number:03}"), "");
    }
    tree.link("way", "docs");
    let desk = tree.serve_hiding(ListingMode::Tree, |path| {
        path.starts_with("keys") || path.starts_with("docs/00") || path.starts_with("way/01")
    });
    let direct = complete(&desk, "docs/").await;
    assert_eq!((direct.values.len(), direct.total), (100, 140));
    assert_eq!(direct.values[0], "docs/010");
    let by_link = complete(&desk, "way/").await;
    assert_eq!((by_link.values.len(), by_link.total), (100, 130));
    assert_eq!(by_link.values[0], "way/020");
    assert_eq!(complete(&desk, "k").await, Completion::default());
    assert_eq!(complete(&desk, "keys/").await, Completion::default());
}

#[tokio::test]
async fn a_link_is_judged_where_it_stands_and_where_it_leads() {
    let tree = Tree::of(["keys/k.pem", "docs/a.md", "docs/b.md", "docs/sub/c.md"]);
    tree.link("to-keys", "keys");
    tree.link("to-key", "keys/k.pem");
    tree.link("way", "docs");
    tree.link("shut", "docs");
    let hide = || hiding(&["keys", "shut", "way/b.md", "way/sub"]);
    let flat = tree.serve_hiding(ListingMode::Flat, hide());
    let seen = ["docs/a.md", "docs/b.md", "docs/sub/c.md", "way/a.md"];
    assert_eq!(flat.paths(None).await, seen);
    assert_eq!(flat.paths_by(None, 1).await, seen);
    assert_eq!(
        flat.0.count(&testkit::local_context(), 100).await,
        FileCount { files: 4, is_complete: true }
    );
    let nested = tree.serve_hiding(ListingMode::Tree, hide());
    assert_eq!(nested.paths(None).await, ["docs", "way"]);
    assert_eq!(nested.paths(Some("file:///way")).await, ["way/a.md"]);
    for path in ["to-keys", "to-keys/k.pem", "to-key", "shut", "shut/a.md", "way/b.md", "way/sub"] {
        assert!(flat.is_not_found(&format!("file:///{path}")).await, "{path}");
    }
    assert!(flat.is_not_found("file:///way/sub/c.md").await);
}

#[tokio::test]
async fn a_hidden_folder_is_not_even_named_as_absent_or_unavailable() {
    let tree = Tree::of(["a.txt", "bad/b.txt", "open/bad/c.txt"]);
    for folder in ["bad", "open/bad"] {
        tree.write(format!("{folder}/.gitignore"), vec![b'#'; 2 * 1024 * 1024]);
    }
    tree.link("to-bad", "bad");
    tree.link("way", "open");
    let desk = tree.serve_hiding(ListingMode::Flat, hiding(&["bad", "open/bad", "way/bad"]));
    let page = desk.page(None, None, 10).await.unwrap();
    assert_eq!((page.items.len(), page.absent), (1, Vec::new()));
    let shown = tree.serve_hiding(ListingMode::Flat, hiding(&["bad", "way/bad"]));
    let absent = shown.page(None, None, 10).await.unwrap().absent;
    assert_eq!(absent.iter().map(|absence| &*absence.name).collect::<Vec<_>>(), ["open/bad"]);
    for desk in [desk, shown] {
        for path in ["bad", "bad/b.txt", "to-bad", "way/bad", "way/bad/c.txt"] {
            assert!(desk.is_not_found(&format!("file:///{path}")).await, "{path}");
        }
    }
}

#[tokio::test]
async fn a_path_that_is_not_utf_8_is_judged_by_the_nearest_that_is() {
    let tree = Tree::of(["a.txt"]);
    tree.write(OsStr::from_bytes(b"x\xff/k"), "");
    let desk = tree.serve_hiding(ListingMode::Flat, hiding(&["x\u{fffd}"]));
    assert_eq!(desk.paths(None).await, ["a.txt"]);
    assert!(desk.is_not_found("file:///x%FF/k").await && desk.is_not_found("file:///x%FF").await);
}
