//! Ignore rules: which names in a folder are visible.
//!
//! Hides `.git` always, dot files unless the options show them, what the hide filter hides, and
//! what the ignore files of the repository exclude. The rules are git's.

mod parent_rules;
mod patterns;
mod wildmatch;

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use machinery::{Cache, CacheBounds};

use super::confine::RootDir;
use super::error::is_not_found;
use super::options::HideFilter;
use super::path::LocalPath;
use super::platform::DirHandle;
use super::root::FsRoot;
use super::stamp::{FileKind, FileStamp};
pub(super) use parent_rules::{ParentRules, ParentRulesCache};
use patterns::{IgnorePatterns, TooManyPatterns, Verdict};

/// Names of ignore files. A line in a later one overrides the earlier ones.
pub(super) const IGNORE_FILES: [&[u8]; 3] = [b".gitignore", b".ignore", b".refdeskignore"];

/// Largest ignore file, in bytes. A folder with a larger one is not served.
const MAX_IGNORE_FILE_BYTES: u64 = 1024 * 1024;

/// Steps that the wildcards of all rules may take to judge one name: about two milliseconds. A name
/// that takes more is not served.
const MAX_STEPS_PER_NAME: u64 = 1 << 20;

/// The bound that a larger one exceeds.
const FILE_TOO_LARGE: TooManyPatterns = TooManyPatterns("the file is larger than 1 MiB");

/// Bounds of the cache. A folder without ignore files weighs one.
const CACHE_BOUNDS: CacheBounds = CacheBounds::weight(16 * 1024);

/// Cache of folders' ignore rules, valid until their files change.
pub(super) struct IgnoreRulesCache {
    cache: Cache<Vec<u8>, Arc<IgnoreRules>>,
    hasher: RandomState,
    clock_margin: Duration,
}

/// The rules from one folder's own ignore files.
pub(super) struct IgnoreRules {
    /// Hash of the rules' text.
    fingerprint: u64,
    folder_stamp: FileStamp,
    files: Vec<(&'static [u8], FileStamp)>,
    settled: bool,
    /// `None` if they are over a bound: then the folder is not served, because what they hide is
    /// unknown.
    patterns: Option<Arc<IgnorePatterns>>,
}

/// An ignore file: its name, and its text unless it is too large.
type IgnoreFile = (&'static [u8], Result<Vec<u8>, TooManyPatterns>);

/// All rules that apply to the children of one folder.
#[derive(Clone, Default)]
pub(super) struct Visibility {
    hidden: bool,
    ignore_files: bool,
    hide: Option<HideFilter>,
    /// Path of the root below its repository, with a slash behind; empty if no rules lie above.
    prefix: Arc<[u8]>,
    /// Outermost first.
    layers: Vec<RuleLayer>,
}

/// The patterns of one folder that apply to the children of another.
#[derive(Clone)]
struct RuleLayer {
    fingerprint: u64,
    patterns: Arc<IgnorePatterns>,
    /// How many bytes of prefix and path come before the part that the patterns match.
    offset: usize,
}

impl IgnoreRulesCache {
    pub(super) fn new(clock_margin: Duration) -> Self {
        Self { cache: Cache::new(CACHE_BOUNDS), hasher: RandomState::new(), clock_margin }
    }

    /// Returns the rules of the folder at `path` itself.
    pub(super) fn rules_of(
        &self,
        root: &RootDir,
        (handle, path, stamp): (&DirHandle, &LocalPath, &FileStamp),
    ) -> io::Result<Arc<IgnoreRules>> {
        let kept = self.cache.get(path.as_bytes());
        if let Some(rules) = &kept
            && rules.is_current(handle, stamp)
        {
            return rules.clone().within_bounds();
        }
        let rules = self.load_rules(root, (handle, path, stamp), kept.as_deref())?;
        let weight = 1 + rules.patterns.as_ref().map_or(0, |patterns| patterns.weight());
        self.cache.insert(path.as_bytes().to_vec(), rules.clone(), weight);
        rules.within_bounds()
    }

    fn load_rules(
        &self,
        root: &RootDir,
        (handle, path, stamp): (&DirHandle, &LocalPath, &FileStamp),
        kept: Option<&IgnoreRules>,
    ) -> io::Result<Arc<IgnoreRules>> {
        let now = SystemTime::now();
        let mut settled = stamp.is_settled(now, self.clock_margin);
        let mut files = Vec::new();
        let mut contents: Vec<IgnoreFile> = Vec::new();
        for name in IGNORE_FILES {
            let file = match handle.stat_child(name) {
                Ok(file) if file.kind == FileKind::Folder => continue,
                Ok(file) => file,
                Err(error) if is_not_found(&error) => continue,
                Err(error) => return Err(error),
            };
            // The target of a link can change while the link does not.
            settled &= file.kind == FileKind::File && file.is_settled(now, self.clock_margin);
            files.push((name, file));
            match root.read_small_file(&path.join(name), MAX_IGNORE_FILE_BYTES) {
                Ok(content) => contents.push((name, Ok(content))),
                Err(error) if is_not_found(&error) => settled = false,
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    contents.push((name, Err(FILE_TOO_LARGE)));
                }
                Err(error) => return Err(error),
            }
        }
        let id = self.hasher.hash_one(&contents);
        let patterns = match kept {
            Some(kept) if kept.fingerprint == id => kept.patterns.clone(),
            _ => {
                let folder = path.join(b"");
                let folder = String::from_utf8_lossy(folder.as_bytes());
                parse_files(&folder, &contents).map(Arc::new)
            }
        };
        Ok(Arc::new(IgnoreRules {
            fingerprint: id,
            folder_stamp: *stamp,
            files,
            settled,
            patterns,
        }))
    }
}

impl IgnoreRules {
    fn within_bounds(self: Arc<Self>) -> io::Result<Arc<Self>> {
        if self.patterns.is_none() {
            return Err(over_bound());
        }
        Ok(self)
    }

    /// True if any later change of the rules is certain to be noticed.
    pub(super) fn is_settled(&self) -> bool {
        self.settled
    }

    /// True if neither the folder nor any of its ignore files has changed.
    pub(super) fn is_current(&self, handle: &DirHandle, folder: &FileStamp) -> bool {
        let unchanged = |(name, stamp): &(&'static [u8], FileStamp)| {
            handle.stat_child(name).is_ok_and(|now| now == *stamp)
        };
        self.settled && self.folder_stamp == *folder && self.files.iter().all(unchanged)
    }
}

impl Visibility {
    /// What applies to the root before its own ignore files.
    pub(super) fn new(root: &FsRoot, above: &ParentRules) -> Self {
        let (prefix, layers) = (above.prefix.clone(), above.layers.clone());
        let FsRoot { hidden, ignore_files, hide, .. } = root;
        Self { hidden: *hidden, ignore_files: *ignore_files, hide: hide.clone(), prefix, layers }
    }

    /// The rules for the children of the folder at `path`, a child of this one, with its own
    /// `rules` added.
    pub(super) fn for_subfolder(&self, path: &LocalPath, rules: &IgnoreRules) -> Self {
        let mut sight = self.clone();
        if let Some(patterns) = rules.patterns.as_ref().filter(|patterns| !patterns.is_empty()) {
            sight.layers.push(RuleLayer {
                fingerprint: rules.fingerprint,
                patterns: patterns.clone(),
                offset: self.prefix.len() + path.child_name_offset(),
            });
        }
        sight
    }

    /// True if `path`, a child of the folder of these rules, is visible.
    pub(super) fn is_visible(&self, path: &[u8], is_folder: bool) -> bool {
        let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let name = &path[start..];
        if name.eq_ignore_ascii_case(b".git") || !self.hidden && name.starts_with(b".") {
            return false;
        }
        if self.hide.as_ref().is_some_and(|hide| hide(&String::from_utf8_lossy(path))) {
            return false;
        }
        if !self.ignore_files {
            return true;
        }
        let from_repository = match &*self.prefix {
            [] => Cow::Borrowed(path),
            prefix => Cow::Owned([prefix, path].concat()),
        };
        let mut steps = MAX_STEPS_PER_NAME;
        let verdict = self.layers.iter().rev().find_map(|layer| {
            layer.patterns.verdict(&from_repository[layer.offset..], is_folder, &mut steps)
        });
        if steps == 0 {
            let path = String::from_utf8_lossy(path);
            tracing::warn!("the ignore rules need too many steps for {path:?}; it is not served");
        }
        verdict != Some(Verdict::Ignored)
    }

    /// Returns a fingerprint of the ignore rules.
    pub(super) fn fingerprint(&self) -> Vec<u64> {
        self.layers.iter().map(|layer| layer.fingerprint).collect()
    }

    /// True if `id` is the fingerprint of these rules.
    pub(super) fn has_fingerprint(&self, id: &[u64]) -> bool {
        self.layers.iter().map(|layer| &layer.fingerprint).eq(id)
    }
}

/// Parses the ignore files of `folder`, in their order. Logs which one is over which bound.
fn parse_files(folder: &str, contents: &[IgnoreFile]) -> Option<IgnorePatterns> {
    let mut patterns = IgnorePatterns::default();
    for (name, content) in contents {
        let added = content.as_ref().map_err(|bound| *bound);
        if let Err(TooManyPatterns(bound)) = added.and_then(|text| patterns.add_file(text)) {
            let file = format!("{folder}{}", String::from_utf8_lossy(name));
            tracing::warn!(
                "the ignore file {file} is over a bound: {bound}; its folder is not served"
            );
            return None;
        }
    }
    Some(patterns)
}

/// The error for a folder whose ignore files are over a bound.
fn over_bound() -> io::Error {
    io::Error::other("an ignore file is over a bound; see the warning")
}
