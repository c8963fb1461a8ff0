//! File system type of a folder, and the folders on the path to a file.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::fstatfs;

/// How many symbolic links are followed for one path.
const MAX_LINKS: usize = 40;

/// True if `folder` is not on a network, cluster or FUSE file system, where inotify misses changes
/// made elsewhere.
pub(crate) fn is_local(folder: impl AsFd) -> io::Result<bool> {
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
    // The magic numbers are listed in `man 2 statfs`.
    let kind = fstatfs(folder)?.f_type as u64;
    Ok(!ELSEWHERE.contains(&(kind & 0xffff_ffff)))
}

/// Every folder in which the kernel looks up a name to resolve `path`, with that name. Follows
/// symbolic links and stops where the path does not exist. `path` must be absolute.
pub(crate) fn lookup_steps(path: &Path) -> Vec<(PathBuf, OsString)> {
    let owned = |part: Component<'_>| part.as_os_str().to_owned();
    let mut ahead: VecDeque<OsString> = path.components().map(owned).collect();
    let (mut here, mut links, mut way) = (PathBuf::from("/"), 0, Vec::new());
    while let Some(name) = ahead.pop_front() {
        if name == OsStr::new("/") {
            here = PathBuf::from("/");
        } else if name == OsStr::new("..") {
            here.pop();
        } else if name != OsStr::new(".") {
            way.push((here.clone(), name.clone()));
            let next = here.join(&name);
            match fs::read_link(&next) {
                Ok(target) if links < MAX_LINKS => {
                    links += 1;
                    for part in target.components().rev() {
                        ahead.push_front(owned(part));
                    }
                }
                _ => here = next,
            }
            if !ahead.is_empty() && fs::symlink_metadata(&here).is_err() {
                break;
            }
        }
    }
    way
}
