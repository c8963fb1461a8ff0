//! Coverage: how much of each mount is in the index.

use std::collections::BTreeMap;

use crate::index::store::IndexHome;

/// How much of one mount is in the index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MountCoverage {
    /// The resources that the index has in their present version; `None` if the principal may not
    /// know how many there are.
    pub indexed: Option<u64>,
    /// The resources of the mount; `None` also while the first walk still counts them.
    pub total: Option<u64>,
    /// Whether the mount was walked to its end.
    pub is_complete: bool,
    /// What keeps it from being complete.
    pub fault: Option<String>,
}

impl MountCoverage {
    /// Of a mount that the index has nothing of yet.
    pub(crate) fn none() -> Self {
        Self { indexed: Some(0), ..Self::default() }
    }

    /// A walk has indexed so much so far. Only the first one tells: later ones find what is known.
    pub(crate) fn set_so_far(&mut self, indexed: usize) {
        if self.total.is_none() {
            self.indexed = Some(indexed as u64);
        }
    }

    /// A walk has come to its end, and found so many resources.
    pub(crate) fn set_counted(&mut self, total: usize) {
        (self.indexed, self.total) = (Some(total as u64), Some(total as u64));
    }

    /// The index has so many resources after a change.
    pub(crate) fn set_changed(&mut self, indexed: usize) {
        self.indexed = Some(indexed as u64);
        self.total = self.total.and(self.indexed);
    }

    /// Whether it is complete, or will not be: nobody waits for a mount that fails.
    pub fn is_over(&self) -> bool {
        self.is_complete || self.fault.is_some()
    }

    /// The same without numbers, for principals that may not see all of the mount.
    #[must_use]
    pub fn without_numbers(self) -> Self {
        Self { indexed: None, total: None, ..self }
    }
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

    /// The resources in the index; `None` if the principal may not know the number of one mount.
    pub fn indexed(&self) -> Option<u64> {
        self.mounts.values().map(|mount| mount.indexed).sum()
    }

    /// The mounts that are not complete, with what the index has of them: `docs: 12300 resources so
    /// far, still counting`. It gives no percentage, since no walk knows its end before it is there.
    /// `None` if all are complete.
    pub fn missing_words(&self) -> Option<String> {
        let missing = self.mounts.iter().filter(|(_, mount)| !mount.is_complete);
        let words = missing.map(|(name, mount)| match (mount.indexed, mount.total) {
            (Some(indexed), None) => format!("{name}: {indexed} resources so far, still counting"),
            (Some(indexed), Some(total)) => format!("{name}: {indexed} of {total} resources"),
            (None, _) => name.clone(),
        });
        let words: Vec<String> = words.collect();
        (!words.is_empty()).then(|| words.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::{Coverage, MountCoverage};
    use crate::index::store::IndexHome;

    fn coverage(mounts: &[(&str, MountCoverage)]) -> Coverage {
        let mounts = mounts.iter().map(|(name, mount)| ((*name).to_owned(), mount.clone()));
        let home = IndexHome::Memory("a test".to_owned());
        Coverage { mounts: mounts.collect(), home, meaning_fault: None }
    }

    #[test]
    fn numbers_do_not_fall_while_a_mount_is_walked_again() {
        let mut mount = MountCoverage::none();
        mount.set_so_far(256);
        assert_eq!((mount.indexed, mount.total), (Some(256), None));
        mount.set_changed(300);
        assert_eq!((mount.indexed, mount.total), (Some(300), None));
        mount.set_counted(600);
        mount.set_so_far(256);
        assert_eq!((mount.indexed, mount.total), (Some(600), Some(600)));
        mount.set_changed(599);
        assert_eq!((mount.indexed, mount.total), (Some(599), Some(599)));
    }

    #[test]
    fn what_is_not_counted_yet_has_no_share() {
        let walked = MountCoverage { indexed: Some(67_000), ..MountCoverage::default() };
        let complete =
            MountCoverage { indexed: Some(5), total: Some(5), is_complete: true, fault: None };
        let both = coverage(&[("a", complete.clone()), ("docs", walked.clone())]);
        let words = both.missing_words().unwrap_or_default();
        assert_eq!(words, "docs: 67000 resources so far, still counting");
        assert_eq!((both.indexed(), both.is_complete()), (Some(67_005), false));
        assert_eq!(coverage(&[("a", complete.clone())]).missing_words(), None);
        let hidden = coverage(&[("a", complete), ("docs", walked.without_numbers())]);
        assert_eq!((hidden.missing_words().as_deref(), hidden.indexed()), (Some("docs"), None));
    }
}
