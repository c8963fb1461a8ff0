//! `refdesk://subscriptions`: a watchable JSON resource that lists the watchers and their URIs.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_core::Stream;
use futures_util::stream;
use protocol::inbound::tool::watcher_status::{WatcherStatus, encode_watchers};
use resource::{
    Body, ByteSource, Change, Content, Context, Error, Facets, Freshness, Interest, Page,
    PageRequest, Part, Provider, ReadRequest, Reading, Resource, Result, Template, Uri, Watch,
};

use super::WatcherRegistry;

impl WatcherRegistry {
    /// The content of the resource. It shows only a prefix of each handle, too short to use.
    pub(super) fn status_json(&self) -> String {
        let watchers: Vec<WatcherStatus> =
            self.live_watchers().iter().filter_map(|watcher| watcher.status()).collect();
        encode_watchers(&watchers)
    }

    fn describe(&self, text: &str) -> Resource {
        let mut resource = Resource::new(self.uri.clone(), "subscriptions");
        resource.description = Some("Active watches created with resources_watch".to_owned());
        resource.mime = Some("application/json".to_owned());
        resource.watchable = Some(true);
        resource.size = Some(text.len() as u64);
        resource.etag = Some(etag_of(text));
        resource
    }

    fn check_uri(&self, uri: &Uri) -> Result<()> {
        if *uri == self.uri { Ok(()) } else { Err(Error::not_found(uri)) }
    }
}

fn etag_of(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[async_trait]
impl Provider for WatcherRegistry {
    async fn list(
        &self,
        _: &Context,
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
        let mut items = vec![Arc::new(self.describe(&self.status_json()))];
        items.retain(|item| paging.shows(item));
        Ok(Page { items, ..Page::empty() })
    }

    async fn templates(&self, _: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        if paging.cursor.is_some() { Err(Error::bad_cursor()) } else { Ok(Page::empty()) }
    }

    async fn stat(&self, _: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.check_uri(uri)?;
        Ok(Arc::new(self.describe(&self.status_json())))
    }

    async fn read(&self, _: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        self.check_uri(uri)?;
        let text = self.status_json();
        let resource = Arc::new(self.describe(&text));
        request.select(&mut vec![&resource], |resource| resource.mime.as_deref())?;
        let checked = request.window.check(resource.etag.as_deref(), text.len() as u64);
        checked.map_err(|error| error.about(uri))?;
        let (text, slice) = request.window.cut(&text.into(), true);
        let part = Part { resource, body: Body::Text(ByteSource::Bytes(text)), slice };
        Ok(Reading::new(Content::Parts(vec![part]), Freshness::default()))
    }

    fn facets(&self) -> Facets<'_> {
        Facets { watch: Some(self), ..Facets::default() }
    }
}

#[async_trait]
impl Watch for WatcherRegistry {
    async fn watch(
        &self,
        _: &Context,
        interest: Interest,
    ) -> Result<Pin<Box<dyn Stream<Item = Change> + Send>>> {
        match interest {
            Interest::Listing | Interest::Components(_) => return Ok(Box::pin(stream::pending())),
            Interest::Resource(uri) => self.check_uri(&uri)?,
            Interest::Everything => {}
        }
        let heard = (self.changed.subscribe(), self.uri.clone());
        Ok(Box::pin(stream::unfold(heard, |(mut changed, uri)| async move {
            changed.changed().await.ok()?;
            Some((Change::Updated(uri.clone()), (changed, uri)))
        })))
    }

    fn is_shared(&self, _: &Interest) -> bool {
        true
    }
}
