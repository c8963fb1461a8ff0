//! Changes under access rules: a list is reported as changed if the principal sees another list.
//!
//! A source says that a list changed, not what in it. So the layer compares what the principal sees.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use resource::{
    Change, ComponentKind, Context, Interest, Page, PageRequest, Provider, Relay as _, Resource,
    Result, Uri, Watch,
};
use tokio::time::{self, Instant};

use super::{AllowedProvider, class_of, is_plain_folder};
use crate::access::MethodClass;
use crate::changes::{ChangeStream, watch_unsupported};

/// The longest list that is compared, in items. Changes of a longer one are reported.
const MAX_COMPARED: usize = 50_000;
const COMPARED_PER_PAGE: usize = 1000;

/// How long a list may take to be read: before the watch begins, and for each comparison.
const FIRST_LOOK: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_secs(30);

/// A shorter look costs nothing; after a longer one the next one waits as long again.
const CHEAP_LOOK: Duration = Duration::from_millis(10);

#[async_trait]
impl Watch for AllowedProvider {
    async fn watch(&self, ctx: &Context, interest: Interest) -> Result<ChangeStream> {
        let inner = self.inner.facets().watch.ok_or_else(watch_unsupported)?;
        if let Interest::Resource(uri) = &interest {
            self.gate.check(ctx, MethodClass::Watch, uri)?;
        }
        let changes =
            inner.watch(ctx, interest.clone()).await.map_err(|error| match &interest {
                Interest::Resource(uri) => {
                    self.gate.hide_reason(ctx, MethodClass::Watch, uri, error)
                }
                _ => error,
            })?;
        let (provider, ctx) = (self.clone(), ctx.clone());
        let mut visible =
            VisibleChanges { provider, ctx, changes, known: HashMap::new(), rest_until: None };
        visible.look_first(&interest).await;
        Ok(Box::pin(stream::unfold(visible, VisibleChanges::next)))
    }

    fn is_shared(&self, _: &Interest) -> bool {
        false
    }
}

/// The changes of a source that one principal may know of.
struct VisibleChanges {
    provider: AllowedProvider,
    ctx: Context,
    changes: ChangeStream,
    /// The digests of the lists that the principal watches, as it saw them last; `None` for one that
    /// cannot be compared.
    known: HashMap<Interest, Option<u64>>,
    /// When the next list may be read.
    rest_until: Option<Instant>,
}

impl VisibleChanges {
    async fn next(mut self) -> Option<(Change, Self)> {
        loop {
            let change = self.changes.next().await?;
            if self.is_seen(&change).await {
                return Some((change, self));
            }
        }
    }

    /// Remembers the lists that the interest is in, as far as something in them may be denied.
    async fn look_first(&mut self, interest: &Interest) {
        let lists = match interest {
            Interest::Everything => {
                let components = ComponentKind::ALL.map(Interest::Components);
                components.into_iter().chain([Interest::Listing]).collect()
            }
            one => vec![one.clone()],
        };
        for list in lists {
            if self.may_hide(&list) {
                let digest =
                    time::timeout(FIRST_LOOK, digest(&self.provider, &self.ctx, &list)).await;
                self.known.insert(list, digest.ok().flatten());
            }
        }
    }

    /// Whether a list may have members that the principal does not see.
    fn may_hide(&self, list: &Interest) -> bool {
        let Self { provider: AllowedProvider { gate, .. }, ctx, .. } = self;
        match list {
            Interest::Resource(uri) => gate.may_deny_below(ctx, uri),
            Interest::Components(kind) => gate.may_deny_some(ctx, class_of(*kind)),
            Interest::Listing | Interest::Everything => gate.may_deny_some(ctx, MethodClass::List),
        }
    }

    async fn is_seen(&mut self, change: &Change) -> bool {
        match change.without_extra() {
            Change::Updated(uri) => {
                self.provider.gate.allows(&self.ctx, MethodClass::Watch, uri)
                    && self.is_visible_update(uri).await
            }
            Change::Removed(uri) => self.provider.gate.allows(&self.ctx, MethodClass::Watch, uri),
            Change::Listing | Change::WithExtra(..) => {
                self.provider.may_reach(&self.ctx, MethodClass::List)
                    && self.has_changed(&Interest::Listing).await
            }
            Change::Components(kind) => {
                self.provider.may_reach(&self.ctx, class_of(*kind))
                    && self.has_changed(&Interest::Components(*kind)).await
            }
        }
    }

    /// Whether an update of `uri` may be more than a member that the principal does not see.
    async fn is_visible_update(&mut self, uri: &Uri) -> bool {
        let list = Interest::Resource(uri.clone());
        if self.known.contains_key(&list) {
            return self.has_changed(&list).await;
        }
        if !self.provider.gate.may_deny_below(&self.ctx, uri) {
            return true;
        }
        // The members that the principal sees are reported by themselves.
        let described = self.provider.inner.stat(&self.ctx, uri).await;
        described.map_or(true, |resource| !is_plain_folder(&resource))
    }

    /// Whether the principal sees another list than before, as far as this can be told.
    async fn has_changed(&mut self, list: &Interest) -> bool {
        let Some(before) = self.known.get(list).copied() else { return true };
        if let Some(rest) = self.rest_until.take() {
            time::sleep_until(rest).await;
        }
        let start = Instant::now();
        let now = time::timeout(LOOK, digest(&self.provider, &self.ctx, list)).await.ok().flatten();
        let took = start.elapsed();
        self.rest_until = (took > CHEAP_LOOK).then(|| Instant::now() + took);
        self.known.insert(list.clone(), now);
        now.is_none() || now != before
    }
}

/// What the principal sees of a list, in a number; `None` if that cannot be told.
async fn digest(provider: &AllowedProvider, ctx: &Context, list: &Interest) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    match list {
        Interest::Resource(uri) => {
            let folder = provider.stat(ctx, uri).await.ok()?;
            if !is_plain_folder(&folder) {
                return None;
            }
            hash_resource(&folder, &mut hasher);
            let fetch = |paging| async move { provider.list(ctx, Some(uri), &paging).await };
            hash_pages(fetch, hash_resource, &mut hasher).await?;
        }
        Interest::Components(kind) => {
            let address = &*provider.gate.address;
            let fetch = |paging| async move {
                provider.list_components(ctx, *kind, address, &paging).await
            };
            let one = |component: &resource::Component, hasher: &mut DefaultHasher| {
                (&component.name, component.json.as_str()).hash(hasher);
            };
            hash_pages(fetch, one, &mut hasher).await?;
        }
        Interest::Listing | Interest::Everything => {
            let fetch = |paging| async move { provider.list(ctx, None, &paging).await };
            hash_pages(fetch, hash_resource, &mut hasher).await?;
            let fetch = |paging| async move { provider.templates(ctx, &paging).await };
            let one = |template: &resource::Template, hasher: &mut DefaultHasher| {
                (template.uri.as_str(), &template.name, &template.title).hash(hasher);
            };
            hash_pages(fetch, one, &mut hasher).await?;
        }
    }
    Some(hasher.finish())
}

/// Hashes the items of all pages; `None` if a page fails or there are too many items.
async fn hash_pages<T, F: Future<Output = Result<Page<T>>> + Send>(
    fetch: impl Fn(PageRequest) -> F + Send,
    hash_one: impl Fn(&T, &mut DefaultHasher) + Send,
    hasher: &mut DefaultHasher,
) -> Option<()> {
    let (mut request, mut total) = (PageRequest::first(COMPARED_PER_PAGE), 0);
    while total <= MAX_COMPARED {
        let page = fetch(request.clone()).await.ok()?;
        total += page.items.len();
        page.items.iter().for_each(|item: &Arc<T>| hash_one(item, hasher));
        let Some(next) = page.next else { return Some(()) };
        request.cursor = Some(next);
    }
    None
}

/// What of a resource is part of a list. Its content is not.
fn hash_resource(resource: &Resource, hasher: &mut DefaultHasher) {
    let Resource { uri, name, title, description, mime, listable, .. } = resource;
    (uri, name, title, description, mime, listable).hash(hasher);
}
