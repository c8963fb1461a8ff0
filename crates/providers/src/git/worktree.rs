//! Files of the worktree, for the diff against HEAD. No link leads out of the worktree.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use gix::ObjectId;
use gix::filter::plumbing::pipeline::convert::ToGitOutcome;
use gix::objs::tree::EntryKind;
use resource::{Error, Result};
use rustix::fs::{FileType, Mode, OFlags, fstat, open, openat, readlinkat};
use rustix::io::Errno;

use super::blob::MAX_BLOB_BYTES;
use super::changed_file::{ChangedFile, FileVersionRef};
use super::error::{over_bound, unreadable};
use super::location::RevisionSpec;
use super::repo_path::RepoPath;
use super::repository::GitSession;
use super::tree::FoundEntry;
use super::tree_changes::TreeChange;
use super::visibility::RevisionFolder;

/// A file of the worktree, as it would be stored.
struct WorktreeFile {
    kind: EntryKind,
    bytes: Vec<u8>,
}

impl GitSession<'_> {
    /// The tracked files that differ between HEAD and the worktree, at `scope`.
    pub(super) fn worktree_changes(&self, scope: &RepoPath) -> Result<Vec<ChangedFile>> {
        self.require_worktree()?;
        let head = self.head_commit()?;
        let root = head.map(|id| self.commit(id)).transpose()?.map(|node| node.tree);
        let (mut filter, index) = self.repo.filter_pipeline(None).map_err(unreadable)?;
        let mut changes = Vec::new();
        let viewed = [RevisionFolder::whole(RevisionSpec::head())];
        for path in self.changed_paths()? {
            self.check_cancelled()?;
            if !self.shows_file(&viewed, &path) {
                continue;
            }
            let Some(path) = RepoPath::parse(&path).filter(|path| is_within(path, scope)) else {
                continue;
            };
            let old = match root {
                Some(root) => self.find_entry(root, &path)?,
                None => None,
            };
            let is_tracked = index.entry_by_path(path.as_bytes().into()).is_some()
                || index.entry_range(path.as_bytes().into()).is_some();
            let file = match is_tracked {
                true => self.read_worktree(&path, &mut filter, &index)?,
                false => None,
            };
            let new = match file {
                Some(file) => Some(self.worktree_version(&path, file)?),
                None => None,
            };
            changes.push((
                TreeChange {
                    path: path.as_bytes().to_vec(),
                    old,
                    new: new.as_ref().map(|new| new.entry),
                },
                new,
            ));
        }
        changes.retain(|(change, _)| change.old != change.new);
        let contents: std::collections::HashMap<Vec<u8>, FileVersionRef> = changes
            .iter()
            .filter_map(|(change, new)| Some((change.path.clone(), new.clone()?)))
            .collect();
        let changes = changes.into_iter().map(|(change, _)| change).collect();
        let mut joined = self.join_worktree_renames(changes, &contents)?;
        for change in &mut joined {
            if change.new.is_some() {
                change.new = contents.get(&change.path).cloned();
            }
        }
        Ok(joined)
    }

    /// Renames are found among stored files, so new files count only if they are stored.
    fn join_worktree_renames(
        &self,
        changes: Vec<TreeChange>,
        contents: &std::collections::HashMap<Vec<u8>, FileVersionRef>,
    ) -> Result<Vec<ChangedFile>> {
        let is_stored = |change: &TreeChange| {
            change.old.is_some()
                || contents.get(&change.path).is_none_or(|new| self.repo.has_object(new.entry.id))
        };
        let (stored, unstored): (Vec<_>, Vec<_>) = changes.into_iter().partition(is_stored);
        let mut all = self.join_renames(stored)?;
        all.extend(unstored.into_iter().map(|change| ChangedFile {
            new: contents.get(&change.path).cloned(),
            path: change.path,
            from: None,
            old: None,
        }));
        all.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(all)
    }

    fn worktree_version(&self, path: &RepoPath, file: WorktreeFile) -> Result<FileVersionRef> {
        let kind = file.kind;
        if kind == EntryKind::Commit {
            let id = ObjectId::from_hex(&file.bytes)
                .map_err(|error| Error::internal("a submodule has no commit").caused_by(error))?;
            return Ok(FileVersionRef { entry: FoundEntry { kind, id }, content: None });
        }
        let hash = self.repo.object_hash();
        let id = gix::objs::compute_hash(hash, gix::objs::Kind::Blob, &file.bytes)
            .map_err(|error| Error::internal("a file cannot be hashed").caused_by(error))?;
        let content = Arc::new(self.mask_content(file.bytes, path.as_bytes())?);
        Ok(FileVersionRef { entry: FoundEntry { kind, id }, content: Some(content) })
    }

    /// Reads a file of the worktree as git would store it; `None` if it is not there.
    fn read_worktree(
        &self,
        path: &RepoPath,
        filter: &mut gix::filter::Pipeline<'_>,
        index: &gix::index::State,
    ) -> Result<Option<WorktreeFile>> {
        let Some(root) = self.repo.workdir() else { return Ok(None) };
        let unread = |error: Errno| {
            let message = "a file of the worktree cannot be read; try again later";
            Error::unavailable(message).caused_by(std::io::Error::from(error))
        };
        let Some((folder, name)) = open_parent(root, path).map_err(unread)? else {
            return Ok(None);
        };
        if let Ok(target) = readlinkat(&folder, name, Vec::new()) {
            return Ok(Some(WorktreeFile { kind: EntryKind::Link, bytes: target.into_bytes() }));
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&folder, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR) => return Ok(None),
            Err(error) => return Err(unread(error)),
        };
        let stat = fstat(&file).map_err(unread)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Ok(self.submodule_head(path)),
            _ => return Ok(None),
        }
        if stat.st_size as u64 > MAX_BLOB_BYTES {
            return Err(over_bound("a changed file of the worktree is too large to be compared"));
        }
        let kind = match stat.st_mode & 0o100 != 0 {
            true => EntryKind::BlobExecutable,
            false => EntryKind::Blob,
        };
        let bytes = convert_to_git(File::from(file), path, filter, index)?;
        Ok(Some(WorktreeFile { kind, bytes }))
    }

    /// The commit that a submodule is at, in hexadecimal.
    fn submodule_head(&self, path: &RepoPath) -> Option<WorktreeFile> {
        let mut submodules = self.repo.submodules().ok()??;
        let is_meant = |submodule: &gix::Submodule<'_>| {
            submodule.path().is_ok_and(|own| own == path.as_bytes())
        };
        let submodule = submodules.find(is_meant)?;
        let head = submodule.open().ok()??.head_id().ok()?.detach();
        let bytes = head.to_string().into_bytes();
        Some(WorktreeFile { kind: EntryKind::Commit, bytes })
    }
}

/// Opens the folder of `path` below `root`, through no link; `None` if it is not there.
pub(super) fn open_parent<'a>(
    root: &Path,
    path: &'a RepoPath,
) -> Result<Option<(OwnedFd, &'a [u8])>, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = open(root, flags, Mode::empty())?;
    let mut names = path.names().peekable();
    while let Some(name) = names.next() {
        if names.peek().is_none() {
            return Ok(Some((folder, name)));
        }
        folder = match openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(next) => next,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(error) => return Err(error),
        };
    }
    Ok(None)
}

/// Reads a file and undoes what a checkout changed in it, such as ends of lines.
fn convert_to_git(
    file: File,
    path: &RepoPath,
    filter: &mut gix::filter::Pipeline<'_>,
    index: &gix::index::State,
) -> Result<Vec<u8>> {
    let unread = |error: std::io::Error| {
        Error::unavailable("a file of the worktree cannot be read").caused_by(error)
    };
    let name = Path::new(std::ffi::OsStr::from_bytes(path.as_bytes()));
    let mut bytes = Vec::new();
    let limit = MAX_BLOB_BYTES;
    match filter.convert_to_git(file, name, index).map_err(unreadable)? {
        ToGitOutcome::Unchanged(file) => file.take(limit).read_to_end(&mut bytes),
        ToGitOutcome::Process(reader) => reader.take(limit).read_to_end(&mut bytes),
        ToGitOutcome::Buffer(buffer) => {
            bytes.extend_from_slice(buffer);
            Ok(bytes.len())
        }
    }
    .map_err(unread)?;
    Ok(bytes)
}

fn is_within(path: &RepoPath, scope: &RepoPath) -> bool {
    let rest = path.as_bytes().strip_prefix(scope.as_bytes());
    scope.is_root() || rest.is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
}
