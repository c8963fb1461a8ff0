//! Watches references, the index and the worktree, and reports what hangs on them.
//!
//! An event only says that something may have changed. A change is reported if a read would return
//! something else, so that packing references or objects is silent.

mod folders;
mod worktree_folders;

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_core::Stream;
use resource::{
    Change, Context, Error, ErrorKind, Health, HealthStatus, Interest, PageRequest, Result, Uri,
    Watch,
};

use self::folders::WatchedFolders;
pub(super) use self::worktree_folders::MAX_WORKTREE_FOLDERS;
use self::worktree_folders::depends_on_worktree;
use super::Git;
use super::location::{DiffRange, Location, ROOT_URI};
use super::log::READ_COMMITS;
use super::repository::{GitRepository, GitSession};
use super::visibility::FileViewer;
use crate::file_watch::{
    ChangeSender, DirtySet, RescanLoop, RescanOutcome, Rescanner, ScanRest, subscribe,
};

/// How many members of a collection are compared.
const MAX_MEMBERS: usize = 20_000;

/// The last known state of one subscriber.
pub(super) struct GitWatchState {
    target: WatchTarget,
    /// The subscriber, if rules may keep something from it.
    viewer: Option<FileViewer>,
    folders: WatchedFolders,
    version: Option<WatchedVersion>,
    worktree: WorktreeDebounce,
}

/// When the worktree is looked at after a change in it: not at once, because a program that changes
/// one file is likely to change more, and not so often that it takes most of the time.
#[derive(Default, Clone, Copy)]
struct WorktreeDebounce {
    is_due: bool,
    rest: ScanRest,
}

/// What a subscriber watches.
#[derive(Clone)]
enum WatchTarget {
    Resource(Uri, Location),
    Listing,
}

/// What a read would return, as far as it can be compared.
#[derive(Debug, Default, PartialEq, Eq)]
struct WatchedVersion {
    own: String,
    members: BTreeMap<Uri, String>,
}

impl GitSession<'_> {
    fn watched_version(&self, target: &WatchTarget) -> Result<WatchedVersion> {
        let (own, members) = match target {
            WatchTarget::Listing => {
                let mut names: Vec<Vec<u8>> =
                    self.references()?.into_iter().map(|one| one.name).collect();
                names.push(self.head_commit()?.map_or(b"unborn".to_vec(), |_| b"born".to_vec()));
                (blake3::hash(&names.join(&b'\n')).to_hex().to_string(), BTreeMap::new())
            }
            WatchTarget::Resource(_, location) => {
                (self.own_version(location)?, self.member_versions(location)?)
            }
        };
        Ok(WatchedVersion { own, members })
    }

    pub(super) fn own_version(&self, location: &Location) -> Result<String> {
        let is_worktree = matches!(
            location,
            Location::Status | Location::Diff { range: DiffRange::Worktree, .. }
        );
        if is_worktree {
            let head = self.head_commit()?.map(|id| id.to_string()).unwrap_or_default();
            let files = self.status_files()?;
            let mut hasher = blake3::Hasher::new();
            hasher.update(format!("{head} {files:?}").as_bytes());
            if *location != Location::Status {
                files.iter().for_each(|file| self.hash_worktree_file(&file.path, &mut hasher));
            }
            return Ok(hasher.finalize().to_hex().to_string());
        }
        match location {
            Location::Root => Ok(String::new()),
            Location::Log(query) if self.is_restricted() => {
                Ok(format!("{:?}", self.log_commits(query, READ_COMMITS + 1)?))
            }
            Location::Log(query) => {
                let tip = self.log_tip(&query.revision)?;
                Ok(tip.map(|(tip, _)| tip.to_string()).unwrap_or_default())
            }
            Location::Tree { revision, path, requires_folder } => {
                let place = self.find_tree_place(revision, path, *requires_folder)?;
                Ok(format!("{:?} {}", place.entry.kind, place.entry.id))
            }
            other => {
                let uri = Uri::parse(ROOT_URI)?;
                Ok(self.describe_location(&uri, other)?.etag.clone().unwrap_or_default())
            }
        }
    }

    /// Adds the version of a changed file of the worktree, whose letters stay the same with every
    /// further change.
    fn hash_worktree_file(&self, path: &[u8], hasher: &mut blake3::Hasher) {
        let Some(root) = self.repo.workdir() else { return };
        let path = root.join(std::ffi::OsStr::from_bytes(path));
        let Ok(data) = std::fs::symlink_metadata(&path) else { return };
        let modified = data.modified().ok();
        hasher.update(format!("{} {modified:?} {:?}", data.len(), data.ino()).as_bytes());
    }

    /// The versions of the direct members of a collection.
    fn member_versions(&self, location: &Location) -> Result<BTreeMap<Uri, String>> {
        let mut members = BTreeMap::new();
        match location {
            Location::Tree { revision, path, requires_folder } => {
                let place = self.find_tree_place(revision, path, *requires_folder)?;
                if place.is_folder() {
                    let mut entries = self.tree_entries(place.entry.id)?;
                    entries.retain(|entry| self.knows_member(&place, &entry.name));
                    for entry in entries.into_iter().take(MAX_MEMBERS) {
                        let found = super::tree::FoundEntry { kind: entry.kind, id: entry.id };
                        let uri = place.child(&entry.name, found).uri()?;
                        members.insert(uri, format!("{:?} {}", entry.kind, entry.id));
                    }
                }
            }
            Location::Root | Location::Refs => {
                let ask = PageRequest::first(MAX_MEMBERS);
                let page = match location {
                    Location::Root => self.list_root(&ask)?,
                    _ => self.list_refs(&ask)?,
                };
                for item in page.items {
                    let version = self.own_version(&Location::parse(&item.uri)?)?;
                    members.insert(item.uri.clone(), version);
                }
            }
            _ => {}
        }
        Ok(members)
    }
}

impl GitWatchState {
    #[cfg(test)]
    pub(super) fn for_test(text: &str) -> Self {
        let uri = Uri::parse(text).expect("a URI");
        let location = Location::parse(&uri).expect("a location");
        Self::new(WatchTarget::Resource(uri, location), None)
    }

    fn new(target: WatchTarget, viewer: Option<FileViewer>) -> Self {
        let (folders, worktree) = (WatchedFolders::default(), WorktreeDebounce::default());
        Self { target, viewer, folders, version: None, worktree }
    }

    fn depends_on_worktree(&self) -> bool {
        matches!(&self.target, WatchTarget::Resource(_, location) if depends_on_worktree(location))
    }

    /// Looks again, and sends what changed.
    pub(super) fn refresh(
        &mut self,
        git: &GitRepository,
        changes: Option<&ChangeSender>,
    ) -> RescanOutcome {
        let mut rest = ScanRest::default();
        let outcome = rest.after(|| self.compare(git, changes));
        self.worktree = WorktreeDebounce { is_due: false, rest };
        outcome
    }

    fn compare(&mut self, git: &GitRepository, changes: Option<&ChangeSender>) -> RescanOutcome {
        let watched = self.folders.refresh(git, self.depends_on_worktree());
        let target = self.target.clone();
        let looked = git.run_here(&Arc::default(), self.viewer.as_ref(), |session| {
            session.watched_version(&target)
        });
        let version = match looked {
            Ok(version) => Some(version),
            Err(error) if error.kind == ErrorKind::NotFound => None,
            Err(error) => {
                tracing::debug!("a watched part of a repository: {}", error.with_causes());
                return RescanOutcome::Failed;
            }
        };
        if let Some(changes) = changes {
            self.report(version.as_ref(), changes);
        }
        self.version = version;
        if watched { RescanOutcome::Done } else { RescanOutcome::Failed }
    }

    fn report(&self, new: Option<&WatchedVersion>, changes: &ChangeSender) {
        let WatchTarget::Resource(uri, _) = &self.target else {
            if self.version.as_ref() != new {
                changes.send(Change::Listing);
            }
            return;
        };
        let none = WatchedVersion::default();
        let old = self.version.as_ref();
        match (old, new) {
            (Some(_), None) => changes.send(Change::Removed(uri.clone())),
            (old, Some(new)) if old.is_none_or(|old| old != new) => {
                changes.send(Change::Updated(uri.clone()));
            }
            _ => {}
        }
        let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
        for (member, version) in &new.members {
            if old.members.get(member).is_some_and(|known| known != version) {
                changes.send(Change::Updated(member.clone()));
            }
        }
        for member in old.members.keys().filter(|member| !new.members.contains_key(*member)) {
            changes.send(Change::Removed(member.clone()));
        }
    }
}

impl Rescanner for GitRepository {
    type Memory = GitWatchState;

    fn rescan_loop(&self) -> &RescanLoop<GitWatchState> {
        &self.rescan_loop
    }

    fn rescan(
        &self,
        memory: &mut GitWatchState,
        dirty: &DirtySet,
        changes: &ChangeSender,
    ) -> RescanOutcome {
        let WorktreeDebounce { is_due, rest } = memory.worktree;
        let is_retried = dirty.retry_failed && !(is_due && rest.is_resting());
        let folders = &memory.folders;
        if dirty.all || is_retried || dirty.folders.keys().any(|folder| folders.has_refs(folder)) {
            return memory.refresh(self, Some(changes));
        }
        memory.worktree.is_due |= dirty.folders.keys().any(|folder| folders.has_files(folder));
        match memory.worktree.is_due {
            // It is looked at with the next retry.
            true => RescanOutcome::Failed,
            false => RescanOutcome::Done,
        }
    }
}

#[async_trait]
impl Watch for Git {
    async fn watch(
        &self,
        ctx: &Context,
        interest: Interest,
    ) -> Result<Pin<Box<dyn Stream<Item = Change> + Send>>> {
        let unsupported = |message: &'static str| Error::new(ErrorKind::Unsupported, message);
        let target = match interest {
            Interest::Resource(uri) => {
                let described = resource::Provider::stat(self, ctx, &uri).await?;
                if described.watchable != Some(true) {
                    return Err(unsupported("this resource never changes").about(&uri));
                }
                let location = self.parse(&uri)?;
                WatchTarget::Resource(uri, location)
            }
            Interest::Listing => WatchTarget::Listing,
            Interest::Everything => {
                return Err(unsupported("a repository has too many revisions to watch them all"));
            }
            Interest::Components(_) => {
                return Err(unsupported("a repository has no tools or prompts"));
            }
        };
        let viewer = self.repository.viewer(ctx.principal());
        let memory = GitWatchState::new(target, viewer);
        // Subscribe first: events during the first look are then checked after it.
        let (party, stories) = subscribe(&self.repository, memory);
        let look = {
            let git = Arc::clone(&self.repository);
            move |_: &GitSession<'_>| Ok(party.memory().refresh(&git, None))
        };
        self.repository.run(ctx.principal(), look).await?;
        self.repository.rescan_loop.wake();
        Ok(Box::pin(stories))
    }

    fn is_shared(&self, _: &Interest) -> bool {
        self.repository.visibility.is_none()
    }
}

impl Health for Git {
    fn health(&self, ctx: &Context) -> HealthStatus {
        let repository = &self.repository;
        let condition = match repository.rescan_loop.polling_interval() {
            Some(poll) => HealthStatus::new(
                resource::HealthState::Ready,
                Some(format!("changes are found by polling every {poll:?}")),
            ),
            None => HealthStatus::ready(),
        };
        let names = repository.hostile_names.tell();
        let names = names.filter(|_| repository.viewer(ctx.principal()).is_none());
        let left_out = names.map(|names| {
            format!("names that lead out of a folder or hide what they are are left out: {names}")
        });
        HealthStatus { message: left_out.or(condition.message), ..condition }
    }

    fn is_available(&self, _: &Context) -> bool {
        true
    }
}
