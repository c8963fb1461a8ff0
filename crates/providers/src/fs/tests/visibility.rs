//! Tests of ignore rules and dot files, including changes to the rules.

use super::{ListingMode, Tree};

async fn seen(tree: &Tree) -> Vec<String> {
    tree.serve(ListingMode::Flat).paths(None).await
}

#[tokio::test]
async fn git_is_never_seen_and_dots_only_if_asked_for() {
    let tree = Tree::of([".git/config", "sub/.git", "sub/.env", ".github/ci.yml", "a.txt"]);
    tree.link("pub", ".git");
    tree.link("config", ".git/config");
    tree.link("env", "sub/.env");
    let desk = tree.serve(ListingMode::Flat);
    assert_eq!(desk.paths(None).await, ["a.txt"]);
    for path in [".git", ".git/config", "sub/.git", "sub/.env", "pub", "pub/config", "env"] {
        assert!(desk.is_not_found(&format!("file:///{path}")).await, "{path}");
    }
    let desk = tree.serve_with(ListingMode::Flat, true);
    assert_eq!(desk.paths(None).await, [".github/ci.yml", "a.txt", "env", "sub/.env"]);
    for path in [".git", ".git/config", "sub/.git", "pub", "pub/config", "config"] {
        assert!(desk.is_not_found(&format!("file:///{path}")).await, "{path}");
    }
}

#[tokio::test]
async fn ignore_files_hide_as_git_would() {
    let tree = Tree::of([
        "a.log",
        "keep.log",
        "build/out.txt",
        "src/build/x.txt",
        "src/a.log",
        "src/deep/b.tmp",
        "docs/only/here.txt",
        "other/docs/only/here.txt",
        "name with space.txt",
    ]);
    tree.write(
        ".gitignore",
        "\u{feff}*.log\r\n!keep.log\n/build/\n# comment\ndocs/only\nname\\ with*\n**/deep/*.tmp\n[\n",
    );
    assert_eq!(seen(&tree).await, ["keep.log", "other/docs/only/here.txt", "src/build/x.txt"]);
    let desk = tree.serve(ListingMode::Tree);
    for path in ["a.log", "src/a.log", "build", "build/out.txt", "docs/only", "docs/only/here.txt"]
    {
        assert!(desk.is_not_found(&format!("file:///{path}")).await, "{path}");
    }
    assert_eq!(desk.paths(Some("file:///src")).await, ["src/build", "src/deep"]);
}

#[tokio::test]
async fn deeper_folders_win_and_our_own_file_wins_within_one() {
    let tree = Tree::of(["a.x", "a.y", "a.z", "sub/a.x", "sub/a.y", "sub/a.z", "gone/a.keep"]);
    tree.write(".gitignore", "*.x\n*.y\n*.z\ngone/\n");
    tree.write(".ignore", "!*.y\n*.z\n");
    tree.write(".refdeskignore", "!*.z\n");
    tree.write("sub/.gitignore", "!*.x\n*.z\n");
    tree.write("gone/.gitignore", "!a.keep\n");
    assert_eq!(seen(&tree).await, ["a.y", "a.z", "sub/a.x", "sub/a.y"]);
}

#[tokio::test]
async fn a_link_shows_nothing_that_is_hidden_where_it_lies() {
    let tree = Tree::of(["secret/key.txt", "open/a.txt"]);
    tree.write(".gitignore", "secret/\nshown-not\n");
    tree.link("way", "secret");
    tree.link("file", "secret/key.txt");
    tree.link("shown-not", "open");
    let desk = tree.serve(ListingMode::Flat);
    assert_eq!(desk.paths(None).await, ["open/a.txt"]);
    for path in ["way", "way/key.txt", "file", "shown-not", "shown-not/a.txt"] {
        assert!(desk.is_not_found(&format!("file:///{path}")).await, "{path}");
    }
}

#[tokio::test]
async fn edited_ignore_files_take_effect_at_once() {
    let tree = Tree::of(["a.txt", "b.txt", "sub/a.txt", "sub/b.txt"]);
    let desk = tree.serve(ListingMode::Flat);
    for round in 0..40 {
        let (hidden, shown) = if round % 2 == 0 { ("a", "b") } else { ("b", "a") };
        // The same length each time, so that only the timestamps differ.
        tree.write(".gitignore", format!("{hidden}.txt\n"));
        let expected = [format!("{shown}.txt"), format!("sub/{shown}.txt")];
        assert_eq!(desk.paths(None).await, expected, "round {round}");
        assert!(desk.is_not_found(&format!("file:///sub/{hidden}.txt")).await, "round {round}");
        assert!(desk.stat(&format!("file:///sub/{shown}.txt")).await.is_ok());
    }
    tree.remove(".gitignore");
    assert_eq!(desk.paths(None).await.len(), 4);
    tree.write("sub/.ignore", "*\n");
    assert_eq!(desk.paths(None).await, ["a.txt", "b.txt"]);
    assert!(desk.is_not_found("file:///sub/a.txt").await);
}

#[tokio::test]
async fn a_link_as_ignore_file_is_followed_inside_and_its_target_watched() {
    let tree = Tree::of(["a.txt", "b.txt"]);
    tree.write("rules/list", "a.txt\n");
    tree.link(".gitignore", "rules/list");
    let desk = tree.serve(ListingMode::Flat);
    assert_eq!(desk.paths(None).await, ["b.txt", "rules/list"]);
    tree.write("rules/list", "b.txt\n");
    assert_eq!(desk.paths(None).await, ["a.txt", "rules/list"]);
}

#[tokio::test]
async fn a_folder_whose_rules_cannot_be_read_is_named_as_absent() {
    let tree = Tree::of(["a.txt", "bad/b.txt", "c.txt"]);
    tree.write("bad/.gitignore", vec![b'#'; 2 * 1024 * 1024]);
    let desk = tree.serve(ListingMode::Flat);
    let page = desk.page(None, None, 10).await.unwrap();
    assert_eq!(page.items.len(), 2);
    assert_eq!(page.absent.len(), 1);
    assert_eq!(page.absent[0].name, "bad");
    let error = desk.stat("file:///bad/b.txt").await.unwrap_err();
    assert_eq!(error.kind, resource::ErrorKind::Unavailable);
}

/// A pattern of a served folder must cost neither the stack nor a thousand times its size.
#[tokio::test]
async fn an_ignore_file_over_a_bound_costs_its_folder_and_nothing_else() {
    for content in [
        "{a,".repeat(30_000),
        "?".repeat(1 << 20),
        "x\n".repeat(10_001),
        format!("{}\n", "*a".repeat(2_000)).repeat(20),
    ] {
        let tree = Tree::of(["a.txt", "bad/b.txt"]);
        tree.write("bad/.gitignore", content);
        let desk = tree.serve(ListingMode::Flat);
        let page = desk.page(None, None, 10).await.unwrap();
        assert_eq!(page.items.len(), 1);
        assert_eq!(page.absent[0].name, "bad");
        let error = desk.stat("file:///bad/b.txt").await.unwrap_err();
        assert_eq!(error.kind, resource::ErrorKind::Unavailable);
        tree.write("bad/.gitignore", "x\n");
        assert!(desk.stat("file:///bad/b.txt").await.is_ok(), "an edit mends it");
    }
}

#[tokio::test]
async fn braces_and_classes_hide_what_they_hide_in_git() {
    let tree = Tree::of(["secret{1}.txt", "{{x}}/a", "a{b", "k1", "kx", "]", "open.txt"]);
    tree.write(".gitignore", "secret{1}.txt\n{{x}}/\na{b\nk[[:alpha:]]\n[a\\]b]\n");
    assert_eq!(seen(&tree).await, ["k1", "open.txt"]);
}
