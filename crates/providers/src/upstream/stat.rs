//! Describes a resource by `resources/metadata`, or else from the list, a template or a read.

use std::sync::Arc;
use std::time::SystemTime;

use client::Error as Failure;
use machinery::{CacheLifetime, RequiredFreshness};
use resource::{Error, MemberPlace, Resource, Result, Uri};

use super::Inner;
use super::error_mapping::{is_response, resource_error};
use super::page_cache::UpstreamListEntry;

/// The `_meta` key that tells how a description was derived (B-13).
const DERIVED_KEY: &str = "dev.refdesk/derived";

/// The `_meta` key that tells when the server gave the description: a cached one is older than the
/// answer.
const FETCHED_KEY: &str = "dev.refdesk/fetched";

/// Page size for reading the list of templates.
const TEMPLATE_PAGE_SIZE: usize = 10_000;

impl Inner {
    /// The server's description of `uri`, or one derived from its list, templates or content.
    pub(super) async fn describe(self: &Arc<Self>, uri: &Uri) -> Result<Arc<Resource>> {
        let abilities =
            self.capabilities().await.map_err(|failure| resource_error(failure, uri))?;
        if abilities.has_metadata {
            match self.fetch_metadata(uri).await {
                Ok(resource) => return Ok(resource),
                Err(failure) if failure.is_method_not_found() => {}
                Err(failure) => return Err(resource_error(failure, uri)),
            }
        }
        match self.full_listing().await {
            Ok(whole) => {
                if let Some(resource) = whole.find(uri) {
                    let resource = mark_derived(Resource::clone(resource), "list");
                    return Ok(Arc::new(mark_fetched(resource, whole.fetched())));
                }
            }
            // Without a list, the resource itself can still be read.
            Err(failure) if is_response(&failure) => {}
            Err(failure) => return Err(resource_error(failure, uri)),
        }
        if !self.reads_to_describe {
            return Err(Error::not_found(uri));
        }
        self.describe_by_reading(uri).await.map(Arc::new)
    }

    async fn fetch_metadata(self: &Arc<Self>, uri: &Uri) -> Result<Arc<Resource>, Failure> {
        if let Some(resource) = self.metadata_cache.get(uri) {
            return Ok(resource);
        }
        let (inner, asked, epoch) = (Arc::clone(self), uri.clone(), self.metadata_cache.epoch());
        let ask = async move {
            let (mut resource, freshness) = inner.client.metadata(&asked).await?;
            inner.failure_log.record_success();
            resource.uri = asked.clone();
            inner.apply_capabilities(&mut resource);
            let resource = Arc::new(mark_fetched(resource, SystemTime::now()));
            let (ttl, weight) = (freshness.ttl, resource.weight());
            let worth = CacheLifetime { ttl, grace: ttl, weight };
            inner.metadata_cache.insert_current(epoch, asked, Arc::clone(&resource), &worth);
            Ok(resource)
        };
        self.metadata_flight.join(uri.clone(), ask).await
    }

    /// B-13: describes `uri` from a read and a matching template. The body is discarded.
    async fn describe_by_reading(self: &Arc<Self>, uri: &Uri) -> Result<Resource> {
        let opened = self.read_cached(uri, RequiredFreshness::WithinGrace).await?;
        let part = opened.parts.iter().find(|part| part.resource.uri == *uri);
        let Some(part) = part else { return Err(Error::not_found(uri)) };
        let mut resource = mark_fetched(Resource::clone(&part.resource), opened.fetched);
        resource.size.get_or_insert(part.bytes.len() as u64);
        let is_lone = opened.parts.iter().all(|part| part.resource.uri == *uri);
        if !is_lone && resource.listable.is_none() {
            resource.size = None;
        }
        let Some(template) = self.matching_template(uri).await else {
            return Ok(mark_derived(resource, "read"));
        };
        resource.title = resource.title.or(template.title);
        resource.description = resource.description.or(template.description);
        resource.mime = resource.mime.or(template.mime);
        if resource.icons.is_empty() {
            resource.icons = template.icons;
        }
        if resource.annotations == resource::Annotations::default() {
            resource.annotations = template.annotations;
        }
        Ok(mark_derived(resource, "template"))
    }

    async fn matching_template(self: &Arc<Self>, uri: &Uri) -> Option<resource::Template> {
        let mut ask = resource::PageRequest::first(TEMPLATE_PAGE_SIZE);
        loop {
            let page = self.list_templates(&ask).await.ok()?;
            let fits = page.items.iter().find(|template| template.uri.matches(uri).is_some());
            if let Some(template) = fits {
                return Some(resource::Template::clone(template));
            }
            ask.cursor = Some(page.next?);
        }
    }
}

fn mark_derived(mut resource: Resource, from: &str) -> Resource {
    resource.extra.set(MemberPlace::Meta, DERIVED_KEY, format!("\"{from}\""));
    resource
}

fn mark_fetched(mut resource: Resource, at: SystemTime) -> Resource {
    let time = humantime::format_rfc3339_seconds(at);
    resource.extra.set(MemberPlace::Meta, FETCHED_KEY, format!("\"{time}\""));
    resource
}
