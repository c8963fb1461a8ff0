//! Changes: what hangs on a moved reference is told, and packing is silent.

use std::time::Duration;

use futures_util::StreamExt as _;
use resource::{Change, ErrorKind, Interest, Watch};

use super::{TestRepo, ctx, read_text, uri};
use crate::file_watch::subscribe;
use crate::git::watch::GitWatchState;
use crate::git::{Git, Options};

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

/// Waits until a status that is told has `text`, or not.
async fn told_until(
    git: &Git,
    stream: &mut (impl futures_core::Stream<Item = Change> + Unpin),
    (text, is_there): (&str, bool),
) {
    while read_text(git, "git:///status").await.contains(text) != is_there {
        assert_eq!(next(stream).await, Change::Updated(uri("git:///status")), "{text}");
    }
}

#[tokio::test]
async fn a_file_of_the_worktree_updates_the_status() {
    let repo = TestRepo::new();
    repo.write("src/deep/a.txt", "a\n");
    repo.write(".gitignore", "out/\n");
    repo.write("out/x", "x");
    repo.commit("first");
    let git = repo.serve();
    let ctx = ctx();
    let mut status = git.watch(&ctx, Interest::Resource(uri("git:///status"))).await.unwrap();
    repo.write("src/deep/a.txt", "changed\n");
    told_until(&git, &mut status, ("M` src/deep/a.txt", true)).await;
    // An empty folder is no change, and a file in it is.
    std::fs::create_dir_all(repo.path().join("new/er")).unwrap();
    repo.write("new/er/b.txt", "b\n");
    told_until(&git, &mut status, ("`??` new/", true)).await;
    repo.git(&["add", "new"]);
    told_until(&git, &mut status, ("`A ` new/er/b.txt", true)).await;
    repo.git(&["commit", "-q", "-m", "second"]);
    told_until(&git, &mut status, ("new/er", false)).await;
    std::fs::remove_file(repo.path().join("new/er/b.txt")).unwrap();
    told_until(&git, &mut status, ("D` new/er/b.txt", true)).await;
    let (party, _stream) = subscribe(&git.repository, GitWatchState::for_test("git:///status"));
    party.memory().refresh(&git.repository, None);
    let watched = git.repository.rescan_loop.inotify().unwrap().watch_count();
    repo.write("out/y/z", "an ignored folder");
    party.memory().refresh(&git.repository, Some(&party.changes));
    assert_eq!(git.repository.rescan_loop.inotify().unwrap().watch_count(), watched);
    assert_eq!(party.changes.len(), 0, "what is ignored changes no status");
    assert_eq!(git.repository.rescan_loop.polling_interval(), None);
}

#[tokio::test]
async fn each_change_of_a_changed_file_updates_the_diff_of_the_worktree() {
    let repo = TestRepo::new();
    repo.write("a.txt", "a\n");
    repo.commit("first");
    let git = repo.serve();
    let ctx = ctx();
    let of = "git:///diff/worktree";
    let mut diff = git.watch(&ctx, Interest::Resource(uri(of))).await.unwrap();
    for text in ["one more", "two more", "three"] {
        repo.write("a.txt", format!("{text}\n"));
        while !read_text(&git, of).await.contains(text) {
            tokio::task::yield_now().await;
        }
        assert_eq!(next(&mut diff).await, Change::Updated(uri(of)));
    }
}

#[tokio::test]
async fn a_large_worktree_is_polled_and_takes_no_watches() {
    let repo = TestRepo::new();
    (0..40).for_each(|at| repo.write(&format!("f{at}/a.txt"), "a\n"));
    repo.commit("first");
    let poll = Duration::from_millis(20);
    let mut git = Git::open(&Options { poll, ..Options::new(repo.path()) }).unwrap();
    std::sync::Arc::get_mut(&mut git.repository).unwrap().max_worktree_folders = 10;
    let ctx = ctx();
    let mut status = git.watch(&ctx, Interest::Resource(uri("git:///status"))).await.unwrap();
    assert!(git.repository.rescan_loop.inotify().unwrap().watch_count() < 20);
    let message = resource::Health::health(&git, &ctx).message.unwrap();
    assert!(message.contains("polling"), "{message}");
    repo.write("f7/a.txt", "changed\n");
    assert_eq!(next(&mut status).await, Change::Updated(uri("git:///status")));
}
