//! The folders of a worktree that its status depends on.
//!
//! Those are the folders of tracked files, and the others that no rule ignores. Files in ignored
//! folders, such as those of a build, change no status, so that nothing is watched there.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use gix::bstr::BStr;
use gix::index::entry::Mode;
use gix::worktree::stack::state::ignore::Source;
use resource::{Error, Result};

use crate::git::error::unreadable;
use crate::git::location::{DiffRange, Location};
use crate::git::repository::GitSession;

/// How many folders of a worktree are watched. Beyond that, its changes are found by polling.
pub(in crate::git) const MAX_WORKTREE_FOLDERS: usize = 4_096;

/// Whether what is at `location` depends on the files of the worktree.
pub(super) fn depends_on_worktree(location: &Location) -> bool {
    match location {
        Location::Root | Location::Status => true,
        Location::Diff { range, .. } => *range == DiffRange::Worktree,
        Location::Refs
        | Location::Log(_)
        | Location::Commit(_)
        | Location::Blame { .. }
        | Location::Tree { .. } => false,
    }
}

impl GitSession<'_> {
    /// The folders of the worktree whose files decide its status; `None` if there are more than
    /// `most`. Empty without a worktree.
    pub(super) fn worktree_folders(&self, most: usize) -> Result<Option<Vec<PathBuf>>> {
        let Some(root) = self.repo.workdir() else { return Ok(Some(Vec::new())) };
        let root = std::path::absolute(root).map_err(unseen)?;
        let index = self.repo.index_or_empty().map_err(unreadable)?;
        let mut folders: BTreeSet<Vec<u8>> = BTreeSet::from([Vec::new()]);
        for entry in index.entries() {
            let mut path: &[u8] = entry.path(&index);
            // The folders above are known as soon as one is.
            while let Some(slash) = path.iter().rposition(|byte| *byte == b'/') {
                path = &path[..slash];
                if !folders.insert(path.to_vec()) {
                    break;
                }
            }
            if folders.len() > most {
                return Ok(None);
            }
        }
        let mut excludes = self
            .repo
            .excludes(&index, None, Source::WorktreeThenIdMappingIfNotSkipped)
            .map_err(unreadable)?;
        let mut open: Vec<Vec<u8>> = folders.iter().cloned().collect();
        while let Some(folder) = open.pop() {
            self.check_cancelled()?;
            for name in subfolders(&root.join(Path::new(std::ffi::OsStr::from_bytes(&folder)))) {
                let path = match folder.is_empty() {
                    true => name,
                    false => [&folder[..], b"/", &name].concat(),
                };
                let is_known = folders.contains(&path);
                let state = excludes.at_entry(BStr::new(&path), Some(Mode::DIR));
                if is_known || state.map_err(unreadable)?.is_excluded() {
                    continue;
                }
                folders.insert(path.clone());
                open.push(path);
                if folders.len() > most {
                    return Ok(None);
                }
            }
        }
        let place = |folder: &Vec<u8>| root.join(Path::new(std::ffi::OsStr::from_bytes(folder)));
        Ok(Some(folders.iter().map(place).collect()))
    }
}

/// The names of the folders in `folder`: none where it cannot be read, and no repository of its own.
fn subfolders(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_folder = |entry: &std::fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| kind.is_dir())
            && entry.file_name() != ".git"
            && !entry.path().join(".git").exists()
    };
    entries.flatten().filter(is_folder).map(|entry| entry.file_name().as_bytes().to_vec()).collect()
}

fn unseen(error: std::io::Error) -> Error {
    Error::unavailable("a folder of the worktree cannot be read").caused_by(error)
}
