//! First scans: adds folders to what a subscription covers, a limited number per round.

use std::io;
use std::time::SystemTime;

use resource::Change;

use super::super::MAX_LISTED_FOLDERS;
use super::super::content_version::WatchPurpose;
use super::super::dir_snapshot::{DirSnapshot, SnapshotDetail};
use super::{ALL_IS_NEWS, FsWatchState, NewsSince, WatchSubject};
use crate::file_watch::{ChangeSender, RescanOutcome};
use crate::fs::error::is_transient;
use crate::fs::locate::Folder;
use crate::fs::path::{LocalPath, child_uri};
use crate::fs::root::FsRoot;
use crate::fs::stamp::{FileKind, FileStamp};

/// Folders scanned for the first time in one round, before other subscriptions get their turn.
pub(super) const MAX_FOLDERS_PER_ROUND: usize = 512;

/// Names read in one such round.
const MAX_NAMES_PER_ROUND: usize = 20_000;

impl FsWatchState {
    /// True if `folder` is not covered yet and there is room for it.
    pub(in crate::fs::watch) fn can_add(&self, folder: &Folder) -> bool {
        let is_known = self.folders.contains_key(folder.path.as_bytes());
        !is_known && self.folders.len() < MAX_LISTED_FOLDERS
    }

    /// Adds a folder that a client is about to list. True if a scan failed and must be retried.
    pub(in crate::fs::watch) fn add_listed(
        &mut self,
        root: &FsRoot,
        folder: &Folder,
        changes: &ChangeSender,
    ) -> bool {
        // It may be queued already, and what changed since then is to be reported all the same.
        let queued = self.pending.iter().find(|(path, _)| *path == folder.path);
        let since = queued.and_then(|(_, since)| *since);
        self.try_add_folder(root, &folder.path, since, changes);
        !self.retry.is_empty()
    }

    /// True if subfolders are not covered.
    pub(in crate::fs::watch) fn is_shallow(&self) -> bool {
        !self.is_recursive
    }

    /// Covers all folders, because a client is about to list them all. True if scans remain to be
    /// done.
    pub(in crate::fs::watch) fn add_all(&mut self, root: &FsRoot, changes: &ChangeSender) -> bool {
        self.add_subfolders(None);
        self.scan_before_reply(root, changes) != RescanOutcome::Done
    }

    /// Covers subfolders from now on.
    pub(super) fn add_subfolders(&mut self, since: NewsSince) {
        self.is_recursive = true;
        for (key, known) in &self.folders {
            let Some(path) = LocalPath::from_bytes(key) else { continue };
            let names = (0..known.names.len()).filter_map(|index| known.names.get(index));
            let inner = names.filter(|(_, kind)| *kind == FileKind::Folder);
            self.pending.extend(inner.map(|(name, _)| (path.join(name), since)));
        }
    }

    /// Runs pending first scans before the client gets its reply. The scans that remain report what
    /// changes after the reply, because no event tells of a folder that is not watched yet.
    pub(super) fn scan_before_reply(
        &mut self,
        root: &FsRoot,
        changes: &ChangeSender,
    ) -> RescanOutcome {
        let outcome = self.scan_pending(root, changes);
        let now = SystemTime::now();
        for (_, since) in &mut self.pending {
            since.get_or_insert(now);
        }
        outcome
    }

    /// Runs pending first scans, up to the limits of one round, and returns what remains.
    pub(super) fn scan_pending(&mut self, root: &FsRoot, changes: &ChangeSender) -> RescanOutcome {
        let (mut folders, mut names) = (0, 0);
        while folders < MAX_FOLDERS_PER_ROUND
            && names < MAX_NAMES_PER_ROUND
            && changes.has_receiver()
        {
            let Some((path, since)) = self.pending.pop() else { break };
            folders += 1;
            names += self.try_add_folder(root, &path, since, changes);
        }
        if !changes.has_receiver() {
            RescanOutcome::Done
        } else if !self.pending.is_empty() {
            RescanOutcome::Unfinished
        } else if self.needs_recheck || !self.retry.is_empty() {
            RescanOutcome::Failed
        } else {
            RescanOutcome::Done
        }
    }

    /// Scans a folder for the first time, or queues it for a retry. Returns its number of names.
    fn try_add_folder(
        &mut self,
        root: &FsRoot,
        path: &LocalPath,
        since: NewsSince,
        changes: &ChangeSender,
    ) -> usize {
        self.add_folder(root, path, since, changes).unwrap_or_else(|error| {
            // No event tells that the root is back.
            let may_succeed = is_transient(&error) || *path == LocalPath::default();
            if may_succeed && !self.retry.contains(path) {
                self.retry.push(path.clone());
            }
            0
        })
    }

    fn add_folder(
        &mut self,
        root: &FsRoot,
        path: &LocalPath,
        since: NewsSince,
        changes: &ChangeSender,
    ) -> io::Result<usize> {
        let key = path.as_bytes();
        if self.folders.contains_key(key) {
            return Ok(0);
        }
        let hold = root.watch_folder(
            key,
            &root.folder_without_links(path)?.handle,
            WatchPurpose::AllNames,
        );
        // Found again, because it may have changed before the watch began.
        let folder = root.folder_without_links(path)?;
        let (shown, detail) = match &self.subject {
            WatchSubject::Resource(one) => (one.shown_path().clone(), SnapshotDetail::Versions),
            WatchSubject::Listing => (path.clone(), SnapshotDetail::Names),
            WatchSubject::Everything => (path.clone(), SnapshotDetail::Versions),
        };
        let mut known = DirSnapshot::take(root, &folder, (shown.clone(), detail), hold)?;
        self.needs_recheck |= std::mem::take(&mut known.needs_recheck);
        let is_new = |stamp: &FileStamp| {
            since.is_some_and(|since| !stamp.is_settled(since, root.clock_margin))
        };
        // Its stamp after the snapshot, so that it is as new as each name in the snapshot.
        let is_news = since.is_some() && is_new(&folder.handle.stat()?);
        let names = known.names.clone();
        self.folders.insert(key.to_vec(), known);
        let prefix = shown.uri_prefix();
        for (name, kind) in (0..names.len()).filter_map(|index| names.get(index)) {
            if self.is_recursive && kind == FileKind::Folder {
                // The folder may have been moved here, with content that is older than the move.
                self.pending.push((path.join(name), if is_news { ALL_IS_NEWS } else { since }));
            }
            if kind == FileKind::Symlink {
                self.track_link(root, &folder, name);
            }
            let is_told = !matches!(self.subject, WatchSubject::Listing)
                && (is_news
                    || since.is_some()
                        && root
                            .stat_member(&folder, name, kind)
                            .is_some_and(|stamp| is_new(&stamp)));
            if is_told && !root.is_hidden(&folder, &shown, name) {
                changes.send(Change::Updated(child_uri(&prefix, name)));
            }
        }
        if is_news {
            self.send_names_changed(&shown, changes);
        }
        Ok(names.len())
    }
}
