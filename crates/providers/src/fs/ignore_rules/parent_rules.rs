//! Ignore rules from above the root: those of its parent folders up to the repository's root, and
//! the repository's `info/exclude`.
//!
//! Only rules are read there, and nothing is served. Without a repository there are none, and a
//! file that this process may not read has none either.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use machinery::{Cache, CacheBounds, CacheLifetime};
use parking_lot::Mutex;

use super::patterns::IgnorePatterns;
use super::{
    FILE_TOO_LARGE, IGNORE_FILES, IgnoreFile, MAX_IGNORE_FILE_BYTES, RuleLayer, over_bound,
    parse_files,
};
use crate::fs::confine::read_small_file_above;
use crate::fs::error::is_not_found;
use crate::fs::platform::{FileApi, os_str};
use crate::fs::stamp::{FileKind, FileStamp};

/// Largest file that leads to the folder of a repository, in bytes.
const MAX_POINTER_BYTES: u64 = 8 * 1024;

/// How often to look for a repository that was made or removed. The files of the rules are looked
/// at for every request.
const SEARCH_LIFETIME: CacheLifetime =
    CacheLifetime { ttl: Duration::from_secs(1), grace: Duration::ZERO, weight: 1 };

/// The rules above one root, valid until their files change.
pub(in crate::fs) struct ParentRulesCache {
    last: Mutex<Arc<ParentRules>>,
    /// Holds an entry for a while after each search for the repository.
    recent_search: Cache<(), ()>,
    hasher: RandomState,
    file_api: FileApi,
    clock_margin: Duration,
}

/// The rules above the root at one moment.
#[derive(Default)]
pub(in crate::fs) struct ParentRules {
    root: PathBuf,
    /// Path of the root below its repository, with a slash behind.
    pub(super) prefix: Arc<[u8]>,
    /// Outermost first.
    pub(super) layers: Vec<RuleLayer>,
    /// True if a file is over a bound, so that what it hides is unknown.
    is_over_bound: bool,
    /// What was at the path of each file of rules.
    files: Vec<FoundPath>,
    /// The parents, whose stamps tell whether a file of rules came that was not there.
    parents: Vec<(PathBuf, FileStamp)>,
    /// What was at the paths that tell where the repository is.
    places: Vec<FoundPath>,
    is_settled: bool,
    /// The folders that contain the files of these rules.
    pub(in crate::fs) folders: Vec<PathBuf>,
}

/// A path, and what was there; `None` for nothing.
type FoundPath = (PathBuf, Option<FileStamp>);

impl ParentRulesCache {
    pub(in crate::fs) fn new(file_api: FileApi, clock_margin: Duration) -> Self {
        let last = Mutex::new(Arc::new(ParentRules::default()));
        let recent_search = Cache::new(CacheBounds::entries(1));
        Self { last, recent_search, hasher: RandomState::new(), file_api, clock_margin }
    }

    /// Returns the rules above the folder at `root`, a path without links, and whether they differ
    /// from those of the last call.
    pub(in crate::fs) fn rules_above(&self, root: &Path) -> io::Result<(Arc<ParentRules>, bool)> {
        let last = self.last.lock().clone();
        let is_search_due = self.recent_search.get(&()).is_none();
        if is_search_due {
            self.recent_search.insert_current(self.recent_search.epoch(), (), (), &SEARCH_LIFETIME);
        }
        if last.is_current(self.file_api, root)
            && (!is_search_due || are_unchanged(self.file_api, &last.places))
        {
            return last.within_bounds().map(|rules| (rules, false));
        }
        let loading = Loading {
            kept: &last.layers,
            hasher: &self.hasher,
            file_api: self.file_api,
            rules: ParentRules { root: root.to_owned(), ..ParentRules::default() },
        };
        let rules = Arc::new(loading.load(self.clock_margin)?);
        let fingerprints = |rules: &ParentRules| -> Vec<u64> {
            rules.layers.iter().map(|layer| layer.fingerprint).collect()
        };
        let is_known = !last.places.is_empty();
        let differ = is_known && fingerprints(&last) != fingerprints(&rules);
        *self.last.lock() = rules.clone();
        rules.within_bounds().map(|rules| (rules, differ))
    }
}

impl ParentRules {
    /// True if any later change of the rules is certain to be noticed.
    pub(in crate::fs) fn is_settled(&self) -> bool {
        self.is_settled
    }

    fn is_current(&self, file_api: FileApi, root: &Path) -> bool {
        let is_same = |(path, was): &(PathBuf, FileStamp)| {
            find(file_api, path).is_ok_and(|now| now.is_some_and(|now| now == *was))
        };
        self.is_settled
            && self.root == root
            && are_unchanged(file_api, &self.files)
            && self.parents.iter().all(is_same)
    }

    fn within_bounds(self: Arc<Self>) -> io::Result<Arc<Self>> {
        if self.is_over_bound { Err(over_bound()) } else { Ok(self) }
    }
}

/// The rules while they are read.
struct Loading<'a> {
    kept: &'a [RuleLayer],
    hasher: &'a RandomState,
    file_api: FileApi,
    rules: ParentRules,
}

impl Loading<'_> {
    fn load(mut self, clock_margin: Duration) -> io::Result<ParentRules> {
        let now = SystemTime::now();
        let root = self.rules.root.clone();
        let mut repository = None;
        for folder in root.ancestors() {
            if let Some(git) = self.find_place(&folder.join(".git"))? {
                repository = Some((folder, git));
                break;
            }
        }
        if let Some((top, git)) = repository {
            let below = root.strip_prefix(top).unwrap_or(Path::new(""));
            self.rules.prefix = with_slash(below).into();
            self.load_exclude(top, &git, below)?;
            let mut parents: Vec<&Path> = below.ancestors().skip(1).collect();
            parents.reverse();
            for parent in parents {
                self.load_parent(top, parent, below)?;
            }
        }
        // What is a folder matters only by its name.
        let is_settled = |found: &FileStamp| {
            found.kind == FileKind::Folder || found.is_settled(now, clock_margin)
        };
        let found = self.rules.files.iter().chain(&self.rules.places);
        let mut found = found.filter_map(|(_, stamp)| stamp.as_ref());
        let are_parents_settled =
            self.rules.parents.iter().all(|(_, stamp)| stamp.is_settled(now, clock_margin));
        self.rules.is_settled = are_parents_settled && found.all(is_settled);
        Ok(self.rules)
    }

    /// Adds the ignore files of `parent`, a path from the repository at `top`.
    fn load_parent(&mut self, top: &Path, parent: &Path, below: &Path) -> io::Result<()> {
        let folder = top.join(parent);
        // Before the files, so that one that comes meanwhile changes it.
        let stamp = find(self.file_api, &folder)?;
        let mut contents = Vec::new();
        for name in IGNORE_FILES {
            let Some(name_on_disk) = os_str(name) else { continue };
            let path = folder.join(name_on_disk);
            if stamp.is_none() || !is_absent(&path) {
                contents.extend(self.read_file(name, &path)?);
            }
        }
        self.rules.parents.extend(stamp.map(|stamp| (folder.clone(), stamp)));
        self.rules.folders.push(folder);
        let shown = "../".repeat(depth(below) - depth(parent));
        self.add_layer(&shown, &contents, with_slash(parent).len());
        Ok(())
    }

    /// Adds `info/exclude` of the repository at `top`, whose `.git` has the stamp `git`.
    fn load_exclude(&mut self, top: &Path, git: &FileStamp, below: &Path) -> io::Result<()> {
        let mut data = top.join(".git");
        // In a worktree and a submodule, `.git` is a file that leads to the folder.
        if git.kind != FileKind::Folder {
            let Some(folder) = self.follow_pointer(&data, top, b"gitdir:")? else { return Ok(()) };
            data = self.follow_pointer(&folder.join("commondir"), &folder, b"")?.unwrap_or(folder);
        }
        let info = data.join("info");
        let content = self.read_file(b".git/info/exclude", &info.join("exclude"))?;
        self.rules.folders.push(info);
        self.add_layer(&"../".repeat(depth(below)), content.as_slice(), 0);
        Ok(())
    }

    /// Reads the path that the file at `path` contains behind `label`, relative to `folder`.
    fn follow_pointer(
        &mut self,
        path: &Path,
        folder: &Path,
        label: &[u8],
    ) -> io::Result<Option<PathBuf>> {
        if self.find_place(path)?.is_none() {
            return Ok(None);
        }
        let Some(Ok(text)) = read_or_none(self.file_api, path, MAX_POINTER_BYTES)? else {
            return Ok(None);
        };
        let target = text.strip_prefix(label).map(<[u8]>::trim_ascii);
        let target = target.filter(|target| !target.is_empty() && !target.contains(&0));
        Ok(target.and_then(os_str).map(|target| folder.join(target)))
    }

    fn read_file(&mut self, name: &'static [u8], path: &Path) -> io::Result<Option<IgnoreFile>> {
        let found = find(self.file_api, path)?;
        self.rules.files.push((path.to_owned(), found));
        let content = match found {
            Some(found) if found.kind == FileKind::File => {
                read_or_none(self.file_api, path, MAX_IGNORE_FILE_BYTES)?
            }
            _ => None,
        };
        Ok(content.map(|content| (name, content)))
    }

    fn add_layer(&mut self, shown: &str, contents: &[IgnoreFile], offset: usize) {
        let fingerprint = self.hasher.hash_one((contents, &self.rules.prefix, offset));
        let kept = self.kept.iter().find(|layer| layer.fingerprint == fingerprint);
        let patterns = match kept {
            Some(layer) => Some(layer.patterns.clone()),
            None => parse_files(shown, contents).map(Arc::<IgnorePatterns>::new),
        };
        match patterns {
            Some(patterns) if patterns.is_empty() => {}
            Some(patterns) => self.rules.layers.push(RuleLayer { fingerprint, patterns, offset }),
            None => self.rules.is_over_bound = true,
        }
    }

    /// Finds what is at `path`, which tells where the repository is.
    fn find_place(&mut self, path: &Path) -> io::Result<Option<FileStamp>> {
        let found = find(self.file_api, path)?;
        self.rules.places.push((path.to_owned(), found));
        Ok(found)
    }
}

/// The stamp of what is at `path`, behind links; `None` if nothing is there that may be looked at.
fn find(file_api: FileApi, path: &Path) -> io::Result<Option<FileStamp>> {
    or_none(file_api.stat(path))
}

/// True if nothing is at `path`, not even a link that leads nowhere.
fn is_absent(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| is_not_found(&error))
}

fn read_or_none(
    file_api: FileApi,
    path: &Path,
    most: u64,
) -> io::Result<Option<Result<Vec<u8>, super::TooManyPatterns>>> {
    match read_small_file_above(file_api, path, most) {
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Ok(Some(Err(FILE_TOO_LARGE))),
        content => or_none(content.map(Ok)),
    }
}

/// A shortage of descriptors or memory stays an error: it must not reveal what a file hides.
fn or_none<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if is_not_found(&error) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        Err(error) => Err(error),
    }
}

/// True if the same is at each path as before.
fn are_unchanged(file_api: FileApi, found: &[FoundPath]) -> bool {
    found.iter().all(|(path, was)| match (was, find(file_api, path)) {
        (None, Ok(None)) => true,
        (Some(was), Ok(Some(now))) => is_same_version(was, &now),
        _ => false,
    })
}

/// True if `now` is what was found as `was`. A folder may have other content.
fn is_same_version(was: &FileStamp, now: &FileStamp) -> bool {
    let are_folders = was.kind == FileKind::Folder && now.kind == FileKind::Folder;
    was == now || are_folders && was.identity() == now.identity()
}

fn with_slash(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for name in path {
        bytes.extend_from_slice(name.as_encoded_bytes());
        bytes.push(b'/');
    }
    bytes
}

fn depth(path: &Path) -> usize {
    path.components().count()
}
