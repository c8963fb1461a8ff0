//! Provider that serves a folder of the local file system.
//!
//! Every file is a resource, every folder a collection. A URI is `file:///` and the path below the
//! root. Absolute paths never leave this module, and nothing outside the root is reachable.

mod chunks;
mod complete;
mod confine;
mod cursor;
mod describe;
mod effort;
mod entries;
mod fault;
mod folder;
mod list;
mod locate;
mod mime;
mod options;
mod path;
mod read;
mod shelf;
mod site;
mod stamp;
mod stretch;
mod text;
mod trust;
mod turns;
mod visible;
mod walk;
mod watch;
mod window;

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Annotations, Ask, Complete, Completion, Context, Error, Extra, Facets, Page, Provider,
    Question, Reading, Resource, Result, Template, Uri, UriTemplate, Window,
};

use self::describe::describe;
use self::effort::{Attendance, Effort};
use self::fault::{Fault, missing, translate};
use self::locate::Found;
use self::path::Asked;
use self::site::Site;

pub use self::options::{Count, Hide, Listing, Options, POLL, WATCHES, Watching};

/// URI template of all files.
const TEMPLATE: &str = "file:///{+path}";

/// Its variable.
const VARIABLE: &str = "path";

/// Serves the visible files and folders below one root.
pub struct Fs {
    site: Arc<Site>,
}

impl Fs {
    /// Opens the root; an error if it is not a folder.
    pub fn open(options: Options) -> io::Result<Self> {
        Ok(Self { site: Arc::new(Site::open(options)?) })
    }

    /// Counts the files, stopping after `most` files and folders. An error counts as zero,
    /// incomplete.
    pub async fn count(&self, most: usize) -> Count {
        let ctx = Context::default();
        let count = self.work(&ctx, move |site, effort| Ok(site.survey(most, effort)?)).await;
        count.unwrap_or(Count { leaves: 0, all: false })
    }

    /// Runs `job` inline if it is short and the disk is local, otherwise on a blocking thread.
    async fn work<T: Send + 'static>(
        &self,
        ctx: &Context,
        job: impl Fn(&Site, &Effort) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        if self.site.root.local {
            match job(&self.site, &Effort::brief()) {
                Err(Fault::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
        }
        self.labour(ctx, job).await
    }

    /// Runs `job` on a blocking thread once a permit is free. Dropping the future cancels the job.
    async fn labour<T: Send + 'static>(
        &self,
        ctx: &Context,
        mut job: impl Fn(&Site, &Effort) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let stopped = |error| Error::internal("file system task failed").caused_by(error);
        let attendance = Attendance::default();
        let mut effort = Effort::long(ctx.clone(), &attendance);
        loop {
            let site = self.site.clone();
            let place = site.places.clone().acquire_owned().await;
            let place = place.map_err(|_| Error::internal("no permits for blocking work"))?;
            let work = tokio::task::spawn_blocking(move || {
                let _place = place;
                let done = effort.attended().map_err(Fault::Io).and_then(|()| job(&site, &effort));
                (done, effort, job)
            });
            let done;
            (done, effort, job) = work.await.map_err(stopped)?;
            match effort.others() {
                Some(others) => others.done().await,
                None => return done,
            }
        }
    }
}

#[async_trait]
impl Provider for Fs {
    async fn list(&self, ctx: &Context, parent: Option<&Uri>, ask: &Ask) -> Result<Page<Resource>> {
        let asked = parent.map(asked).transpose()?;
        let ask = ask.clone();
        let page =
            self.work(ctx, move |site, effort| site.list(asked.as_ref(), &ask, effort)).await;
        page.map_err(|fault| match (parent, fault) {
            (Some(uri), fault) => fault.about(uri),
            (None, Fault::Io(error)) => {
                Error::unavailable("the served folder cannot be read; try again later")
                    .caused_by(error)
            }
            (None, Fault::Said(error)) => error,
        })
    }

    async fn templates(&self, _ctx: &Context, ask: &Ask) -> Result<Page<Template>> {
        if ask.from.is_some() {
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
            extra: Extra::default(),
        };
        let freshness = self.site.freshness;
        Ok(Page { items: vec![Arc::new(template)], freshness, ..Page::empty() })
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Resource> {
        let (asked, named) = (asked(uri)?, uri.clone());
        let stat = move |site: &Site, _: &Effort| match site.find(&asked.path)? {
            Found::File(_) if asked.folder => Err(missing().into()),
            found => {
                let (name, stamp) = (asked.path.last(), found.stamp());
                Ok(describe(named.clone(), name, stamp, site.watchable))
            }
        };
        self.work(ctx, stat).await.map_err(|fault| fault.about(uri))
    }

    async fn read(&self, ctx: &Context, uri: &Uri, window: &Window) -> Result<Reading> {
        let (asked, named, window) = (asked(uri)?, uri.clone(), window.clone());
        let read = move |site: &Site, effort: &Effort| site.read(&named, &asked, &window, effort);
        let content = self.work(ctx, read).await.map_err(|fault| fault.about(uri))?;
        Ok(Reading { content, freshness: self.site.freshness })
    }

    fn facets(&self) -> Facets<'_> {
        let watch = (self.site.watch != Watching::Off).then_some(self as _);
        Facets { watch, complete: Some(self), health: Some(self), relay: None, mounts: None }
    }
}

#[async_trait]
impl Complete for Fs {
    async fn complete(&self, ctx: &Context, question: &Question<'_>) -> Result<Completion> {
        complete::check(question)?;
        let typed = question.typed.to_owned();
        let completion = self.work(ctx, move |site, effort| site.complete(&typed, effort)).await;
        completion.map_err(|fault| match fault {
            Fault::Io(error) => translate(error),
            Fault::Said(error) => error,
        })
    }
}

/// Parses `uri` into a path below the root.
fn asked(uri: &Uri) -> Result<Asked> {
    Asked::parse(uri).ok_or_else(|| Error::not_found(uri))
}

#[cfg(test)]
mod tests;
