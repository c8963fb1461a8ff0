//! In-memory test provider with every facet, request counters and fault injection.

mod answer;
mod count;
mod fault;
mod live;
mod offers;

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use async_trait::async_trait;
use bytes::Bytes;
use resource::{
    Annotations, Ask, Change, Condition, Context, Error, Extra, Facets, Health, Json, Offer, Page,
    Provider, Reading, Resource, Result, Template, Truth, Uri, UriTemplate, Window,
};

use answer::{page, part};
pub use count::Counts;
use count::Running;
pub use fault::{Fault, Spot};
use live::Live;
use offers::Held;

/// An in-memory provider, built entry by entry.
///
/// The top level lists the entries that are in no collection. All lists keep insertion order.
#[derive(Default)]
pub struct Memory {
    entries: RwLock<Vec<Arc<Entry>>>,
    patterns: RwLock<Vec<Arc<Pattern>>>,
    offers: RwLock<Vec<Held>>,
    kinds: Vec<Offer>,
    suggestions: Vec<String>,
    questions: BTreeMap<String, (String, Json)>,
    live: Option<Live>,
    health: Option<Condition>,
    faults: Mutex<Vec<(Spot, Fault)>>,
    counts: Counts,
}

#[derive(Clone)]
struct Entry {
    resource: Resource,
    holding: Holding,
}

#[derive(Clone)]
enum Holding {
    Text(Bytes),
    Blob(Bytes),
    Children(Vec<Uri>),
}

struct Pattern {
    template: Template,
    text: String,
    values: BTreeMap<String, Vec<String>>,
}

impl Memory {
    /// Creates an empty provider.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text.
    #[must_use]
    pub fn text(self, uri: &str, text: &str) -> Self {
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        self.entry(uri, Some("text/plain"), Holding::Text(bytes))
    }

    /// Adds binary content.
    #[must_use]
    pub fn blob(self, uri: &str, bytes: &[u8]) -> Self {
        let bytes = Bytes::copy_from_slice(bytes);
        self.entry(uri, Some("application/octet-stream"), Holding::Blob(bytes))
    }

    /// Adds a collection of `children`. The test adds the children themselves separately.
    #[must_use]
    pub fn collection(self, uri: &str, children: &[&str]) -> Self {
        let children = children.iter().map(|child| parsed(child)).collect();
        self.entry(uri, None, Holding::Children(children))
    }

    /// Adds a template: its content is `text` with values for `{name}`; `values` are suggestions.
    #[must_use]
    pub fn template(self, uri: &str, text: &str, values: &[(&str, &[&str])]) -> Self {
        let values = values.iter().map(|(name, values)| {
            let values = values.iter().copied().map(str::to_owned).collect();
            ((*name).to_owned(), values)
        });
        self.pattern(uri, text, values.collect());
        self
    }

    fn pattern(&self, uri: &str, text: &str, values: BTreeMap<String, Vec<String>>) {
        let template = Template {
            uri: UriTemplate::parse(uri).expect("a test's template is valid"),
            name: uri.to_owned(),
            title: None,
            description: None,
            mime: Some("text/plain".to_owned()),
            icons: Vec::new(),
            annotations: Annotations::default(),
            extra: Extra::default(),
        };
        let mut patterns = self.patterns.write().unwrap_or_else(PoisonError::into_inner);
        patterns.push(Arc::new(Pattern { template, text: text.to_owned(), values }));
    }

    /// Modifies the description of the last added entry.
    #[must_use]
    pub fn described(mut self, alter: impl FnOnce(&mut Resource)) -> Self {
        let entries = self.entries.get_mut().unwrap_or_else(PoisonError::into_inner);
        let last = entries.last_mut().expect("something was added to describe");
        alter(&mut Arc::make_mut(last).resource);
        self
    }

    /// Makes all present and future entries watchable.
    #[must_use]
    pub fn live(mut self) -> Self {
        self.live = Some(Live::default());
        let entries = self.entries.get_mut().unwrap_or_else(PoisonError::into_inner);
        for entry in entries {
            Arc::make_mut(entry).resource.watchable = Truth::Yes;
        }
        self
    }

    /// Adds the health facet, which reports `condition`.
    #[must_use]
    pub fn ailing(mut self, condition: Condition) -> Self {
        self.health = Some(condition);
        self
    }

    /// Replaces or adds a text, and notifies watchers.
    pub fn write(&self, uri: &str, text: &str) {
        let mut entry = made(uri, Some("text/plain"), Holding::Text(text.to_owned().into()));
        entry.resource.watchable = self.watchable();
        let entry = Arc::new(entry);
        let uri = parsed(uri);
        let known = {
            let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
            match entries.iter_mut().find(|known| known.resource.uri == uri) {
                Some(known) => {
                    *known = entry;
                    true
                }
                None => {
                    entries.push(entry);
                    false
                }
            }
        };
        self.tell(&Change::Updated(uri));
        if !known {
            self.tell(&Change::Listing);
        }
    }

    /// Removes a resource, and notifies watchers.
    pub fn remove(&self, uri: &str) {
        let uri = parsed(uri);
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|entry| entry.resource.uri != uri);
        drop(entries);
        self.tell(&Change::Removed(uri));
        self.tell(&Change::Listing);
    }

    /// Adds a template without suggestions, and notifies watchers.
    pub fn add_template(&self, uri: &str, text: &str) {
        self.pattern(uri, text, BTreeMap::new());
        self.tell(&Change::Listing);
    }

    /// Sends `change` to every watcher whose interest it touches, even if nothing changed.
    pub fn tell(&self, change: &Change) {
        let parents = match change.plain() {
            Change::Updated(uri) | Change::Removed(uri) => self.parents(uri),
            Change::Listing | Change::Offers(_) | Change::Worded(..) => Vec::new(),
        };
        if let Some(live) = &self.live {
            live.tell(change, &parents);
        }
    }

    /// The number of open watches.
    pub fn watchers(&self) -> usize {
        self.live.as_ref().map_or(0, Live::count)
    }

    /// The request counters.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    fn entry(mut self, uri: &str, mime: Option<&str>, holding: Holding) -> Self {
        let mut entry = made(uri, mime, holding);
        entry.resource.watchable = self.watchable();
        let entries = self.entries.get_mut().unwrap_or_else(PoisonError::into_inner);
        entries.push(Arc::new(entry));
        self
    }

    fn watchable(&self) -> Truth {
        if self.live.is_some() { Truth::Yes } else { Truth::No }
    }

    fn entries(&self) -> Vec<Arc<Entry>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn patterns(&self) -> Vec<Arc<Pattern>> {
        self.patterns.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn find(&self, uri: &Uri) -> Option<Arc<Entry>> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.iter().find(|entry| entry.resource.uri == *uri).cloned()
    }

    fn parents(&self, uri: &Uri) -> Vec<Uri> {
        let entries = self.entries();
        let parents = entries.iter().filter(|entry| entry.children().contains(uri));
        parents.map(|entry| entry.resource.uri.clone()).collect()
    }

    /// The description and text of a resource that a template expands to.
    fn expand(&self, uri: &Uri) -> Option<(Resource, Bytes)> {
        self.patterns().iter().find_map(|pattern| {
            let values = pattern.template.uri.matches(uri)?;
            let mut text = pattern.text.clone();
            for (name, value) in &values {
                text = text.replace(&format!("{{{name}}}"), value);
            }
            let mut resource = Resource::new(uri.clone(), pattern.template.name.clone());
            resource.mime.clone_from(&pattern.template.mime);
            resource.size = Some(text.len() as u64);
            resource.etag = Some(etag(text.as_bytes()));
            Some((resource, text.into()))
        })
    }
}

impl Entry {
    fn children(&self) -> &[Uri] {
        match &self.holding {
            Holding::Children(children) => children,
            Holding::Text(_) | Holding::Blob(_) => &[],
        }
    }
}

#[async_trait]
impl Provider for Memory {
    async fn list(&self, ctx: &Context, parent: Option<&Uri>, ask: &Ask) -> Result<Page<Resource>> {
        let _running = Running::list(&self.counts);
        self.meet(ctx, &Spot::List).await?;
        let entries = self.entries();
        let Some(parent) = parent else {
            let held: HashSet<&Uri> = entries.iter().flat_map(|entry| entry.children()).collect();
            let top = entries.iter().filter(|entry| !held.contains(&entry.resource.uri));
            return page(top.map(|entry| &entry.resource), |r| r.uri.as_str(), ask);
        };
        let Some(entry) = self.find(parent) else {
            return Err(match self.expand(parent) {
                Some(_) => Error::invalid("not a collection").about(parent),
                None => Error::not_found(parent),
            });
        };
        match &entry.holding {
            Holding::Children(children) => {
                let find = |uri: &Uri| entries.iter().find(|entry| entry.resource.uri == *uri);
                let children = children.iter().filter_map(find);
                page(children.map(|entry| &entry.resource), |r| r.uri.as_str(), ask)
            }
            Holding::Text(_) | Holding::Blob(_) => {
                Err(Error::invalid("not a collection").about(parent))
            }
        }
    }

    async fn templates(&self, ctx: &Context, ask: &Ask) -> Result<Page<Template>> {
        self.meet(ctx, &Spot::Templates).await?;
        let patterns = self.patterns();
        let templates = patterns.iter().map(|pattern| &pattern.template);
        page(templates, |template| template.uri.as_str(), ask)
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Resource> {
        let _running = Running::stat(&self.counts);
        self.meet(ctx, &Spot::Stat(uri.clone())).await?;
        let found = self.find(uri).map(|entry| entry.resource.clone());
        found
            .or_else(|| self.expand(uri).map(|(resource, _)| resource))
            .ok_or_else(|| Error::not_found(uri))
    }

    async fn read(&self, ctx: &Context, uri: &Uri, window: &Window) -> Result<Reading> {
        let _running = Running::read(&self.counts);
        self.meet(ctx, &Spot::Read(uri.clone())).await?;
        let entry = self.find(uri);
        match entry.as_ref().map(|entry| (&entry.resource, &entry.holding)) {
            Some((resource, Holding::Text(bytes))) => part(resource, bytes, true, window),
            Some((resource, Holding::Blob(bytes))) => part(resource, bytes, false, window),
            Some((resource, Holding::Children(_))) => Ok(answer::collection(resource)),
            None => {
                let (resource, text) = self.expand(uri).ok_or_else(|| Error::not_found(uri))?;
                part(&resource, &text, true, window)
            }
        }
    }

    fn facets(&self) -> Facets<'_> {
        let has_values = self.patterns().iter().any(|pattern| !pattern.values.is_empty());
        Facets {
            watch: self.live.is_some().then_some(self as _),
            complete: has_values.then_some(self as _),
            health: self.health.is_some().then_some(self as _),
            relay: (!self.kinds.is_empty()).then_some(self as _),
            mounts: None,
        }
    }
}

impl Health for Memory {
    fn health(&self) -> Condition {
        self.health.clone().unwrap_or_else(Condition::ready)
    }

    fn is_there(&self) -> bool {
        self.health.as_ref().is_none_or(|condition| condition.state.is_there())
    }
}

fn made(uri: &str, mime: Option<&str>, holding: Holding) -> Entry {
    let uri = parsed(uri);
    let name = uri.as_str().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let mut resource = Resource::new(uri.clone(), name);
    resource.mime = mime.map(str::to_owned);
    match &holding {
        Holding::Text(bytes) | Holding::Blob(bytes) => {
            resource.size = Some(bytes.len() as u64);
            resource.etag = Some(etag(bytes));
        }
        Holding::Children(_) => resource.listable = Truth::Yes,
    }
    Entry { resource, holding }
}

fn parsed(uri: &str) -> Uri {
    Uri::parse(uri).expect("a test's URI is valid")
}

/// FNV-1a: enough to distinguish two test texts.
fn etag(bytes: &[u8]) -> String {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix))
}

#[cfg(test)]
mod tests;
