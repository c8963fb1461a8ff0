//! The repository itself: the collections at its top.

use std::sync::Arc;

use bytes::Bytes;
use resource::{Cursor, Error, ErrorKind, Page, PageRequest, Resource, Result, Uri};

use super::location::{Location, ROOT_URI, RevisionSpec};
use super::repo_path::RepoPath;
use super::repository::GitSession;

impl GitSession<'_> {
    /// Describes the repository.
    pub(super) fn describe_root(&self, uri: &Uri) -> Resource {
        let mut resource = Resource::new(uri.clone(), "git");
        resource.title = Some("Git repository".to_owned());
        let told = "HEAD, refs, log and status; any revision by name, as in v1.2/src";
        resource.description = Some(told.to_owned());
        resource.listable = Some(true);
        resource.watchable = Some(self.git.is_watched);
        resource.mime = Some("inode/directory".to_owned());
        resource
    }

    /// Lists the collections at the top.
    pub(super) fn list_root(&self, paging: &PageRequest) -> Result<Page<Resource>> {
        let mut names = vec!["refs", "log"];
        if self.head_commit()?.is_some() {
            names.insert(0, "HEAD");
        }
        if self.repo.workdir().is_some() {
            names.extend(["status", "diff/worktree"]);
        }
        let start = match &paging.cursor {
            None => 0,
            Some(cursor) => {
                let at = names.iter().position(|name| name.as_bytes() == cursor.0);
                at.ok_or_else(Error::bad_cursor)? + 1
            }
        };
        let (mut items, mut next) = (Vec::new(), None);
        for (at, name) in names.iter().enumerate().skip(start) {
            let uri = Uri::parse(&format!("{ROOT_URI}{name}"))?;
            match self.describe_location(&uri, &Location::parse(&uri)?) {
                Ok(resource) if paging.shows(&resource) => items.push(resource),
                Ok(_) => {}
                // The rules may keep it from the principal.
                Err(error) if self.is_restricted() && error.kind == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            if items.len() == paging.limit.max(1) && at + 1 < names.len() {
                next = Some(Cursor(Bytes::from_static(name.as_bytes())));
                break;
            }
        }
        Ok(Page { next, ..Page::from_items(items, self.git.freshness) })
    }

    /// Describes what a URI names.
    pub(super) fn describe_location(
        &self,
        uri: &Uri,
        location: &Location,
    ) -> Result<Arc<Resource>> {
        Ok(match location {
            Location::Root => Arc::new(self.describe_root(uri)),
            Location::Refs => Arc::new(self.describe_refs(uri)?),
            Location::Log(query) => Arc::new(self.describe_log(uri, query)?),
            Location::Status => Arc::new(self.describe_status(uri)?),
            Location::Commit(revision) => Arc::new(self.describe_commit(uri, revision)?),
            Location::Diff { range, path } => Arc::new(self.describe_diff(uri, range, path)?),
            Location::Blame { revision, path } => {
                Arc::new(self.describe_blame(uri, revision, path)?)
            }
            Location::Tree { revision, path, requires_folder } => {
                let place = self.find_tree_place(revision, path, *requires_folder)?;
                self.describe(uri, &place)?
            }
        })
    }

    /// Finds a file or folder; a URI that ends in a slash names only folders.
    pub(super) fn find_tree_place(
        &self,
        revision: &RevisionSpec,
        path: &RepoPath,
        requires_folder: bool,
    ) -> Result<super::describe::TreePlace> {
        let place = self.find_place(revision, path)?;
        match requires_folder && !place.is_folder() {
            true => Err(super::error::not_found("the path is no folder")),
            false => Ok(place),
        }
    }
}
