//! Metadata-rules layer: sets metadata and hides resources by glob patterns from the settings.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use resource::{
    Change, Complete, Completion, CompletionRequest, Content, Context, Error, Facets, Icon,
    Interest, Page, PageRequest, Provider, Reading, Resource, Result, Role, Template, Uri, Watch,
    Window, uri,
};

use crate::changes::{ChangeStream, watch_unsupported};
use crate::memo::Memo;

/// The maximum number of completely hidden pages in a row that a list skips before it returns an
/// empty page.
const MAX_EMPTY_PAGES: usize = 64;

/// Rules in the order in which they apply: a later one overrides an earlier one.
#[derive(Debug, Clone, Default)]
pub struct MetadataRules {
    globs: GlobSet,
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
    ) -> std::result::Result<Self, globset::Error> {
        let mut globs = GlobSetBuilder::new();
        let mut effects = Vec::new();
        for rule in rules {
            globs.add(Self::compile_glob(&rule.glob)?);
            effects.push(rule.effect);
        }
        let hides = effects.iter().any(|effect| effect.hide == Some(true));
        Ok(Self { globs: globs.build()?, effects, hides })
    }

    /// Compiles one pattern. A trailing slash is ignored. As in an ignore file, a slash anywhere
    /// else anchors the pattern to the root.
    pub fn compile_glob(pattern: &str) -> std::result::Result<Glob, globset::Error> {
        let pattern = pattern.strip_suffix('/').unwrap_or(pattern);
        let anywhere = format!("**/{pattern}");
        let tied = pattern.strip_prefix('/');
        let tied = tied.or(pattern.contains('/').then_some(pattern));
        GlobBuilder::new(tied.unwrap_or(&anywhere)).literal_separator(true).build()
    }

    /// Whether any rule hides a resource.
    pub fn has_hide_rule(&self) -> bool {
        self.hides
    }

    /// Disables hiding, for a provider that applies the hide rules itself.
    #[must_use]
    pub fn without_hiding(mut self) -> Self {
        self.hides = false;
        self
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

/// A provider with rules that describe or hide its resources.
pub struct Ruled<P> {
    inner: P,
    rules: MetadataRules,
    describe_memo: Memo,
}

impl<P: Provider> Ruled<P> {
    /// Wraps `inner` in `rules`.
    pub fn new(inner: P, rules: MetadataRules) -> Self {
        Self { inner, rules, describe_memo: Memo::default() }
    }

    /// The path that patterns match: the URI without its scheme and outer slashes, decoded.
    fn match_path(uri: &Uri) -> String {
        let behind = &uri.as_str()[uri.scheme().len() + 1..];
        String::from_utf8_lossy(&uri::percent_decode(behind.trim_matches('/'))).into_owned()
    }

    /// The path of `uri`; `NotFound` if it is hidden.
    fn visible_path(&self, uri: &Uri) -> Result<String> {
        let path = Self::match_path(uri);
        if self.rules.is_hidden(&path) { Err(Error::not_found(uri)) } else { Ok(path) }
    }

    fn apply_rules(&self, mut item: Arc<Resource>) -> Option<Arc<Resource>> {
        let path = self.visible_path(&item.uri).ok()?;
        if self.rules.globs.is_match(&path) {
            self.rules.apply(Arc::make_mut(&mut item), &path);
        }
        Some(item)
    }
}

#[async_trait]
impl<P: Provider> Provider for Ruled<P> {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        parent.map(|uri| self.visible_path(uri)).transpose()?;
        let mut ask = paging.clone();
        let mut absent = Vec::new();
        for _ in 0..MAX_EMPTY_PAGES {
            let mut page = self.inner.list(ctx, parent, &ask).await?;
            absent.append(&mut page.absent);
            let items = std::mem::take(&mut page.items);
            page.items = self.describe_memo.map(items, |item| Ok(self.apply_rules(item)))?;
            if !page.items.is_empty() || page.next.is_none() {
                return Ok(Page { absent, ..page });
            }
            ask.cursor = page.next;
        }
        Ok(Page { next: ask.cursor, absent, ..Page::empty() })
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.inner.templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Resource> {
        let path = self.visible_path(uri)?;
        let mut resource = self.inner.stat(ctx, uri).await?;
        self.rules.apply(&mut resource, &path);
        Ok(resource)
    }

    async fn read(&self, ctx: &Context, uri: &Uri, window: &Window) -> Result<Reading> {
        let path = self.visible_path(uri)?;
        let mut reading = self.inner.read(ctx, uri, window).await?;
        match &mut reading.content {
            Content::Parts(parts) => {
                for part in parts {
                    self.rules.apply(Arc::make_mut(&mut part.resource), &path);
                }
            }
            Content::Collection(resource) => self.rules.apply(Arc::make_mut(resource), &path),
            Content::InputRequired(_) => {}
        }
        Ok(reading)
    }

    fn facets(&self) -> Facets<'_> {
        let inner = self.inner.facets();
        Facets {
            complete: inner.complete.map(|_| self as &dyn Complete),
            watch: inner.watch.map(|_| self as &dyn Watch),
            ..inner
        }
    }
}

#[async_trait]
impl<P: Provider> Complete for Ruled<P> {
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
        // How many of the values that did not come are hidden is unknown: one stands for them.
        completion.total = completion.values.len() + usize::from(has_more);
        Ok(completion)
    }
}

#[async_trait]
impl<P: Provider> Watch for Ruled<P> {
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
}

/// The expansion of the template with `value`, if no other variable is left.
fn expand_template(request: &CompletionRequest<'_>, value: &str) -> Option<String> {
    let mut text = request.template.to_owned();
    let settled = request.resolved.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in settled.chain([(request.variable, value)]) {
        for (hole, slash) in [(format!("{{+{name}}}"), true), (format!("{{{name}}}"), false)] {
            let mut written = String::new();
            for (at, segment) in value.split('/').enumerate() {
                written.push_str(match (at, slash) {
                    (0, _) => "",
                    (_, true) => "/",
                    (_, false) => "%2F",
                });
                uri::encode_segment(segment.as_bytes(), &mut written);
            }
            text = text.replace(&hole, &written);
        }
    }
    (!text.contains('{')).then_some(text)
}
