//! Changes: what hangs on a moved reference is told, and packing is silent.

use std::time::Duration;

use futures_util::StreamExt as _;
use resource::{Change, ErrorKind, Interest, Watch};

use super::{TestRepo, ctx, uri};
use crate::file_watch::subscribe;
use crate::git::watch::GitWatchState;

/// Waits for a change, for as long as a slow machine may take.
async fn next(stream: &mut (impl futures_core::Stream<Item = Change> + Unpin)) -> Change {
    let waited = tokio::time::timeout(Duration::from_secs(60), stream.next()).await;
    waited.expect("a change is told").expect("the stream goes on")
}

#[tokio::test]
async fn a_moved_branch_updates_what_hangs_on_it() {
    let repo = TestRepo::new();
    repo.write("a.txt", "a\n");
    repo.write("b.txt", "b\n");
    let first = repo.commit("first");
    let git = repo.serve();
    let ctx = ctx();
    let watch = |text: &str| git.watch(&ctx, Interest::Resource(uri(text)));
    let mut file = watch("git:///main/a.txt").await.unwrap();
    let mut other = watch("git:///main/b.txt").await.unwrap();
    let mut folder = watch("git:///HEAD").await.unwrap();
    let mut log = watch("git:///log").await.unwrap();
    let mut refs = watch("git:///refs").await.unwrap();
    let mut status = watch("git:///status").await.unwrap();
    repo.write("a.txt", "a2\n");
    repo.commit("second");
    let updated = |text: &str| Change::Updated(uri(text));
    assert_eq!(next(&mut file).await, updated("git:///main/a.txt"));
    assert_eq!(next(&mut folder).await, updated("git:///HEAD"));
    assert_eq!(next(&mut folder).await, updated("git:///HEAD/a.txt"));
    assert_eq!(next(&mut log).await, updated("git:///log"));
    assert_eq!(next(&mut refs).await, updated("git:///refs"));
    assert_eq!(next(&mut status).await, updated("git:///status"));
    repo.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    repo.git(&["update-ref", "-d", "refs/heads/main"]);
    assert_eq!(next(&mut file).await, Change::Removed(uri("git:///main/a.txt")));
    // It was the same file in every commit, so its end is the first that is told of it.
    assert_eq!(next(&mut other).await, Change::Removed(uri("git:///main/b.txt")));
    let pinned = watch(&format!("git:///{first}/a.txt")).await.err().unwrap();
    assert_eq!(pinned.kind, ErrorKind::Unsupported);
    assert_eq!(watch("git:///none/a").await.err().unwrap().kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn packing_references_and_objects_is_silent() {
    let repo = TestRepo::new();
    repo.write("a.txt", "a\n");
    repo.commit("first");
    repo.git(&["tag", "v1"]);
    let git = repo.serve();
    for text in ["git:///main/a.txt", "git:///log", "git:///refs", "git:///v1", "git:///status"] {
        let (party, _stream) = subscribe(&git.repository, GitWatchState::for_test(text));
        party.memory().refresh(&git.repository, None);
        repo.git(&["pack-refs", "--all"]);
        repo.git(&["gc", "-q"]);
        party.memory().refresh(&git.repository, Some(&party.changes));
        assert_eq!(party.changes.len(), 0, "{text} changed");
        repo.write("a.txt", format!("{text}\n"));
        repo.commit("next");
        repo.git(&["tag", "-f", "v1"]);
        party.memory().refresh(&git.repository, Some(&party.changes));
        assert!(party.changes.len() > 0, "{text} did not change");
    }
}
