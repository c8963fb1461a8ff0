//! Content versions of files, and inotify watches on folders, with polling as fallback.

use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::time::SystemTime;

use blake3::Hash;

use crate::fs::confine::Handle;
use crate::fs::fault::{is_missing, is_passing};
use crate::fs::locate::{Folder, Found};
use crate::fs::site::Site;
use crate::fs::stamp::{Kind, Stamp};
use crate::vigil::{Deaf, HASHED, Hold, Version};

/// Real folder of something, its name there (empty for a folder), and its stamp.
pub(super) type Target = (Arc<Folder>, Vec<u8>, Stamp);

/// Why a folder is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    /// To see all its names change, which requires that it is readable.
    Names,
    /// To see one name in it change, which does not.
    Lookup,
}

impl Site {
    /// Returns the version of `name`, whose stamp is `stamp`. Hashes the content of a small file,
    /// unless the stamp proves that it is still the `known` version.
    pub(super) fn version(
        &self,
        (folder, name): (&Folder, &[u8]),
        stamp: &Stamp,
        known: Option<&Version>,
    ) -> Version {
        if stamp.kind == Kind::Folder {
            return Version::new(stamp.identity(), true, None);
        }
        if let Some(known) = known
            && known.surely_has(stamp.mark())
        {
            return *known;
        }
        let now = SystemTime::now();
        let (stamp, hash) = match hash(folder, name, stamp) {
            Some((stamp, hash)) => (stamp, Some(hash)),
            None => (*stamp, None),
        };
        Version::new(stamp.mark(), stamp.is_settled(now, self.margin), hash)
    }

    /// Returns the version by the stamp alone.
    pub(super) fn outward(&self, stamp: &Stamp) -> Version {
        if stamp.kind == Kind::Folder {
            return Version::new(stamp.identity(), true, None);
        }
        let settled = stamp.is_settled(SystemTime::now(), self.margin);
        Version::new(stamp.mark(), settled, None)
    }

    /// Resolves `name` in `folder`, following links. `None` if nothing visible is there; an error
    /// if the failure is transient.
    pub(super) fn target(&self, folder: &Arc<Folder>, name: &[u8]) -> io::Result<Option<Target>> {
        match self.look(folder, name) {
            Ok(Found::File(leaf)) => Ok(Some((leaf.folder, leaf.name, leaf.stamp))),
            Ok(Found::Folder(target)) => {
                let stamp = target.stamp;
                Ok(Some((target, Vec::new(), stamp)))
            }
            Err(error) if is_passing(&error) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Watches `folder` with inotify. `None` if that is not possible.
    pub(super) fn listen(&self, key: &[u8], handle: &Handle, aim: Aim) -> Option<Hold> {
        if !self.is_told() {
            return None;
        }
        // A file system mounted below the root may not support inotify.
        if !self.root.is_local(handle) {
            self.desk.start_polling();
            return None;
        }
        self.noted(self.desk.ears().and_then(|ears| ears.listen(key, handle)), aim)
    }

    /// Returns the result of a watch `attempt`. If it failed, starts polling where changes could be
    /// missed.
    pub(super) fn noted<T>(&self, attempt: Result<T, Deaf>, aim: Aim) -> Option<T> {
        match attempt {
            Ok(done) => Some(done),
            Err(Deaf::Full) => {
                self.desk.start_polling();
                None
            }
            Err(Deaf::Refused(error)) => {
                tracing::debug!(%error, "cannot watch folder with inotify");
                // The watch on the parent reports a folder that is gone. An unreadable folder shows
                // no names that could change, but known names in it still resolve.
                let is_shut = error.kind() == io::ErrorKind::PermissionDenied;
                if !is_missing(&error) && (aim == Aim::Lookup || !is_shut) {
                    self.desk.start_polling();
                }
                None
            }
        }
    }
}

/// Hashes a small file; returns the stamp of what was read, and the hash.
fn hash(folder: &Folder, name: &[u8], stamp: &Stamp) -> Option<(Stamp, Hash)> {
    if stamp.size > HASHED {
        return None;
    }
    let (file, stamp) = folder.handle.file(name).ok()?;
    let mut bytes = vec![0; usize::try_from(stamp.size.min(HASHED)).ok()? + 1];
    let mut read = 0;
    while read < bytes.len() {
        match file.read_at(&mut bytes[read..], read as u64).ok()? {
            0 => return Some((stamp, blake3::hash(&bytes[..read]))),
            more => read += more,
        }
    }
    // The file grew while it was read; another event will follow.
    None
}

#[cfg(test)]
mod tests {
    use std::io;

    use rustix::io::Errno;

    use super::Aim;
    use crate::fs::options::Options;
    use crate::fs::site::Site;
    use crate::vigil::Deaf;

    #[test]
    fn where_the_kernel_refuses_to_tell_of_what_can_be_seen_one_looks() {
        let root = tempfile::tempdir().unwrap();
        for (error, aim, polls) in [
            (Errno::ACCESS, Aim::Lookup, true),
            (Errno::ACCESS, Aim::Names, false),
            (Errno::NOENT, Aim::Lookup, false),
            (Errno::IO, Aim::Names, true),
        ] {
            let site = Site::open(Options::new(root.path())).unwrap();
            let refused = Deaf::Refused(io::Error::from(error));
            assert!(site.noted::<()>(Err(refused), aim).is_none());
            assert_eq!(site.desk.polls().is_some(), polls, "{error} {aim:?}");
        }
    }
}
