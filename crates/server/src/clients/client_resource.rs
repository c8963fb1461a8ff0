//! `refdesk://clients`: a watchable JSON resource that lists clients and their latest requests.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_core::Stream;
use futures_util::stream;
use protocol::inbound::shape::client_status::encode_clients;
use resource::{
    Change, Context, Error, Facets, Freshness, Interest, Page, PageRequest, Provider, ReadRequest,
    Reading, Resource, Result, Template, Uri, Watch,
};
use tokio::sync::watch;
use tokio::time::{self, Instant};

use super::{ClientRegistry, PrincipalClients};
use crate::watchers::etag_of;

const DESCRIPTION: &str = "Your connected clients and what they requested lately";

/// The shortest time between two updates: a busy client must not cause a flood of them.
const UPDATE_INTERVAL: Duration = Duration::from_secs(1);

impl ClientRegistry {
    /// The content of the resource: the clients of the principal, and what they requested.
    pub(super) fn status_json(&self, ctx: &Context) -> String {
        let clients = self.clients_of(ctx.principal());
        encode_clients(&clients.client_statuses(), &clients.request_statuses(self.mask_uri))
    }

    fn describe(&self, text: &str) -> Resource {
        let mut resource = Resource::new(self.uri.clone(), "clients");
        resource.description = Some(DESCRIPTION.to_owned());
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

#[async_trait]
impl Provider for ClientRegistry {
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

    /// None: a template would cost each model that lists them tokens, and programs know the URI.
    async fn templates(&self, _: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        if paging.cursor.is_some() { Err(Error::bad_cursor()) } else { Ok(Page::empty()) }
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
impl Watch for ClientRegistry {
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
        let clients = self.clients_of(ctx.principal());
        let changed = clients.changed.subscribe();
        let watch = ClientsWatch { _clients: clients, changed, last: None, uri: self.uri.clone() };
        Ok(Box::pin(stream::unfold(watch, ClientsWatch::next_change)))
    }

    fn is_shared(&self, _: &Interest) -> bool {
        false
    }
}

/// Yields a change when the table of a principal changed, at most once in an interval.
struct ClientsWatch {
    /// Keeps the table known while it is watched.
    _clients: Arc<PrincipalClients>,
    changed: watch::Receiver<()>,
    /// When the last change was yielded.
    last: Option<Instant>,
    uri: Uri,
}

impl ClientsWatch {
    async fn next_change(mut self) -> Option<(Change, Self)> {
        self.changed.changed().await.ok()?;
        if let Some(last) = self.last {
            time::sleep_until(last + UPDATE_INTERVAL).await;
            self.changed.mark_unchanged();
        }
        self.last = Some(Instant::now());
        Some((Change::Updated(self.uri.clone()), self))
    }
}
