//! Depth-first walk of a tree, resumable from a cursor.
//!
//! Names are sorted by bytes, and a folder's files come at the folder's own place. A walk holds one
//! open folder per level. Resuming opens only the folders on the way to the cursor.

use std::io;
use std::sync::Arc;

use resource::{Absence, Resource};

use super::cursor::{Mode, Place};
use super::effort::Effort;
use super::entries::Series;
use super::fault::{is_missing, is_ours};
use super::folder::{Extent, Names};
use super::locate::{Folder, Found};
use super::path::Local;
use super::site::Site;
use super::stamp::{Kind, Stamp};
use crate::vigil::Trust;

/// Deepest level of a walk; each level costs an open folder.
const DEEPEST: usize = 128;

/// Cost of opening a folder, in names read.
const FOLDER_COST: usize = 16;

/// A walk through all files below the root.
pub(super) struct Walk<'a> {
    site: &'a Site,
    effort: &'a Effort,
    extent: Extent,
    levels: Vec<Level<'a>>,
    /// Folders that could not be read.
    pub(super) absent: Vec<Absence>,
}

/// One folder on the current path of the walk.
struct Level<'a> {
    folder: Arc<Folder>,
    names: Arc<Names>,
    next: usize,
    /// Path by which the client reaches it, with links.
    shown: Local,
    series: Series<'a>,
    trust: Option<Trust>,
    /// True until the page cache was tried for this folder.
    fresh: bool,
}

/// Current position: folder, name, descriptions of the folder's files, and their validity.
type Here<'w, 'a> = (&'w Arc<Folder>, &'w [u8], &'w mut Series<'a>, Option<&'w Trust>);

/// Result of one step.
pub(super) enum Step {
    /// A file, with its stamp if the step already read it.
    Leaf(Option<Stamp>),
    /// A folder, which the walk has entered.
    Folder,
    /// An entry that the walk skips.
    Nothing,
}

impl<'a> Walk<'a> {
    /// Starts a walk at `top`.
    pub(super) fn new(
        site: &'a Site,
        top: Arc<Folder>,
        extent: Extent,
        effort: &'a Effort,
    ) -> io::Result<Self> {
        let mut walk = Self { site, effort, extent, levels: Vec::new(), absent: Vec::new() };
        walk.open(top, Local::default())?;
        Ok(walk)
    }

    /// Continues after `place`. If the entry at `place` is gone, continues with the next one.
    pub(super) fn resume(&mut self, place: &Place) -> io::Result<()> {
        for name in place.path.names() {
            let Some(level) = self.levels.last_mut() else { break };
            let index = level.names.from(name);
            let kind = match level.names.get(index) {
                Some((found, kind)) if found == name => kind,
                _ => {
                    level.next = index;
                    return Ok(());
                }
            };
            level.next = index + 1;
            let is_last = level.shown.join(name) == place.path;
            if is_last && !place.at_start || kind == Kind::File || !self.descend(name, kind)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns up to `most` files that follow in the folder just entered, as far as their cached
    /// descriptions are valid.
    pub(super) fn stretch(&mut self, most: usize) -> Vec<Arc<Resource>> {
        let Some(level) = self.levels.last_mut() else { return Vec::new() };
        // Folders reached through links have no validity, so nothing here is hidden by its path.
        let Some(trust) = level.trust.as_ref().filter(|_| level.fresh) else { return Vec::new() };
        let known = (&level.shown, &level.names);
        let place = (level.next, most);
        let items = self.site.stretches.from(known, place, &level.series, trust);
        level.fresh = false;
        level.next += items.len();
        items
    }

    /// Takes the next step; `None` at the end.
    pub(super) fn step(&mut self) -> io::Result<Option<Step>> {
        let Some(kind) = self.peek() else { return Ok(None) };
        let Some(level) = self.levels.last_mut() else { return Ok(None) };
        level.next += 1;
        if kind == Kind::File {
            return Ok(Some(Step::Leaf(None)));
        }
        let names = level.names.clone();
        let Some((name, _)) = names.get(level.next - 1) else { return Ok(None) };
        if kind == Kind::Folder {
            return Ok(Some(self.descend_or_nothing(name, kind)?));
        }
        match self.site.look(&level.folder, name) {
            Ok(Found::File(leaf)) => Ok(Some(Step::Leaf(Some(leaf.stamp)))),
            Ok(Found::Folder(_)) => Ok(Some(self.descend_or_nothing(name, kind)?)),
            Err(error) => self.refused(name, error).map(|()| Some(Step::Nothing)),
        }
    }

    /// True if no entries are left.
    pub(super) fn is_over(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Returns the cursor of the current position. The walk must not be over.
    pub(super) fn place(&self) -> Option<Place> {
        let level = self.levels.last()?;
        let place = |path, at_start| Some(Place { mode: Mode::Flat, path, at_start });
        match level.next.checked_sub(1).and_then(|last| level.names.get(last)) {
            Some((name, _)) => place(level.shown.join(name), false),
            None => place(level.shown.clone(), true),
        }
    }

    /// Returns the current position.
    pub(super) fn here(&mut self) -> Option<Here<'_, 'a>> {
        let level = self.levels.last_mut()?;
        let (name, _) = level.names.get(level.next.checked_sub(1)?)?;
        Some((&level.folder, name, &mut level.series, level.trust.as_ref()))
    }

    /// Returns the kind of the next entry.
    fn peek(&mut self) -> Option<Kind> {
        loop {
            let level = self.levels.last_mut()?;
            match level.names.get(level.next) {
                Some((name, _)) if self.site.conceals(&level.folder, &level.shown, name) => {
                    level.next += 1;
                }
                Some((_, kind)) => return Some(kind),
                None => drop(self.levels.pop()),
            }
        }
    }

    fn descend_or_nothing(&mut self, name: &[u8], kind: Kind) -> io::Result<Step> {
        Ok(if self.descend(name, kind)? { Step::Folder } else { Step::Nothing })
    }

    /// Enters the folder `name`; false if it cannot be entered.
    fn descend(&mut self, name: &[u8], kind: Kind) -> io::Result<bool> {
        self.effort.spend(FOLDER_COST)?;
        let Some(level) = self.levels.last() else { return Ok(false) };
        if self.site.conceals(&level.folder, &level.shown, name) {
            return Ok(false);
        }
        let shown = level.shown.join(name);
        if self.levels.len() >= DEEPEST {
            self.absent.push(absence(&shown, "nested too deeply"));
            return Ok(false);
        }
        let entered = match kind {
            Kind::Folder => self.site.enter(&level.folder, name),
            _ => match self.site.look(&level.folder, name) {
                Ok(Found::Folder(folder)) => Ok(folder),
                Ok(Found::File(_)) => return Ok(false),
                Err(error) => Err(error),
            },
        };
        match entered.and_then(|folder| self.open(folder, shown)) {
            Ok(()) => Ok(true),
            Err(error) => self.refused(name, error).map(|()| false),
        }
    }

    fn open(&mut self, folder: Arc<Folder>, shown: Local) -> io::Result<()> {
        let names = self.site.names(&folder, self.extent, self.effort)?;
        let series = self.site.entries.series(&shown);
        let trust = self.site.trust(&folder, &names);
        self.levels.push(Level { folder, names, next: 0, shown, series, trust, fresh: true });
        Ok(())
    }

    /// True if the scan of the current folder is complete.
    pub(super) fn sees_all(&self) -> bool {
        self.levels.last().is_none_or(|level| level.names.all)
    }

    /// Skips `name` after `error`, unless the error stops the whole walk.
    fn refused(&mut self, name: &[u8], error: io::Error) -> io::Result<()> {
        if is_ours(&error) {
            return Err(error);
        }
        if !is_missing(&error)
            && let Some(level) = self.levels.last()
        {
            tracing::debug!(%error, "cannot read folder");
            self.absent.push(absence(&level.shown.join(name), "cannot be read"));
        }
        Ok(())
    }
}

fn absence(path: &Local, why: &str) -> Absence {
    Absence { what: String::from_utf8_lossy(path.as_bytes()).into_owned(), why: why.to_owned() }
}
