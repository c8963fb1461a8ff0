//! Updates after what people do: fetch, rebase, switch, in the repository and in linked worktrees.

use super::TestRepo;
use crate::file_watch::subscribe;
use crate::git::watch::GitWatchState;
use crate::git::{Git, Options};

/// Runs `act`; returns which of `texts` are told to have changed.
fn changed_by<'a>(git: &Git, texts: &[&'a str], act: impl FnOnce()) -> Vec<&'a str> {
    let parties: Vec<_> = texts
        .iter()
        .map(|text| subscribe(&git.repository, GitWatchState::for_test(text)))
        .collect();
    for (party, _) in &parties {
        party.memory().refresh(&git.repository, None);
    }
    act();
    let mut changed = Vec::new();
    for ((party, _stream), text) in parties.iter().zip(texts) {
        party.memory().refresh(&git.repository, Some(&party.changes));
        if party.changes.len() > 0 {
            changed.push(*text);
        }
    }
    changed
}

/// A repository and a clone of it.
fn cloned() -> (TestRepo, TestRepo) {
    let origin = TestRepo::new();
    origin.write("a.txt", "a\n");
    origin.commit("first");
    let clone = TestRepo { folder: tempfile::tempdir().unwrap() };
    let from = format!("file://{}", origin.path().display());
    clone.git(&["clone", "-q", &from, "."]);
    (origin, clone)
}

#[tokio::test]
async fn a_fetch_updates_the_remote_branch_and_a_rebase_the_own_one() {
    let (origin, clone) = cloned();
    origin.write("a.txt", "a2\n");
    origin.commit("second");
    let git = clone.serve();
    let texts = ["git:///refs", "git:///origin%2Fmain/a.txt", "git:///main/a.txt", "git:///HEAD"];
    let changed = changed_by(&git, &texts, || drop(clone.git(&["fetch", "-q"])));
    assert_eq!(changed, texts[..2]);
    clone.write("b.txt", "b\n");
    clone.commit("own");
    let texts = [
        "git:///main/a.txt",
        "git:///HEAD/a.txt",
        "git:///log",
        "git:///refs",
        "git:///origin%2Fmain/a.txt",
        "git:///main/b.txt",
    ];
    let changed = changed_by(&git, &texts, || drop(clone.git(&["rebase", "-q", "origin/main"])));
    assert_eq!(changed, texts[..4]);
}

#[tokio::test]
async fn a_switch_updates_what_hangs_on_head() {
    let (_origin, clone) = cloned();
    clone.write("a.txt", "a2\n");
    clone.commit("second");
    let git = clone.serve();
    let texts = ["git:///HEAD/a.txt", "git:///log", "git:///refs", "git:///main/a.txt"];
    let switch = || drop(clone.git(&["switch", "-q", "-c", "side", "HEAD~1"]));
    assert_eq!(changed_by(&git, &texts, switch), texts[..3]);
    // The same commit under another name.
    let same = || drop(clone.git(&["switch", "-q", "-c", "other"]));
    assert_eq!(changed_by(&git, &["git:///HEAD/a.txt", "git:///refs"], same), ["git:///refs"]);
}

#[tokio::test]
async fn a_linked_worktree_has_a_head_of_its_own() {
    let (_origin, clone) = cloned();
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    clone.git(&["worktree", "add", "-q", "-b", "side", tree.to_str().unwrap()]);
    let linked = Git::open(&Options::new(&tree)).unwrap();
    let texts = ["git:///main/a.txt", "git:///HEAD/a.txt"];
    let commit = || {
        clone.write("a.txt", "a2\n");
        clone.commit("second");
    };
    assert_eq!(changed_by(&linked, &texts, commit), texts[..1]);
    let run = |args: &[&str]| {
        let (ok, _, error) = super::run_git(&tree, args, &[], b"");
        assert!(ok, "{error}");
    };
    let switch = || run(&["switch", "-q", "--detach", "main"]);
    assert_eq!(changed_by(&linked, &texts, switch), texts[1..]);
    let edit = || std::fs::write(tree.join("a.txt"), "edited\n").unwrap();
    assert_eq!(changed_by(&linked, &["git:///status"], edit), ["git:///status"]);
}

#[tokio::test]
async fn the_folders_of_objects_are_not_watched() {
    let (_origin, clone) = cloned();
    let git = clone.serve();
    for at in 0..300 {
        clone.write(&format!("many/{at}"), format!("{at}"));
    }
    clone.commit("objects in every folder");
    let texts = ["git:///refs", "git:///log", "git:///HEAD", "git:///main/a.txt"];
    let parties: Vec<_> = texts
        .iter()
        .map(|text| subscribe(&git.repository, GitWatchState::for_test(text)))
        .collect();
    for (party, _) in &parties {
        party.memory().refresh(&git.repository, None);
    }
    let watched = git.repository.rescan_loop.inotify().unwrap().watch_count();
    let folders = std::fs::read_dir(clone.path().join(".git/objects")).unwrap().count();
    assert!(folders > 100 && watched < 30, "{watched} watches, {folders} folders of objects");
}
