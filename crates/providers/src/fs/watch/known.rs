//! Snapshot of one folder for change detection: its names and the version of each.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

use crate::fs::effort::Effort;
use crate::fs::folder::{Extent, Names};
use crate::fs::locate::Folder;
use crate::fs::path::Local;
use crate::fs::site::Site;
use crate::fs::stamp::Kind;
use crate::vigil::{HASHED, Hold, Version};

/// Limit, per folder, of recently changed files whose full versions the snapshot holds.
const MOST_RECENT: usize = 4_096;

/// The names in one folder, and the version of each.
pub(super) struct Known {
    /// Path by which the subscriber reaches the folder.
    pub(super) shown: Local,
    pub(super) names: Arc<Names>,
    /// Fingerprint of each name, zero where a change could go unnoticed; `None` if only names
    /// matter.
    marks: Option<Vec<u64>>,
    /// Versions of files that changed just now, which their fingerprints cannot tell apart yet.
    recent: HashMap<Vec<u8>, Version>,
    /// The inotify watch; `None` where the folder is polled.
    pub(super) hold: Option<Hold>,
    /// True if the last update could not check some entry, which must be checked again.
    pub(super) missed: bool,
}

/// What a snapshot records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    Names,
    Versions,
}

/// One difference between two snapshots.
pub(super) struct Difference {
    pub(super) name: Vec<u8>,
    /// Kind before, if it existed.
    pub(super) was: Option<Kind>,
    /// Kind now, if it exists.
    pub(super) is: Option<Kind>,
}

/// One entry of a folder, as it is now.
struct Child<'a> {
    folder: &'a Arc<Folder>,
    name: &'a [u8],
    kind: Kind,
}

impl Known {
    /// Takes the first snapshot of `folder`. The caller starts the watch before, so no change is
    /// lost.
    pub(super) fn first(
        site: &Site,
        folder: &Arc<Folder>,
        (shown, detail): (Local, Detail),
        hold: Option<Hold>,
    ) -> io::Result<Self> {
        let names = site.names(folder, Extent::All, &Effort::steady())?;
        let marks = (detail == Detail::Versions).then(|| Vec::with_capacity(names.len()));
        let (recent, missed) = (HashMap::new(), false);
        let mut known = Self { shown, names: names.clone(), marks, recent, hold, missed };
        if let Some(mut marks) = known.marks.take() {
            let polls = known.hold.is_none();
            for (name, kind) in (0..names.len()).filter_map(|index| names.get(index)) {
                let child = Child { folder, name, kind };
                // With a watch, an event will name the file, so its content need not be hashed yet.
                marks.push(known.look(site, &child, None, polls).map_or(0, |(mark, _)| mark));
            }
            known.marks = Some(marks);
        }
        Ok(known)
    }

    /// Updates the snapshot and returns the differences: in all entries, or in the entries named in
    /// `only`. Always includes names that appeared or disappeared.
    pub(super) fn update(
        &mut self,
        site: &Site,
        folder: &Arc<Folder>,
        only: Option<&HashSet<Vec<u8>>>,
    ) -> io::Result<Vec<Difference>> {
        let new = site.names(folder, Extent::All, &Effort::steady())?;
        let old = std::mem::replace(&mut self.names, new.clone());
        let Some(only) = only.filter(|_| Arc::ptr_eq(&old, &new)) else {
            return Ok(self.merge(site, folder, (&old, &new), only));
        };
        let mut differences = Vec::new();
        let Some(mut marks) = self.marks.take() else { return Ok(differences) };
        for name in only {
            let index = new.from(name);
            if let Some((found, kind)) = new.get(index)
                && found == name
                && let Some(before) = marks.get_mut(index)
                && let Some((mark, is_news)) =
                    self.look(site, &Child { folder, name, kind }, Some(*before), true)
            {
                *before = mark;
                if is_news {
                    let name = name.clone();
                    differences.push(Difference { name, was: Some(kind), is: Some(kind) });
                }
            }
        }
        self.marks = Some(marks);
        Ok(differences)
    }

    fn merge(
        &mut self,
        site: &Site,
        folder: &Arc<Folder>,
        (old, new): (&Names, &Names),
        only: Option<&HashSet<Vec<u8>>>,
    ) -> Vec<Difference> {
        let before = self.marks.take();
        let mut marks = Vec::with_capacity(if before.is_some() { new.len() } else { 0 });
        let mut differences = Vec::new();
        let (mut left, mut right) = (0, 0);
        loop {
            let (was, is) = match (old.get(left), new.get(right)) {
                (None, None) => break,
                (Some(was), Some(is)) => match was.0.cmp(is.0) {
                    Ordering::Less => (Some(was), None),
                    Ordering::Equal => (Some(was), Some(is)),
                    Ordering::Greater => (None, Some(is)),
                },
                one => one,
            };
            let mark = before.as_ref().and_then(|marks| marks.get(left).copied());
            left += usize::from(was.is_some());
            right += usize::from(is.is_some());
            let Some((name, _)) = was.or(is) else { break };
            let (was, is) = (was.map(|(_, kind)| kind), is.map(|(_, kind)| kind));
            let mut is_news = was != is;
            if is.is_none() {
                self.recent.remove(name);
            }
            if let (Some(_), Some(kind)) = (&before, is) {
                let mark = mark.filter(|_| was == is);
                let is_asked = only.is_none_or(|only| only.contains(name));
                marks.push(match mark {
                    Some(mark) if !is_asked => mark,
                    mark => {
                        let seen = self.look(site, &Child { folder, name, kind }, mark, true);
                        is_news |= seen.is_some_and(|(_, is_news)| is_news);
                        seen.map_or(0, |(mark, _)| mark)
                    }
                });
            }
            if is_news {
                differences.push(Difference { name: name.to_vec(), was, is });
            }
        }
        self.marks = before.is_some().then_some(marks);
        differences
    }

    /// Returns the current fingerprint of `child`, and whether it differs from the snapshot. `None`
    /// if it is gone or has another kind now, for which another event will follow, or if a link
    /// cannot be resolved at present.
    fn look(
        &mut self,
        site: &Site,
        child: &Child<'_>,
        before: Option<u64>,
        reads: bool,
    ) -> Option<(u64, bool)> {
        let Child { folder, name, kind } = child;
        let known = self.recent.get(*name).copied();
        let known = known.or_else(|| before.map(|mark| Version::new(mark, mark != 0, None)));
        let (place, target, stamp) = match kind {
            Kind::Link => match site.target(folder, name) {
                Ok(target) => target?,
                Err(_) => {
                    self.missed = true;
                    return None;
                }
            },
            kind => ((*folder).clone(), name.to_vec(), site.member(folder, name, *kind)?),
        };
        let mut version = site.outward(&stamp);
        if known.is_some_and(|known| known.surely_has(version.mark())) {
            return Some((version.mark(), false));
        }
        let tells = known.is_some_and(|known| known.has_hash()) || !version.is_settled();
        if reads && tells && stamp.size <= HASHED {
            version = site.version((&place, &target), &stamp, None);
        }
        let is_news = known.is_none_or(|known| known.may_differ_from(&version));
        self.recent.remove(*name);
        if !version.is_settled() && reads && self.recent.len() < MOST_RECENT {
            self.recent.insert(name.to_vec(), version);
        }
        Some((if version.is_settled() { version.mark() } else { 0 }, is_news))
    }
}
