//! Completion of revisions and of paths inside a revision.

use std::collections::BTreeMap;

use resource::{Complete, CompletionRequest};

use super::{TestRepo, ctx};
use crate::git::Git;

const FILES: &str = "git:///{revision}/{+path}";

async fn complete(git: &Git, variable: &str, typed: &str, revision: Option<&str>) -> Vec<String> {
    let resolved: BTreeMap<String, String> =
        revision.map(|revision| ("revision".to_owned(), revision.to_owned())).into_iter().collect();
    let request = CompletionRequest { template: FILES, variable, typed, resolved: &resolved };
    git.complete(&ctx(), &request).await.unwrap().values
}

#[tokio::test]
async fn paths_are_those_of_the_revision_that_is_given() {
    let repo = TestRepo::new();
    repo.write("old/a b.txt", "a");
    let first = repo.commit("the old one");
    repo.git(&["mv", "old", "new"]);
    repo.write("new/deep/x", "x");
    repo.commit("the new one");
    repo.git(&["tag", "v1", &first]);
    repo.git(&["branch", "feature/y"]);
    let git = repo.serve();
    assert_eq!(complete(&git, "path", "", None).await, ["new/"]);
    assert_eq!(complete(&git, "path", "", Some("v1")).await, ["old/"]);
    assert_eq!(complete(&git, "path", "old/A", Some("v1")).await, ["old/a b.txt"]);
    assert_eq!(complete(&git, "path", "new/", Some("main")).await, ["new/a b.txt", "new/deep/"]);
    assert_eq!(complete(&git, "path", "new/", Some("none")).await, [""; 0]);
    assert_eq!(complete(&git, "revision", "ma", None).await, ["main"]);
    assert_eq!(complete(&git, "revision", "y", None).await, ["feature/y"]);
    let short = first[..10].to_owned();
    assert_eq!(complete(&git, "revision", &first[..6], None).await, [&short[..]]);
    assert_eq!(complete(&git, "revision", "OLD one", None).await, [short]);
    assert!(complete(&git, "revision", "", None).await.len() >= 5);
}

#[tokio::test]
async fn completed_paths_read_back_whatever_the_name_holds() {
    let repo = TestRepo::new();
    let names = ["why?.md", "c#/x?.md", "%41", "100%", "a b", "日本.md", "[x].md", "a&b=c"];
    for name in names {
        repo.write(name, name);
    }
    repo.commit("odd names");
    let git = repo.serve();
    let mut values = complete(&git, "path", "", None).await;
    values.extend(complete(&git, "path", "c%23/", None).await);
    values.retain(|value| !value.ends_with('/'));
    assert_eq!(values.len(), names.len(), "{values:?}");
    for value in values {
        let mut path = String::new();
        resource::uri::expand_reserved(&value, &mut path);
        let text = super::read_text(&git, &format!("git:///HEAD/{path}")).await;
        assert!(names.contains(&text.as_str()), "{value}: {text}");
        let log = super::names(&git, &format!("git:///log/HEAD/{path}?author=ada")).await;
        assert_eq!(log.len(), 1, "{value}");
        assert!(complete(&git, "path", &value, None).await.contains(&value), "{value}");
    }
    // A person may type the name as it is.
    assert_eq!(complete(&git, "path", "why?", None).await, ["why%3F.md"]);
    assert_eq!(complete(&git, "path", "c#", None).await, ["c%23/"]);
}
