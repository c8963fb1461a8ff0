//! The folders of a repository that are watched: those of references and of the index.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use crate::file_watch::{WatchHandle, is_local};
use crate::git::repository::GitRepository;

/// How many folders are watched for one subscriber. Beyond that, changes are found by polling.
const MAX_FOLDERS: usize = 4_096;

/// The watched folders of one subscriber, by path.
#[derive(Default)]
pub(super) struct WatchedFolders(HashMap<PathBuf, Option<WatchHandle>>);

impl WatchedFolders {
    /// Whether the folder with this path is watched.
    pub(super) fn contains(&self, folder: &[u8]) -> bool {
        self.0.contains_key(Path::new(std::ffi::OsStr::from_bytes(folder)))
    }

    /// Watches the folders that are there now; false if one could not be opened and must be tried
    /// again.
    pub(super) fn refresh(&mut self, git: &GitRepository) -> bool {
        let mut complete = true;
        let folders = ref_folders(git);
        if folders.len() > MAX_FOLDERS || !git.uses_inotify {
            git.rescan_loop.start_polling();
        }
        let mut watched = HashMap::new();
        for folder in folders.into_iter().take(MAX_FOLDERS) {
            match watch_folder(git, &folder) {
                Ok(handle) => drop(watched.insert(folder, handle)),
                Err(_) => complete = false,
            }
        }
        // The new watches exist before the old ones end, so no event is lost.
        self.0 = watched;
        complete
    }
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
