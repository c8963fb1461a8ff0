//! Target `glob`: globs from clients and settings, alone and in a set.

use machinery::glob::MAX_GLOB_BYTES;
use machinery::{PathGlob, PathGlobSet};
use testkit::FuzzTarget;

use super::{halves, text_of};

pub(crate) const TARGET: FuzzTarget = FuzzTarget { name: "glob", examples: EXAMPLES, check };

const EXAMPLES: &[&[u8]] = &[
    b"docs/**/*.md\ndocs/a/b.md",
    b"file:///project/{src,tests}/**/*.{rs,toml}\nfile:///project/src/a/b.rs",
    b"[!a-z]?[[:alpha:]]*\nA1b",
    b"**\na/b/c",
    b"a/b/c\na/b/c",
    b"\\*\\[x\n*[x",
    "*é[日本]\n日é本".as_bytes(),
];

fn check(input: &[u8]) {
    let text = text_of(input);
    let (pattern, path) = halves(&text);
    let Ok(glob) = PathGlob::parse(pattern) else { return };
    assert!(pattern.len() <= MAX_GLOB_BYTES);
    let other = PathGlob::parse("a/**").expect("it is a glob");
    // A glob within the bounds can still compile to more than the matcher allows.
    let set = PathGlobSet::new(&[other, glob.clone()]).expect("a glob within the bounds compiles");
    let matcher = glob.into_matcher();
    // For a set, globset takes `..` for no file name. No resource of ours has that name.
    if path.ends_with("..") {
        return;
    }
    assert_eq!(matcher(path), set.matches(path).contains(&1));
    assert_eq!(set.is_match(path), !set.matches(path).is_empty());
    if !pattern.contains(['*', '?', '[', ']', '{', '}', '\\', '!', ',']) {
        assert!(matcher(pattern), "a plain path matches itself");
        assert_eq!(matcher(path), path == pattern);
    }
}
