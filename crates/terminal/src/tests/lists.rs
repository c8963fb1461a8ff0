//! `ls`, `find` and `grep`: what is listed, in which order, and how often a server is asked.

use std::fmt::Write as _;
use std::sync::Arc;

use resource::Role;
use testkit::MemoryProvider;

use super::run;
use super::servers::{Desk, Stranger};

/// A folder with many entries; the last one has another name.
fn crowd(count: usize) -> Arc<Desk> {
    let mut uris: Vec<String> =
        (0..count).map(|number| format!("mem:///big/{number:05}")).collect();
    uris.push("mem:///big/zebra".to_owned());
    let children: Vec<&str> = uris.iter().map(String::as_str).collect();
    let memory = MemoryProvider::new().collection("mem:///big", &children);
    Desk::new(uris.iter().fold(memory, |memory, uri| memory.text(uri, "x")))
}

#[tokio::test]
async fn a_filter_finds_what_is_behind_the_limit() {
    let desk = crowd(300);
    let seen = run(&desk, &["ls", "mem:///big", "--name", "zebra", "--limit", "100"]).await;
    assert_eq!(seen.lines(), ["mem:///big/zebra"]);
    assert_eq!((seen.status(), seen.told.len()), (0, 0));
    let seen = run(&desk, &["ls", "--all", "--name", "zebra", "--limit", "1"]).await;
    assert_eq!(seen.lines(), ["mem:///big/zebra"]);
    let seen = run(&desk, &["ls", "mem:///big", "--name", "lion"]).await;
    assert_eq!((seen.lines().len(), seen.status()), (0, 1));
    let seen = run(&desk, &["ls", "mem:///big", "--limit", "2"]).await;
    assert_eq!(seen.lines(), ["mem:///big/00000", "mem:///big/00001"]);
    assert_eq!(seen.told, ["there is more than 2; raise --limit"]);
    let seen = run(&desk, &["ls", "mem:///big", "--limit", "301"]).await;
    assert_eq!((seen.lines().len(), seen.told.len()), (301, 0));
}

/// Files of 1, 2 and 3 bytes in two folders, and a few annotations.
fn library() -> Arc<Desk> {
    let memory = MemoryProvider::new()
        .collection("mem:///lib", &["mem:///lib/one", "mem:///lib/in", "mem:///lib/three"])
        .text("mem:///lib/one", "1")
        .with_description(|resource| resource.annotations.audience = vec![Role::User])
        .collection("mem:///lib/in", &["mem:///lib/in/b", "mem:///lib/in/a"])
        .text("mem:///lib/in/b", "12")
        .with_description(|resource| {
            resource.annotations.audience = vec![Role::Assistant];
            resource.annotations.priority = Some(0.9);
        })
        .text("mem:///lib/in/a", "1")
        .text("mem:///lib/three", "123");
    Desk::new(memory)
}

#[tokio::test]
async fn a_sorted_list_shows_the_first_of_all() {
    let desk = library();
    let seen = run(&desk, &["ls", "--all", "--sort", "size", "--limit", "2"]).await;
    assert_eq!(seen.lines(), ["mem:///lib/three", "mem:///lib/in/b"]);
    assert_eq!(seen.told, ["there is more than 2; raise --limit"]);
    let seen = run(&desk, &["ls", "mem:///lib", "--sort", "size", "--limit", "1"]).await;
    assert_eq!(seen.lines(), ["mem:///lib/three"]);
    let seen = run(&desk, &["ls", "--all", "--sort", "priority", "--limit", "1"]).await;
    assert_eq!(seen.lines(), ["mem:///lib/in/b"]);
}

#[tokio::test]
async fn the_long_list_shows_the_audience_and_filters_by_it() {
    let desk = library();
    let seen = run(&desk, &["ls", "-l", "--all", "--audience", "user"]).await;
    assert!(!seen.printed.contains("lib/in/b"), "{}", seen.printed);
    assert!(seen.lines()[0].contains(" user "), "{}", seen.printed);
    let seen = run(&desk, &["ls", "-l", "--all", "--min-priority", "0.5"]).await;
    assert_eq!(seen.lines(), ["text/plain  2  -  0.9  assistant  mem:///lib/in/b"]);
}

#[tokio::test]
async fn a_tree_has_columns_and_is_sorted_within_its_collections() {
    let desk = library();
    let seen = run(&desk, &["ls", "--tree", "-l", "--sort", "name", "mem:///lib"]).await;
    let wanted = "\
        collection  -  -    -  -          └── mem:///lib/\n\
        collection  -  -    -  -              ├── in/\n\
        text/plain  1  -    -  -              │   ├── a\n\
        text/plain  2  -  0.9  assistant      │   └── b\n\
        text/plain  1  -    -  user           ├── one\n\
        text/plain  3  -    -  -              └── three\n";
    assert_eq!(bare(&seen.printed), wanted);
    let seen = run(&desk, &["ls", "--tree", "--sort", "size", "mem:///lib"]).await;
    let wanted = "\
        └── mem:///lib/\n    ├── three  3\n    ├── one  1\n    └── in/\n\
        \u{20}       ├── b  2\n        └── a  1\n";
    assert_eq!(bare(&seen.printed), wanted);
    let seen = run(&desk, &["ls", "--tree", "--name", "b", "mem:///lib"]).await;
    let wanted = "└── mem:///lib/\n    └── in/\n        └── b  2\n";
    assert_eq!(bare(&seen.printed), wanted);
    let seen = run(&desk, &["ls", "--tree", "--name", "none", "mem:///lib"]).await;
    assert_eq!((seen.printed.as_str(), seen.status()), ("", 1));
    let seen = run(&desk, &["ls", "--tree", "--limit", "2", "mem:///lib"]).await;
    assert_eq!(bare(&seen.printed), "└── mem:///lib/\n    ├── one  1\n    └── in/\n");
    assert_eq!(seen.told, ["there is more than 2; raise --limit"]);
}

/// The names of a memory provider are whole URIs; here only their ends count.
fn bare(printed: &str) -> String {
    let mut bare = String::new();
    for line in printed.lines() {
        let line = match line.contains("mem:///lib/in/") {
            true => line.replace("mem:///lib/in/", ""),
            false => line.replace("─ mem:///lib/", "─ "),
        };
        let line = if line.ends_with("─ ") { line + "mem:///lib/" } else { line };
        writeln!(bare, "{line}").unwrap();
    }
    bare
}

#[tokio::test]
async fn a_flat_list_is_read_once_for_all_that_is_below_a_uri() {
    let uris = ["a://h/x/1", "a://h/x/y/2", "a://h/x/y/z/3", "a://h/w", "a://h/x/v/4"];
    let stranger = Stranger::listing(&uris);
    for words in [
        &["ls", "--all", "a://h/x"][..],
        &["find", "*", "a://h/x"],
        &["grep", "h", "a://h/x"],
        &["ls", "--tree", "a://h/x"],
    ] {
        let seen = run(&stranger, words).await;
        assert_eq!(seen.status(), 0, "{words:?}: {:?}", seen.ended);
        assert!(
            seen.printed.contains('3') && !seen.printed.contains("a://h/w"),
            "{}",
            seen.printed
        );
        assert_eq!(stranger.take_count("resources/list"), 3, "{words:?}");
    }
    let seen = run(&stranger, &["ls", "--all", "a://h/x"]).await;
    assert_eq!(seen.lines(), ["a://h/x/1", "a://h/x/y/2", "a://h/x/y/z/3", "a://h/x/v/4"]);
    let seen = run(&stranger, &["ls", "a://h/x"]).await;
    assert_eq!(seen.lines(), ["a://h/x/1", "a://h/x/y/", "a://h/x/v/"]);
    assert_eq!(run(&stranger, &["ls", "a://h/none"]).await.status(), 4);
}
