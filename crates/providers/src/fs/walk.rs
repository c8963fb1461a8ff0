//! Depth-first walk of a tree, resumable from a cursor.
//!
//! Names are sorted by bytes, and a folder's files come at the folder's own place. A walk holds one
//! open folder per level. Resuming opens only the folders on the way to the cursor.

use std::io;
use std::sync::Arc;

use resource::{Absence, Filter, Items, Resource};

use super::budget::WorkBudget;
use super::cursor::{FsCursor, WalkMode};
use super::description_cache::FolderDescriptions;
use super::error::{is_control_flow, is_not_found};
use super::folder_names::{FolderNames, ScanExtent};
use super::locate::{Folder, PathEntry};
use super::path::LocalPath;
use super::root::FsRoot;
use super::stamp::{FileKind, FileStamp};
use crate::file_watch::Validity;

/// Deepest level of a walk; each level costs an open folder.
const MAX_DEPTH: usize = 128;

/// Cost of opening a folder, in names read.
const FOLDER_COST: usize = 16;

/// A walk through all files below the root.
pub(super) struct TreeWalk<'a> {
    root: &'a FsRoot,
    budget: &'a WorkBudget,
    extent: ScanExtent,
    /// Folders below which nothing matches are not entered.
    filter: Option<&'a Filter>,
    levels: Vec<WalkLevel<'a>>,
    /// Folders that could not be read.
    pub(super) absent: Vec<Absence>,
}

/// One folder on the current path of the walk.
struct WalkLevel<'a> {
    folder: Arc<Folder>,
    names: Arc<FolderNames>,
    next: usize,
    /// Path by which the client reaches it, with links.
    shown: LocalPath,
    descriptions: FolderDescriptions<'a>,
    validity: Option<Validity>,
    /// True until the page cache was tried for this folder.
    is_page_cache_untried: bool,
}

/// Current position of a walk.
pub(super) struct WalkPosition<'w, 'a> {
    pub(super) folder: &'w Arc<Folder>,
    /// The path of the folder as the caller writes it.
    pub(super) shown: &'w LocalPath,
    /// The name in the folder.
    pub(super) name: &'w [u8],
    /// The descriptions of the folder's files, and their validity.
    pub(super) descriptions: &'w mut FolderDescriptions<'a>,
    pub(super) validity: Option<&'w Validity>,
}

/// Result of one step.
pub(super) enum WalkStep {
    /// A file. If a link leads to it, its stamp and its path.
    File(Option<(FileStamp, Arc<str>)>),
    /// A folder, which the walk has entered.
    Folder,
    /// An entry that the walk skips.
    Skipped,
}

impl<'a> TreeWalk<'a> {
    /// Starts a walk at `top`.
    pub(super) fn new(
        root: &'a FsRoot,
        top: Arc<Folder>,
        (extent, filter): (ScanExtent, Option<&'a Filter>),
        budget: &'a WorkBudget,
    ) -> io::Result<Self> {
        let (levels, absent) = (Vec::new(), Vec::new());
        let mut walk = Self { root, budget, extent, filter, levels, absent };
        walk.push_level(top, LocalPath::default())?;
        Ok(walk)
    }

    /// Continues after `place`. If the entry at `place` is gone, continues with the next one.
    pub(super) fn resume(&mut self, cursor: &FsCursor) -> io::Result<()> {
        for name in cursor.path.names() {
            let Some(level) = self.levels.last_mut() else { break };
            let index = level.names.lower_bound(name);
            let kind = match level.names.get(index) {
                Some((found, kind)) if found == name => kind,
                _ => {
                    level.next = index;
                    return Ok(());
                }
            };
            level.next = index + 1;
            let is_last = level.shown.join(name) == cursor.path;
            if is_last && !cursor.at_start || kind == FileKind::File || !self.descend(name, kind)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns up to `most` files that follow in the folder just entered, as far as their cached
    /// descriptions are valid.
    pub(super) fn take_cached_page(&mut self, most: usize) -> Items<Resource> {
        let Some(level) = self.levels.last_mut() else { return Items::default() };
        // Folders reached through links have no validity, so nothing here is hidden by its path.
        let Some(trust) = level.validity.as_ref().filter(|_| level.is_page_cache_untried) else {
            return Items::default();
        };
        let known = (&level.shown, &level.names);
        let place = (level.next, most);
        let items = self.root.page_cache.get_or_build(known, place, &level.descriptions, trust);
        level.is_page_cache_untried = false;
        level.next += items.len();
        items
    }

    /// Takes the next step; `None` at the end.
    pub(super) fn next_step(&mut self) -> io::Result<Option<WalkStep>> {
        let Some(kind) = self.peek() else { return Ok(None) };
        let Some(level) = self.levels.last_mut() else { return Ok(None) };
        level.next += 1;
        if kind == FileKind::File {
            return Ok(Some(WalkStep::File(None)));
        }
        let names = level.names.clone();
        let Some((name, _)) = names.get(level.next - 1) else { return Ok(None) };
        if kind == FileKind::Folder {
            return Ok(Some(self.descend_or_skip(name, kind)?));
        }
        match self.root.find_child(&level.folder, name) {
            Ok(PathEntry::File(leaf)) => {
                Ok(Some(WalkStep::File(Some((leaf.stamp, leaf.link_target())))))
            }
            Ok(PathEntry::Folder(_)) => Ok(Some(self.descend_or_skip(name, kind)?)),
            Err(error) => self.skip_failed(name, error).map(|()| Some(WalkStep::Skipped)),
        }
    }

    /// True if no entries are left.
    pub(super) fn is_over(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Returns the cursor of the current position. The walk must not be over.
    pub(super) fn cursor(&self) -> Option<FsCursor> {
        let level = self.levels.last()?;
        let place = |path, at_start| Some(FsCursor { mode: WalkMode::Flat, path, at_start });
        match level.next.checked_sub(1).and_then(|last| level.names.get(last)) {
            Some((name, _)) => place(level.shown.join(name), false),
            None => place(level.shown.clone(), true),
        }
    }

    /// Returns the current position.
    pub(super) fn position(&mut self) -> Option<WalkPosition<'_, 'a>> {
        let level = self.levels.last_mut()?;
        let (name, _) = level.names.get(level.next.checked_sub(1)?)?;
        Some(WalkPosition {
            folder: &level.folder,
            shown: &level.shown,
            name,
            descriptions: &mut level.descriptions,
            validity: level.validity.as_ref(),
        })
    }

    /// Returns the kind of the next entry.
    fn peek(&mut self) -> Option<FileKind> {
        loop {
            let level = self.levels.last_mut()?;
            match level.names.get(level.next) {
                Some((name, _)) if self.root.is_hidden(&level.folder, &level.shown, name) => {
                    level.next += 1;
                }
                Some((_, kind)) => return Some(kind),
                None => drop(self.levels.pop()),
            }
        }
    }

    fn descend_or_skip(&mut self, name: &[u8], kind: FileKind) -> io::Result<WalkStep> {
        Ok(if self.descend(name, kind)? { WalkStep::Folder } else { WalkStep::Skipped })
    }

    /// Enters the folder `name`; false if it cannot be entered.
    fn descend(&mut self, name: &[u8], kind: FileKind) -> io::Result<bool> {
        self.budget.spend(FOLDER_COST)?;
        let Some(level) = self.levels.last() else { return Ok(false) };
        if self.root.is_hidden(&level.folder, &level.shown, name) {
            return Ok(false);
        }
        let shown = level.shown.join(name);
        if self.filter.is_some_and(|filter| !filter.may_match_below(&shown.uri())) {
            return Ok(false);
        }
        if self.levels.len() >= MAX_DEPTH {
            self.absent.push(absence(&shown, "nested too deeply"));
            return Ok(false);
        }
        let (root, parent) = (self.root, level.folder.clone());
        let mut enter = || {
            let entered = match kind {
                FileKind::Folder => root.enter_folder(&parent, name)?,
                _ => match root.find_child(&parent, name)? {
                    PathEntry::Folder(folder) => folder,
                    PathEntry::File(_) => return Ok(false),
                },
            };
            self.push_level(entered, shown.clone()).map(|()| true)
        };
        match root.with_descriptors(&mut enter, |error| Some(error)) {
            Ok(entered) => Ok(entered),
            Err(error) => self.skip_failed(name, error).map(|()| false),
        }
    }

    fn push_level(&mut self, folder: Arc<Folder>, shown: LocalPath) -> io::Result<()> {
        let names = self.root.folder_names(&folder, self.extent, self.budget)?;
        let series = self.root.description_cache.for_folder(&shown);
        let trust = self.root.cache_validity(&folder, &names);
        self.levels.push(WalkLevel {
            folder,
            names,
            next: 0,
            shown,
            descriptions: series,
            validity: trust,
            is_page_cache_untried: true,
        });
        Ok(())
    }

    /// The number of visible names in the current folder that its scan has found.
    pub(super) fn names_in_folder(&self) -> usize {
        self.levels.last().map_or(0, |level| level.names.len())
    }

    /// True if the scan of the current folder is complete.
    pub(super) fn is_scan_complete(&self) -> bool {
        self.levels.last().is_none_or(|level| level.names.is_complete)
    }

    /// Skips `name` after `error`, unless the error stops the whole walk.
    fn skip_failed(&mut self, name: &[u8], error: io::Error) -> io::Result<()> {
        if is_control_flow(&error) {
            return Err(error);
        }
        if !is_not_found(&error)
            && let Some(level) = self.levels.last()
        {
            tracing::debug!(%error, "cannot read folder");
            self.absent.push(absence(&level.shown.join(name), "cannot be read"));
        }
        Ok(())
    }
}

fn absence(path: &LocalPath, why: &str) -> Absence {
    Absence { name: String::from_utf8_lossy(path.as_bytes()).into_owned(), reason: why.to_owned() }
}
