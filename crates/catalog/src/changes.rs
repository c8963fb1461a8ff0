//! Merged change streams of all mounts, reopened when mounts fail or are replaced.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_core::Stream;
use futures_util::stream::SelectAll;
use futures_util::{StreamExt, future, stream};
use resource::{Change, Context, Error, ErrorKind, Interest, Result, Uri, Watch};
use tokio::sync::watch;
use tokio::time;

use crate::catalog::{Catalog, Mounts, owner};
use crate::mount::Mount;

/// How long opening all streams waits for one mount.
const PATIENCE: Duration = Duration::from_secs(2);

/// Backoff before a stream is opened again: the first delay, and the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LAST_PAUSE: Duration = Duration::from_secs(60);

pub(crate) type Changes = Pin<Box<dyn Stream<Item = Change> + Send>>;

#[async_trait]
impl Watch for Catalog {
    async fn watch(&self, ctx: &Context, interest: Interest) -> Result<Changes> {
        let mut replaced = self.replacements();
        let mounts = Arc::clone(&replaced.borrow_and_update());
        let uri = match interest {
            Interest::Resource(uri) => uri,
            interest => {
                let heard = open_all(&mounts, ctx, &interest).await;
                let many = Many { heard, replaced, ctx: ctx.clone(), interest };
                return Ok(Box::pin(stream::unfold(many, Many::next)));
            }
        };
        let (mount, local) = owner(&mounts, &uri)?;
        let heard = mount.follow(ctx, &local, &uri).await;
        let heard = heard.map_err(|error| mount.renamed(error, &uri))?;
        let one = One { mount: Some(mount), heard, replaced, ctx: ctx.clone(), uri };
        Ok(Box::pin(stream::unfold(one, One::next)))
    }
}

/// The merged stream of all mounts.
struct Many {
    heard: SelectAll<Changes>,
    replaced: watch::Receiver<Mounts>,
    ctx: Context,
    interest: Interest,
}

impl Many {
    async fn next(mut self) -> Option<(Change, Self)> {
        tokio::select! {
            Some(change) = self.heard.next() => return Some((change, self)),
            changed = self.replaced.changed() => changed.ok()?,
        }
        let mounts = Arc::clone(&self.replaced.borrow_and_update());
        self.heard = open_all(&mounts, &self.ctx, &self.interest).await;
        // Changes of the kept mounts may be lost in between; a list change makes clients refetch.
        Some((catch_up(&self.interest), self))
    }
}

/// The change to report when changes may have been lost.
fn catch_up(interest: &Interest) -> Change {
    match interest {
        Interest::Offers(offer) => Change::Offers(*offer),
        Interest::Resource(_) | Interest::Listing | Interest::Everything => Change::Listing,
    }
}

/// Opens the streams of all mounts. One that fails or times out does not hold up the others, and
/// is opened again later.
async fn open_all(mounts: &Mounts, ctx: &Context, interest: &Interest) -> SelectAll<Changes> {
    let opening = mounts.iter().map(|mount| async {
        let (mount, ctx, interest) = (Arc::clone(mount), ctx.clone(), interest.clone());
        let opened = mount.watch(&ctx, interest.clone(), None);
        let heard = time::timeout(PATIENCE, opened).await.ok().and_then(Result::ok);
        let steady = Steady { mount, ctx, interest, heard, pause: FIRST_PAUSE };
        stream::unfold(steady, Steady::next).boxed()
    });
    let opened = future::join_all(opening).await;
    // A pending stream keeps the merged stream from ending.
    stream::select_all(opened.into_iter().chain([stream::pending().boxed()]))
}

/// The stream of one mount, opened again with backoff whenever it ends or fails.
struct Steady {
    mount: Arc<Mount>,
    ctx: Context,
    interest: Interest,
    heard: Option<Changes>,
    pause: Duration,
}

impl Steady {
    async fn next(mut self) -> Option<(Change, Self)> {
        loop {
            if let Some(heard) = &mut self.heard {
                if let Some(change) = heard.next().await {
                    self.pause = FIRST_PAUSE;
                    return Some((change, self));
                }
                self.heard = None;
            }
            time::sleep(self.pause).await;
            self.pause = (self.pause * 2).min(LAST_PAUSE);
            let opened = self.mount.watch(&self.ctx, self.interest.clone(), None).await;
            self.heard = opened.ok();
            if self.heard.is_some() {
                // Changes may be lost in between; this makes clients refetch.
                return Some((catch_up(&self.interest), self));
            }
        }
    }
}

/// The stream of one resource, which follows the URI from mount to mount.
struct One {
    mount: Option<Arc<Mount>>,
    heard: Changes,
    replaced: watch::Receiver<Mounts>,
    ctx: Context,
    uri: Uri,
}

impl One {
    async fn next(mut self) -> Option<(Change, Self)> {
        loop {
            tokio::select! {
                Some(change) = self.heard.next() => return Some((change, self)),
                changed = self.replaced.changed() => changed.ok()?,
            }
            let mounts = Arc::clone(&self.replaced.borrow_and_update());
            let found = owner(&mounts, &self.uri).ok();
            let same = |(mount, _): &(Arc<Mount>, Uri)| {
                self.mount.as_ref().is_some_and(|known| Arc::ptr_eq(known, mount))
            };
            if found.as_ref().is_some_and(same) || found.is_none() && self.mount.is_none() {
                continue;
            }
            let heard = match &found {
                Some((mount, local)) => mount.follow(&self.ctx, local, &self.uri).await.ok(),
                None => None,
            };
            let gone = heard.is_none();
            self.mount = found.map(|(mount, _)| mount);
            self.heard = heard.unwrap_or_else(|| stream::pending().boxed());
            let uri = self.uri.clone();
            let change = if gone { Change::Removed(uri) } else { Change::Updated(uri) };
            return Some((change, self));
        }
    }
}

impl Mount {
    pub(crate) fn watches(&self) -> bool {
        self.provider.facets().watch.is_some()
    }

    async fn follow(&self, ctx: &Context, local: &Uri, uri: &Uri) -> Result<Changes> {
        let asked = Some((local.clone(), uri.clone()));
        let heard = self.watch(ctx, Interest::Resource(local.clone()), asked).await?;
        // The stream does not end with its source: a replaced mount may continue it.
        Ok(heard.chain(stream::pending()).boxed())
    }

    /// Opens the mount's changes under public URIs; the requested URI keeps its spelling.
    async fn watch(
        &self,
        ctx: &Context,
        interest: Interest,
        asked: Option<(Uri, Uri)>,
    ) -> Result<Changes> {
        if let Interest::Offers(offer) = interest
            && !self.offers(offer)
        {
            return Err(silent());
        }
        let watch = self.provider.facets().watch.ok_or_else(silent)?;
        let opened = watch.watch(ctx, interest).await.inspect_err(|error| {
            if !matches!(error.kind, ErrorKind::NotFound | ErrorKind::Unsupported) {
                tracing::warn!(mount = self.name, cause = ?error, "cannot open a change stream");
            }
        });
        let address = Arc::clone(&self.address);
        let public = move |local: Uri| match &asked {
            Some((known, public)) if *known == local => Ok(public.clone()),
            _ => address.join(&local),
        };
        let published = move |change: Change| {
            let (change, words) = change.parts();
            let change = match change {
                Change::Updated(uri) => public(uri).map(Change::Updated),
                Change::Removed(uri) => public(uri).map(Change::Removed),
                Change::Listing | Change::Offers(_) | Change::Worded(..) => Ok(change),
            };
            // A URI without a public form was never listed either.
            future::ready(change.ok().map(|change| change.worded(words)))
        };
        Ok(opened?.filter_map(published).boxed())
    }
}

/// The error for a source that does not report changes.
pub(crate) fn silent() -> Error {
    Error::new(ErrorKind::Unsupported, "the source does not report changes")
}
