//! Confinement: opens files and folders so that nothing outside the root is reachable.
//!
//! Each call opens one name in an open folder and never follows a symlink. To follow a link, the
//! code reads its target and resolves that name by name from the root.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, openat, readlinkat, statat};

use super::fault::{is_passing, missing};
use super::path::Local;
use super::stamp::{Kind, Stamp};
use crate::vigil::is_local;

/// Most symlinks followed for one path; the kernel's own limit.
const MOST_LINKS: usize = 40;

/// The root folder, open. Nothing outside it is reachable.
pub(super) struct Root {
    top: Handle,
    /// Absolute path of the root. Absolute links that start with it lead inside.
    home: Vec<u8>,
    /// Stamp of the root when it was opened.
    pub(super) stamp: Stamp,
    /// True if the root is on a local disk, so that short work runs without a blocking thread.
    ///
    /// Decided for the root only, not for file systems mounted below it.
    pub(super) local: bool,
    /// Decides whether a folder is on a local disk. Tests replace it.
    pub(super) judge: fn(BorrowedFd<'_>) -> io::Result<bool>,
}

/// File descriptor of an open folder.
#[derive(Clone)]
pub(super) struct Handle(Arc<OwnedFd>);

/// One step of path resolution: a name looked up in a folder.
pub(super) struct Lookup {
    pub(super) folder: Local,
    pub(super) handle: Handle,
    pub(super) name: Vec<u8>,
}

impl Root {
    /// Opens the folder at `path`. No other function uses an absolute path.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let home = path.canonicalize()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = openat(CWD, &home, flags, Mode::empty())?;
        let local = is_local(&top)?;
        let stamp = Stamp::of(&fstat(&top)?);
        let home = home.into_os_string().into_vec();
        Ok(Self {
            top: Handle(Arc::new(top)),
            home,
            stamp,
            local,
            judge: |folder| is_local(folder),
        })
    }

    /// Returns the handle of the root.
    pub(super) fn top(&self) -> Handle {
        self.top.clone()
    }

    /// True if `folder` is on a local disk; false if that cannot be determined.
    pub(super) fn is_local(&self, folder: &Handle) -> bool {
        (self.judge)(folder.as_fd()).unwrap_or(false)
    }

    /// Follows every link in `path` and returns the path without links; an error if it leaves the
    /// root.
    pub(super) fn real(&self, path: &Local) -> io::Result<Local> {
        self.resolve(path, |_, _, _| {})
    }

    /// Returns every lookup made while `path` is resolved, up to the first that fails; an error if
    /// the failure is transient.
    pub(super) fn trail(&self, path: &Local) -> io::Result<Vec<Lookup>> {
        let mut trail = Vec::new();
        let real = self.resolve(path, |folder, way, name| {
            if let Ok(path) = joined(way, None) {
                trail.push(Lookup { folder: path, handle: folder.clone(), name: name.to_vec() });
            }
        });
        match real {
            Err(error) if is_passing(&error) => Err(error),
            // Resolution that fails for good still has lookups worth watching.
            Ok(_) | Err(_) => Ok(trail),
        }
    }

    fn resolve(
        &self,
        path: &Local,
        mut visit: impl FnMut(&Handle, &[(Handle, Vec<u8>)], &[u8]),
    ) -> io::Result<Local> {
        let mut trail: Vec<(Handle, Vec<u8>)> = Vec::new();
        let mut ahead = reversed(path.as_bytes());
        let mut links = 0;
        while let Some(name) = ahead.pop() {
            if name == b".." {
                trail.pop().ok_or_else(missing)?;
            }
            if matches!(&name[..], b"" | b"." | b"..") {
                continue;
            }
            let folder = trail.last().map_or(&self.top, |(folder, _)| folder);
            visit(folder, &trail, &name);
            match folder.stamp_of(&name)?.kind {
                Kind::Folder => trail.push((folder.folder(&name)?, name)),
                Kind::Link if links < MOST_LINKS => {
                    links += 1;
                    let target = folder.target(&name)?;
                    if target.starts_with(b"/") {
                        trail.clear();
                        ahead.append(&mut self.inside(&target).ok_or_else(missing)?);
                    } else {
                        ahead.append(&mut reversed(&target));
                    }
                }
                Kind::File if ahead.is_empty() => return joined(&trail, Some(&name)),
                Kind::File | Kind::Link | Kind::Other => return Err(missing()),
            }
        }
        joined(&trail, None)
    }

    /// Reads the small file at `path`, following links; an error if it is larger than `most` bytes.
    pub(super) fn small(&self, path: &Local, most: u64) -> io::Result<Vec<u8>> {
        let real = self.real(path)?;
        let mut folder = self.top();
        let mut names = real.names().peekable();
        while let Some(name) = names.next() {
            if names.peek().is_none() {
                return small(folder.file(name)?.0, most);
            }
            folder = folder.folder(name)?;
        }
        Err(missing())
    }

    /// Strips the root from `target`, an absolute path, and returns the names that remain, last
    /// name first; `None` if `target` is outside the root.
    fn inside(&self, target: &[u8]) -> Option<Vec<Vec<u8>>> {
        let is_name = |name: &&[u8]| !matches!(*name, b"" | b".");
        let mut names = target.split(|byte| *byte == b'/');
        for name in self.home.split(|byte| *byte == b'/').filter(is_name) {
            if names.find(is_name)? != name {
                return None;
            }
        }
        Some(names.rev().map(<[u8]>::to_vec).collect())
    }
}

/// Splits `path` into names, last name first.
fn reversed(path: &[u8]) -> Vec<Vec<u8>> {
    path.split(|byte| *byte == b'/').rev().map(<[u8]>::to_vec).collect()
}

fn joined(trail: &[(Handle, Vec<u8>)], last: Option<&[u8]>) -> io::Result<Local> {
    let names: Vec<&[u8]> = trail.iter().map(|(_, name)| &name[..]).chain(last).collect();
    Local::from_bytes(&names.join(&b'/')).ok_or_else(missing)
}

fn small(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(most + 1).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(content)
}

impl Handle {
    /// Opens the folder `name`; an error if it is a link.
    pub(super) fn folder(&self, name: &[u8]) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = openat(self.0.as_fd(), OsStr::from_bytes(name), flags, Mode::empty())?;
        Ok(Self(Arc::new(handle)))
    }

    /// Opens the regular file `name`; an error if it is a link or anything else.
    pub(super) fn file(&self, name: &[u8]) -> io::Result<(File, Stamp)> {
        // Without NONBLOCK, opening a pipe that replaced the file would block for ever.
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = openat(self.0.as_fd(), OsStr::from_bytes(name), flags, Mode::empty())?;
        let stamp = Stamp::of(&fstat(&file)?);
        if stamp.kind != Kind::File {
            return Err(missing());
        }
        Ok((file.into(), stamp))
    }

    /// Reads the target of the link `name`.
    fn target(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        Ok(readlinkat(self.0.as_fd(), OsStr::from_bytes(name), Vec::new())?.into_bytes())
    }

    /// Opens this folder for reading its names.
    pub(super) fn names(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(openat(self.0.as_fd(), c".", flags, Mode::empty())?)
    }

    /// Stats `name` without following a link.
    pub(super) fn stamp_of(&self, name: &[u8]) -> io::Result<Stamp> {
        let stat = statat(self.0.as_fd(), OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Stamp::of(&stat))
    }

    /// Stats this folder.
    pub(super) fn stamp(&self) -> io::Result<Stamp> {
        Ok(Stamp::of(&fstat(self.0.as_fd())?))
    }
}

impl AsFd for Handle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
