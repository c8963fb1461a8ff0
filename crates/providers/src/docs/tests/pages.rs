//! Tests of pages: what their first bytes say, priorities, manual pages and interfaces.

use std::io::Write as _;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use redaction::{Redaction, RedactionScope, Redactor};
use resource::{Filter, PageRequest, Provider as _, Role};
use testkit::local_context;

use super::{DocsTree, names, read, stat, try_list};
use crate::docs::{Documentation, Options};

#[tokio::test]
async fn a_list_shows_titles_descriptions_priorities_and_audiences() {
    let tree = DocsTree::of(&[
        ("CHANGELOG.md", "# 変更履歴\n\n- 1.0\n"),
        (
            "guide.md",
            "---\ntitle: 使い方ガイド\ndescription: 最初に読む文書\npriority: 0.95\naudience: assistant\n---\n",
        ),
        ("intro.md", "# はじめに\n\nこの文書は\n概要を説明します。\n"),
    ]);
    let served = tree.serve(&[]);
    let items = try_list(&served, "").await.unwrap();
    let told: Vec<_> = items
        .iter()
        .filter(|item| !item.is_view)
        .map(|item| (item.title.as_deref(), item.description.as_deref(), item.annotations.priority))
        .collect();
    assert_eq!(
        told,
        [
            (Some("変更履歴"), None, Some(0.2)),
            (Some("使い方ガイド"), Some("最初に読む文書"), Some(0.95)),
            (Some("はじめに"), Some("この文書は概要を説明します。"), Some(0.9)),
        ]
    );
    assert_eq!(items[1].annotations.audience, [Role::Assistant]);
    let again = try_list(&served, "").await.unwrap();
    assert!(
        items.iter().zip(&again).all(|(one, other)| Arc::ptr_eq(one, other)),
        "the same objects"
    );
    tree.write("intro.md", "# 新しい題\n");
    assert_eq!(stat(&served, "file:///intro.md").await.title.as_deref(), Some("新しい題"));
}

#[tokio::test]
async fn a_filter_sees_titles_and_priorities() {
    let tree = DocsTree::of(&[("a.md", "# はじめに\n"), ("b.md", "# 変更履歴\n")]);
    let served = tree.serve(&[]);
    let list = |filter: Filter| {
        let served = &served;
        async move {
            let paging = PageRequest::first(10).with_filter(Some(Arc::new(filter)));
            let page = served.list(&local_context(), None, &paging).await.unwrap();
            page.items.iter().map(|item| item.name.clone()).collect::<Vec<_>>()
        }
    };
    assert_eq!(
        list(Filter { name: Some("はじめ".to_owned()), ..Filter::default() }).await,
        ["a.md"]
    );
    assert_eq!(list(Filter { min_priority: Some(0.85), ..Filter::default() }).await, ["a.md"]);
}

#[tokio::test]
async fn manual_pages_are_read_as_text_in_every_language() {
    let tree = DocsTree::of(&[]);
    let pack = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let page = ".TH CHMOD 1\n.SH 名前\nchmod \\- ファイルのモードを変更する\n.SH 説明\n\\fBchmod\\fP です。\n";
    tree.write("ja/man1/chmod.1.gz", pack(page));
    tree.write(
        "man1/chmod.1.gz",
        pack(".TH CHMOD 1\n.SH NAME\nchmod \\- change the mode of a file, and of the others\n"),
    );
    let served = tree.serve(&[]);
    let told = stat(&served, "file:///ja/man1/chmod.1.gz").await;
    assert_eq!(told.title.as_deref(), Some("chmod(1)"));
    assert_eq!(told.description.as_deref(), Some("ファイルのモードを変更する"));
    assert_eq!(
        (told.language.as_deref(), told.mime.as_deref()),
        (Some("ja"), Some("text/markdown"))
    );
    assert!(
        read(&served, "file:///ja/man1/chmod.1.gz").await.contains("## 説明\n\n**chmod** です。\n")
    );
    assert_eq!(names(&served, "file:///ja/man1/chmod.1.gz").await, ["名前", "説明"]);
    assert!(
        read(&served, "docs:///ja/man1/chmod.1.gz/%C2%A7%E8%AA%AC%E6%98%8E")
            .await
            .contains("**chmod** です")
    );
    assert!(read(&served, "docs:///en/man1/chmod.1.gz").await.contains("change the mode"));
}

#[tokio::test]
async fn an_interface_is_a_page_for_each_operation() {
    let file = "openapi: 3.1.0\ncomponents:\n  parameters:\n    id: {name: id, in: path, required: true, schema: {type: string}, description: 識別子}\n\
                paths:\n  /users/{id}:\n    parameters:\n      - $ref: '#/components/parameters/id'\n    get:\n      summary: ユーザーを取得\n      responses:\n        '200': {description: ok, content: {application/json: {schema: {type: object}}}}\n    delete: {summary: 削除, deprecated: true}\n  /loop:\n    get: {parameters: [{$ref: '#/paths/~1loop/get/parameters/0'}]}\n";
    let tree = DocsTree::of(&[
        ("api/openapi.yaml", file),
        ("api/swagger.json", "{\"swagger\": \"2.0\", \"paths\": "),
    ]);
    let served = tree.serve(&[]);
    let pages = try_list(&served, "file:///api/openapi.yaml").await.unwrap();
    let told: Vec<_> =
        pages.iter().map(|page| (page.name.as_str(), page.description.as_deref())).collect();
    let expected = [
        ("GET /users/{id}", Some("ユーザーを取得")),
        ("DELETE /users/{id}", Some("削除")),
        ("GET /loop", None),
    ];
    assert_eq!(told, expected);
    let text = read(&served, pages[0].uri.as_str()).await;
    assert!(text.contains("- `id` (path, string, required): 識別子"), "{text}");
    assert!(text.contains("- 200: ok") && text.contains("\"type\": \"object\""), "{text}");
    let broken = try_list(&served, "file:///api/swagger.json").await.unwrap_err();
    assert!(broken.message.contains("not valid JSON"), "{broken}");
    assert!(
        served
            .facets()
            .health
            .unwrap()
            .health(&local_context())
            .message
            .unwrap()
            .contains("swagger.json")
    );
    assert!(
        read(&served, "file:///api/swagger.json").await.starts_with('{'),
        "the file itself is served"
    );
}

#[tokio::test]
async fn a_file_that_is_masked_by_its_name_is_not_described_by_its_text() {
    let secret = "password = hunter2\n\nMore of it.\n";
    let tree = DocsTree::of(&[
        ("credentials.md", secret),
        ("openapi.yaml", "openapi: 3\npaths: {/a: {get: {x: 1}}}\n"),
    ]);
    let redaction = Redaction::new(RedactionScope::SensitiveFiles, Arc::new(Redactor::default()));
    let served = Documentation::new(Options { redaction, ..tree.options(&[]) }).unwrap();
    let told = stat(&served, "file:///credentials.md").await;
    assert_eq!((told.title.as_deref(), told.description.as_deref()), (None, None));
}
