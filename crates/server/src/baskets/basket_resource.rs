//! Baskets as resources: each is a collection of the resources in it, under their own URIs.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{FutureExt, StreamExt, stream};
use resource::{
    Absence, CacheScope, Content, Context, Cursor, Error, ErrorKind, Facets, Freshness, Page,
    PageRequest, Provider, ReadRequest, Reading, Resource, Result, Template, Uri,
};

use super::basket::SCHEME;
use super::{Basket, BasketRegistry, CONCURRENCY};

/// How long a list of baskets may be cached. Subscribers are told of changes.
const LIST_TTL: Duration = Duration::from_secs(60);

impl BasketRegistry {
    /// The basket of the principal with this URI.
    pub(super) async fn find(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Basket>> {
        let baskets = self.baskets_of(ctx.principal()).await;
        let name = uri.as_str().strip_prefix(SCHEME).and_then(|rest| rest.strip_prefix("://"));
        let found = name.and_then(|name| baskets.get(name));
        found.cloned().ok_or_else(|| Error::not_found(uri))
    }

    /// One page of the baskets of the principal.
    async fn list_baskets(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Resource>> {
        let baskets = self.baskets_of(ctx.principal()).await;
        let last = paging.cursor.as_ref().map(|cursor| &cursor.0[..]);
        let rest = baskets.values().filter(|basket| last < Some(basket.name().as_bytes()));
        let mut rest = rest.peekable();
        let shown: Vec<_> = rest.by_ref().take(paging.limit.max(1)).collect();
        let next = shown.last().filter(|_| rest.peek().is_some());
        let next = next.map(|basket| Cursor(basket.name().to_owned().into()));
        let mut items = Vec::with_capacity(shown.len());
        for basket in shown {
            items.push(Arc::new(describe(basket)?));
        }
        items.retain(|item| paging.shows(item));
        // Without baskets, other lists may be cached for as long as they say.
        let ttl = if baskets.is_empty() { Duration::MAX } else { LIST_TTL };
        let freshness = Freshness { ttl, scope: CacheScope::Private };
        Ok(Page { next, ..Page::from_items(items, freshness) })
    }

    /// One page of the resources in a basket. Those that do not exist for the principal any more
    /// are left out; a source that does not answer is named.
    async fn list_members(
        &self,
        ctx: &Context,
        basket: &Basket,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let source = self.source()?;
        let position = |cursor: &Cursor| {
            let last = basket.uris().iter().position(|uri| uri.as_str().as_bytes() == cursor.0);
            last.map(|at| at + 1).ok_or_else(Error::bad_cursor)
        };
        let start = paging.cursor.as_ref().map_or(Ok(0), position)?;
        let rest = &basket.uris()[start..];
        let shown = &rest[..rest.len().min(paging.limit.max(1))];
        let mut stats = Vec::with_capacity(shown.len());
        for uri in shown {
            let source = &source;
            stats.push(async move { (uri, source.stat(ctx, uri).await) }.boxed());
        }
        let mut stats = stream::iter(stats).buffered(CONCURRENCY);
        let mut page = Page::empty();
        while let Some((uri, stat)) = stats.next().await {
            match stat {
                Ok(resource) if paging.shows(&resource) => page.items.push(resource),
                Err(error) if error.kind == ErrorKind::Unavailable => page
                    .absent
                    .push(Absence { name: uri.to_string(), reason: error.message.into_owned() }),
                Ok(_) | Err(_) => {}
            }
        }
        let next = shown.last().filter(|_| shown.len() < rest.len());
        page.next = next.map(|uri| Cursor(uri.as_str().to_owned().into()));
        Ok(page)
    }
}

fn describe(basket: &Basket) -> Result<Resource> {
    let mut resource = Resource::new(basket.uri()?, basket.name());
    let count = basket.uris().len();
    let noun = if count == 1 { "resource" } else { "resources" };
    resource.title = basket.title().map(str::to_owned);
    resource.description = Some(format!("{count} {noun} that a person put together"));
    resource.mime = Some("inode/directory".to_owned());
    resource.listable = Some(true);
    resource.watchable = Some(true);
    // A walk through all mounts finds its resources where they are.
    resource.is_view = true;
    Ok(resource)
}

#[async_trait]
impl Provider for BasketRegistry {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        match parent {
            None => self.list_baskets(ctx, paging).await,
            Some(uri) => {
                let basket = self.find(ctx, uri).await?;
                self.list_members(ctx, &basket, paging).await
            }
        }
    }

    /// None: the list has all baskets, and a template would cost each model that lists them tokens.
    async fn templates(&self, _: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        if paging.cursor.is_some() { Err(Error::bad_cursor()) } else { Ok(Page::empty()) }
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        Ok(Arc::new(describe(&*self.find(ctx, uri).await?)?))
    }

    async fn read(&self, ctx: &Context, uri: &Uri, _: &ReadRequest) -> Result<Reading> {
        let resource = self.stat(ctx, uri).await?;
        Ok(Reading::new(Content::Collection(resource), Freshness::default()))
    }

    fn facets(&self) -> Facets<'_> {
        Facets { watch: Some(self), ..Facets::default() }
    }
}
