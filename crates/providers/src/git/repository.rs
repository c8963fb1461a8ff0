//! An open repository: its sessions on blocking threads, and its caches.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gix::{ObjectId, ThreadSafeRepository};
use machinery::{Cache, CacheBounds, FairSemaphore};
use parking_lot::Mutex;
use redaction::{Redaction, RedactionScope, Syntax};
use resource::{CacheScope, Error, Freshness, Principal, Result, Uri};

use super::blob::{BlobContent, ContentKey};
use super::commit_object::CommitText;
use super::error::cancelled;
use super::hostile::HostileNames;
use super::large_file::{GitLargeForm, MAX_KNOWN_FORMS};
use super::large_reader::IdleReaders;
use super::lfs::{CheckoutVersion, LfsPointer, MAX_KNOWN_CHECKOUTS, MAX_KNOWN_POINTERS};
use super::location::RevisionSpec;
use super::open::{RepositoryFault, open_repository};
use super::options::{Options, WatchMode};
use super::read_cache::ReadCache;
use super::recent::RecentChanges;
use super::ref_stamp::RefStamp;
use super::revision::ResolvedRevision;
use super::visibility::{FileViewer, FileVisibility};
use super::watch::{GitWatchState, MAX_WORKTREE_FOLDERS};
use crate::file_watch::{DEFAULT_MAX_WATCHES, RescanLoop};
use crate::permits::{PrincipalPermits, blocking_permits};

/// How many requests work on the repository at a time. One principal gets three quarters of them.
const MAX_SESSIONS: usize = 4;

/// Bytes of decoded objects that each session keeps, for trees and commits.
const OBJECT_CACHE_BYTES: usize = 16 << 20;

/// Bytes of blobs and documents kept for the next window, and the largest one.
const CONTENT_CACHE: CacheBounds =
    CacheBounds { entries: usize::MAX, weight: 16 << 20, heaviest: 64 << 20 };

/// Bytes of the texts of commits that are kept.
const COMMIT_TEXT_BYTES: usize = 1 << 20;

/// How many revisions are remembered.
const MAX_REVISIONS: usize = 256;

/// How many tips the history of their paths is kept of.
const MAX_TIPS: usize = 8;

/// How long clients may cache what never changes.
const IMMUTABLE_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// One repository and what is known of it.
pub(super) struct GitRepository {
    shared: ThreadSafeRepository,
    idle: Mutex<Vec<gix::Repository>>,
    permits: Arc<FairSemaphore>,
    pub(super) visibility: Option<Arc<dyn FileVisibility>>,
    pub(super) redaction: Redaction,
    mask_version: String,
    pub(super) freshness: Freshness,
    pub(super) max_uri: usize,
    pub(super) is_watched: bool,
    pub(super) uses_inotify: bool,
    pub(super) max_worktree_folders: usize,
    pub(super) rescan_loop: RescanLoop<GitWatchState>,
    pub(super) hostile_names: HostileNames,
    pub(super) read_cache: ReadCache,
    pub(super) revisions: Cache<RevisionSpec, Arc<(ResolvedRevision, Arc<RefStamp>)>>,
    pub(super) blobs: Cache<ContentKey, Arc<BlobContent>>,
    pub(super) large_forms: Cache<ContentKey, Arc<GitLargeForm>>,
    pub(super) idle_readers: IdleReaders,
    pub(super) lfs_pointers: Cache<ObjectId, Option<LfsPointer>>,
    pub(super) lfs_checkouts: Cache<CheckoutVersion, ObjectId>,
    pub(super) commit_texts: Cache<ObjectId, Arc<CommitText>>,
    pub(super) documents: Cache<(Uri, String), bytes::Bytes>,
    pub(super) recent: Cache<ObjectId, Arc<Mutex<RecentChanges>>>,
    pub(super) logs: super::log::LogCache,
}

/// Access to the repository on one blocking thread.
pub(super) struct GitSession<'a> {
    pub(super) git: &'a GitRepository,
    pub(super) repo: &'a gix::Repository,
    /// The principal that asks, if rules may keep something from it.
    pub(super) viewer: Option<&'a FileViewer>,
    cancelled: &'a Arc<AtomicBool>,
    shallow: OnceCell<Option<gix::shallow::Commits>>,
}

/// Cancels the work of a request that is dropped.
struct CancelFlag(Arc<AtomicBool>);

impl Drop for CancelFlag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl GitRepository {
    pub(super) fn open(options: &Options) -> Result<Self, RepositoryFault> {
        Ok(Self {
            shared: open_repository(&options.path)?,
            idle: Mutex::default(),
            permits: blocking_permits(MAX_SESSIONS),
            visibility: options.visibility.clone(),
            redaction: options.redaction.clone(),
            mask_version: options.redaction.version(),
            freshness: Freshness { ttl: options.ttl, scope: CacheScope::Private },
            max_uri: options.max_uri,
            is_watched: options.watch != WatchMode::Off,
            uses_inotify: options.watch == WatchMode::Auto,
            max_worktree_folders: MAX_WORKTREE_FOLDERS,
            rescan_loop: RescanLoop::new(options.poll, DEFAULT_MAX_WATCHES),
            hostile_names: HostileNames::default(),
            read_cache: ReadCache::default(),
            revisions: Cache::new(CacheBounds::entries(MAX_REVISIONS)),
            blobs: Cache::new(CONTENT_CACHE),
            large_forms: Cache::new(CacheBounds::entries(MAX_KNOWN_FORMS)),
            idle_readers: IdleReaders::default(),
            lfs_pointers: Cache::new(CacheBounds::entries(MAX_KNOWN_POINTERS)),
            lfs_checkouts: Cache::new(CacheBounds::entries(MAX_KNOWN_CHECKOUTS)),
            commit_texts: Cache::new(CacheBounds::weight(COMMIT_TEXT_BYTES)),
            documents: Cache::new(CONTENT_CACHE),
            recent: Cache::new(CacheBounds::entries(MAX_TIPS)),
            logs: super::log::LogCache::default(),
        })
    }

    /// The folder of the repository's HEAD and index, and that of its references.
    pub(super) fn folders(&self) -> (PathBuf, PathBuf) {
        let refs = &self.shared.refs;
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        (absolute(refs.git_dir()), absolute(refs.common_dir_resolved()))
    }

    /// How long a result may be cached.
    pub(super) fn freshness_of(&self, is_immutable: bool) -> Freshness {
        match is_immutable {
            true => Freshness { ttl: IMMUTABLE_TTL, ..self.freshness },
            false => self.freshness,
        }
    }

    /// Adds to an etag what the content depends on besides objects: how it is masked.
    pub(super) fn masked_etag(&self, etag: &str, is_masked: bool) -> String {
        match is_masked {
            true => format!("{etag}-r{}", self.mask_version),
            false => etag.to_owned(),
        }
    }

    /// Masks a text that is no file, such as a message.
    pub(super) fn mask_text(&self, text: &str) -> String {
        match self.redaction.scope() {
            RedactionScope::Off => text.to_owned(),
            RedactionScope::SensitiveFiles | RedactionScope::Everything => {
                self.redaction.redactor().mask(text, Syntax::Text).into_owned()
            }
        }
    }

    /// Whether a text that is no file holds a secret.
    pub(super) fn is_masked(&self, text: &str) -> bool {
        self.mask_text(text) != text
    }

    /// The principal, if rules may keep something from it.
    pub(super) fn viewer(&self, principal: &Principal) -> Option<FileViewer> {
        self.visibility.as_ref().and_then(|rules| FileViewer::new(rules, principal))
    }

    /// Runs `job` for `principal` on a blocking thread once its share of the permits has a free one.
    /// Dropping the future cancels it.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        principal: &Principal,
        job: impl FnOnce(&GitSession<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (all, key) = (Arc::clone(&self.permits), Arc::clone(principal.key()));
        let permit = PrincipalPermits { all, principal: key }.acquire().await?;
        let (git, flag) = (Arc::clone(self), CancelFlag(Arc::default()));
        let (is_cancelled, viewer) = (Arc::clone(&flag.0), self.viewer(principal));
        let work = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            git.run_here(&is_cancelled, viewer.as_ref(), job)
        });
        let done = work.await;
        drop(flag);
        done.map_err(|error| Error::internal("work on the repository failed").caused_by(error))?
    }

    /// Runs `job` on this thread, as far as `viewer` may know of what it finds. Blocks.
    pub(super) fn run_here<T>(
        &self,
        cancelled: &Arc<AtomicBool>,
        viewer: Option<&FileViewer>,
        job: impl FnOnce(&GitSession<'_>) -> Result<T>,
    ) -> Result<T> {
        let idle = self.idle.lock().pop();
        let repo = idle.unwrap_or_else(|| {
            let mut repo = self.shared.to_thread_local();
            repo.object_cache_size(OBJECT_CACHE_BYTES);
            repo
        });
        let shallow = OnceCell::new();
        let done = job(&GitSession { git: self, repo: &repo, viewer, cancelled, shallow });
        let mut idle = self.idle.lock();
        if idle.len() < MAX_SESSIONS {
            idle.push(repo);
        }
        done
    }
}

impl GitSession<'_> {
    /// An error if the request was dropped.
    pub(super) fn check_cancelled(&self) -> Result<()> {
        match self.cancelled.load(Ordering::Relaxed) {
            true => Err(cancelled()),
            false => Ok(()),
        }
    }

    /// Whether a shallow clone ends at the commit `id`.
    pub(super) fn is_shallow_boundary(&self, id: ObjectId) -> bool {
        // One look at the list for a session: each look costs a system call.
        let shallow = self.shallow.get_or_init(|| self.repo.shallow_commits().ok().flatten());
        shallow.as_ref().is_some_and(|commits| commits.contains(&id))
    }

    /// The flag that cancels the work.
    pub(super) fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(self.cancelled)
    }
}
