//! Redaction layer: masks secrets in everything that a mount says.
//!
//! Only the layer that unpacks archives is further in, so that windows, rules, searches and caches see masked text only.
//! Providers that cut files into pieces (a diff, one key) mask before they cut, by the same
//! [`Redaction`].

mod caller;
mod content;
mod facets;
mod search;
mod text_stream;

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use machinery::WorkPool;
use redaction::{Redaction, Syntax};
use resource::{
    Complete, Content, Context, Error, Facets, Health, Json, MemberPlace, Page, PageRequest,
    Provider, ReadRequest, Reading, Relay, Resource, Result, Search, Skills, Template,
    UnknownMembers, Uri, Watch, uri,
};

use super::Layer;
use super::unpacked::member_uri::is_in_archive;
use crate::memo::Memo;
use content::ContentMasker;

/// Masks what the redaction covers.
pub struct Redacted {
    /// What is masked.
    pub redaction: Redaction,
    /// The threads for large texts.
    pub work_pool: Arc<WorkPool>,
}

impl Layer for Redacted {
    fn around(&self, inner: Arc<dyn Provider>) -> Arc<dyn Provider> {
        let masker = MountMasker(self.redaction.clone(), MaskedUris::All);
        mask_around(inner, masker, &self.work_pool)
    }
}

/// Masks the members of archives, in a mount whose provider masks everything else.
pub struct RedactedMembers {
    /// What is masked.
    pub redaction: Redaction,
    /// The threads for large texts.
    pub work_pool: Arc<WorkPool>,
}

impl Layer for RedactedMembers {
    fn around(&self, inner: Arc<dyn Provider>) -> Arc<dyn Provider> {
        let masker = MountMasker(self.redaction.clone(), MaskedUris::InArchives);
        mask_around(inner, masker, &self.work_pool)
    }
}

fn mask_around(
    inner: Arc<dyn Provider>,
    masker: MountMasker,
    work_pool: &Arc<WorkPool>,
) -> Arc<dyn Provider> {
    let content = ContentMasker::new(Arc::clone(&inner), masker.clone(), Arc::clone(work_pool));
    Arc::new(RedactedProvider { inner, masker, content, describe_memo: Memo::default() })
}

struct RedactedProvider {
    inner: Arc<dyn Provider>,
    masker: MountMasker,
    content: ContentMasker,
    describe_memo: Memo,
}

/// Masks texts of a mount: descriptions, messages, JSON.
#[derive(Clone)]
struct MountMasker(Redaction, MaskedUris);

/// Whose content is masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MaskedUris {
    All,
    InArchives,
}

impl MountMasker {
    /// How the content of `uri` is masked, as far as the URI tells; `None` if it is given as it is.
    fn syntax_of_uri(&self, uri: &Uri) -> Option<Syntax> {
        let is_meant = self.1 == MaskedUris::All || is_in_archive(uri);
        is_meant.then(|| self.0.syntax_of(&redaction_path(uri))).flatten()
    }

    /// How the content of a resource is masked; `None` if it is given as it is.
    fn syntax_of(&self, resource: &Resource) -> Option<Syntax> {
        let (target, mime) = (resource.link_target.as_deref(), resource.mime.as_deref());
        self.0.syntax_of_content(self.syntax_of_uri(&resource.uri), target, mime)
    }

    /// Whether a name or a syntax says that there are secrets, whatever the content is.
    fn is_sensitive(&self, resource: &Resource, syntax: Syntax) -> bool {
        syntax.has_keys()
            || Syntax::is_sensitive(&redaction_path(&resource.uri))
            || resource.link_target.as_deref().is_some_and(Syntax::is_sensitive)
    }

    /// Whether one of the parts is masked because of the file that links lead to.
    fn masks_link_target(&self, content: &Content) -> bool {
        let Content::Parts(parts) = content else { return false };
        parts.iter().any(|part| {
            part.resource.link_target.is_some() && self.syntax_of(&part.resource).is_some()
        })
    }

    /// Masks a short text by shapes.
    fn mask_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.0.redactor().mask(text, Syntax::Text)
    }

    fn mask_string(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.mask_text(text) {
            *text = masked;
        }
    }

    /// Masks the values of a JSON message by keys and shapes.
    fn mask_json(&self, json: &Json) -> Json {
        match self.0.redactor().mask_message(json.as_str()) {
            Cow::Owned(masked) => Json::from(masked),
            Cow::Borrowed(_) => json.clone(),
        }
    }

    /// Masks a JSON text by shapes alone, where keys are names of arguments.
    fn mask_schema(&self, json: &Json) -> Json {
        match self.mask_text(json.as_str()) {
            Cow::Owned(masked) => Json::from(masked),
            Cow::Borrowed(_) => json.clone(),
        }
    }

    fn mask_members(&self, members: &mut UnknownMembers) {
        if members.is_empty() {
            return;
        }
        for place in MemberPlace::ALL {
            for (name, json) in members.members_in(place).to_vec() {
                if let Some(masked) = self.0.redactor().mask_member(&name, &json) {
                    members.set(place, name, masked);
                }
            }
        }
    }

    fn mask_error(&self, error: Error) -> Error {
        error.map_texts(|text| self.mask_text(text).into_owned())
    }

    /// The etag of what is given instead of the version `etag` of the source.
    fn etag(&self, etag: &str) -> String {
        self.0.etag(etag.as_bytes())
    }
}

/// The path of a URI, decoded, by which a redaction tells what is masked, and how.
pub(super) fn redaction_path(uri: &Uri) -> Cow<'_, str> {
    let path = uri::without_query(uri.after_scheme());
    uri::percent_decode_lossy(path.trim_matches('/'))
}

impl RedactedProvider {
    /// The description of what is given: without the size and the version of the source, which
    /// tell of the secrets.
    fn describe(&self, mut item: Arc<Resource>) -> Arc<Resource> {
        if self.masker.syntax_of(&item).is_none() {
            return item;
        }
        let resource = Arc::make_mut(&mut item);
        describe_masked(&self.masker, resource);
        resource.size = None;
        for format in &mut resource.formats {
            format.size = None;
        }
        item
    }
}

/// Masks all of a description but its size.
fn describe_masked(masker: &MountMasker, resource: &mut Resource) {
    masker.mask_string(&mut resource.name);
    for text in [&mut resource.title, &mut resource.description].into_iter().flatten() {
        masker.mask_string(text);
    }
    if let Some(outline) = &mut resource.outline {
        for known in &mut Arc::make_mut(outline).titles {
            masker.mask_string(&mut known.title);
        }
    }
    masker.mask_members(&mut resource.extra);
    resource.etag = resource.etag.as_deref().map(|etag| masker.etag(etag));
    for format in &mut resource.formats {
        format.etag = format.etag.as_deref().map(|etag| masker.etag(etag));
    }
}

#[async_trait]
impl Provider for RedactedProvider {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let ctx = &caller::masked_context(ctx, &self.masker);
        let page = self.inner.list(ctx, parent, paging).await;
        let mut page = page.map_err(|error| self.masker.mask_error(error))?;
        page.items = self.describe_memo.map(page.items, |item| Ok(Some(self.describe(item))))?;
        self.masker.mask_members(&mut page.extra);
        Ok(page)
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        let ctx = &caller::masked_context(ctx, &self.masker);
        let page = self.inner.templates(ctx, paging).await;
        let mut page = page.map_err(|error| self.masker.mask_error(error))?;
        for item in &mut page.items {
            let texts = [&item.title, &item.description].into_iter().flatten();
            let has_secret =
                texts.into_iter().any(|text| matches!(self.masker.mask_text(text), Cow::Owned(_)));
            if has_secret || !item.extra.is_empty() {
                let template = Arc::make_mut(item);
                let texts = [&mut template.title, &mut template.description];
                texts.into_iter().flatten().for_each(|text| self.masker.mask_string(text));
                self.masker.mask_members(&mut template.extra);
            }
        }
        Ok(page)
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        let ctx = &caller::masked_context(ctx, &self.masker);
        let found = self.inner.stat(ctx, uri).await;
        found.map(|item| self.describe(item)).map_err(|error| self.masker.mask_error(error))
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let ctx = &caller::masked_context(ctx, &self.masker);
        let mut is_masked = self.masker.syntax_of_uri(uri).is_some();
        // Boxed: most readings are not masked, and need no room for it.
        let mut reading = match is_masked {
            true => Box::pin(self.content.read(ctx, uri, request)).await,
            false => self.inner.read(ctx, uri, request).await,
        };
        if !is_masked
            && reading.as_ref().is_ok_and(|read| self.masker.masks_link_target(&read.content))
        {
            // What was read may be a window, which begins anywhere in the text.
            is_masked = true;
            reading = Box::pin(self.content.read(ctx, uri, request)).await;
        }
        let mut reading = reading.map_err(|error| self.masker.mask_error(error))?;
        self.masker.mask_members(&mut reading.extra);
        match &mut reading.content {
            Content::Collection(resource) => *resource = self.describe(Arc::clone(resource)),
            Content::InputRequired(json) => *json = self.masker.mask_schema(json),
            // A reading of something that is given as it is may hold members of it that are not.
            Content::Parts(parts) if !is_masked => {
                let found = parts.len();
                Box::pin(self.content.mask_members_of(ctx, uri, parts)).await;
                let removed = found - parts.len();
                reading.count_off(removed);
            }
            Content::Parts(_) => {}
        }
        Ok(reading)
    }

    fn facets(&self) -> Facets<'_> {
        let Facets { watch, complete, health, relay, mounts, search, skills } = self.inner.facets();
        Facets {
            watch: watch.map(|_| self as &dyn Watch),
            complete: complete.map(|_| self as &dyn Complete),
            health: health.map(|_| self as &dyn Health),
            relay: relay.map(|_| self as &dyn Relay),
            mounts,
            skills: skills.map(|_| self as &dyn Skills),
            search: search.map(|_| self as &dyn Search),
        }
    }
}
