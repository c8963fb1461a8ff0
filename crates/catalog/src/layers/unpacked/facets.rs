//! Changes of members: those of their archive, under the member's URI.

use async_trait::async_trait;
use futures_util::{StreamExt, future};
use resource::{Change, Context, Interest, Result, Watch};

use super::member_uri::archive_splits;
use super::{ArchivePlace, LocateDepth, UnpackedProvider};
use crate::changes::{ChangeStream, watch_unsupported};

#[async_trait]
impl Watch for UnpackedProvider {
    async fn watch(&self, ctx: &Context, interest: Interest) -> Result<ChangeStream> {
        let inner = self.inner.facets().watch.ok_or_else(watch_unsupported)?;
        let Interest::Resource(uri) = &interest else { return inner.watch(ctx, interest).await };
        let ArchivePlace::Inside(place) = self.locate(ctx, uri, LocateDepth::Named).await? else {
            return inner.watch(ctx, interest).await;
        };
        let (archive, uri) = (place.archive.outermost.uri.clone(), uri.clone());
        let changes = inner.watch(ctx, Interest::Resource(archive.clone())).await?;
        Ok(Box::pin(changes.filter_map(move |change| {
            let (change, extra) = change.into_parts();
            let own = match change {
                Change::Updated(changed) if changed == archive => {
                    Some(Change::Updated(uri.clone()))
                }
                Change::Removed(changed) if changed == archive => {
                    Some(Change::Removed(uri.clone()))
                }
                _ => None,
            };
            future::ready(own.map(|own| own.with_extra(extra)))
        })))
    }

    fn is_shared(&self, interest: &Interest) -> bool {
        let is_shared = |interest: &Interest| {
            self.inner.facets().watch.is_some_and(|watch| watch.is_shared(interest))
        };
        match interest {
            // Which of them it is takes a look at the source: all must be shared.
            Interest::Resource(uri) => {
                let mut archives = archive_splits(uri);
                archives.all(|split| is_shared(&Interest::Resource(split.archive)))
                    && is_shared(interest)
            }
            interest => is_shared(interest),
        }
    }
}
