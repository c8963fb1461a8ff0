//! Provider of the status resources `refdesk://mounts` and `refdesk://mounts/<name>`.
//!
//! They are mounted unlisted: the plain list that a host shows holds only what the user serves. A
//! client that knows `refdesk://mounts` can list, read and watch them.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use catalog::Address;
use futures_core::Stream;
use resource::{
    Ask, Body, Change, Condition, Content, Context, Cursor, Error, Facets, Fact, Freshness,
    Interest, Page, Part, Provider, Reading, Resource, Result, Source, State, Template, Truth, Uri,
    Watch, Window,
};
use serde_json::{Value, json};
use tokio::time::Interval;

const ALL: &str = "refdesk://mounts";
const JSON: &str = "application/json";

/// How often a watched status is checked for changes.
const EVERY: Duration = Duration::from_secs(1);

/// The status of all mounts, as a collection of JSON resources.
pub(crate) struct Mounts {
    all: Uri,
    known: Vec<Arc<Known>>,
}

/// The status resource of one mount.
pub(crate) struct Known {
    uri: Uri,
    name: String,
    kind: &'static str,
    root: Option<String>,
    provider: Arc<dyn Provider>,
    /// When the mount was created.
    at: SystemTime,
}

impl Known {
    pub(crate) fn new(
        name: &str,
        kind: &'static str,
        root: Option<String>,
        provider: Arc<dyn Provider>,
    ) -> Result<Self> {
        let mut uri = format!("{ALL}/");
        resource::uri::encode_segment(name.as_bytes(), &mut uri);
        let (uri, at) = (Uri::parse(&uri)?, SystemTime::now());
        Ok(Self { uri, name: name.to_owned(), kind, root, provider, at })
    }

    fn text(&self) -> String {
        let health = self.provider.facets().health;
        let condition = health.map_or_else(Condition::ready, |health| health.health());
        let state = match condition.state {
            State::Starting => "starting",
            State::Ready => "ready",
            State::Degraded => "degraded",
            State::Failed => "failed",
        };
        let mut told = json!({
            "name": self.name,
            "kind": self.kind,
            "root": self.root,
            "state": state,
            "since": date(condition.since.unwrap_or(self.at)),
            "words": condition.words,
        });
        for (name, fact) in condition.facts {
            told[name] = value(fact);
        }
        format!("{told:#}\n")
    }

    fn describe(&self, text: &str) -> Resource {
        let mut resource = Resource::new(self.uri.clone(), self.name.clone());
        resource.description = Some(format!("Status of the mount {}", self.name));
        resource.mime = Some(JSON.to_owned());
        resource.watchable = Truth::Yes;
        resource.size = Some(text.len() as u64);
        resource.etag = Some(blake3::hash(text.as_bytes()).to_hex()[..16].to_owned());
        resource
    }
}

fn date(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

fn value(fact: Fact) -> Value {
    match fact {
        Fact::Truth(truth) => truth.into(),
        Fact::Count(count) => count.into(),
        Fact::Text(text) => text.into(),
        Fact::Time(time) => date(time).into(),
        Fact::Group(facts) => {
            facts.into_iter().map(|(name, fact)| (name.to_owned(), value(fact))).collect()
        }
    }
}

impl Mounts {
    pub(crate) fn new(mut known: Vec<Arc<Known>>) -> Result<Self> {
        known.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Self { all: Uri::parse(ALL)?, known })
    }

    pub(crate) fn address(&self) -> Address {
        let uris = self.known.iter().map(|known| known.uri.clone()).chain([self.all.clone()]);
        Address::Own { uris: uris.collect(), templates: Vec::new() }
    }

    fn find(&self, uri: &Uri) -> Result<&Arc<Known>> {
        let known = self.known.iter().find(|known| known.uri == *uri);
        known.ok_or_else(|| Error::not_found(uri))
    }

    fn describe(&self) -> Resource {
        let mut resource = Resource::new(self.all.clone(), "mounts");
        resource.description = Some("All mounts and their status".to_owned());
        resource.mime = Some("inode/directory".to_owned());
        resource.listable = Truth::Yes;
        resource.watchable = Truth::Yes;
        resource
    }
}

#[async_trait]
impl Provider for Mounts {
    async fn list(&self, _: &Context, parent: Option<&Uri>, ask: &Ask) -> Result<Page<Resource>> {
        match parent {
            None if ask.from.is_some() => return Err(Error::bad_cursor()),
            None => {
                return Ok(Page { items: vec![Arc::new(self.describe())], ..Page::empty() });
            }
            Some(uri) if *uri == self.all => {}
            Some(uri) => {
                self.find(uri)?;
                return Err(Error::invalid("not a collection").about(uri));
            }
        }
        let last = ask.from.as_ref().map(|cursor| &cursor.0[..]);
        let rest = self.known.iter().filter(|known| last < Some(known.name.as_bytes()));
        let mut rest = rest.peekable();
        let items: Vec<_> = rest.by_ref().take(ask.limit.max(1)).collect();
        let next = items.last().filter(|_| rest.peek().is_some());
        let next = next.map(|known| Cursor(known.name.clone().into()));
        let items = items.iter().map(|known| Arc::new(known.describe(&known.text()))).collect();
        Ok(Page { items, next, ..Page::empty() })
    }

    async fn templates(&self, _: &Context, ask: &Ask) -> Result<Page<Template>> {
        if ask.from.is_some() { Err(Error::bad_cursor()) } else { Ok(Page::empty()) }
    }

    async fn stat(&self, _: &Context, uri: &Uri) -> Result<Resource> {
        if *uri == self.all {
            return Ok(self.describe());
        }
        let known = self.find(uri)?;
        Ok(known.describe(&known.text()))
    }

    async fn read(&self, _: &Context, uri: &Uri, window: &Window) -> Result<Reading> {
        let freshness = Freshness::default();
        if *uri == self.all {
            return Ok(Reading { content: Content::Collection(self.describe().into()), freshness });
        }
        let known = self.find(uri)?;
        let text = known.text();
        let resource = known.describe(&text);
        let version = resource.etag.as_deref().unwrap_or_default();
        let (text, slice) = window.cut(&text, version).map_err(|error| error.about(uri))?;
        let body = Body::Text(Source::Bytes(text.into()));
        let part = Part { resource: Arc::new(resource), body, slice };
        Ok(Reading { content: Content::Parts(vec![part]), freshness })
    }

    fn facets(&self) -> Facets<'_> {
        Facets { watch: Some(self), ..Facets::default() }
    }
}

#[async_trait]
impl Watch for Mounts {
    async fn watch(
        &self,
        _: &Context,
        interest: Interest,
    ) -> Result<Pin<Box<dyn Stream<Item = Change> + Send>>> {
        let known: Vec<Arc<Known>> = match &interest {
            Interest::Listing | Interest::Offers(_) => Vec::new(),
            Interest::Resource(uri) if *uri != self.all => vec![Arc::clone(self.find(uri)?)],
            Interest::Resource(_) | Interest::Everything => self.known.clone(),
        };
        let told = known.iter().map(|known| known.text()).collect();
        let look = Look { known, told, beat: tokio::time::interval(EVERY), next: 0 };
        Ok(Box::pin(futures_util::stream::unfold(look, Look::next)))
    }
}

/// Polls the status of mounts and yields each that changed.
struct Look {
    known: Vec<Arc<Known>>,
    told: Vec<String>,
    beat: Interval,
    next: usize,
}

impl Look {
    async fn next(mut self) -> Option<(Change, Self)> {
        loop {
            while self.next < self.known.len() {
                let at = self.next;
                self.next += 1;
                let text = self.known[at].text();
                if text != self.told[at] {
                    self.told[at] = text;
                    return Some((Change::Updated(self.known[at].uri.clone()), self));
                }
            }
            self.beat.tick().await;
            self.next = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resource::{Condition, Provider, Uri};
    use testkit::{Known as Content, Memory, contract};

    use super::{Known, Mounts};

    #[tokio::test]
    async fn what_is_served_is_told_as_resources() {
        let known = |name: &str, provider: Arc<dyn Provider>| {
            let root = Some(format!("file:///{name}/"));
            Arc::new(Known::new(name, "fs", root, provider).unwrap())
        };
        let mounts = Mounts::new(vec![
            known(
                "slow",
                Arc::new(Memory::new().ailing(Condition::degraded("looks 日本 now and then"))),
            ),
            known("fine", Arc::new(Memory::new())),
        ]);
        let mounts = mounts.unwrap();
        let uri = |text: &str| Uri::parse(text).unwrap();
        let text = |at: usize| mounts.known[at].text().into_bytes();
        let (fine, slow) = (uri("refdesk://mounts/fine"), uri("refdesk://mounts/slow"));
        assert!(mounts.known[0].text().contains(r#""state": "ready""#));
        assert!(mounts.known[1].text().contains(r#""state": "degraded""#));
        let content = Content {
            leaves: vec![(fine.clone(), text(0)), (slow.clone(), text(1))],
            collections: vec![(uri("refdesk://mounts"), vec![fine, slow])],
            missing: vec![uri("refdesk://mounts/none"), uri("refdesk://other")],
            ..Content::default()
        };
        contract(&mounts, &content).await;
    }
}
