//! Dirty set: the folders and names that may have changed since the last rescan.

use std::collections::{HashMap, HashSet};

/// How many names are tracked; beyond that, whole folders count as changed.
const MAX_NAMES: usize = 16_384;

/// Everything that may have changed.
#[derive(Debug, Default)]
pub(crate) struct DirtySet {
    /// Anything may have changed.
    pub(crate) all: bool,
    /// Checks that failed before are due to be retried.
    pub(crate) retry_failed: bool,
    /// The changes in single folders, by key.
    pub(crate) folders: HashMap<Vec<u8>, DirtyDir>,
    name_count: usize,
}

/// What may have changed in one folder.
#[derive(Debug, Default)]
pub(crate) struct DirtyDir {
    /// The folder itself or anything in it may have changed.
    pub(crate) whole: bool,
    /// The names that may have changed.
    pub(crate) names: HashSet<Vec<u8>>,
}

impl DirtySet {
    /// A set that says that anything may have changed.
    pub(crate) fn everything() -> Self {
        Self { all: true, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.all && self.folders.is_empty()
    }

    /// Adds all changes of a later set.
    pub(crate) fn merge(&mut self, later: &Self) {
        self.all |= later.all;
        self.retry_failed |= later.retry_failed;
        for (folder, touched) in &later.folders {
            if touched.whole {
                self.add(folder, None);
            }
            for name in &touched.names {
                self.add(folder, Some(name));
            }
        }
    }

    pub(super) fn add(&mut self, folder: &[u8], name: Option<&[u8]>) {
        if self.all {
            return;
        }
        if !self.folders.contains_key(folder) {
            self.folders.insert(folder.to_vec(), DirtyDir::default());
        }
        let Some(touched) = self.folders.get_mut(folder) else { return };
        match name {
            Some(name) if self.name_count < MAX_NAMES => {
                self.name_count += usize::from(touched.names.insert(name.to_vec()));
            }
            Some(name) if touched.names.contains(name) => {}
            _ => touched.whole = true,
        }
    }
}
