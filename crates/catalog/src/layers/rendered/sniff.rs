//! Type sniffing: the MIME type of a resource by its content, where its name is not enough.
//!
//! Sources know the type of what they read, so that a window of one byte tells it. A name that says
//! text is believed, and costs no look.

use std::sync::Arc;

use detection::mime;
use machinery::{Cache, CacheBounds};
use resource::{Content, Context, Provider, ReadRequest, Resource, Uri, Window};

/// The number of versions whose type is kept.
const MAX_KEPT_TYPES: usize = 4096;

/// Finds types by content.
pub(super) struct TypeSniffer {
    inner: Arc<dyn Provider>,
    /// By principal, URI and version.
    known: Cache<(Arc<str>, Uri, String), Option<Arc<str>>>,
}

impl TypeSniffer {
    pub(super) fn new(inner: Arc<dyn Provider>) -> Self {
        Self { inner, known: Cache::new(CacheBounds::entries(MAX_KEPT_TYPES)) }
    }

    /// The description with the type of its content; as it is, if the name is enough, or if a look
    /// would be a request to another server.
    pub(super) async fn with_type(&self, ctx: &Context, mut found: Arc<Resource>) -> Arc<Resource> {
        let is_file = found.listable != Some(true) && found.formats.is_empty();
        if !is_file || found.is_remote || !mime::is_uncertain(found.mime.as_deref()) {
            return found;
        }
        let key = found
            .etag
            .clone()
            .map(|etag| (Arc::clone(ctx.principal().key()), found.uri.clone(), etag));
        let kept = key.as_ref().and_then(|key| self.known.get(key));
        let mime = match kept {
            Some(kept) => kept,
            None => match self.look(ctx, &found).await {
                Ok(mime) => {
                    key.into_iter().for_each(|key| self.known.insert(key, mime.clone(), 1));
                    mime
                }
                // What cannot be read now has the type of its name; a read tells why.
                Err(_) => return found,
            },
        };
        if let Some(mime) = mime.filter(|mime| found.mime.as_deref() != Some(mime)) {
            Arc::make_mut(&mut found).mime = Some(mime.to_string());
        }
        found
    }

    async fn look(&self, ctx: &Context, found: &Resource) -> resource::Result<Option<Arc<str>>> {
        let window = Window::Part { offset: 0, length: 1, etag: found.etag.clone() };
        let reading = self.inner.read(ctx, &found.uri, &ReadRequest::from(window)).await?;
        let Content::Parts(parts) = reading.content else { return Ok(None) };
        let part = parts.into_iter().next();
        Ok(part.and_then(|part| part.resource.mime.as_deref().map(Arc::from)))
    }
}
