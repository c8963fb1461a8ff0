//! Provider that serves a folder of the local file system.
//!
//! Every file is a resource, every folder a collection. A URI is `file:///` and the path below the
//! root. Absolute paths never leave this module, and nothing outside the root is reachable.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "refdesk builds on Linux only: folders have a portable implementation (`platform/portable`), \
     untested elsewhere; `file_watch`, `statics` and the program still need Linux, and rules \
     compare the bytes of names (docs/decisions/0019)"
);

mod budget;
mod cache_guard;
mod chunks;
mod complete;
mod confine;
mod content_cache;
mod cursor;
mod decode_index;
mod describe;
mod description_cache;
mod error;
mod file_form;
mod folder_names;
mod ignore_rules;
mod list;
mod locate;
mod options;
mod page_cache;
mod path;
mod platform;
mod read;
mod root;
mod stamp;
mod walk;
mod watch;
mod window;

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Annotations, Complete, Completion, CompletionRequest, Content, Context, Error, Facets, Page,
    PageRequest, Provider, ReadRequest, Reading, Resource, Result, Template, UnknownMembers, Uri,
    UriTemplate, Variable,
};

use self::budget::{CancelOnDrop, WorkBudget};
use self::describe::describe;
use self::error::{FsError, not_found, to_resource_error};
use self::locate::PathEntry;
use self::path::UriPath;
use self::root::FsRoot;
use crate::permits::PrincipalPermits;

pub use self::options::{
    Charset, CharsetRule, DEFAULT_MAX_WATCHES, DEFAULT_OPEN_FOLDERS, DEFAULT_POLL_INTERVAL,
    FileApi, FileCount, HideFilter, ListingMode, Options, WatchMode,
};

/// URI template of all files.
const TEMPLATE: &str = "file:///{+path}";

/// Its variable.
const TEMPLATE_VARIABLE: &str = "path";

/// Serves the visible files and folders below one root.
pub struct Fs {
    root: Arc<FsRoot>,
}

impl Fs {
    /// Opens the root; an error if it is not a folder.
    pub fn open(options: Options) -> io::Result<Self> {
        Ok(Self { root: Arc::new(FsRoot::open(options)?) })
    }

    /// Counts the files, stopping after `most` files and folders. An error counts as zero,
    /// incomplete.
    pub async fn count(&self, ctx: &Context, most: usize) -> FileCount {
        let count =
            self.run_job(ctx, move |site, effort| Ok(site.count_files(most, effort)?)).await;
        count.unwrap_or(FileCount { files: 0, is_complete: false })
    }

    /// Parses `uri` into a path below the root.
    fn parse_path(&self, uri: &Uri) -> Result<UriPath> {
        let fits = uri.as_str().len() <= self.root.max_uri;
        fits.then(|| UriPath::parse(uri)).flatten().ok_or_else(|| Error::not_found(uri))
    }

    /// Runs `job` inline if it is short and the disk is local, otherwise on a blocking thread.
    async fn run_job<T: Send + 'static>(
        &self,
        ctx: &Context,
        job: impl Fn(&FsRoot, &WorkBudget) -> Result<T, FsError> + Send + 'static,
    ) -> Result<T, FsError> {
        if self.root.dir.on_local_disk() {
            let budget = WorkBudget::inline(Some(self.permits_of(ctx)));
            let inline = || job(&self.root, &budget);
            match self.root.with_descriptors(inline, FsError::as_io) {
                Err(FsError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return self.root.or_gone(done),
            }
        }
        let done = self.run_blocking(ctx, job).await;
        self.root.or_gone(done)
    }

    /// The share of a principal in the threads of this root.
    fn permits_of(&self, ctx: &Context) -> PrincipalPermits {
        let all = Arc::clone(&self.root.blocking_permits);
        PrincipalPermits { all, principal: Arc::clone(ctx.principal().key()) }
    }

    /// Runs `job` on a blocking thread once a permit is free. Dropping the future cancels the job.
    async fn run_blocking<T: Send + 'static>(
        &self,
        ctx: &Context,
        mut job: impl Fn(&FsRoot, &WorkBudget) -> Result<T, FsError> + Send + 'static,
    ) -> Result<T, FsError> {
        let stopped = |error| Error::internal("file system task failed").caused_by(error);
        let attendance = CancelOnDrop::default();
        let permits = self.permits_of(ctx);
        let mut effort = WorkBudget::blocking((ctx.clone(), permits.clone()), &attendance);
        loop {
            let site = self.root.clone();
            let place = permits.acquire().await?;
            let work = tokio::task::spawn_blocking(move || {
                let _place = place;
                let done = effort
                    .check_cancelled()
                    .map_err(FsError::Io)
                    .and_then(|()| site.with_descriptors(|| job(&site, &effort), FsError::as_io));
                (done, effort, job)
            });
            let done;
            (done, effort, job) = work.await.map_err(stopped)?;
            match effort.take_awaited_scan() {
                Some(others) => others.await,
                None => return done,
            }
        }
    }
}

#[async_trait]
impl Provider for Fs {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let asked = parent.map(|uri| self.parse_path(uri)).transpose()?;
        let ask = paging.clone();
        let page = self
            .run_job(ctx, move |site, effort| site.list_page(asked.as_ref(), &ask, effort))
            .await;
        page.map_err(|fault| match (parent, fault) {
            (Some(uri), fault) => fault.for_uri(uri),
            (None, FsError::Io(error)) => {
                Error::unavailable("the served folder cannot be read; try again later")
                    .caused_by(error)
            }
            (None, FsError::Resource(error)) => error,
        })
    }

    async fn templates(&self, _ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        if paging.cursor.is_some() {
            return Err(Error::bad_cursor());
        }
        let template = Template {
            uri: UriTemplate::parse(TEMPLATE)?,
            name: "files".to_owned(),
            title: Some("Files".to_owned()),
            description: Some("Any file or folder by its path".to_owned()),
            mime: None,
            icons: Vec::new(),
            annotations: Annotations::default(),
            variables: vec![Variable {
                name: TEMPLATE_VARIABLE.to_owned(),
                description: Some("Path below the folder, with / between names".to_owned()),
                ..Variable::default()
            }],
            extra: UnknownMembers::default(),
        };
        let freshness = self.root.freshness;
        Ok(Page::from_items(vec![Arc::new(template)], freshness))
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        let (asked, named) = (self.parse_path(uri)?, uri.clone());
        let stat = move |root: &FsRoot, _: &WorkBudget| match root.find(&asked.path)? {
            PathEntry::File(_) if asked.requires_folder => Err(not_found().into()),
            found => {
                let (name, stamp) = (asked.path.name(), found.stamp());
                let mut resource = describe(named.clone(), name, stamp, root.watchable);
                resource.link_target = found.link_target(&asked.path);
                Ok(Arc::new(resource))
            }
        };
        self.run_job(ctx, stat).await.map_err(|fault| fault.for_uri(uri))
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let (asked, named, window) = (self.parse_path(uri)?, uri.clone(), request.window.clone());
        let read = move |root: &FsRoot, budget: &WorkBudget| {
            root.read_content(&named, &asked, &window, budget)
        };
        let mut content = self.run_job(ctx, read).await.map_err(|fault| fault.for_uri(uri))?;
        if let Content::Parts(parts) = &mut content {
            let selected = request.select(parts, |part| part.resource.mime.as_deref());
            selected.map_err(|error| error.about(uri))?;
        }
        Ok(Reading::new(content, self.root.freshness))
    }

    fn facets(&self) -> Facets<'_> {
        let watch = (self.root.watch != WatchMode::Off).then_some(self as _);
        Facets {
            watch,
            complete: Some(self),
            health: Some(self),
            relay: None,
            mounts: None,
            search: None,
            skills: None,
        }
    }
}

#[async_trait]
impl Complete for Fs {
    fn may_complete(&self, _: &Context) -> bool {
        true
    }

    async fn complete(&self, ctx: &Context, request: &CompletionRequest<'_>) -> Result<Completion> {
        complete::check_completion(request)?;
        let typed = request.typed.to_owned();
        let completion =
            self.run_job(ctx, move |site, effort| site.complete_path(&typed, effort)).await;
        completion.map_err(|fault| match fault {
            FsError::Io(error) => to_resource_error(error),
            FsError::Resource(error) => error,
        })
    }
}

/// The file API that `tests` tests; `portable_tests` runs them for the other one.
#[cfg(test)]
const TESTED_FILE_API: FileApi = FileApi::Native;

#[cfg(test)]
mod tests;

#[cfg(test)]
#[path = "tests/native/mod.rs"]
mod native_tests;

#[cfg(test)]
#[path = "tests/portable.rs"]
mod portable_tests;
