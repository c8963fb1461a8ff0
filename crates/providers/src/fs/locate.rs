//! Path lookup: finds the file or folder at a path if it is visible, and caches open folders.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::confine::Handle;
use super::fault::missing;
use super::path::Local;
use super::site::Site;
use super::stamp::{Kind, Stamp};
use super::visible::{Rules, Sight};

/// Most links to folders that one path may lead through.
const MOST_LINKS: usize = 16;

/// Most file names remembered for one folder.
const MOST_KNOWN: usize = 1_024;

/// A visible folder, open.
#[derive(Clone)]
pub(super) struct Folder {
    pub(super) handle: Handle,
    /// Its path without links.
    pub(super) path: Local,
    pub(super) stamp: Stamp,
    pub(super) sight: Sight,
    /// The rules of its own ignore files.
    rules: Arc<Rules>,
    /// Names known to be visible files in it.
    known: Arc<Mutex<HashSet<Vec<u8>>>>,
    /// The folder that contains it.
    outer: Option<Arc<Self>>,
    /// The folders that contain the links followed to get here.
    links: Vec<Local>,
}

/// The file or folder at a path.
pub(super) enum Found {
    Folder(Arc<Folder>),
    File(Leaf),
}

/// A visible file.
pub(super) struct Leaf {
    pub(super) folder: Arc<Folder>,
    pub(super) name: Vec<u8>,
    pub(super) stamp: Stamp,
    /// The open file, if the caller asked to open it.
    pub(super) file: Option<File>,
}

impl Found {
    pub(super) fn stamp(&self) -> &Stamp {
        match self {
            Self::Folder(folder) => &folder.stamp,
            Self::File(leaf) => &leaf.stamp,
        }
    }

    /// True if `path` leads here without links.
    fn is_at(&self, path: &Local) -> bool {
        match self {
            Self::Folder(folder) => folder.path == *path,
            Self::File(leaf) => path.is_in(&leaf.folder.path, &leaf.name),
        }
    }
}

impl Folder {
    /// True if neither the folder, whose current stamp is `stamp`, nor its ignore files have
    /// changed.
    fn still_holds(&self, stamp: &Stamp) -> bool {
        self.stamp == *stamp && self.rules.still_hold(&self.handle, stamp)
    }

    /// True if the path that led here contains a link.
    pub(super) fn came_by_links(&self) -> bool {
        !self.links.is_empty()
    }

    /// True if `name` is known to be a visible file.
    ///
    /// A name cannot start to mean something else without changing the folder's stamp, and then
    /// this folder is no longer used.
    fn knows(&self, name: &[u8]) -> bool {
        self.known().contains(name)
    }

    fn learn(&self, name: &[u8]) {
        let mut known = self.known();
        if self.rules.are_settled() && known.len() < MOST_KNOWN {
            known.insert(name.to_vec());
        }
    }

    fn known(&self) -> MutexGuard<'_, HashSet<Vec<u8>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_outside_of(&self, inner: &Self) -> bool {
        inner.outer.as_deref().is_some_and(|outer| std::ptr::eq(outer, self))
    }
}

impl Site {
    /// Returns the root folder.
    pub(super) fn top(&self) -> io::Result<Arc<Folder>> {
        let handle = self.root.top();
        let stamp = handle.stamp()?;
        if let Some(top) = self.folders.get(&b""[..])
            && top.still_holds(&stamp)
        {
            return Ok(top);
        }
        let path = Local::default();
        let rules = self.rules.rules(&self.root, (&handle, &path, &stamp))?;
        let sight = Sight::new(self.hidden, self.hide.clone()).within(&path, &rules);
        let (known, outer, links) = (Arc::default(), None, Vec::new());
        Ok(self.keep(Folder { handle, path, stamp, sight, rules, known, outer, links }))
    }

    /// Finds what is at `path`, following links that stay inside the root.
    pub(super) fn find(&self, path: &Local) -> io::Result<Found> {
        self.judged(path, self.go(path, Self::look))
    }

    /// Finds what is at `path` and opens it if it is a file.
    pub(super) fn find_open(&self, path: &Local) -> io::Result<Found> {
        self.judged(path, self.go(path, Self::look_inside))
    }

    /// Returns `found`, unless the hide filter hides `path`.
    fn judged(&self, path: &Local, found: io::Result<Found>) -> io::Result<Found> {
        // Lookups without links have already been filtered, and the root is never hidden.
        let is_judged = found.as_ref().is_ok_and(|found| found.is_at(path));
        if !is_judged && path.last().is_some() && self.hides(path.as_bytes()) {
            return Err(missing());
        }
        found
    }

    fn go(
        &self,
        path: &Local,
        last: impl Fn(&Self, &Arc<Folder>, &[u8]) -> io::Result<Found>,
    ) -> io::Result<Found> {
        let mut folder = self.top()?;
        let mut names = path.names().peekable();
        while let Some(name) = names.next() {
            if names.peek().is_none() {
                return last(self, &folder, name);
            }
            // Tries a folder first where only a folder can follow: that saves a stat call.
            folder = match self.enter(&folder, name) {
                Ok(folder) => folder,
                Err(_) => match self.look(&folder, name)? {
                    Found::Folder(folder) => folder,
                    Found::File(_) => return Err(missing()),
                },
            };
        }
        Ok(Found::Folder(folder))
    }

    /// Resolves `name` in `folder`, following links, and opens it if it is a file.
    fn look_inside(&self, folder: &Arc<Folder>, name: &[u8]) -> io::Result<Found> {
        // Opens only what is known to be a file: the other end of a pipe would notice the open.
        if folder.knows(name)
            && let Ok((file, stamp)) = folder.handle.file(name)
        {
            let (folder, name, file) = (folder.clone(), name.to_vec(), Some(file));
            return Ok(Found::File(Leaf { folder, name, stamp, file }));
        }
        let mut found = self.look(folder, name)?;
        if let Found::File(leaf) = &mut found {
            let (file, stamp) = leaf.folder.handle.file(&leaf.name)?;
            (leaf.file, leaf.stamp) = (Some(file), stamp);
            leaf.folder.learn(&leaf.name);
        }
        Ok(found)
    }

    /// Resolves `name` in `folder`, following links.
    pub(super) fn look(&self, folder: &Arc<Folder>, name: &[u8]) -> io::Result<Found> {
        match folder.handle.stamp_of(name)? {
            stamp if stamp.kind == Kind::Link => self.follow(folder, name),
            stamp => self.plain(folder, name, stamp),
        }
    }

    /// Opens the folder `name` in `folder`; an error if it is a link.
    ///
    /// Reuses a cached open folder while the name still refers to it and nothing has changed.
    pub(super) fn enter(&self, folder: &Arc<Folder>, name: &[u8]) -> io::Result<Arc<Folder>> {
        let path = folder.path.join(name);
        if let Some(kept) = self.folders.get(path.as_bytes())
            && folder.is_outside_of(&kept)
            && kept.still_holds(&folder.handle.stamp_of(name)?)
        {
            return Ok(kept);
        }
        if !folder.sight.admits(path.as_bytes(), true) {
            return Err(missing());
        }
        let handle = folder.handle.folder(name)?;
        let stamp = handle.stamp()?;
        let rules = self.rules.rules(&self.root, (&handle, &path, &stamp))?;
        let sight = folder.sight.within(&path, &rules);
        let (outer, links) = (Some(folder.clone()), folder.links.clone());
        let known = Arc::default();
        Ok(self.keep(Folder { handle, path, stamp, sight, rules, known, outer, links }))
    }

    /// True if the hide filter hides `path`.
    pub(super) fn hides(&self, path: &[u8]) -> bool {
        self.hide.as_ref().is_some_and(|hide| hide(&String::from_utf8_lossy(path)))
    }

    /// True if the hide filter hides `name` at `shown`, the path by which the client reached
    /// `folder` through links.
    ///
    /// Names at their real path were filtered when the folder was scanned.
    pub(super) fn conceals(&self, folder: &Folder, shown: &Local, name: &[u8]) -> bool {
        self.conceals_at(folder.path.as_bytes(), shown, name)
    }

    /// The same for a `folder` that may be gone, given its real path.
    pub(super) fn conceals_at(&self, folder: &[u8], shown: &Local, name: &[u8]) -> bool {
        let came_by_links = folder != shown.as_bytes();
        self.hide.is_some() && came_by_links && self.hides(shown.join(name).as_bytes())
    }

    /// Caches `folder`, unless links led to it or its rules could change without notice.
    fn keep(&self, folder: Folder) -> Arc<Folder> {
        let folder = Arc::new(folder);
        if folder.links.is_empty() && folder.rules.are_settled() {
            self.folders.keep(folder.path.as_bytes(), folder.clone(), 1);
        }
        folder
    }

    fn plain(&self, folder: &Arc<Folder>, name: &[u8], stamp: Stamp) -> io::Result<Found> {
        match stamp.kind {
            Kind::Folder => Ok(Found::Folder(self.enter(folder, name)?)),
            Kind::File if folder.sight.admits(folder.path.join(name).as_bytes(), false) => {
                let (folder, name) = (folder.clone(), name.to_vec());
                Ok(Found::File(Leaf { folder, name, stamp, file: None }))
            }
            Kind::File | Kind::Link | Kind::Other => Err(missing()),
        }
    }

    /// Follows the link `name` in `folder`. The target must be visible at its real path.
    ///
    /// A link to a folder that contains it leads nowhere; otherwise walks would not end.
    fn follow(&self, folder: &Arc<Folder>, name: &[u8]) -> io::Result<Found> {
        let link = folder.path.join(name);
        // Do not resolve a hidden link.
        if folder.links.len() >= MOST_LINKS || !folder.sight.admits(link.as_bytes(), false) {
            return Err(missing());
        }
        let target = match self.reach(&self.root.real(&link)?)? {
            Found::Folder(target) => target,
            file @ Found::File(_) => return Ok(file),
        };
        let mut links = folder.links.clone();
        links.push(folder.path.clone());
        let loops = links.iter().any(|path| path.is_within(&target.path));
        if loops || !folder.sight.admits(link.as_bytes(), true) {
            return Err(missing());
        }
        Ok(Found::Folder(Arc::new(Folder { links, ..Folder::clone(&target) })))
    }

    /// Finds what is at `real`, a path without links.
    fn reach(&self, real: &Local) -> io::Result<Found> {
        let mut found = Found::Folder(self.top()?);
        for name in real.names() {
            let Found::Folder(folder) = &found else { return Err(missing()) };
            found = self.plain(folder, name, folder.handle.stamp_of(name)?)?;
        }
        Ok(found)
    }
}
