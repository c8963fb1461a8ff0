//! Dirty set: the folders and names that may have changed since the last rescan.

use std::collections::{HashMap, HashSet};

/// How many names are tracked; beyond that, whole folders count as changed.
const MOST_NAMES: usize = 16_384;

/// Everything that may have changed.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// Anything may have changed.
    pub(crate) all: bool,
    /// Checks that failed before are due to be retried.
    pub(crate) again: bool,
    /// The changes in single folders, by key.
    pub(crate) folders: HashMap<Vec<u8>, Touched>,
    names: usize,
}

/// What may have changed in one folder.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// The folder itself or anything in it may have changed.
    pub(crate) whole: bool,
    /// The names that may have changed.
    pub(crate) names: HashSet<Vec<u8>>,
}

impl Heard {
    /// A set that says that anything may have changed.
    pub(crate) fn anything() -> Self {
        Self { all: true, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.all && self.folders.is_empty()
    }

    /// Adds all changes of a later set.
    pub(crate) fn add_all(&mut self, later: &Self) {
        self.all |= later.all;
        self.again |= later.again;
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
            self.folders.insert(folder.to_vec(), Touched::default());
        }
        let Some(touched) = self.folders.get_mut(folder) else { return };
        match name {
            Some(name) if self.names < MOST_NAMES => {
                self.names += usize::from(touched.names.insert(name.to_vec()));
            }
            Some(name) if touched.names.contains(name) => {}
            _ => touched.whole = true,
        }
    }
}
