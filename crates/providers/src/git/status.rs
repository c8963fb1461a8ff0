//! State of the worktree and the index, as `git status` tells it.

use std::collections::BTreeMap;
use std::mem;

use gix::objs::tree::EntryKind;
use gix::status::UntrackedFiles;
use gix::status::index_worktree::Item as WorktreeItem;
use gix::status::plumbing::index_as_worktree::{Change as WorktreeChange, Conflict, EntryStatus};
use gix::status::tree_index::TrackRenames;
use resource::{ReadRequest, Reading, Resource, Result, Uri};

use super::document::{DocumentFormat, MARKDOWN, declare_formats};
use super::error::{over_bound, unreadable};
use super::json::{JsonObject, json_array};
use super::location::RevisionSpec;
use super::repo_path::quoted;
use super::repository::GitSession;
use super::tree::FoundEntry;
use super::tree_changes::TreeChange;
use super::visibility::RevisionFolder;

/// How many changed files are told.
const MAX_STATUS: usize = 100_000;

/// The state of one file, in git's letters; a space for no change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileStatus {
    pub(super) path: Vec<u8>,
    pub(super) from: Option<Vec<u8>>,
    pub(super) index: char,
    pub(super) worktree: char,
}

/// What a status has found so far.
#[derive(Default)]
struct StatusParts {
    /// Changes of the index against HEAD.
    staged: Vec<TreeChange>,
    /// Changes of the worktree against the index.
    unstaged: BTreeMap<Vec<u8>, char>,
    conflicts: BTreeMap<Vec<u8>, (char, char)>,
    untracked: Vec<Vec<u8>>,
}

impl GitSession<'_> {
    /// Describes the status.
    pub(super) fn describe_status(&self, uri: &Uri) -> Result<Resource> {
        self.require_worktree()?;
        let mut resource = Resource::new(uri.clone(), "status");
        resource.title = Some("Status of the worktree".to_owned());
        resource.description =
            Some("Changed, staged and untracked files; diff/worktree has their lines".to_owned());
        resource.watchable = Some(self.git.is_watched);
        resource.is_view = true;
        declare_formats(&mut resource, MARKDOWN);
        Ok(resource)
    }

    /// Reads the status.
    pub(super) fn read_status(&self, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let described = self.describe_status(uri)?;
        let files = self.status_files()?;
        self.read_document(&described, request, |format| {
            Ok(match format {
                DocumentFormat::Json => json_array(files.iter().map(FileStatus::to_json)),
                DocumentFormat::Text => self.status_text(&files),
            })
        })
    }

    fn status_text(&self, files: &[FileStatus]) -> String {
        let head = self.repo.head_name().ok().flatten();
        let head = head.filter(|name| self.knows_revision(name.shorten()));
        let head =
            head.map_or("a detached HEAD".to_owned(), |name| format!("branch {}", name.shorten()));
        let mut text = self.git.mask_text(&format!("# Status of {head}\n\n"));
        if files.is_empty() {
            text.push_str("Nothing changed.\n");
        }
        for file in files {
            let from = file.from.as_ref();
            let from = from.map(|from| format!("{} -> ", quoted(from))).unwrap_or_default();
            let path = quoted(&file.path);
            text.push_str(&format!("- `{}{}` {from}{path}\n", file.index, file.worktree));
        }
        text
    }

    /// The files that `git status` tells, as far as the principal sees them at HEAD: tracked ones by
    /// path, then untracked ones.
    pub(super) fn status_files(&self) -> Result<Vec<FileStatus>> {
        let mut parts = self.collect_status(UntrackedFiles::Collapsed)?;
        if self.is_restricted() {
            self.retain_visible(&mut parts)?;
        }
        let untracked = self.untracked_files(&mut parts)?;
        let mut tracked: BTreeMap<Vec<u8>, FileStatus> = BTreeMap::new();
        let blank =
            |path: &[u8]| FileStatus { path: path.to_vec(), from: None, index: ' ', worktree: ' ' };
        for (change, from) in self.with_renames(parts.staged)? {
            let file = tracked.entry(change.path.clone()).or_insert_with(|| blank(&change.path));
            file.index = match (&from, change.old, change.new) {
                (Some(_), _, _) => 'R',
                (_, None, _) => 'A',
                (_, _, None) => 'D',
                (_, Some(old), Some(new)) if is_other_type(old.kind, new.kind) => 'T',
                _ => 'M',
            };
            file.from = from.map(|(path, _)| path);
        }
        for (path, letter) in parts.unstaged {
            tracked.entry(path.clone()).or_insert_with(|| blank(&path)).worktree = letter;
        }
        for (path, (index, worktree)) in parts.conflicts {
            tracked.insert(path.clone(), FileStatus { index, worktree, ..blank(&path) });
        }
        let mut files: Vec<FileStatus> = tracked.into_values().collect();
        files.extend(untracked.iter().map(|path| FileStatus {
            index: '?',
            worktree: '?',
            ..blank(path)
        }));
        Ok(files)
    }

    /// Leaves out the files that the principal may not know of, and the untracked folders that hold
    /// no others.
    fn retain_visible(&self, parts: &mut StatusParts) -> Result<()> {
        let head = [RevisionFolder::whole(RevisionSpec::head())];
        let shows = |path: &[u8]| self.shows_file(&head, path);
        parts.staged.retain(|change| shows(&change.path));
        parts.unstaged.retain(|path, _| shows(path));
        parts.conflicts.retain(|path, _| shows(path));
        if !parts.untracked.iter().any(|path| path.ends_with(b"/")) {
            parts.untracked.retain(|path| shows(path));
            return Ok(());
        }
        let mut files = self.collect_status(UntrackedFiles::Files)?.untracked;
        files.retain(|path| shows(path));
        files.sort();
        parts.untracked.retain(|path| {
            let next = files.get(files.partition_point(|file| file < path));
            next.is_some_and(|file| match path.ends_with(b"/") {
                true => file.starts_with(path),
                false => file == path,
            })
        });
        Ok(())
    }

    /// The untracked files and folders of a status, in order.
    fn untracked_files(&self, parts: &mut StatusParts) -> Result<Vec<Vec<u8>>> {
        let holds_conflict =
            |folder: &[u8]| parts.conflicts.keys().any(|path| path.starts_with(folder));
        let found = mem::take(&mut parts.untracked).into_iter();
        // What a conflict left in the worktree is told as a conflict, and its folder is none that
        // git knows nothing of.
        let (open, mut untracked): (Vec<_>, Vec<_>) = found.partition(|path| holds_conflict(path));
        let is_open = |path: &[u8]| open.iter().any(|folder| path.starts_with(folder));
        if open.iter().any(|path| path.ends_with(b"/")) {
            let files = self.collect_status(UntrackedFiles::Files)?.untracked;
            for path in files.into_iter().filter(|path| is_open(path) && !holds_conflict(path)) {
                let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
                let mut folders = ends.map(|(at, _)| &path[..=at]);
                let whole = folders.find(|folder| !holds_conflict(folder)).map(<[u8]>::to_vec);
                untracked.push(whole.unwrap_or(path));
            }
        }
        untracked.sort();
        untracked.dedup();
        Ok(untracked)
    }

    /// The paths of tracked files that differ from HEAD, in the index or in the worktree.
    pub(super) fn changed_paths(&self) -> Result<Vec<Vec<u8>>> {
        let parts = self.collect_status(UntrackedFiles::None)?;
        let staged = parts.staged.into_iter().map(|change| change.path);
        let mut paths: Vec<Vec<u8>> =
            staged.chain(parts.unstaged.into_keys()).chain(parts.conflicts.into_keys()).collect();
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    fn collect_status(&self, untracked: UntrackedFiles) -> Result<StatusParts> {
        self.require_worktree()?;
        let platform = self.repo.status(gix::progress::Discard).map_err(unreadable)?;
        let items = platform
            .untracked_files(untracked)
            .tree_index_track_renames(TrackRenames::Disabled)
            .index_worktree_rewrites(None)
            .should_interrupt_owned(self.cancel_flag())
            .into_iter(Vec::new())
            .map_err(unreadable)?;
        let mut parts = StatusParts::default();
        for (count, item) in items.enumerate() {
            self.check_cancelled()?;
            if count >= MAX_STATUS {
                return Err(over_bound("over 100,000 files changed; git status tells them"));
            }
            match item.map_err(unreadable)? {
                gix::status::Item::TreeIndex(change) => parts.add_staged(&change),
                gix::status::Item::IndexWorktree(item) => {
                    if !self.is_unchanged_lfs(&item)? {
                        parts.add_unstaged(&item);
                    }
                }
            }
        }
        Ok(parts)
    }

    /// Whether a file only seems to be changed, because LFS keeps its content.
    fn is_unchanged_lfs(&self, item: &WorktreeItem) -> Result<bool> {
        let WorktreeItem::Modification { entry, rela_path, status, .. } = item else {
            return Ok(false);
        };
        match status {
            EntryStatus::Change(WorktreeChange::Modification {
                executable_bit_changed: false,
                content_change: Some(_),
                ..
            }) => self.is_lfs_checkout(rela_path, entry.id),
            _ => Ok(false),
        }
    }
}

impl StatusParts {
    fn add_staged(&mut self, change: &gix::diff::index::Change) {
        use gix::diff::index::ChangeRef::{Addition, Deletion, Modification, Rewrite};
        let entry = |mode: gix::index::entry::Mode, id: &gix::oid| {
            let kind = mode.to_tree_entry_mode().map_or(EntryKind::Blob, |mode| mode.kind());
            Some(FoundEntry { kind, id: id.to_owned() })
        };
        let (path, old, new) = match change {
            Addition { location, entry_mode, id, .. } => (location, None, entry(*entry_mode, id)),
            Deletion { location, entry_mode, id, .. } => (location, entry(*entry_mode, id), None),
            Modification { location, previous_entry_mode, previous_id, entry_mode, id, .. } => {
                (location, entry(*previous_entry_mode, previous_id), entry(*entry_mode, id))
            }
            Rewrite { location, entry_mode, id, .. } => (location, None, entry(*entry_mode, id)),
        };
        self.staged.push(TreeChange { path: path.to_vec(), old, new });
    }

    fn add_unstaged(&mut self, item: &WorktreeItem) {
        match item {
            WorktreeItem::Modification { rela_path, status, .. } => {
                let path = rela_path.to_vec();
                match status {
                    EntryStatus::Conflict { summary, .. } => {
                        self.conflicts.insert(path, conflict_letters(*summary));
                    }
                    EntryStatus::Change(change) => {
                        self.unstaged.insert(path, change_letter(change));
                    }
                    EntryStatus::IntentToAdd => {
                        self.unstaged.insert(path, 'A');
                    }
                    EntryStatus::NeedsUpdate(_) => {}
                }
            }
            WorktreeItem::DirectoryContents { entry, .. } => {
                if entry.status == gix::dir::entry::Status::Untracked {
                    let mut path = entry.rela_path.to_vec();
                    let is_folder = entry.disk_kind.is_some_and(|kind| kind.is_dir());
                    if is_folder && !path.ends_with(b"/") {
                        path.push(b'/');
                    }
                    self.untracked.push(path);
                }
            }
            // Renames in the worktree are not looked for, as in git.
            WorktreeItem::Rewrite { .. } => {}
        }
    }
}

fn change_letter<T, U>(change: &WorktreeChange<T, U>) -> char {
    match change {
        WorktreeChange::Removed => 'D',
        WorktreeChange::Type { .. } => 'T',
        WorktreeChange::Modification { .. } | WorktreeChange::SubmoduleModification(_) => 'M',
    }
}

fn conflict_letters(conflict: Conflict) -> (char, char) {
    match conflict {
        Conflict::BothDeleted => ('D', 'D'),
        Conflict::AddedByUs => ('A', 'U'),
        Conflict::DeletedByThem => ('U', 'D'),
        Conflict::AddedByThem => ('U', 'A'),
        Conflict::DeletedByUs => ('D', 'U'),
        Conflict::BothAdded => ('A', 'A'),
        Conflict::BothModified => ('U', 'U'),
    }
}

fn is_other_type(old: EntryKind, new: EntryKind) -> bool {
    let class = |kind| match kind {
        EntryKind::BlobExecutable => EntryKind::Blob,
        kind => kind,
    };
    class(old) != class(new)
}

impl FileStatus {
    fn to_json(&self) -> String {
        let from = self.from.as_ref().map(|from| String::from_utf8_lossy(from));
        JsonObject::new()
            .text("path", &String::from_utf8_lossy(&self.path))
            .optional_text("from", from.as_deref())
            .text("index", &self.index.to_string())
            .text("worktree", &self.worktree.to_string())
            .finish()
    }
}
