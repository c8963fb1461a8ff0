//! Tests of locations and their URIs.

use resource::Uri;

use super::{DiffRange, Location, LogQuery, RepoPath, RevisionSpec};

fn parse(text: &str) -> Option<Location> {
    Location::parse(&Uri::parse(text).unwrap()).ok()
}

fn revision(text: &str) -> RevisionSpec {
    RevisionSpec::parse(text.as_bytes()).unwrap()
}

#[test]
fn a_branch_named_like_a_collection_has_a_uri() {
    let uri = Location::tree_uri(&revision("log"), &RepoPath::default()).unwrap();
    assert_eq!(uri.as_str(), "git:///refs%2Fheads%2Flog");
    let found = parse(uri.as_str());
    let expected = revision("refs/heads/log");
    assert!(matches!(found, Some(Location::Tree { revision: named, .. }) if named == expected));
}

#[test]
fn the_path_that_a_revision_names_begins_at_its_first_colon_outside_braces() {
    for (spec, split) in [
        ("HEAD:a/b.md", Some(("HEAD", "a/b.md"))),
        ("HEAD:a:b}", Some(("HEAD", "a:b}"))),
        ("main@{12:30}:a", Some(("main@{12:30}", "a"))),
        (r"main^{/a\}:b}:c", Some((r"main^{/a\}:b}", "c"))),
        ("a{b:c", Some(("a{b", "c"))),
        (":a:b", Some(("", "a:b"))),
        (":2:a", Some(("", "a"))),
        ("HEAD:", Some(("HEAD", ""))),
        (":/fix: a", None),
        ("main@{12:30}", None),
        ("main^{/fix: a}", None),
        ("main", None),
    ] {
        let split = split.map(|(base, path): (&str, &str)| (base.as_bytes(), path.as_bytes()));
        assert_eq!(revision(spec).split_path(), split, "{spec}");
    }
}

#[test]
fn names_of_any_bytes_come_back() {
    let path = RepoPath::parse(b"a b/\xff%.txt").unwrap();
    let uri = Location::tree_uri(&revision("feature/x"), &path).unwrap();
    assert_eq!(uri.as_str(), "git:///feature%2Fx/a%20b/%FF%25.txt");
    let tree = Location::Tree { revision: revision("feature/x"), path, requires_folder: false };
    assert_eq!(parse(uri.as_str()), Some(tree));
}

#[test]
fn ranges_and_conditions_are_read() {
    let range = |text: &str| match parse(text) {
        Some(Location::Diff { range, .. }) => Some(range),
        _ => None,
    };
    let (a, b) = (revision("a"), revision("b"));
    assert_eq!(range("git:///diff/a..b/x"), Some(DiffRange::Between(a.clone(), b.clone())));
    assert_eq!(range("git:///diff/a...b"), Some(DiffRange::SinceMergeBase(a.clone(), b)));
    assert_eq!(range("git:///diff/a.."), Some(DiffRange::Between(a, RevisionSpec::head())));
    assert_eq!(range("git:///diff/worktree"), Some(DiffRange::Worktree));
    assert_eq!(range("git:///diff/a"), None);
    let log = LogQuery {
        grep: Some("a b".to_owned()),
        follow: true,
        ..LogQuery::new(revision("main"), RepoPath::parse(b"x").unwrap())
    };
    assert_eq!(parse("git:///log/main/x?grep=a%20b&follow=true"), Some(Location::Log(log)));
    for bad in ["git:///log?x=1", "git:///status?x", "git:///HEAD/..", "git:////a", "git:///a#b"] {
        assert_eq!(parse(bad), None, "{bad}");
    }
}
