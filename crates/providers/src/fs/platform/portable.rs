//! Portable implementation: `cap-std` handles, which confine on every system that it supports.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use cap_fs_ext::{
    DirExt as _, FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _,
    OpenOptionsSyncExt as _,
};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileType, Metadata, OpenOptions};
use parking_lot::Mutex;

use super::OpenFileStat;
use super::os_names::{name_bytes, os_str};
use crate::fs::error::not_found;
use crate::fs::stamp::{FileKind, FileStamp, UnixTime};

/// An open folder that gives access to nothing outside it.
#[derive(Clone)]
pub(in crate::fs) struct PortableDir(Arc<Dir>);

/// An open regular file. A read moves its position, so that only one reads at a time.
pub(in crate::fs) struct PortableFile(Mutex<File>);

/// Opens the folder at `path`, wherever it is, following links.
pub(super) fn open_folder(path: &Path) -> io::Result<PortableDir> {
    Ok(PortableDir(Arc::new(Dir::open_ambient_dir(path, ambient_authority())?)))
}

/// Stats what is at `path`, behind links.
pub(super) fn stat(path: &Path) -> io::Result<FileStamp> {
    // Through an open folder, because a path alone does not tell identities on every system.
    match split_real(path)? {
        (folder, Some(name)) => folder.stat_child(&name),
        (folder, None) => folder.stat(),
    }
}

/// Opens the regular file at `path`, wherever it is, following links.
pub(super) fn open_file_above(path: &Path) -> io::Result<(PortableFile, FileStamp)> {
    match split_real(path)? {
        (folder, Some(name)) => folder.open_file(&name),
        (_, None) => Err(not_found()),
    }
}

/// Follows the links in `path`; returns the open folder that contains what is there, and its name.
/// The top folder of a disk has no name.
fn split_real(path: &Path) -> io::Result<(PortableDir, Option<Vec<u8>>)> {
    let real = path.canonicalize()?;
    match (real.parent(), real.file_name()) {
        (Some(parent), Some(name)) => {
            let name = name_bytes(name).ok_or_else(not_found)?.to_vec();
            Ok((open_folder(parent)?, Some(name)))
        }
        _ => Ok((open_folder(&real)?, None)),
    }
}

impl PortableDir {
    /// Opens the folder `name`; an error if it is a link.
    pub(super) fn open_folder(&self, name: &[u8]) -> io::Result<Self> {
        let folder = self.0.open_dir_nofollow(single_name(name)?).map_err(outside_is_absent)?;
        Ok(Self(Arc::new(folder)))
    }

    /// Opens the regular file `name`; an error if it is a link or anything else.
    pub(super) fn open_file(&self, name: &[u8]) -> io::Result<(PortableFile, FileStamp)> {
        let mut options = OpenOptions::new();
        // Without `nonblock`, opening a pipe that replaced the file would block for ever.
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = self.0.open_with(single_name(name)?, &options).map_err(outside_is_absent)?;
        let file = file.into_std();
        let stamp = stamp_of(&Metadata::from_file(&file)?)?;
        if stamp.kind != FileKind::File {
            return Err(not_found());
        }
        Ok((PortableFile(Mutex::new(file)), stamp))
    }

    /// Reads the target of the link `name`.
    pub(super) fn read_link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        let target = self.0.read_link_contents(single_name(name)?).map_err(outside_is_absent)?;
        Ok(name_bytes(target.as_os_str()).ok_or_else(not_found)?.to_vec())
    }

    /// Visits the names in this folder, in no order, with their kinds; `None` for a kind that the
    /// folder does not tell.
    pub(super) fn visit_names(
        &self,
        mut visit: impl FnMut(&[u8], Option<FileKind>) -> io::Result<ControlFlow<()>>,
    ) -> io::Result<()> {
        for entry in self.0.entries()? {
            let entry = entry?;
            let kind = entry.file_type().ok().map(kind_of);
            // What is of no known kind may only be of one that the folder does not tell.
            let kind = kind.filter(|kind| *kind != FileKind::Other);
            let name = entry.file_name();
            if let Some(name) = name_bytes(&name)
                && visit(name, kind)?.is_break()
            {
                break;
            }
        }
        Ok(())
    }

    /// Stats `name` without following a link.
    pub(super) fn stat_child(&self, name: &[u8]) -> io::Result<FileStamp> {
        stamp_of(&self.0.symlink_metadata(single_name(name)?).map_err(outside_is_absent)?)
    }

    /// Stats this folder.
    pub(super) fn stat(&self) -> io::Result<FileStamp> {
        stamp_of(&self.0.dir_metadata()?)
    }
}

impl PortableFile {
    /// Stats this file.
    pub(super) fn stat(&self) -> io::Result<OpenFileStat> {
        let metadata = Metadata::from_file(&self.0.lock())?;
        Ok(OpenFileStat { stamp: stamp_of(&metadata)?, is_unlinked: metadata.nlink() == 0 })
    }

    /// Appends up to `most` bytes at `offset` to `into`; fewer only at the end of the file.
    pub(super) fn read_at(&self, offset: u64, most: u64, into: &mut Vec<u8>) -> io::Result<()> {
        let mut file = self.0.lock();
        file.seek(SeekFrom::Start(offset))?;
        let mut end = into.len();
        into.resize(end + usize::try_from(most).map_err(io::Error::other)?, 0);
        while end < into.len() {
            match file.read(&mut into[end..]) {
                Ok(0) => break,
                Ok(read) => end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        into.truncate(end);
        Ok(())
    }
}

/// Returns `name` as the operating system takes it; an error if that would not be one name.
fn single_name(name: &[u8]) -> io::Result<&OsStr> {
    let is_one = |name: &&OsStr| {
        let mut parts = Path::new(name).components();
        parts.next() == Some(Component::Normal(name)) && parts.next().is_none()
    };
    // Windows finds the same file under each of these spellings, and rules know only one.
    let is_alias = cfg!(windows)
        && (name.iter().any(|byte| matches!(byte, b':' | b'~'))
            || matches!(name.last(), Some(b'.' | b' ')));
    os_str(name).filter(is_one).filter(|_| !is_alias).ok_or_else(not_found)
}

/// What `cap-std` keeps back as outside the folder does not exist.
fn outside_is_absent(error: io::Error) -> io::Error {
    let is_kept_back = error.kind() == io::ErrorKind::PermissionDenied;
    if is_kept_back && error.raw_os_error().is_none() { not_found() } else { error }
}

fn kind_of(kind: FileType) -> FileKind {
    if kind.is_file() {
        FileKind::File
    } else if kind.is_dir() {
        FileKind::Folder
    } else if kind.is_symlink() {
        FileKind::Symlink
    } else {
        FileKind::Other
    }
}

fn stamp_of(metadata: &Metadata) -> io::Result<FileStamp> {
    Ok(FileStamp {
        kind: kind_of(metadata.file_type()),
        size: metadata.len(),
        device: metadata.dev(),
        inode: metadata.ino(),
        modified: unix_time(metadata.modified()?.into_std()),
        changed: change_time(metadata)?,
    })
}

/// When the file, its name or its permissions last changed.
#[cfg(unix)]
fn change_time(metadata: &Metadata) -> io::Result<UnixTime> {
    use cap_std::fs::MetadataExt as _;
    Ok((metadata.ctime(), u32::try_from(metadata.ctime_nsec()).unwrap_or(0)))
}

/// When the file last changed, or was made; it misses a restored date.
#[cfg(not(unix))]
fn change_time(metadata: &Metadata) -> io::Result<UnixTime> {
    let modified = metadata.modified()?.into_std();
    let made = metadata.created().map_or(modified, cap_std::time::SystemTime::into_std);
    Ok(unix_time(modified.max(made)))
}

fn unix_time(time: SystemTime) -> UnixTime {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => (since.as_secs().cast_signed(), since.subsec_nanos()),
        Err(before) => {
            let before = before.duration();
            let borrowed = i64::from(before.subsec_nanos() > 0);
            let seconds = -before.as_secs().cast_signed() - borrowed;
            (seconds, (1_000_000_000 - before.subsec_nanos()) % 1_000_000_000)
        }
    }
}
