//! Changes of files between two trees, with their contents and counts of lines.

use std::borrow::Cow;
use std::sync::Arc;

use gix::diff::blob::{Algorithm, Diff, InternedInput};
use gix::objs::tree::EntryKind;
use resource::Result;

use super::blob::{BlobContent, decode};
use super::describe::submodule_text;
use super::json::JsonObject;
use super::repo_path::RepoPath;
use super::repository::GitSession;
use super::tree::FoundEntry;
use super::tree_changes::TreeChange;
use super::unified::write_hunks;
use super::visibility::RevisionFolder;

/// The largest text that is compared by lines, in bytes.
const MAX_COMPARED_BYTES: usize = 8 << 20;

/// A file that differs.
#[derive(Debug, Clone)]
pub(super) struct ChangedFile {
    pub(super) path: Vec<u8>,
    /// The earlier path of a renamed file, and how similar both are, in percent.
    pub(super) from: Option<(Vec<u8>, u64)>,
    pub(super) old: Option<FileVersionRef>,
    pub(super) new: Option<FileVersionRef>,
}

/// One side of a change.
#[derive(Debug, Clone)]
pub(super) struct FileVersionRef {
    pub(super) entry: FoundEntry,
    /// The content, if it is no object of the repository, as of a file in the worktree.
    pub(super) content: Option<Arc<BlobContent>>,
}

/// The lines of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LineChanges {
    pub(super) additions: u64,
    pub(super) deletions: u64,
    /// Why the lines are not shown, if they are not.
    pub(super) omitted: Option<&'static str>,
    /// The hunks, in the unified format.
    pub(super) hunks: String,
}

impl GitSession<'_> {
    /// Finds the files that differ between two trees and that the principal sees in all of `viewed`,
    /// renames joined.
    pub(super) fn file_changes(
        &self,
        old: Option<gix::ObjectId>,
        new: Option<gix::ObjectId>,
        scope: &RepoPath,
        viewed: &[RevisionFolder],
    ) -> Result<Vec<ChangedFile>> {
        let changes = self.visible_changes(old, new, scope, viewed)?;
        self.join_renames(changes)
    }

    /// Joins renames and splits changes of a file's type, as git does.
    pub(super) fn join_renames(&self, changes: Vec<TreeChange>) -> Result<Vec<ChangedFile>> {
        let version = |entry| FileVersionRef { entry, content: None };
        let mut all = Vec::new();
        for (change, from) in self.with_renames(changes)? {
            let from = from.map(|(path, score)| (path, score * 100 / super::similarity::MAX_SCORE));
            let (old, new) = (change.old.map(version), change.new.map(version));
            all.push(ChangedFile { path: change.path, from, old, new });
        }
        Ok(all)
    }

    /// Compares the lines of a change. `with_hunks` decides whether the lines are written.
    pub(super) fn line_changes(
        &self,
        change: &ChangedFile,
        with_hunks: bool,
    ) -> Result<LineChanges> {
        self.check_cancelled()?;
        let old_path = change.from.as_ref().map_or(&change.path, |(path, _)| path);
        let load = |side: &Option<FileVersionRef>, path: &[u8]| match side {
            Some(version) => self.load_version(version, path).map(Some),
            None => Ok(None),
        };
        let omitted = |why| LineChanges { omitted: Some(why), ..LineChanges::default() };
        let (old, new) = match (load(&change.old, old_path), load(&change.new, &change.path)) {
            (Ok(old), Ok(new)) => (old, new),
            (Err(error), _) | (_, Err(error)) if error.kind == resource::ErrorKind::TooLarge => {
                return Ok(omitted("too large"));
            }
            (Err(error), _) | (_, Err(error))
                if error.kind == resource::ErrorKind::Unavailable && self.is_partial_clone() =>
            {
                return Ok(omitted("not in this partial clone"));
            }
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        fn text(side: Option<&BlobContent>) -> Option<&str> {
            side.map_or(Some(""), BlobContent::text)
        }
        let (Some(old), Some(new)) = (text(old.as_deref()), text(new.as_deref())) else {
            return Ok(omitted("binary"));
        };
        if old.len().max(new.len()) > MAX_COMPARED_BYTES {
            return Ok(omitted("too large"));
        }
        let input = InternedInput::new(old.as_bytes(), new.as_bytes());
        let diff = diff_lines(&input);
        let hunks = if with_hunks { write_hunks(&diff, &input) } else { String::new() };
        let (additions, deletions) = (diff.count_additions(), diff.count_removals());
        let (additions, deletions) = (u64::from(additions), u64::from(deletions));
        Ok(LineChanges { additions, deletions, omitted: None, hunks })
    }

    fn load_version(&self, version: &FileVersionRef, path: &[u8]) -> Result<Arc<BlobContent>> {
        if let Some(content) = &version.content {
            return Ok(Arc::clone(content));
        }
        match version.entry.kind {
            EntryKind::Commit => Ok(Arc::new(decode(submodule_text(version.entry).into_bytes()))),
            _ => self.load_blob(version.entry.id, path),
        }
    }
}

/// Compares lines as git does by default.
pub(super) fn diff_lines(input: &InternedInput<&[u8]>) -> Diff {
    gix::diff::blob::diff_with_slider_heuristics(Algorithm::Myers, input)
}

impl ChangedFile {
    /// The letter that git gives the change.
    pub(super) fn status(&self) -> &'static str {
        match (&self.old, &self.new) {
            (None, _) => "A",
            (_, None) => "D",
            _ if self.from.is_some() => "R",
            (Some(old), Some(new)) if kind_class(old) != kind_class(new) => "T",
            _ => "M",
        }
    }

    pub(super) fn path_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.path)
    }

    /// The change as JSON.
    pub(super) fn to_json(&self, lines: &LineChanges) -> String {
        let from = self.from.as_ref().map(|(path, _)| String::from_utf8_lossy(path));
        JsonObject::new()
            .text("path", &self.path_text())
            .optional_text("from", from.as_deref())
            .text("status", self.status())
            .number("additions", lines.additions)
            .number("deletions", lines.deletions)
            .optional_text("omitted", lines.omitted)
            .finish()
    }
}

/// The type of a file, which an executable bit does not change.
pub(super) fn kind_class(version: &FileVersionRef) -> EntryKind {
    match version.entry.kind {
        EntryKind::BlobExecutable => EntryKind::Blob,
        kind => kind,
    }
}
