//! How is a file opened so that nothing outside the root ever is?
//!
//! One name in a folder that is already open, and never through a link. Where a link leads is
//! found out by reading it, and then gone to from the root in that same way.

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

/// How many links are followed for one path; as many as the kernel follows.
const MOST_LINKS: usize = 40;

/// The folder beyond which nothing is reached.
pub(super) struct Root {
    top: Handle,
    /// The path of the machine that links inside may begin with.
    home: Vec<u8>,
    /// What the file system said of it at first.
    pub(super) stamp: Stamp,
    /// Whether its disk is in this machine, so that asking it takes no thread.
    ///
    /// For that, other file systems mounted further down are not looked for.
    pub(super) local: bool,
    /// How that is told of a folder.
    pub(super) judge: fn(BorrowedFd<'_>) -> io::Result<bool>,
}

/// An open folder.
#[derive(Clone)]
pub(super) struct Handle(Arc<OwnedFd>);

/// A name that is looked up in a folder.
pub(super) struct Lookup {
    pub(super) folder: Local,
    pub(super) handle: Handle,
    pub(super) name: Vec<u8>,
}

impl Root {
    /// Opens the folder at `path`, the only time that a path of the machine is used.
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

    /// The root itself.
    pub(super) fn top(&self) -> Handle {
        self.top.clone()
    }

    /// Whether the disk of `folder` is in this machine.
    pub(super) fn is_local(&self, folder: &Handle) -> bool {
        (self.judge)(folder.as_fd()).unwrap_or(false)
    }

    /// Where `path` leads when every link in it is followed; an error if that is outside.
    pub(super) fn real(&self, path: &Local) -> io::Result<Local> {
        self.resolve(path, |_, _, _| {})
    }

    /// Every folder in which a name is looked up on the way to `path`, links followed, with that
    /// name, as far as there is a way; an error if that cannot be told just now.
    pub(super) fn trail(&self, path: &Local) -> io::Result<Vec<Lookup>> {
        let mut trail = Vec::new();
        let real = self.resolve(path, |folder, way, name| {
            if let Ok(path) = joined(way, None) {
                trail.push(Lookup { folder: path, handle: folder.clone(), name: name.to_vec() });
            }
        });
        match real {
            Err(error) if is_passing(&error) => Err(error),
            // Where the way ends before the path does, so does what there is to say of it.
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

    /// The content of the small file at `path`, links followed; an error if it is over `most`.
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

    /// The names by which `target`, a path of the machine, goes on from the root, the first one
    /// last; nothing if it does not lead there.
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

/// The names of `path`, the first one last.
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
    /// The folder `name` in this folder; an error if it is a link.
    pub(super) fn folder(&self, name: &[u8]) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = openat(self.0.as_fd(), OsStr::from_bytes(name), flags, Mode::empty())?;
        Ok(Self(Arc::new(handle)))
    }

    /// The file `name` in this folder; an error if it is a link or anything else.
    pub(super) fn file(&self, name: &[u8]) -> io::Result<(File, Stamp)> {
        // Without NONBLOCK a pipe that was put in the file's place would hold us up for ever.
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = openat(self.0.as_fd(), OsStr::from_bytes(name), flags, Mode::empty())?;
        let stamp = Stamp::of(&fstat(&file)?);
        if stamp.kind != Kind::File {
            return Err(missing());
        }
        Ok((file.into(), stamp))
    }

    /// What the link `name` in this folder says.
    fn target(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        Ok(readlinkat(self.0.as_fd(), OsStr::from_bytes(name), Vec::new())?.into_bytes())
    }

    /// This folder, open for reading its names.
    pub(super) fn names(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(openat(self.0.as_fd(), c".", flags, Mode::empty())?)
    }

    /// What the file system says of `name`, not of what it may link to.
    pub(super) fn stamp_of(&self, name: &[u8]) -> io::Result<Stamp> {
        let stat = statat(self.0.as_fd(), OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Stamp::of(&stat))
    }

    /// What the file system says of this folder.
    pub(super) fn stamp(&self) -> io::Result<Stamp> {
        Ok(Stamp::of(&fstat(self.0.as_fd())?))
    }
}

impl AsFd for Handle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
