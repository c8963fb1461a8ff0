//! The forms that were made: each is converted once for a version of its document, and masked.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use convert::{Converted, DocumentKind, Form, MAX_DOCUMENT_BYTES, Section};
use futures_util::{StreamExt, stream};
use machinery::{Cache, CacheBounds, SingleFlight};
use redaction::{Redaction, Syntax};
use resource::{
    Body, ByteSource, Content, Context, Error, ErrorKind, Outline, Provider, ReadRequest, Resource,
    Result, Uri,
};

use super::describe::file_name;
use super::{ConvertJob, DocumentSource, Rendered};
use crate::layers::redacted::redaction_path;

/// The most bytes of forms in memory.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// The mark that says UTF-8, before a text that the source has decoded.
const UTF_8_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Converts documents, and keeps the forms.
pub(super) struct FormStore {
    inner: Arc<dyn Provider>,
    terms: Rendered,
    made: Arc<Cache<FormKey, FormOutcome>>,
    flights: SingleFlight<FormKey, FormOutcome>,
}

/// Whose form of which version of which document.
type FormKey = (Arc<str>, Uri, String, Form);

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
        let document = InnerDocument {
            inner: Arc::clone(&self.inner),
            ctx: ctx.clone(),
            original: Arc::clone(original),
        };
        let terms = self.terms.clone();
        let Some(key) = form_key(ctx, original, form) else {
            return make_form(terms, document, (kind, form)).await;
        };
        if let Some(made) = self.made.get(&key) {
            return made;
        }
        let (made, own_key) = (Arc::clone(&self.made), key.clone());
        let work = async move {
            let outcome = make_form(terms, document, (kind, form)).await;
            // What may succeed later is tried again.
            let is_final = !matches!(&outcome, Err(failure) if failure.is_passing());
            if is_final {
                let weight = outcome.as_ref().map_or(256, |form| form.body.len() + 256);
                made.insert(own_key, outcome.clone(), weight);
            }
            outcome
        };
        self.flights.join(key, work).await
    }

    /// Whether the text of what is at `uri` is masked by this layer.
    pub(super) fn masks(&self, uri: &Uri) -> bool {
        syntax_of(&self.terms.redaction, uri).is_some()
    }
}

impl FormFailure {
    /// Whether another attempt may succeed.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self.kind, ErrorKind::Unavailable | ErrorKind::Changed | ErrorKind::Internal)
    }
}

fn form_key(ctx: &Context, original: &Resource, form: Form) -> Option<FormKey> {
    let version = original.etag.clone()?;
    Some((Arc::clone(ctx.principal().key()), original.uri.clone(), version, form))
}

async fn make_form(
    terms: Rendered,
    document: InnerDocument,
    (kind, form): (DocumentKind, Form),
) -> FormOutcome {
    let uri = &document.original.uri;
    if let Some(size) = document.original.size.filter(|size| *size > MAX_DOCUMENT_BYTES) {
        let message = format!(
            "this document is {size} bytes; the largest that is converted is {MAX_DOCUMENT_BYTES}"
        );
        return Err(Error::new(ErrorKind::TooLarge, message).into());
    }
    let syntax = syntax_of(&terms.redaction, uri).filter(|_| form.is_text());
    let keep = terms.keep && syntax.is_none();
    let job = ConvertJob { kind, form, name: &file_name(uri), source: &document, keep };
    let converted = terms.converter.convert(job).await?;
    let outline = converted.outline(kind).map(Arc::new);
    Ok(Arc::new(match syntax {
        Some(syntax) => {
            let syntax = if form == Form::Json { Syntax::of_mime(form.mime()) } else { syntax };
            mask_form(&terms.redaction, syntax, converted, outline)
        }
        None => {
            let Converted { body, sections, losses } = converted;
            MadeForm { body: body.into(), sections, losses, outline, is_masked: false }
        }
    }))
}

/// How a text of what is at `uri` is masked; `None` if it is not.
fn syntax_of(redaction: &Redaction, uri: &Uri) -> Option<Syntax> {
    redaction.syntax_of(&redaction_path(uri)).map(|_| Syntax::Text)
}

/// Masks each section, so that its place is known afterwards.
fn mask_form(
    redaction: &Redaction,
    syntax: Syntax,
    converted: Converted,
    outline: Option<Arc<Outline>>,
) -> MadeForm {
    let text = String::from_utf8_lossy(&converted.body).into_owned();
    let mut sections = converted.sections;
    let starts: Vec<usize> = sections.iter().map(|section| section.start).collect();
    let (mut body, mut is_masked) = (String::with_capacity(text.len()), false);
    let first = starts.first().copied().unwrap_or(text.len());
    let ends = starts.iter().skip(1).copied().chain(std::iter::once(text.len()));
    let mut push = |body: &mut String, piece: &str| {
        let masked = redaction.redactor().mask(piece, syntax);
        is_masked |= matches!(masked, Cow::Owned(_));
        body.push_str(&masked);
    };
    push(&mut body, text.get(..first).unwrap_or_default());
    for ((start, end), section) in starts.iter().zip(ends).zip(&mut sections) {
        section.start = body.len();
        push(&mut body, text.get(*start..end).unwrap_or_default());
    }
    MadeForm { body: body.into(), sections, losses: converted.losses, outline, is_masked }
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
