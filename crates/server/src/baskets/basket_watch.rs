//! Changes of baskets: those that are saved or removed, and those of the resources in them.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures_core::Stream;
use futures_util::stream::SelectAll;
use futures_util::{StreamExt, stream};
use resource::{Change, Context, Interest, Result, Uri, Watch};
use tokio::sync::watch;
use tokio::time::{self, Interval, MissedTickBehavior};

use super::{Basket, BasketMap, BasketRegistry, CONCURRENCY};

/// How often the storage is looked at for changes that another process made.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

type BasketChanges = Pin<Box<dyn Stream<Item = Change> + Send>>;

#[async_trait]
impl Watch for BasketRegistry {
    async fn watch(&self, ctx: &Context, interest: Interest) -> Result<BasketChanges> {
        let changed = self.changed.subscribe();
        let members = match &interest {
            Interest::Components(_) => return Ok(Box::pin(stream::pending())),
            Interest::Resource(uri) => self.watch_members(ctx, &*self.find(ctx, uri).await?).await,
            // Their own mounts report them.
            Interest::Listing | Interest::Everything => SelectAll::new(),
        };
        let mut poll = time::interval_at(time::Instant::now() + POLL_INTERVAL, POLL_INTERVAL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let known = self.baskets_of(ctx.principal()).await;
        let (registry, ctx) = (self.this.clone(), ctx.clone());
        let pending = VecDeque::new();
        let watch = BasketWatch { registry, ctx, interest, known, changed, poll, members, pending };
        Ok(Box::pin(stream::unfold(watch, BasketWatch::next_change)))
    }

    fn is_shared(&self, _: &Interest) -> bool {
        false
    }
}

impl BasketRegistry {
    /// The changes of the resources in a basket, as far as their sources report any.
    async fn watch_members(&self, ctx: &Context, basket: &Basket) -> SelectAll<BasketChanges> {
        let source = self.source().ok();
        let watch = source.as_ref().and_then(|source| source.facets().watch);
        let Some(watch) = watch else { return SelectAll::new() };
        let mut opening = Vec::with_capacity(basket.uris().len());
        for uri in basket.uris() {
            opening.push(watch.watch(ctx, Interest::Resource(uri.clone())));
        }
        let mut opening = stream::iter(opening).buffer_unordered(CONCURRENCY);
        let mut opened = SelectAll::new();
        while let Some(changes) = opening.next().await {
            opened.extend(changes);
        }
        opened
    }
}

/// The changes of one basket, of the list of baskets, or of both.
struct BasketWatch {
    registry: Weak<BasketRegistry>,
    ctx: Context,
    interest: Interest,
    /// The baskets that were reported.
    known: Arc<BasketMap>,
    changed: watch::Receiver<()>,
    poll: Interval,
    members: SelectAll<BasketChanges>,
    /// The changes that are not reported yet.
    pending: VecDeque<Change>,
}

impl BasketWatch {
    async fn next_change(mut self) -> Option<(Change, Self)> {
        loop {
            if let Some(change) = self.pending.pop_front() {
                return Some((change, self));
            }
            tokio::select! {
                Some(change) = self.members.next() => return Some((change, self)),
                changed = self.changed.changed() => changed.ok()?,
                _ = self.poll.tick() => {}
            }
            let registry = self.registry.upgrade()?;
            let baskets = registry.baskets_of(self.ctx.principal()).await;
            let known = std::mem::replace(&mut self.known, baskets);
            self.pending = changes_between(&known, &self.known);
            if let Interest::Resource(uri) = &self.interest {
                self.pending.retain(|change| is_about(change, uri));
                if !self.pending.is_empty() {
                    let basket = registry.find(&self.ctx, uri).await.ok();
                    self.members = match basket {
                        Some(basket) => registry.watch_members(&self.ctx, &basket).await,
                        None => SelectAll::new(),
                    };
                }
            } else if self.interest == Interest::Listing {
                self.pending.retain(|change| *change == Change::Listing);
            }
        }
    }
}

/// The changes that lead from `before` to `after`, the one of the list last.
fn changes_between(before: &BasketMap, after: &BasketMap) -> VecDeque<Change> {
    let changed = after.iter().filter(|(name, basket)| before.get(*name) != Some(basket));
    let changed = changed.filter_map(|(_, basket)| basket.uri().ok()).map(Change::Updated);
    let removed = before.iter().filter(|(name, _)| !after.contains_key(*name));
    let removed = removed.filter_map(|(_, basket)| basket.uri().ok()).map(Change::Removed);
    let mut changes: VecDeque<_> = changed.chain(removed).collect();
    if !changes.is_empty() {
        changes.push_back(Change::Listing);
    }
    changes
}

fn is_about(change: &Change, basket: &Uri) -> bool {
    matches!(change, Change::Updated(uri) | Change::Removed(uri) if uri == basket)
}
