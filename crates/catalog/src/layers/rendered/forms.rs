//! The forms that were made: each is converted once for a version of its document, and masked.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use convert::{Conversion, DocumentKind, Form, MAX_DOCUMENT_BYTES, Section};
use futures_util::{StreamExt, stream};
use machinery::{Cache, CacheBounds, CacheLifetime, SingleFlight};
use redaction::{Redaction, Syntax};
use resource::{
    Body, ByteSource, Content, Context, Error, ErrorKind, Outline, Provider, ReadRequest, Resource,
    Result, Uri,
};
use tokio::time::Instant;

use super::describe::file_name;
use super::masking::mask_form;
use super::{ConvertJob, DocumentSource, FormExtent, Rendered};
use crate::layers::redacted::redaction_path;

/// The most bytes of forms in memory.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// A failure that may pass is kept for this many times as long as the attempt took, so that a document
/// that makes converters hang takes a small part of their time.
const FAILURE_FACTOR: u32 = 6;
const MAX_FAILURE_TIME: Duration = Duration::from_secs(60);

/// The mark that says UTF-8, before a text that the source has decoded.
const UTF_8_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Converts documents, and keeps the forms.
pub(super) struct FormStore {
    inner: Arc<dyn Provider>,
    terms: Rendered,
    made: Arc<Cache<FormKey, FormOutcome>>,
    flights: SingleFlight<FormKey, FormOutcome>,
}

/// Whose form of which version of which document, and with how much of its tables.
type FormKey = (Arc<str>, Uri, String, Form, FormExtent);

/// A form, or why there is none.
type FormOutcome = std::result::Result<Arc<MadeForm>, FormFailure>;

/// A document in another form, masked.
pub(super) struct MadeForm {
    pub(super) body: Bytes,
    pub(super) sections: Vec<Section>,
    pub(super) losses: Vec<String>,
    pub(super) outline: Option<Arc<Outline>>,
    /// Whether a secret was masked in it.
    pub(super) is_masked: bool,
    /// Whether a limit cut off some of the text.
    is_cut: bool,
}

/// What is known of the secrets in a document.
pub(super) enum SecretVerdict {
    /// Nothing in it is masked.
    Clean,
    /// A secret in it is masked.
    HoldsSecrets,
    /// Not all of its text was seen.
    Unsearched(FormFailure),
}

/// Why a document has no such form.
#[derive(Clone)]
pub(super) struct FormFailure {
    kind: ErrorKind,
    pub(super) message: Cow<'static, str>,
}

impl From<FormFailure> for Error {
    fn from(failure: FormFailure) -> Self {
        Self::new(failure.kind, failure.message)
    }
}

impl From<Error> for FormFailure {
    fn from(error: Error) -> Self {
        Self { kind: error.kind, message: error.message }
    }
}

impl FormStore {
    pub(super) fn new(inner: Arc<dyn Provider>, terms: &Rendered) -> Self {
        let made = Arc::new(Cache::new(CacheBounds::weight(MAX_KEPT_BYTES)));
        Self { inner, terms: terms.clone(), made, flights: SingleFlight::default() }
    }

    /// The form of the version of a document that `original` describes.
    pub(super) async fn form(
        &self,
        ctx: &Context,
        original: &Arc<Resource>,
        (kind, form): (DocumentKind, Form),
    ) -> FormOutcome {
        self.form_with(ctx, original, (kind, form, FormExtent::Shown)).await
    }

    /// Whether the text of a document holds secrets, all of it: also what a form does not show.
    pub(super) async fn search(
        &self,
        ctx: &Context,
        original: &Arc<Resource>,
        kind: DocumentKind,
    ) -> SecretVerdict {
        let Some(first) = kind.forms().first().copied().filter(|form| form.is_text()) else {
            return SecretVerdict::Clean;
        };
        let is_cut = match self.form(ctx, original, (kind, first)).await {
            Ok(shown) if shown.is_masked => return SecretVerdict::HoldsSecrets,
            Ok(shown) => shown.is_cut,
            Err(failure) => return SecretVerdict::Unsearched(failure),
        };
        // The table of a sheet shows no long formulas, and not all comments.
        let wanted = match kind {
            DocumentKind::Xlsx | DocumentKind::Ods => Form::Json,
            _ if is_cut => first,
            _ => return SecretVerdict::Clean,
        };
        match self.form_with(ctx, original, (kind, wanted, FormExtent::Searched)).await {
            Ok(all) if all.is_masked => SecretVerdict::HoldsSecrets,
            Ok(all) if all.is_cut => SecretVerdict::Unsearched(FormFailure {
                kind: ErrorKind::TooLarge,
                message: Cow::Borrowed("its text is over the limits"),
            }),
            Ok(_) => SecretVerdict::Clean,
            Err(failure) => SecretVerdict::Unsearched(failure),
        }
    }

    async fn form_with(
        &self,
        ctx: &Context,
        original: &Arc<Resource>,
        wanted: (DocumentKind, Form, FormExtent),
    ) -> FormOutcome {
        let document = InnerDocument {
            inner: Arc::clone(&self.inner),
            ctx: ctx.clone(),
            original: Arc::clone(original),
        };
        let terms = self.terms.clone();
        let Some(key) = form_key(ctx, original, wanted) else {
            return make_form(terms, document, wanted).await;
        };
        if let Some(made) = self.made.get(&key) {
            return made;
        }
        let (made, own_key) = (Arc::clone(&self.made), key.clone());
        let work = async move {
            let started = Instant::now();
            let outcome = make_form(terms, document, wanted).await;
            let weight = outcome.as_ref().map_or(256, |form| form.body.len() + 256);
            match &outcome {
                // What may succeed later is tried again, but not at once if the attempt took long.
                Err(failure) if failure.is_passing() => {
                    let ttl = (started.elapsed() * FAILURE_FACTOR).min(MAX_FAILURE_TIME);
                    let lifetime = CacheLifetime { ttl, grace: ttl, weight };
                    made.insert_current(made.epoch(), own_key, outcome.clone(), &lifetime);
                }
                _ => made.insert(own_key, outcome.clone(), weight),
            }
            outcome
        };
        self.flights.join(key, work).await
    }

    /// Whether the text of what is at `uri` is masked by this layer.
    pub(super) fn masks(&self, uri: &Uri) -> bool {
        masks(&self.terms.redaction, uri)
    }
}

impl FormFailure {
    /// Whether another attempt may succeed.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self.kind, ErrorKind::Unavailable | ErrorKind::Changed | ErrorKind::Internal)
    }
}

fn form_key(
    ctx: &Context,
    original: &Resource,
    (_, form, extent): (DocumentKind, Form, FormExtent),
) -> Option<FormKey> {
    let version = original.etag.clone()?;
    Some((Arc::clone(ctx.principal().key()), original.uri.clone(), version, form, extent))
}

async fn make_form(
    terms: Rendered,
    document: InnerDocument,
    (kind, form, extent): (DocumentKind, Form, FormExtent),
) -> FormOutcome {
    let uri = &document.original.uri;
    if let Some(size) = document.original.size.filter(|size| *size > MAX_DOCUMENT_BYTES) {
        let message = format!(
            "this document is {size} bytes; the largest that is converted is {MAX_DOCUMENT_BYTES}"
        );
        return Err(Error::new(ErrorKind::TooLarge, message).into());
    }
    let has_masks = masks(&terms.redaction, uri);
    let keep = terms.keep && !has_masks;
    let (name, principal) = (&*file_name(uri), document.ctx.principal().key());
    let job = ConvertJob { kind, form, extent, name, source: &document, keep, principal };
    let converted = terms.converter.convert(job).await;
    let (converted, is_masked) = match converted {
        Ok(converted) if has_masks && form.is_text() => {
            mask_form(&terms.redaction, (form, extent), converted).await?
        }
        Ok(converted) => (converted, false),
        Err(error) => {
            let mut failure = FormFailure::from(error);
            if has_masks {
                let masked = terms.redaction.redactor().mask(&failure.message, Syntax::Text);
                failure.message = Cow::Owned(masked.into_owned());
            }
            return Err(failure);
        }
    };
    let outline = converted.outline(kind).map(Arc::new);
    let Conversion { body, sections, losses, is_cut } = converted;
    // Nobody reads what was made for a search.
    let body = if extent == FormExtent::Searched { Vec::new() } else { body };
    Ok(Arc::new(MadeForm { body: body.into(), sections, losses, outline, is_masked, is_cut }))
}

/// Whether a text of what is at `uri` is masked.
fn masks(redaction: &Redaction, uri: &Uri) -> bool {
    redaction.syntax_of(&redaction_path(uri)).is_some()
}

/// A document of the provider.
struct InnerDocument {
    inner: Arc<dyn Provider>,
    ctx: Context,
    original: Arc<Resource>,
}

#[async_trait]
impl DocumentSource for InnerDocument {
    async fn open(&self) -> Result<ByteSource> {
        let uri = &self.original.uri;
        let request = ReadRequest::whole(MAX_DOCUMENT_BYTES);
        let reading = self.inner.read(&self.ctx, uri, &request).await?;
        let Content::Parts(parts) = reading.content else {
            return Err(Error::invalid("this resource has no content of its own").about(uri));
        };
        let part = parts.into_iter().next();
        let part = part.ok_or_else(|| Error::internal("a provider returned no part").about(uri))?;
        if part.resource.etag != self.original.etag {
            return Err(Error::changed(part.resource.etag.clone().unwrap_or_default()).about(uri));
        }
        Ok(match part.body {
            Body::Blob(source) => source,
            Body::Text(source) => {
                let mark = stream::once(async { Ok(Bytes::from_static(UTF_8_MARK)) });
                let text = match source {
                    ByteSource::Bytes(bytes) => stream::once(async { Ok(bytes) }).boxed(),
                    ByteSource::Stream(text) => text,
                };
                ByteSource::Stream(mark.chain(text).boxed())
            }
        })
    }
}
