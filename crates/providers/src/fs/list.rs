//! Pages of a folder listing: one folder's children, or every file below the root.

use std::io;
use std::sync::Arc;

use resource::{Ask, Error, Page, Resource, Result};

use super::cursor::{Mode, Place};
use super::effort::Effort;
use super::entries::Series;
use super::fault::{Fault, missing};
use super::folder::Extent;
use super::locate::{Folder, Found};
use super::options::{Count, Listing};
use super::path::{Asked, Local};
use super::site::Site;
use super::stamp::{Kind, Stamp};
use super::walk::{Step, Walk};
use crate::vigil::Trust;

/// In auto mode, a list without parent is flat up to this many files and folders.
const SMALL: usize = 1_000;

/// Entries that one page may skip before it is cut short.
const PASSED: usize = 10_000;

/// Folders that one page may enter before it is cut short.
const OPENED: usize = 1_000;

impl Site {
    /// Returns one page of the children of `parent`, or of the list without parent.
    pub(super) fn list(
        &self,
        parent: Option<&Asked>,
        ask: &Ask,
        effort: &Effort,
    ) -> Result<Page<Resource>, Fault> {
        let place = ask.from.as_ref().map(Place::decode).transpose()?;
        let limit = ask.limit.max(1);
        if let Some(asked) = parent {
            return match self.find(&asked.path)? {
                Found::Folder(folder) => {
                    self.children(&folder, &asked.path, (place, limit), effort)
                }
                Found::File(_) if asked.folder => Err(missing().into()),
                Found::File(_) => Err(Error::invalid("not a collection").into()),
            };
        }
        let top = self.top()?;
        let mode = match &place {
            Some(place) => place.mode,
            None => self.mode(&top, effort)?,
        };
        match mode {
            Mode::Flat => {
                self.heed_all(effort)?;
                Ok(self.leaves(top, place.as_ref(), limit, effort)?)
            }
            Mode::Tree => self.children(&top, &Local::default(), (place, limit), effort),
        }
    }

    /// Counts the files, stopping after `most` files and folders.
    pub(super) fn survey(&self, most: usize, effort: &Effort) -> io::Result<Count> {
        let mut walk = Walk::new(self, self.top()?, Extent::Upto(most), effort)?;
        let (mut leaves, mut folders) = (0, 0);
        let mut all = walk.sees_all();
        while all && leaves + folders <= most {
            effort.attended()?;
            match walk.step()? {
                None => return Ok(Count { leaves, all }),
                Some(Step::Leaf(..)) => leaves += 1,
                Some(Step::Folder) => {
                    folders += 1;
                    all = walk.sees_all();
                }
                Some(Step::Nothing) => effort.spend(1)?,
            }
        }
        Ok(Count { leaves, all: false })
    }

    /// Decides what the list without parent shows.
    pub(super) fn mode(&self, top: &Arc<Folder>, effort: &Effort) -> io::Result<Mode> {
        Ok(match self.listing {
            Listing::Flat => Mode::Flat,
            Listing::Tree => Mode::Tree,
            Listing::Auto => {
                let names = self.names(top, Extent::Upto(SMALL), effort)?;
                let is_small = names.plain <= SMALL && self.survey(SMALL, effort)?.all;
                if is_small { Mode::Flat } else { Mode::Tree }
            }
        })
    }

    fn children(
        &self,
        folder: &Arc<Folder>,
        shown: &Local,
        (place, limit): (Option<Place>, usize),
        effort: &Effort,
    ) -> Result<Page<Resource>, Fault> {
        self.heed(folder, effort)?;
        let names = self.names(folder, Extent::All, effort)?;
        let trust = self.trust(folder, &names);
        let mut next = match &place {
            None => 0,
            Some(Place { mode: Mode::Tree, path, .. }) => match path.last() {
                Some(name) if shown.join(name) == *path => names.after(name),
                _ => return Err(Error::bad_cursor().into()),
            },
            Some(_) => return Err(Error::bad_cursor().into()),
        };
        let mut series = self.entries.series(shown);
        let mut page = Page { freshness: self.freshness, ..Page::empty() };
        let end = next.saturating_add(limit).saturating_add(PASSED);
        if let Some(trust) = &trust {
            let known = (shown, &names);
            page.items = self.stretches.from(known, (next, limit), &series, trust);
            next += page.items.len();
        }
        page.items.reserve_exact((limit - page.items.len()).min(names.len().saturating_sub(next)));
        while page.items.len() < limit && next < end {
            let Some((name, kind)) = names.get(next) else { return Ok(page) };
            next += 1;
            effort.attended()?;
            if self.conceals(folder, shown, name) {
                continue;
            }
            page.items.extend(self.entry(folder, (name, kind), &mut series, trust.as_ref()));
        }
        if next < names.len()
            && let Some((last, _)) = names.get(next - 1)
        {
            let place = Place { mode: Mode::Tree, path: shown.join(last), at_start: false };
            page.next = Some(place.encode());
        }
        Ok(page)
    }

    fn leaves(
        &self,
        top: Arc<Folder>,
        place: Option<&Place>,
        limit: usize,
        effort: &Effort,
    ) -> io::Result<Page<Resource>> {
        let mut walk = Walk::new(self, top, Extent::All, effort)?;
        if let Some(place) = place {
            walk.resume(place)?;
        }
        let mut page = Page { freshness: self.freshness, ..Page::empty() };
        let (mut passed, mut opened) = (0, 0);
        while page.items.len() < limit && passed < PASSED && opened < OPENED {
            effort.attended()?;
            page.items.append(&mut walk.stretch(limit - page.items.len()));
            if page.items.len() >= limit {
                break;
            }
            match walk.step()? {
                None => break,
                Some(Step::Nothing) => passed += 1,
                Some(Step::Folder) => opened += 1,
                Some(Step::Leaf(stamp)) => {
                    passed += 1;
                    let Some((folder, name, series, trust)) = walk.here() else { break };
                    let entry = match stamp {
                        Some(stamp) => Some(series.entry(name, &stamp, None)),
                        None => self.entry(folder, (name, Kind::File), series, trust),
                    };
                    passed -= usize::from(entry.is_some());
                    page.items.extend(entry);
                }
            }
        }
        if !walk.is_over() {
            page.next = walk.place().map(|place| place.encode());
        }
        page.absent = walk.absent;
        Ok(page)
    }

    /// Describes `name` in `folder`, without a stat call if `trust` covers the cached description.
    fn entry(
        &self,
        folder: &Arc<Folder>,
        (name, kind): (&[u8], Kind),
        series: &mut Series<'_>,
        trust: Option<&Trust>,
    ) -> Option<Arc<Resource>> {
        let trust = trust.filter(|_| kind == Kind::File);
        if let Some((resource, _)) = trust.and_then(|trust| series.trusted(name, trust)) {
            return Some(resource);
        }
        #[cfg(test)]
        self.looked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let stamp = self.member(folder, name, kind)?;
        Some(series.entry(name, &stamp, trust))
    }

    /// Stats `name` in `folder`, following links. `None` if it is gone or its kind has changed,
    /// because other ignore rules may apply to the new kind.
    pub(super) fn member(&self, folder: &Arc<Folder>, name: &[u8], kind: Kind) -> Option<Stamp> {
        if kind == Kind::Link {
            return self.look(folder, name).ok().map(|found| *found.stamp());
        }
        folder.handle.stamp_of(name).ok().filter(|stamp| stamp.kind == kind)
    }
}
