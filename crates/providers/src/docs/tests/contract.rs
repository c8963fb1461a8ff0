//! Runs the provider contract against documentation.

use testkit::{Expectations, contract};

use super::{DocsTree, uri};

fn sample() -> DocsTree {
    let tree = DocsTree::of(&[
        ("README.md", "# Project\n\nWhat it is.\n\n## Use\n\nSo.\n\n## Use\n\nAgain.\n"),
        (
            "ja/guide.md",
            "---\ntitle: ガイド\n---\n# ガイド\n\n説明です。\n\n## 使い方\n\nこう使います。\n",
        ),
        ("en/guide.md", "# Guide\n\nThis is the guide to it.\n\n## Usage\n\nUse it.\n"),
        ("notes.txt", "Plain\n\nText.\n"),
        ("plain.md", "no heading\n"),
        ("man1/x.1", ".TH X 1\n.SH NAME\nx \\- does x\n.SH DESCRIPTION\nIt does.\n"),
        (
            "api/openapi.yaml",
            "openapi: 3.0.0\npaths:\n  /users/{id}:\n    get: {summary: One user}\n",
        ),
    ]);
    tree.write("logo.png", [0x89, b'P', b'N', b'G', 13, 10, 26, 10, 0, 0]);
    tree
}

#[tokio::test]
async fn documentation_is_a_provider_like_any_other() {
    let tree = sample();
    let known = Expectations {
        leaves: vec![
            (uri("file:///plain.md"), b"no heading\n".to_vec()),
            (uri("file:///README.md/%C2%A7Use-2"), b"## Use\n\nAgain.\n".to_vec()),
            (
                uri("docs:///ja/guide.md/%C2%A7%E4%BD%BF%E3%81%84%E6%96%B9"),
                "## 使い方\n\nこう使います。\n".into(),
            ),
            (
                uri("docs:///en/guide.md"),
                b"# Guide\n\nThis is the guide to it.\n\n## Usage\n\nUse it.\n".to_vec(),
            ),
            (
                uri("file:///man1/x.1"),
                b"# x(1)\n\n## NAME\n\nx - does x\n\n## DESCRIPTION\n\nIt does.\n".to_vec(),
            ),
        ],
        collections: vec![
            (
                uri("file:///README.md"),
                vec![uri("file:///README.md/%C2%A7Use"), uri("file:///README.md/%C2%A7Use-2")],
            ),
            (uri("file:///ja"), vec![uri("file:///ja/guide.md")]),
            (
                uri("file:///api/openapi.yaml"),
                vec![uri("file:///api/openapi.yaml/%C2%A7GET%20%2Fusers%2F%7Bid%7D")],
            ),
        ],
        missing: [
            "file:///none.md",
            "file:///README.md/%C2%A7None",
            "file:///README.md/%C2%A7",
            "file:///ja/%C2%A7x",
            "file:///logo.png/%C2%A7x",
            "docs:///ja/none.md",
            "docs:///none",
            "docs:///",
            "docs:///ja",
            "docs:///ja/guide.md/%C2%A7none",
        ]
        .map(uri)
        .to_vec(),
        prefix: Some("file:///".to_owned()),
        outside: vec!["../secret.txt".to_owned()],
        open_watches: None,
    };
    contract(&tree.serve(&["ja", "en"]), &known).await;
    let known = Expectations { prefix: Some("docs:///ja/".to_owned()), ..known };
    contract(&tree.serve(&[]), &known).await;
}
