//! Content versions of files, and inotify watches on folders, with polling as fallback.

use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use blake3::Hash;

use crate::file_watch::{FileVersion, MAX_HASHED_SIZE, WatchError, WatchHandle};
use crate::fs::error::{is_not_found, is_transient};
use crate::fs::locate::{Folder, PathEntry};
use crate::fs::platform::DirHandle;
use crate::fs::root::FsRoot;
use crate::fs::stamp::{FileKind, FileStamp};

/// Real folder of something, its name there (empty for a folder), and its stamp.
pub(super) type ResolvedTarget = (Arc<Folder>, Vec<u8>, FileStamp);

/// Why a folder is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WatchPurpose {
    /// To see all its names change, which requires that it is readable.
    AllNames,
    /// To see one name in it change, which does not.
    OneName,
}

impl FsRoot {
    /// Returns the version of `name`, whose stamp is `stamp`. Hashes the content of a small file,
    /// unless the stamp proves that it is still the `known` version.
    pub(super) fn content_version(
        &self,
        (folder, name): (&Folder, &[u8]),
        stamp: &FileStamp,
        known: Option<&FileVersion>,
    ) -> FileVersion {
        if stamp.kind == FileKind::Folder {
            return FileVersion::new(stamp.identity(), true, None);
        }
        if let Some(known) = known
            && known.is_certainly_at(stamp.fingerprint())
        {
            return *known;
        }
        let now = SystemTime::now();
        let (stamp, hash) = match hash_small_file(folder, name, stamp) {
            Some((stamp, hash)) => (stamp, Some(hash)),
            None => (*stamp, None),
        };
        FileVersion::new(stamp.fingerprint(), stamp.is_settled(now, self.clock_margin), hash)
    }

    /// Returns the version by the stamp alone.
    pub(super) fn stat_version(&self, stamp: &FileStamp) -> FileVersion {
        if stamp.kind == FileKind::Folder {
            return FileVersion::new(stamp.identity(), true, None);
        }
        let settled = stamp.is_settled(SystemTime::now(), self.clock_margin);
        FileVersion::new(stamp.fingerprint(), settled, None)
    }

    /// Resolves `name` in `folder`, following links. `None` if nothing visible is there; an error
    /// if the failure is transient.
    pub(super) fn resolve_target(
        &self,
        folder: &Arc<Folder>,
        name: &[u8],
    ) -> io::Result<Option<ResolvedTarget>> {
        match self.find_child(folder, name) {
            Ok(PathEntry::File(leaf)) => Ok(Some((leaf.folder, leaf.name, leaf.stamp))),
            Ok(PathEntry::Folder(target)) => {
                let stamp = target.stamp;
                Ok(Some((target, Vec::new(), stamp)))
            }
            Err(error) if is_transient(&error) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Watches `folder` with inotify. `None` if that is not possible.
    pub(super) fn watch_folder(
        &self,
        key: &[u8],
        handle: &DirHandle,
        purpose: WatchPurpose,
    ) -> Option<WatchHandle> {
        if !self.uses_inotify() {
            return None;
        }
        // A file system mounted below the root may not support inotify.
        if !self.dir.is_local(handle) {
            self.rescan_loop.start_polling();
            return None;
        }
        self.or_poll(
            self.rescan_loop.inotify().and_then(|ears| ears.add_watch(key, handle.for_inotify()?)),
            purpose,
        )
    }

    /// Returns the result of a watch `attempt`. If it failed, starts polling where changes could be
    /// missed.
    pub(super) fn or_poll<T>(
        &self,
        attempt: Result<T, WatchError>,
        purpose: WatchPurpose,
    ) -> Option<T> {
        match attempt {
            Ok(done) => Some(done),
            Err(WatchError::Unavailable) => {
                self.rescan_loop.start_polling();
                None
            }
            Err(WatchError::Refused(error)) => {
                tracing::debug!(%error, "cannot watch folder with inotify");
                // The watch on the parent reports a folder that is gone. An unreadable folder shows
                // no names that could change, but known names in it still resolve.
                let is_shut = error.kind() == io::ErrorKind::PermissionDenied;
                if !is_not_found(&error) && (purpose == WatchPurpose::OneName || !is_shut) {
                    self.rescan_loop.start_polling();
                }
                None
            }
        }
    }
}

/// Hashes a small file; returns the stamp of what was read, and the hash.
fn hash_small_file(folder: &Folder, name: &[u8], stamp: &FileStamp) -> Option<(FileStamp, Hash)> {
    if stamp.size > MAX_HASHED_SIZE {
        return None;
    }
    let (file, stamp) = folder.handle.open_file(name).ok()?;
    let most = stamp.size.min(MAX_HASHED_SIZE);
    let mut bytes = Vec::new();
    file.read_at(0, most + 1, &mut bytes).ok()?;
    // If the file grew while it was read, another event will follow.
    (bytes.len() as u64 <= most).then(|| (stamp, blake3::hash(&bytes)))
}

#[cfg(test)]
mod tests {
    use std::io;

    use rustix::io::Errno;

    use super::WatchPurpose;
    use crate::file_watch::WatchError;
    use crate::fs::options::Options;
    use crate::fs::root::FsRoot;

    #[test]
    fn where_the_kernel_refuses_to_tell_of_what_can_be_seen_one_looks() {
        let root = tempfile::tempdir().unwrap();
        for (error, aim, polls) in [
            (Errno::ACCESS, WatchPurpose::OneName, true),
            (Errno::ACCESS, WatchPurpose::AllNames, false),
            (Errno::NOENT, WatchPurpose::OneName, false),
            (Errno::IO, WatchPurpose::AllNames, true),
        ] {
            let site = FsRoot::open(Options::new(root.path())).unwrap();
            let refused = WatchError::Refused(io::Error::from(error));
            assert!(site.or_poll::<()>(Err(refused), aim).is_none());
            assert_eq!(site.rescan_loop.polling_interval().is_some(), polls, "{error} {aim:?}");
        }
    }
}
