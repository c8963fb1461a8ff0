//! Snapshot of one folder for change detection: its names and the version of each.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

use crate::file_watch::{FileVersion, MAX_HASHED_SIZE, WatchHandle};
use crate::fs::budget::WorkBudget;
use crate::fs::folder_names::{FolderNames, ScanExtent};
use crate::fs::locate::Folder;
use crate::fs::path::LocalPath;
use crate::fs::root::FsRoot;
use crate::fs::stamp::FileKind;

/// Limit, per folder, of recently changed files whose full versions the snapshot holds.
const MAX_RECENT_VERSIONS: usize = 4_096;

/// The names in one folder, and the version of each.
pub(super) struct DirSnapshot {
    /// Path by which the subscriber reaches the folder.
    pub(super) shown: LocalPath,
    pub(super) names: Arc<FolderNames>,
    /// Fingerprint of each name, zero where a change could go unnoticed; `None` if only names
    /// matter.
    fingerprints: Option<Vec<u64>>,
    /// Versions of files that changed just now, which their fingerprints cannot tell apart yet.
    recent: HashMap<Vec<u8>, FileVersion>,
    /// The inotify watch; `None` where the folder is polled.
    pub(super) watch: Option<WatchHandle>,
    /// True if the last update could not check some entry, which must be checked again.
    pub(super) needs_recheck: bool,
}

/// What a snapshot records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SnapshotDetail {
    Names,
    Versions,
}

/// One difference between two snapshots.
pub(super) struct SnapshotDifference {
    pub(super) name: Vec<u8>,
    /// Kind before, if it existed.
    pub(super) before: Option<FileKind>,
    /// Kind now, if it exists.
    pub(super) after: Option<FileKind>,
}

/// One entry of a folder, as it is now.
struct SnapshotEntry<'a> {
    folder: &'a Arc<Folder>,
    name: &'a [u8],
    kind: FileKind,
}

impl DirSnapshot {
    /// Takes the first snapshot of `folder`. The caller starts the watch before, so no change is
    /// lost.
    pub(super) fn take(
        root: &FsRoot,
        folder: &Arc<Folder>,
        (shown, detail): (LocalPath, SnapshotDetail),
        handle: Option<WatchHandle>,
    ) -> io::Result<Self> {
        let names = root.folder_names(folder, ScanExtent::All, &WorkBudget::background())?;
        let marks = (detail == SnapshotDetail::Versions).then(|| Vec::with_capacity(names.len()));
        let (recent, missed) = (HashMap::new(), false);
        let mut known = Self {
            shown,
            names: names.clone(),
            fingerprints: marks,
            recent,
            watch: handle,
            needs_recheck: missed,
        };
        if let Some(mut marks) = known.fingerprints.take() {
            let polls = known.watch.is_none();
            for (name, kind) in (0..names.len()).filter_map(|index| names.get(index)) {
                let child = SnapshotEntry { folder, name, kind };
                // With a watch, an event will name the file, so its content need not be hashed yet.
                marks
                    .push(known.check_entry(root, &child, None, polls).map_or(0, |(mark, _)| mark));
            }
            known.fingerprints = Some(marks);
        }
        Ok(known)
    }

    /// Updates the snapshot and returns the differences: in all entries, or in the entries named in
    /// `only`. Always includes names that appeared or disappeared.
    pub(super) fn update(
        &mut self,
        root: &FsRoot,
        folder: &Arc<Folder>,
        only: Option<&HashSet<Vec<u8>>>,
    ) -> io::Result<Vec<SnapshotDifference>> {
        let new = root.folder_names(folder, ScanExtent::All, &WorkBudget::background())?;
        let old = std::mem::replace(&mut self.names, new.clone());
        let Some(only) = only.filter(|_| Arc::ptr_eq(&old, &new)) else {
            return Ok(self.merge_names(root, folder, (&old, &new), only));
        };
        let mut differences = Vec::new();
        let Some(mut marks) = self.fingerprints.take() else { return Ok(differences) };
        for name in only {
            let index = new.lower_bound(name);
            if let Some((found, kind)) = new.get(index)
                && found == name
                && let Some(before) = marks.get_mut(index)
                && let Some((mark, is_news)) = self.check_entry(
                    root,
                    &SnapshotEntry { folder, name, kind },
                    Some(*before),
                    true,
                )
            {
                *before = mark;
                if is_news {
                    let name = name.clone();
                    differences.push(SnapshotDifference {
                        name,
                        before: Some(kind),
                        after: Some(kind),
                    });
                }
            }
        }
        self.fingerprints = Some(marks);
        Ok(differences)
    }

    fn merge_names(
        &mut self,
        root: &FsRoot,
        folder: &Arc<Folder>,
        (old, new): (&FolderNames, &FolderNames),
        only: Option<&HashSet<Vec<u8>>>,
    ) -> Vec<SnapshotDifference> {
        let before = self.fingerprints.take();
        let mut marks = Vec::with_capacity(if before.is_some() { new.len() } else { 0 });
        let mut differences = Vec::new();
        let (mut left, mut right) = (0, 0);
        loop {
            let (was, is) = match (old.get(left), new.get(right)) {
                (None, None) => break,
                (Some(was), Some(is)) => match was.0.cmp(is.0) {
                    Ordering::Less => (Some(was), None),
                    Ordering::Equal => (Some(was), Some(is)),
                    Ordering::Greater => (None, Some(is)),
                },
                one => one,
            };
            let mark = before.as_ref().and_then(|marks| marks.get(left).copied());
            left += usize::from(was.is_some());
            right += usize::from(is.is_some());
            let Some((name, _)) = was.or(is) else { break };
            let (was, is) = (was.map(|(_, kind)| kind), is.map(|(_, kind)| kind));
            let mut is_news = was != is;
            if is.is_none() {
                self.recent.remove(name);
            }
            if let (Some(_), Some(kind)) = (&before, is) {
                let mark = mark.filter(|_| was == is);
                let is_asked = only.is_none_or(|only| only.contains(name));
                marks.push(match mark {
                    Some(mark) if !is_asked => mark,
                    mark => {
                        let seen = self.check_entry(
                            root,
                            &SnapshotEntry { folder, name, kind },
                            mark,
                            true,
                        );
                        is_news |= seen.is_some_and(|(_, is_news)| is_news);
                        seen.map_or(0, |(mark, _)| mark)
                    }
                });
            }
            if is_news {
                differences.push(SnapshotDifference {
                    name: name.to_vec(),
                    before: was,
                    after: is,
                });
            }
        }
        self.fingerprints = before.is_some().then_some(marks);
        differences
    }

    /// Returns the current fingerprint of `child`, and whether it differs from the snapshot. `None`
    /// if it is gone or has another kind now, for which another event will follow, or if a link
    /// cannot be resolved at present.
    fn check_entry(
        &mut self,
        root: &FsRoot,
        child: &SnapshotEntry<'_>,
        before: Option<u64>,
        reads: bool,
    ) -> Option<(u64, bool)> {
        let SnapshotEntry { folder, name, kind } = child;
        let known = self.recent.get(*name).copied();
        let known = known.or_else(|| before.map(|mark| FileVersion::new(mark, mark != 0, None)));
        let (place, target, stamp) = match kind {
            FileKind::Symlink => match root.resolve_target(folder, name) {
                Ok(target) => target?,
                Err(_) => {
                    self.needs_recheck = true;
                    return None;
                }
            },
            kind => ((*folder).clone(), name.to_vec(), root.stat_member(folder, name, *kind)?),
        };
        let mut version = root.stat_version(&stamp);
        if known.is_some_and(|known| known.is_certainly_at(version.fingerprint())) {
            return Some((version.fingerprint(), false));
        }
        let tells = known.is_some_and(|known| known.has_hash()) || !version.is_settled();
        if reads && tells && stamp.size <= MAX_HASHED_SIZE {
            version = root.content_version((&place, &target), &stamp, None);
        }
        let is_news = known.is_none_or(|known| known.may_differ_from(&version));
        self.recent.remove(*name);
        if !version.is_settled() && reads && self.recent.len() < MAX_RECENT_VERSIONS {
            self.recent.insert(name.to_vec(), version);
        }
        Some((if version.is_settled() { version.fingerprint() } else { 0 }, is_news))
    }
}
