//! Sorted names of one folder, read once and cached.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use rustix::fs::{FileType, RawDir};

use super::effort::Effort;
use super::locate::Folder;
use super::site::Site;
use super::stamp::{Kind, Stamp};

/// The visible names of one folder, sorted by bytes.
///
/// One buffer holds all names, each after its kind and length, and an index gives their order: a
/// million names of 15 letters take 22 MB.
pub(super) struct Names {
    arena: Vec<u8>,
    order: Vec<u32>,
    /// False if the scan stopped before the end of the folder.
    pub(super) all: bool,
    /// How many of the names are not links.
    pub(super) plain: usize,
    stamp: Stamp,
    sight: Vec<u64>,
    /// True if a later request reused these names.
    known: AtomicBool,
}

/// How much of a folder to scan.
#[derive(Clone, Copy)]
pub(super) enum Extent {
    All,
    /// Stops early after more than this many visible names, or 16 times as many names in all.
    Upto(usize),
}

impl Names {
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns the name at `index` and its kind: file, folder or link.
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], Kind)> {
        self.order.get(index).map(|start| self.entry(*start))
    }

    /// Returns the index of the first name greater than `name`.
    pub(super) fn after(&self, name: &[u8]) -> usize {
        self.order.partition_point(|start| self.entry(*start).0 <= name)
    }

    /// Returns the index of the first name greater than or equal to `name`.
    pub(super) fn from(&self, name: &[u8]) -> usize {
        self.order.partition_point(|start| self.entry(*start).0 < name)
    }

    /// True if a later request reused these names.
    pub(super) fn is_known(&self) -> bool {
        self.known.load(Ordering::Relaxed)
    }

    fn weight(&self) -> usize {
        size_of::<Self>() + self.arena.capacity() + size_of::<u32>() * self.order.capacity()
    }

    fn entry(&self, start: u32) -> (&[u8], Kind) {
        let start = start as usize;
        let kind = match self.arena[start] {
            b'f' => Kind::File,
            b'd' => Kind::Folder,
            _ => Kind::Link,
        };
        let length = u16::from_le_bytes([self.arena[start + 1], self.arena[start + 2]]);
        (&self.arena[start + 3..start + 3 + usize::from(length)], kind)
    }

    fn push(&mut self, name: &[u8], kind: Kind) -> io::Result<()> {
        let start = u32::try_from(self.arena.len()).map_err(io::Error::other)?;
        let [low, high] = u16::try_from(name.len()).map_err(io::Error::other)?.to_le_bytes();
        let kind = match kind {
            Kind::File => b'f',
            Kind::Folder => b'd',
            Kind::Link | Kind::Other => b'l',
        };
        self.arena.extend_from_slice(&[kind, low, high]);
        self.arena.extend_from_slice(name);
        self.order.push(start);
        self.plain += usize::from(matches!(kind, b'f' | b'd'));
        Ok(())
    }

    fn scan(folder: &Folder, extent: Extent, effort: &Effort) -> io::Result<Self> {
        let mut names = Self {
            arena: Vec::new(),
            order: Vec::new(),
            all: true,
            plain: 0,
            stamp: folder.stamp,
            sight: folder.sight.id(),
            known: AtomicBool::new(false),
        };
        names.fill(folder, extent, effort)?;
        let mut order = std::mem::take(&mut names.order);
        order.sort_unstable_by(|a, b| names.entry(*a).0.cmp(names.entry(*b).0));
        order.shrink_to_fit();
        names.arena.shrink_to_fit();
        names.order = order;
        Ok(names)
    }

    fn fill(&mut self, folder: &Folder, extent: Extent, effort: &Effort) -> io::Result<()> {
        let mut buffer = Vec::with_capacity(32 * 1024);
        let mut entries = RawDir::new(folder.handle.names()?, buffer.spare_capacity_mut());
        let mut path = folder.path.clone().join(b"").as_bytes().to_vec();
        let prefix = path.len();
        let mut seen = 0;
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            effort.count()?;
            seen += 1;
            if let Extent::Upto(most) = extent
                && (self.len() > most || seen > 16 * most)
            {
                self.all = false;
                break;
            }
            let Some(kind) = kind(folder, name, entry.file_type()) else { continue };
            path.truncate(prefix);
            path.extend_from_slice(name);
            if folder.sight.admits(&path, kind == Kind::Folder) {
                self.push(name, kind)?;
            }
        }
        Ok(())
    }
}

impl Site {
    /// Returns the visible names in `folder`, from the cache while the folder and its rules are
    /// unchanged.
    pub(super) fn names(
        &self,
        folder: &Folder,
        extent: Extent,
        effort: &Effort,
    ) -> io::Result<Arc<Names>> {
        if let Some(names) = self.kept(folder) {
            return Ok(names);
        }
        let turn = effort.is_patient().then(|| self.turns.take(&folder.path));
        let _turn = turn.transpose().map_err(|others| effort.wait_for(others))?;
        if let Some(names) = self.kept(folder) {
            return Ok(names);
        }
        let now = SystemTime::now();
        let names = Arc::new(Names::scan(folder, extent, effort)?);
        if names.all && folder.stamp.is_settled(now, self.margin) {
            self.names.keep(folder.path.as_bytes(), names.clone(), names.weight());
        }
        Ok(names)
    }

    fn kept(&self, folder: &Folder) -> Option<Arc<Names>> {
        let names = self.names.get(folder.path.as_bytes())?;
        let holds = names.stamp == folder.stamp && folder.sight.has_id(&names.sight);
        names.known.fetch_or(holds, Ordering::Relaxed);
        holds.then_some(names)
    }
}

/// Returns the kind of an entry; `None` if it is neither file, folder nor link.
fn kind(folder: &Folder, name: &[u8], kind: FileType) -> Option<Kind> {
    let kind = match kind {
        // Some file systems leave the type out of directory entries.
        FileType::Unknown => folder.handle.stamp_of(name).ok()?.kind,
        kind => Kind::of(kind),
    };
    (kind != Kind::Other).then_some(kind)
}
