//! Locations in a repository, and their conversion from and to `git:` URIs.

use resource::uri::{encode_segment, percent_decode, percent_decode_lossy};
use resource::{Error, Result, Uri};

use super::repo_path::RepoPath;

/// URI of the root and prefix of all others.
pub(super) const ROOT_URI: &str = "git:///";

/// First segments that are no revisions.
const RESERVED: [&str; 6] = ["log", "refs", "status", "commit", "diff", "blame"];

/// Longest revision, in bytes.
const MAX_REVISION_BYTES: usize = 1024;

/// What a URI names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Location {
    /// The repository.
    Root,
    /// Its references.
    Refs,
    /// A history.
    Log(LogQuery),
    /// The state of the worktree.
    Status,
    /// One commit.
    Commit(RevisionSpec),
    /// The changes between two trees.
    Diff {
        /// The trees.
        range: DiffRange,
        /// The file or folder that the changes are of.
        path: RepoPath,
    },
    /// The origin of each line of a file.
    Blame {
        /// The revision.
        revision: RevisionSpec,
        /// The file.
        path: RepoPath,
    },
    /// A file or folder at a revision.
    Tree {
        /// The revision.
        revision: RevisionSpec,
        /// The path in its tree.
        path: RepoPath,
        /// True if the URI ends in a slash, so that only a folder matches.
        requires_folder: bool,
    },
}

/// A revision as a client wrote it, such as `main`, `HEAD~3` or a hash.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct RevisionSpec(Vec<u8>);

/// Which trees a diff compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DiffRange {
    /// `a..b`.
    Between(RevisionSpec, RevisionSpec),
    /// `a...b`: from the merge base of both.
    SinceMergeBase(RevisionSpec, RevisionSpec),
    /// `HEAD` and the worktree.
    Worktree,
}

/// Which commits a log shows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LogQuery {
    pub(super) revision: RevisionSpec,
    pub(super) path: RepoPath,
    /// Part of the author's name or address, in any case.
    pub(super) author: Option<String>,
    /// The earliest and the latest committer date, as written.
    pub(super) since: Option<String>,
    pub(super) until: Option<String>,
    /// Part of the message, in any case.
    pub(super) grep: Option<String>,
    /// Whether the history goes on under earlier names of the file.
    pub(super) follow: bool,
    /// Whether the JSON of a commit has its files.
    pub(super) files: bool,
}

impl RevisionSpec {
    /// The revision `bytes`; `None` if no revision is written so.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let fits = !bytes.is_empty() && bytes.len() <= MAX_REVISION_BYTES;
        (fits && !bytes.iter().any(|byte| *byte < b' ' || *byte == 0x7f))
            .then(|| Self(bytes.to_vec()))
    }

    /// The checked-out commit.
    pub(super) fn head() -> Self {
        Self(b"HEAD".to_vec())
    }

    /// Whether it is written as the checked-out commit.
    pub(super) fn is_head(&self) -> bool {
        self.0 == b"HEAD"
    }

    pub(super) fn from_hash(hash: gix::ObjectId) -> Self {
        Self(hash.to_string().into_bytes())
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path that the revision itself names, as in `HEAD:src/main.rs`.
    pub(super) fn inner_path(&self) -> Option<&[u8]> {
        self.split_path().map(|(_, path)| path)
    }

    /// The revision before the path that this one names, and the path. The revision is empty if the
    /// path is one of the index, as in `:src/main.rs`.
    pub(super) fn split_path(&self) -> Option<(&[u8], &[u8])> {
        let (mut depth, mut at) = (0_usize, 0);
        match self.0[..] {
            // A search of messages.
            [b':', b'/', ..] => return None,
            [b':', b'0'..=b'3', b':', ref path @ ..] | [b':', ref path @ ..] => {
                return Some((b"", path));
            }
            _ => {}
        }
        while let Some(byte) = self.0.get(at) {
            // A colon in braces is one of a time or a search, as in `main@{12:30}`.
            match byte {
                b'\\' if depth > 0 => at += 1,
                b'{' if depth > 0 || self.0[..at].ends_with(b"@") => depth += 1,
                b'{' if self.0[..at].ends_with(b"^") => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                b':' if depth == 0 => return Some((&self.0[..at], &self.0[at + 1..])),
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// The object that a full hash names.
    pub(super) fn full_hash(&self) -> Option<gix::ObjectId> {
        gix::ObjectId::from_hex(&self.0).ok()
    }

    /// The segment of URIs that names the revision, however the first segment is read.
    fn push_segment(&self, into: &mut String) {
        encode_segment(&self.0, into);
    }

    /// Whether the first segment of a URI would not be read as this revision.
    pub(super) fn is_reserved(&self) -> bool {
        RESERVED.iter().any(|name| name.as_bytes() == self.0)
    }
}

impl LogQuery {
    /// Everything that `revision` has of `path`.
    pub(super) fn new(revision: RevisionSpec, path: RepoPath) -> Self {
        let (author, since, until, grep) = (None, None, None, None);
        Self { revision, path, author, since, until, grep, follow: false, files: false }
    }

    /// Takes the conditions from the query of a URI.
    fn read_conditions(&mut self, query: &str) -> Result<()> {
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = percent_decode_lossy(value).into_owned();
            let slot = match name {
                "author" => &mut self.author,
                "since" => &mut self.since,
                "until" => &mut self.until,
                "grep" => &mut self.grep,
                "follow" | "files" => {
                    let flag = if name == "follow" { &mut self.follow } else { &mut self.files };
                    *flag = match value.as_str() {
                        "true" => true,
                        "false" | "" => false,
                        _ => return Err(Error::invalid(format!("{name} must be true or false"))),
                    };
                    continue;
                }
                _ => {
                    let known = "author, since, until, grep, follow, files";
                    return Err(Error::invalid(format!("a log has the conditions {known}")));
                }
            };
            *slot = Some(value).filter(|value| !value.is_empty());
        }
        Ok(())
    }
}

impl Location {
    /// Parses a local URI.
    pub(super) fn parse(uri: &Uri) -> Result<Self> {
        let missing = || Error::not_found(uri);
        let rest = uri.as_str().strip_prefix(ROOT_URI).ok_or_else(missing)?;
        if rest.contains('#') {
            return Err(missing());
        }
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let mut location = Self::parse_path(rest).ok_or_else(missing)?;
        match (&mut location, query) {
            (_, None) => {}
            (Self::Log(log), Some(query)) => {
                log.read_conditions(query).map_err(|error| error.about(uri))?;
            }
            _ => return Err(missing()),
        }
        Ok(location)
    }

    fn parse_path(rest: &str) -> Option<Self> {
        if rest.is_empty() {
            return Some(Self::Root);
        }
        let (first, after) = rest.split_once('/').unwrap_or((rest, ""));
        let has_more = !after.is_empty();
        match first {
            "refs" => (!has_more).then_some(Self::Refs),
            "status" => (!has_more).then_some(Self::Status),
            "log" => {
                let (revision, path) = match has_more {
                    true => split_revision(after)?,
                    false => (RevisionSpec::head(), RepoPath::default()),
                };
                Some(Self::Log(LogQuery::new(revision, path)))
            }
            "commit" => {
                let (revision, path) = split_revision(after)?;
                path.is_root().then_some(Self::Commit(revision))
            }
            "blame" => {
                let (revision, path) = split_revision(after)?;
                (!path.is_root()).then_some(Self::Blame { revision, path })
            }
            "diff" => {
                let (range, path) = split_first(after)?;
                Some(Self::Diff { range: DiffRange::parse(&range)?, path })
            }
            _ => {
                let (revision, path) = split_revision(rest)?;
                let requires_folder = rest.ends_with('/');
                Some(Self::Tree { revision, path, requires_folder })
            }
        }
    }

    /// The URI of a path at a revision.
    pub(super) fn tree_uri(revision: &RevisionSpec, path: &RepoPath) -> Result<Uri> {
        let full = [b"refs/heads/", &revision.0[..]].concat();
        let named = RevisionSpec(full);
        let revision = if revision.is_reserved() { &named } else { revision };
        build_uri("", Some(revision), path)
    }

    /// The URI of a commit.
    pub(super) fn commit_uri(hash: gix::ObjectId) -> Result<Uri> {
        build_uri("commit/", Some(&RevisionSpec::from_hash(hash)), &RepoPath::default())
    }
}

impl DiffRange {
    fn parse(text: &[u8]) -> Option<Self> {
        let split = |dots: &str| {
            let at = text.windows(dots.len()).position(|part| part == dots.as_bytes())?;
            let end = |part: &[u8]| match part {
                [] => Some(RevisionSpec::head()),
                part => RevisionSpec::parse(part),
            };
            Some((end(&text[..at])?, end(&text[at + dots.len()..])?))
        };
        if text == b"worktree" {
            return Some(Self::Worktree);
        }
        if let Some((from, to)) = split("...") {
            return Some(Self::SinceMergeBase(from, to));
        }
        split("..").map(|(from, to)| Self::Between(from, to))
    }
}

/// Parses `<revision>[/<path>]`.
fn split_revision(text: &str) -> Option<(RevisionSpec, RepoPath)> {
    let (first, path) = split_first(text)?;
    Some((RevisionSpec::parse(&first)?, path))
}

/// Parses `<segment>[/<path>]`.
fn split_first(text: &str) -> Option<(Vec<u8>, RepoPath)> {
    let (first, rest) = text.split_once('/').unwrap_or((text, ""));
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let mut path = RepoPath::default();
    if !rest.is_empty() {
        for segment in rest.split('/') {
            let name = percent_decode(segment);
            if name.contains(&b'/') {
                return None;
            }
            path = RepoPath::parse(path.join(&name).as_bytes())?;
        }
    }
    Some((percent_decode(first).into_owned(), path))
}

fn build_uri(prefix: &str, revision: Option<&RevisionSpec>, path: &RepoPath) -> Result<Uri> {
    let mut text = format!("{ROOT_URI}{prefix}");
    if let Some(revision) = revision {
        revision.push_segment(&mut text);
    }
    for name in path.names() {
        text.push('/');
        encode_segment(name, &mut text);
    }
    Uri::parse(&text)
}

#[cfg(test)]
mod tests;
