//! In-memory test provider with every facet, request counters and fault injection.

mod components;
mod counts;
mod edits;
mod fault;
mod responses;
mod skills;
mod watches;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use resource::{
    Annotations, ComponentKind, Context, Error, Facets, Health, HealthStatus, Json, Page,
    PageRequest, PrincipalSource, Provider, ReadRequest, Reading, Resource, Result, Skill,
    Template, UnknownMembers, Uri, UriTemplate,
};

use components::MemoryComponent;
pub use counts::RequestCounts;
use counts::RequestGuard;
pub use fault::{Fault, FaultPoint};
use responses::{page_of, page_of_resources, read_leaf};
use watches::MemoryWatches;

/// An in-memory provider, built entry by entry.
///
/// The top level lists the entries that are in no collection. All lists keep insertion order.
#[derive(Default)]
pub struct MemoryProvider {
    entries: RwLock<Vec<Arc<MemoryEntry>>>,
    templates: RwLock<Vec<Arc<MemoryTemplate>>>,
    components: RwLock<Vec<MemoryComponent>>,
    component_kinds: Vec<ComponentKind>,
    suggestions: Vec<String>,
    caller_requests: BTreeMap<String, (String, Json)>,
    watches: Option<MemoryWatches>,
    health: Option<HealthStatus>,
    can_search: bool,
    skills: Vec<Skill>,
    faults: Mutex<Vec<(FaultPoint, Fault)>>,
    counts: RequestCounts,
}

#[derive(Clone)]
struct MemoryEntry {
    resource: Resource,
    /// The only principal for which it exists; `None` for all.
    owner: Option<String>,
    content: EntryContent,
}

#[derive(Clone)]
enum EntryContent {
    Text(Bytes),
    Blob(Bytes),
    Children(Vec<Uri>),
}

struct MemoryTemplate {
    template: Template,
    text: String,
    values: BTreeMap<String, Vec<String>>,
}

impl MemoryProvider {
    /// Creates an empty provider.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text.
    #[must_use]
    pub fn text(self, uri: &str, text: &str) -> Self {
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        self.push_entry(uri, Some("text/plain"), EntryContent::Text(bytes))
    }

    /// Adds binary content.
    #[must_use]
    pub fn blob(self, uri: &str, bytes: &[u8]) -> Self {
        let bytes = Bytes::copy_from_slice(bytes);
        self.push_entry(uri, Some("application/octet-stream"), EntryContent::Blob(bytes))
    }

    /// Gives the content that was added last this MIME type.
    #[must_use]
    pub fn of_type(mut self, mime: &str) -> Self {
        if let Some(entry) = self.entries.get_mut().last_mut().and_then(Arc::get_mut) {
            entry.resource.mime = Some(mime.to_owned());
        }
        self
    }

    /// Adds a collection of `children`. The test adds the children themselves separately.
    #[must_use]
    pub fn collection(self, uri: &str, children: &[&str]) -> Self {
        let children = children.iter().map(|child| parse_uri(child)).collect();
        self.push_entry(uri, None, EntryContent::Children(children))
    }

    /// Adds a template: its content is `text` with values for `{name}`; `values` are suggestions.
    #[must_use]
    pub fn template(self, uri: &str, text: &str, values: &[(&str, &[&str])]) -> Self {
        let values = values.iter().map(|(name, values)| {
            let values = values.iter().copied().map(str::to_owned).collect();
            ((*name).to_owned(), values)
        });
        self.push_template(uri, text, values.collect());
        self
    }

    fn push_template(&self, uri: &str, text: &str, values: BTreeMap<String, Vec<String>>) {
        let template = Template {
            uri: UriTemplate::parse(uri).expect("a test's template is valid"),
            name: uri.to_owned(),
            title: None,
            description: None,
            mime: Some("text/plain".to_owned()),
            icons: Vec::new(),
            annotations: Annotations::default(),
            variables: Vec::new(),
            extra: UnknownMembers::default(),
        };
        let mut patterns = self.templates.write();
        patterns.push(Arc::new(MemoryTemplate { template, text: text.to_owned(), values }));
    }

    /// Modifies the description of the last added entry.
    #[must_use]
    pub fn with_description(mut self, alter: impl FnOnce(&mut Resource)) -> Self {
        let entries = self.entries.get_mut();
        let last = entries.last_mut().expect("something was added to describe");
        alter(&mut Arc::make_mut(last).resource);
        self
    }

    /// Makes the last added entry exist for the principal `key` alone.
    #[must_use]
    pub fn private_to(mut self, key: &str) -> Self {
        let entries = self.entries.get_mut();
        let last = entries.last_mut().expect("something was added to hide");
        Arc::make_mut(last).owner = Some(key.to_owned());
        self
    }

    /// Adds the search facet: a hit is a text that contains the query.
    #[must_use]
    pub fn with_search(mut self) -> Self {
        self.can_search = true;
        self
    }

    /// Makes all present and future entries watchable.
    #[must_use]
    pub fn with_watches(mut self) -> Self {
        self.watches = Some(MemoryWatches::default());
        let entries = self.entries.get_mut();
        for entry in entries {
            Arc::make_mut(entry).resource.watchable = Some(true);
        }
        self
    }

    /// Adds the health facet, which reports `condition`.
    #[must_use]
    pub fn with_health(mut self, condition: HealthStatus) -> Self {
        self.health = Some(condition);
        self
    }

    /// The number of open watches.
    pub fn watch_count(&self) -> usize {
        self.watches.as_ref().map_or(0, MemoryWatches::count)
    }

    /// The request counters.
    pub fn counts(&self) -> &RequestCounts {
        &self.counts
    }

    fn push_entry(mut self, uri: &str, mime: Option<&str>, holding: EntryContent) -> Self {
        let mut entry = new_entry(uri, mime, holding);
        entry.resource.watchable = self.watchable();
        let entries = self.entries.get_mut();
        entries.push(Arc::new(entry));
        self
    }

    fn watchable(&self) -> Option<bool> {
        if self.watches.is_some() { Some(true) } else { Some(false) }
    }

    fn all_entries(&self) -> Vec<Arc<MemoryEntry>> {
        self.entries.read().clone()
    }

    fn visible_entries(&self, ctx: &Context) -> Vec<Arc<MemoryEntry>> {
        let mut entries = self.all_entries();
        entries.retain(|entry| entry.is_visible(ctx));
        entries
    }

    fn all_templates(&self) -> Vec<Arc<MemoryTemplate>> {
        self.templates.read().clone()
    }

    fn find(&self, ctx: &Context, uri: &Uri) -> Option<Arc<MemoryEntry>> {
        let entries = self.entries.read();
        let found = entries.iter().find(|entry| entry.resource.uri == *uri);
        found.filter(|entry| entry.is_visible(ctx)).cloned()
    }

    fn parents(&self, uri: &Uri) -> Vec<Uri> {
        let entries = self.all_entries();
        let parents = entries.iter().filter(|entry| entry.children().contains(uri));
        parents.map(|entry| entry.resource.uri.clone()).collect()
    }

    /// The description and text of a resource that a template expands to.
    fn expand(&self, uri: &Uri) -> Option<(Resource, Bytes)> {
        self.all_templates().iter().find_map(|pattern| {
            let values = pattern.template.bind(uri)?.ok()?;
            let mut text = pattern.text.clone();
            for (name, value) in &values {
                text = text.replace(&format!("{{{name}}}"), &value.joined());
            }
            let mut resource = Resource::new(uri.clone(), pattern.template.name.clone());
            resource.mime.clone_from(&pattern.template.mime);
            resource.size = Some(text.len() as u64);
            resource.etag = Some(etag(text.as_bytes()));
            Some((resource, text.into()))
        })
    }
}

impl MemoryEntry {
    fn is_visible(&self, ctx: &Context) -> bool {
        let principal = ctx.principal();
        principal.source() == PrincipalSource::Internal
            || self.owner.as_ref().is_none_or(|owner| **owner == **principal.key())
    }

    fn children(&self) -> &[Uri] {
        match &self.content {
            EntryContent::Children(children) => children,
            EntryContent::Text(_) | EntryContent::Blob(_) => &[],
        }
    }
}

#[async_trait]
impl Provider for MemoryProvider {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let _running = RequestGuard::list(&self.counts);
        self.apply_fault(ctx, &FaultPoint::List).await?;
        let entries = self.visible_entries(ctx);
        let Some(parent) = parent else {
            let held: HashSet<&Uri> = entries.iter().flat_map(|entry| entry.children()).collect();
            let top = entries.iter().filter(|entry| !held.contains(&entry.resource.uri));
            return page_of_resources(top.map(|entry| &entry.resource), paging);
        };
        let Some(entry) = self.find(ctx, parent) else {
            return Err(match self.expand(parent) {
                Some(_) => Error::invalid("not a collection").about(parent),
                None => Error::not_found(parent),
            });
        };
        match &entry.content {
            EntryContent::Children(children) => {
                let find = |uri: &Uri| entries.iter().find(|entry| entry.resource.uri == *uri);
                let children = children.iter().filter_map(find);
                page_of_resources(children.map(|entry| &entry.resource), paging)
            }
            EntryContent::Text(_) | EntryContent::Blob(_) => {
                Err(Error::invalid("not a collection").about(parent))
            }
        }
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.apply_fault(ctx, &FaultPoint::Templates).await?;
        let patterns = self.all_templates();
        let templates = patterns.iter().map(|pattern| &pattern.template);
        page_of(templates, |template| template.uri.as_str(), paging)
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        let _running = RequestGuard::stat(&self.counts);
        self.apply_fault(ctx, &FaultPoint::Stat(uri.clone())).await?;
        let found = self.find(ctx, uri).map(|entry| entry.resource.clone());
        let found = found.or_else(|| self.expand(uri).map(|(resource, _)| resource));
        found.map(Arc::new).ok_or_else(|| Error::not_found(uri))
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let _running = RequestGuard::read(&self.counts);
        self.apply_fault(ctx, &FaultPoint::Read(uri.clone())).await?;
        let entry = self.find(ctx, uri);
        match entry.as_ref().map(|entry| (&entry.resource, &entry.content)) {
            Some((resource, EntryContent::Text(bytes))) => {
                read_leaf(resource, bytes, true, request)
            }
            Some((resource, EntryContent::Blob(bytes))) => {
                read_leaf(resource, bytes, false, request)
            }
            Some((resource, EntryContent::Children(_))) => Ok(responses::read_collection(resource)),
            None => {
                let (resource, text) = self.expand(uri).ok_or_else(|| Error::not_found(uri))?;
                read_leaf(&resource, &text, true, request)
            }
        }
    }

    fn facets(&self) -> Facets<'_> {
        let has_values = self.all_templates().iter().any(|pattern| !pattern.values.is_empty());
        Facets {
            watch: self.watches.is_some().then_some(self as _),
            complete: has_values.then_some(self as _),
            health: self.health.is_some().then_some(self as _),
            relay: (!self.component_kinds.is_empty()).then_some(self as _),
            mounts: None,
            search: self.can_search.then_some(self as _),
            skills: (!self.skills.is_empty()).then_some(self as _),
        }
    }
}

impl Health for MemoryProvider {
    fn health(&self, _: &Context) -> HealthStatus {
        self.health.clone().unwrap_or_else(HealthStatus::ready)
    }

    fn is_available(&self, _: &Context) -> bool {
        self.health.as_ref().is_none_or(|condition| condition.state.is_serving())
    }
}

fn new_entry(uri: &str, mime: Option<&str>, holding: EntryContent) -> MemoryEntry {
    let uri = parse_uri(uri);
    let name = uri.as_str().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let mut resource = Resource::new(uri.clone(), name);
    resource.mime = mime.map(str::to_owned);
    match &holding {
        EntryContent::Text(bytes) | EntryContent::Blob(bytes) => {
            resource.size = Some(bytes.len() as u64);
            resource.etag = Some(etag(bytes));
        }
        EntryContent::Children(_) => resource.listable = Some(true),
    }
    MemoryEntry { resource, owner: None, content: holding }
}

fn parse_uri(uri: &str) -> Uri {
    Uri::parse(uri).expect("a test's URI is valid")
}

/// FNV-1a: enough to distinguish two test texts.
fn etag(bytes: &[u8]) -> String {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix))
}

#[cfg(test)]
mod tests;
