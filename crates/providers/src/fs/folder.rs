//! Which names lie in a folder, in order?

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
/// All names stand one after the other in one piece of memory, each behind its kind and length,
/// and an index gives their order: a million names of 15 letters take 22 MB.
pub(super) struct Names {
    arena: Vec<u8>,
    order: Vec<u32>,
    /// Whether these are all the names.
    pub(super) all: bool,
    /// How many of them are no links.
    pub(super) plain: usize,
    stamp: Stamp,
    sight: Vec<u64>,
    /// Whether they were asked for again since they were read.
    known: AtomicBool,
}

/// How much of a folder is wanted.
#[derive(Clone, Copy)]
pub(super) enum Extent {
    All,
    /// Only whether there are more than so many, and if not, which.
    Upto(usize),
}

impl Names {
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// The name at `index` and its kind: file, folder or link.
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], Kind)> {
        self.order.get(index).map(|start| self.entry(*start))
    }

    /// Where the first name after `name` stands.
    pub(super) fn after(&self, name: &[u8]) -> usize {
        self.order.partition_point(|start| self.entry(*start).0 <= name)
    }

    /// Where the first name that is not before `name` stands.
    pub(super) fn from(&self, name: &[u8]) -> usize {
        self.order.partition_point(|start| self.entry(*start).0 < name)
    }

    /// Whether they were asked for again since they were read.
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
    /// The visible names in `folder`, from memory if nothing changed.
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

/// The kind of an entry, nothing if it is of no use.
fn kind(folder: &Folder, name: &[u8], kind: FileType) -> Option<Kind> {
    let kind = match kind {
        // Some file systems do not say.
        FileType::Unknown => folder.handle.stamp_of(name).ok()?.kind,
        kind => Kind::of(kind),
    };
    (kind != Kind::Other).then_some(kind)
}
