//! `refdesk://subscriptions`: a watchable JSON resource that lists the watchers and their URIs.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_core::Stream;
use futures_util::stream;
use resource::{
    Ask, Body, Change, Content, Context, Error, Facets, Freshness, Interest, Page, Part, Provider,
    Reading, Resource, Result, Source, Template, Truth, Uri, Watch, Window,
};
use serde_json::{Value, json};

use super::Watchers;

impl Watchers {
    /// The content of the resource. It shows only a prefix of each handle, too short to use.
    pub(super) fn text(&self) -> String {
        let watchers: Value = self.all().iter().filter_map(|watcher| watcher.shown()).collect();
        format!("{:#}\n", json!({ "watchers": watchers }))
    }

    fn describe(&self, text: &str) -> Resource {
        let mut resource = Resource::new(self.uri.clone(), "subscriptions");
        resource.description = Some("Active watches created with resources_watch".to_owned());
        resource.mime = Some("application/json".to_owned());
        resource.watchable = Truth::Yes;
        resource.size = Some(text.len() as u64);
        resource.etag = Some(version(text));
        resource
    }

    fn check(&self, uri: &Uri) -> Result<()> {
        if *uri == self.uri { Ok(()) } else { Err(Error::not_found(uri)) }
    }
}

fn version(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[async_trait]
impl Provider for Watchers {
    async fn list(&self, _: &Context, parent: Option<&Uri>, ask: &Ask) -> Result<Page<Resource>> {
        if let Some(uri) = parent {
            self.check(uri)?;
            return Err(Error::invalid("not a collection").about(uri));
        }
        if ask.from.is_some() {
            return Err(Error::bad_cursor());
        }
        Ok(Page { items: vec![Arc::new(self.describe(&self.text()))], ..Page::empty() })
    }

    async fn templates(&self, _: &Context, ask: &Ask) -> Result<Page<Template>> {
        if ask.from.is_some() { Err(Error::bad_cursor()) } else { Ok(Page::empty()) }
    }

    async fn stat(&self, _: &Context, uri: &Uri) -> Result<Resource> {
        self.check(uri)?;
        Ok(self.describe(&self.text()))
    }

    async fn read(&self, _: &Context, uri: &Uri, window: &Window) -> Result<Reading> {
        self.check(uri)?;
        let text = self.text();
        let resource = Arc::new(self.describe(&text));
        let (text, slice) = window.cut(&text, &version(&text)).map_err(|error| error.about(uri))?;
        let part = Part { resource, body: Body::Text(Source::Bytes(text.into())), slice };
        Ok(Reading { content: Content::Parts(vec![part]), freshness: Freshness::default() })
    }

    fn facets(&self) -> Facets<'_> {
        Facets { watch: Some(self), ..Facets::default() }
    }
}

#[async_trait]
impl Watch for Watchers {
    async fn watch(
        &self,
        _: &Context,
        interest: Interest,
    ) -> Result<Pin<Box<dyn Stream<Item = Change> + Send>>> {
        match interest {
            Interest::Listing | Interest::Offers(_) => return Ok(Box::pin(stream::pending())),
            Interest::Resource(uri) => self.check(&uri)?,
            Interest::Everything => {}
        }
        let heard = (self.changed.subscribe(), self.uri.clone());
        Ok(Box::pin(stream::unfold(heard, |(mut changed, uri)| async move {
            changed.changed().await.ok()?;
            Some((Change::Updated(uri.clone()), (changed, uri)))
        })))
    }
}
