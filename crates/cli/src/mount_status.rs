//! Provider of the status resources `refdesk://mounts` and `refdesk://mounts/<name>`.
//!
//! They are mounted unlisted: the plain list that a host shows holds only what the user serves. A
//! client that knows `refdesk://mounts` can list, read and watch them.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use catalog::{Address, Mount};
use futures_core::Stream;
use resource::{
    Change, Content, Context, Cursor, Error, Facets, Freshness, HealthFact, HealthState, Interest,
    Page, PageRequest, Provider, ReadRequest, Reading, Resource, Result, Template, Uri,
    UriTemplate, Variable, Watch,
};
use search::SearchIndex;
use serde_json::{Value, json};
use tokio::time::Interval;

use crate::conversion::{ConvertPool, PoolUsage};

const MOUNTS_URI: &str = "refdesk://mounts";
const STATUS_TEMPLATE: &str = "refdesk://mounts/{name}";
const JSON_MIME: &str = "application/json";

/// How often a watched status is checked for changes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The status of all mounts, as a collection of JSON resources.
pub(crate) struct MountsProvider {
    collection_uri: Uri,
    statuses: Vec<Arc<MountStatus>>,
    index: Option<SearchIndex>,
}

/// The status resource of one mount.
pub(crate) struct MountStatus {
    uri: Uri,
    mount: Arc<Mount>,
    kind: &'static str,
    root: Option<String>,
    /// Converts its documents, if they have other forms.
    converters: Option<Arc<ConvertPool>>,
    /// When the mount was created.
    mounted_at: SystemTime,
}

impl MountStatus {
    pub(crate) fn new(
        mount: &Arc<Mount>,
        kind: &'static str,
        root: Option<String>,
        converters: Option<Arc<ConvertPool>>,
    ) -> Result<Self> {
        let mut uri = format!("{MOUNTS_URI}/");
        resource::uri::encode_segment(mount.name.as_bytes(), &mut uri);
        let (uri, at) = (Uri::parse(&uri)?, SystemTime::now());
        Ok(Self { uri, mount: Arc::clone(mount), kind, root, converters, mounted_at: at })
    }

    fn status_json(&self, ctx: &Context, index: Option<&SearchIndex>) -> String {
        let condition = self.mount.health(ctx);
        let state = match condition.state {
            HealthState::Starting => "starting",
            HealthState::Ready => "ready",
            HealthState::Degraded => "degraded",
            HealthState::Failed => "failed",
        };
        let mut told = json!({
            "name": self.mount.name,
            "kind": self.kind,
            "root": self.root,
            "state": state,
            "since": format_time(condition.since.unwrap_or(self.mounted_at)),
            "words": condition.words(),
        });
        for (name, fact) in condition.facts {
            told[name] = fact_json(fact);
        }
        if let Some(covered) = index.and_then(|index| index.mount_coverage(&self.mount.name)) {
            // Numbers would tell of resources that the principal may not see.
            let is_restricted = self.mount.is_restricted();
            let covered = if is_restricted { covered.without_numbers() } else { covered };
            told["index"] = json!({ "complete": covered.is_complete });
            for (name, number) in [("indexed", covered.indexed), ("resources", covered.total)] {
                if let Some(number) = number {
                    told["index"][name] = number.into();
                }
            }
            if let Some(fault) = covered.fault {
                told["index"]["fault"] = fault.into();
            }
            if index.is_some_and(SearchIndex::has_meaning) {
                told["index"]["meaning"] = true.into();
            }
        }
        // All mounts share them, so that these numbers too would tell of others.
        if let Some(pool) = self.converters.as_ref().filter(|_| !self.mount.is_restricted()) {
            let PoolUsage { converted, reused, cache } = pool.usage();
            told["cache"] = json!({ "converted": converted, "reused": reused });
            if let Some((bytes, most)) = cache {
                told["cache"]["bytes"] = bytes.into();
                told["cache"]["max_bytes"] = most.into();
            }
        }
        format!("{told:#}\n")
    }

    fn describe(&self, text: &str) -> Resource {
        let mut resource = Resource::new(self.uri.clone(), self.mount.name.clone());
        resource.description = Some(format!("Status of the mount {}", self.mount.name));
        resource.mime = Some(JSON_MIME.to_owned());
        resource.watchable = Some(true);
        resource.size = Some(text.len() as u64);
        resource.etag = Some(blake3::hash(text.as_bytes()).to_hex()[..16].to_owned());
        resource
    }
}

fn format_time(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

fn fact_json(fact: HealthFact) -> Value {
    match fact {
        HealthFact::Flag(truth) => truth.into(),
        HealthFact::Count(count) => count.into(),
        HealthFact::Text(text) => text.into(),
        HealthFact::Time(time) => format_time(time).into(),
        HealthFact::Group(facts) => {
            facts.into_iter().map(|(name, fact)| (name.to_owned(), fact_json(fact))).collect()
        }
    }
}

impl MountsProvider {
    /// The statuses, with what `index` covers of each mount.
    pub(crate) fn new(
        mut status: Vec<Arc<MountStatus>>,
        index: Option<SearchIndex>,
    ) -> Result<Self> {
        status.sort_by(|one, other| one.mount.name.cmp(&other.mount.name));
        Ok(Self { collection_uri: Uri::parse(MOUNTS_URI)?, statuses: status, index })
    }

    pub(crate) fn address(&self) -> Address {
        let uris = self
            .statuses
            .iter()
            .map(|known| known.uri.clone())
            .chain([self.collection_uri.clone()]);
        let templates = UriTemplate::parse(STATUS_TEMPLATE).into_iter().collect();
        Address::Declared { uris: uris.collect(), templates }
    }

    /// The statuses of the mounts that exist for the principal.
    fn visible_statuses(&self, ctx: &Context) -> impl Iterator<Item = &Arc<MountStatus>> {
        self.statuses.iter().filter(|known| known.mount.exists_for(ctx.principal()))
    }

    fn find_status(&self, ctx: &Context, uri: &Uri) -> Result<&Arc<MountStatus>> {
        let known = self.visible_statuses(ctx).find(|known| known.uri == *uri);
        known.ok_or_else(|| Error::not_found(uri))
    }

    fn describe(&self) -> Resource {
        let mut resource = Resource::new(self.collection_uri.clone(), "mounts");
        resource.description = Some("All mounts and their status".to_owned());
        resource.mime = Some("inode/directory".to_owned());
        resource.listable = Some(true);
        resource.watchable = Some(true);
        resource
    }
}

#[async_trait]
impl Provider for MountsProvider {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        match parent {
            None if paging.cursor.is_some() => return Err(Error::bad_cursor()),
            None => {
                let mut items = vec![Arc::new(self.describe())];
                items.retain(|item| paging.shows(item));
                return Ok(Page::from_items(items, Freshness::default()));
            }
            Some(uri) if *uri == self.collection_uri => {}
            Some(uri) => {
                self.find_status(ctx, uri)?;
                return Err(Error::invalid("not a collection").about(uri));
            }
        }
        let last = paging.cursor.as_ref().map(|cursor| &cursor.0[..]);
        let rest = self.visible_statuses(ctx);
        let rest = rest.filter(|known| last < Some(known.mount.name.as_bytes()));
        let mut rest = rest.peekable();
        let items: Vec<_> = rest.by_ref().take(paging.limit.max(1)).collect();
        let next = items.last().filter(|_| rest.peek().is_some());
        let next = next.map(|known| Cursor(known.mount.name.clone().into()));
        let describe = |known: &&Arc<MountStatus>| {
            known.describe(&known.status_json(ctx, self.index.as_ref()))
        };
        let mut items: Vec<_> = items.iter().map(describe).map(Arc::new).collect();
        items.retain(|item| paging.shows(item));
        Ok(Page { next, ..Page::from_items(items, Freshness::default()) })
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        if paging.cursor.is_some() {
            return Err(Error::bad_cursor());
        }
        let mut template = Template::new(UriTemplate::parse(STATUS_TEMPLATE)?, "mount-status");
        template.description = Some(format!("Status of a mount; {MOUNTS_URI} lists all"));
        template.mime = Some(JSON_MIME.to_owned());
        template.variables = vec![Variable {
            description: Some("The name of the mount".to_owned()),
            allowed: self.visible_statuses(ctx).map(|known| known.mount.name.clone()).collect(),
            ..Variable::new("name")
        }];
        Ok(Page::from_items(vec![Arc::new(template)], Freshness::default()))
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        if *uri == self.collection_uri {
            return Ok(Arc::new(self.describe()));
        }
        let known = self.find_status(ctx, uri)?;
        Ok(Arc::new(known.describe(&known.status_json(ctx, self.index.as_ref()))))
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let freshness = Freshness::default();
        if *uri == self.collection_uri {
            return Ok(Reading::new(Content::Collection(self.describe().into()), freshness));
        }
        let known = self.find_status(ctx, uri)?;
        let text = known.status_json(ctx, self.index.as_ref());
        Reading::of_text(known.describe(&text), text, request, freshness)
    }

    fn facets(&self) -> Facets<'_> {
        Facets { watch: Some(self), ..Facets::default() }
    }
}

#[async_trait]
impl Watch for MountsProvider {
    async fn watch(
        &self,
        ctx: &Context,
        interest: Interest,
    ) -> Result<Pin<Box<dyn Stream<Item = Change> + Send>>> {
        let status: Vec<Arc<MountStatus>> = match &interest {
            Interest::Listing | Interest::Components(_) => Vec::new(),
            Interest::Resource(uri) if *uri != self.collection_uri => {
                vec![Arc::clone(self.find_status(ctx, uri)?)]
            }
            Interest::Resource(_) | Interest::Everything => {
                self.visible_statuses(ctx).cloned().collect()
            }
        };
        let told = status.iter().map(|known| known.status_json(ctx, self.index.as_ref())).collect();
        let look = StatusPoll {
            ctx: ctx.clone(),
            statuses: status,
            last_texts: told,
            index: self.index.clone(),
            interval: tokio::time::interval(POLL_INTERVAL),
            next: 0,
        };
        Ok(Box::pin(futures_util::stream::unfold(look, StatusPoll::next_change)))
    }

    fn is_shared(&self, _: &Interest) -> bool {
        false
    }
}

/// Polls the status of mounts and yields each that changed.
struct StatusPoll {
    ctx: Context,
    statuses: Vec<Arc<MountStatus>>,
    last_texts: Vec<String>,
    index: Option<SearchIndex>,
    interval: Interval,
    next: usize,
}

impl StatusPoll {
    async fn next_change(mut self) -> Option<(Change, Self)> {
        loop {
            while self.next < self.statuses.len() {
                let at = self.next;
                self.next += 1;
                let text = self.statuses[at].status_json(&self.ctx, self.index.as_ref());
                if text != self.last_texts[at] {
                    self.last_texts[at] = text;
                    return Some((Change::Updated(self.statuses[at].uri.clone()), self));
                }
            }
            self.interval.tick().await;
            self.next = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use catalog::{Address, MetadataRules, Mount, MountOptions};
    use resource::{HealthStatus, Provider, Uri};
    use testkit::{Expectations as Content, MemoryProvider, contract};

    use super::{MountStatus, MountsProvider};

    #[tokio::test]
    async fn what_is_served_is_told_as_resources() {
        let known = |name: &str, provider: Arc<dyn Provider>| {
            let root = Some(format!("file:///{name}/"));
            let options = MountOptions {
                access: Arc::default(),
                rules: MetadataRules::default(),
                tools: None,
                max_read: 1 << 20,
                timeout: Duration::from_secs(5),
                required: false,
                rendering: None,
                work_pool: Arc::default(),
                unpack: false,
                masks_itself: false,
                redaction: Default::default(),
            };
            let mount = Mount::new(name, Address::Fallback, provider, options);
            Arc::new(MountStatus::new(&Arc::new(mount), "fs", root, None).unwrap())
        };
        let mounts = MountsProvider::new(
            vec![
                known(
                    "slow",
                    Arc::new(
                        MemoryProvider::new()
                            .with_health(HealthStatus::degraded("looks 日本 now and then")),
                    ),
                ),
                known("fine", Arc::new(MemoryProvider::new())),
            ],
            None,
        );
        let mounts = mounts.unwrap();
        let uri = |text: &str| Uri::parse(text).unwrap();
        let text = |at: usize| {
            mounts.statuses[at].status_json(&testkit::local_context(), None).into_bytes()
        };
        let (fine, slow) = (uri("refdesk://mounts/fine"), uri("refdesk://mounts/slow"));
        assert!(
            mounts.statuses[0]
                .status_json(&testkit::local_context(), None)
                .contains(r#""state": "ready""#)
        );
        assert!(
            mounts.statuses[1]
                .status_json(&testkit::local_context(), None)
                .contains(r#""state": "degraded""#)
        );
        let content = Content {
            leaves: vec![(fine.clone(), text(0)), (slow.clone(), text(1))],
            collections: vec![(uri("refdesk://mounts"), vec![fine, slow])],
            missing: vec![uri("refdesk://mounts/none"), uri("refdesk://other")],
            ..Content::default()
        };
        contract(&mounts, &content).await;
    }
}
