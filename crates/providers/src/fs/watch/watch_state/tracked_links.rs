//! Links in watched folders: reports a link as changed when its target changes.

use std::collections::HashSet;
use std::sync::Arc;

use super::super::content_version::WatchPurpose;
use super::{FsWatchState, WatchSubject};
use crate::file_watch::{ChangeSender, DirtySet, WatchHandle};
use crate::fs::locate::Folder;
use crate::fs::root::FsRoot;

/// Most links followed for one subscription.
const MAX_TRACKED_LINKS: usize = 1_024;

/// A link in a folder, and the file that is its target.
pub(super) struct TrackedLink {
    pub(super) link_folder: Vec<u8>,
    link_name: Vec<u8>,
    target_folder: Vec<u8>,
    target_name: Vec<u8>,
    _watch: Option<WatchHandle>,
}

impl FsWatchState {
    /// Checks the links whose targets may have changed according to `heard`.
    pub(super) fn rescan_links(&mut self, root: &FsRoot, dirty: &DirtySet, changes: &ChangeSender) {
        let is_meant = |link: &&TrackedLink| {
            let touched = dirty.folders.get(&link.target_folder);
            touched
                .is_some_and(|touched| touched.whole || touched.names.contains(&link.target_name))
        };
        let meant: Vec<(Vec<u8>, Vec<u8>)> = self
            .links
            .iter()
            .filter(is_meant)
            .map(|link| (link.link_folder.clone(), link.link_name.clone()))
            .collect();
        for (key, name) in meant {
            self.rescan_folder(root, &key, Some(&HashSet::from([name])), changes);
        }
    }

    /// Records and watches the target of a link, so that its changes are reported for the link too.
    pub(super) fn track_link(&mut self, root: &FsRoot, folder: &Arc<Folder>, name: &[u8]) {
        let key = folder.path.as_bytes();
        self.links.retain(|link| link.link_folder != key || link.link_name != name);
        if matches!(self.subject, WatchSubject::Listing) || self.links.len() >= MAX_TRACKED_LINKS {
            return;
        }
        let found = root.resolve_target(folder, name);
        self.needs_recheck |= found.is_err();
        if let Ok(Some((place, target, _))) = found
            && !target.is_empty()
        {
            let hold =
                root.watch_folder(place.path.as_bytes(), &place.handle, WatchPurpose::OneName);
            let (key, name) = (key.to_vec(), name.to_vec());
            let folder = place.path.as_bytes().to_vec();
            self.links.push(TrackedLink {
                link_folder: key,
                link_name: name,
                target_folder: folder,
                target_name: target,
                _watch: hold,
            });
        }
    }
}
