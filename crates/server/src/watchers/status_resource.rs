//! `refdesk://subscriptions`: a watchable JSON resource that lists watchers and subscriptions.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_core::Stream;
use futures_util::stream;
use protocol::inbound::tool::watcher_status::{SubscriptionStatus, WatcherStatus, encode_watchers};
use resource::{
    Change, Context, Error, Facets, Freshness, Interest, Page, PageRequest, Provider, ReadRequest,
    Reading, Resource, Result, Template, Uri, UriTemplate, Watch,
};

use subscriptions::{HubMonitor, InterestStatus};

use super::WatcherRegistry;

const DESCRIPTION: &str = "Your active watches and subscriptions, and when each last changed";
const JSON_MIME: &str = "application/json";

impl WatcherRegistry {
    /// The content of the resource: the watchers and subscriptions of the principal. It shows only
    /// a prefix of each handle, too short to use.
    pub(super) fn status_json(&self, ctx: &Context) -> String {
        let watchers: Vec<WatcherStatus> = self
            .watchers_of(ctx.principal())
            .iter()
            .filter_map(|watcher| watcher.status())
            .collect();
        encode_watchers(&watchers, &self.subscriptions_of(ctx))
    }

    /// The subscriptions of the principal, whoever made them: a tool, a session, a listener.
    fn subscriptions_of(&self, ctx: &Context) -> Vec<SubscriptionStatus> {
        let Some(monitor) = self.monitor.get() else { return Vec::new() };
        let status = |status: InterestStatus| {
            let InterestStatus { interest, subscribers, last_change } = status;
            // A change of this resource may not change it again.
            let is_own = matches!(&interest, Interest::Resource(uri) if *uri == self.uri);
            let last_change = last_change.filter(|_| !is_own);
            SubscriptionStatus { interest, subscribers, last_change }
        };
        monitor.interests_of(ctx.principal()).into_iter().map(status).collect()
    }

    fn describe(&self, text: &str) -> Resource {
        let mut resource = Resource::new(self.uri.clone(), "subscriptions");
        resource.description = Some(DESCRIPTION.to_owned());
        resource.mime = Some(JSON_MIME.to_owned());
        resource.watchable = Some(true);
        resource.size = Some(text.len() as u64);
        resource.etag = Some(etag_of(text));
        resource
    }

    fn check_uri(&self, uri: &Uri) -> Result<()> {
        if *uri == self.uri { Ok(()) } else { Err(Error::not_found(uri)) }
    }
}

/// The etag of a text that the server makes.
pub(crate) fn etag_of(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[async_trait]
impl Provider for WatcherRegistry {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        if let Some(uri) = parent {
            self.check_uri(uri)?;
            return Err(Error::invalid("not a collection").about(uri));
        }
        if paging.cursor.is_some() {
            return Err(Error::bad_cursor());
        }
        let mut items = vec![Arc::new(self.describe(&self.status_json(ctx)))];
        items.retain(|item| paging.shows(item));
        Ok(Page::from_items(items, Freshness::default()))
    }

    async fn templates(&self, _: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        if paging.cursor.is_some() {
            return Err(Error::bad_cursor());
        }
        let mut template = Template::new(UriTemplate::parse(self.uri.as_str())?, "subscriptions");
        template.description = Some(DESCRIPTION.to_owned());
        template.mime = Some(JSON_MIME.to_owned());
        Ok(Page::from_items(vec![Arc::new(template)], Freshness::default()))
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.check_uri(uri)?;
        Ok(Arc::new(self.describe(&self.status_json(ctx))))
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        self.check_uri(uri)?;
        let text = self.status_json(ctx);
        Reading::of_text(self.describe(&text), text, request, Freshness::default())
    }

    fn facets(&self) -> Facets<'_> {
        Facets { watch: Some(self), ..Facets::default() }
    }
}

#[async_trait]
impl Watch for WatcherRegistry {
    async fn watch(
        &self,
        ctx: &Context,
        interest: Interest,
    ) -> Result<Pin<Box<dyn Stream<Item = Change> + Send>>> {
        match interest {
            Interest::Listing | Interest::Components(_) => return Ok(Box::pin(stream::pending())),
            Interest::Resource(uri) => self.check_uri(&uri)?,
            Interest::Everything => {}
        }
        let (watchers, hub) = (self.changed.subscribe(), self.monitor.get());
        let activity = hub.map_or_else(|| watchers.clone(), HubMonitor::activity);
        let state = ((watchers, activity), self.status_json(ctx), ctx.clone());
        let registry = self.this.clone();
        Ok(Box::pin(stream::unfold(state, move |(mut changed, known, ctx)| {
            let registry = registry.clone();
            async move {
                loop {
                    let (watchers, activity) = &mut changed;
                    tokio::select! {
                        change = watchers.changed() => change.ok()?,
                        change = activity.changed() => change.ok()?,
                    }
                    let registry = registry.upgrade()?;
                    // Another principal's watchers are no change for this one.
                    let text = registry.status_json(&ctx);
                    if text != known {
                        return Some((Change::Updated(registry.uri.clone()), (changed, text, ctx)));
                    }
                }
            }
        })))
    }

    fn is_shared(&self, _: &Interest) -> bool {
        false
    }
}
