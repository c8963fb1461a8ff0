//! Stamps of the files that a revision's meaning depends on, to see cheaply that it is unchanged.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gix::bstr::ByteSlice as _;

use super::location::RevisionSpec;
use super::repository::GitSession;

/// A file's ctime must be this old before an equal ctime proves that nothing changed.
const TIMESTAMP_MARGIN: Duration = Duration::from_millis(50);

/// How many references may point at references.
const MAX_SYMBOLIC: usize = 8;

/// The files that decide what a revision means, as they were before it was resolved.
#[derive(Debug)]
pub(super) struct RefStamp(Vec<(PathBuf, Option<FileMark>)>);

/// What changes whenever a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileMark {
    modified: (i64, i64),
    changed: (i64, i64),
    size: u64,
    inode: u64,
}

impl FileMark {
    fn of(path: &Path) -> Option<Self> {
        let data = std::fs::symlink_metadata(path).ok()?;
        Some(Self {
            modified: (data.mtime(), data.mtime_nsec()),
            changed: (data.ctime(), data.ctime_nsec()),
            size: data.size(),
            inode: data.ino(),
        })
    }

    fn is_settled(&self, now: SystemTime) -> bool {
        let seconds = u64::try_from(self.changed.0).unwrap_or(0);
        let nanos = u32::try_from(self.changed.1).unwrap_or(0);
        let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos);
        now.duration_since(changed).is_ok_and(|age| age > TIMESTAMP_MARGIN)
    }
}

impl RefStamp {
    /// Whether the files are as they were.
    pub(super) fn is_current(&self) -> bool {
        self.0.iter().all(|(path, mark)| FileMark::of(path) == *mark)
    }
}

impl GitSession<'_> {
    /// Stamps the files that `revision` depends on; `None` if that is not known for certain.
    pub(super) fn ref_stamp(&self, revision: &RevisionSpec) -> Option<RefStamp> {
        let name = revision.as_bytes().to_str().ok()?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        if !name.chars().all(is_plain) || name.contains("..") {
            return None;
        }
        let (own, common) = (self.repo.git_dir(), self.repo.common_dir());
        let mut paths = vec![common.join("packed-refs"), own.join(name)];
        if name != "HEAD" {
            paths.extend(
                ["", "tags/", "heads/", "remotes/"]
                    .map(|folder| common.join(format!("refs/{folder}{name}"))),
            );
        }
        let mut reference = self.repo.try_find_reference(name).ok()??;
        for _ in 0..MAX_SYMBOLIC {
            let path = reference.name().as_bstr().to_path().ok()?.to_owned();
            paths.extend([own.join(&path), common.join(&path)]);
            match reference.follow() {
                Some(next) => reference = next.ok()?,
                None => {
                    paths.sort();
                    paths.dedup();
                    return stamp_all(paths);
                }
            }
        }
        None
    }
}

fn stamp_all(paths: Vec<PathBuf>) -> Option<RefStamp> {
    let now = SystemTime::now();
    let stamped: Vec<_> = paths.into_iter().map(|path| (FileMark::of(&path), path)).collect();
    let is_settled = |mark: &Option<FileMark>| mark.is_none_or(|mark| mark.is_settled(now));
    let all = stamped.iter().all(|(mark, _)| is_settled(mark));
    all.then(|| RefStamp(stamped.into_iter().map(|(mark, path)| (path, mark)).collect()))
}
