//! Platform seam: the file system calls of the folder provider, those of this system or portable
//! ones.
//!
//! Every call works on one name in an open folder and never follows a link. Only the root itself,
//! and the rules above it, are opened by their path.

#[cfg(target_os = "linux")]
mod linux;
mod os_errors;
mod os_names;
mod portable;

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

#[cfg(target_os = "linux")]
use self::linux::{LinuxDir, LinuxFile};
pub(super) use self::os_errors::{is_descriptor_shortage, is_not_found};
pub(super) use self::os_names::os_str;
use self::portable::{PortableDir, PortableFile};
use super::stamp::{FileKind, FileStamp};
#[cfg(target_os = "linux")]
use crate::file_watch::WatchError;

/// Which file system calls a mount makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileApi {
    /// Those of this system, which are faster and report changes.
    #[default]
    Native,
    /// Those that most systems have. Changes are found by polling.
    Portable,
}

/// An open folder.
#[derive(Clone)]
pub(super) enum DirHandle {
    #[cfg(target_os = "linux")]
    Linux(LinuxDir),
    Portable(PortableDir),
}

/// An open regular file.
pub(super) enum FileHandle {
    #[cfg(target_os = "linux")]
    Linux(LinuxFile),
    Portable(PortableFile),
}

/// The stamp of an open file, and whether it still has a name.
pub(super) struct OpenFileStat {
    pub(super) stamp: FileStamp,
    /// True once its last name was removed, as a rename over it does.
    pub(super) is_unlinked: bool,
}

impl FileApi {
    /// Stats what is at `path`, behind links.
    pub(super) fn stat(self, path: &Path) -> io::Result<FileStamp> {
        #[cfg(target_os = "linux")]
        if self == Self::Native {
            return linux::stat(path);
        }
        portable::stat(path)
    }

    /// Opens the folder at `path`, to serve it.
    pub(super) fn open_root(self, path: &Path) -> io::Result<DirHandle> {
        #[cfg(target_os = "linux")]
        if self == Self::Native {
            return linux::open_root(path).map(DirHandle::Linux);
        }
        portable::open_folder(path).map(DirHandle::Portable)
    }

    /// Opens the folder at `path`, wherever it is, to watch the rules in it.
    pub(super) fn open_folder_above(self, path: &Path) -> io::Result<DirHandle> {
        #[cfg(target_os = "linux")]
        if self == Self::Native {
            return linux::open_folder_above(path).map(DirHandle::Linux);
        }
        portable::open_folder(path).map(DirHandle::Portable)
    }

    /// Opens the regular file at `path`, wherever it is, following links, to read the rules in it.
    pub(super) fn open_file_above(self, path: &Path) -> io::Result<(FileHandle, FileStamp)> {
        #[cfg(target_os = "linux")]
        if self == Self::Native {
            return linux::open_file_above(path).map(|(file, stamp)| (file.into(), stamp));
        }
        portable::open_file_above(path).map(|(file, stamp)| (file.into(), stamp))
    }
}

impl DirHandle {
    /// Opens the folder `name`; an error if it is a link.
    pub(super) fn open_folder(&self, name: &[u8]) -> io::Result<Self> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(folder) => folder.open_folder(name).map(Self::Linux),
            Self::Portable(folder) => folder.open_folder(name).map(Self::Portable),
        }
    }

    /// Opens the regular file `name`; an error if it is a link or anything else.
    pub(super) fn open_file(&self, name: &[u8]) -> io::Result<(FileHandle, FileStamp)> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(folder) => folder.open_file(name).map(|(file, stamp)| (file.into(), stamp)),
            Self::Portable(folder) => {
                folder.open_file(name).map(|(file, stamp)| (file.into(), stamp))
            }
        }
    }

    /// Reads the target of the link `name`.
    pub(super) fn read_link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(folder) => folder.read_link(name),
            Self::Portable(folder) => folder.read_link(name),
        }
    }

    /// Visits the names in this folder, in no order, with their kinds; `None` for a kind that the
    /// folder does not tell.
    pub(super) fn visit_names(
        &self,
        visit: impl FnMut(&[u8], Option<FileKind>) -> io::Result<ControlFlow<()>>,
    ) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(folder) => folder.visit_names(visit),
            Self::Portable(folder) => folder.visit_names(visit),
        }
    }

    /// Stats `name` without following a link.
    pub(super) fn stat_child(&self, name: &[u8]) -> io::Result<FileStamp> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(folder) => folder.stat_child(name),
            Self::Portable(folder) => folder.stat_child(name),
        }
    }

    /// Stats this folder.
    pub(super) fn stat(&self) -> io::Result<FileStamp> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(folder) => folder.stat(),
            Self::Portable(folder) => folder.stat(),
        }
    }

    /// True if this folder is known to be on a local disk.
    pub(super) fn is_local(&self) -> io::Result<bool> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(folder) => folder.is_local(),
            // No portable call tells. A disk that may be elsewhere costs a thread per request, and
            // one that is wrongly taken for local could stop the whole server.
            Self::Portable(_) => Ok(false),
        }
    }

    /// Returns this folder as inotify watches it; an error if its changes are found by polling.
    #[cfg(target_os = "linux")]
    pub(super) fn for_inotify(&self) -> Result<&LinuxDir, WatchError> {
        match self {
            Self::Linux(folder) => Ok(folder),
            Self::Portable(_) => Err(WatchError::Unavailable),
        }
    }
}

impl FileHandle {
    /// Whether the byte at `offset` is in memory; false where nobody knows.
    pub(super) fn is_cached(&self, offset: u64) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(file) => file.is_cached(offset),
            Self::Portable(_) => false,
        }
    }

    /// Stats this file.
    pub(super) fn stat(&self) -> io::Result<OpenFileStat> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(file) => file.stat(),
            Self::Portable(file) => file.stat(),
        }
    }

    /// Appends up to `most` bytes at `offset` to `into`; fewer only at the end of the file.
    pub(super) fn read_at(&self, offset: u64, most: u64, into: &mut Vec<u8>) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(file) => file.read_at(offset, most, into),
            Self::Portable(file) => file.read_at(offset, most, into),
        }
    }
}

#[cfg(target_os = "linux")]
impl From<LinuxFile> for FileHandle {
    fn from(file: LinuxFile) -> Self {
        Self::Linux(file)
    }
}

impl From<PortableFile> for FileHandle {
    fn from(file: PortableFile) -> Self {
        Self::Portable(file)
    }
}

#[cfg(test)]
mod tests;
