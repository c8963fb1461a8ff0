//! Watch state of one subscription: the folders it covers and their snapshots.

mod first_scan;
mod parent_watches;
#[cfg(test)]
mod tests;
mod tracked_links;

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use resource::{Change, Uri};

use self::parent_watches::ParentWatches;
use self::tracked_links::TrackedLink;
use super::content_version::WatchPurpose;
use super::dir_snapshot::{DirSnapshot, SnapshotDifference};
use super::single_watch::SingleWatch;
use crate::file_watch::{ChangeSender, DirtyDir, DirtySet, RescanOutcome};
use crate::fs::budget::WorkBudget;
use crate::fs::cursor::WalkMode;
use crate::fs::error::{is_not_found, is_transient};
use crate::fs::ignore_rules::IGNORE_FILES;
use crate::fs::locate::Folder;
use crate::fs::options::ListingMode;
use crate::fs::path::{LocalPath, UriPath, child_uri};
use crate::fs::root::FsRoot;
use crate::fs::stamp::FileKind;

/// What one subscription has already reported, for comparison with what exists now.
pub(in crate::fs) struct FsWatchState {
    subject: WatchSubject,
    /// True if subfolders are covered too.
    is_recursive: bool,
    /// Folder snapshots, by real path.
    folders: BTreeMap<Vec<u8>, DirSnapshot>,
    /// Folders still to be scanned, and which of their content to report as changed.
    pending: Vec<(LocalPath, NewsSince)>,
    /// Folders whose scan failed transiently, to be retried.
    retry: Vec<LocalPath>,
    /// True if another check failed transiently, so that everything must be checked again.
    needs_recheck: bool,
    links: Vec<TrackedLink>,
    parent_watches: ParentWatches,
}

/// Changes from this time on are reported by the first scan of a folder; none if `None`.
type NewsSince = Option<SystemTime>;

/// The first scan reports everything as changed.
const ALL_IS_NEWS: NewsSince = Some(UNIX_EPOCH);

enum WatchSubject {
    Resource(SingleWatch),
    Listing,
    Everything,
}

impl FsWatchState {
    pub(super) fn for_resource(uri: &Uri, requested: UriPath) -> Self {
        Self::new(WatchSubject::Resource(SingleWatch::new(uri, requested)), false)
    }

    pub(super) fn for_listing() -> Self {
        Self::new(WatchSubject::Listing, false)
    }

    pub(super) fn for_everything() -> Self {
        Self::new(WatchSubject::Everything, true)
    }

    fn new(subject: WatchSubject, is_recursive: bool) -> Self {
        let (pending, retry, links) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            subject,
            is_recursive,
            folders: BTreeMap::new(),
            pending,
            retry,
            needs_recheck: false,
            links,
            parent_watches: ParentWatches::default(),
        }
    }

    /// Runs the first scan; an error if the resource does not exist. The result is always true.
    pub(super) fn initial_scan(
        &mut self,
        root: &FsRoot,
        changes: &ChangeSender,
    ) -> io::Result<bool> {
        self.parent_watches.renew(root);
        match &mut self.subject {
            WatchSubject::Resource(one) => {
                let folder = one.recheck(root, None)?;
                if let Some(folder) = folder {
                    self.pending.push((folder.path.clone(), None));
                } else {
                    one.require_exists()?;
                }
            }
            WatchSubject::Listing => {
                self.is_recursive = root
                    .listing_mode(&root.root_folder()?, &WorkBudget::background())?
                    == WalkMode::Flat;
                self.pending.push((LocalPath::default(), None));
            }
            WatchSubject::Everything => self.pending.push((LocalPath::default(), None)),
        }
        self.scan_before_reply(root, changes);
        Ok(true)
    }

    /// Compares what exists now with the snapshots, as far as `heard` says it may differ, and sends
    /// the changes to `feed`.
    pub(super) fn rescan(
        &mut self,
        root: &FsRoot,
        dirty: &DirtySet,
        changes: &ChangeSender,
    ) -> RescanOutcome {
        let mut all = dirty.all || self.parent_watches.may_be_affected(dirty);
        if all {
            self.parent_watches.renew(root);
        }
        if dirty.all || dirty.retry_failed {
            all |= std::mem::take(&mut self.needs_recheck);
            // Report their content as changed, since it may have changed meanwhile.
            self.pending.extend(self.retry.drain(..).map(|path| (path, ALL_IS_NEWS)));
        }
        if let WatchSubject::Resource(one) = &mut self.subject
            && (all || one.may_be_affected(dirty))
        {
            // A resource that cannot be read at present is neither removed nor changed.
            match one.recheck(root, Some(changes)) {
                Ok(folder) => self.follow_folder(root, folder, changes),
                Err(error) => self.needs_recheck |= is_transient(&error),
            }
            // No event tells that the root is back.
            self.needs_recheck |= root.dir.is_gone();
        }
        if all {
            self.rescan_tree(root, b"", changes);
            self.recheck_listing_mode(root);
        } else {
            for (key, touched) in &dirty.folders {
                self.rescan_dirty(root, (key, touched), changes);
            }
        }
        self.rescan_links(root, dirty, changes);
        self.scan_pending(root, changes)
    }

    /// Covers only the one folder that the subscription is for, at its current real path.
    fn follow_folder(
        &mut self,
        root: &FsRoot,
        folder: Option<Arc<Folder>>,
        changes: &ChangeSender,
    ) {
        let path = folder.map(|folder| folder.path.clone());
        let gone: Vec<Vec<u8>> = self
            .folders
            .keys()
            .filter(|key| path.as_ref().is_none_or(|path| path.as_bytes() != **key))
            .cloned()
            .collect();
        for key in gone {
            self.remove_tree(root, &key, changes);
        }
        match path {
            Some(path) if self.folders.contains_key(path.as_bytes()) => {
                self.rescan_folder(root, path.as_bytes(), None, changes);
            }
            Some(path) => self.pending.push((path, ALL_IS_NEWS)),
            None => {}
        }
    }

    fn rescan_dirty(
        &mut self,
        root: &FsRoot,
        (key, touched): (&[u8], &DirtyDir),
        changes: &ChangeSender,
    ) {
        if !self.folders.contains_key(key) {
            return;
        }
        // An ignore file affects everything below it.
        if touched.whole || IGNORE_FILES.iter().any(|file| touched.names.contains(*file)) {
            return self.rescan_tree(root, key, changes);
        }
        self.rescan_folder(root, key, Some(&touched.names), changes);
        let Some(path) = LocalPath::from_bytes(key) else { return };
        for name in &touched.names {
            // The folder may have been replaced by another one.
            let inner = path.join(name);
            if self.folders.contains_key(inner.as_bytes()) {
                self.rescan_tree(root, inner.as_bytes(), changes);
            }
        }
    }

    /// Checks the folder `key` and all covered folders below it.
    fn rescan_tree(&mut self, root: &FsRoot, key: &[u8], changes: &ChangeSender) {
        for key in self.folders_within(key) {
            if changes.has_receiver() {
                self.rescan_folder(root, &key, None, changes);
            }
        }
    }

    /// Reports the differences in the folder `key`: of all entries, or of the names in `only`.
    fn rescan_folder(
        &mut self,
        root: &FsRoot,
        key: &[u8],
        only: Option<&HashSet<Vec<u8>>>,
        changes: &ChangeSender,
    ) {
        let (Some(path), Some(known)) = (LocalPath::from_bytes(key), self.folders.get_mut(key))
        else {
            return;
        };
        let held = |folder: Arc<Folder>| {
            if only.is_some() {
                return Ok(folder);
            }
            // This may be another folder than the watched one.
            match &known.watch {
                Some(hold) => {
                    root.or_poll(
                        folder.handle.for_inotify().and_then(|folder| hold.renew(folder)),
                        WatchPurpose::AllNames,
                    );
                }
                None => {
                    known.watch = root.watch_folder(key, &folder.handle, WatchPurpose::AllNames)
                }
            }
            root.folder_without_links(&path)
        };
        let folder = match root.folder_without_links(&path).and_then(held) {
            Ok(folder) => folder,
            Err(error) if is_not_found(&error) => {
                self.remove_tree(root, key, changes);
                if path == LocalPath::default() {
                    self.retry.push(path);
                }
                return;
            }
            Err(error) => {
                self.needs_recheck |= is_transient(&error);
                return;
            }
        };
        let differences = known.update(root, &folder, only);
        self.needs_recheck |= std::mem::take(&mut known.needs_recheck);
        match differences {
            Ok(differences) => {
                let shown = known.shown.clone();
                self.send_differences(&folder, &shown, &differences, (root, changes));
            }
            Err(error) => self.needs_recheck |= is_transient(&error),
        }
    }

    fn send_differences(
        &mut self,
        folder: &Arc<Folder>,
        shown: &LocalPath,
        differences: &[SnapshotDifference],
        (site, feed): (&FsRoot, &ChangeSender),
    ) {
        let mut names_changed = false;
        let prefix = shown.uri_prefix();
        for SnapshotDifference { name, before: was, after: is } in differences {
            if site.is_hidden(folder, shown, name) {
                continue;
            }
            names_changed |= was != is;
            let inner = folder.path.join(name);
            if *was == Some(FileKind::Folder) && was != is {
                self.remove_tree(site, inner.as_bytes(), feed);
            }
            if self.is_recursive && *is == Some(FileKind::Folder) && was != is {
                self.pending.push((inner, ALL_IS_NEWS));
            }
            if *is == Some(FileKind::Symlink) {
                self.track_link(site, folder, name);
            }
            if !matches!(self.subject, WatchSubject::Listing) {
                let uri = child_uri(&prefix, name);
                feed.send(if is.is_some() { Change::Updated(uri) } else { Change::Removed(uri) });
            }
        }
        if names_changed {
            self.send_names_changed(shown, feed);
            self.recheck_listing_mode(site);
        }
    }

    /// Starts to cover subfolders once the list without parent shows them.
    fn recheck_listing_mode(&mut self, root: &FsRoot) {
        if self.is_recursive
            || root.listing != ListingMode::Auto
            || !matches!(self.subject, WatchSubject::Listing)
        {
            return;
        }
        match root.root_folder().and_then(|top| root.listing_mode(&top, &WorkBudget::background()))
        {
            Ok(WalkMode::Flat) => self.add_subfolders(Some(SystemTime::now())),
            Ok(WalkMode::Tree) => {}
            Err(error) => self.needs_recheck |= is_transient(&error),
        }
    }

    /// Reports that names appeared or disappeared in the folder shown as `shown`.
    fn send_names_changed(&self, shown: &LocalPath, changes: &ChangeSender) {
        match &self.subject {
            WatchSubject::Resource(one) => changes.send(Change::Updated(one.uri.clone())),
            WatchSubject::Listing => changes.send(Change::Listing),
            WatchSubject::Everything => {
                changes.send(Change::Updated(shown.uri()));
                changes.send(Change::Listing);
            }
        }
    }

    /// Drops the folder `key` and all below it, and reports them as removed.
    fn remove_tree(&mut self, root: &FsRoot, key: &[u8], changes: &ChangeSender) {
        for key in self.folders_within(key) {
            let Some(known) = self.folders.remove(&key) else { continue };
            self.links.retain(|link| link.link_folder != key);
            if matches!(self.subject, WatchSubject::Listing) {
                changes.send(Change::Listing);
                continue;
            }
            let prefix = known.shown.uri_prefix();
            for (name, _) in (0..known.names.len()).filter_map(|index| known.names.get(index)) {
                if !root.is_hidden_at(&key, &known.shown, name) {
                    changes.send(Change::Removed(child_uri(&prefix, name)));
                }
            }
        }
        if let Some(path) = LocalPath::from_bytes(key) {
            self.pending.retain(|(ahead, _)| !ahead.is_within(&path));
            self.retry.retain(|failed| !failed.is_within(&path));
        }
    }

    /// Returns the covered folders at `key` and below it.
    fn folders_within(&self, key: &[u8]) -> Vec<Vec<u8>> {
        let Some(path) = LocalPath::from_bytes(key) else { return Vec::new() };
        let known = self.folders.range(key.to_vec()..);
        let inside =
            |key: &Vec<u8>| LocalPath::from_bytes(key).is_some_and(|key| key.is_within(&path));
        // Keys between a folder and its descendants start with the folder's own key.
        let near = known.map(|(key, _)| key).take_while(|other| other.starts_with(key));
        near.filter(|key| inside(key)).cloned().collect()
    }
}
