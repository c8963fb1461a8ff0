//! Declared URI templates: listing, expansion to resources, and completion of variables.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use resource::{
    Completion, CompletionRequest, Error, Freshness, Page, PageRequest, Part, Resource, Result,
    Template, Uri, UriTemplate, Window,
};

use super::options::TemplateDeclaration;
use super::text_template::TextTemplate;
use crate::list_page::{cursor_after, page_range};
use crate::memory_content::{body_from_bytes, content_fingerprint};

/// The declared templates in their declared order.
pub(super) struct DeclaredTemplates {
    compiled: Vec<CompiledTemplate>,
    listing: Vec<Arc<Template>>,
    positions: HashMap<String, usize>,
}

struct CompiledTemplate {
    text: TextTemplate,
    values: BTreeMap<String, Vec<String>>,
}

/// One resource expanded from a template, built on request.
pub(super) struct TemplateExpansion {
    resource: Resource,
    content: Bytes,
}

impl DeclaredTemplates {
    pub(super) fn new(declared: Vec<TemplateDeclaration>) -> Self {
        let mut patterns =
            Self { compiled: Vec::new(), listing: Vec::new(), positions: HashMap::new() };
        for pattern in declared {
            patterns.add(pattern);
        }
        patterns
    }

    fn add(&mut self, pattern: TemplateDeclaration) {
        let template = pattern.template;
        if self.positions.contains_key(template.uri.as_str()) {
            return;
        }
        let variables: Vec<&str> = template.uri.variables().collect();
        let text = TextTemplate::parse(&pattern.text, &variables, template.mime.as_deref());
        let mut values = pattern.values;
        for variable in template.variables.iter().filter(|variable| !variable.allowed.is_empty()) {
            values.entry(variable.name.clone()).or_insert_with(|| variable.allowed.clone());
        }
        self.positions.insert(template.uri.as_str().to_owned(), self.compiled.len());
        self.compiled.push(CompiledTemplate { text, values });
        self.listing.push(Arc::new(template));
    }

    pub(super) fn uri_templates(&self) -> Vec<UriTemplate> {
        self.listing.iter().map(|template| template.uri.clone()).collect()
    }

    /// Expands `uri` with the first template that matches it and allows its values. If templates
    /// match and none allows them: the refusal of the first.
    pub(super) fn expand(&self, uri: &Uri) -> Result<TemplateExpansion> {
        let mut refusal = None;
        for (template, held) in self.listing.iter().zip(&self.compiled) {
            match template.bind(uri) {
                None => {}
                Some(Err(error)) => refusal = refusal.or(Some(error)),
                Some(Ok(values)) => {
                    return Ok(TemplateExpansion::new(uri, template, held.text.fill(&values)));
                }
            }
        }
        Err(refusal.unwrap_or_else(|| Error::not_found(uri)))
    }

    /// The requested page of the list of templates.
    pub(super) fn list_page(
        &self,
        paging: &PageRequest,
        freshness: Freshness,
    ) -> Result<Page<Template>> {
        let count = self.listing.len();
        let (start, end) = page_range(paging, count, |key| self.positions.get(key).copied())?;
        let next = (end < count).then(|| cursor_after(self.listing[end - 1].uri.as_str()));
        let items = self.listing[start..end].to_vec();
        Ok(Page { next, ..Page::from_items(items, freshness) })
    }

    /// True if any variable has completion values.
    pub(super) fn has_values(&self) -> bool {
        self.compiled.iter().any(|held| held.values.values().any(|values| !values.is_empty()))
    }

    /// The completion values that match; `None` if the template is not declared here.
    pub(super) fn complete_variable(
        &self,
        request: &CompletionRequest<'_>,
    ) -> Option<Result<Completion>> {
        let place = *self.positions.get(request.template)?;
        if !self.listing[place].uri.variables().any(|name| name == request.variable) {
            return Some(Err(Error::invalid("the template has no variable with this name")));
        }
        let values = self.compiled[place].values.get(request.variable);
        let mut fitting: Vec<(CompletionMatch, &String)> = values
            .into_iter()
            .flatten()
            .filter_map(|value| Some((CompletionMatch::of(value, request.typed)?, value)))
            .collect();
        // A stable sort keeps equally good matches in their declared order.
        fitting.sort_by_key(|(fit, _)| *fit);
        let values = fitting.into_iter().map(|(_, value)| value.clone()).collect();
        Some(Ok(Completion::from_values(values)))
    }
}

/// How well a value matches the typed text, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CompletionMatch {
    Prefix,
    PrefixIgnoringCase,
    Substring,
}

impl CompletionMatch {
    fn of(value: &str, typed: &str) -> Option<Self> {
        if value.starts_with(typed) {
            return Some(Self::Prefix);
        }
        let (value, typed) = (value.to_lowercase(), typed.to_lowercase());
        if value.starts_with(&typed) {
            return Some(Self::PrefixIgnoringCase);
        }
        value.contains(&typed).then_some(Self::Substring)
    }
}

impl TemplateExpansion {
    fn new(uri: &Uri, template: &Template, text: String) -> Self {
        let content = Bytes::from(text);
        let resource = Resource {
            uri: uri.clone(),
            name: template.name.clone(),
            title: template.title.clone(),
            description: template.description.clone(),
            mime: template.mime.clone(),
            size: Some(content.len() as u64),
            icons: template.icons.clone(),
            annotations: template.annotations.clone(),
            listable: Some(false),
            watchable: Some(true),
            etag: Some(content_fingerprint(&content)),
            charset: None,
            formats: Vec::new(),
            outline: None,
            notes: Vec::new(),
            language: None,
            immutable: false,
            is_remote: false,
            is_view: false,
            is_archive: false,
            link_target: None,
            is_masked: false,
            extra: template.extra.clone(),
        };
        Self { resource, content }
    }

    pub(super) fn into_resource(self) -> Resource {
        self.resource
    }

    pub(super) fn into_part(self, window: &Window) -> Result<Part> {
        window.check(self.resource.etag.as_deref(), self.content.len() as u64)?;
        let (body, slice) = body_from_bytes(&self.content, true, window);
        Ok(Part { resource: Arc::new(self.resource), body, slice })
    }
}
