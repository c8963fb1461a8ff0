//! How are the changes of many mounts heard of as one?

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_core::Stream;
use futures_util::{StreamExt, stream};
use resource::{Change, Context, Error, ErrorKind, Interest, Result, Uri, Watch};

use crate::catalog::{Catalog, renamed};
use crate::mount::Mount;

pub(crate) type Changes = Pin<Box<dyn Stream<Item = Change> + Send>>;

#[async_trait]
impl Watch for Catalog {
    async fn watch(&self, ctx: &Context, interest: Interest) -> Result<Changes> {
        let Interest::Resource(uri) = &interest else {
            let all = self.mounts().iter().filter(|mount| mount.tells(&interest));
            let opening = all.map(|mount| mount.watch(ctx, interest.clone(), None));
            let opened = futures_util::future::join_all(opening).await;
            // A mount that does not tell of its changes does not keep the others from it.
            let told = stream::select_all(opened.into_iter().flatten());
            return Ok(Box::pin(told.chain(stream::pending())));
        };
        let (mount, local) = self.owner(uri)?;
        let asked = Some((local.clone(), uri.clone()));
        let opened = mount.watch(ctx, Interest::Resource(local), asked).await;
        opened.map_err(|error| renamed(error, uri))
    }
}

impl Mount {
    pub(crate) fn watches(&self) -> bool {
        self.provider.facets().watch.is_some()
    }

    /// Whether there may be something to hear of.
    fn tells(&self, interest: &Interest) -> bool {
        let offers = |offer| self.relay().is_some_and(|relay| relay.has(offer));
        self.watches()
            && match interest {
                Interest::Offers(offer) => offers(*offer),
                Interest::Resource(_) | Interest::Listing | Interest::Everything => true,
            }
    }

    /// The mount's changes under public URIs; what was asked for keeps the URI it was asked by.
    async fn watch(
        &self,
        ctx: &Context,
        interest: Interest,
        asked: Option<(Uri, Uri)>,
    ) -> Result<Changes> {
        let watch = self.provider.facets().watch.ok_or_else(silent)?;
        let opened = watch.watch(ctx, interest).await.inspect_err(|error| {
            if !matches!(error.kind, ErrorKind::NotFound | ErrorKind::Unsupported) {
                tracing::warn!(mount = self.name, cause = ?error, "changes cannot be heard of");
            }
        });
        let address = Arc::clone(&self.address);
        let public = move |local: Uri| match &asked {
            Some((known, public)) if *known == local => Ok(public.clone()),
            _ => address.join(&local),
        };
        let published = move |change| {
            let change = match change {
                Change::Updated(uri) => public(uri).map(Change::Updated),
                Change::Removed(uri) => public(uri).map(Change::Removed),
                Change::Listing | Change::Offers(_) => Ok(change),
            };
            // A URI that cannot be made public was never listed either.
            std::future::ready(change.ok())
        };
        Ok(Box::pin(opened?.filter_map(published)))
    }
}

/// Says that a source never tells.
pub(crate) fn silent() -> Error {
    Error::new(ErrorKind::Unsupported, "its changes cannot be heard of")
}
