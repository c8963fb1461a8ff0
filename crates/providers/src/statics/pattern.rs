//! Declared URI templates: listing, expansion to resources, and completion of variables.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use resource::{
    Ask, Completion, Error, Freshness, Page, Part, Question, Resource, Result, Template, Truth,
    Uri, UriTemplate, Window,
};

use super::file::mark;
use super::fill::Text;
use super::item::given;
use super::options::Pattern;
use super::shelf::{cursor, span};
use super::window::check;

/// The declared templates in their declared order.
pub(super) struct Patterns {
    patterns: Vec<Held>,
    listing: Vec<Arc<Template>>,
    places: HashMap<String, usize>,
}

struct Held {
    text: Text,
    values: BTreeMap<String, Vec<String>>,
}

/// One resource expanded from a template, built on request.
pub(super) struct Expansion {
    resource: Resource,
    content: Bytes,
}

impl Patterns {
    pub(super) fn new(declared: Vec<Pattern>) -> Self {
        let mut patterns =
            Self { patterns: Vec::new(), listing: Vec::new(), places: HashMap::new() };
        for pattern in declared {
            patterns.add(pattern);
        }
        patterns
    }

    fn add(&mut self, pattern: Pattern) {
        let template = pattern.template;
        if self.places.contains_key(template.uri.as_str()) {
            return;
        }
        let variables: Vec<&str> = template.uri.variables().collect();
        let text = Text::new(&pattern.text, &variables, template.mime.as_deref());
        self.places.insert(template.uri.as_str().to_owned(), self.patterns.len());
        self.patterns.push(Held { text, values: pattern.values });
        self.listing.push(Arc::new(template));
    }

    pub(super) fn claims(&self) -> Vec<UriTemplate> {
        self.listing.iter().map(|template| template.uri.clone()).collect()
    }

    /// Expands `uri` with the first template that matches it.
    pub(super) fn find(&self, uri: &Uri) -> Option<Expansion> {
        self.listing.iter().zip(&self.patterns).find_map(|(template, held)| {
            let values = template.uri.matches(uri)?;
            Some(Expansion::new(uri, template, held.text.filled(&values)))
        })
    }

    /// The requested page of the list of templates.
    pub(super) fn page(&self, ask: &Ask, freshness: Freshness) -> Result<Page<Template>> {
        let count = self.listing.len();
        let (start, end) = span(ask, count, |key| self.places.get(key).copied())?;
        let next = (end < count).then(|| cursor(self.listing[end - 1].uri.as_str()));
        let items = self.listing[start..end].to_vec();
        Ok(Page { items, next, absent: Vec::new(), freshness })
    }

    /// True if any variable has completion values.
    pub(super) fn have_values(&self) -> bool {
        self.patterns.iter().any(|held| held.values.values().any(|values| !values.is_empty()))
    }

    /// The completion values that match; `None` if the template is not declared here.
    pub(super) fn complete(&self, question: &Question<'_>) -> Option<Result<Completion>> {
        let place = *self.places.get(question.template)?;
        if !self.listing[place].uri.variables().any(|name| name == question.variable) {
            return Some(Err(Error::invalid("the template has no variable with this name")));
        }
        let values = self.patterns[place].values.get(question.variable);
        let mut fitting: Vec<(Fit, &String)> = values
            .into_iter()
            .flatten()
            .filter_map(|value| Some((Fit::of(value, question.typed)?, value)))
            .collect();
        // A stable sort keeps equally good matches in their declared order.
        fitting.sort_by_key(|(fit, _)| *fit);
        let values = fitting.into_iter().map(|(_, value)| value.clone()).collect();
        Some(Ok(Completion::of(values)))
    }
}

/// How well a value matches the typed text, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Begins,
    BeginsInAnyCase,
    Holds,
}

impl Fit {
    fn of(value: &str, typed: &str) -> Option<Self> {
        if value.starts_with(typed) {
            return Some(Self::Begins);
        }
        let (value, typed) = (value.to_lowercase(), typed.to_lowercase());
        if value.starts_with(&typed) {
            return Some(Self::BeginsInAnyCase);
        }
        value.contains(&typed).then_some(Self::Holds)
    }
}

impl Expansion {
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
            listable: Truth::No,
            watchable: Truth::No,
            etag: Some(mark(&content)),
            charset: None,
            formats: Vec::new(),
            extra: template.extra.clone(),
        };
        Self { resource, content }
    }

    pub(super) fn describe(self) -> Resource {
        self.resource
    }

    pub(super) fn read(self, window: &Window) -> Result<Part> {
        check(window, self.resource.etag.as_deref(), self.content.len() as u64)?;
        let (body, slice) = given(&self.content, true, window);
        Ok(Part { resource: Arc::new(self.resource), body, slice })
    }
}
