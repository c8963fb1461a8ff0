//! Coverage: how much of each mount is in the index.

use std::collections::BTreeMap;

use crate::index::store::IndexHome;

/// How much of one mount is in the index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MountCoverage {
    /// The resources found so far.
    pub found: u64,
    /// How many of them are in the index, in their present version.
    pub indexed: u64,
    /// Whether the mount was walked to its end.
    pub is_complete: bool,
    /// What keeps it from being complete.
    pub fault: Option<String>,
}

impl MountCoverage {
    /// How much of what was found so far is in the index, in percent.
    pub fn percent(&self) -> u64 {
        percent(self.indexed, self.found)
    }
}

fn percent(indexed: u64, found: u64) -> u64 {
    indexed.saturating_mul(100).checked_div(found).unwrap_or(0).min(100)
}

/// How much of all mounts is in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// By the name of the mount.
    pub mounts: BTreeMap<String, MountCoverage>,
    /// Where the index is kept.
    pub home: IndexHome,
    /// Why search by meaning lacks passages, if so.
    pub meaning_fault: Option<String>,
}

impl Coverage {
    /// Whether nothing is missing.
    pub fn is_complete(&self) -> bool {
        self.mounts.values().all(|mount| mount.is_complete)
    }

    /// How much of what was found so far is in the index, in percent.
    pub fn percent(&self) -> u64 {
        let (indexed, found) = self.totals();
        percent(indexed, found)
    }

    /// The resources in the index, and those found so far. Not for principals that may not see all.
    pub fn totals(&self) -> (u64, u64) {
        let sum = |count: fn(&MountCoverage) -> u64| self.mounts.values().map(count).sum();
        (sum(|mount| mount.indexed), sum(|mount| mount.found))
    }
}
