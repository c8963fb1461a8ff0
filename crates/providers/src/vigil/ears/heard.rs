//! Which names in which folders may have changed?

use std::collections::{HashMap, HashSet};

/// So many names are told apart; beyond that whole folders count as changed.
const MOST_NAMES: usize = 16_384;

/// What may have changed.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// Whether anything may have.
    pub(crate) all: bool,
    /// Whether what could not be looked at before is to be tried again.
    pub(crate) again: bool,
    /// In which folders what may have.
    pub(crate) folders: HashMap<Vec<u8>, Touched>,
    names: usize,
}

/// What may have changed in one folder.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// Whether anything in it may have, or it itself.
    pub(crate) whole: bool,
    /// These names.
    pub(crate) names: HashSet<Vec<u8>>,
}

impl Heard {
    /// That anything may have changed.
    pub(crate) fn anything() -> Self {
        Self { all: true, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.all && self.folders.is_empty()
    }

    /// Adds what was heard later.
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
