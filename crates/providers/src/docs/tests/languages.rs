//! Tests of languages: where they come from, translations, and pages by language.

use resource::{CacheScope, Context, Principal, Provider as _, ReadRequest};
use testkit::local_context;

use super::{DocsTree, complete, meta, names, read, read_as, stat, uri};
use crate::docs::{Documentation, Options};

const BY_LANGUAGE: &str = "docs:///{lang}/{+path}";

async fn language(served: &Documentation, text: &str) -> Option<String> {
    stat(served, text).await.language.clone()
}

#[tokio::test]
async fn the_language_comes_from_front_matter_then_name_then_folder_then_text() {
    let tree = DocsTree::of(&[
        ("ja/a.en.md", "---\nlang: fr\n---\nこれは日本語の文章です。\n"),
        ("ja/b.en.md", "これは日本語の文章です。\n"),
        ("ja/c.md", "This is the text of the page, and it is English.\n"),
        ("d.md", "これは日本語の文章です。\n"),
        ("e.md", "+++\nlanguage = 'pt_br'\n+++\ntexto\n"),
        ("src/lib/f.md", "x\n"),
        ("logo.ja.png", "x"),
    ]);
    let served = tree.serve(&[]);
    for (path, expected) in [
        ("ja/a.en.md", Some("fr")),
        ("ja/b.en.md", Some("en")),
        ("ja/c.md", Some("ja")),
        ("d.md", Some("ja")),
        ("e.md", Some("pt-BR")),
        ("src/lib/f.md", None),
        ("logo.ja.png", Some("ja")),
        ("ja", Some("ja")),
        ("src", None),
    ] {
        let found = language(&served, &format!("file:///{path}")).await;
        assert_eq!(found.as_deref(), expected, "{path}");
    }
}

#[tokio::test]
async fn translations_are_linked_and_old_ones_are_marked() {
    let tree = DocsTree::of(&[
        ("guide.md", "# Guide\n\nThis is the guide to the program, and how to use it.\n"),
        ("guide.ja.md", "# ガイド\n\n使い方です。\n"),
        ("fr/guide.md", "# Guide\n"),
    ]);
    tree.age("guide.ja.md", 86_400);
    let served = tree.serve(&[]);
    let page = stat(&served, "file:///guide.md").await;
    let expected = concat!(
        r#"[{"language":"ja","uri":"file:///manual/guide.ja.md","isOlder":true},"#,
        r#"{"language":"fr","uri":"file:///manual/fr/guide.md","isOlder":false}]"#
    );
    assert_eq!(meta(&page, "translations"), Some(expected));
    assert!(page.notes.is_empty(), "{:?}", page.notes);
    let old = stat(&served, "file:///guide.ja.md").await;
    assert_eq!(
        old.notes,
        ["this translation is older than its original (en), file:///manual/guide.md"]
    );
    assert!(
        meta(&old, "translations")
            .unwrap()
            .contains(r#""uri":"file:///manual/guide.md","isOlder":false"#)
    );
    tree.age("guide.md", 200_000);
    assert!(stat(&served, "file:///guide.ja.md").await.notes.is_empty(), "it is the newer one now");
}

#[tokio::test]
async fn translations_of_a_docusaurus_site_are_linked_and_found_by_language() {
    let tree = DocsTree::of(&[
        ("docs/guide.md", "# Guide\n\nThis is the guide to the program, and how to use it.\n"),
        (
            "i18n/ja/docusaurus-plugin-content-docs/current/guide.md",
            "# ガイド\n\n使い方の説明です。\n",
        ),
        ("i18n/ja/code.json", "{}"),
    ]);
    let served = tree.serve(&[]);
    let page = stat(&served, "file:///docs/guide.md").await;
    let path = "i18n/ja/docusaurus-plugin-content-docs/current/guide.md";
    let expected =
        format!(r#"[{{"language":"ja","uri":"file:///manual/{path}","isOlder":false}}]"#);
    assert_eq!(meta(&page, "translations"), Some(expected.as_str()));
    let translation = stat(&served, &format!("file:///{path}")).await;
    let linked = meta(&translation, "translations").unwrap();
    assert!(linked.contains(r#""uri":"file:///manual/docs/guide.md""#), "{linked}");
    assert!(read(&served, "docs:///ja/docs/guide.md").await.starts_with("# ガイド"));
    assert!(read(&served, "docs:///en/docs/guide.md").await.starts_with("# Guide"));
    let japanese = Context::new(Principal::local().with_locale("ja"));
    let (_, text) = read_as(&japanese, &served, "docs:///docs/guide.md").await.unwrap();
    assert!(text.starts_with("# ガイド"), "{text}");
}

#[tokio::test]
async fn two_translations_of_one_language_are_a_fault_of_the_later_one() {
    let tree = DocsTree::of(&[
        ("guide.ja.md", "# あ\n"),
        ("ja/guide.md", "# い\n"),
        ("en/guide.md", "# A\n"),
    ]);
    let served = tree.serve(&["ja", "en"]);
    let later = stat(&served, "file:///ja/guide.md").await;
    assert!(later.notes[0].contains("guide.ja.md is this page in `ja` too"), "{:?}", later.notes);
    assert!(stat(&served, "file:///guide.ja.md").await.notes.is_empty());
    let links = stat(&served, "file:///en/guide.md").await;
    assert_eq!(meta(&links, "translations").unwrap().matches("\"ja\"").count(), 1);
    assert_eq!(read(&served, "docs:///ja/guide.md").await, "# あ\n");
    let health = served.facets().health.unwrap().health(&local_context());
    assert!(health.message.unwrap().contains("ja/guide.md"));
}

#[tokio::test]
async fn a_page_by_language_falls_back_in_the_order_of_the_settings_and_says_so() {
    let tree = DocsTree::of(&[
        ("ja/guide.md", "# ガイド\n"),
        ("en/guide.md", "# Guide\n"),
        ("en/only.md", "# Only\n"),
    ]);
    let served = tree.serve(&["ja", "en"]);
    let local = local_context();
    assert_eq!(read(&served, "docs:///en/guide.md").await, "# Guide\n");
    for (asked, text, note) in [
        (
            "docs:///ja/only.md",
            "# Only\n",
            Some("no version of this page in `ja`; this one is in `en`"),
        ),
        (
            "docs:///fr/guide.md",
            "# ガイド\n",
            Some("no version of this page in `fr`; this one is in `ja`"),
        ),
        ("docs:///ja-JP/guide.md", "# ガイド\n", None),
        ("docs:///guide.md", "# ガイド\n", None),
    ] {
        let (resource, body) = read_as(&local, &served, asked).await.unwrap();
        assert_eq!((body.as_str(), resource.uri.as_str()), (text, asked));
        match note {
            Some(note) => assert!(resource.notes[0].contains(note), "{:?}", resource.notes),
            None => assert!(resource.notes.is_empty(), "{:?}", resource.notes),
        }
        assert!(resource.is_view);
    }
    let page = stat(&served, "docs:///en/guide.md").await;
    assert_eq!(meta(&page, "page"), Some(r#"{"uri":"file:///manual/en/guide.md"}"#));
    let english = Context::new(Principal::local().with_locale("en-GB"));
    assert_eq!(read_as(&english, &served, "docs:///guide.md").await.unwrap().1, "# Guide\n");
    let request = ReadRequest::whole(100);
    let reading = served.read(&english, &uri("docs:///guide.md"), &request).await.unwrap();
    assert_eq!(reading.freshness.scope, CacheScope::Private);
}

#[tokio::test]
async fn languages_are_completed_and_then_pages() {
    let tree = DocsTree::of(&[
        ("ja/guide.md", "あ"),
        ("ja/sub/x.md", "あ"),
        ("en/guide.md", "a"),
        ("top.fr.md", "a"),
        ("top.md", "a"),
        ("logo.png", "a"),
    ]);
    let served = tree.serve(&["ja"]);
    assert_eq!(complete(&served, (BY_LANGUAGE, "lang"), "", None).await, ["ja", "en", "fr"]);
    assert_eq!(complete(&served, (BY_LANGUAGE, "lang"), "e", None).await, ["en"]);
    assert_eq!(
        complete(&served, (BY_LANGUAGE, "path"), "", Some("ja")).await,
        ["guide.md", "sub/", "top.md"]
    );
    assert_eq!(complete(&served, (BY_LANGUAGE, "path"), "su", Some("ja")).await, ["sub/"]);
    assert_eq!(complete(&served, (BY_LANGUAGE, "path"), "sub/", Some("ja")).await, ["sub/x.md"]);
    assert_eq!(complete(&served, ("docs:///{+path}", "path"), "gu", None).await, ["guide.md"]);
    assert_eq!(complete(&served, ("file:///{+path}", "path"), "ja/g", None).await, ["ja/guide.md"]);
}

#[tokio::test]
async fn what_a_principal_may_not_see_is_neither_linked_nor_found_by_language() {
    let tree = DocsTree::of(&[("ja/guide.md", "# ガイド\n"), ("en/guide.md", "# Guide\n")]);
    let visibility: crate::VisibilityRule = std::sync::Arc::new(|who, uri| {
        who.scopes().contains(&"all".to_owned()) || !uri.as_str().contains("/ja")
    });
    let options = Options { visibility: Some(visibility), ..tree.options(&["ja", "en"]) };
    let served = Documentation::new(options).unwrap();
    assert_eq!(meta(&*stat(&served, "file:///en/guide.md").await, "translations"), None);
    assert_eq!(read(&served, "docs:///ja/guide.md").await, "# Guide\n");
    assert_eq!(
        complete(&served, (BY_LANGUAGE, "path"), "", Some("ja")).await,
        Vec::<String>::new()
    );
    let all = Context::new(Principal::local().with_scopes(vec!["all".to_owned()]));
    assert_eq!(read_as(&all, &served, "docs:///ja/guide.md").await.unwrap().1, "# ガイド\n");
    assert_eq!(names(&served, "file:///en").await, ["guide.md"]);
}
