//! Tests of sections as members of their page.

use std::time::Duration;

use futures_util::StreamExt as _;
use resource::{Change, ErrorKind, Interest, Provider as _, ReadRequest, Window};
use testkit::local_context;

use super::{DocsTree, names, read, stat, try_list, uri};

#[tokio::test]
async fn a_page_lists_its_sections_and_each_is_read_alone() {
    let text =
        "# ガイド\n\n序。\n\n## 使い方\n\nこう。\n\n### 細部\n\n細かく。\n\n## 使い方\n\n再び。\n";
    let tree = DocsTree::of(&[("ja/guide.md", text)]);
    let served = tree.serve(&[]);
    let page = stat(&served, "file:///ja/guide.md").await;
    assert!(page.listable == Some(true) && page.is_archive && !page.is_view);
    assert_eq!(
        read(&served, "file:///ja/guide.md").await,
        text,
        "the content of the page is the page"
    );
    let sections = try_list(&served, "file:///ja/guide.md").await.unwrap();
    let told: Vec<_> = sections
        .iter()
        .map(|one| (one.name.as_str(), one.description.as_deref().unwrap()))
        .collect();
    assert_eq!(told, [("使い方", "ガイド"), ("細部", "ガイド › 使い方"), ("使い方-2", "ガイド")]);
    assert_eq!(sections[0].uri.as_str(), "file:///ja/guide.md/%C2%A7%E4%BD%BF%E3%81%84%E6%96%B9");
    assert!(sections.iter().all(|one| one.is_view && one.language.as_deref() == Some("ja")));
    assert_eq!(read(&served, sections[2].uri.as_str()).await, "## 使い方\n\n再び。\n");
    assert_eq!(
        read(&served, "file:///ja/guide.md/§細部").await,
        "### 細部\n\n細かく。\n\n",
        "as people type it"
    );
}

#[tokio::test]
async fn a_section_in_another_charset_is_read_as_text() {
    let tree = DocsTree::of(&[]);
    let text =
        "# 題名\n\n日本語の文書です。\n\n## 使い方\n\nこのように使います。\n\n## 次\n\n終わり。\n";
    let (bytes, _, _) = encoding_rs::SHIFT_JIS.encode(text);
    tree.write("a.md", bytes);
    let served = tree.serve(&[]);
    assert_eq!(names(&served, "file:///a.md").await, ["使い方", "次"]);
    assert_eq!(
        read(&served, "file:///a.md/§使い方").await,
        "## 使い方\n\nこのように使います。\n\n"
    );
    assert_eq!(stat(&served, "file:///a.md").await.title.as_deref(), Some("題名"));
}

#[tokio::test]
async fn windows_of_a_section_pin_the_version_of_the_page() {
    let tree = DocsTree::of(&[("a.md", "# T\n\n## A\n\n日本語\n\n## B\n")]);
    let served = tree.serve(&[]);
    let section = uri("file:///a.md/§A");
    let etag = stat(&served, section.as_str()).await.etag.clone();
    let window = |etag| ReadRequest::from(Window::Part { offset: 6, length: 4, etag });
    assert!(served.read(&local_context(), &section, &window(etag.clone())).await.is_ok());
    tree.write("a.md", "# T\n\n## A\n\nother text\n\n## B\n");
    let error = served.read(&local_context(), &section, &window(etag)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Changed);
    let whole = ReadRequest::whole(3);
    let error = served.read(&local_context(), &section, &whole).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge);
}

#[tokio::test]
async fn a_section_and_a_page_by_language_change_with_their_file() {
    let tree = DocsTree::of(&[("ja/a.md", "# T\n\n## A\n\nx\n\n## B\n")]);
    let served = tree.serve(&[]);
    let ctx = local_context();
    let watch = served.facets().watch.unwrap();
    for text in ["file:///ja/a.md/%C2%A7A", "docs:///ja/a.md"] {
        let mut changes = watch.watch(&ctx, Interest::Resource(uri(text))).await.unwrap();
        tree.write("ja/a.md", format!("# T\n\n## A\n\nfor {text}\n\n## B\n"));
        let change = tokio::time::timeout(Duration::from_secs(20), changes.next()).await.unwrap();
        assert_eq!(change, Some(Change::Updated(uri(text))));
    }
    let missing = watch.watch(&ctx, Interest::Resource(uri("file:///ja/a.md/%C2%A7none"))).await;
    assert_eq!(missing.err().unwrap().kind, ErrorKind::NotFound);
}
