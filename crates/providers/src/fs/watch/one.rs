//! Is one resource still what it was?

use std::io;
use std::sync::Arc;

use resource::{Change, Uri};

use super::gaze::Aim;
use crate::fs::fault::{is_missing, missing};
use crate::fs::locate::{Folder, Found};
use crate::fs::path::{Asked, Local};
use crate::fs::site::Site;
use crate::fs::visible::FILES;
use crate::vigil::{Feed, Heard, Hold, Version};

/// How often the way is gone again because it changed under our feet.
const TRIES: usize = 8;

/// One resource that somebody asked about, by the very URI that they wrote.
pub(super) struct One {
    pub(super) uri: Uri,
    asked: Asked,
    way: Vec<Step>,
    seen: Option<Seen>,
}

/// A folder on the way to it, and the name that leads on from there.
struct Step {
    key: Vec<u8>,
    name: Vec<u8>,
    _hold: Option<Hold>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    File(Version),
    Folder,
}

impl One {
    pub(super) fn new(uri: &Uri, asked: Asked) -> Self {
        Self { uri: uri.clone(), asked, way: Vec::new(), seen: None }
    }

    /// Where it is asked for.
    pub(super) fn shown(&self) -> &Local {
        &self.asked.path
    }

    /// Whether it is there.
    pub(super) fn is_there(&self) -> bool {
        self.seen.is_some()
    }

    /// Whether what was `heard` may be about it.
    pub(super) fn may_be_meant(&self, heard: &Heard) -> bool {
        heard.all
            || self.way.iter().any(|step| {
                heard.folders.get(&step.key).is_some_and(|touched| {
                    touched.whole
                        || touched.names.contains(&step.name)
                        || FILES.iter().any(|file| touched.names.contains(*file))
                })
            })
    }

    /// Looks again, and gives the folder if it is one.
    pub(super) fn look(
        &mut self,
        site: &Site,
        feed: Option<&Feed>,
    ) -> io::Result<Option<Arc<Folder>>> {
        self.go(site)?;
        let (seen, folder) = match site.find(&self.asked.path) {
            Ok(Found::File(_)) if self.asked.folder => (None, None),
            Ok(Found::File(leaf)) => {
                let known = match &self.seen {
                    Some(Seen::File(version)) => Some(version),
                    _ => None,
                };
                let version = site.version((&leaf.folder, &leaf.name), &leaf.stamp, known);
                (Some(Seen::File(version)), None)
            }
            Ok(Found::Folder(folder)) => (Some(Seen::Folder), Some(folder)),
            Err(error) if is_missing(&error) => (None, None),
            Err(error) => return Err(error),
        };
        let change = match (&self.seen, &seen) {
            (None, None) | (Some(Seen::Folder), Some(Seen::Folder)) => None,
            (Some(Seen::File(old)), Some(Seen::File(new))) if !old.may_differ_from(new) => None,
            (_, Some(_)) => Some(Change::Updated(self.uri.clone())),
            (Some(_), None) => Some(Change::Removed(self.uri.clone())),
        };
        self.seen = seen;
        if let (Some(feed), Some(change)) = (feed, change) {
            feed.tell(change);
        }
        Ok(folder)
    }

    /// An error unless it is there.
    pub(super) fn must_be_there(&self) -> io::Result<()> {
        if self.is_there() { Ok(()) } else { Err(missing()) }
    }

    /// Listens to every folder on the way, as the way is now; where that cannot be told, the way
    /// stays as it was.
    fn go(&mut self, site: &Site) -> io::Result<()> {
        if !site.is_told() {
            return Ok(());
        }
        for _ in 0..TRIES {
            let trail = site.root.trail(&self.asked.path)?;
            let is_same = trail.len() == self.way.len()
                && trail
                    .iter()
                    .zip(&self.way)
                    .all(|(now, step)| now.folder.as_bytes() == step.key && now.name == step.name);
            let way = trail.into_iter().map(|lookup| Step {
                _hold: site.listen(lookup.folder.as_bytes(), &lookup.handle, Aim::Lookup),
                key: lookup.folder.as_bytes().to_vec(),
                name: lookup.name,
            });
            // The old ones are let go after the new ones are held, so that none is lost between.
            self.way = way.collect();
            if is_same {
                break;
            }
        }
        Ok(())
    }
}
