//! File metadata from `stat`: kind, size, times, identity and ETag.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::platform::OpenFileStat;

/// Type of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    File,
    Folder,
    Symlink,
    /// Pipes, sockets, devices: never served.
    Other,
}

/// Metadata of one file or folder at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileStamp {
    pub(super) kind: FileKind,
    pub(super) size: u64,
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) modified: UnixTime,
    pub(super) changed: UnixTime,
}

/// Seconds since 1970, and nanoseconds.
pub(super) type UnixTime = (i64, u32);

impl FileStamp {
    /// Returns the modification time.
    pub(super) fn modified(&self) -> SystemTime {
        system_time(self.modified)
    }

    /// True if any later change is certain to change the stamp.
    ///
    /// File system clocks are coarse: the second of two changes within one tick leaves no trace. A
    /// stamp with a recent change time is therefore not reliable, as in git's index.
    pub(super) fn is_settled(&self, now: SystemTime, margin: Duration) -> bool {
        now.duration_since(system_time(self.changed)).is_ok_and(|age| age > margin)
    }

    /// True if this and `other` are on the same file system.
    pub(super) fn is_on_same_device(&self, other: &Self) -> bool {
        self.device == other.device
    }

    /// True if the open file that `later` describes still has the content of this stamp.
    ///
    /// Removing its last name, as a rename over it does, updates the change time too, but leaves
    /// the content of the open file alone.
    pub(super) fn has_content_of(&self, later: &OpenFileStat) -> bool {
        let now = &later.stamp;
        self.size == now.size
            && self.modified == now.modified
            && (self.changed == now.changed || later.is_unlinked)
    }

    /// Identifies the file or folder, whatever its content.
    pub(super) fn identity(&self) -> u64 {
        self.inode ^ self.device.rotate_left(32)
    }

    /// ETag of the content.
    ///
    /// It changes with every write, every rename over the file and every restored date, because all
    /// of them update the change time. It misses a second write of the same length within one tick
    /// of the clock, and a write through a memory map that is not flushed yet. It also changes when
    /// only permissions or the link count change.
    pub(super) fn etag(&self) -> String {
        format!("{:016x}", self.fingerprint())
    }

    /// The ETag as a number.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let nanos = |moment: UnixTime| (moment.0 as u64).rotate_left(30) ^ u64::from(moment.1);
        for word in [nanos(self.modified), nanos(self.changed), self.size, self.inode] {
            hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 29;
        }
        hash
    }
}

fn system_time((seconds, nanos): UnixTime) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let base =
        if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
    base.and_then(|base| base.checked_add(Duration::from_nanos(u64::from(nanos))))
        .unwrap_or(UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{FileStamp, system_time};
    use crate::fs::platform::FileApi;

    #[test]
    fn what_changed_just_now_is_not_trusted() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let stamp = FileApi::Native.stat(file.path()).unwrap();
        let margin = Duration::from_millis(50);
        let changed = system_time(stamp.changed);
        for (age, settled) in [(0, false), (50, false), (51, true), (5_000, true)] {
            let now = changed + Duration::from_millis(age);
            assert_eq!(stamp.is_settled(now, margin), settled, "{age} ms old");
        }
        assert!(!stamp.is_settled(changed - Duration::from_secs(1), margin), "a clock set back");
    }

    #[test]
    fn the_etag_sees_every_part_of_a_version() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let stamp = FileApi::Native.stat(file.path()).unwrap();
        let (seconds, nanos) = stamp.modified;
        for other in [
            FileStamp { size: stamp.size + 1, ..stamp },
            FileStamp { inode: stamp.inode + 1, ..stamp },
            FileStamp { modified: (seconds, nanos ^ 1), ..stamp },
            FileStamp { modified: (seconds + 1, nanos), ..stamp },
            FileStamp { changed: (seconds + 2, nanos), ..stamp },
        ] {
            assert_ne!(other.etag(), stamp.etag());
        }
        assert_eq!(stamp.etag().len(), 16);
    }

    #[test]
    fn dates_before_1970_are_dates_too() {
        let half = system_time((-1, 500_000_000));
        assert_eq!(std::time::UNIX_EPOCH.duration_since(half).unwrap(), Duration::from_millis(500));
    }
}
