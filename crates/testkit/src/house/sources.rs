//! Source files of the repository, and their program lines without tests and comments.

use std::fs;
use std::io;
use std::path::Path;

/// A source file.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// The path, relative to the repository, with slashes.
    pub path: String,
    /// The content.
    pub text: String,
}

impl SourceFile {
    /// Creates a file with the content `text`.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// All lines with their numbers.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// The program lines with their numbers: no comments, and no tests.
    pub fn program_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let end = if self.is_test() { 0 } else { self.tests_begin() };
        let lines = self.lines().take_while(move |(number, _)| *number < end);
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// Whether it is written in Rust.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    fn is_test(&self) -> bool {
        let mut parts = self.path.split('/');
        parts.any(|part| ["tests", "tests.rs", "benches", "examples"].contains(&part))
    }

    /// The line where the test module begins, or the one after the last line.
    fn tests_begin(&self) -> usize {
        let lines: Vec<&str> = self.text.lines().map(str::trim).collect();
        let is_module = |line: &&str| line.trim_start_matches("pub(crate) ").starts_with("mod ");
        let begins = lines
            .windows(2)
            .position(|pair| pair[0] == "#[cfg(test)]" && pair.get(1).is_some_and(is_module));
        begins.map_or(lines.len(), |index| index) + 1
    }

    /// Whether the file is at or below `room`: a path without `.rs`, whose parts may be `*`.
    pub fn is_under(&self, room: &str) -> bool {
        let mut parts = self.path.split('/');
        room.trim_end_matches('/').split('/').all(|wanted| {
            let part = parts.next();
            part.is_some_and(|part| {
                wanted == "*" || part == wanted || part.strip_suffix(".rs") == Some(wanted)
            })
        })
    }
}

/// Reads all source files below `root`, sorted by path.
pub fn read_all(root: &Path) -> io::Result<Vec<SourceFile>> {
    let mut sources = Vec::new();
    collect(root, "", &mut sources)?;
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

fn collect(folder: &Path, prefix: &str, into: &mut Vec<SourceFile>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() && !is_foreign(&name) {
            collect(&entry.path(), &format!("{path}/"), into)?;
        } else if kind.is_file() && is_source(&name) {
            into.push(SourceFile { path, text: fs::read_to_string(entry.path())? });
        }
    }
    Ok(())
}

/// Whether a folder is hidden, or holds build output or installed packages.
fn is_foreign(folder: &str) -> bool {
    folder.starts_with('.') || ["target", "node_modules", "__pycache__"].contains(&folder)
}

fn is_source(file: &str) -> bool {
    [".rs", ".py", ".js", ".mjs"].iter().any(|ending| file.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::SourceFile;

    #[test]
    fn comments_and_tests_are_no_program() {
        let text =
            "//! Why?\nuse a;\n/// Doc.\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n    bad();\n}\n";
        let source = SourceFile::new("crates/x/src/lib.rs", text);
        let lines: Vec<usize> = source.program_lines().map(|(number, _)| number).collect();
        assert_eq!(lines, [2, 4, 5]);
        assert_eq!(SourceFile::new("crates/x/src/a/tests.rs", text).program_lines().count(), 0);
        assert_eq!(SourceFile::new("crates/x/tests/it/main.rs", text).program_lines().count(), 0);
        assert_eq!(SourceFile::new("a.rs", "one\ntwo").program_lines().count(), 2);
    }

    #[test]
    fn a_room_is_a_file_or_a_folder_of_that_name() {
        let stands = |path: &str, room| SourceFile::new(path, "").is_under(room);
        assert!(stands("crates/protocol/src/revision.rs", "crates/protocol/src/revision"));
        assert!(stands("crates/protocol/src/revision/a.rs", "crates/protocol/src/revision"));
        assert!(!stands("crates/protocol/src/revisions.rs", "crates/protocol/src/revision"));
        assert!(stands("crates/server/src/transport/http.rs", "crates/*/src/transport"));
        assert!(stands("crates/providers/src/fs/mod.rs", "crates/providers/src/*/*"));
        assert!(!stands("crates/providers/src/lib.rs", "crates/providers/src/*/*"));
    }
}
