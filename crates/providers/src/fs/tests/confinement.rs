//! Tests of confinement: nothing outside the root is reachable.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use resource::{Content, Window};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};

use super::{ListingMode, ServedFs, Tree, bytes};
use crate::fs::{Fs, Options};

const CANARY: &str = "the canary sings";

fn tree_beside_a_canary() -> Tree {
    let tree = Tree::of(["a.txt", "sub/b.txt"]);
    fs::create_dir(tree.home.path().join("outside")).unwrap();
    fs::write(tree.home.path().join("outside/canary.txt"), CANARY).unwrap();
    fs::write(tree.home.path().join("canary.txt"), CANARY).unwrap();
    tree
}

#[tokio::test]
async fn disguised_paths_get_nowhere() {
    let tree = tree_beside_a_canary();
    let absolute = tree.home.path().join("canary.txt");
    let absolute = absolute.to_str().unwrap();
    tree.link("out-absolute", tree.home.path().join("outside"));
    tree.link("out-relative", "../outside");
    tree.link("out-file", "../canary.txt");
    tree.link("sub/out-deep", "../../outside");
    tree.link("out-and-in", "../root/sub");
    tree.link("out-by-link", "out-relative");
    tree.link("proc", "/proc/self/cwd");
    let desk = tree.serve_with(ListingMode::Flat, true);
    for disguised in [
        "file:///../canary.txt".to_owned(),
        "file:///sub/../../canary.txt".to_owned(),
        "file:///%2e%2e/canary.txt".to_owned(),
        "file:///%2e%2e%2fcanary.txt".to_owned(),
        "file:///..%2Fcanary.txt".to_owned(),
        "file:///sub/..%2f..%2fcanary.txt".to_owned(),
        "file:///%252e%252e/canary.txt".to_owned(),
        "file:///..%5Ccanary.txt".to_owned(),
        "file:///a.txt%00/../canary.txt".to_owned(),
        format!("file:///{absolute}"),
        format!("file://{absolute}"),
        format!("file://localhost{absolute}"),
        "file://evil/canary.txt".to_owned(),
        "file:///out-absolute/canary.txt".to_owned(),
        "file:///out-relative/canary.txt".to_owned(),
        "file:///out-relative".to_owned(),
        "file:///out-file".to_owned(),
        "file:///sub/out-deep/canary.txt".to_owned(),
        "file:///out-and-in/b.txt".to_owned(),
        "file:///out-by-link/canary.txt".to_owned(),
        "file:///proc/canary.txt".to_owned(),
        format!("file:///{}canary.txt", "sub/../".repeat(10_000)),
    ] {
        assert!(desk.is_not_found(&disguised).await, "{disguised}");
    }
    assert_eq!(desk.paths(None).await, ["a.txt", "sub/b.txt"]);
    let tree_desk = tree.serve_with(ListingMode::Tree, true);
    assert_eq!(tree_desk.paths(None).await, ["a.txt", "sub"]);
    assert_eq!(tree_desk.paths(Some("file:///sub")).await, ["sub/b.txt"]);
}

/// Another thread swaps the folder with a link that leads outside, over and over, while the test
/// reads.
#[tokio::test]
async fn a_folder_swapped_for_a_link_never_leads_outside() {
    let tree = tree_beside_a_canary();
    tree.write("swap/canary.txt", "inside");
    symlink("../outside", tree.at("other")).unwrap();
    let desk = tree.serve(ListingMode::Flat);
    let over = Arc::new(AtomicBool::new(false));
    let swaps = Arc::new(AtomicUsize::new(0));
    let swapper = std::thread::spawn({
        let (over, swaps, root) = (over.clone(), swaps.clone(), tree.root());
        move || {
            while !over.load(Ordering::SeqCst) {
                let (one, other) = (root.join("swap"), root.join("other"));
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                swaps.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    while swaps.load(Ordering::SeqCst) == 0 {
        std::hint::spin_loop();
    }
    let mut inside = 0;
    let mut rounds = 0;
    while rounds < 2_000 || (inside == 0 && rounds < 100_000) {
        rounds += 1;
        if let Ok(part) = desk.whole("file:///swap/canary.txt").await {
            assert_eq!(bytes(part.body).await, "inside");
            inside += 1;
        }
        if let Ok(stat) = desk.stat("file:///swap/canary.txt").await {
            assert_eq!(stat.size, Some(6));
        }
        if let Ok(page) = desk.page(Some("file:///swap"), None, 10).await {
            assert!(page.items.iter().all(|item| item.size == Some(6)));
        }
    }
    over.store(true, Ordering::SeqCst);
    swapper.join().unwrap();
    assert!(inside > 0 && swaps.load(Ordering::SeqCst) > 1);
}

#[tokio::test]
async fn links_that_stay_inside_are_followed() {
    let tree = Tree::of(["real/deep/file.txt", "real/.hidden"]);
    tree.link("link", "real/deep");
    tree.link("twice", "link");
    tree.link("file", "twice/file.txt");
    tree.link("deeper/up", "../real/deep");
    let desk = tree.serve(ListingMode::Flat);
    let expected =
        ["deeper/up/file.txt", "file", "link/file.txt", "real/deep/file.txt", "twice/file.txt"];
    assert_eq!(desk.paths(None).await, expected);
    for path in expected {
        assert_eq!(desk.text(&format!("file:///{path}")).await, "real/deep/file.txt");
    }
    assert_eq!(desk.stat("file:///link").await.unwrap().mime.as_deref(), Some("inode/directory"));
}

#[tokio::test]
async fn links_by_a_path_of_the_machine_are_followed_if_they_stay_inside() {
    let tree = tree_beside_a_canary();
    let root = tree.root();
    fs::create_dir(tree.home.path().join("root-beside")).unwrap();
    fs::write(tree.home.path().join("root-beside/canary.txt"), CANARY).unwrap();
    symlink(&root, tree.home.path().join("alias")).unwrap();
    tree.link("file", root.join("a.txt"));
    tree.link("folder", root.join("./sub//"));
    tree.link("by-link", root.join("folder/../a.txt"));
    tree.link("sub/up", root.join("sub/../a.txt"));
    for (name, target) in [
        ("out", "outside"),
        ("out-file", "canary.txt"),
        ("beside", "root-beside"),
        ("through", "root/../outside"),
        ("again", "root/../root/sub"),
        ("alias", "alias/sub"),
        ("dotted", "../root/sub"),
    ] {
        tree.link(name, tree.home.path().join(target));
    }
    tree.link("top", &root);
    let desk = tree.serve(ListingMode::Flat);
    let expected = ["a.txt", "by-link", "file", "folder/b.txt", "folder/up", "sub/b.txt", "sub/up"];
    assert_eq!(desk.paths(None).await, expected);
    assert_eq!(desk.text("file:///by-link").await, "a.txt");
    assert_eq!(desk.text("file:///folder/b.txt").await, "sub/b.txt");
    for name in ["out", "out-file", "beside", "through", "again", "alias", "dotted", "top"] {
        assert!(desk.is_not_found(&format!("file:///{name}")).await, "{name}");
        assert!(desk.is_not_found(&format!("file:///{name}/canary.txt")).await, "{name}");
    }
    let aliased =
        Options { root: tree.home.path().join("alias"), ..tree.options(ListingMode::Flat) };
    assert_eq!(ServedFs(Fs::open(aliased).unwrap()).paths(None).await, expected);
}

#[tokio::test]
async fn links_that_dangle_or_loop_are_not_there_and_walks_end() {
    let tree = Tree::of(["a/one.txt", "b/two.txt"]);
    tree.link("dangling", "nowhere");
    tree.link("self", "self");
    tree.link("ping", "pong");
    tree.link("pong", "ping");
    tree.link("here", ".");
    tree.link("a/up", "..");
    tree.link("a/me", "../a");
    tree.link("a/to-b", "../b");
    tree.link("b/to-a", "../a");
    let desk = tree.serve(ListingMode::Flat);
    let paths = desk.paths(None).await;
    assert_eq!(paths, ["a/one.txt", "a/to-b/two.txt", "b/to-a/one.txt", "b/two.txt"]);
    for name in ["dangling", "self", "ping", "here", "a/up", "a/me", "a/to-b/to-a", "here/a"] {
        assert!(desk.is_not_found(&format!("file:///{name}")).await, "{name}");
    }
}

#[tokio::test]
async fn what_is_neither_file_nor_folder_is_not_there_and_holds_nobody_up() {
    let tree = Tree::of(["a.txt"]);
    mknodat(CWD, tree.at("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(tree.at("socket")).unwrap();
    tree.link("to-pipe", "pipe");
    let desk = tree.serve(ListingMode::Tree);
    assert_eq!(desk.paths(None).await, ["a.txt"]);
    for name in ["pipe", "socket", "to-pipe"] {
        assert!(desk.is_not_found(&format!("file:///{name}")).await, "{name}");
    }
}

#[tokio::test]
async fn errors_never_name_a_path_of_the_machine() {
    let tree = tree_beside_a_canary();
    let desk = tree.serve(ListingMode::Tree);
    let home = tree.home.path().to_str().unwrap();
    for name in ["missing", "a.txt/b", "sub/none"] {
        let error = desk.stat(&format!("file:///{name}")).await.unwrap_err();
        assert!(!error.message.contains(home) && error.uri.is_some());
        assert_eq!(error.message, "resource not found");
    }
    let folder = desk.content("file:///sub", Window::Whole { limit: 1 }).await.unwrap();
    assert!(matches!(folder, Content::Collection(resource) if resource.name == "sub"));
}
