//! Linux implementation: `openat` and `statat` on handles that name a folder and nothing else.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use rustix::buffer::spare_capacity;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawDir, Stat, fstat, openat, readlinkat, statat,
};
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2};

use super::OpenFileStat;
use crate::file_watch::is_local;
use crate::fs::error::not_found;
use crate::fs::stamp::{FileKind, FileStamp};

/// File descriptor of an open folder.
#[derive(Clone)]
pub(in crate::fs) struct LinuxDir(Arc<OwnedFd>);

/// An open regular file.
pub(in crate::fs) struct LinuxFile(File);

/// Stats what is at `path`, behind links.
pub(super) fn stat(path: &Path) -> io::Result<FileStamp> {
    Ok(stamp_of(&rustix::fs::stat(path)?))
}

/// Opens the folder at `path`, to serve it.
pub(super) fn open_root(path: &Path) -> io::Result<LinuxDir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(LinuxDir(Arc::new(openat(CWD, path, flags, Mode::empty())?)))
}

/// Opens the folder at `path`, wherever it is, to watch the rules in it.
pub(super) fn open_folder_above(path: &Path) -> io::Result<LinuxDir> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(LinuxDir(Arc::new(openat(CWD, path, flags, Mode::empty())?)))
}

/// Opens the regular file at `path`, wherever it is, following links, to read the rules in it.
pub(super) fn open_file_above(path: &Path) -> io::Result<(LinuxFile, FileStamp)> {
    // Without NONBLOCK, opening a pipe would block for ever.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    regular_file(openat(CWD, path, flags, Mode::empty())?)
}

fn regular_file(file: OwnedFd) -> io::Result<(LinuxFile, FileStamp)> {
    let stamp = stamp_of(&fstat(&file)?);
    if stamp.kind != FileKind::File {
        return Err(not_found());
    }
    Ok((LinuxFile(file.into()), stamp))
}

impl LinuxDir {
    /// Opens the folder `name`; an error if it is a link.
    pub(super) fn open_folder(&self, name: &[u8]) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = openat(self.as_fd(), OsStr::from_bytes(name), flags, Mode::empty())?;
        Ok(Self(Arc::new(handle)))
    }

    /// Opens the regular file `name`; an error if it is a link or anything else.
    pub(super) fn open_file(&self, name: &[u8]) -> io::Result<(LinuxFile, FileStamp)> {
        // Without NONBLOCK, opening a pipe that replaced the file would block for ever.
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        regular_file(openat(self.as_fd(), OsStr::from_bytes(name), flags, Mode::empty())?)
    }

    /// Reads the target of the link `name`.
    pub(super) fn read_link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        Ok(readlinkat(self.as_fd(), OsStr::from_bytes(name), Vec::new())?.into_bytes())
    }

    /// Visits the names in this folder, in no order, with their kinds; `None` for a kind that the
    /// folder does not tell.
    pub(super) fn visit_names(
        &self,
        mut visit: impl FnMut(&[u8], Option<FileKind>) -> io::Result<ControlFlow<()>>,
    ) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(self.as_fd(), c".", flags, Mode::empty())?;
        let mut buffer = Vec::with_capacity(32 * 1024);
        let mut entries = RawDir::new(folder, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            let kind = match entry.file_type() {
                FileType::Unknown => None,
                kind => Some(kind_of(kind)),
            };
            if !matches!(name, b"." | b"..") && visit(name, kind)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Stats `name` without following a link.
    pub(super) fn stat_child(&self, name: &[u8]) -> io::Result<FileStamp> {
        let stat = statat(self.as_fd(), OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(stamp_of(&stat))
    }

    /// Stats this folder.
    pub(super) fn stat(&self) -> io::Result<FileStamp> {
        Ok(stamp_of(&fstat(self.as_fd())?))
    }

    /// True if this folder is on a local disk.
    pub(super) fn is_local(&self) -> io::Result<bool> {
        is_local(self)
    }
}

impl AsFd for LinuxDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl LinuxFile {
    /// Whether the byte at `offset` is in memory, so that reading up to it waits for no disk, as far
    /// as the kernel reads ahead. False where the file system does not say.
    pub(super) fn is_cached(&self, offset: u64) -> bool {
        let mut byte = [0];
        let into = &mut [IoSliceMut::new(&mut byte)];
        preadv2(&self.0, into, offset, ReadWriteFlags::NOWAIT).is_ok_and(|read| read == 1)
    }

    /// Stats this file.
    pub(super) fn stat(&self) -> io::Result<OpenFileStat> {
        let stat = fstat(&self.0)?;
        Ok(OpenFileStat { stamp: stamp_of(&stat), is_unlinked: stat.st_nlink == 0 })
    }

    /// Appends up to `most` bytes at `offset` to `into`; fewer only at the end of the file.
    ///
    /// Allocates once and does not zero the buffer first.
    pub(super) fn read_at(&self, offset: u64, most: u64, into: &mut Vec<u8>) -> io::Result<()> {
        let start = into.len();
        let end = start + usize::try_from(most).map_err(io::Error::other)?;
        into.reserve_exact(end - start);
        while into.len() < end {
            let at = offset + (into.len() - start) as u64;
            match pread(&self.0, spare_capacity(into), at) {
                Ok(0) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        into.truncate(end);
        Ok(())
    }
}

fn stamp_of(stat: &Stat) -> FileStamp {
    FileStamp {
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        device: stat.st_dev,
        inode: stat.st_ino,
        modified: (stat.st_mtime, stat.st_mtime_nsec as u32),
        changed: (stat.st_ctime, stat.st_ctime_nsec as u32),
    }
}

fn kind_of(kind: FileType) -> FileKind {
    match kind {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Folder,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Other,
    }
}
