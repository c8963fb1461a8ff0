//! Describes a resource by `resources/metadata`, or else from the list, a template or a read.

use std::sync::Arc;

use client::Error as Failure;
use resource::{Error, Place, Resource, Result, Truth, Uri};

use super::Inner;
use super::fault::{fault_of, is_answer};
use super::keep::{Need, Worth};
use super::pages::Entry;

/// The `_meta` key that tells how a description was derived (B-13).
const DERIVED: &str = "dev.refdesk/derived";

/// Page size for reading the list of templates.
const TEMPLATES: usize = 10_000;

impl Inner {
    /// The server's description of `uri`, or one derived from its list, templates or content.
    pub(super) async fn stat(self: &Arc<Self>, uri: &Uri) -> Result<Resource> {
        let abilities = self.greeted().await.map_err(|failure| fault_of(failure, uri))?;
        if abilities.describes {
            match self.metadata(uri).await {
                Ok(resource) => return Ok(Resource::clone(&resource)),
                Err(failure) if failure.is_about_method() => {}
                Err(failure) => return Err(fault_of(failure, uri)),
            }
        }
        match self.whole().await {
            Ok(whole) => {
                if let Some(resource) = whole.find(uri) {
                    return Ok(derived(Resource::clone(resource), "list"));
                }
            }
            // Without a list, the resource itself can still be read.
            Err(failure) if is_answer(&failure) => {}
            Err(failure) => return Err(fault_of(failure, uri)),
        }
        if !self.reads_to_describe {
            return Err(Error::not_found(uri));
        }
        self.by_reading(uri).await
    }

    async fn metadata(self: &Arc<Self>, uri: &Uri) -> Result<Arc<Resource>, Failure> {
        if let Some((resource, _)) = self.stats.get(uri, Need::Fresh) {
            return Ok(resource);
        }
        let (inner, asked, epoch) = (Arc::clone(self), uri.clone(), self.stats.epoch());
        let ask = async move {
            let (mut resource, freshness) = inner.client.metadata(&asked).await?;
            inner.trouble.is_over();
            resource.uri = asked.clone();
            inner.temper(&mut resource);
            let resource = Arc::new(resource);
            let (ttl, weight) = (freshness.ttl, resource.weight());
            let worth = Worth { ttl, grace: ttl, weight };
            inner.stats.put(epoch, asked, Arc::clone(&resource), &worth);
            Ok(resource)
        };
        self.asked.join(uri.clone(), ask).await
    }

    /// B-13: describes `uri` from a read and a matching template. The body is discarded.
    async fn by_reading(self: &Arc<Self>, uri: &Uri) -> Result<Resource> {
        let opened = self.open(uri, Need::Begun).await?;
        let part = opened.parts.iter().find(|part| part.resource.uri == *uri);
        let Some(part) = part else { return Err(Error::not_found(uri)) };
        let mut resource = Resource::clone(&part.resource);
        resource.size.get_or_insert(part.bytes.len() as u64);
        let is_lone = opened.parts.iter().all(|part| part.resource.uri == *uri);
        if !is_lone && resource.listable == Truth::Unknown {
            resource.size = None;
        }
        let Some(template) = self.template_of(uri).await else {
            return Ok(derived(resource, "read"));
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
        Ok(derived(resource, "template"))
    }

    async fn template_of(self: &Arc<Self>, uri: &Uri) -> Option<resource::Template> {
        let mut ask = resource::Ask::first(TEMPLATES);
        loop {
            let page = self.templates(&ask).await.ok()?;
            let fits = page.items.iter().find(|template| template.uri.matches(uri).is_some());
            if let Some(template) = fits {
                return Some(resource::Template::clone(template));
            }
            ask.from = Some(page.next?);
        }
    }
}

fn derived(mut resource: Resource, from: &str) -> Resource {
    resource.extra.put(Place::Meta, DERIVED, format!("\"{from}\""));
    resource
}
