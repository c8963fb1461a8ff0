//! Metadata-rules layer: sets metadata and hides resources by glob patterns from the settings.

mod relay;
mod skills;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use machinery::{GlobError, PathGlob, PathGlobSet};
use resource::{
    Absence, Change, Complete, Completion, CompletionRequest, Content, Context, Error, Facets,
    Filter, Icon, Interest, Page, PageRequest, Provider, ReadRequest, Reading, Relay, Resource,
    Result, Role, Search, SearchHit, SearchRequest, Skills, Template, Uri, Watch, uri,
};

use super::Layer;
use crate::changes::{ChangeStream, watch_unsupported};
use crate::memo::Memo;
use crate::search::search_unsupported;

/// The maximum number of completely hidden pages in a row that a list skips before it returns an
/// empty page.
const MAX_EMPTY_PAGES: usize = 64;

/// Rules in the order in which they apply: a later one overrides an earlier one.
#[derive(Debug, Clone, Default)]
pub struct MetadataRules {
    globs: PathGlobSet,
    effects: Vec<RuleEffect>,
    hides: bool,
}

/// Metadata for the resources that a pattern matches.
#[derive(Debug, Clone)]
pub struct MetadataRule {
    /// A glob over the path inside the mount; one without a slash matches at any depth.
    pub glob: String,
    /// What it sets.
    pub effect: RuleEffect,
}

/// What a rule sets. `None` leaves a value unchanged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RuleEffect {
    /// The priority, from 0 to 1.
    pub priority: Option<f64>,
    /// The audience.
    pub audience: Option<Vec<Role>>,
    /// A name for people.
    pub title: Option<String>,
    /// A description.
    pub description: Option<String>,
    /// Icons.
    pub icons: Option<Vec<Icon>>,
    /// Whether to hide the resource and everything below it.
    pub hide: Option<bool>,
}

impl MetadataRules {
    /// Compiles the patterns; the error names the invalid one.
    pub fn new(
        rules: impl IntoIterator<Item = MetadataRule>,
    ) -> std::result::Result<Self, GlobError> {
        let mut globs = Vec::new();
        let mut effects = Vec::new();
        for rule in rules {
            globs.push(Self::parse_glob(&rule.glob)?);
            effects.push(rule.effect);
        }
        let hides = effects.iter().any(|effect| effect.hide == Some(true));
        Ok(Self { globs: PathGlobSet::new(&globs)?, effects, hides })
    }

    /// Parses one pattern. A trailing slash is ignored. As in an ignore file, a slash anywhere
    /// else anchors the pattern to the root.
    pub fn parse_glob(pattern: &str) -> std::result::Result<PathGlob, GlobError> {
        let pattern = pattern.strip_suffix('/').unwrap_or(pattern);
        let anywhere = format!("**/{pattern}");
        let tied = pattern.strip_prefix('/');
        let tied = tied.or(pattern.contains('/').then_some(pattern));
        PathGlob::parse(tied.unwrap_or(&anywhere))
    }

    /// Whether any rule hides a resource.
    pub fn has_hide_rule(&self) -> bool {
        self.hides
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    fn apply(&self, resource: &mut Resource, path: &str) {
        for at in self.globs.matches(path) {
            let effect = &self.effects[at];
            if let Some(priority) = effect.priority {
                resource.annotations.priority = Some(priority);
            }
            if let Some(audience) = &effect.audience {
                resource.annotations.audience.clone_from(audience);
            }
            if let Some(icons) = &effect.icons {
                resource.icons.clone_from(icons);
            }
            if effect.title.is_some() {
                resource.title.clone_from(&effect.title);
            }
            if effect.description.is_some() {
                resource.description.clone_from(&effect.description);
            }
        }
    }

    /// Whether `path`, or a folder it lies in, is hidden.
    pub fn is_hidden(&self, path: &str) -> bool {
        let hidden = |path: &str| {
            let mut said =
                self.globs.matches(path).into_iter().filter_map(|at| self.effects[at].hide);
            said.next_back().unwrap_or(false)
        };
        let folders = path.match_indices('/').map(|(slash, _)| &path[..slash]);
        self.hides && folders.chain([path]).any(hidden)
    }
}

impl Layer for MetadataRules {
    fn around(&self, inner: Arc<dyn Provider>) -> Arc<dyn Provider> {
        Arc::new(Ruled { inner, rules: self.clone(), describe_memo: Memo::default() })
    }
}

/// A provider with rules that describe or hide its resources.
struct Ruled {
    inner: Arc<dyn Provider>,
    rules: MetadataRules,
    describe_memo: Memo,
}

impl Ruled {
    /// The path that patterns match: the URI without its scheme and outer slashes, decoded.
    fn match_path(uri: &Uri) -> Cow<'_, str> {
        uri::percent_decode_lossy(uri.after_scheme().trim_matches('/'))
    }

    /// The path of `uri`; `NotFound` if it is hidden.
    fn visible_path<'a>(&self, uri: &'a Uri) -> Result<Cow<'a, str>> {
        let path = Self::match_path(uri);
        if self.rules.is_hidden(&path) { Err(Error::not_found(uri)) } else { Ok(path) }
    }

    /// Applies the rules for its own URI to a description; `None` if it is hidden.
    fn apply_rules(&self, mut item: Arc<Resource>) -> Option<Arc<Resource>> {
        let uri = item.uri.clone();
        let path = self.visible_path(&uri).ok()?;
        if self.rules.globs.is_match(&path) {
            self.rules.apply(Arc::make_mut(&mut item), &path);
        }
        Some(item)
    }

    /// The filter for the inner provider, which does not see what the rules set.
    fn inner_filter(&self, filter: Option<&Arc<Filter>>) -> Option<Arc<Filter>> {
        let sets = |is_set: fn(&RuleEffect) -> bool| self.rules.effects.iter().any(is_set);
        let inner = |filter: &Arc<Filter>| {
            let Filter { name, audience, min_priority, .. } = &**filter;
            Arc::new(Filter {
                name: name.clone().filter(|_| !sets(|effect| effect.title.is_some())),
                audience: audience.filter(|_| !sets(|effect| effect.audience.is_some())),
                min_priority: min_priority.filter(|_| !sets(|effect| effect.priority.is_some())),
                ..filter.without_metadata()
            })
        };
        filter.map(inner)
    }

    /// Whether what a list says is missing is not hidden. It is named by its path or by its URI.
    fn shows_absence(&self, gap: &Absence) -> bool {
        let uri = gap.name.contains("://").then(|| Uri::parse(&gap.name).ok()).flatten();
        let path = uri.as_ref().map_or(Cow::Borrowed(gap.name.trim_matches('/')), Self::match_path);
        !self.rules.is_hidden(&path)
    }
}

#[async_trait]
impl Provider for Ruled {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        parent.map(|uri| self.visible_path(uri)).transpose()?;
        let filter = self.inner_filter(paging.filter.as_ref());
        let mut inner_paging = paging.clone().with_filter(filter);
        let mut absent = Vec::new();
        for _ in 0..MAX_EMPTY_PAGES {
            let mut page = self.inner.list(ctx, parent, &inner_paging).await?;
            page.absent.retain(|gap| self.shows_absence(gap));
            absent.append(&mut page.absent);
            let items = std::mem::take(&mut page.items);
            page.items = self.describe_memo.map(items, |item| Ok(self.apply_rules(item)))?;
            page.items.retain(|item| paging.shows(item));
            if !page.items.is_empty() || page.next.is_none() {
                return Ok(Page { absent, ..page });
            }
            inner_paging.cursor = page.next;
        }
        Ok(Page { next: inner_paging.cursor, absent, ..Page::empty() })
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.inner.templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.visible_path(uri)?;
        let resource = self.inner.stat(ctx, uri).await?;
        self.apply_rules(resource).ok_or_else(|| Error::not_found(uri))
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        self.visible_path(uri)?;
        let mut reading = self.inner.read(ctx, uri, request).await?;
        // A collection's reading may hold members, each with a URI and rules of its own.
        reading.retain_parts(|part| match self.apply_rules(Arc::clone(&part.resource)) {
            Some(resource) => {
                part.resource = resource;
                true
            }
            None => false,
        });
        match &mut reading.content {
            Content::Parts(parts) if parts.is_empty() => return Err(Error::not_found(uri)),
            Content::Collection(resource) => {
                let ruled = self.apply_rules(Arc::clone(resource));
                *resource = ruled.ok_or_else(|| Error::not_found(uri))?;
            }
            Content::Parts(_) | Content::InputRequired(_) => {}
        }
        Ok(reading)
    }

    fn facets(&self) -> Facets<'_> {
        let Facets { watch, complete, health, relay, mounts, search, skills } = self.inner.facets();
        Facets {
            watch: watch.map(|_| self as &dyn Watch),
            complete: complete.map(|_| self as &dyn Complete),
            search: search.map(|_| self as &dyn Search),
            skills: skills.map(|_| self as &dyn Skills),
            relay: relay.map(|relay| if self.rules.hides { self as &dyn Relay } else { relay }),
            // Rules match paths of resources: health has none.
            health,
            mounts,
        }
    }
}

#[async_trait]
impl Search for Ruled {
    async fn search(&self, ctx: &Context, request: &SearchRequest) -> Result<Page<SearchHit>> {
        let inner = self.inner.facets().search.ok_or_else(search_unsupported)?;
        let filter = self.inner_filter(request.filter.as_ref());
        let mut page = inner.search(ctx, &SearchRequest { filter, ..request.clone() }).await?;
        let mut shown = Vec::with_capacity(page.items.len());
        for hit in page.items {
            let is_shown = match &request.filter {
                _ if self.visible_path(&hit.uri).is_err() => false,
                Some(filter) => {
                    self.stat(ctx, &hit.uri).await.is_ok_and(|resource| filter.admits(&resource))
                }
                None => true,
            };
            if is_shown {
                shown.push(hit);
            }
        }
        page.items = shown.into();
        Ok(page)
    }
}

#[async_trait]
impl Complete for Ruled {
    fn may_complete(&self, ctx: &Context) -> bool {
        self.inner.facets().complete.is_some_and(|inner| inner.may_complete(ctx))
    }

    async fn complete(&self, ctx: &Context, request: &CompletionRequest<'_>) -> Result<Completion> {
        let Some(inner) = self.inner.facets().complete else { return Ok(Completion::default()) };
        let mut completion = inner.complete(ctx, request).await?;
        if !self.rules.hides {
            return Ok(completion);
        }
        let has_more = completion.total > completion.values.len();
        completion.values.retain(|value| {
            let made = expand_template(request, value).and_then(|text| Uri::parse(&text).ok());
            made.is_none_or(|uri| self.visible_path(&uri).is_ok())
        });
        // How many of the values that did not come are hidden is unknown: one stands for them. None
        // does if all that came are.
        let left = completion.values.len();
        completion.total = left + usize::from(has_more && left > 0);
        Ok(completion)
    }
}

#[async_trait]
impl Watch for Ruled {
    async fn watch(&self, ctx: &Context, interest: Interest) -> Result<ChangeStream> {
        if let Interest::Resource(uri) = &interest {
            self.visible_path(uri)?;
        }
        let inner = self.inner.facets().watch.ok_or_else(watch_unsupported)?;
        let changes = inner.watch(ctx, interest).await?;
        if !self.rules.hides {
            return Ok(changes);
        }
        let rules = self.rules.clone();
        Ok(Box::pin(changes.filter(move |change| {
            let seen = match change.without_extra() {
                Change::Updated(uri) | Change::Removed(uri) => {
                    !rules.is_hidden(&Self::match_path(uri))
                }
                Change::Listing | Change::Components(_) | Change::WithExtra(..) => true,
            };
            std::future::ready(seen)
        })))
    }

    fn is_shared(&self, interest: &Interest) -> bool {
        self.inner.facets().watch.is_some_and(|inner| inner.is_shared(interest))
    }
}

/// The expansion of the template with `value`, if no other variable is left.
fn expand_template(request: &CompletionRequest<'_>, value: &str) -> Option<String> {
    Some(expand_partly(request, value)).filter(|text| !text.contains('{'))
}

/// The template with `value` and the resolved values, without the variables of the query:
/// those only say how a resource is shown.
pub(super) fn expand_partly(request: &CompletionRequest<'_>, value: &str) -> String {
    let mut text = request.template.to_owned();
    while let Some(start) = ["{?", "{&"].iter().find_map(|open| text.find(open)) {
        let end = text[start..].find('}').map_or(text.len(), |length| start + length + 1);
        text.replace_range(start..end, "");
    }
    let resolved = request.resolved.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in resolved.chain([(request.variable, value)]) {
        let (mut reserved, mut simple) = (String::new(), String::new());
        uri::expand_reserved(value, &mut reserved);
        for byte in value.bytes() {
            // A simple expansion leaves only unreserved characters as they are.
            if uri::is_unreserved(byte) {
                simple.push(char::from(byte));
            } else {
                let _ = write!(simple, "%{byte:02X}");
            }
        }
        text = text.replace(&format!("{{+{name}}}"), &reserved);
        text = text.replace(&format!("{{{name}}}"), &simple);
    }
    text
}
