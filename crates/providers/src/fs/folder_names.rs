//! Sorted names of one folder, read once and cached.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use machinery::FlightRole;
use tokio::sync::oneshot;

use super::budget::WorkBudget;
use super::locate::Folder;
use super::root::FsRoot;
use super::stamp::{FileKind, FileStamp};

/// The visible names of one folder, sorted by bytes.
///
/// One buffer holds all names, each after its kind and length, and an index gives their order: a
/// million names of 15 letters take 22 MB.
pub(super) struct FolderNames {
    arena: Vec<u8>,
    order: Vec<u32>,
    /// False if the scan stopped before the end of the folder.
    pub(super) is_complete: bool,
    /// How many of the names are not links.
    pub(super) non_link_count: usize,
    stamp: FileStamp,
    rules_fingerprint: Vec<u64>,
    /// True if a later request reused these names.
    reused: AtomicBool,
}

/// How much of a folder to scan.
#[derive(Clone, Copy)]
pub(super) enum ScanExtent {
    All,
    /// Stops early after more than this many visible names, or 16 times as many names in all.
    UpTo(usize),
}

impl FolderNames {
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns the name at `index` and its kind: file, folder or link.
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], FileKind)> {
        self.order.get(index).map(|start| self.entry_at(*start))
    }

    /// Returns the index of the first name greater than `name`.
    pub(super) fn upper_bound(&self, name: &[u8]) -> usize {
        self.order.partition_point(|start| self.entry_at(*start).0 <= name)
    }

    /// Returns the index of the first name greater than or equal to `name`.
    pub(super) fn lower_bound(&self, name: &[u8]) -> usize {
        self.order.partition_point(|start| self.entry_at(*start).0 < name)
    }

    /// True if a later request reused these names.
    pub(super) fn is_reused(&self) -> bool {
        self.reused.load(Ordering::Relaxed)
    }

    fn weight(&self) -> usize {
        size_of::<Self>() + self.arena.capacity() + size_of::<u32>() * self.order.capacity()
    }

    fn entry_at(&self, start: u32) -> (&[u8], FileKind) {
        let start = start as usize;
        let kind = match self.arena[start] {
            b'f' => FileKind::File,
            b'd' => FileKind::Folder,
            _ => FileKind::Symlink,
        };
        let length = u16::from_le_bytes([self.arena[start + 1], self.arena[start + 2]]);
        (&self.arena[start + 3..start + 3 + usize::from(length)], kind)
    }

    fn push(&mut self, name: &[u8], kind: FileKind) -> io::Result<()> {
        let start = u32::try_from(self.arena.len()).map_err(io::Error::other)?;
        let [low, high] = u16::try_from(name.len()).map_err(io::Error::other)?.to_le_bytes();
        let kind = match kind {
            FileKind::File => b'f',
            FileKind::Folder => b'd',
            FileKind::Symlink | FileKind::Other => b'l',
        };
        self.arena.extend_from_slice(&[kind, low, high]);
        self.arena.extend_from_slice(name);
        self.order.push(start);
        self.non_link_count += usize::from(matches!(kind, b'f' | b'd'));
        Ok(())
    }

    fn scan(folder: &Folder, extent: ScanExtent, budget: &WorkBudget) -> io::Result<Self> {
        let mut names = Self {
            arena: Vec::new(),
            order: Vec::new(),
            is_complete: true,
            non_link_count: 0,
            stamp: folder.stamp,
            rules_fingerprint: folder.visibility.fingerprint(),
            reused: AtomicBool::new(false),
        };
        names.read_entries(folder, extent, budget)?;
        let mut order = std::mem::take(&mut names.order);
        order.sort_unstable_by(|a, b| names.entry_at(*a).0.cmp(names.entry_at(*b).0));
        order.shrink_to_fit();
        names.arena.shrink_to_fit();
        names.order = order;
        Ok(names)
    }

    fn read_entries(
        &mut self,
        folder: &Folder,
        extent: ScanExtent,
        budget: &WorkBudget,
    ) -> io::Result<()> {
        let mut path = folder.path.clone().join(b"").as_bytes().to_vec();
        let prefix = path.len();
        let mut seen = 0;
        folder.handle.visit_names(|name, kind| {
            budget.spend_name()?;
            seen += 1;
            if let ScanExtent::UpTo(most) = extent
                && (self.len() > most || seen > 16 * most)
            {
                self.is_complete = false;
                return Ok(ControlFlow::Break(()));
            }
            // Some file systems leave the kind out of directory entries.
            let kind = kind.or_else(|| Some(folder.handle.stat_child(name).ok()?.kind));
            let Some(kind) = kind.filter(|kind| *kind != FileKind::Other) else {
                return Ok(ControlFlow::Continue(()));
            };
            path.truncate(prefix);
            path.extend_from_slice(name);
            if folder.visibility.is_visible(&path, kind == FileKind::Folder) {
                self.push(name, kind)?;
            }
            Ok(ControlFlow::Continue(()))
        })
    }
}

impl FsRoot {
    /// Returns the visible names in `folder`, from the cache while the folder and its rules are
    /// unchanged.
    pub(super) fn folder_names(
        &self,
        folder: &Folder,
        extent: ScanExtent,
        budget: &WorkBudget,
    ) -> io::Result<Arc<FolderNames>> {
        if let Some(names) = self.cached_names(folder) {
            return Ok(names);
        }
        // The flight of this scan lands when the function returns and drops the sender.
        let (_scan, end) = oneshot::channel::<()>();
        let enter = || {
            let path = folder.path.as_bytes().to_vec();
            self.scan_flights.enter(path, async { drop(end.await) })
        };
        let _flight = match budget.may_wait().then(enter) {
            Some(FlightRole::Follower(others)) => return Err(budget.await_scan(others)),
            own => own,
        };
        if let Some(names) = self.cached_names(folder) {
            return Ok(names);
        }
        let now = SystemTime::now();
        let names = Arc::new(FolderNames::scan(folder, extent, budget)?);
        if names.is_complete && folder.stamp.is_settled(now, self.clock_margin) {
            self.name_cache.insert(folder.path.as_bytes().to_vec(), names.clone(), names.weight());
        }
        Ok(names)
    }

    fn cached_names(&self, folder: &Folder) -> Option<Arc<FolderNames>> {
        let names = self.name_cache.get(folder.path.as_bytes())?;
        let holds = names.stamp == folder.stamp
            && folder.visibility.has_fingerprint(&names.rules_fingerprint);
        names.reused.fetch_or(holds, Ordering::Relaxed);
        holds.then_some(names)
    }
}
