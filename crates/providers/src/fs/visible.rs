//! Ignore rules: which names in a folder are visible.
//!
//! Hides `.git` always, dot files unless the options show them, what the hide filter hides, and
//! what the ignore files from the root down exclude. The rules are git's, except that nothing
//! outside the root counts.

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::hash::BuildHasher as _;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::confine::{Handle, Root};
use super::fault::is_missing;
use super::options::Hide;
use super::path::Local;
use super::shelf::Shelf;
use super::stamp::{Kind, Stamp};

/// Names of ignore files. A line in a later one overrides the earlier ones.
pub(super) const FILES: [&[u8]; 3] = [b".gitignore", b".ignore", b".refdeskignore"];

/// Largest ignore file, in bytes. A folder with a larger one is not served.
const LONGEST_FILE: u64 = 1024 * 1024;

/// Cache of folders' ignore rules, valid until their files change.
pub(super) struct Rulebook {
    shelf: Shelf<Vec<u8>, Arc<Rules>>,
    marks: RandomState,
    margin: Duration,
}

/// The rules from one folder's own ignore files.
pub(super) struct Rules {
    /// Hash of the rules' text.
    id: u64,
    folder: Stamp,
    files: Vec<(&'static [u8], Stamp)>,
    settled: bool,
    globs: Option<Arc<Gitignore>>,
}

/// All rules that apply to the children of one folder.
#[derive(Clone, Default)]
pub(super) struct Sight {
    hidden: bool,
    hide: Option<Hide>,
    /// Outermost first, each with the number of path bytes before the part that it matches.
    rules: Vec<(Arc<Rules>, usize)>,
}

impl Rulebook {
    pub(super) fn new(margin: Duration) -> Self {
        Self { shelf: Shelf::new(16 * 1024), marks: RandomState::new(), margin }
    }

    /// Returns the rules of the folder at `path` itself.
    pub(super) fn rules(
        &self,
        root: &Root,
        (handle, path, stamp): (&Handle, &Local, &Stamp),
    ) -> io::Result<Arc<Rules>> {
        let kept = self.shelf.get(path.as_bytes());
        if let Some(rules) = &kept
            && rules.still_hold(handle, stamp)
        {
            return Ok(rules.clone());
        }
        let rules = self.read(root, (handle, path, stamp), kept.as_deref())?;
        let weight = if rules.globs.is_some() { 64 } else { 1 };
        self.shelf.keep(path.as_bytes(), rules.clone(), weight);
        Ok(rules)
    }

    fn read(
        &self,
        root: &Root,
        (handle, path, stamp): (&Handle, &Local, &Stamp),
        kept: Option<&Rules>,
    ) -> io::Result<Arc<Rules>> {
        let now = SystemTime::now();
        let mut settled = stamp.is_settled(now, self.margin);
        let mut files = Vec::new();
        let mut lines = Vec::new();
        for name in FILES {
            let file = match handle.stamp_of(name) {
                Ok(file) if file.kind == Kind::Folder => continue,
                Ok(file) => file,
                Err(error) if is_missing(&error) => continue,
                Err(error) => return Err(error),
            };
            // The target of a link can change while the link does not.
            settled &= file.kind == Kind::File && file.is_settled(now, self.margin);
            files.push((name, file));
            match root.small(&path.join(name), LONGEST_FILE) {
                Ok(content) => add_lines(&mut lines, &content),
                Err(error) if is_missing(&error) => settled = false,
                Err(error) => return Err(error),
            }
        }
        let id = self.marks.hash_one(&lines);
        let globs = match kept {
            Some(kept) if kept.id == id => kept.globs.clone(),
            _ => compile(&lines)?.map(Arc::new),
        };
        Ok(Arc::new(Rules { id, folder: *stamp, files, settled, globs }))
    }
}

impl Rules {
    /// True if any later change of the rules is certain to be noticed.
    pub(super) fn are_settled(&self) -> bool {
        self.settled
    }

    /// True if neither the folder nor any of its ignore files has changed.
    pub(super) fn still_hold(&self, handle: &Handle, folder: &Stamp) -> bool {
        let unchanged = |(name, stamp): &(&'static [u8], Stamp)| {
            handle.stamp_of(name).is_ok_and(|now| now == *stamp)
        };
        self.settled && self.folder == *folder && self.files.iter().all(unchanged)
    }
}

impl Sight {
    pub(super) fn new(hidden: bool, hide: Option<Hide>) -> Self {
        Self { hidden, hide, rules: Vec::new() }
    }

    /// The rules for the children of the folder at `path`, a child of this one, with its own
    /// `rules` added.
    pub(super) fn within(&self, path: &Local, rules: &Arc<Rules>) -> Self {
        let mut sight = self.clone();
        if rules.globs.is_some() {
            sight.rules.push((rules.clone(), path.prefix()));
        }
        sight
    }

    /// True if `path`, a child of the folder of these rules, is visible.
    pub(super) fn admits(&self, path: &[u8], is_folder: bool) -> bool {
        let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let name = &path[start..];
        if name.eq_ignore_ascii_case(b".git") || !self.hidden && name.starts_with(b".") {
            return false;
        }
        if self.hide.as_ref().is_some_and(|hide| hide(&String::from_utf8_lossy(path))) {
            return false;
        }
        for (rules, prefix) in self.rules.iter().rev() {
            let Some(globs) = &rules.globs else { continue };
            match globs.matched(Path::new(OsStr::from_bytes(&path[*prefix..])), is_folder) {
                Match::None => {}
                Match::Ignore(_) => return false,
                Match::Whitelist(_) => return true,
            }
        }
        true
    }

    /// Returns a fingerprint of the ignore rules.
    pub(super) fn id(&self) -> Vec<u64> {
        self.rules.iter().map(|(rules, _)| rules.id).collect()
    }

    /// True if `id` is the fingerprint of these rules.
    pub(super) fn has_id(&self, id: &[u64]) -> bool {
        self.rules.iter().map(|(rules, _)| &rules.id).eq(id)
    }
}

fn add_lines(lines: &mut Vec<String>, content: &[u8]) {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    let content = content.split(|byte| *byte == b'\n');
    lines.extend(content.map(|line| String::from_utf8_lossy(line).into_owned()));
}

fn compile(lines: &[String]) -> io::Result<Option<Gitignore>> {
    let mut globs = GitignoreBuilder::new("");
    for line in lines {
        // Skips a line that is not a pattern, as git does.
        if let Err(error) = globs.add_line(None, line) {
            tracing::debug!(%error, "skipped an invalid pattern in an ignore file");
        }
    }
    let globs = globs.build().map_err(io::Error::other)?;
    Ok((!globs.is_empty()).then_some(globs))
}
