//! Copy of resources to disk. A later run of the same copy goes on where this one ends.

mod journal;
mod part;
mod safe_path;

use std::collections::HashSet;
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use resource::{Resource, Uri};
use serde_json::{Value, json};

pub(crate) use safe_path::safe_path;

use crate::connection::ServerConnection;
use crate::content::{Chunk, Selection};
use crate::error::CommandError;
use crate::table;
use journal::CopyJournal;
use part::PartFile;

/// A copy on its way.
pub(crate) struct Copy {
    folder: PathBuf,
    /// Whether to copy what is there already.
    is_forced: bool,
    /// How many resources there are; `None` for a single one.
    pub(crate) total: Option<usize>,
    copied: usize,
    present: usize,
    bytes: u64,
    pub(crate) failed: Vec<String>,
    taken: HashSet<PathBuf>,
    journal: CopyJournal,
    shows_progress: bool,
}

impl Copy {
    /// A copy of what lies at `start`.
    pub(crate) fn new(folder: &Path, start: &Uri, is_forced: bool, is_quiet: bool) -> Self {
        Self {
            folder: folder.to_owned(),
            is_forced,
            total: None,
            copied: 0,
            present: 0,
            bytes: 0,
            failed: Vec::new(),
            taken: HashSet::new(),
            journal: CopyJournal::open(folder, start.as_str()),
            shows_progress: io::stderr().is_terminal() && !is_quiet,
        }
    }

    /// Copies one resource; one that fails does not stop the others, a lost server does.
    pub(crate) async fn copy_one(
        &mut self,
        connection: &ServerConnection,
        resource: &Resource,
        path: &Path,
    ) -> Result<(), CommandError> {
        let path = self.free_path(path);
        if !self.is_forced && self.is_present(resource, &path) {
            self.present += 1;
            return Ok(());
        }
        match self.write_resource(connection, resource, &path).await {
            Ok(()) => self.copied += 1,
            Err(error @ CommandError::Unreachable(_)) => return Err(error),
            Err(error) if self.total.is_none() => return Err(error),
            Err(error) => self.failed.push(error.to_string()),
        }
        self.show_progress();
        Ok(())
    }

    /// The path, or one beside it if another resource has it: names may differ only in what
    /// [`safe_path`] replaces.
    fn free_path(&mut self, path: &Path) -> PathBuf {
        let mut free = path.to_owned();
        let mut number = 1;
        while !self.taken.insert(free.clone()) {
            number += 1;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            free = path.with_file_name(format!("{name}~{number}"));
        }
        free
    }

    /// Whether the file is there already. A resource that tells neither its size nor its time is
    /// there if an unfinished copy brought it.
    fn is_present(&self, resource: &Resource, path: &Path) -> bool {
        let Ok(file) = fs::symlink_metadata(self.folder.join(path)) else { return false };
        let is_new = match (resource.annotations.modified, file.modified()) {
            (Some(modified), Ok(own)) => own >= modified,
            _ => true,
        };
        let is_same = match (resource.size, resource.annotations.modified) {
            (Some(size), _) => size == file.len(),
            (None, Some(_)) => true,
            (None, None) => self.journal.is_done(path, resource.uri.as_str(), file.len()),
        };
        file.is_file() && is_same && is_new
    }

    /// Writes a resource, from where an earlier run ended if it is of the same version.
    async fn write_resource(
        &mut self,
        connection: &ServerConnection,
        resource: &Resource,
        path: &Path,
    ) -> Result<(), CommandError> {
        let target = self.folder.join(path);
        let known = self.journal.part_etag(path, resource.uri.as_str());
        let left = PartFile::reopen(&target).filter(|_| !self.is_forced);
        if let (Some(etag), Some(part)) = (known, left) {
            let writing = ResourceWriter { path, resource, etag: Some(etag), part };
            match self.fill(connection, writing).await {
                // The resource has changed: it is read from its beginning.
                Err(CommandError::Failed(_)) => {}
                filled => return filled,
            }
        }
        let part = PartFile::create(&target).map_err(|error| told(&target, &error))?;
        self.fill(connection, ResourceWriter { path, resource, etag: None, part }).await
    }

    async fn fill(
        &mut self,
        connection: &ServerConnection,
        mut writing: ResourceWriter<'_>,
    ) -> Result<(), CommandError> {
        let uri = &writing.resource.uri;
        let target = self.folder.join(writing.path);
        let selection = Selection::from_offset(writing.part.length(), writing.etag.as_deref());
        let mut modified = writing.resource.annotations.modified;
        let read = connection.read_chunks(uri, &selection, |chunk| {
            modified = modified.or(chunk.resource.annotations.modified);
            writing.append(&chunk, &mut self.journal).map_err(|error| told(&target, &error))?;
            self.bytes += chunk.bytes.len() as u64;
            self.show_progress();
            Ok(true)
        });
        if let Err(error) = read.await {
            if matches!(error, CommandError::Failed(_)) {
                writing.part.discard();
            }
            return Err(error);
        }
        let bytes = writing.part.length();
        writing.part.finish(modified).map_err(|error| told(&target, &error))?;
        if writing.resource.size.is_none() && modified.is_none() {
            self.journal.record_done(writing.path, uri.as_str(), bytes);
        }
        Ok(())
    }

    fn show_progress(&self) {
        if self.shows_progress {
            let total = self.total.map_or_else(String::new, |total| format!(" of {total}"));
            let done = self.copied + self.present + self.failed.len();
            let line = format!("\r{done}{total}, {}\x1b[K", table::size(self.bytes));
            let _ = io::stderr().write_all(line.as_bytes());
        }
    }

    /// Takes the progress off the terminal, before a line that stays.
    pub(crate) fn clear_progress(&self) {
        if self.shows_progress {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
    }

    /// What was copied, in a sentence.
    pub(crate) fn summary(&self) -> String {
        let was = match self.present {
            0 => String::new(),
            present => format!(", {present} were there"),
        };
        format!("copied {} ({}){was}", self.copied, table::size(self.bytes))
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "folder": self.folder.display().to_string(), "copied": self.copied,
            "present": self.present, "bytes": self.bytes, "failed": self.failed,
        })
    }

    /// Ends the copy. Its journal stays as long as something is missing.
    pub(crate) fn finish(self) -> Result<(), CommandError> {
        match self.failed.len() {
            0 => {
                self.journal.remove();
                Ok(())
            }
            count => Err(CommandError::Failed(format!(
                "{count} could not be copied; run it again to retry"
            ))),
        }
    }
}

/// A resource that is being written.
struct ResourceWriter<'a> {
    path: &'a Path,
    resource: &'a Resource,
    /// The version of what the part has; `None` before the first chunk, or if nothing tells it.
    etag: Option<String>,
    part: PartFile,
}

impl ResourceWriter<'_> {
    fn append(&mut self, chunk: &Chunk, journal: &mut CopyJournal) -> io::Result<()> {
        let length = self.part.length();
        let etag = chunk.resource.etag.as_deref();
        let continues =
            length == 0 || (chunk.offset == Some(length) && etag == self.etag.as_deref());
        // Content without windows comes in elements, which have no offset.
        if !continues && (chunk.offset.is_some() || self.etag.is_some()) {
            return Err(io::Error::other("the resource changed while it was copied"));
        }
        if let (Some(etag), true) = (&self.etag, length > 0) {
            // A second window follows, so a later run could go on here.
            journal.record_part(self.path, self.resource.uri.as_str(), etag);
            self.part.keep();
        }
        if length == 0 {
            self.etag = chunk.offset.and(etag).map(str::to_owned);
        }
        self.part.append(&chunk.bytes)
    }
}

fn told(path: &Path, error: &io::Error) -> CommandError {
    CommandError::Failed(format!("{}: {error}", path.display()))
}
