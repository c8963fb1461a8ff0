//! What queries find, and in which order.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use resource::{Filter, PathFilter, Resource, Role};
use testkit::MemoryProvider;

use crate::Indexed;

fn library() -> MemoryProvider {
    let long =
        (0..60).map(|at| format!("Line {at} of filler about gardens.\n")).collect::<String>();
    MemoryProvider::new()
        .text("a:/chmod", "chmod changes the permissions of files and directories.")
        .text("a:/ls", "ls lists the members of a directory, with sizes and permissions.")
        .text("a:/shm", "共有メモリの概要。プロセスは共有メモリを使って通信する。")
        .text("a:/acl", "ファイルのアクセス権を変更するには chmod を使う。")
        .text("a:/server", "サーバーの設定とネットワーク。")
        .text("a:/code.rs", "fn readResource(uri: &Uri) {}\nstruct HTTPServer2;\n")
        .of_type("text/x-rust")
        .text("a:/guide.md", &format!("# Guide\n\n{long}\n## Rotate the key\n\nCall rotate_key.\n"))
        .of_type("text/markdown")
}

#[tokio::test]
async fn words_find_their_other_forms_and_identifiers_their_parts() {
    let index = Indexed::new(library(), None).await;
    for (query, best) in [
        ("changing permission", "a:/chmod"),
        ("PERMISSIONS CHANGES", "a:/chmod"),
        ("read resource", "a:/code.rs"),
        ("readResource", "a:/code.rs"),
        ("http server", "a:/code.rs"),
        ("共有メモリ", "a:/shm"),
        ("アクセス権の変更", "a:/acl"),
        ("ファイルのアクセス権を変更する", "a:/acl"),
        ("サーバ", "a:/server"),
        ("ｻｰﾊﾞｰ", "a:/server"),
        ("さーばー", "a:/server"),
    ] {
        let uris = index.uris(query).await;
        assert_eq!(uris.first().map(String::as_str), Some(best), "{query}: {uris:?}");
    }
}

#[tokio::test]
async fn a_hit_says_where_and_gives_the_window_that_a_read_takes() {
    let index = Indexed::new(library(), None).await;
    let hits = index.hits("rotate key").await;
    let hit = hits.first().unwrap();
    assert_eq!(hit.resource.uri.as_str(), "a:/guide.md");
    assert!(hit.place.headings.contains(&"Rotate the key".to_owned()), "{:?}", hit.place);
    assert!(hit.place.line > 50 && !hit.is_whole(), "{:?}", hit.place);
    assert!(hit.snippet.contains("**"), "{}", hit.snippet);
    let parts = hit.reasons;
    let sum = (parts.words + parts.phrases + parts.further) * parts.priority * parts.recency;
    assert!((sum - hit.score).abs() < 0.01, "{}", hit.explanation());
}

#[tokio::test]
async fn the_query_language_narrows() {
    let provider =
        library().text("a:/old", "permissions in an archive").with_description(|resource| {
            resource.annotations.priority = Some(0.1);
            resource.annotations.audience = vec![Role::User];
            let march = Duration::from_secs(1_772_323_200);
            resource.annotations.modified = Some(SystemTime::UNIX_EPOCH + march);
        });
    let index = Indexed::new(provider, None).await;
    for (query, wanted) in [
        // What has a synonym of an excluded word stays.
        ("permissions -lists -archive -acl", vec!["a:/chmod"]),
        ("\"permissions of files\"", vec!["a:/chmod"]),
        ("\"files of permissions\"", vec![]),
        ("permissions priority:<0.5", vec!["a:/old"]),
        ("permissions audience:assistant -chmod", vec!["a:/ls"]),
        ("chmo*", vec!["a:/acl", "a:/chmod"]),
        ("gardens OR 通信", vec!["a:/guide.md", "a:/shm"]),
        ("name:guide", vec!["a:/guide.md"]),
        ("mime:text/x-rust", vec!["a:/code.rs"]),
        ("lang:ja 共有", vec!["a:/shm"]),
        ("permissions mount:other", vec![]),
        ("permissions path:CHM", vec!["a:/chmod"]),
        ("permissions modified:>2026-01-01", vec!["a:/old"]),
        ("permissions modified:<2026-01-01", vec![]),
    ] {
        let mut uris = index.uris(query).await;
        uris.sort();
        assert_eq!(uris, wanted, "{query}");
    }
}

#[tokio::test]
async fn a_misspelt_word_is_answered_with_a_suggestion() {
    let index = Indexed::new(library(), None).await;
    let ctx = testkit::local_context();
    let results = index.search_as(&ctx, "permisions").await;
    assert!(results.hits.is_empty());
    assert_eq!(results.suggestion.as_deref(), Some("permissions"));
    assert_eq!(index.search_as(&ctx, "permissions").await.suggestion, None);
    assert_eq!(index.search_as(&ctx, "xyzzyplugh").await.suggestion, None);
    // Other words of the query find something.
    let results = index.search_as(&ctx, "directory permisions").await;
    assert!(!results.hits.is_empty());
    assert_eq!(results.suggestion.as_deref(), Some("directory permissions"));
}

#[tokio::test]
async fn pages_of_hits_join_without_gaps_or_repeats() {
    let mut provider = MemoryProvider::new();
    for at in 0..37 {
        provider = provider.text(&format!("a:/{at:02}"), &format!("common word number{at}"));
    }
    let index = Indexed::new(provider, None).await;
    let whole = page(&index, 0, 50).await.0;
    let (mut joined, mut skip) = (Vec::new(), Some(0));
    while let Some(at) = skip {
        let (uris, next) = page(&index, at, 10).await;
        joined.extend(uris);
        skip = next;
    }
    assert_eq!((joined.len(), joined), (37, whole));
}

async fn page(index: &Indexed, skip: usize, limit: usize) -> (Vec<String>, Option<usize>) {
    let query = search::SearchQuery {
        text: "common word".to_owned(),
        filter: None,
        mode: search::SearchMode::Words,
        skip,
        limit,
    };
    let results = index.service.search(&testkit::local_context(), &query).await.unwrap();
    (results.hits.iter().map(|hit| hit.resource.uri.to_string()).collect(), results.next)
}

#[tokio::test]
async fn a_copy_of_a_hit_is_left_out() {
    let provider = MemoryProvider::new()
        .text("a:/1", "one text about cursors")
        .text("a:/2", "one text about cursors")
        .text("a:/3", "another text about cursors");
    let index = Indexed::new(provider, None).await;
    assert_eq!(index.uris("about cursors").await, ["a:/1", "a:/3"]);
}

#[tokio::test]
async fn priority_decides_between_equals() {
    let text = |number: u8| format!("the same words about cursors {number}");
    let provider = MemoryProvider::new()
        .text("a:/1-plain", &text(1))
        .text("a:/2-high", &text(2))
        .with_description(|resource| resource.annotations.priority = Some(0.9))
        .text("a:/3-low", &text(3))
        .with_description(|resource| resource.annotations.priority = Some(0.1));
    let index = Indexed::new(provider, None).await;
    assert_eq!(index.uris("words about cursors").await, ["a:/2-high", "a:/1-plain", "a:/3-low"]);
}

#[tokio::test]
async fn what_changed_lately_comes_before_its_equals() {
    let text = |number: u8| format!("the same words about cursors {number}");
    let aged = |days: u64| {
        move |resource: &mut Resource| {
            let age = Duration::from_secs(days * 86_400);
            resource.annotations.modified = SystemTime::now().checked_sub(age);
        }
    };
    let provider = MemoryProvider::new()
        .text("a:/1-old", &text(1))
        .with_description(aged(3_000))
        .text("a:/2-new", &text(2))
        .with_description(aged(1));
    let index = Indexed::new(provider, None).await;
    assert_eq!(index.uris("words about cursors").await, ["a:/2-new", "a:/1-old"]);
}

/// The few that a filter admits are found behind many better ones that it does not.
#[tokio::test]
async fn a_search_looks_further_until_a_filter_is_served() {
    let mut provider = MemoryProvider::new();
    for at in 0..1_500 {
        provider = provider.text(&format!("a:/{at:04}.txt"), &format!("cursor cursor {at}"));
    }
    for at in 0..5 {
        let long = format!("cursor {at} {}", "and much else ".repeat(30));
        provider = provider.text(&format!("a:/deep/{at}.rare"), &long);
    }
    let index = Indexed::new(provider, None).await;
    let path = Some(PathFilter::new("", |uri: &str| uri.ends_with(".rare")));
    let query = search::SearchQuery {
        text: "cursor".to_owned(),
        filter: Some(Arc::new(Filter { path, ..Filter::default() })),
        mode: search::SearchMode::Words,
        skip: 0,
        limit: 10,
    };
    let results = index.service.search(&testkit::local_context(), &query).await.unwrap();
    assert_eq!(results.hits.len(), 5);
    assert_eq!(results.next, None);
}

#[tokio::test]
async fn a_resource_that_is_about_what_is_asked_is_before_one_that_mentions_it() {
    let about =
        "# Rotating the signing key\n\nHow a key is rotated.\n\nThe clerk does it by hand.\n";
    let mentions = "# Harbour\n\nBoats and ropes.\n\nRotating the signing key, the signing key and the \
                    signing key again: rotating it is told elsewhere.\n";
    let provider = MemoryProvider::new()
        .text("a:/1-harbour.md", mentions)
        .of_type("text/markdown")
        .text("a:/2-keys.md", about)
        .of_type("text/markdown");
    let index = Indexed::new(provider, None).await;
    assert_eq!(index.uris("rotating the signing key").await, ["a:/2-keys.md", "a:/1-harbour.md"]);
}
