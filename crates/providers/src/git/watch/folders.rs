//! The folders of a repository that are watched: those of references, of the index and of the worktree.

use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use crate::file_watch::{WatchHandle, is_local};
use crate::git::repository::GitRepository;

/// How many folders are watched for one subscriber. Beyond that, changes are found by polling.
const MAX_FOLDERS: usize = 4_096;

/// The watched folders of one subscriber, by path.
#[derive(Default)]
pub(super) struct WatchedFolders {
    handles: HashMap<PathBuf, Option<WatchHandle>>,
    worktree: HashSet<PathBuf>,
}

impl WatchedFolders {
    /// Whether the folder with this path is watched for references or the index.
    pub(super) fn has_refs(&self, folder: &[u8]) -> bool {
        let path = path_of(folder);
        self.handles.contains_key(path) && !self.worktree.contains(path)
    }

    /// Whether the folder with this path is watched for files of the worktree.
    pub(super) fn has_files(&self, folder: &[u8]) -> bool {
        self.worktree.contains(path_of(folder))
    }

    /// Watches the folders that are there now, and those of the worktree if `with_worktree`; false
    /// if one could not be opened and must be tried again.
    pub(super) fn refresh(&mut self, git: &GitRepository, with_worktree: bool) -> bool {
        let mut complete = true;
        let mut folders = ref_folders(git);
        if folders.len() > MAX_FOLDERS || !git.uses_inotify {
            git.rescan_loop.start_polling();
        }
        folders.truncate(MAX_FOLDERS);
        self.worktree.clear();
        if with_worktree && git.uses_inotify {
            let most = git.max_worktree_folders;
            match git.run_here(&Arc::default(), None, |session| session.worktree_folders(most)) {
                Ok(Some(found)) => {
                    self.worktree.extend(found.iter().cloned());
                    folders.extend(found);
                }
                // Watches are shared by all programs of a user: a large worktree must not take them.
                Ok(None) => git.rescan_loop.start_polling(),
                Err(error) => {
                    tracing::debug!("the folders of a worktree: {}", error.with_causes());
                    complete = false;
                }
            }
        }
        let mut watched = HashMap::new();
        for folder in folders {
            match watch_folder(git, &folder) {
                Ok(handle) => drop(watched.insert(folder, handle)),
                Err(_) => complete = false,
            }
        }
        // The new watches exist before the old ones end, so no event is lost.
        self.handles = watched;
        complete
    }
}

fn path_of(folder: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(folder))
}

fn watch_folder(git: &GitRepository, path: &Path) -> Result<Option<WatchHandle>, Errno> {
    if !git.uses_inotify {
        return Ok(None);
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = match open(path, flags, Mode::empty()) {
        Ok(folder) => folder,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => return Ok(None),
        Err(error) => return Err(error),
    };
    let watch = || {
        let inotify = git.rescan_loop.inotify().ok()?;
        inotify.add_watch(path.as_os_str().as_bytes(), &folder).ok()
    };
    let handle = is_local(&folder).unwrap_or(false).then(watch).flatten();
    if handle.is_none() {
        git.rescan_loop.start_polling();
    }
    Ok(handle)
}

/// The folders whose files decide what references name. Objects are not among them.
fn ref_folders(git: &GitRepository) -> Vec<PathBuf> {
    let (own, common) = git.folders();
    let mut folders = vec![own.clone(), common.clone()];
    let mut open = vec![common.join("refs"), own.join("refs"), common.join("worktrees")];
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let is_folder =
            |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        open.extend(entries.flatten().filter(is_folder).map(|entry| entry.path()));
        folders.push(folder);
        if folders.len() > MAX_FOLDERS {
            break;
        }
    }
    folders.sort();
    folders.dedup();
    folders
}
