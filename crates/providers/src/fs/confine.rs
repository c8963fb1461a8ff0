//! Confinement: opens files and folders so that nothing outside the root is reachable.
//!
//! Each call opens one name in an open folder and never follows a symlink. To follow a link, the
//! code reads its target and resolves that name by name from the root.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use parking_lot::{Mutex, RwLock};

use super::error::{is_not_found, is_transient, not_found};
use super::path::LocalPath;
use super::platform::{DirHandle, FileApi, FileHandle};
use super::stamp::{FileKind, FileStamp};

/// Most symlinks followed for one path; the kernel's own limit.
const MAX_SYMLINKS: usize = 40;

/// The root folder, open. Nothing outside it is reachable.
pub(super) struct RootDir {
    /// Absolute path of the root as it was configured.
    path: PathBuf,
    pub(super) file_api: FileApi,
    current: RwLock<Arc<OpenRoot>>,
    /// True while nothing is at the path.
    is_gone: AtomicBool,
    /// True if the root is gone, came back or was replaced since the last `take_replaced`.
    is_replaced: AtomicBool,
    changed_at: Mutex<Option<SystemTime>>,
    /// True if the root is on a local disk, so that short work runs without a blocking thread.
    ///
    /// Decided for the root only, not for file systems mounted below it.
    on_local_disk: AtomicBool,
    /// Decides whether a folder is on a local disk. Tests replace it.
    pub(super) locality_check: fn(&DirHandle) -> io::Result<bool>,
}

/// The folder that was at the root's path when it was last opened.
struct OpenRoot {
    handle: DirHandle,
    /// Absolute path without links. Absolute links that start with it lead inside.
    absolute_path: PathBuf,
    stamp: FileStamp,
}

/// One step of path resolution: a name looked up in a folder.
pub(super) struct PathLookup {
    pub(super) folder: LocalPath,
    pub(super) handle: DirHandle,
    pub(super) name: Vec<u8>,
}

impl RootDir {
    /// Opens the folder at `path`.
    pub(super) fn open(path: &Path, file_api: FileApi) -> io::Result<Self> {
        let open = OpenRoot::open(path, file_api)?;
        Ok(Self {
            path: std::path::absolute(path)?,
            file_api,
            on_local_disk: AtomicBool::new(open.handle.is_local()?),
            current: RwLock::new(Arc::new(open)),
            is_gone: AtomicBool::new(false),
            is_replaced: AtomicBool::new(false),
            changed_at: Mutex::new(None),
            locality_check: DirHandle::is_local,
        })
    }

    /// Returns the handle of the root and its stamp; an error if it is gone.
    pub(super) fn handle(&self) -> io::Result<(DirHandle, FileStamp)> {
        let (open, stamp) = self.current()?;
        Ok((open.handle.clone(), stamp))
    }

    /// Returns the folder at the root's path and its stamp, opened anew if another folder is there
    /// now.
    fn current(&self) -> io::Result<(Arc<OpenRoot>, FileStamp)> {
        let open = self.current.read().clone();
        let stamp = match self.file_api.stat(&self.path) {
            // The open handle keeps the inode number from being used again.
            Ok(stamp) if stamp.identity() == open.stamp.identity() => stamp,
            Ok(_) => {
                let open = self.reopen()?;
                let stamp = open.stamp;
                return Ok((open, stamp));
            }
            Err(error) if is_not_found(&error) => {
                if !self.is_gone.swap(true, Ordering::Relaxed) {
                    self.record_change();
                }
                return Err(not_found());
            }
            // This process may no longer look up the path, and still use the open folder.
            Err(_) => open.handle.stat()?,
        };
        if self.is_gone.load(Ordering::Relaxed) && self.is_gone.swap(false, Ordering::Relaxed) {
            self.record_change();
        }
        Ok((open, stamp))
    }

    fn reopen(&self) -> io::Result<Arc<OpenRoot>> {
        let open = Arc::new(OpenRoot::open(&self.path, self.file_api)?);
        // Once remote, always remote: what was sized for a local disk stays right for it.
        self.on_local_disk.fetch_and(self.is_local(&open.handle), Ordering::Relaxed);
        *self.current.write() = open.clone();
        self.is_gone.store(false, Ordering::Relaxed);
        self.record_change();
        Ok(open)
    }

    fn record_change(&self) {
        *self.changed_at.lock() = Some(SystemTime::now());
        self.is_replaced.store(true, Ordering::Relaxed);
    }

    /// When the root was last found gone, back or replaced; `None` if it never was.
    pub(super) fn changed_at(&self) -> Option<SystemTime> {
        *self.changed_at.lock()
    }

    /// True if the root is gone, came back or was replaced since the last call.
    pub(super) fn take_replaced(&self) -> bool {
        self.is_replaced.load(Ordering::Relaxed) && self.is_replaced.swap(false, Ordering::Relaxed)
    }

    /// True if the last request found nothing at the root's path.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }

    /// True if the root is on a local disk.
    pub(super) fn on_local_disk(&self) -> bool {
        self.on_local_disk.load(Ordering::Relaxed)
    }

    #[cfg(test)]
    pub(super) fn set_local(&self, local: bool) {
        self.on_local_disk.store(local, Ordering::Relaxed);
    }

    /// Returns the path of the root without links, as it was when the root was opened.
    pub(super) fn real_path(&self) -> PathBuf {
        self.current.read().absolute_path.clone()
    }

    /// True if `folder` is on the same file system as the root.
    pub(super) fn is_on_same_device(&self, folder: &FileStamp) -> bool {
        self.current.read().stamp.is_on_same_device(folder)
    }

    /// True if `folder` is on a local disk; false if that cannot be determined.
    pub(super) fn is_local(&self, folder: &DirHandle) -> bool {
        (self.locality_check)(folder).unwrap_or(false)
    }

    /// Follows every link in `path` and returns the path without links; an error if it leaves the
    /// root.
    pub(super) fn without_links(&self, path: &LocalPath) -> io::Result<LocalPath> {
        self.resolve(path, |_, _, _| {})
    }

    /// Returns every lookup made while `path` is resolved, up to the first that fails; an error if
    /// the failure is transient.
    pub(super) fn lookups(&self, path: &LocalPath) -> io::Result<Vec<PathLookup>> {
        let mut trail = Vec::new();
        let real = self.resolve(path, |folder, way, name| {
            if let Ok(path) = join_names(way, None) {
                trail.push(PathLookup {
                    folder: path,
                    handle: folder.clone(),
                    name: name.to_vec(),
                });
            }
        });
        match real {
            Err(error) if is_transient(&error) => Err(error),
            // Resolution that fails for good still has lookups worth watching.
            Ok(_) | Err(_) => Ok(trail),
        }
    }

    fn resolve(
        &self,
        path: &LocalPath,
        mut visit: impl FnMut(&DirHandle, &[(DirHandle, Vec<u8>)], &[u8]),
    ) -> io::Result<LocalPath> {
        let (root, _) = self.current()?;
        let mut trail: Vec<(DirHandle, Vec<u8>)> = Vec::new();
        let mut ahead = reversed_names(path.as_bytes());
        let mut links = 0;
        while let Some(name) = ahead.pop() {
            if name == b".." {
                trail.pop().ok_or_else(not_found)?;
            }
            if matches!(&name[..], b"" | b"." | b"..") {
                continue;
            }
            let folder = trail.last().map_or(&root.handle, |(folder, _)| folder);
            visit(folder, &trail, &name);
            match folder.stat_child(&name)?.kind {
                FileKind::Folder => trail.push((folder.open_folder(&name)?, name)),
                FileKind::Symlink if links < MAX_SYMLINKS => {
                    links += 1;
                    let target = folder.read_link(&name)?;
                    if target.starts_with(b"/") {
                        trail.clear();
                        ahead.append(&mut root.strip_root(&target).ok_or_else(not_found)?);
                    } else {
                        ahead.append(&mut reversed_names(&target));
                    }
                }
                FileKind::File if ahead.is_empty() => return join_names(&trail, Some(&name)),
                FileKind::File | FileKind::Symlink | FileKind::Other => return Err(not_found()),
            }
        }
        join_names(&trail, None)
    }

    /// Reads the small file at `path`, following links; an error if it is larger than `most` bytes.
    pub(super) fn read_small_file(&self, path: &LocalPath, most: u64) -> io::Result<Vec<u8>> {
        let real = self.without_links(path)?;
        let (mut folder, _) = self.handle()?;
        let mut names = real.names().peekable();
        while let Some(name) = names.next() {
            if names.peek().is_none() {
                let (file, stamp) = folder.open_file(name)?;
                return read_limited(&file, &stamp, most);
            }
            folder = folder.open_folder(name)?;
        }
        Err(not_found())
    }
}

impl OpenRoot {
    /// Opens the folder at `path`. Only `RootDir::current` and the rules from above the root use
    /// absolute paths too.
    fn open(path: &Path, file_api: FileApi) -> io::Result<Self> {
        let absolute_path = path.canonicalize()?;
        let handle = file_api.open_root(&absolute_path)?;
        let stamp = handle.stat()?;
        Ok(Self { handle, absolute_path, stamp })
    }

    /// Strips the root from `target`, an absolute path, and returns the names that remain, last
    /// name first; `None` if `target` is outside the root.
    fn strip_root(&self, target: &[u8]) -> Option<Vec<Vec<u8>>> {
        let is_name = |name: &&[u8]| !matches!(*name, b"" | b".");
        let mut names = target.split(|byte| *byte == b'/');
        let root = self.absolute_path.as_os_str().as_encoded_bytes();
        for name in root.split(|byte| *byte == b'/').filter(is_name) {
            if names.find(is_name)? != name {
                return None;
            }
        }
        Some(names.rev().map(<[u8]>::to_vec).collect())
    }
}

/// Splits `path` into names, last name first.
fn reversed_names(path: &[u8]) -> Vec<Vec<u8>> {
    path.split(|byte| *byte == b'/').rev().map(<[u8]>::to_vec).collect()
}

fn join_names(trail: &[(DirHandle, Vec<u8>)], last: Option<&[u8]>) -> io::Result<LocalPath> {
    let names: Vec<&[u8]> = trail.iter().map(|(_, name)| &name[..]).chain(last).collect();
    LocalPath::from_bytes(&names.join(&b'/')).ok_or_else(not_found)
}

/// Reads the small file at `path`, wherever it is, following links. For rules from above the root,
/// of which nothing is served.
pub(super) fn read_small_file_above(
    file_api: FileApi,
    path: &Path,
    most: u64,
) -> io::Result<Vec<u8>> {
    let (file, stamp) = file_api.open_file_above(path)?;
    read_limited(&file, &stamp, most)
}

/// Reads `file`, whose stamp is `stamp`, to its end; an error if it is larger than `most` bytes.
fn read_limited(file: &FileHandle, stamp: &FileStamp, most: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    // One byte more than there should be, to see that the file did not grow meanwhile.
    let mut want = stamp.size.min(most) + 1;
    loop {
        let start = content.len() as u64;
        file.read_at(start, want, &mut content)?;
        let end = content.len() as u64;
        if end > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if end < start + want {
            return Ok(content);
        }
        want = most + 1 - end;
    }
}
