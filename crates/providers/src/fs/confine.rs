//! Confinement: opens files and folders so that nothing outside the root is reachable.
//!
//! Each call opens one name in an open folder and never follows a symlink. To follow a link, the
//! code reads its target and resolves that name by name from the root.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use parking_lot::{Mutex, RwLock};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, openat, readlinkat, stat, statat};

use super::error::{is_not_found, is_transient, not_found};
use super::path::LocalPath;
use super::stamp::{FileKind, FileStamp};
use crate::file_watch::is_local;

/// Most symlinks followed for one path; the kernel's own limit.
const MAX_SYMLINKS: usize = 40;

/// The root folder, open. Nothing outside it is reachable.
pub(super) struct RootDir {
    /// Absolute path of the root as it was configured.
    path: PathBuf,
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
    pub(super) locality_check: fn(BorrowedFd<'_>) -> io::Result<bool>,
}

/// The folder that was at the root's path when it was last opened.
struct OpenRoot {
    handle: DirHandle,
    /// Absolute path without links. Absolute links that start with it lead inside.
    absolute_path: Vec<u8>,
    stamp: FileStamp,
}

/// File descriptor of an open folder.
#[derive(Clone)]
pub(super) struct DirHandle(Arc<OwnedFd>);

/// One step of path resolution: a name looked up in a folder.
pub(super) struct PathLookup {
    pub(super) folder: LocalPath,
    pub(super) handle: DirHandle,
    pub(super) name: Vec<u8>,
}

impl RootDir {
    /// Opens the folder at `path`.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let open = OpenRoot::open(path)?;
        Ok(Self {
            path: std::path::absolute(path)?,
            on_local_disk: AtomicBool::new(is_local(&open.handle)?),
            current: RwLock::new(Arc::new(open)),
            is_gone: AtomicBool::new(false),
            is_replaced: AtomicBool::new(false),
            changed_at: Mutex::new(None),
            locality_check: |folder| is_local(folder),
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
        let stamp = match stat(&self.path).map(|stat| FileStamp::of(&stat)) {
            // The open handle keeps the inode number from being used again.
            Ok(stamp) if stamp.identity() == open.stamp.identity() => stamp,
            Ok(_) => {
                let open = self.reopen()?;
                let stamp = open.stamp;
                return Ok((open, stamp));
            }
            Err(error) if is_not_found(&error.into()) => {
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
        let open = Arc::new(OpenRoot::open(&self.path)?);
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
        PathBuf::from(OsStr::from_bytes(&self.current.read().absolute_path))
    }

    /// True if `folder` is on the same file system as the root.
    pub(super) fn is_on_same_device(&self, folder: &FileStamp) -> bool {
        self.current.read().stamp.is_on_same_device(folder)
    }

    /// True if `folder` is on a local disk; false if that cannot be determined.
    pub(super) fn is_local(&self, folder: &DirHandle) -> bool {
        (self.locality_check)(folder.as_fd()).unwrap_or(false)
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
                return read_limited(folder.open_file(name)?.0, most);
            }
            folder = folder.open_folder(name)?;
        }
        Err(not_found())
    }
}

impl OpenRoot {
    /// Opens the folder at `path`. Only `RootDir::current` and the rules from above the root use
    /// absolute paths too.
    fn open(path: &Path) -> io::Result<Self> {
        let home = path.canonicalize()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = openat(CWD, &home, flags, Mode::empty())?;
        let stamp = FileStamp::of(&fstat(&top)?);
        let absolute_path = home.into_os_string().into_vec();
        Ok(Self { handle: DirHandle(Arc::new(top)), absolute_path, stamp })
    }

    /// Strips the root from `target`, an absolute path, and returns the names that remain, last
    /// name first; `None` if `target` is outside the root.
    fn strip_root(&self, target: &[u8]) -> Option<Vec<Vec<u8>>> {
        let is_name = |name: &&[u8]| !matches!(*name, b"" | b".");
        let mut names = target.split(|byte| *byte == b'/');
        for name in self.absolute_path.split(|byte| *byte == b'/').filter(is_name) {
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
pub(super) fn read_small_file_above(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Without NONBLOCK, opening a pipe would block for ever.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(CWD, path, flags, Mode::empty())?;
    if FileStamp::of(&fstat(&file)?).kind != FileKind::File {
        return Err(not_found());
    }
    read_limited(file.into(), most)
}

fn read_limited(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(most + 1).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(content)
}

impl DirHandle {
    /// Opens the folder at `path`, wherever it is, to watch the rules in it.
    pub(super) fn open_above(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(Arc::new(openat(CWD, path, flags, Mode::empty())?)))
    }

    /// Opens the folder `name`; an error if it is a link.
    pub(super) fn open_folder(&self, name: &[u8]) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = openat(self.0.as_fd(), OsStr::from_bytes(name), flags, Mode::empty())?;
        Ok(Self(Arc::new(handle)))
    }

    /// Opens the regular file `name`; an error if it is a link or anything else.
    pub(super) fn open_file(&self, name: &[u8]) -> io::Result<(File, FileStamp)> {
        // Without NONBLOCK, opening a pipe that replaced the file would block for ever.
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = openat(self.0.as_fd(), OsStr::from_bytes(name), flags, Mode::empty())?;
        let stamp = FileStamp::of(&fstat(&file)?);
        if stamp.kind != FileKind::File {
            return Err(not_found());
        }
        Ok((file.into(), stamp))
    }

    /// Reads the target of the link `name`.
    fn read_link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        Ok(readlinkat(self.0.as_fd(), OsStr::from_bytes(name), Vec::new())?.into_bytes())
    }

    /// Opens this folder for reading its names.
    pub(super) fn open_for_scan(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(openat(self.0.as_fd(), c".", flags, Mode::empty())?)
    }

    /// Stats `name` without following a link.
    pub(super) fn stat_child(&self, name: &[u8]) -> io::Result<FileStamp> {
        let stat = statat(self.0.as_fd(), OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileStamp::of(&stat))
    }

    /// Stats this folder.
    pub(super) fn stat(&self) -> io::Result<FileStamp> {
        Ok(FileStamp::of(&fstat(self.0.as_fd())?))
    }
}

impl AsFd for DirHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
