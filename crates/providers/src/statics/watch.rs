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
use resource::{Change, Context, Error, ErrorKind, Health, HealthStatus, Interest, Uri, Watch};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use super::Statics;
use super::file::run_blocking;
use crate::file_watch::{
    ChangeSender, DirtySet, FileVersion, MAX_HASHED_SIZE, RescanLoop, RescanOutcome, Rescanner,
    WatchError, WatchHandle, is_local, lookup_steps, subscribe,
};

/// A file's ctime must be this old before an equal ctime proves that nothing changed.
const TIMESTAMP_MARGIN: Duration = Duration::from_millis(50);

/// How often the path is resolved again if it changes while its folders are being watched.
const MAX_ATTEMPTS: usize = 8;

/// All files behind declared resources, and the rescan loop of their subscribers.
pub(super) struct DeclaredFileWatcher {
    files: HashMap<Uri, Vec<PathBuf>>,
    rescan_loop: RescanLoop<DeclaredFileStates>,
}

/// The last known state of one subscriber's files.
pub(super) struct DeclaredFileStates(Vec<DeclaredFileState>);

/// One file behind a resource.
struct DeclaredFileState {
    uri: Uri,
    path: PathBuf,
    steps: Vec<FileLookupStep>,
    /// `None` if the file does not exist.
    version: Option<FileVersion>,
    /// True if a folder on the path could not be watched and must be tried again.
    needs_retry: bool,
}

/// A folder on the path to a file, and the name that is looked up in it.
struct FileLookupStep {
    key: Vec<u8>,
    name: Vec<u8>,
    _watch: Option<WatchHandle>,
}

impl DeclaredFileWatcher {
    pub(super) fn new(files: Vec<(Uri, Vec<PathBuf>)>, poll: Duration, most: usize) -> Self {
        Self { files: files.into_iter().collect(), rescan_loop: RescanLoop::new(poll, most) }
    }

    pub(super) fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    #[cfg(test)]
    pub(super) fn rescan_loop(&self) -> &RescanLoop<DeclaredFileStates> {
        &self.rescan_loop
    }

    fn states_of(&self, uri: &Uri) -> Vec<DeclaredFileState> {
        let paths = self.files.get(uri).into_iter().flatten();
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let seen = |path| DeclaredFileState {
            uri: uri.clone(),
            path: absolute(path),
            steps: Vec::new(),
            version: None,
            needs_retry: false,
        };
        paths.map(seen).collect()
    }

    /// Watches the folder at `path`; starts polling if inotify cannot watch it. Fails if the
    /// folder may exist but cannot be opened right now.
    fn watch_dir(&self, path: &Path) -> Result<Option<WatchHandle>, Errno> {
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
            self.rescan_loop.start_polling();
            return Ok(None);
        }
        let key = path.as_os_str().as_bytes();
        match self.rescan_loop.inotify().and_then(|ears| ears.add_watch(key, &folder)) {
            Ok(hold) => Ok(Some(hold)),
            // Even in a folder without read permission, names can be looked up by polling.
            Err(WatchError::Refused(_) | WatchError::Unavailable) => {
                self.rescan_loop.start_polling();
                Ok(None)
            }
        }
    }
}

impl Rescanner for DeclaredFileWatcher {
    type Memory = DeclaredFileStates;

    fn rescan_loop(&self) -> &RescanLoop<DeclaredFileStates> {
        &self.rescan_loop
    }

    fn rescan(
        &self,
        memory: &mut DeclaredFileStates,
        dirty: &DirtySet,
        changes: &ChangeSender,
    ) -> RescanOutcome {
        for seen in memory.0.iter_mut().filter(|seen| seen.is_affected(dirty)) {
            if seen.refresh(self) {
                changes.send(Change::Updated(seen.uri.clone()));
            }
        }
        if memory.0.iter().any(|seen| seen.needs_retry) {
            RescanOutcome::Failed
        } else {
            RescanOutcome::Done
        }
    }
}

impl DeclaredFileState {
    fn is_affected(&self, dirty: &DirtySet) -> bool {
        let is_meant = |step: &FileLookupStep| {
            let touched = dirty.folders.get(&step.key);
            touched.is_some_and(|touched| touched.whole || touched.names.contains(&step.name))
        };
        dirty.all || dirty.retry_failed && self.needs_retry || self.steps.iter().any(is_meant)
    }

    /// Checks the file again. True if its content may have changed.
    fn refresh(&mut self, watcher: &DeclaredFileWatcher) -> bool {
        self.needs_retry = self.watch_steps(watcher).is_err();
        let version = current_version(&self.path, self.version.as_ref());
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
    fn watch_steps(&mut self, watcher: &DeclaredFileWatcher) -> Result<(), Errno> {
        for _ in 0..MAX_ATTEMPTS {
            let now = lookup_steps(&self.path);
            let is_step = |((folder, name), step): (&(PathBuf, OsString), &FileLookupStep)| {
                folder.as_os_str().as_bytes() == step.key && name.as_bytes() == step.name
            };
            let is_same = now.len() == self.steps.len() && now.iter().zip(&self.steps).all(is_step);
            let steps = now.into_iter().map(|(folder, name)| {
                let _hold = watcher.watch_dir(&folder)?;
                let key = folder.into_os_string().into_vec();
                Ok(FileLookupStep { key, name: name.into_vec(), _watch: _hold })
            });
            // Replace the old watches only after the new ones exist, so that no event is lost.
            self.steps = steps.collect::<Result<_, Errno>>()?;
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
        let station = &self.watcher;
        let memory = match &interest {
            Interest::Resource(uri) if !self.contains(uri) => return Err(Error::not_found(uri)),
            // A text of the settings changes with them: then the catalog has another provider, and
            // reports that.
            Interest::Resource(uri) => station.states_of(uri),
            Interest::Listing => Vec::new(),
            Interest::Components(_) => {
                return Err(Error::new(ErrorKind::Unsupported, "no tools or prompts here"));
            }
            Interest::Everything => {
                station.files.keys().flat_map(|uri| station.states_of(uri)).collect()
            }
        };
        // Subscribe first: events that arrive during the first check are handled after it.
        let (party, stories) = subscribe(station, DeclaredFileStates(memory));
        let station = station.clone();
        run_blocking(move || {
            for seen in &mut party.memory().0 {
                seen.refresh(&station);
            }
            Ok(())
        })
        .await?;
        self.watcher.rescan_loop.wake();
        Ok(Box::pin(stories))
    }

    fn is_shared(&self, _: &Interest) -> bool {
        true
    }
}

impl Health for Statics {
    fn health(&self, _: &Context) -> HealthStatus {
        let condition = match self.watcher.rescan_loop.polling_interval() {
            Some(poll) => HealthStatus::degraded(format!(
                "changes are found by polling every {poll:?}: inotify does not cover some files"
            )),
            None => HealthStatus::ready(),
        };
        HealthStatus { since: self.watcher.rescan_loop.polling_changed_at(), ..condition }
    }

    fn is_available(&self, _: &Context) -> bool {
        true
    }
}

/// The current version of the file at `path`. Returns `known` without reading the content if the
/// file's metadata proves that it is unchanged.
fn current_version(path: &Path, known: Option<&FileVersion>) -> Option<FileVersion> {
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
        && known.is_certainly_at(mark)
    {
        return Some(*known);
    }
    let seconds = u64::try_from(metadata.ctime()).unwrap_or(0);
    let changed = Duration::new(seconds, u32::try_from(metadata.ctime_nsec()).unwrap_or(0));
    let settled = now
        .duration_since(SystemTime::UNIX_EPOCH + changed)
        .is_ok_and(|age| age > TIMESTAMP_MARGIN);
    Some(FileVersion::new(mark, settled, hash_content(path, metadata.size())))
}

/// The content hash of a file, if it is small enough to be hashed.
fn hash_content(path: &Path, size: u64) -> Option<blake3::Hash> {
    if size > MAX_HASHED_SIZE {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_HASHED_SIZE + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_HASHED_SIZE).then(|| blake3::hash(&bytes))
}
