//! Patterns of ignore files: which lines are patterns, and which of them decides about a path.
//!
//! Lines are read as git's `dir.c` reads them. Most patterns are plain names or file extensions,
//! which are looked up; only the others are matched one by one.

use std::collections::HashMap;

use super::wildmatch::Wildmatch;

/// Bounds of one folder's patterns: how many, bytes in one, and bytes in all those with wildcards,
/// because each of them is matched against every name.
const MAX_PATTERNS: usize = 10_000;
const MAX_PATTERN_BYTES: usize = 4 * 1024;
const MAX_WILDCARD_BYTES: usize = 64 * 1024;

/// The patterns of one folder. A later one overrides the earlier ones.
#[derive(Debug, Default)]
pub(super) struct IgnorePatterns {
    patterns: Vec<PatternFlags>,
    /// Patterns that are a name, an extension (`*.log`), or a path, each with those of the same
    /// text in ascending order.
    names: HashMap<Box<[u8]>, Vec<usize>>,
    extensions: HashMap<Box<[u8]>, Vec<usize>>,
    paths: HashMap<Box<[u8]>, Vec<usize>>,
    /// All others, in ascending order.
    wildcards: Vec<WildcardPattern>,
    wildcard_bytes: usize,
}

#[derive(Debug, Clone, Copy)]
struct PatternFlags {
    is_negated: bool,
    is_for_folders: bool,
}

#[derive(Debug)]
struct WildcardPattern {
    index: usize,
    /// Whether it matches the name alone, at any depth.
    is_name: bool,
    /// What comes before the first wildcard.
    prefix: Box<[u8]>,
    rest: Wildmatch,
}

/// What the patterns say about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Ignored,
    /// A negated pattern includes it.
    Included,
}

/// The bound that an ignore file exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TooManyPatterns(pub(super) &'static str);

impl IgnorePatterns {
    /// Adds the patterns in the text of one ignore file.
    pub(super) fn add_file(&mut self, content: &[u8]) -> Result<(), TooManyPatterns> {
        let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
        for line in content.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            // A zero byte ends a line, as in git.
            let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
            if !line.starts_with(b"#") {
                self.add_pattern(trim_spaces(line))?;
            }
        }
        Ok(())
    }

    /// The weight in a cache, which grows with the memory that the patterns take.
    pub(super) fn weight(&self) -> usize {
        (self.patterns.len() + self.wildcard_bytes) / 64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The last pattern that matches `path`, relative to the folder of the patterns, decides. Takes
    /// the steps of wildcards from `steps`; a path for which none is left is ignored.
    pub(super) fn verdict(&self, path: &[u8], is_folder: bool, steps: &mut u64) -> Option<Verdict> {
        let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let name = &path[start..];
        let applies = |index: &usize| is_folder || !self.patterns[*index].is_for_folders;
        let last = |indices: Option<&Vec<usize>>| indices?.iter().rev().copied().find(applies);
        let dot = name.iter().rposition(|byte| *byte == b'.');
        let extension = dot.and_then(|dot| last(self.extensions.get(&name[dot..])));
        let known = [last(self.names.get(name)), extension, last(self.paths.get(path))];
        let mut best = known.into_iter().flatten().max();
        for wildcard in self.wildcards.iter().rev() {
            if best.is_some_and(|best| best > wildcard.index) {
                break;
            }
            if applies(&wildcard.index) && wildcard.is_match(path, name, steps) {
                best = Some(wildcard.index);
                break;
            }
            if *steps == 0 {
                return Some(Verdict::Ignored);
            }
        }
        let is_negated = self.patterns[best?].is_negated;
        Some(if is_negated { Verdict::Included } else { Verdict::Ignored })
    }

    fn add_pattern(&mut self, line: &[u8]) -> Result<(), TooManyPatterns> {
        if line.len() > MAX_PATTERN_BYTES {
            return Err(TooManyPatterns("a line is longer than 4096 bytes"));
        }
        let (is_negated, pattern) = match line.strip_prefix(b"!") {
            Some(pattern) => (true, pattern),
            None => (false, line),
        };
        let (is_for_folders, pattern) = match pattern.strip_suffix(b"/") {
            Some(pattern) => (true, pattern),
            None => (false, pattern),
        };
        if pattern.is_empty() {
            return Ok(());
        }
        let index = self.patterns.len();
        if index >= MAX_PATTERNS {
            return Err(TooManyPatterns("more than 10,000 patterns"));
        }
        let is_name = !pattern.contains(&b'/');
        let pattern = pattern.strip_prefix(b"/").unwrap_or(pattern);
        let is_wildcard = |byte: &u8| matches!(byte, b'*' | b'?' | b'[' | b'\\');
        let plain = |text: &[u8]| !text.iter().any(is_wildcard);
        let group = match pattern.strip_prefix(b"*") {
            _ if plain(pattern) && is_name => Some((&mut self.names, pattern)),
            _ if plain(pattern) => Some((&mut self.paths, pattern)),
            Some(end)
                if is_name
                    && plain(end)
                    && end.iter().rposition(|byte| *byte == b'.') == Some(0) =>
            {
                Some((&mut self.extensions, end))
            }
            _ => None,
        };
        match group {
            Some((group, text)) => group.entry(text.into()).or_default().push(index),
            None => {
                self.wildcard_bytes += pattern.len();
                if self.wildcard_bytes > MAX_WILDCARD_BYTES {
                    return Err(TooManyPatterns("more than 64 KiB of patterns with wildcards"));
                }
                // As in git, `**` at the start of the rest counts as standing behind a slash.
                let at = pattern.iter().position(is_wildcard).unwrap_or(pattern.len());
                let (prefix, rest) = pattern.split_at(at);
                let Some(rest) = Wildmatch::compile(rest) else { return Ok(()) };
                let prefix = prefix.into();
                self.wildcards.push(WildcardPattern { index, is_name, prefix, rest });
            }
        }
        self.patterns.push(PatternFlags { is_negated, is_for_folders });
        Ok(())
    }
}

impl WildcardPattern {
    fn is_match(&self, path: &[u8], name: &[u8], steps: &mut u64) -> bool {
        let text = if self.is_name { name } else { path };
        text.strip_prefix(&*self.prefix).is_some_and(|rest| self.rest.is_match(rest, steps))
    }
}

/// The line without the spaces at its end, unless a backslash escapes the first of them.
fn trim_spaces(line: &[u8]) -> &[u8] {
    let (mut end, mut at) = (0, 0);
    while let Some(byte) = line.get(at) {
        at += if *byte == b'\\' { 2 } else { 1 };
        if *byte != b' ' {
            end = at;
        }
        // A backslash at the end of the line: git leaves it as it is.
        if at > line.len() {
            return line;
        }
    }
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::{IgnorePatterns, TooManyPatterns, Verdict};

    fn patterns(text: &[u8]) -> IgnorePatterns {
        let mut patterns = IgnorePatterns::default();
        patterns.add_file(text).expect("it is within the bounds");
        patterns
    }

    fn verdict(patterns: &IgnorePatterns, path: &[u8], is_folder: bool) -> Option<Verdict> {
        patterns.verdict(path, is_folder, &mut u64::MAX.clone())
    }

    fn is_ignored(text: &str, path: &str) -> bool {
        verdict(&patterns(text.as_bytes()), path.as_bytes(), false) == Some(Verdict::Ignored)
    }

    #[test]
    fn any_ignore_file_is_read_and_its_last_line_decides() {
        let examples: &[&[u8]] = &[
            b"src/a/b.log\n# comment\n*.log\n!keep.log\n/build/\ndocs/**/*.md\n",
            b"a\n\xef\xbb\xbf**/node_modules/**\r\n\\#a \\ \n[!a-z]?[[:digit:]]*\n",
            b"x/y\nfoo*bar*baz\n[]-]\n[a\\]b]\n**\n/**/\n\\",
        ];
        let check = |input: &[u8]| {
            let (path, text) = input.split_at(input.len().min(80));
            let path = path.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let mut patterns = IgnorePatterns::default();
            if patterns.add_file(text).is_err() {
                return;
            }
            let _ = (verdict(&patterns, path, false), verdict(&patterns, path, true));
            for (last, expected) in [("*", Verdict::Ignored), ("!*", Verdict::Included)] {
                if patterns.add_file(last.as_bytes()).is_ok() {
                    assert_eq!(verdict(&patterns, path, false), Some(expected));
                }
            }
        };
        testkit::FuzzTarget { name: "ignore file", examples, check }.test();
    }

    #[test]
    fn braces_classes_and_escapes_are_those_of_git() {
        for (pattern, matching, other) in [
            ("secret{1}.txt", "secret{1}.txt", "secret1.txt"),
            ("{a,b}", "{a,b}", "a"),
            ("a{b", "a{b", "ab"),
            ("x[[:alpha:]]", "xa", "x1"),
            ("[a\\]b]", "]", "\\"),
            ("[!a]", "b", "a"),
            ("[^a]", "b", "a"),
            ("[]-]", "-", "a"),
            ("\\#a", "#a", "\\#a"),
            ("\\!a", "!a", "a"),
            ("a\\ ", "a ", "a"),
            ("a*b*c", "aXbYc", "aXbY"),
            ("/x/**/y", "x/y", "xy"),
            ("/x/**/y", "x/a/b/y", "z/x/y"),
        ] {
            assert!(is_ignored(pattern, matching), "{pattern} matches {matching}");
            assert!(!is_ignored(pattern, other), "{pattern} does not match {other}");
        }
    }

    #[test]
    fn the_last_pattern_that_matches_decides() {
        let text = b"*.log\n!keep.log\n*p.log\n!/a/*.log\nsecret/\n";
        let patterns = patterns(text);
        for (path, expected) in [
            ("x.log", Some(Verdict::Ignored)),
            ("keep.log", Some(Verdict::Ignored)),
            ("a/x.log", Some(Verdict::Included)),
            ("secret", None),
            ("x", None),
        ] {
            assert_eq!(verdict(&patterns, path.as_bytes(), false), expected, "{path}");
        }
        assert_eq!(verdict(&patterns, b"a/secret", true), Some(Verdict::Ignored));
    }

    #[test]
    fn patterns_are_bounded_in_number_and_size() {
        let add = |text: String| IgnorePatterns::default().add_file(text.as_bytes());
        for text in ["{a,".repeat(30_000), "?".repeat(1 << 20), "a".repeat(4097)] {
            assert_eq!(add(text), Err(TooManyPatterns("a line is longer than 4096 bytes")));
        }
        assert!(add("a\n".repeat(10_001)).is_err() && add("a\n".repeat(10_000)).is_ok());
        let wild = format!("{}\n", "?".repeat(4096));
        assert!(add(wild.repeat(17)).is_err() && add(wild.repeat(16)).is_ok());
    }

    /// Each star could try every place; the positions are a set, so that none is tried twice.
    #[test]
    fn a_pattern_of_many_stars_ends() {
        let pattern = "*a".repeat(2000);
        assert!(!is_ignored(&pattern, &format!("{}b", "a".repeat(4000))));
        assert!(is_ignored(&pattern, &"a".repeat(4000)));
    }

    /// Whatever the patterns are: what they hide is unknown.
    #[test]
    fn a_name_that_takes_too_many_steps_is_ignored() {
        let costly = format!("{}\n", "!*a*a*a*a*a*a*b".repeat(9)).repeat(99);
        let (patterns, name) = (patterns(costly.as_bytes()), [b'a'; 255]);
        let mut steps = 10_000_000;
        assert_eq!(patterns.verdict(&name, false, &mut steps), None);
        let needed = 10_000_000 - steps;
        assert!(needed > 100_000, "{needed}");
        for (mut steps, expected) in [(needed + 1, None), (needed, Some(Verdict::Ignored))] {
            assert_eq!(patterns.verdict(&name, false, &mut steps), expected, "{needed}");
        }
    }
}
