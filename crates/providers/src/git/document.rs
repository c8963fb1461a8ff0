//! Documents about a repository: rendered on request, in several formats.

use std::sync::Arc;

use bytes::Bytes;
use resource::{Body, ByteSource, Content, Format, Part, ReadRequest, Reading, Resource, Result};

use super::repository::GitSession;

/// MIME types of documents.
pub(super) const MARKDOWN: &str = "text/markdown";
pub(super) const UNIFIED_DIFF: &str = "text/x-diff";
pub(super) const JSON: &str = "application/json";

/// A format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentFormat {
    /// For people and models: the primary one.
    Text,
    /// For programs.
    Json,
}

/// Declares that `resource` is a document, whose primary format is `mime`.
pub(super) fn declare_formats(resource: &mut Resource, mime: &str) {
    let format =
        |mime: &str| Format { mime: mime.to_owned(), size: None, etag: None, is_made: false };
    resource.mime = Some(mime.to_owned());
    resource.formats = vec![format(mime), format(JSON)];
}

impl GitSession<'_> {
    /// Reads the document `described`, of which `render` makes the wanted formats.
    pub(super) fn read_document(
        &self,
        described: &Resource,
        request: &ReadRequest,
        render: impl Fn(DocumentFormat) -> Result<String>,
    ) -> Result<Reading> {
        let primary = described.mime.clone().unwrap_or_default();
        let mut wanted =
            vec![(DocumentFormat::Text, primary.as_str()), (DocumentFormat::Json, JSON)];
        let total_parts = request.select(&mut wanted, |(_, mime)| Some(mime))?;
        if matches!(request.window, resource::Window::Part { .. }) {
            wanted.truncate(1);
        }
        let mut texts = Vec::with_capacity(wanted.len());
        for (format, mime) in wanted {
            texts.push((mime, self.render_cached(described, mime, || render(format))?));
        }
        let total = texts.iter().map(|(_, text)| text.len() as u64).sum();
        // A document without a version of its own has that of its content, in each format.
        let etag_of = |text: &Bytes| {
            let own = || blake3::hash(text).to_hex()[..24].to_owned();
            described.etag.clone().unwrap_or_else(own)
        };
        let first_etag = texts.first().map(|(_, text)| etag_of(text));
        request.window.check(first_etag.as_deref(), total)?;
        let parts = texts.into_iter().map(|(mime, text)| {
            let mut resource = described.clone();
            resource.mime = Some(mime.to_owned());
            resource.size = Some(text.len() as u64);
            resource.etag = Some(etag_of(&text));
            let (bytes, slice) = request.window.cut(&text, true);
            let body = Body::new(ByteSource::Bytes(bytes), true);
            Part { resource: Arc::new(resource), body, slice }
        });
        let content = Content::Parts(parts.collect());
        let freshness = self.git.freshness_of(described.immutable);
        Ok(Reading { total_parts, ..Reading::new(content, freshness) })
    }

    /// Renders a document, or takes the one that was rendered for the last window.
    fn render_cached(
        &self,
        described: &Resource,
        mime: &str,
        render: impl FnOnce() -> Result<String>,
    ) -> Result<Bytes> {
        let Some(etag) = &described.etag else { return Ok(Bytes::from(render()?)) };
        let key = (described.uri.clone(), format!("{mime} {etag}"));
        if let Some(text) = self.git.documents.get(&key) {
            return Ok(text);
        }
        let text = Bytes::from(render()?);
        let weight = text.len() + 2 * key.0.as_str().len() + 512;
        self.git.documents.insert(key, text.clone(), weight);
        Ok(text)
    }
}
