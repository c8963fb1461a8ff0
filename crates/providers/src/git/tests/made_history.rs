//! A history made from a fixed seed: merges, renames, criss-cross, octopus and odd encodings.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::TestRepo;

/// A pseudorandom sequence (xorshift).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }
}

type Files = BTreeMap<String, Vec<String>>;

/// A branch: its last commit and its files.
#[derive(Clone)]
struct Branch {
    name: String,
    mark: usize,
    files: Files,
}

/// Writes the history as a stream for `git fast-import`.
struct Maker {
    dice: Dice,
    stream: Vec<u8>,
    commits: usize,
    date: usize,
    words: usize,
    branches: Vec<Branch>,
}

/// Makes a repository of at least `commits` commits on `main`, `side` and `wild`.
pub(super) fn make_history(commits: usize) -> TestRepo {
    let repo = TestRepo { folder: tempfile::tempdir().unwrap() };
    repo.git(&["init", "-q", "-b", "main", "."]);
    let mut maker = Maker {
        dice: Dice::new(0x5eed_1234_abcd),
        stream: Vec::new(),
        commits: 0,
        date: 1_500_000_000,
        words: 0,
        branches: Vec::new(),
    };
    maker.begin();
    while maker.commits < commits {
        maker.step();
    }
    let others: Vec<usize> = vec![1, 2];
    maker.merge(0, &others);
    repo.git_with(&["fast-import", "--quiet", "--date-format=raw"], &[], &maker.stream);
    repo.git(&["reset", "-q", "--hard", "main"]);
    repo
}

impl Maker {
    fn begin(&mut self) {
        let mut files = Files::new();
        for at in 0..40 {
            let folder = ["", "src/", "src/deep/er/", "docs/"][at % 4];
            let lines = (0..30).map(|_| self.line()).collect();
            files.insert(format!("{folder}file{at}.txt"), lines);
        }
        let mut branch = Branch { name: "main".to_owned(), mark: 0, files: Files::new() };
        self.write_commit(&mut branch, files, (&[], "first"));
        for name in ["main", "side", "wild"] {
            self.branches.push(Branch { name: name.to_owned(), ..branch.clone() });
        }
    }

    fn line(&mut self) -> String {
        self.words += 1;
        match self.dice.roll(4) {
            0 => "}".to_owned(),
            1 => String::new(),
            2 => format!("    common {}", self.dice.roll(30)),
            _ => format!("line {} {}", self.words, self.dice.roll(1000)),
        }
    }

    fn step(&mut self) {
        let at = self.dice.roll(self.branches.len());
        match self.dice.roll(40) {
            0 | 1 => {
                let other = (at + 1) % self.branches.len();
                self.merge(at, &[other]);
            }
            2 => {
                let (one, two) = ((at + 1) % 3, (at + 2) % 3);
                self.merge(at, &[one, two]);
            }
            3 => self.criss_cross(at, (at + 1) % 3),
            4 => self.change(at, |_, _| {}, "empty"),
            5 | 6 => self.change(at, Self::rename, "rename"),
            7 => self.change(at, Self::copy, "copy"),
            8 => self.change(at, Self::remove, "remove"),
            9 => self.change(at, Self::add, "add"),
            _ => self.change(at, Self::edit, "edit"),
        }
    }

    fn change(&mut self, at: usize, act: fn(&mut Self, &mut Files), message: &str) {
        let mut branch = self.branches[at].clone();
        let mut files = branch.files.clone();
        for _ in 0..=self.dice.roll(2) {
            act(self, &mut files);
        }
        self.write_commit(&mut branch, files, (&[], message));
        self.branches[at] = branch;
    }

    fn pick(&mut self, files: &Files) -> Option<String> {
        let at = self.dice.roll(files.len().max(1));
        files.keys().nth(at).cloned()
    }

    fn edit(&mut self, files: &mut Files) {
        let Some(path) = self.pick(files) else { return };
        let mut lines = files[&path].clone();
        for _ in 0..=self.dice.roll(3) {
            let at = self.dice.roll(lines.len() + 1);
            let line = self.line();
            match self.dice.roll(3) {
                0 if at < lines.len() => drop(lines.remove(at)),
                1 if at < lines.len() => lines[at] = line,
                _ => lines.insert(at, line),
            }
        }
        files.insert(path, lines);
    }

    fn rename(&mut self, files: &mut Files) {
        let Some(path) = self.pick(files) else { return };
        let mut lines = files.remove(&path).unwrap();
        if self.dice.roll(2) == 0 && !lines.is_empty() {
            let at = self.dice.roll(lines.len());
            lines[at] = self.line();
        }
        self.words += 1;
        let folder = ["", "moved/", "src/"][self.dice.roll(3)];
        files.insert(format!("{folder}renamed{}.txt", self.words), lines);
    }

    fn copy(&mut self, files: &mut Files) {
        let Some(path) = self.pick(files) else { return };
        self.words += 1;
        files.insert(format!("copy{}.txt", self.words), files[&path].clone());
    }

    fn remove(&mut self, files: &mut Files) {
        if files.len() > 20
            && let Some(path) = self.pick(files)
        {
            files.remove(&path);
        }
    }

    fn add(&mut self, files: &mut Files) {
        self.words += 1;
        let names = ["n", "sp ace", "\u{65e5}\u{672c}"];
        let path = format!("new/{}{}.txt", names[self.dice.roll(3)], self.words);
        let count = 5 + self.dice.roll(20);
        files.insert(path, (0..count).map(|_| self.line()).collect());
    }

    fn merge(&mut self, at: usize, others: &[usize]) {
        let mut branch = self.branches[at].clone();
        let marks: Vec<usize> = others.iter().map(|other| self.branches[*other].mark).collect();
        let mut files = branch.files.clone();
        for other in others {
            let theirs = self.branches[*other].files.clone();
            // Files come from either side, some mixed from both.
            for (path, lines) in &theirs {
                match (files.get(path).cloned(), self.dice.roll(3)) {
                    (None, 0) | (Some(_), 1) => drop(files.insert(path.clone(), lines.clone())),
                    (Some(ours), 2) => {
                        let half = ours.len() / 2;
                        let mixed = ours[..half].iter().chain(lines.iter().skip(half));
                        files.insert(path.clone(), mixed.cloned().collect());
                    }
                    _ => {}
                }
            }
        }
        self.write_commit(&mut branch, files, (&marks, "merge"));
        self.branches[at] = branch;
    }

    fn criss_cross(&mut self, one: usize, two: usize) {
        let (old_one, old_two) = (self.branches[one].clone(), self.branches[two].clone());
        self.merge(one, &[two]);
        let merged = std::mem::replace(&mut self.branches[one], old_one);
        self.branches[two] = old_two;
        self.merge(two, &[one]);
        self.branches[one] = merged;
    }

    fn write_commit(
        &mut self,
        branch: &mut Branch,
        files: Files,
        (merges, message): (&[usize], &str),
    ) {
        let is_first = branch.mark == 0;
        self.commits += 1;
        // Dates mostly grow; some are equal, and some lie before those of their parents.
        match self.dice.roll(12) {
            0 => self.date -= 500,
            1 | 2 => {}
            _ => self.date += 1 + self.dice.roll(300),
        }
        let mut head = String::new();
        let name = if is_first { "main" } else { &branch.name };
        let (mark, date) = (self.commits, self.date);
        let _ = writeln!(head, "commit refs/heads/{name}\nmark :{mark}");
        let author = ["Ada", "Bea O'Neil", "\u{5c71}\u{7530}"][self.dice.roll(3)];
        let _ = writeln!(head, "author {author} <{mark}@example.com> {} +0900", date - 7);
        let _ = writeln!(head, "committer C <c@example.com> {date} -0130");
        self.stream.extend_from_slice(head.as_bytes());
        let mut text = format!("{message} {mark}\n\nBody of {mark}.\n").into_bytes();
        if mark % 97 == 0 {
            self.stream.extend_from_slice(b"encoding ISO-8859-1\n");
            text.extend_from_slice(b"d\xe9j\xe0 vu\n");
        }
        self.data(&text);
        if !is_first {
            self.stream.extend_from_slice(format!("from :{}\n", branch.mark).as_bytes());
        }
        for other in merges.iter().filter(|other| **other != branch.mark) {
            self.stream.extend_from_slice(format!("merge :{other}\n").as_bytes());
        }
        for path in branch.files.keys().filter(|path| !files.contains_key(*path)) {
            self.stream.extend_from_slice(format!("D {path}\n").as_bytes());
        }
        for (path, lines) in &files {
            if branch.files.get(path) != Some(lines) {
                self.stream.extend_from_slice(format!("M 100644 inline {path}\n").as_bytes());
                let mut content = lines.join("\n").into_bytes();
                // Some files do not end with a line feed.
                if path.len() % 5 != 0 {
                    content.push(b'\n');
                }
                self.data(&content);
            }
        }
        if is_first {
            self.odd_files();
        }
        self.stream.push(b'\n');
        branch.mark = mark;
        branch.files = files;
    }

    /// Files that no later commit touches: other charsets, binary, links, names of any bytes.
    fn odd_files(&mut self) {
        for (path, mode, content) in [
            (&b"odd/latin.txt"[..], "100644", &b"caf\xe9 cr\xe8me br\xfbl\xe9e\n"[..]),
            (b"odd/blob.bin", "100644", b"\0\x01\x02\xff\xfe"),
            (b"odd/run.sh", "100755", b"#!/bin/sh\necho hi\n"),
            (b"odd/link", "120000", b"../file0.txt"),
            (b"odd/crlf.txt", "100644", b"a\r\nb\r\n"),
            (b"odd/empty", "100644", b""),
            (b"\"odd/\\377\\376 name\"", "100644", b"bytes\n"),
        ] {
            self.stream.extend_from_slice(format!("M {mode} inline ").as_bytes());
            self.stream.extend_from_slice(path);
            self.stream.push(b'\n');
            self.data(content);
        }
    }

    fn data(&mut self, bytes: &[u8]) {
        self.stream.extend_from_slice(format!("data {}\n", bytes.len()).as_bytes());
        self.stream.extend_from_slice(bytes);
        self.stream.push(b'\n');
    }
}
