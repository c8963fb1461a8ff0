//! Watch of a single resource: detects that it changed, appeared or disappeared.

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

/// How often watching the path is repeated because the path changed meanwhile.
const TRIES: usize = 8;

/// One watched resource, with its URI as the client wrote it.
pub(super) struct One {
    pub(super) uri: Uri,
    asked: Asked,
    way: Vec<Step>,
    seen: Option<Seen>,
}

/// A folder on the path to the resource, and the name looked up in it.
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

    /// Path by which the client asked for the resource.
    pub(super) fn shown(&self) -> &Local {
        &self.asked.path
    }

    /// True if the resource exists.
    pub(super) fn is_there(&self) -> bool {
        self.seen.is_some()
    }

    /// True if `heard` may concern the resource.
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

    /// Checks the resource and sends the change to `feed`. Returns the folder if it is one.
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

    /// An error unless the resource exists.
    pub(super) fn must_be_there(&self) -> io::Result<()> {
        if self.is_there() { Ok(()) } else { Err(missing()) }
    }

    /// Watches every folder on the current path. If the path cannot be resolved at present, fails
    /// and keeps the watches it has.
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
            // Old watches are dropped after the new ones exist, so that no event is lost.
            self.way = way.collect();
            if is_same {
                break;
            }
        }
        Ok(())
    }
}
