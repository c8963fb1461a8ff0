//! How is a file opened so that nothing outside the root ever is?
//!
//! Two ways, and no third. One name in a folder that is already open, never through a link; or,
//! to learn where a link leads, the whole path by `cap-std`, which resolves it beneath the root.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fs::{AtFlags, Mode, OFlags, fstat, fstatfs, openat, statat};

use super::fault::missing;
use super::path::Local;
use super::stamp::Stamp;

/// The folder beyond which nothing is reached.
pub(super) struct Root {
    dir: Dir,
    top: Handle,
    /// Whether its disk is in this machine, so that asking it takes no thread.
    ///
    /// Other file systems mounted further down are not looked for.
    pub(super) local: bool,
}

/// An open folder.
#[derive(Clone)]
pub(super) struct Handle(Arc<OwnedFd>);

impl Root {
    /// Opens the folder at `path`, the only time that a path of the machine is used.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        let top = Handle(Arc::new(dir.try_clone()?.into_std_file().into()));
        let local = is_local(fstatfs(&dir)?.f_type as u64);
        Ok(Self { dir, top, local })
    }

    /// The root itself.
    pub(super) fn top(&self) -> Handle {
        self.top.clone()
    }

    /// Where `path` leads when every link in it is followed; an error if that is outside.
    pub(super) fn real(&self, path: &Local) -> io::Result<Local> {
        let real = self.dir.canonicalize(path.as_path())?.into_os_string().into_vec();
        if real == b"." {
            return Ok(Local::default());
        }
        Local::from_bytes(&real).ok_or_else(missing)
    }

    /// The content of the small file at `path`, links followed; an error if it is over `most`.
    pub(super) fn small(&self, path: &Local, most: u64) -> io::Result<Vec<u8>> {
        let mut options = cap_std::fs::OpenOptions::new();
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, OFlags::NONBLOCK.bits() as i32);
        let file = self.dir.open_with(path.as_path(), options.read(true))?;
        if !file.metadata()?.is_file() {
            return Err(missing());
        }
        let mut content = Vec::new();
        file.take(most + 1).read_to_end(&mut content)?;
        if content.len() as u64 > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(content)
    }
}

impl Handle {
    /// The folder `name` in this folder; an error if it is a link.
    pub(super) fn folder(&self, name: &[u8]) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = openat(self.0.as_fd(), OsStr::from_bytes(name), flags, Mode::empty())?;
        Ok(Self(Arc::new(handle)))
    }

    /// The file `name` in this folder; an error if it is a link.
    pub(super) fn file(&self, name: &[u8]) -> io::Result<File> {
        // Without NONBLOCK a pipe that was put in the file's place would hold us up for ever.
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(openat(self.0.as_fd(), OsStr::from_bytes(name), flags, Mode::empty())?.into())
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

/// Whether a file system of this `kind`, by its magic number, is neither remote nor a program.
fn is_local(kind: u64) -> bool {
    const ELSEWHERE: [u64; 14] = [
        0x6969,      // NFS
        0x517b,      // SMB
        0xff53_4d42, // CIFS
        0xfe53_4d42, // SMB 2
        0x6573_5546, // FUSE
        0x0102_1997, // 9P
        0x00c3_6400, // Ceph
        0x5346_414f, // AFS
        0x7375_7245, // Coda
        0x564c,      // NCP
        0x0bd0_0bd0, // Lustre
        0x4750_4653, // GPFS
        0x7461_636f, // OCFS2
        0x0116_1970, // GFS2
    ];
    !ELSEWHERE.contains(&(kind & 0xffff_ffff))
}
