//! Diffs of two revisions, and of HEAD and the worktree.

use gix::ObjectId;
use resource::{ReadRequest, Reading, Resource, Result, Uri};

use super::changed_file::ChangedFile;
use super::document::{DocumentFormat, UNIFIED_DIFF, declare_formats};
use super::error::{not_found, over_bound, unreadable};
use super::files::NO_PATH;
use super::json::{JsonObject, json_array};
use super::location::{DiffRange, RevisionSpec};
use super::repo_path::RepoPath;
use super::repository::GitSession;
use super::unified::{split_type_change, write_file};
use super::visibility::RevisionFolder;

/// The longest diff that is written, in bytes.
const MAX_DIFF_BYTES: usize = 16 << 20;

/// The two trees of a diff.
struct DiffEnds {
    old: ObjectId,
    new: ObjectId,
    is_immutable: bool,
    /// The revisions whose files are compared, as rules judge them.
    viewed: Vec<RevisionFolder>,
}

impl GitSession<'_> {
    /// Writes the unified diff of `changes`.
    pub(super) fn diff_text(&self, changes: &[ChangedFile]) -> Result<String> {
        let mut text = String::new();
        for change in changes.iter().flat_map(split_type_change) {
            let lines = self.line_changes(&change, true)?;
            let is_masked = self.syntax_of(&change.path).is_some()
                || change.from.as_ref().is_some_and(|(path, _)| self.syntax_of(path).is_some());
            write_file(&change, &lines, is_masked, &mut text);
            if text.len() > MAX_DIFF_BYTES {
                return Err(over_bound(
                    "the diff is over 16 MiB; ask for the one of a file or folder by its path",
                ));
            }
        }
        Ok(text)
    }

    /// Describes a diff.
    pub(super) fn describe_diff(
        &self,
        uri: &Uri,
        range: &DiffRange,
        path: &RepoPath,
    ) -> Result<Resource> {
        let text = |revision: &RevisionSpec| self.revision_text(revision);
        let (title, ends) = match range {
            DiffRange::Between(from, to) => {
                (format!("Diff of {} and {}", text(from), text(to)), self.diff_ends(range)?)
            }
            DiffRange::SinceMergeBase(from, to) => {
                let title = format!("Diff of {} since it left {}", text(to), text(from));
                (title, self.diff_ends(range)?)
            }
            DiffRange::Worktree => {
                self.require_worktree()?;
                ("Diff of HEAD and the worktree".to_owned(), None)
            }
        };
        let head = [RevisionFolder::whole(RevisionSpec::head())];
        let viewed = ends.as_ref().map_or(&head[..], |ends| &ends.viewed);
        let is_known = |folder: &RevisionFolder| self.knows(folder, path.as_bytes());
        if !path.is_root() && !viewed.iter().all(is_known) {
            return Err(not_found(NO_PATH));
        }
        let mut resource = Resource::new(uri.clone(), "diff");
        resource.title = Some(match path.is_root() {
            true => title,
            false => format!("{title}: {}", path.to_text()),
        });
        resource.is_view = true;
        resource.immutable = ends.as_ref().is_some_and(|ends| ends.is_immutable);
        resource.watchable = Some(self.git.is_watched && !resource.immutable);
        resource.etag = ends.map(|ends| self.message_etag(&format!("{}-{}", ends.old, ends.new)));
        declare_formats(&mut resource, UNIFIED_DIFF);
        Ok(resource)
    }

    /// An error if the repository is bare.
    pub(super) fn require_worktree(&self) -> Result<()> {
        match self.repo.workdir() {
            Some(_) => Ok(()),
            None => Err(not_found("the repository is bare: it has no worktree")),
        }
    }

    /// The trees of a diff; `None` if one is the worktree.
    fn diff_ends(&self, range: &DiffRange) -> Result<Option<DiffEnds>> {
        let (from, to) = match range {
            DiffRange::Between(from, to) | DiffRange::SinceMergeBase(from, to) => (from, to),
            DiffRange::Worktree => return Ok(None),
        };
        let (old, new) = (self.resolve(from)?, self.resolve(to)?);
        if !old.is_tree || !new.is_tree {
            return Err(not_found("a diff is of two revisions, and one of these is a file"));
        }
        let is_immutable = old.is_immutable && new.is_immutable;
        let viewed = vec![self.folder_of(from, &old), self.folder_of(to, &new)];
        let base = match (range, old.commit, new.commit) {
            (DiffRange::SinceMergeBase(..), Some(from), Some(to)) => {
                let base = self.repo.merge_base(from, to).map_err(unreadable)?;
                let none = || not_found("the revisions have no common ancestor");
                self.commit(base.ok_or_else(none)?.detach())?.tree
            }
            (DiffRange::SinceMergeBase(..), _, _) => {
                return Err(not_found("only commits have a common ancestor"));
            }
            _ => old.root,
        };
        Ok(Some(DiffEnds { old: base, new: new.root, is_immutable, viewed }))
    }

    /// Reads a diff.
    pub(super) fn read_diff(
        &self,
        uri: &Uri,
        (range, path): (&DiffRange, &RepoPath),
        request: &ReadRequest,
    ) -> Result<Reading> {
        let described = self.describe_diff(uri, range, path)?;
        self.read_document(&described, request, |format| {
            let ends = self.diff_ends(range)?;
            let changes = match &ends {
                Some(ends) => {
                    self.file_changes(Some(ends.old), Some(ends.new), path, &ends.viewed)?
                }
                None => self.worktree_changes(path)?,
            };
            match format {
                DocumentFormat::Text => self.diff_text(&changes),
                DocumentFormat::Json => {
                    let mut files = Vec::with_capacity(changes.len());
                    for change in &changes {
                        files.push(change.to_json(&self.line_changes(change, false)?));
                    }
                    // They change with every file.
                    let ids = ends.filter(|_| !self.is_restricted());
                    let ids = ids.map(|ends| (ends.old.to_string(), ends.new.to_string()));
                    let json = JsonObject::new()
                        .optional_text("from_tree", ids.as_ref().map(|ids| ids.0.as_str()))
                        .optional_text("to_tree", ids.as_ref().map(|ids| ids.1.as_str()));
                    Ok(json.raw("files", &json_array(files)).finish())
                }
            }
        })
    }
}
