//! Environment provider: the allowed variables of an environment that it is given as data.
//!
//! Each variable is a text resource, `env:///NAME`. Values are masked when the provider is built,
//! and the originals are dropped. A variable that no glob allows does not exist.

mod options;

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;
use machinery::GlobError;
use redaction::RedactionScope;
use resource::uri::{encode_segment, percent_decode};
use resource::{
    Annotations, CacheScope, Change, Complete, Completion, CompletionRequest, Content, Context,
    Error, ErrorKind, Facets, Freshness, Interest, Page, PageRequest, Part, Provider, ReadRequest,
    Reading, Resource, Result, Template, UnknownMembers, Uri, UriTemplate, Variable, Watch,
};

pub use options::Options;

use crate::list_page::{cursor_after, page_range};
use crate::memory_content::{body_from_bytes, content_fingerprint};

/// The URI of the collection of all variables.
const ROOT: &str = "env:///";

/// The URI template of all variables.
const TEMPLATE: &str = "env:///{variable}";

/// Its variable.
const TEMPLATE_VARIABLE: &str = "variable";

/// Serves the allowed variables, in the order of their names.
pub struct EnvVariables {
    root: Uri,
    template: Arc<Template>,
    names: Vec<String>,
    listing: Vec<Arc<Resource>>,
    values: Vec<Bytes>,
    freshness: Freshness,
}

/// What a local URI names.
enum EnvUri {
    Root,
    /// The variable at this position.
    Variable(usize),
}

impl EnvVariables {
    /// Keeps the allowed variables, masked. An error if the globs are too many.
    pub fn new(options: Options) -> Result<Self, GlobError> {
        let Options { environment, names, redaction, ttl } = options;
        let allowed = machinery::PathGlobSet::new(&names)?;
        let mask = |name: &str, value: String| match redaction.scope() {
            RedactionScope::Off => value,
            RedactionScope::SensitiveFiles | RedactionScope::Everything => {
                redaction.redactor().mask_value(&[name], &value).unwrap_or(value)
            }
        };
        let allowed = environment.into_iter().filter(|(name, _)| allowed.is_match(name));
        Ok(Self::from_masked(allowed.map(|(name, value)| (mask(&name, value), name)), ttl))
    }

    fn from_masked(
        variables: impl Iterator<Item = (String, String)>,
        ttl: std::time::Duration,
    ) -> Self {
        let mut served = Self {
            root: parse_constant(ROOT),
            template: Arc::new(template()),
            names: Vec::new(),
            listing: Vec::new(),
            values: Vec::new(),
            freshness: Freshness { ttl, scope: CacheScope::Private },
        };
        for (value, name) in variables {
            let mut text = ROOT.to_owned();
            encode_segment(name.as_bytes(), &mut text);
            let Ok(uri) = Uri::parse(&text) else { continue };
            let value = Bytes::from(value);
            served.listing.push(Arc::new(Resource {
                mime: Some("text/plain".to_owned()),
                size: Some(value.len() as u64),
                etag: Some(content_fingerprint(&value)),
                watchable: Some(true),
                ..Resource::new(uri, name.as_str())
            }));
            served.values.push(value);
            served.names.push(name);
        }
        served
    }

    /// Number of variables.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True if no variable is allowed and set.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    fn find(&self, uri: &Uri) -> Result<EnvUri> {
        let name = uri.as_str().strip_prefix(ROOT).ok_or_else(|| Error::not_found(uri))?;
        if name.is_empty() {
            return Ok(EnvUri::Root);
        }
        let decoded = percent_decode(name);
        let found = std::str::from_utf8(&decoded).ok().filter(|_| !name.contains(['/', '?', '#']));
        let at = found.and_then(|name| self.names.binary_search_by(|own| (**own).cmp(name)).ok());
        at.map(EnvUri::Variable).ok_or_else(|| Error::not_found(uri))
    }

    /// The description of the variable at `at`, under the spelling of `uri`.
    fn describe(&self, at: usize, uri: &Uri) -> Arc<Resource> {
        let listed = &self.listing[at];
        if listed.uri == *uri {
            return Arc::clone(listed);
        }
        Arc::new(Resource { uri: uri.clone(), ..listed.as_ref().clone() })
    }

    fn describe_root(&self) -> Arc<Resource> {
        let mut root = Resource::new(self.root.clone(), "environment");
        root.title = Some("Environment variables".to_owned());
        (root.listable, root.watchable) = (Some(true), Some(true));
        Arc::new(root)
    }
}

#[async_trait]
impl Provider for EnvVariables {
    async fn list(
        &self,
        _: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        if let Some(uri) = parent
            && matches!(self.find(uri)?, EnvUri::Variable(_))
        {
            return Err(Error::invalid("not a collection").about(uri));
        }
        let place = |name: &str| self.names.binary_search_by(|own| (**own).cmp(name)).ok();
        let (start, end) = page_range(paging, self.len(), place)?;
        let mut items = self.listing[start..end].to_vec();
        items.retain(|item| paging.shows(item));
        let next = (end < self.len()).then(|| cursor_after(&self.names[end - 1]));
        Ok(Page { next, ..Page::from_items(items, self.freshness) })
    }

    async fn templates(&self, _: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        if paging.cursor.is_some() {
            return Err(Error::bad_cursor());
        }
        Ok(Page::from_items(vec![Arc::clone(&self.template)], self.freshness))
    }

    async fn stat(&self, _: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        Ok(match self.find(uri)? {
            EnvUri::Root => self.describe_root(),
            EnvUri::Variable(at) => self.describe(at, uri),
        })
    }

    async fn read(&self, _: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let at = match self.find(uri)? {
            EnvUri::Root => {
                let collection = Content::Collection(self.describe_root());
                return Ok(Reading::new(collection, self.freshness));
            }
            EnvUri::Variable(at) => at,
        };
        let (resource, value) = (self.describe(at, uri), &self.values[at]);
        let about = |error: Error| error.about(uri);
        request.window.check(resource.etag.as_deref(), value.len() as u64).map_err(about)?;
        let (body, slice) = body_from_bytes(value, true, &request.window);
        let mut parts = vec![Part { resource, body, slice }];
        request.select(&mut parts, |part| part.resource.mime.as_deref()).map_err(about)?;
        Ok(Reading::new(Content::Parts(parts), self.freshness))
    }

    fn facets(&self) -> Facets<'_> {
        Facets {
            watch: Some(self),
            complete: Some(self),
            health: None,
            relay: None,
            mounts: None,
            search: None,
            skills: None,
        }
    }
}

#[async_trait]
impl Complete for EnvVariables {
    fn may_complete(&self, _: &Context) -> bool {
        true
    }

    async fn complete(&self, _: &Context, request: &CompletionRequest<'_>) -> Result<Completion> {
        if request.template != TEMPLATE {
            return Err(Error::invalid("no such template"));
        }
        if request.variable != TEMPLATE_VARIABLE {
            return Err(Error::invalid("the template has no variable with this name"));
        }
        let typed = request.typed.to_lowercase();
        let fits = |name: &&String| name.to_lowercase().starts_with(&typed);
        Ok(Completion::from_values(self.names.iter().filter(fits).cloned().collect()))
    }
}

#[async_trait]
impl Watch for EnvVariables {
    /// The environment of a process never changes: the stream is silent. If the settings change,
    /// the catalog has another provider, and reports that.
    async fn watch(
        &self,
        _: &Context,
        interest: Interest,
    ) -> Result<Pin<Box<dyn Stream<Item = Change> + Send>>> {
        match &interest {
            Interest::Resource(uri) => {
                self.find(uri)?;
            }
            Interest::Components(_) => {
                return Err(Error::new(ErrorKind::Unsupported, "no tools or prompts here"));
            }
            Interest::Listing | Interest::Everything => {}
        }
        Ok(Box::pin(futures_util::stream::pending()))
    }

    fn is_shared(&self, _: &Interest) -> bool {
        true
    }
}

fn template() -> Template {
    Template {
        uri: UriTemplate::parse(TEMPLATE).expect("the template is valid"),
        name: "variables".to_owned(),
        title: Some("Environment variables".to_owned()),
        description: Some("The value of an environment variable by its name".to_owned()),
        mime: Some("text/plain".to_owned()),
        icons: Vec::new(),
        annotations: Annotations::default(),
        variables: vec![Variable {
            name: TEMPLATE_VARIABLE.to_owned(),
            description: Some("Name of the variable, such as LANG".to_owned()),
            ..Variable::default()
        }],
        extra: UnknownMembers::default(),
    }
}

fn parse_constant(uri: &str) -> Uri {
    Uri::parse(uri).expect("the constant is a URI")
}

#[cfg(test)]
mod tests;
