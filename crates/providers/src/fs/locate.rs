//! What lies at a path, if it may be seen?

use std::io;

use super::confine::Handle;
use super::fault::missing;
use super::path::Local;
use super::site::Site;
use super::stamp::{Kind, Stamp};
use super::visible::Sight;

/// How many links one path may lead through.
const MOST_LINKS: usize = 16;

/// A folder that may be seen, open.
#[derive(Clone)]
pub(super) struct Folder {
    pub(super) handle: Handle,
    /// Where it really lies, whatever links led to it.
    pub(super) path: Local,
    pub(super) stamp: Stamp,
    pub(super) sight: Sight,
    /// The folders in which the links stood that led here.
    links: Vec<Local>,
}

/// What lies at a path.
pub(super) enum Found {
    Folder(Folder),
    File(Leaf),
}

/// A file that may be seen, not opened.
pub(super) struct Leaf {
    pub(super) folder: Handle,
    pub(super) name: Vec<u8>,
    pub(super) stamp: Stamp,
}

impl Found {
    pub(super) fn stamp(&self) -> &Stamp {
        match self {
            Self::Folder(folder) => &folder.stamp,
            Self::File(leaf) => &leaf.stamp,
        }
    }
}

impl Site {
    /// The root.
    pub(super) fn top(&self) -> io::Result<Folder> {
        let handle = self.root.top();
        let (path, stamp) = (Local::default(), handle.stamp()?);
        let sight = Sight::new(self.hidden);
        let sight = self.rules.sight(&self.root, sight, (&handle, &path, &stamp))?;
        Ok(Folder { handle, path, stamp, sight, links: Vec::new() })
    }

    /// What lies at `path`; links on the way are followed as long as they stay inside.
    pub(super) fn find(&self, path: &Local) -> io::Result<Found> {
        let mut found = Found::Folder(self.top()?);
        let mut names = path.names().peekable();
        while let Some(name) = names.next() {
            let Found::Folder(folder) = &found else { return Err(missing()) };
            found = match names.peek() {
                // Folders are tried first where only they will do: that saves a call for each.
                Some(_) => match self.enter(folder, name) {
                    Ok(folder) => Found::Folder(folder),
                    Err(_) => self.look(folder, name)?,
                },
                None => self.look(folder, name)?,
            };
        }
        Ok(found)
    }

    /// What `name` in `folder` is, or leads to.
    pub(super) fn look(&self, folder: &Folder, name: &[u8]) -> io::Result<Found> {
        match folder.handle.stamp_of(name)? {
            stamp if stamp.kind == Kind::Link => self.follow(folder, name),
            stamp => self.plain(folder, name, stamp),
        }
    }

    /// The folder `name` in `folder`; an error if it is a link.
    pub(super) fn enter(&self, folder: &Folder, name: &[u8]) -> io::Result<Folder> {
        let path = folder.path.join(name);
        if !folder.sight.admits(path.as_bytes(), true) {
            return Err(missing());
        }
        let handle = folder.handle.folder(name)?;
        let stamp = handle.stamp()?;
        let outer = folder.sight.clone();
        let sight = self.rules.sight(&self.root, outer, (&handle, &path, &stamp))?;
        Ok(Folder { handle, path, stamp, sight, links: folder.links.clone() })
    }

    fn plain(&self, folder: &Folder, name: &[u8], stamp: Stamp) -> io::Result<Found> {
        match stamp.kind {
            Kind::Folder => Ok(Found::Folder(self.enter(folder, name)?)),
            Kind::File if folder.sight.admits(folder.path.join(name).as_bytes(), false) => {
                let leaf = Leaf { folder: folder.handle.clone(), name: name.to_vec(), stamp };
                Ok(Found::File(leaf))
            }
            Kind::File | Kind::Link | Kind::Other => Err(missing()),
        }
    }

    /// What the link `name` in `folder` leads to, which must be visible where it really lies.
    ///
    /// A link to a folder that it lies in itself leads nowhere, or walks would never end.
    fn follow(&self, folder: &Folder, name: &[u8]) -> io::Result<Found> {
        let link = folder.path.join(name);
        // A link that is hidden is not even resolved.
        if folder.links.len() >= MOST_LINKS || !folder.sight.admits(link.as_bytes(), false) {
            return Err(missing());
        }
        let mut found = self.reach(&self.root.real(&link)?)?;
        if let Found::Folder(target) = &mut found {
            target.links.clone_from(&folder.links);
            target.links.push(folder.path.clone());
            let loops = target.links.iter().any(|path| path.is_within(&target.path));
            if loops || !folder.sight.admits(link.as_bytes(), true) {
                return Err(missing());
            }
        }
        Ok(found)
    }

    /// What lies at `real`, a path without links.
    fn reach(&self, real: &Local) -> io::Result<Found> {
        let mut found = Found::Folder(self.top()?);
        for name in real.names() {
            let Found::Folder(folder) = &found else { return Err(missing()) };
            found = self.plain(folder, name, folder.handle.stamp_of(name)?)?;
        }
        Ok(found)
    }
}
