//! Watches on the folders above the root whose ignore files apply to it.

use std::sync::Arc;

use super::super::content_version::WatchPurpose;
use crate::file_watch::{DirtySet, WatchHandle};
use crate::fs::ignore_rules::{IGNORE_FILES, ParentRules};
use crate::fs::root::FsRoot;

/// Begins the keys of these watches. No path below the root begins with it.
const KEY_PREFIX: &[u8] = b"../";

/// The watches of one subscription above the root.
#[derive(Default)]
pub(super) struct ParentWatches {
    rules: Option<Arc<ParentRules>>,
    watches: Vec<WatchHandle>,
}

impl ParentWatches {
    /// Watches the folders of the current rules. A change before that is seen by the next scan,
    /// which looks at the files.
    pub(super) fn renew(&mut self, root: &FsRoot) {
        let Ok(rules) = root.rules_above() else { return };
        if self.rules.as_ref().is_some_and(|known| Arc::ptr_eq(known, &rules)) {
            return;
        }
        let folders = rules.folders.iter().enumerate().filter_map(|(index, folder)| {
            let handle = root.dir.file_api.open_folder_above(folder).ok()?;
            let key = [KEY_PREFIX, index.to_string().as_bytes()].concat();
            root.watch_folder(&key, &handle, WatchPurpose::AllNames)
        });
        // Old watches are dropped after the new ones exist, so that no event is lost.
        self.watches = folders.collect();
        self.rules = Some(rules);
    }

    /// True if `dirty` names a file of rules above the root.
    pub(super) fn may_be_affected(&self, dirty: &DirtySet) -> bool {
        let mut above = dirty.folders.iter().filter(|(key, _)| key.starts_with(KEY_PREFIX));
        let is_rule_file = |name: &Vec<u8>| {
            IGNORE_FILES.contains(&&name[..]) || matches!(&name[..], b"exclude" | b".git")
        };
        !self.watches.is_empty()
            && above.any(|(_, touched)| touched.whole || touched.names.iter().any(is_rule_file))
    }
}
