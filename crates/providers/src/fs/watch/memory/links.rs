//! Links in watched folders: reports a link as changed when its target changes.

use std::collections::HashSet;
use std::sync::Arc;

use super::super::gaze::Aim;
use super::{Memory, Subject};
use crate::fs::locate::Folder;
use crate::fs::site::Site;
use crate::vigil::{Feed, Heard, Hold};

/// Most links followed for one subscription.
const MOST_LINKS: usize = 1_024;

/// A link in a folder, and the file that is its target.
pub(super) struct Link {
    pub(super) key: Vec<u8>,
    name: Vec<u8>,
    folder: Vec<u8>,
    target: Vec<u8>,
    _hold: Option<Hold>,
}

impl Memory {
    /// Checks the links whose targets may have changed according to `heard`.
    pub(super) fn hear_links(&mut self, site: &Site, heard: &Heard, feed: &Feed) {
        let is_meant = |link: &&Link| {
            let touched = heard.folders.get(&link.folder);
            touched.is_some_and(|touched| touched.whole || touched.names.contains(&link.target))
        };
        let meant: Vec<(Vec<u8>, Vec<u8>)> = self
            .links
            .iter()
            .filter(is_meant)
            .map(|link| (link.key.clone(), link.name.clone()))
            .collect();
        for (key, name) in meant {
            self.examine(site, &key, Some(&HashSet::from([name])), feed);
        }
    }

    /// Records and watches the target of a link, so that its changes are reported for the link too.
    pub(super) fn learn_link(&mut self, site: &Site, folder: &Arc<Folder>, name: &[u8]) {
        let key = folder.path.as_bytes();
        self.links.retain(|link| link.key != key || link.name != name);
        if matches!(self.subject, Subject::Listing) || self.links.len() >= MOST_LINKS {
            return;
        }
        let found = site.target(folder, name);
        self.missed |= found.is_err();
        if let Ok(Some((place, target, _))) = found
            && !target.is_empty()
        {
            let hold = site.listen(place.path.as_bytes(), &place.handle, Aim::Lookup);
            let (key, name) = (key.to_vec(), name.to_vec());
            let folder = place.path.as_bytes().to_vec();
            self.links.push(Link { key, name, folder, target, _hold: hold });
        }
    }
}
