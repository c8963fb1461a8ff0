//! Tests of how much of a history its first page looks at.

use gix::ObjectId;
use resource::{PageRequest, Provider as _};

use super::LogPosition;
use crate::git::location::{LogQuery, RevisionSpec};
use crate::git::repo_path::RepoPath;
use crate::git::tests::{TestRepo, ctx, read_json, uri};

/// A repository with this many commits in a row.
fn long_history(commits: usize) -> TestRepo {
    let repo = TestRepo::new();
    let mut script = String::new();
    for at in 0..commits {
        let date = 1_500_000_000 + at;
        script.push_str(&format!(
            "commit refs/heads/main\ncommitter Ada <ada@example.com> {date} +0000\ndata 1\nx\n"
        ));
    }
    repo.git_with(&["fast-import", "--quiet"], &[], script.as_bytes());
    repo
}

#[tokio::test]
async fn the_first_page_of_a_hundred_thousand_commits_walks_no_further() {
    let repo = long_history(100_000);
    let git = repo.serve();
    let page = git.list(&ctx(), Some(&uri("git:///log")), &PageRequest::first(50)).await.unwrap();
    assert_eq!((page.items.len(), page.next.is_some()), (50, true));
    let hash = |text: &str| ObjectId::from_hex(text.as_bytes()).unwrap();
    let last = page.items[49].uri.as_str().trim_start_matches("git:///commit/");
    let position = LogPosition {
        query: LogQuery::new(RevisionSpec::head(), RepoPath::default()),
        tip: hash(&repo.git_text(&["rev-parse", "HEAD"])),
        last: hash(last),
        viewer: None,
    };
    let walk = git.repository.logs.0.get(&position).expect("the walk is kept for the next page");
    let found = walk.lock().as_ref().unwrap().queue.found();
    assert_eq!(found, 52, "the page, the commit behind it, and its parent");
    assert_eq!(read_json(&git, "git:///log").await.as_array().unwrap().len(), 50);
}
