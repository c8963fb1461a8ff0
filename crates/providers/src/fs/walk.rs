//! In which order is a tree walked, and where does a walk go on?
//!
//! Depth first, names by bytes, what lies in a folder at the folder's own place. A walk holds one
//! open folder for each level, and going on touches only the folders on the way to the cursor.

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

/// How deep a walk goes; each level costs an open folder.
const DEEPEST: usize = 128;

/// What opening a folder costs, in names read.
const FOLDER_COST: usize = 16;

/// A walk through all files below the root.
pub(super) struct Walk<'a> {
    site: &'a Site,
    effort: &'a Effort,
    extent: Extent,
    levels: Vec<Level<'a>>,
    /// Folders that could not be walked.
    pub(super) absent: Vec<Absence>,
}

/// One folder that the walk is in.
struct Level<'a> {
    folder: Arc<Folder>,
    names: Arc<Names>,
    next: usize,
    /// As the caller writes it, links and all.
    shown: Local,
    series: Series<'a>,
    trust: Option<Trust>,
    /// Whether what can be given of it as a whole is still to be given.
    fresh: bool,
}

/// Where a walk has come to.
type Here<'w, 'a> = (&'w Arc<Folder>, &'w [u8], &'w mut Series<'a>, Option<&'w Trust>);

/// What a step of the walk came upon.
pub(super) enum Step {
    /// A file, with its stamp if that is known already.
    Leaf(Option<Stamp>),
    /// A folder, which the walk is in now.
    Folder,
    /// Nothing worth telling.
    Nothing,
}

impl<'a> Walk<'a> {
    /// A walk from the start.
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

    /// Goes on behind `place`. Whatever of it is gone is passed over.
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

    /// The files that come next in the folder that the walk has just come into, at most `most`, as
    /// far as they can be described without looking at them.
    pub(super) fn stretch(&mut self, most: usize) -> Vec<Arc<Resource>> {
        let Some(level) = self.levels.last_mut() else { return Vec::new() };
        // Links led to no folder that is trusted, so nothing here is concealed.
        let Some(trust) = level.trust.as_ref().filter(|_| level.fresh) else { return Vec::new() };
        let known = (&level.shown, &level.names);
        let place = (level.next, most);
        let items = self.site.stretches.from(known, place, &level.series, trust);
        level.fresh = false;
        level.next += items.len();
        items
    }

    /// The next step; nothing at the end.
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

    /// Whether nothing is left.
    pub(super) fn is_over(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Where the walk is. It must not be over.
    pub(super) fn place(&self) -> Option<Place> {
        let level = self.levels.last()?;
        let place = |path, at_start| Some(Place { mode: Mode::Flat, path, at_start });
        match level.next.checked_sub(1).and_then(|last| level.names.get(last)) {
            Some((name, _)) => place(level.shown.join(name), false),
            None => place(level.shown.clone(), true),
        }
    }

    /// The folder that the walk is in, the name there that it has come to, and the descriptions
    /// of all that lies there, with how far they can be trusted.
    pub(super) fn here(&mut self) -> Option<Here<'_, 'a>> {
        let level = self.levels.last_mut()?;
        let (name, _) = level.names.get(level.next.checked_sub(1)?)?;
        Some((&level.folder, name, &mut level.series, level.trust.as_ref()))
    }

    /// The kind of what comes next.
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

    /// Goes into the folder `name`; false if that cannot be done.
    fn descend(&mut self, name: &[u8], kind: Kind) -> io::Result<bool> {
        self.effort.spend(FOLDER_COST)?;
        let Some(level) = self.levels.last() else { return Ok(false) };
        if self.site.conceals(&level.folder, &level.shown, name) {
            return Ok(false);
        }
        let shown = level.shown.join(name);
        if self.levels.len() >= DEEPEST {
            self.absent.push(absence(&shown, "it lies too deep"));
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

    /// Whether the names of the folder that the walk is in are all there are.
    pub(super) fn sees_all(&self) -> bool {
        self.levels.last().is_none_or(|level| level.names.all)
    }

    /// Goes on without `name` unless the whole walk has to stop.
    fn refused(&mut self, name: &[u8], error: io::Error) -> io::Result<()> {
        if is_ours(&error) {
            return Err(error);
        }
        if !is_missing(&error)
            && let Some(level) = self.levels.last()
        {
            tracing::debug!(%error, "a folder cannot be read");
            self.absent.push(absence(&level.shown.join(name), "it cannot be read"));
        }
        Ok(())
    }
}

fn absence(path: &Local, why: &str) -> Absence {
    Absence { what: String::from_utf8_lossy(path.as_bytes()).into_owned(), why: why.to_owned() }
}
