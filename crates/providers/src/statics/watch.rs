//! Watches the files behind declared resources, by inotify or by polling.
//!
//! It watches every folder on the path to a file, symbolic links included, and reports an update
//! only if the content may differ.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures_core::Stream;
use resource::{Change, Condition, Context, Error, ErrorKind, Health, Interest, Uri, Watch};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use super::Statics;
use super::file::blocking;
use crate::vigil::{
    Deaf, Desk, Feed, HASHED, Heard, Hold, Left, Lookout, Version, enlist, is_local, way,
};

/// A file's ctime must be this old before an equal ctime proves that nothing changed.
const MARGIN: Duration = Duration::from_millis(50);

/// How often the path is resolved again if it changes while its folders are being watched.
const TRIES: usize = 8;

/// All files behind declared resources, and the rescan loop of their subscribers.
pub(super) struct Station {
    files: HashMap<Uri, Vec<PathBuf>>,
    desk: Desk<Memory>,
}

/// The last known state of one subscriber's files.
pub(super) struct Memory(Vec<Seen>);

/// One file behind a resource.
struct Seen {
    uri: Uri,
    path: PathBuf,
    way: Vec<Step>,
    /// `None` if the file does not exist.
    version: Option<Version>,
    /// True if a folder on the path could not be watched and must be tried again.
    missed: bool,
}

/// A folder on the path to a file, and the name that is looked up in it.
struct Step {
    key: Vec<u8>,
    name: Vec<u8>,
    _hold: Option<Hold>,
}

impl Station {
    pub(super) fn new(files: Vec<(Uri, Vec<PathBuf>)>, poll: Duration, most: usize) -> Self {
        Self { files: files.into_iter().collect(), desk: Desk::new(poll, most) }
    }

    pub(super) fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    #[cfg(test)]
    pub(super) fn desk(&self) -> &Desk<Memory> {
        &self.desk
    }

    fn memory_of(&self, uri: &Uri) -> Vec<Seen> {
        let paths = self.files.get(uri).into_iter().flatten();
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let seen = |path| Seen {
            uri: uri.clone(),
            path: absolute(path),
            way: Vec::new(),
            version: None,
            missed: false,
        };
        paths.map(seen).collect()
    }

    /// Watches the folder at `path`; starts polling if inotify cannot watch it. Fails if the
    /// folder may exist but cannot be opened right now.
    fn listen(&self, path: &Path) -> Result<Option<Hold>, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = match open(path, flags, Mode::empty()) {
            Ok(folder) => folder,
            // The watch on its parent folder reports it if it appears or becomes accessible.
            Err(
                Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG | Errno::ACCESS,
            ) => return Ok(None),
            Err(error) => return Err(error),
        };
        if !is_local(&folder).unwrap_or(false) {
            self.desk.start_polling();
            return Ok(None);
        }
        let key = path.as_os_str().as_bytes();
        match self.desk.ears().and_then(|ears| ears.listen(key, &folder)) {
            Ok(hold) => Ok(Some(hold)),
            // Even in a folder without read permission, names can be looked up by polling.
            Err(Deaf::Refused(_) | Deaf::Full) => {
                self.desk.start_polling();
                Ok(None)
            }
        }
    }
}

impl Lookout for Station {
    type Memory = Memory;

    fn desk(&self) -> &Desk<Memory> {
        &self.desk
    }

    fn look(&self, memory: &mut Memory, heard: &Heard, feed: &Feed) -> Left {
        for seen in memory.0.iter_mut().filter(|seen| seen.may_be_meant(heard)) {
            if seen.look(self) {
                feed.tell(Change::Updated(seen.uri.clone()));
            }
        }
        if memory.0.iter().any(|seen| seen.missed) { Left::Failed } else { Left::Nothing }
    }
}

impl Seen {
    fn may_be_meant(&self, heard: &Heard) -> bool {
        let is_meant = |step: &Step| {
            let touched = heard.folders.get(&step.key);
            touched.is_some_and(|touched| touched.whole || touched.names.contains(&step.name))
        };
        heard.all || heard.again && self.missed || self.way.iter().any(is_meant)
    }

    /// Checks the file again. True if its content may have changed.
    fn look(&mut self, station: &Station) -> bool {
        self.missed = self.go(station).is_err();
        let version = version(&self.path, self.version.as_ref());
        let is_news = match (&self.version, &version) {
            (Some(old), Some(new)) => old.may_differ_from(new),
            (None, None) => false,
            _ => true,
        };
        self.version = version;
        is_news
    }

    /// Watches every folder on the current path. If one cannot be opened right now, the previous
    /// watches stay.
    fn go(&mut self, station: &Station) -> Result<(), Errno> {
        for _ in 0..TRIES {
            let now = way(&self.path);
            let is_step = |((folder, name), step): (&(PathBuf, OsString), &Step)| {
                folder.as_os_str().as_bytes() == step.key && name.as_bytes() == step.name
            };
            let is_same = now.len() == self.way.len() && now.iter().zip(&self.way).all(is_step);
            let steps = now.into_iter().map(|(folder, name)| {
                let _hold = station.listen(&folder)?;
                let key = folder.into_os_string().into_vec();
                Ok(Step { key, name: name.into_vec(), _hold })
            });
            // Replace the old watches only after the new ones exist, so that no event is lost.
            self.way = steps.collect::<Result<_, Errno>>()?;
            if is_same {
                break;
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Watch for Statics {
    async fn watch(
        &self,
        _: &Context,
        interest: Interest,
    ) -> resource::Result<Pin<Box<dyn Stream<Item = Change> + Send>>> {
        let station = &self.station;
        let memory = match &interest {
            Interest::Resource(uri) if !self.has(uri) => return Err(Error::not_found(uri)),
            Interest::Resource(uri) if !station.files.contains_key(uri) => {
                let words = "this resource cannot be watched: its content is in the settings";
                return Err(Error::new(ErrorKind::Unsupported, words).about(uri));
            }
            Interest::Resource(uri) => station.memory_of(uri),
            Interest::Listing => Vec::new(),
            Interest::Offers(_) => {
                return Err(Error::new(ErrorKind::Unsupported, "no tools or prompts here"));
            }
            Interest::Everything => {
                station.files.keys().flat_map(|uri| station.memory_of(uri)).collect()
            }
        };
        // Subscribe first: events that arrive during the first check are handled after it.
        let (party, stories) = enlist(station, Memory(memory));
        let station = station.clone();
        blocking(move || {
            for seen in &mut party.memory().0 {
                seen.look(&station);
            }
            Ok(())
        })
        .await?;
        self.station.desk.wake();
        Ok(Box::pin(stories))
    }
}

impl Health for Statics {
    fn health(&self) -> Condition {
        let condition = match self.station.desk.polls() {
            Some(poll) => Condition::degraded(format!(
                "changes are found by polling every {poll:?}: inotify does not cover some files"
            )),
            None => Condition::ready(),
        };
        Condition { since: self.station.desk.turned(), ..condition }
    }

    fn is_there(&self) -> bool {
        true
    }
}

/// The current version of the file at `path`. Returns `known` without reading the content if the
/// file's metadata proves that it is unchanged.
fn version(path: &Path, known: Option<&Version>) -> Option<Version> {
    let now = SystemTime::now();
    let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mut hasher = blake3::Hasher::new();
    for number in [
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
        metadata.size() as i64,
        metadata.ino() as i64,
    ] {
        hasher.update(&number.to_le_bytes());
    }
    let mark = hasher.finalize().as_bytes().first_chunk().copied().map_or(0, u64::from_le_bytes);
    if let Some(known) = known
        && known.surely_has(mark)
    {
        return Some(*known);
    }
    let seconds = u64::try_from(metadata.ctime()).unwrap_or(0);
    let changed = Duration::new(seconds, u32::try_from(metadata.ctime_nsec()).unwrap_or(0));
    let settled =
        now.duration_since(SystemTime::UNIX_EPOCH + changed).is_ok_and(|age| age > MARGIN);
    Some(Version::new(mark, settled, content(path, metadata.size())))
}

/// The content hash of a file, if it is small enough to be hashed.
fn content(path: &Path, size: u64) -> Option<blake3::Hash> {
    if size > HASHED {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(HASHED + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= HASHED).then(|| blake3::hash(&bytes))
}
