//! Provider that serves a git repository: its revisions, history, diffs, blame and status.
//!
//! A URI is `git:///` and a revision with a path, or one of `refs`, `log`, `status`, `commit`,
//! `diff` and `blame`. Only this module names gix. Nothing runs a program or writes a file.

mod blame;
mod blob;
mod changed_file;
mod commit;
mod commit_object;
mod content;
mod date_queue;
mod describe;
mod diff;
mod document;
mod error;
mod files;
mod hostile;
mod json;
mod large_file;
mod large_reader;
mod lfs;
mod location;
mod log;
mod message_search;
mod open;
mod options;
mod read_cache;
mod recent;
mod ref_stamp;
mod refs;
mod regular_files;
mod renames;
mod repo_path;
mod repository;
mod revision;
mod root;
mod similarity;
mod status;
mod templates;
mod tree;
mod tree_changes;
mod unified;
mod visibility;
mod watch;
mod worktree;

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Complete, Completion, CompletionRequest, Content, Context, Cursor, Error, Facets, Items, Page,
    PageRequest, Provider, ReadRequest, Reading, Resource, Result, Template, Uri,
};

use self::error::not_found;
use self::files::NO_PATH;
use self::location::Location;
use self::repository::{GitRepository, GitSession};

pub use self::open::{RepositoryFault, find_repository};
pub use self::options::{DEFAULT_POLL_INTERVAL, Options, WatchMode};
pub use self::visibility::{FileMethod, FileVisibility};

/// Serves one repository.
pub struct Git {
    repository: Arc<GitRepository>,
}

impl Git {
    /// Opens the repository.
    pub fn open(options: &Options) -> Result<Self, RepositoryFault> {
        Ok(Self { repository: Arc::new(GitRepository::open(options)?) })
    }

    fn parse(&self, uri: &Uri) -> Result<Location> {
        match uri.as_str().len() <= self.repository.max_uri {
            true => Location::parse(uri),
            false => Err(Error::not_found(uri)),
        }
    }

    /// Runs `job` on a blocking thread; its errors are about `uri`.
    async fn run<T: Send + 'static>(
        &self,
        ctx: &Context,
        uri: Option<&Uri>,
        job: impl FnOnce(&GitSession<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let done = self.repository.run(ctx.principal(), job).await;
        done.map_err(|error| match uri {
            Some(uri) if error.uri.is_none() => error.about(uri),
            _ => error,
        })
    }
}

#[async_trait]
impl Provider for Git {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let location = parent.map_or(Ok(Location::Root), |uri| self.parse(uri))?;
        let paging = paging.clone();
        let job = move |session: &GitSession<'_>| session.list_location(&location, &paging);
        self.run(ctx, parent, job).await
    }

    async fn templates(&self, _: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        let all = templates::all_templates()?;
        let start = match &paging.cursor {
            None => 0,
            Some(cursor) => {
                let at = all.iter().position(|template| template.name.as_bytes() == cursor.0);
                at.ok_or_else(Error::bad_cursor)? + 1
            }
        };
        let end = start.saturating_add(paging.limit.max(1)).min(all.len());
        let last = || Cursor(all[end - 1].name.clone().into());
        let next = (end < all.len()).then(last);
        let items: Items<_> = all[start..end].iter().cloned().map(Arc::new).collect();
        Ok(Page { next, ..Page::from_items(items, self.repository.freshness) })
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        let (location, named) = (self.parse(uri)?, uri.clone());
        let job = move |session: &GitSession<'_>| session.describe_location(&named, &location);
        self.run(ctx, Some(uri), job).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        // The cache does not know the path that a revision names, which is judged.
        let is_open = self.repository.viewer(ctx.principal()).is_none();
        if let Some(file) = self.repository.read_cache.get(uri).filter(|_| is_open) {
            let part = file.part(&request.window).map_err(|error| error.about(uri))?;
            let mut parts = vec![part];
            let total_parts = request.select(&mut parts, |part| part.resource.mime.as_deref())?;
            let freshness = self.repository.freshness_of(file.resource.immutable);
            return Ok(Reading { total_parts, ..Reading::new(Content::Parts(parts), freshness) });
        }
        let (location, named, request) = (self.parse(uri)?, uri.clone(), request.clone());
        let job =
            move |session: &GitSession<'_>| session.read_location(&named, &location, &request);
        self.run(ctx, Some(uri), job).await
    }

    fn facets(&self) -> Facets<'_> {
        let watch = self.repository.is_watched.then_some(self as _);
        Facets { watch, complete: Some(self), health: Some(self), ..Facets::default() }
    }
}

#[async_trait]
impl Complete for Git {
    fn may_complete(&self, _: &Context) -> bool {
        true
    }

    async fn complete(&self, ctx: &Context, request: &CompletionRequest<'_>) -> Result<Completion> {
        let request = templates::GitCompletion::new(request)?;
        self.run(ctx, None, move |session| session.complete(&request)).await
    }
}

impl GitSession<'_> {
    fn list_location(&self, location: &Location, paging: &PageRequest) -> Result<Page<Resource>> {
        match location {
            Location::Root => self.list_root(paging),
            Location::Refs => self.list_refs(paging),
            Location::Log(query) => self.list_log(query, paging),
            Location::Tree { revision, path, requires_folder } => {
                let place = self.find_tree_place(revision, path, *requires_folder)?;
                self.list_folder(&place, paging)
            }
            Location::Status
            | Location::Commit(_)
            | Location::Diff { .. }
            | Location::Blame { .. } => {
                let uri = Uri::parse(location::ROOT_URI)?;
                // Whether it exists comes before whether it has members.
                self.describe_location(&uri, location)?;
                Err(Error::invalid("a document has no members; read it"))
            }
        }
    }

    fn read_location(
        &self,
        uri: &Uri,
        location: &Location,
        request: &ReadRequest,
    ) -> Result<Reading> {
        match location {
            Location::Root => {
                let root = Arc::new(self.describe_root(uri));
                Ok(Reading::new(Content::Collection(root), self.git.freshness))
            }
            Location::Refs => self.read_refs(uri, request),
            Location::Log(query) => self.read_log(uri, query, request),
            Location::Status => self.read_status(uri, request),
            Location::Commit(revision) => self.read_commit(uri, revision, request),
            Location::Diff { range, path } => self.read_diff(uri, (range, path), request),
            Location::Blame { revision, path } => self.read_blame(uri, (revision, path), request),
            Location::Tree { revision, path, requires_folder } => {
                let place = self.find_tree_place(revision, path, *requires_folder)?;
                if !self.may_read(&place.revision_folder, place.path.as_bytes()) {
                    return Err(not_found(NO_PATH));
                }
                self.read_place(uri, &place, request)
            }
        }
    }
}

#[cfg(test)]
mod tests;
