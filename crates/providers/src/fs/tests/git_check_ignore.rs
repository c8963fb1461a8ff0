//! Differential test of the ignore rules: random patterns and paths against `git check-ignore`.
//!
//! Each tree has several folders, each with the same files and its own random ignore file, and git
//! is asked about all of them at once.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Tree;
use crate::fs::path::LocalPath;
use crate::fs::{Fs, Options};

/// How many comparisons the test makes at least; `GIT_COMPARISONS` asks for more.
const COMPARISONS: usize = 4_000;
/// Files in a folder, folders in a tree, ignore files that each folder has in turn, and folders
/// that are served each time, besides the whole tree.
const FILES: usize = 40;
const FOLDERS: usize = 8;
const ROUNDS: usize = 8;
const SUBFOLDERS: usize = 100;

/// Parts of names, and of patterns, chosen so that they often meet.
const NAME_PARTS: [&str; 22] = [
    "a", "b", "ab", "c", "A", "1", "{", "}", "{a,b}", "[", "]", "\\", "!", "#", " ", "-", "^", ".",
    ".log", "é", "~", "{{x}}",
];
const PATTERN_PARTS: [&str; 52] = [
    "a",
    "b",
    "ab",
    "c",
    "A",
    "1",
    "{",
    "}",
    "{a,b}",
    "\\[",
    "]",
    "\\\\",
    "\\!",
    "\\#",
    " ",
    "\\ ",
    "-",
    "^",
    ".",
    ".log",
    "é",
    "{{x}}",
    "*",
    "*",
    "**",
    "***",
    "?",
    "/",
    "/",
    "/**",
    "**/",
    "/**/",
    "[ab]",
    "[!a]",
    "[^b]",
    "[a-c]",
    "[]a]",
    "[a\\]b]",
    "[[:alpha:]]",
    "[[:upper:]1]",
    "[![:space:]]",
    "[[:punct:]]",
    "[[:nope:]]",
    "[a-",
    "[",
    "[[:digit:]-]",
    "[\\a-\\c]",
    "[--1]",
    "[[:]",
    "[/]",
    "\\",
    "[!-~]",
];

/// A small random generator (xorshift), so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }

    fn join(&mut self, parts: &[&str], most: usize) -> String {
        (0..=self.below(most)).map(|_| parts[self.below(parts.len())]).collect()
    }

    /// A path of up to four names.
    fn path(&mut self) -> String {
        let names = (0..=self.below(4)).map(|_| match self.join(&NAME_PARTS, 3) {
            name if matches!(&*name, "." | "..") => "dot".to_owned(),
            name => name,
        });
        names.collect::<Vec<_>>().join("/")
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    /// A pattern that often matches a part of `path`: some characters become wildcards.
    fn pattern_like(&mut self, path: &str) -> String {
        let names: Vec<&str> = path.split('/').collect();
        let start = self.below(names.len());
        let end = start + 1 + self.below(names.len() - start);
        let mut pattern = self.pick(&["", "", "", "", "/", "**/", "*/", "*"]).to_owned();
        for letter in names[start..end].join("/").chars() {
            let is_special = matches!(letter, '[' | '\\' | '*' | '?' | '!' | '#' | ' ');
            match (letter, self.below(20)) {
                ('/', 0) => pattern += self.pick(&["/**/", "/*/", "\\/", "**/", "/**", "?", "*"]),
                ('/', _) => pattern.push(letter),
                (_, 0) => pattern += self.pick(&["?", "*", "**", "?*", "[!/]", "[^b]", "[]-}]"]),
                (_, 1) => pattern += self.pick(&["[[:alpha:]]", "[!-~]", "[a-c]", "[[:print:]]"]),
                (_, 2) => pattern += &format!("[x{letter}]"),
                (_, 3) => pattern += &format!("[\\{letter}-]"),
                (_, 4..=15) if is_special => pattern += &format!("\\{letter}"),
                (_, 4) => pattern += &format!("\\{letter}"),
                _ => pattern.push(letter),
            }
        }
        pattern + self.pick(&["", "", "", "", "", "*", "/**", "/*", "**"])
    }

    fn ignore_file(&mut self, files: &[String]) -> String {
        let mut lines = String::new();
        for _ in 0..=self.below(12) {
            let negated = if self.below(4) == 0 { "!" } else { "" };
            let end = self.pick(&["", "", "", "", "", "/", " ", "\\ ", "\r"]);
            let file = &files[self.below(files.len())];
            let pattern = match self.below(4) {
                0 => self.join(&PATTERN_PARTS, 5),
                _ => self.pattern_like(file),
            };
            lines += &format!("{negated}{pattern}{end}\n");
        }
        lines
    }
}

/// Which of `paths` git ignores, in a repository at `tree`.
fn ignored_by_git(tree: &Tree, paths: &[String]) -> BTreeSet<String> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(tree.root()).env("HOME", tree.root());
        command.env("GIT_CONFIG_NOSYSTEM", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
        command.spawn().unwrap()
    };
    assert!(git(&["init", "-q"]).wait().unwrap().success());
    let arguments = ["check-ignore", "--stdin", "-z", "-v", "-n", "--no-index"];
    let mut asked = git(&arguments);
    let mut input = asked.stdin.take().unwrap();
    let question = paths.join("\0") + "\0";
    let writer = std::thread::spawn(move || input.write_all(question.as_bytes()).unwrap());
    let output = asked.wait_with_output().unwrap().stdout;
    writer.join().unwrap();
    // Source, line, pattern and path of each; no source if no pattern matches.
    let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    let records = fields.chunks_exact(4);
    assert_eq!(records.len(), paths.len());
    let is_ignored = |record: &&[&[u8]]| !record[0].is_empty() && !record[2].starts_with(b"!");
    records
        .filter(is_ignored)
        .map(|record| String::from_utf8(record[3].to_vec()).unwrap())
        .collect()
}

/// Creates `files` in each folder; returns all paths below the folders.
fn create_files(tree: &Tree, files: &[String]) -> Vec<String> {
    let mut paths = BTreeSet::new();
    for folder in 0..FOLDERS {
        for file in files {
            let path = format!("f{folder}/{file}");
            // A file may stand where another needs a folder: then it is left out.
            let parent = tree.at(&path).parent().unwrap().to_owned();
            if fs::create_dir_all(parent).is_ok() && !tree.at(&path).is_dir() {
                fs::write(tree.at(&path), "").unwrap();
            }
            let mut end = Some(&path[..]);
            while let Some(path) = end.filter(|path| path.contains('/')) {
                if fs::symlink_metadata(tree.at(path)).is_ok() {
                    paths.insert(path.to_owned());
                }
                end = path.rsplit_once('/').map(|(parent, _)| parent);
            }
        }
    }
    paths.into_iter().collect()
}

/// Compares what git ignores with what is hidden where `folder` of the repository is served, and
/// returns how many paths were compared, and how many of them are ignored.
fn compare(
    tree: &Tree,
    folder: &str,
    (paths, ignored): (&[String], &BTreeSet<String>),
    seed: u64,
) -> (usize, usize) {
    // What git ignores as a whole can still be served, so that nothing can be compared.
    if ignored.contains(folder) {
        return (0, 0);
    }
    let options = Options { hidden: true, ..tree.options_at(folder) };
    let served = Fs::open(options).unwrap();
    let (mut compared, mut hidden) = (0, 0);
    for path in paths {
        let Ok(below) = Path::new(path).strip_prefix(folder) else { continue };
        let Some(local) = LocalPath::from_bytes(below.as_os_str().as_bytes()) else { continue };
        let is_hidden = served.root.find(&local).is_err();
        let rules = || {
            let parents = Path::new(path).ancestors().skip(1);
            let files =
                parents.map(|parent| fs::read_to_string(tree.at(parent).join(".gitignore")));
            files.filter_map(Result::ok).collect::<Vec<_>>()
        };
        let is_ignored = ignored.contains(path);
        assert_eq!(is_hidden, is_ignored, "seed {seed}: {path:?} in {folder:?} by {:?}", rules());
        compared += 1;
        hidden += usize::from(is_hidden);
    }
    (compared, hidden)
}

#[test]
fn files_are_hidden_exactly_where_git_ignores_them() {
    let wanted = std::env::var("GIT_COMPARISONS").map(|count| count.parse().unwrap());
    let wanted = wanted.unwrap_or(COMPARISONS);
    let (mut compared, mut hidden, mut in_subfolders, mut seed) = (0, 0, 0, 0_u64);
    while compared < wanted {
        seed += 1;
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let tree = Tree::of([]);
        let files: Vec<String> = (0..FILES).map(|_| random.path()).collect();
        let paths = create_files(&tree, &files);
        let is_folder = |path: &&String| tree.at(path).is_dir();
        let folders: Vec<&str> = paths.iter().filter(is_folder).map(|path| &path[..]).collect();
        for round in 0..ROUNDS {
            for folder in 0..FOLDERS {
                tree.write(format!("f{folder}/.gitignore"), random.ignore_file(&files));
            }
            let has_outer_rules = round % 2 == 1;
            let mut outer =
                || if has_outer_rules { random.ignore_file(&files) } else { String::new() };
            tree.write(".gitignore", outer());
            tree.write(".git/info/exclude", outer());
            let ignored = ignored_by_git(&tree, &paths);
            for served in 0..=SUBFOLDERS {
                let folder = if served == 0 { "" } else { random.pick(&folders) };
                let (count, ignored) = compare(&tree, folder, (&paths, &ignored), seed);
                compared += count;
                hidden += ignored;
                in_subfolders += if folder.is_empty() { 0 } else { count };
            }
        }
    }
    let share = compared / 10;
    assert!((share..compared - share).contains(&hidden), "{hidden} of {compared} are ignored");
    assert!(in_subfolders > share, "{in_subfolders} of {compared} are in subfolders");
}
