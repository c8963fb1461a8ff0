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
