//! Rendering layer: documents in forms that a model or a person can read.
//!
//! A description names the forms of a document without converting it: in a list by its name, else by
//! its first bytes where the name tells nothing or may be wrong. A reading converts on demand,
//! by a [`Converter`], and keeps what it made. The layer lies around the one that masks secrets, so
//! that texts are converted from their masked form; what it makes of other documents it masks
//! itself.

mod content;
mod describe;
mod forms;
mod masking;
mod original;
mod sniff;

use std::sync::Arc;

use async_trait::async_trait;
use convert::{Conversion, DocumentKind, Form};
use redaction::Redaction;
use resource::{
    Accept, ByteSource, Context, Facets, Page, PageRequest, Provider, ReadRequest, Reading,
    Resource, Result, Template, Uri,
};

use super::Layer;
use crate::memo::Memo;
use describe::add_forms;
use forms::FormStore;
pub(super) use original::WITHHELD;
use sniff::TypeSniffer;

/// Gives documents in other forms.
#[derive(Clone)]
pub struct Rendered {
    /// What converts documents.
    pub converter: Arc<dyn Converter>,
    /// What is masked in the forms.
    pub redaction: Redaction,
    /// The formats that a reading gives if it wants none; empty for the original, and the text of a
    /// document beside it.
    pub formats: Accept,
    /// Whether forms may outlive the process: nothing in them belongs to one principal.
    pub keep: bool,
}

/// Converts documents, within limits.
#[async_trait]
pub trait Converter: Send + Sync + 'static {
    /// Converts a document into one form.
    async fn convert(&self, job: ConvertJob<'_>) -> Result<Conversion>;
}

/// A conversion to make.
pub struct ConvertJob<'a> {
    /// The kind of the document.
    pub kind: DocumentKind,
    /// What to make of it.
    pub form: Form,
    /// How much of its tables.
    pub extent: FormExtent,
    /// Its file name.
    pub name: &'a str,
    /// Its content.
    pub source: &'a dyn DocumentSource,
    /// Whether the result may outlive the process.
    pub keep: bool,
    /// The key of the principal on whose behalf it is converted.
    pub principal: &'a Arc<str>,
}

/// How much of the tables of a document a form has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FormExtent {
    /// As many rows and columns as are shown.
    Shown,
    /// All of them: the form is searched for secrets, and not shown.
    Searched,
}

/// The content of a document, which can be read from its start more than once.
#[async_trait]
pub trait DocumentSource: Send + Sync {
    /// Reads the content from its start, always of the same version.
    async fn open(&self) -> Result<ByteSource>;
}

impl Layer for Rendered {
    fn around(&self, inner: Arc<dyn Provider>) -> Arc<dyn Provider> {
        let forms = FormStore::new(Arc::clone(&inner), self);
        let sniffer = TypeSniffer::new(Arc::clone(&inner));
        let (formats, describe_memo) = (self.formats.clone(), Memo::default());
        Arc::new(RenderedProvider { inner, forms, sniffer, formats, describe_memo })
    }
}

struct RenderedProvider {
    inner: Arc<dyn Provider>,
    forms: FormStore,
    sniffer: TypeSniffer,
    formats: Accept,
    describe_memo: Memo,
}

impl RenderedProvider {
    /// Describes what is at `uri`, by its content where its name is not enough.
    async fn describe(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        let found = self.inner.stat(ctx, uri).await?;
        Ok(add_forms(self.sniffer.with_type(ctx, found).await))
    }
}

#[async_trait]
impl Provider for RenderedProvider {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let mut page = self.inner.list(ctx, parent, paging).await?;
        page.items = self.describe_memo.map(page.items, |item| Ok(Some(add_forms(item))))?;
        Ok(page)
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.inner.templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.describe(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        self.read_document(ctx, uri, request).await
    }

    fn facets(&self) -> Facets<'_> {
        let Facets { watch, complete, health, relay, mounts, search, skills } = self.inner.facets();
        // A form changes with its document. The others tell of no content in another form.
        Facets { watch, complete, health, relay, mounts, search, skills }
    }
}
