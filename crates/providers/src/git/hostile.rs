//! Hostile names that trees hold: left out of lists, and told in the state of the mount.

use std::collections::BTreeSet;

use parking_lot::Mutex;

use super::repo_path::quoted;

/// How many names are told.
const MAX_NAMES: usize = 20;

/// Longest part of a name that is told, in bytes.
const MAX_NAME_BYTES: usize = 100;

/// The hostile names seen so far.
#[derive(Default)]
pub(super) struct HostileNames(Mutex<BTreeSet<Vec<u8>>>);

impl HostileNames {
    pub(super) fn add(&self, path: &[u8]) {
        let mut names = self.0.lock();
        if names.len() < MAX_NAMES {
            names.insert(path[..path.len().min(MAX_NAME_BYTES)].to_vec());
        }
    }

    /// The names, if there are any, as a text on one line.
    pub(super) fn tell(&self) -> Option<String> {
        let names = self.0.lock();
        let told: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        (!told.is_empty()).then(|| told.join(", "))
    }
}
