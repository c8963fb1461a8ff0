//! Merged change streams of all mounts, reopened when mounts fail or are replaced.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_core::Stream;
use futures_util::stream::SelectAll;
use futures_util::{StreamExt, future, stream};
use machinery::Backoff;
use resource::{Change, Context, Error, ErrorKind, Interest, Result, Uri, Watch};
use tokio::sync::watch;
use tokio::time;

use crate::catalog::{Catalog, MountList, find_owner, visible_mounts};
use crate::mount::Mount;

/// How long opening all streams waits for one mount.
const OPEN_TIMEOUT: Duration = Duration::from_secs(2);

/// Delays before a stream is opened again.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), max: Duration::from_secs(60) };

pub(crate) type ChangeStream = Pin<Box<dyn Stream<Item = Change> + Send>>;

#[async_trait]
impl Watch for Catalog {
    async fn watch(&self, ctx: &Context, interest: Interest) -> Result<ChangeStream> {
        let mut replaced = self.subscribe_mounts();
        let mounts = visible_mounts(&replaced.borrow_and_update(), ctx);
        let uri = match interest {
            Interest::Resource(uri) => uri,
            interest => {
                if interest == Interest::Everything {
                    check_complete(&mounts, ctx).await?;
                }
                let heard = open_all_streams(&mounts, ctx, &interest).await;
                let many = AllMountsWatch {
                    mounts,
                    streams: heard,
                    mount_updates: replaced,
                    ctx: ctx.clone(),
                    interest,
                };
                return Ok(Box::pin(stream::unfold(many, AllMountsWatch::next)));
            }
        };
        let (mount, local) = find_owner(&mounts, &uri)?;
        let heard = mount.watch_resource(ctx, &local, &uri).await;
        let heard = heard.map_err(|error| mount.with_public_uri(error, &uri))?;
        let one = ResourceWatch {
            mount: Some(mount),
            stream: heard,
            mount_updates: replaced,
            ctx: ctx.clone(),
            uri,
        };
        Ok(Box::pin(stream::unfold(one, ResourceWatch::next)))
    }

    fn is_shared(&self, interest: &Interest) -> bool {
        let is_shared = |mount: &Mount, interest: &Interest| {
            mount.provider.facets().watch.is_none_or(|watch| watch.is_shared(interest))
        };
        let mounts = self.mounts();
        match interest {
            Interest::Resource(uri) => find_owner(&mounts, uri)
                .is_ok_and(|(mount, local)| is_shared(&mount, &Interest::Resource(local))),
            interest => mounts.iter().all(|mount| is_shared(mount, interest)),
        }
    }
}

/// Refuses an interest in everything unless every mount reports all of its changes.
async fn check_complete(mounts: &MountList, ctx: &Context) -> Result<()> {
    for mount in mounts.iter() {
        let everything = Interest::Everything;
        let opened = time::timeout(OPEN_TIMEOUT, mount.watch_public(ctx, everything, None)).await;
        if let Ok(Err(error)) = opened
            && error.kind == ErrorKind::Unsupported
        {
            let why = format!("the mount {:?} does not report all of its changes", mount.name);
            return Err(Error::new(ErrorKind::Unsupported, why));
        }
    }
    Ok(())
}

/// The merged stream of all mounts.
struct AllMountsWatch {
    /// The mounts that exist for the principal.
    mounts: MountList,
    streams: SelectAll<ChangeStream>,
    mount_updates: watch::Receiver<MountList>,
    ctx: Context,
    interest: Interest,
}

impl AllMountsWatch {
    async fn next(mut self) -> Option<(Change, Self)> {
        loop {
            tokio::select! {
                Some(change) = self.streams.next() => return Some((change, self)),
                changed = self.mount_updates.changed() => changed.ok()?,
            }
            let mounts = visible_mounts(&self.mount_updates.borrow_and_update(), &self.ctx);
            let is_same = |(one, other): (&Arc<Mount>, &Arc<Mount>)| Arc::ptr_eq(one, other);
            if mounts.len() == self.mounts.len() && mounts.iter().zip(&*self.mounts).all(is_same) {
                // What came or went does not exist for the principal.
                continue;
            }
            self.streams = open_all_streams(&mounts, &self.ctx, &self.interest).await;
            self.mounts = mounts;
            // Changes of the kept mounts may be lost in between; a list change makes clients
            // refetch.
            return Some((catch_up_change(&self.interest), self));
        }
    }
}

/// The change to report when changes may have been lost.
fn catch_up_change(interest: &Interest) -> Change {
    match interest {
        Interest::Components(component) => Change::Components(*component),
        Interest::Resource(_) | Interest::Listing | Interest::Everything => Change::Listing,
    }
}

/// Opens the streams of all mounts. One that fails or times out does not hold up the others, and
/// is opened again later.
async fn open_all_streams(
    mounts: &MountList,
    ctx: &Context,
    interest: &Interest,
) -> SelectAll<ChangeStream> {
    let opening = mounts.iter().map(|mount| async {
        let (mount, ctx, interest) = (Arc::clone(mount), ctx.clone(), interest.clone());
        let opened = mount.watch_public(&ctx, interest.clone(), None);
        let heard = time::timeout(OPEN_TIMEOUT, opened).await.ok().and_then(Result::ok);
        let steady = ReopeningWatch { mount, ctx, interest, stream: heard, failures: 0 };
        stream::unfold(steady, ReopeningWatch::next).boxed()
    });
    let opened = future::join_all(opening).await;
    // A pending stream keeps the merged stream from ending.
    stream::select_all(opened.into_iter().chain([stream::pending().boxed()]))
}

/// The stream of one mount, opened again with backoff whenever it ends or fails.
struct ReopeningWatch {
    mount: Arc<Mount>,
    ctx: Context,
    interest: Interest,
    stream: Option<ChangeStream>,
    /// How often it ended or failed since the last change.
    failures: u32,
}

impl ReopeningWatch {
    async fn next(mut self) -> Option<(Change, Self)> {
        loop {
            if let Some(heard) = &mut self.stream {
                if let Some(change) = heard.next().await {
                    self.failures = 0;
                    return Some((change, self));
                }
                self.stream = None;
            }
            self.failures = self.failures.saturating_add(1);
            time::sleep(BACKOFF.delay(self.failures)).await;
            let opened = self.mount.watch_public(&self.ctx, self.interest.clone(), None).await;
            self.stream = opened.ok();
            if self.stream.is_some() {
                // Changes may be lost in between; this makes clients refetch.
                return Some((catch_up_change(&self.interest), self));
            }
        }
    }
}

/// The stream of one resource, which follows the URI from mount to mount.
struct ResourceWatch {
    mount: Option<Arc<Mount>>,
    stream: ChangeStream,
    mount_updates: watch::Receiver<MountList>,
    ctx: Context,
    uri: Uri,
}

impl ResourceWatch {
    async fn next(mut self) -> Option<(Change, Self)> {
        loop {
            tokio::select! {
                Some(change) = self.stream.next() => return Some((change, self)),
                changed = self.mount_updates.changed() => changed.ok()?,
            }
            let mounts = visible_mounts(&self.mount_updates.borrow_and_update(), &self.ctx);
            let found = find_owner(&mounts, &self.uri).ok();
            let same = |(mount, _): &(Arc<Mount>, Uri)| {
                self.mount.as_ref().is_some_and(|known| Arc::ptr_eq(known, mount))
            };
            if found.as_ref().is_some_and(same) || found.is_none() && self.mount.is_none() {
                continue;
            }
            let heard = match &found {
                Some((mount, local)) => {
                    mount.watch_resource(&self.ctx, local, &self.uri).await.ok()
                }
                None => None,
            };
            let gone = heard.is_none();
            self.mount = found.map(|(mount, _)| mount);
            self.stream = heard.unwrap_or_else(|| stream::pending().boxed());
            let uri = self.uri.clone();
            let change = if gone { Change::Removed(uri) } else { Change::Updated(uri) };
            return Some((change, self));
        }
    }
}

impl Mount {
    pub(crate) fn can_watch(&self) -> bool {
        self.provider.facets().watch.is_some()
    }

    async fn watch_resource(&self, ctx: &Context, local: &Uri, uri: &Uri) -> Result<ChangeStream> {
        let asked = Some((local.clone(), uri.clone()));
        let heard = self.watch_public(ctx, Interest::Resource(local.clone()), asked).await?;
        // The stream does not end with its source: a replaced mount may continue it.
        Ok(heard.chain(stream::pending()).boxed())
    }

    /// Opens the mount's changes under public URIs; the requested URI keeps its spelling.
    async fn watch_public(
        &self,
        ctx: &Context,
        interest: Interest,
        asked: Option<(Uri, Uri)>,
    ) -> Result<ChangeStream> {
        if let Interest::Components(component) = interest
            && !self.has_components(ctx, component)
        {
            return Err(watch_unsupported());
        }
        let watch = self.provider.facets().watch.ok_or_else(watch_unsupported)?;
        let opened = watch.watch(ctx, interest).await.inspect_err(|error| {
            if !matches!(error.kind, ErrorKind::NotFound | ErrorKind::Unsupported) {
                let (name, why) = (&self.name, error.last_cause());
                tracing::warn!("mount {name} cannot be watched for changes: {why}");
            }
        });
        let address = Arc::clone(&self.address);
        let public = move |local: Uri| match &asked {
            Some((known, public)) if *known == local => Ok(public.clone()),
            _ => address.join(&local),
        };
        let published = move |change: Change| {
            let (change, words) = change.into_parts();
            let change = match change {
                Change::Updated(uri) => public(uri).map(Change::Updated),
                Change::Removed(uri) => public(uri).map(Change::Removed),
                Change::Listing | Change::Components(_) | Change::WithExtra(..) => Ok(change),
            };
            // A URI without a public form was never listed either.
            future::ready(change.ok().map(|change| change.with_extra(words)))
        };
        Ok(opened?.filter_map(published).boxed())
    }
}

/// The error for a source that does not report changes.
pub(crate) fn watch_unsupported() -> Error {
    Error::new(ErrorKind::Unsupported, "the source does not report changes")
}
