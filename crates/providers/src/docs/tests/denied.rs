//! Tests of pages that a rule refuses to a principal: neither faults nor the order tell of them.

use std::sync::Arc;

use resource::{Context, HealthState, HealthStatus, PageRequest, Provider as _};
use testkit::two_contexts;

use super::{DocsTree, uri};
use crate::VisibilityRule;
use crate::docs::{Documentation, Options};

/// Serves a tree of which the principal `other` may not see the files whose URIs contain `refused`.
fn serve(tree: &DocsTree, languages: &[&str], refused: &'static str) -> Documentation {
    let visibility: VisibilityRule =
        Arc::new(move |who, file| &**who.key() != "other" || !file.as_str().contains(refused));
    let options = Options { visibility: Some(visibility), ..tree.options(languages) };
    Documentation::new(options).unwrap()
}

fn health(served: &Documentation, ctx: &Context) -> HealthStatus {
    served.facets().health.unwrap().health(ctx)
}

/// The names of a list without the pages that are made.
async fn names(served: &Documentation, ctx: &Context, parent: &str) -> Vec<String> {
    let page = served.list(ctx, Some(&uri(parent)), &PageRequest::first(1000)).await.unwrap();
    let names = page.items.iter().map(|item| item.name.clone());
    names.filter(|name| !name.starts_with("llms")).collect()
}

#[tokio::test]
async fn a_fault_that_names_a_refused_page_is_told_to_those_alone_who_see_that_page() {
    let tree = DocsTree::of(&[
        ("guide.ja.md", "# あ\n"),
        ("ja/guide.md", "# い\n"),
        ("ja/own.md", "---\nlang: fr\n---\n"),
    ]);
    let served = serve(&tree, &["ja"], "/guide.ja.md");
    let [whole, other] = two_contexts();
    let (guide, own) = (uri("file:///ja/guide.md"), uri("file:///ja/own.md"));
    // Both look at the page, so that neither takes the faults of the other away.
    for _ in 0..2 {
        let seen = served.stat(&whole, &guide).await.unwrap();
        assert!(seen.notes[0].contains("guide.ja.md"), "{:?}", seen.notes);
        assert!(health(&served, &whole).message.unwrap().contains("guide.ja.md is this page"));
        assert_eq!(health(&served, &other).message, None);
        assert_eq!(health(&served, &other).state, HealthState::Ready);
        assert!(served.stat(&other, &guide).await.unwrap().notes.is_empty());
        assert!(health(&served, &whole).message.unwrap().contains("guide.ja.md is this page"));
    }
    served.stat(&whole, &own).await.unwrap();
    let told = health(&served, &other).message.unwrap();
    assert!(told.starts_with("1 page has errors: file:///manual/ja/own.md: "), "{told}");
    assert!(health(&served, &whole).message.unwrap().starts_with("2 pages have errors: "));
}

#[tokio::test]
async fn a_table_of_contents_that_is_refused_orders_nothing() {
    for (file, text, folder, ordered, plain) in [
        ("SUMMARY.md", "- [z](z.md)\n- [a](a.md)\n", "", ["z.md", "a.md"], ["a.md", "z.md"]),
        ("mkdocs.yml", "nav:\n  - z.md\n  - a.md\n", "docs", ["z.md", "a.md"], ["a.md", "z.md"]),
        ("sidebars.json", r#"{"x": ["z", "a"]}"#, "docs", ["z.md", "a.md"], ["a.md", "z.md"]),
        (
            "books/b/config.yaml",
            "chapters: [z, a]\n",
            "books/b",
            ["z.md", "a.md"],
            ["a.md", "config.yaml"],
        ),
        (
            "source/index.md",
            "```{toctree}\nz\na\n```\n",
            "source",
            ["index.md", "z.md"],
            ["a.md", "index.md"],
        ),
    ] {
        let tree = DocsTree::of(&[(file, text)]);
        for page in ["a.md", "z.md"] {
            tree.write(format!("{folder}/{page}").trim_start_matches('/'), "# T\n");
        }
        let served = serve(&tree, &[], file);
        let [whole, other] = two_contexts();
        let folder = format!("file:///{folder}");
        for _ in 0..2 {
            let found = names(&served, &whole, &folder).await;
            assert_eq!(found[..2], ordered, "{file}");
            let found = names(&served, &other, &folder).await;
            let shown: Vec<_> = found.iter().filter(|name| *name != "SUMMARY.md").collect();
            assert_eq!(shown[..2], plain, "{file}");
        }
    }
}

#[tokio::test]
async fn a_refused_page_has_no_place_in_the_order_and_its_contents_are_not_followed() {
    let tree = DocsTree::of(&[
        ("index.rst", ".. toctree::\n\n   z\n   inner\n   a\n"),
        ("inner.rst", ".. toctree::\n\n   m\n   z\n"),
        ("a.rst", "A\n=\n"),
        ("m.rst", "M\n=\n"),
        ("z.rst", "Z\n=\n"),
    ]);
    let served = serve(&tree, &[], "/inner");
    let [whole, other] = two_contexts();
    let order = ["index.rst", "z.rst", "inner.rst", "m.rst", "a.rst"];
    assert_eq!(names(&served, &whole, "file:///").await, order);
    let found = names(&served, &other, "file:///").await;
    let shown: Vec<_> = found.into_iter().filter(|name| name != "inner.rst").collect();
    assert_eq!(shown, ["index.rst", "z.rst", "a.rst", "m.rst"]);
    assert!(health(&served, &whole).message.unwrap().contains("comes back to z.rst"));
    assert_eq!(health(&served, &other).message, None);
}
