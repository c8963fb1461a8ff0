//! Tests of path completion.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use resource::{Completion, CompletionRequest, Error, ErrorKind, Provider as _};

use super::{ListingMode, ServedFs, Tree};

async fn ask(
    served: &ServedFs,
    template: &str,
    variable: &str,
    typed: &str,
) -> Result<Completion, Error> {
    let settled = BTreeMap::new();
    let question = CompletionRequest { template, variable, typed, resolved: &settled };
    served.0.facets().complete.unwrap().complete(&testkit::local_context(), &question).await
}

async fn values(served: &ServedFs, typed: &str) -> Vec<String> {
    ask(served, "file:///{+path}", "path", typed).await.unwrap().values
}

#[tokio::test]
async fn paths_are_completed_folder_by_folder_the_likeliest_first() {
    let tree = Tree::of([
        "src/main.rs",
        "src/Map.rs",
        "src/format.rs",
        "src/macros/a",
        "src/human.rs",
        "src/.ma",
        "src/日 本.md",
        "src/ma.tmp",
        ".gitignore",
    ]);
    tree.write(".gitignore", "*.tmp\n");
    tree.write(OsStr::from_bytes(b"src/ma\xff"), "");
    tree.link("src/mall", "macros");
    tree.link("src/mad", "nowhere");
    let desk = tree.serve(ListingMode::Auto);
    assert_eq!(values(&desk, "").await, ["src/"]);
    assert_eq!(values(&desk, "s").await, ["src/"]);
    assert_eq!(
        values(&desk, "src/ma").await,
        ["src/macros/", "src/main.rs", "src/mall/", "src/Map.rs", "src/format.rs", "src/human.rs"]
    );
    assert_eq!(values(&desk, "src/macros/").await, ["src/macros/a"]);
    assert_eq!(values(&desk, "src/日").await, ["src/日 本.md"]);
    for nothing in
        ["/", "/src", "../", "src/../", "src//", "none/", "src/main.rs/", "src/.ma", ".g"]
    {
        assert_eq!(values(&desk, nothing).await, [""; 0], "{nothing}");
    }
}

#[tokio::test]
async fn completed_values_read_back_whatever_the_name_holds() {
    let names = ["why?.md", "c#/x.md", "%41", "100%", "a b", "日本.md", "[x].md"];
    let tree = Tree::of(names);
    let desk = tree.serve(ListingMode::Auto);
    let template = resource::UriTemplate::parse("file:///{+path}").unwrap();
    let mut typed = values(&desk, "").await;
    typed.extend(values(&desk, "c%23/").await);
    typed.retain(|value| !value.ends_with('/'));
    assert_eq!(typed.len(), names.len(), "{typed:?}");
    for value in typed {
        let mut text = "file:///".to_owned();
        resource::uri::expand_reserved(&value, &mut text);
        let uri = resource::Uri::parse(&text).unwrap();
        assert!(template.matches(&uri).is_some(), "{uri}");
        let name = desk.stat(uri.as_str()).await.unwrap().name.clone();
        assert!(names.iter().any(|known| known.ends_with(&name)), "{uri} is {name}");
        assert!(values(&desk, &value).await.contains(&value), "{value} completes to itself");
    }
}

#[tokio::test]
async fn at_most_a_hundred_are_given_and_all_are_counted() {
    let tree = Tree::of([]);
    for number in 0..5_000 {
        tree.write(format!("{number:04}"), "");
    }
    let desk = tree.serve(ListingMode::Auto);
    let completion = ask(&desk, "file:///{+path}", "path", "").await.unwrap();
    assert_eq!((completion.values.len(), completion.total), (100, 5_000));
    assert_eq!(completion.values[99], "0099");
}

#[tokio::test]
async fn questions_that_make_no_sense_are_refused() {
    let tree = Tree::of(["a"]);
    let desk = tree.serve(ListingMode::Auto);
    let long = "a".repeat(4 * 1024 + 1);
    let asked = [
        ("file:///{+path}", "other", ""),
        ("note://{+path}", "path", ""),
        ("file:///{+path}", "path", long.as_str()),
    ];
    for (template, variable, typed) in asked {
        let error = ask(&desk, template, variable, typed).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid);
    }
    assert!(ask(&desk, "file:///{+path}", "path", &long[1..]).await.is_ok());
}
