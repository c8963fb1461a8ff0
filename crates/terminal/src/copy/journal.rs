//! Journal of a copy that is not finished: what a later run of the same copy need not read again.
//!
//! A line of JSON for each entry, in a file of the target folder that goes when the copy is whole.
//! Without a journal, or with one that cannot be read, a copy reads more than it must.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The name of the file.
pub(super) const JOURNAL: &str = ".refdesk-copy";
/// How much of a journal is read.
const MAX_BYTES: u64 = 64 << 20;
/// How long a journal counts. What it says of resources that tell no time is only so old.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A line of a journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum JournalLine {
    /// Where the copy starts. It is the first line.
    Start(String),
    /// A resource of which a part is on disk, and the version of it.
    Part { path: PathBuf, uri: String, etag: String },
    /// A resource that is copied, and that tells neither its size nor its time.
    Done { path: PathBuf, uri: String, bytes: u64 },
}

/// What an earlier run did, and what this one does.
pub(super) struct CopyJournal {
    file_path: PathBuf,
    start: String,
    /// The file, once there is something to write.
    file: Option<File>,
    parts: HashMap<PathBuf, (String, String)>,
    done: HashMap<PathBuf, (String, u64)>,
}

impl CopyJournal {
    /// The journal of a folder. One of another copy, or an old one, is forgotten.
    pub(super) fn open(folder: &Path, start: &str) -> Self {
        let file_path = folder.join(JOURNAL);
        let mut journal = Self {
            start: start.to_owned(),
            file: None,
            parts: HashMap::new(),
            done: HashMap::new(),
            file_path,
        };
        if journal.read().is_none() {
            journal.parts.clear();
            journal.done.clear();
        }
        journal
    }

    fn read(&mut self) -> Option<()> {
        let file = File::open(&self.file_path).ok()?;
        let about = file.metadata().ok().filter(fs::Metadata::is_file)?;
        about.modified().ok()?.elapsed().ok().filter(|age| *age < MAX_AGE)?;
        let mut text = String::new();
        file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
        // The last line may be cut off.
        let mut lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        lines
            .next()
            .filter(|line| matches!(line, JournalLine::Start(start) if *start == self.start))?;
        for line in lines {
            match line {
                JournalLine::Start(_) => return None,
                JournalLine::Part { path, uri, etag } => drop(self.parts.insert(path, (uri, etag))),
                JournalLine::Done { path, uri, bytes } => {
                    drop(self.done.insert(path, (uri, bytes)))
                }
            }
        }
        self.file = File::options().append(true).open(&self.file_path).ok();
        if let (Some(file), false) = (&mut self.file, text.ends_with('\n')) {
            let _ = file.write_all(b"\n");
        }
        Some(())
    }

    /// The version of which a part of this resource is on disk.
    pub(super) fn part_etag(&self, path: &Path, uri: &str) -> Option<String> {
        let (known, etag) = self.parts.get(path)?;
        (known == uri).then(|| etag.clone())
    }

    /// Whether this resource was copied to a file of this length.
    pub(super) fn is_done(&self, path: &Path, uri: &str, bytes: u64) -> bool {
        self.done.get(path).is_some_and(|(known, length)| known == uri && *length == bytes)
    }

    pub(super) fn record_part(&mut self, path: &Path, uri: &str, etag: &str) {
        let (path, uri, etag) = (path.to_owned(), uri.to_owned(), etag.to_owned());
        self.write(&JournalLine::Part { path, uri, etag });
    }

    pub(super) fn record_done(&mut self, path: &Path, uri: &str, bytes: u64) {
        let (path, uri) = (path.to_owned(), uri.to_owned());
        self.write(&JournalLine::Done { path, uri, bytes });
    }

    fn write(&mut self, line: &JournalLine) {
        if self.file.is_none() {
            self.file = File::create(&self.file_path).ok();
            self.write_line(&JournalLine::Start(self.start.clone()));
        }
        self.write_line(line);
    }

    fn write_line(&mut self, line: &JournalLine) {
        if let (Some(file), Ok(text)) = (&mut self.file, serde_json::to_string(line)) {
            let _ = file.write_all(format!("{text}\n").as_bytes());
        }
    }

    /// Removes the file: the copy is whole.
    pub(super) fn remove(self) {
        if self.file.is_some() {
            let _ = fs::remove_file(&self.file_path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::{CopyJournal, JOURNAL, MAX_AGE};

    #[test]
    fn a_later_run_of_the_same_copy_knows_what_the_first_did() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(JOURNAL);
        let open = |start: &str| CopyJournal::open(folder.path(), start);
        let mut first = open("a://b");
        assert!(!file.exists());
        first.record_part(Path::new("x"), "a://b/x", "v1");
        first.record_done(Path::new("y"), "a://b/y", 3);
        fs::File::options().append(true).open(&file).unwrap().write_all(b"{\"done\":{").unwrap();
        let second = open("a://b");
        assert_eq!(second.part_etag(Path::new("x"), "a://b/x").as_deref(), Some("v1"));
        assert_eq!(second.part_etag(Path::new("x"), "a://b/other"), None);
        assert!(second.is_done(Path::new("y"), "a://b/y", 3));
        assert!(!second.is_done(Path::new("y"), "a://b/y", 4));
        assert!(!open("a://c").is_done(Path::new("y"), "a://b/y", 3));
        let old = SystemTime::now() - MAX_AGE - Duration::from_secs(1);
        fs::File::options().append(true).open(&file).unwrap().set_modified(old).unwrap();
        assert!(!open("a://b").is_done(Path::new("y"), "a://b/y", 3));
        second.remove();
        assert!(!file.exists());
    }

    #[test]
    fn a_journal_that_is_none_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["", "x", "{}", "{\"done\":{\"path\":\"y\",\"uri\":\"a\",\"bytes\":1}}\n"] {
            fs::write(folder.path().join(JOURNAL), text).unwrap();
            let journal = CopyJournal::open(folder.path(), "a");
            assert!(!journal.is_done(Path::new("y"), "a", 1), "{text}");
        }
    }
}
