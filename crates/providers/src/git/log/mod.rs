//! Histories: lists of commits in pages, and their first page as a document.

mod filter;
mod walk;

use std::sync::Arc;

use bytes::Bytes;
use gix::ObjectId;
use machinery::{Cache, CacheBounds, Packer, Unpacker};
use parking_lot::Mutex;
use resource::{Cursor, Error, Page, PageRequest, ReadRequest, Reading, Resource, Result, Uri};

use self::walk::LogWalk;
use super::commit_object::CommitNode;
use super::document::{DocumentFormat, MARKDOWN, declare_formats};
use super::error::not_found;
use super::files::NO_PATH;
use super::json::json_array;
use super::location::{Location, LogQuery, RevisionSpec};
use super::repository::GitSession;
use super::visibility::RevisionFolder;

/// How many commits a log shows when it is read.
pub(super) const READ_COMMITS: usize = 50;

/// How many commits one page looks at, if a filter shows few of them.
const MAX_LOOKED_AT: usize = 2_000;

/// Walks that stopped at the end of a page, by what they show and the last commit shown.
pub(super) struct LogCache(Cache<LogPosition, Arc<Mutex<Option<LogWalk>>>>);

/// A position in a history.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct LogPosition {
    query: LogQuery,
    tip: ObjectId,
    last: ObjectId,
    /// For whom the walk leaves commits out.
    viewer: Option<Arc<str>>,
}

impl Default for LogCache {
    fn default() -> Self {
        Self(Cache::new(CacheBounds { entries: 32, weight: 64 << 20, heaviest: 64 << 20 }))
    }
}

impl GitSession<'_> {
    /// The commit that a log begins with; `None` before the first commit.
    pub(super) fn log_tip(&self, revision: &RevisionSpec) -> Result<Option<(ObjectId, bool)>> {
        if revision.is_head() {
            return Ok(self.head_commit()?.map(|tip| (tip, false)));
        }
        self.resolve_commit(revision).map(Some)
    }

    /// Refuses the log of a path that the principal may not know of.
    fn check_log(&self, query: &LogQuery) -> Result<()> {
        let folder = RevisionFolder::whole(query.revision.clone());
        let is_known = query.path.is_root() || self.knows(&folder, query.path.as_bytes());
        is_known.then_some(()).ok_or_else(|| not_found(NO_PATH))
    }

    fn log_position(&self, query: &LogQuery, tip: ObjectId, last: ObjectId) -> LogPosition {
        let viewer = self.viewer.map(|viewer| Arc::clone(viewer.key()));
        LogPosition { query: query.clone(), tip, last, viewer }
    }

    /// Describes a log.
    pub(super) fn describe_log(&self, uri: &Uri, query: &LogQuery) -> Result<Resource> {
        self.check_log(query)?;
        let tip = self.log_tip(&query.revision)?;
        let mut resource = Resource::new(uri.clone(), "log");
        let of = self.revision_text(&query.revision);
        resource.title = Some(match query.path.is_root() {
            true => format!("History of {of}"),
            false => format!("History of {} at {of}", query.path.to_text()),
        });
        resource.description =
            Some("Commits, latest first: list them in pages, or read the first 50".to_owned());
        resource.listable = Some(true);
        resource.is_view = true;
        resource.immutable = tip.is_some_and(|(_, is_immutable)| is_immutable)
            && query.since.is_none()
            && query.until.is_none();
        resource.watchable = Some(self.git.is_watched && !resource.immutable);
        resource.etag = match tip {
            Some((tip, _)) if query.since.is_none() && query.until.is_none() => {
                Some(self.message_etag(&tip.to_string()))
            }
            _ => None,
        };
        declare_formats(&mut resource, MARKDOWN);
        Ok(resource)
    }

    /// Lists a page of the commits of a log.
    pub(super) fn list_log(
        &self,
        query: &LogQuery,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        self.check_log(query)?;
        let is_immutable = query.revision.full_hash().is_some();
        let freshness = self.git.freshness_of(is_immutable);
        let (tip, mut walk) = match &paging.cursor {
            Some(cursor) => {
                let (tip, last) = decode_cursor(cursor).ok_or_else(Error::bad_cursor)?;
                (tip, self.resume_walk(&self.log_position(query, tip, last))?)
            }
            None => match self.log_tip(&query.revision)? {
                Some((tip, _)) => (tip, LogWalk::new(self, query, tip)?),
                None => return Ok(Page::from_items(Vec::new(), freshness)),
            },
        };
        let mut items = Vec::new();
        let mut last = None;
        for _ in 0..MAX_LOOKED_AT {
            let Some(id) = walk.next(self)? else { break };
            let uri = Location::commit_uri(id)?;
            let resource = self.describe_shown_commit(&uri, (id, true))?;
            last = Some(id);
            if paging.shows(&resource) {
                items.push(Arc::new(resource));
            }
            if items.len() == paging.limit.max(1) {
                break;
            }
        }
        let has_more = walk.peek(self)?.is_some();
        let last = last.filter(|_| has_more);
        if let Some(last) = last {
            let weight = walk.weight();
            let key = self.log_position(query, tip, last);
            self.git.logs.0.insert(key, Arc::new(Mutex::new(Some(walk))), weight);
        }
        let next = last.map(|last| encode_cursor(tip, last));
        Ok(Page { next, ..Page::from_items(items, freshness) })
    }

    /// The walk that goes on after the last commit of a page.
    fn resume_walk(&self, position: &LogPosition) -> Result<LogWalk> {
        let kept = self.git.logs.0.get(position).and_then(|kept| kept.lock().take());
        if let Some(walk) = kept {
            return Ok(walk);
        }
        let mut walk =
            LogWalk::new(self, &position.query, position.tip).map_err(|_| Error::bad_cursor())?;
        while let Some(id) = walk.next(self)? {
            if id == position.last {
                return Ok(walk);
            }
        }
        Err(Error::bad_cursor())
    }

    /// The first commits of a log, at most this many.
    pub(super) fn log_commits(&self, query: &LogQuery, most: usize) -> Result<Vec<ObjectId>> {
        let mut commits = Vec::new();
        if let Some((tip, _)) = self.log_tip(&query.revision)? {
            let mut walk = LogWalk::new(self, query, tip)?;
            while commits.len() < most
                && let Some(id) = walk.next(self)?
            {
                commits.push(id);
            }
        }
        Ok(commits)
    }

    fn log_files_json(&self, node: &CommitNode) -> Result<String> {
        self.commit_files_json(node, &RevisionSpec::from_hash(node.id))
    }

    /// Reads the first commits of a log.
    pub(super) fn read_log(
        &self,
        uri: &Uri,
        query: &LogQuery,
        request: &ReadRequest,
    ) -> Result<Reading> {
        let described = self.describe_log(uri, query)?;
        let mut commits = Vec::new();
        let mut found = self.log_commits(query, READ_COMMITS + 1)?;
        let has_more = found.len() > READ_COMMITS;
        found.truncate(READ_COMMITS);
        for id in found {
            commits.push((self.commit(id)?, self.commit_text(id)?));
        }
        let title = described.title.clone().unwrap_or_default();
        self.read_document(&described, request, |format| {
            let mut text = format!("# {title}\n\n");
            match format {
                DocumentFormat::Json => {
                    let mut all = Vec::with_capacity(commits.len());
                    for (node, words) in &commits {
                        let files = query.files.then(|| self.log_files_json(node)).transpose()?;
                        all.push(words.to_json(node, files.as_deref()));
                    }
                    return Ok(json_array(all));
                }
                DocumentFormat::Text if commits.is_empty() => text.push_str("No commits.\n"),
                DocumentFormat::Text => {
                    for (node, words) in &commits {
                        text.push_str(&words.to_line(node));
                    }
                    if has_more {
                        text.push_str("\nThere are more: list this resource in pages.\n");
                    }
                }
            }
            Ok(text)
        })
    }
}

fn encode_cursor(tip: ObjectId, last: ObjectId) -> Cursor {
    let bytes = Packer::default().bytes(Some(tip.as_bytes())).bytes(Some(last.as_bytes()));
    Cursor(Bytes::from(bytes.finish()))
}

fn decode_cursor(cursor: &Cursor) -> Option<(ObjectId, ObjectId)> {
    let mut rest = Unpacker::new(&cursor.0);
    let tip = ObjectId::try_from(rest.bytes()??).ok()?;
    let last = ObjectId::try_from(rest.bytes()??).ok()?;
    rest.end()?;
    Some((tip, last))
}

#[cfg(test)]
mod tests;
