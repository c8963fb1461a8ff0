//! Tests of known layouts: the order of pages, and the pages that are made for models.

use resource::{Context, PageRequest, Principal, Provider as _, ReadRequest, Window};
use testkit::{Expectations, contract, local_context};

use super::{DocsTree, names, read, read_as, stat, uri};
use crate::VisibilityRule;
use crate::docs::{Documentation, Options};

async fn health_message(served: &Documentation) -> String {
    served.facets().health.unwrap().health(&local_context()).message.unwrap_or_default()
}

#[tokio::test]
async fn mdbook_lists_its_chapters_in_the_order_of_the_summary() {
    let tree = DocsTree::of(&[
        ("book.toml", "[book]\n"),
        (
            "src/SUMMARY.md",
            "# 目次\n\n[はじめに](intro.md)\n\n- [使い方](./z.md)\n  - [詳細](deep/a.md#x)\n- [外](https://example.com)\n- [上](../../x.md)\n- [無い](none.md)\n",
        ),
        ("src/a.md", "# A\n"),
        ("src/deep/a.md", "# 詳細\n"),
        ("src/intro.md", "# はじめに\n"),
        ("src/z.md", "# Z\n"),
    ]);
    let served = tree.serve(&[]);
    let order = [
        "intro.md",
        "z.md",
        "a.md",
        "book.toml",
        "SUMMARY.md",
        "a.md",
        "llms.txt",
        "llms-full.txt",
    ];
    assert_eq!(names(&served, "").await, order, "the whole list");
    assert_eq!(
        names(&served, "file:///src").await,
        ["intro.md", "z.md", "SUMMARY.md", "a.md", "deep"]
    );
    let known =
        Expectations { missing: vec![uri("file:///src/none.md")], ..Expectations::default() };
    contract(&served, &known).await;
}

#[tokio::test]
async fn a_summary_that_names_itself_is_an_error_and_the_rest_is_ordered() {
    let tree = DocsTree::of(&[
        ("SUMMARY.md", "- [a](b.md)\n- [circle](SUMMARY.md)\n- [again](b.md)\n- [c](a.md)\n"),
        ("a.md", "# A\n"),
        ("b.md", "# B\n"),
    ]);
    let served = tree.serve(&[]);
    assert_eq!(names(&served, "").await[..3], ["b.md", "a.md", "SUMMARY.md"]);
    assert!(
        health_message(&served).await.contains("SUMMARY.md: this table of contents names itself")
    );
    tree.write("SUMMARY.md", "- [c](a.md)\n- [a](b.md)\n");
    assert_eq!(names(&served, "").await[..2], ["a.md", "b.md"], "a new order is taken");
    assert_eq!(health_message(&served).await, "");
}

#[tokio::test]
async fn mkdocs_docusaurus_zenn_and_sphinx_say_their_order() {
    let mkdocs = DocsTree::of(&[
        (
            "mkdocs.yml",
            "nav:\n  - Home: index.md\n  - Guide:\n    - z.md\n    - First: a.md\nmarkdown_extensions:\n  - x: !!python/name:a.b\n",
        ),
        ("docs/a.md", "a"),
        ("docs/index.md", "a"),
        ("docs/z.md", "a"),
    ]);
    assert_eq!(names(&mkdocs.serve(&[]), "file:///docs").await, ["index.md", "z.md", "a.md"]);
    let docusaurus = DocsTree::of(&[
        (
            "sidebars.json",
            r#"{"docs": ["z", {"type": "category", "label": "X", "items": ["sub/b", {"type": "doc", "id": "a"}]}, {"Short": ["m"]}]}"#,
        ),
        ("docs/a.md", "a"),
        ("docs/m.mdx", "a"),
        ("docs/sub/b.md", "a"),
        ("docs/z.md", "a"),
    ]);
    assert_eq!(names(&docusaurus.serve(&[]), "").await[..4], ["z.md", "b.md", "a.md", "m.mdx"]);
    let zenn = DocsTree::of(&[
        ("articles/x.md", "---\ntitle: 記事\nemoji: 🐈\npublished: false\n---\n本文\n"),
        ("books/book/config.yaml", "title: 本\nchapters:\n  - intro\n  - body\n"),
        ("books/book/body.md", "---\ntitle: 本文\n---\n"),
        ("books/book/intro.md", "---\ntitle: はじめに\n---\n"),
    ]);
    let served = zenn.serve(&[]);
    assert_eq!(names(&served, "file:///books/book").await, ["intro.md", "body.md", "config.yaml"]);
    let article = stat(&served, "file:///articles/x.md").await;
    assert_eq!((article.title.as_deref(), article.annotations.priority), (Some("記事"), Some(0.2)));
    let sphinx = DocsTree::of(&[
        (
            "source/index.rst",
            "目次\n====\n\n.. toctree::\n   :maxdepth: 2\n\n   z\n   Guide <guide/index>\n\nText.\n",
        ),
        ("source/z.rst", "Z\n=\n"),
        ("source/guide/index.rst", "G\n=\n\n.. toctree::\n\n   a\n   /source/index\n"),
        ("source/guide/a.rst", "A\n=\n"),
    ]);
    let served = sphinx.serve(&[]);
    assert_eq!(names(&served, "").await[..4], ["index.rst", "z.rst", "index.rst", "a.rst"]);
    assert!(health_message(&served).await.contains("comes back to source/index.rst"));
}

#[tokio::test]
async fn a_broken_order_is_an_error_and_the_pages_are_served() {
    let tree = DocsTree::of(&[("mkdocs.yml", "nav: [\n"), ("docs/a.md", "# A\n")]);
    let served = tree.serve(&[]);
    assert_eq!(names(&served, "file:///docs").await, ["a.md"]);
    assert!(
        health_message(&served)
            .await
            .contains("mkdocs.yml: the order of its pages cannot be read: line")
    );
}

#[tokio::test]
async fn ordered_lists_join_from_pages_of_any_size() {
    let tree = DocsTree::of(&[("SUMMARY.md", "- [a](c.md)\n- [b](sub/d.md)\n- [gone](none.md)\n")]);
    for name in ["a.md", "b.md", "c.md", "sub/d.md", "sub/e.md"] {
        tree.write(name, "# T\n\nThis is the text of the page, and it is for you.\n");
    }
    let served = tree.serve(&[]);
    let whole = names(&served, "").await;
    for limit in 1..10 {
        let (mut joined, mut paging) = (Vec::new(), PageRequest::first(limit));
        loop {
            let page = served.list(&local_context(), None, &paging).await.unwrap();
            assert!(page.items.len() <= limit);
            joined.extend(page.items.iter().map(|item| item.name.clone()));
            paging.cursor = page.next;
            if paging.cursor.is_none() {
                break;
            }
        }
        assert_eq!(joined, whole, "pages of {limit}");
    }
}

#[tokio::test]
async fn llms_txt_is_made_of_the_tree_in_one_language_unless_it_is_there() {
    let tree = DocsTree::of(&[
        ("ja/README.md", "# 取扱説明書\n\nこの文書は説明です。\n"),
        ("ja/guide/use.md", "# 使い方\n\nこう使います。\n"),
        ("en/README.md", "# Manual\n\nThis is the manual of the program, and how you use it.\n"),
        ("en/only.md", "# Only here\n\nThis is the page that is not translated to the other.\n"),
        ("ja/CHANGELOG.md", "# 変更履歴\n"),
        ("ja/credentials.md", "# 秘密\n"),
    ]);
    let served = tree.serve(&["ja", "en"]);
    let text = read(&served, "file:///llms.txt").await;
    assert!(text.starts_with("# 取扱説明書\n\n> この文書は説明です。\n"), "{text}");
    for row in [
        "- [取扱説明書](file:///manual/ja/README.md): この文書は説明です。\n",
        "\n## guide\n\n- [使い方](file:///manual/ja/guide/use.md): こう使います。\n",
        "- [Only here](file:///manual/en/only.md)",
        "\n## Optional\n\n- [変更履歴]",
    ] {
        assert!(text.contains(row), "{row} in {text}");
    }
    assert!(!text.contains("en/README.md"), "one language of each page");
    let full = read(&served, "file:///llms-full.txt").await;
    assert!(
        full.contains("Source: file:///manual/ja/guide/use.md\n\n# 使い方\n\nこう使います。\n"),
        "{full}"
    );
    let english = Context::new(Principal::local().with_locale("en"));
    let (_, text) = read_as(&english, &served, "file:///llms.txt").await.unwrap();
    assert!(text.starts_with("# Manual\n"), "{text}");
    assert!(stat(&served, "file:///llms.txt").await.is_view);
    tree.write("llms.txt", "# Ours\n");
    assert_eq!(read(&served, "file:///llms.txt").await, "# Ours\n");
    assert!(!stat(&served, "file:///llms.txt").await.is_view);
}

#[tokio::test]
async fn llms_full_is_bounded_and_its_windows_are_of_one_version() {
    let tree = DocsTree::of(&[]);
    for number in 0..8 {
        tree.write(&format!("{number}.md"), format!("# P{number}\n\n{}", "word ".repeat(150_000)));
    }
    let served = tree.serve(&[]);
    let (resource, full) =
        read_as(&local_context(), &served, "file:///llms-full.txt").await.unwrap();
    assert!(full.len() <= (4 << 20) + 4096 && full.contains("Left out") && full.contains("7.md"));
    let window = Window::Part { offset: 0, length: 10, etag: resource.etag.clone() };
    tree.write("0.md", "# New\n");
    let reading = served
        .read(&local_context(), &uri("file:///llms-full.txt"), &ReadRequest::from(window))
        .await;
    assert!(reading.is_ok(), "the version that was begun is read on");
}

#[tokio::test]
async fn what_a_principal_may_not_see_is_in_no_page_that_is_made() {
    let tree =
        DocsTree::of(&[("open.md", "# Open\n"), ("inner/secret.md", "# Secret\n\nhidden words\n")]);
    let visibility: VisibilityRule = std::sync::Arc::new(|_, uri| !uri.as_str().contains("/inner"));
    let options = Options { visibility: Some(visibility), ..tree.options(&[]) };
    let served = Documentation::new(options).unwrap();
    for name in ["llms.txt", "llms-full.txt"] {
        let text = read(&served, &format!("file:///{name}")).await;
        assert!(text.contains("Open") && !text.to_lowercase().contains("secret"), "{text}");
        assert!(!text.contains("hidden words"));
    }
}

#[tokio::test]
async fn llms_txt_of_many_pages_names_the_first_and_says_so() {
    let tree = DocsTree::of(&[]);
    for number in 0..2_050 {
        tree.write(&format!("p/{number:04}.md"), "# P\n");
    }
    let text = read(&tree.serve(&[]), "file:///llms.txt").await;
    assert_eq!(text.matches("- [P]").count(), 2_000);
    assert!(text.starts_with("# manual\n"), "without a README, the mount's name is the title");
    assert!(text.contains("first 2000 pages; list file:///manual/ for the others"));
}
