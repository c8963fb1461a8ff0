//! Watch of a single resource: detects that it changed, appeared or disappeared.

use std::io;
use std::sync::Arc;

use resource::{Change, Uri};

use super::content_version::WatchPurpose;
use crate::file_watch::{ChangeSender, DirtySet, FileVersion, WatchHandle};
use crate::fs::error::{is_not_found, not_found};
use crate::fs::ignore_rules::IGNORE_FILES;
use crate::fs::locate::{Folder, PathEntry};
use crate::fs::path::{LocalPath, UriPath};
use crate::fs::root::FsRoot;

/// How often watching the path is repeated because the path changed meanwhile.
const MAX_ATTEMPTS: usize = 8;

/// One watched resource, with its URI as the client wrote it.
pub(super) struct SingleWatch {
    pub(super) uri: Uri,
    path: UriPath,
    lookups: Vec<WatchedLookup>,
    last_seen: Option<LastSeen>,
}

/// A folder on the path to the resource, and the name looked up in it.
struct WatchedLookup {
    folder: Vec<u8>,
    name: Vec<u8>,
    _watch: Option<WatchHandle>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LastSeen {
    File(FileVersion),
    Folder,
}

impl SingleWatch {
    pub(super) fn new(uri: &Uri, path: UriPath) -> Self {
        Self { uri: uri.clone(), path, lookups: Vec::new(), last_seen: None }
    }

    /// Path by which the client asked for the resource.
    pub(super) fn shown_path(&self) -> &LocalPath {
        &self.path.path
    }

    /// True if the resource exists.
    pub(super) fn exists(&self) -> bool {
        self.last_seen.is_some()
    }

    /// True if `heard` may concern the resource.
    pub(super) fn may_be_affected(&self, dirty: &DirtySet) -> bool {
        dirty.all
            || self.lookups.iter().any(|step| {
                dirty.folders.get(&step.folder).is_some_and(|touched| {
                    touched.whole
                        || touched.names.contains(&step.name)
                        || IGNORE_FILES.iter().any(|file| touched.names.contains(*file))
                })
            })
    }

    /// Checks the resource and sends the change to `feed`. Returns the folder if it is one.
    pub(super) fn recheck(
        &mut self,
        root: &FsRoot,
        changes: Option<&ChangeSender>,
    ) -> io::Result<Option<Arc<Folder>>> {
        self.watch_path(root)?;
        let (seen, folder) = match root.find(&self.path.path) {
            Ok(PathEntry::File(_)) if self.path.requires_folder => (None, None),
            Ok(PathEntry::File(leaf)) => {
                let known = match &self.last_seen {
                    Some(LastSeen::File(version)) => Some(version),
                    _ => None,
                };
                let version = root.content_version((&leaf.folder, &leaf.name), &leaf.stamp, known);
                (Some(LastSeen::File(version)), None)
            }
            Ok(PathEntry::Folder(folder)) => (Some(LastSeen::Folder), Some(folder)),
            Err(error) if is_not_found(&error) => (None, None),
            Err(error) => return Err(error),
        };
        let change = match (&self.last_seen, &seen) {
            (None, None) | (Some(LastSeen::Folder), Some(LastSeen::Folder)) => None,
            (Some(LastSeen::File(old)), Some(LastSeen::File(new))) if !old.may_differ_from(new) => {
                None
            }
            (_, Some(_)) => Some(Change::Updated(self.uri.clone())),
            (Some(_), None) => Some(Change::Removed(self.uri.clone())),
        };
        self.last_seen = seen;
        if let (Some(feed), Some(change)) = (changes, change) {
            feed.send(change);
        }
        Ok(folder)
    }

    /// An error unless the resource exists.
    pub(super) fn require_exists(&self) -> io::Result<()> {
        if self.exists() { Ok(()) } else { Err(not_found()) }
    }

    /// Watches every folder on the current path. If the path cannot be resolved at present, fails
    /// and keeps the watches it has.
    fn watch_path(&mut self, root: &FsRoot) -> io::Result<()> {
        if !root.uses_inotify() {
            return Ok(());
        }
        for _ in 0..MAX_ATTEMPTS {
            let trail = root.dir.lookups(&self.path.path)?;
            let is_same = trail.len() == self.lookups.len()
                && trail.iter().zip(&self.lookups).all(|(now, step)| {
                    now.folder.as_bytes() == step.folder && now.name == step.name
                });
            let way = trail.into_iter().map(|lookup| WatchedLookup {
                _watch: root.watch_folder(
                    lookup.folder.as_bytes(),
                    &lookup.handle,
                    WatchPurpose::OneName,
                ),
                folder: lookup.folder.as_bytes().to_vec(),
                name: lookup.name,
            });
            // Old watches are dropped after the new ones exist, so that no event is lost.
            self.lookups = way.collect();
            if is_same {
                break;
            }
        }
        Ok(())
    }
}
