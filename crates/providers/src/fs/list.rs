//! Pages of a folder listing: one folder's children, or every file below the root.

use std::io;
use std::sync::Arc;

use resource::{Error, Page, PageRequest, Resource, Result};

use super::budget::WorkBudget;
use super::cursor::{FsCursor, WalkMode};
use super::description_cache::FolderDescriptions;
use super::error::{FsError, not_found};
use super::folder_names::ScanExtent;
use super::locate::{Folder, PathEntry};
use super::options::{FileCount, ListingMode};
use super::path::{LocalPath, UriPath};
use super::root::FsRoot;
use super::stamp::{FileKind, FileStamp};
use super::walk::{TreeWalk, WalkStep};
use crate::file_watch::Validity;

/// In auto mode, a list without parent is flat up to this many files and folders.
const MAX_FLAT_ENTRIES: usize = 1_000;

/// Entries that one page may skip before it is cut short.
const MAX_SKIPPED_PER_PAGE: usize = 10_000;

/// Folders that one page may enter before it is cut short.
const MAX_FOLDERS_PER_PAGE: usize = 1_000;

impl FsRoot {
    /// Returns one page of the children of `parent`, or of the list without parent.
    pub(super) fn list_page(
        &self,
        parent: Option<&UriPath>,
        paging: &PageRequest,
        budget: &WorkBudget,
    ) -> Result<Page<Resource>, FsError> {
        let place = paging.cursor.as_ref().map(FsCursor::decode).transpose()?;
        if let Some(asked) = parent {
            return match self.find(&asked.path)? {
                PathEntry::Folder(folder) => {
                    self.list_folder(&folder, &asked.path, (place, paging), budget)
                }
                PathEntry::File(_) if asked.requires_folder => Err(not_found().into()),
                PathEntry::File(_) => Err(Error::invalid("not a collection").into()),
            };
        }
        let top = self.root_folder()?;
        let mode = match &place {
            Some(place) => place.mode,
            None => self.listing_mode(&top, budget)?,
        };
        match mode {
            WalkMode::Flat => {
                self.track_all_listed(budget)?;
                Ok(self.list_files(top, place.as_ref(), paging, budget)?)
            }
            WalkMode::Tree => {
                self.list_folder(&top, &LocalPath::default(), (place, paging), budget)
            }
        }
    }

    /// Counts the files, stopping after `most` files and folders.
    pub(super) fn count_files(&self, most: usize, budget: &WorkBudget) -> io::Result<FileCount> {
        let mut walk =
            TreeWalk::new(self, self.root_folder()?, (ScanExtent::UpTo(most), None), budget)?;
        let (mut leaves, mut folders) = (0, 0);
        let mut all = walk.is_scan_complete();
        while all && leaves + folders <= most {
            budget.check_cancelled()?;
            match walk.next_step()? {
                None => return Ok(FileCount { files: leaves, is_complete: all }),
                Some(WalkStep::File(..)) => leaves += 1,
                Some(WalkStep::Folder) => {
                    folders += 1;
                    all = walk.is_scan_complete();
                }
                Some(WalkStep::Skipped) => budget.spend(1)?,
            }
        }
        // A folder with more names than may be counted is not walked: its names count.
        let files = if all { leaves } else { (leaves + walk.names_in_folder()).min(most) };
        Ok(FileCount { files, is_complete: false })
    }

    /// Decides what the list without parent shows.
    pub(super) fn listing_mode(
        &self,
        top: &Arc<Folder>,
        budget: &WorkBudget,
    ) -> io::Result<WalkMode> {
        Ok(match self.listing {
            ListingMode::Flat => WalkMode::Flat,
            ListingMode::Tree => WalkMode::Tree,
            ListingMode::Auto => {
                let names = self.folder_names(top, ScanExtent::UpTo(MAX_FLAT_ENTRIES), budget)?;
                let is_small = names.non_link_count <= MAX_FLAT_ENTRIES
                    && self.count_files(MAX_FLAT_ENTRIES, budget)?.is_complete;
                if is_small { WalkMode::Flat } else { WalkMode::Tree }
            }
        })
    }

    fn list_folder(
        &self,
        folder: &Arc<Folder>,
        shown: &LocalPath,
        (place, paging): (Option<FsCursor>, &PageRequest),
        budget: &WorkBudget,
    ) -> Result<Page<Resource>, FsError> {
        let limit = paging.limit.max(1);
        self.track_listed(folder, budget)?;
        let names = self.folder_names(folder, ScanExtent::All, budget)?;
        let trust = self.cache_validity(folder, &names);
        let mut next = match &place {
            None => 0,
            Some(FsCursor { mode: WalkMode::Tree, path, .. }) => match path.name() {
                Some(name) if shown.join(name) == *path => names.upper_bound(name),
                _ => return Err(Error::bad_cursor().into()),
            },
            Some(_) => return Err(Error::bad_cursor().into()),
        };
        let mut series = self.description_cache.for_folder(shown);
        let mut page = Page { freshness: self.freshness, ..Page::empty() };
        let end = next.saturating_add(limit).saturating_add(MAX_SKIPPED_PER_PAGE);
        if let Some(trust) = &trust {
            let known = (shown, &names);
            page.items = self.page_cache.get_or_build(known, (next, limit), &series, trust);
            next += page.items.len();
            page.items.retain(|item| paging.shows(item));
        }
        while page.items.len() < limit && next < end {
            let Some((name, kind)) = names.get(next) else { return Ok(page) };
            next += 1;
            budget.check_cancelled()?;
            if self.is_hidden(folder, shown, name) || !may_show(paging, shown, (name, kind)) {
                continue;
            }
            let child = self.describe_child(folder, (name, kind), &mut series, trust.as_ref());
            page.items.extend(child.filter(|child| paging.shows(child)));
        }
        if next < names.len()
            && let Some((last, _)) = names.get(next - 1)
        {
            let place = FsCursor { mode: WalkMode::Tree, path: shown.join(last), at_start: false };
            page.next = Some(place.encode());
        }
        Ok(page)
    }

    fn list_files(
        &self,
        top: Arc<Folder>,
        cursor: Option<&FsCursor>,
        paging: &PageRequest,
        budget: &WorkBudget,
    ) -> io::Result<Page<Resource>> {
        let limit = paging.limit.max(1);
        let filter = paging.filter.as_deref();
        let mut walk = TreeWalk::new(self, top, (ScanExtent::All, filter), budget)?;
        if let Some(place) = cursor {
            walk.resume(place)?;
        }
        let mut page = Page { freshness: self.freshness, ..Page::empty() };
        let (mut passed, mut opened) = (0, 0);
        while page.items.len() < limit
            && passed < MAX_SKIPPED_PER_PAGE
            && opened < MAX_FOLDERS_PER_PAGE
        {
            budget.check_cancelled()?;
            let mut cached = walk.take_cached_page(limit - page.items.len());
            passed += cached.len();
            cached.retain(|item| paging.shows(item));
            passed -= cached.len();
            page.items.append(cached);
            if page.items.len() >= limit {
                break;
            }
            match walk.next_step()? {
                None => break,
                Some(WalkStep::Skipped) => passed += 1,
                Some(WalkStep::Folder) => opened += 1,
                Some(WalkStep::File(stamp)) => {
                    passed += 1;
                    let Some(at) = walk.position() else { break };
                    if !may_show(paging, at.shown, (at.name, FileKind::File)) {
                        continue;
                    }
                    let entry = match stamp {
                        Some((stamp, target)) => {
                            let found = (&stamp, Some(target));
                            Some(at.descriptions.get_or_describe(at.name, found, None))
                        }
                        None => {
                            let file = (at.name, FileKind::File);
                            self.describe_child(at.folder, file, at.descriptions, at.validity)
                        }
                    };
                    let entry = entry.filter(|entry| paging.shows(entry));
                    passed -= usize::from(entry.is_some());
                    page.items.extend(entry);
                }
            }
        }
        if !walk.is_over() {
            page.next = walk.cursor().map(|place| place.encode());
        }
        page.absent = walk.absent;
        Ok(page)
    }

    /// Describes `name` in `folder`, without a stat call if `trust` covers the cached description.
    fn describe_child(
        &self,
        folder: &Arc<Folder>,
        (name, kind): (&[u8], FileKind),
        series: &mut FolderDescriptions<'_>,
        validity: Option<&Validity>,
    ) -> Option<Arc<Resource>> {
        let trust = validity.filter(|_| kind == FileKind::File);
        if let Some((resource, _)) = trust.and_then(|trust| series.get_if_valid(name, trust)) {
            return Some(resource);
        }
        #[cfg(test)]
        self.stat_count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let (stamp, target) = if kind == FileKind::Symlink {
            let found = self.find_child(folder, name).ok()?;
            (*found.stamp(), found.link_target(&folder.path.join(name)))
        } else {
            let target = || folder.path.join(name).to_text();
            let is_file_behind_link = kind == FileKind::File && folder.is_behind_link();
            (self.stat_member(folder, name, kind)?, is_file_behind_link.then(target))
        };
        Some(series.get_or_describe(name, (&stamp, target), trust))
    }

    /// Stats `name` in `folder`, following links. `None` if it is gone or its kind has changed,
    /// because other ignore rules may apply to the new kind.
    pub(super) fn stat_member(
        &self,
        folder: &Arc<Folder>,
        name: &[u8],
        kind: FileKind,
    ) -> Option<FileStamp> {
        if kind == FileKind::Symlink {
            return self.find_child(folder, name).ok().map(|found| *found.stamp());
        }
        folder.handle.stat_child(name).ok().filter(|stamp| stamp.kind == kind)
    }
}

/// Whether the list may show `name`, judged before it is looked at.
fn may_show(paging: &PageRequest, shown: &LocalPath, (name, kind): (&[u8], FileKind)) -> bool {
    paging.filter.as_ref().is_none_or(|filter| {
        let uri = shown.join(name).uri();
        filter.may_show(&uri, &String::from_utf8_lossy(name), kind != FileKind::File)
    })
}
