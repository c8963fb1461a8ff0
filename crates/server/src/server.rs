//! The MCP server object: provider, limits, keys and shared state of all connections.
//!
//! It decides which methods and capabilities exist, dispatches a request, encodes its answer and
//! logs its error. It knows no transport.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use machinery::{FairSemaphore, MemoryBudget, MemoryShares, WorkPool};
use protocol::inbound::shape::capabilities::ServerFeatures;
use protocol::json::frame::FrameLimits;
use protocol::{
    BuiltinTool, Call, Dialect, Method, Outgoing, Refusal, Reply, Revision, RowCache, ServerInfo,
    ServerProfile,
};
use resource::{
    CacheScope, ComponentKind, Context, Error, ErrorKind, Freshness, Principal, Provider,
};
use search::SearchService;
use subscriptions::{DebounceConfig, Hub};

use crate::baskets::BasketRegistry;
use crate::clients::{ClientRegistry, RequestRecord};
use crate::cursor_table::CursorTable;
use crate::dispatch;
use crate::exchange::{Exchange, hold_answer};
use crate::instructions::{self, OfferedTools};
use crate::lifecycle::IncomingRequest;
use crate::limits::Limits;
use crate::mount_contents;
use crate::mount_path;
use crate::param_headers::ParamHeaderTable;
use crate::rate_limit::RateLimit;
use crate::request_state::StateSeal;
use crate::task_ids::TaskIds;
use crate::watchers::WatcherRegistry;
use crate::window::LineIndex;

const SERVER_INFO: ServerInfo = ServerInfo { name: "refdesk", version: env!("CARGO_PKG_VERSION") };

/// TTL of our capabilities while all sources are up: then they change only with the settings.
const DISCOVERY_TTL: Duration = Duration::from_secs(300);

/// How many sorted lists are made at a time: in all, of one principal, and waiting. Each holds up
/// to 20,000 descriptions.
const SORTED_LISTS: (usize, usize, usize) = (4, 2, 16);

/// A provider and all the state needed to serve it. Nothing is global.
pub struct Server {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) limits: Limits,
    pub(crate) cursors: CursorTable,
    pub(crate) state_seal: StateSeal,
    collections_mode: CollectionsMode,
    pub(crate) completion_rate: RateLimit,
    rows: RowCache,
    pub(crate) hub: Hub,
    /// What requests and answers hold, with a share for each principal.
    memory: Arc<MemoryShares>,
    pub(crate) watchers: Arc<WatcherRegistry>,
    pub(crate) clients: Arc<ClientRegistry>,
    pub(crate) line_index: LineIndex,
    /// Threads for work on text, shared by all principals.
    pub(crate) work_pool: Arc<WorkPool>,
    pub(crate) sorted_lists: FairSemaphore,
    error_count: AtomicU64,
    has_tools: bool,
    pub(crate) param_headers: ParamHeaderTable,
    pub(crate) task_ids: TaskIds,
    /// Answers searches, if there is an index.
    pub(crate) search: Option<Arc<SearchService>>,
    /// Keeps baskets, if the caller serves them.
    pub(crate) baskets: Option<Arc<BasketRegistry>>,
}

/// Which clients get the extension SEP-2093 (collections and metadata).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CollectionsMode {
    /// All clients.
    #[default]
    Always,
    /// Clients that declare the extension.
    Aware,
    /// No client.
    Off,
}

impl Server {
    /// Serves `provider`. Every process with the same `key` accepts the same cursors.
    pub fn new(
        provider: Arc<dyn Provider>,
        limits: Limits,
        key: [u8; 32],
        collections_mode: CollectionsMode,
    ) -> Self {
        let memory = MemoryBudget::new(limits.memory);
        Self::within(memory, provider, limits, key, collections_mode)
    }

    /// The same, where `memory` may also count what the provider holds.
    pub fn within(
        memory: Arc<MemoryBudget>,
        provider: Arc<dyn Provider>,
        limits: Limits,
        key: [u8; 32],
        collections_mode: CollectionsMode,
    ) -> Self {
        let (cursors, state_seal) = (CursorTable::new(key), StateSeal::new(&key));
        let completion_rate = RateLimit::new(limits.completions_per_second);
        let debounce =
            DebounceConfig { quiet: limits.debounce_quiet, max_delay: limits.debounce_max };
        // One principal leaves room for others.
        let memory = Arc::new(MemoryShares::within(memory, limits.memory / 4 * 3));
        let most = limits.total_subscriptions;
        let hub = Hub::new(Arc::clone(&provider), debounce, most, Arc::clone(&memory));
        let mounted = Arc::clone(&provider);
        let rows = RowCache::new(move |uri| mount_path::find_mount_path(&*mounted, uri));
        let (line_index, error_count) = (LineIndex::default(), AtomicU64::new(0));
        Self {
            provider,
            limits,
            cursors,
            state_seal,
            collections_mode,
            completion_rate,
            rows,
            hub,
            memory,
            watchers: WatcherRegistry::new(),
            clients: ClientRegistry::new(),
            line_index,
            work_pool: Arc::default(),
            sorted_lists: FairSemaphore::new(SORTED_LISTS.0, SORTED_LISTS.1, SORTED_LISTS.2),
            error_count,
            has_tools: true,
            param_headers: ParamHeaderTable::default(),
            task_ids: TaskIds::new(&key),
            search: None,
            baskets: None,
        }
    }

    /// Removes the tools of our own.
    #[must_use]
    pub fn without_tools(self) -> Self {
        Self { has_tools: false, ..self }
    }

    /// Works on text in `work_pool`, which others may use too.
    #[must_use]
    pub fn with_work_pool(self, work_pool: Arc<WorkPool>) -> Self {
        Self { work_pool, ..self }
    }

    /// Answers searches with `search`.
    #[must_use]
    pub fn with_search(self, search: Arc<SearchService>) -> Self {
        Self { search: Some(search), ..self }
    }

    /// Registers the watchers of its tools in `watchers`, which the caller may also serve.
    #[must_use]
    pub fn with_watchers(self, watchers: Arc<WatcherRegistry>) -> Self {
        watchers.show_hub(self.hub.monitor());
        Self { watchers, ..self }
    }

    /// Registers its clients in `clients`, which the caller may also serve.
    #[must_use]
    pub fn with_clients(self, clients: Arc<ClientRegistry>) -> Self {
        Self { clients, ..self }
    }

    /// Lets clients save baskets in `baskets`, which the caller serves as part of the provider.
    #[must_use]
    pub fn with_baskets(self, baskets: Arc<BasketRegistry>) -> Self {
        baskets.fill_from(&self.provider);
        Self { baskets: Some(baskets), ..self }
    }

    /// The memory that `principal` may hold.
    pub(crate) fn memory_of(&self, principal: &Principal) -> Arc<MemoryBudget> {
        self.memory.of(principal.key())
    }

    pub(crate) fn bounds(&self) -> FrameLimits {
        FrameLimits { max_depth: self.limits.depth, max_batch: self.limits.batch }
    }

    /// The terms for a client of `revision`, which is `aware` if it declared SEP-2093.
    pub(crate) fn terms(&self, revision: Revision, aware: bool) -> Dialect {
        let full = match self.collections_mode {
            CollectionsMode::Always => true,
            CollectionsMode::Aware => aware,
            CollectionsMode::Off => false,
        };
        Dialect { revision, knows_sep2093: aware, full_metadata: full }
    }

    pub(crate) fn has_collections(&self) -> bool {
        self.collections_mode != CollectionsMode::Off
    }

    /// Whether we may have tools (or prompts), our own or relayed.
    pub(crate) fn has_component(&self, ctx: &Context, kind: ComponentKind) -> bool {
        (kind == ComponentKind::Tool && self.has_tools)
            || (kind == ComponentKind::Prompt && self.has_own_prompt())
            || self.relays_component(ctx, kind)
    }

    /// Whether there is a prompt of our own: it needs the search index.
    pub(crate) fn has_own_prompt(&self) -> bool {
        self.has_tools && self.has_packs()
    }

    fn has_packs(&self) -> bool {
        self.search.as_ref().is_some_and(|search| search.has_packs())
    }

    /// Our own tools, in order. Those that watch need a provider that reports changes.
    pub(crate) fn own_tools<'a>(
        &'a self,
        ctx: &'a Context,
    ) -> impl Iterator<Item = BuiltinTool> + 'a {
        let can = move |tool: &BuiltinTool| {
            self.has_tools
                && (!tool.needs_subscriptions() || self.hub.has_changes())
                && (!tool.needs_index() || self.search.is_some())
                && (*tool != BuiltinTool::Pack || self.has_packs())
                && (!tool.needs_searched_tools() || self.has_searched_tools(ctx))
        };
        BuiltinTool::ALL.iter().copied().filter(can)
    }

    /// Whether `name` is that of a tool of our own.
    pub(crate) fn is_own_tool(&self, name: &str) -> bool {
        self.has_tools && BuiltinTool::ALL.iter().any(|tool| tool.name() == name)
    }

    /// Whether the provider may relay tools (or prompts) of other servers.
    pub(crate) fn relays_component(&self, ctx: &Context, kind: ComponentKind) -> bool {
        self.provider.facets().relay.is_some_and(|relay| relay.may_have(ctx, kind))
    }

    fn has_searched_tools(&self, ctx: &Context) -> bool {
        self.provider.facets().relay.is_some_and(|relay| relay.has_searched_tools(ctx))
    }

    fn has_logging(&self, ctx: &Context) -> bool {
        self.provider.facets().relay.is_some_and(|relay| relay.emits_logs(ctx))
    }

    /// Whether tools of upstream servers may run as tasks.
    fn has_tasks(&self, ctx: &Context) -> bool {
        self.provider.facets().relay.is_some_and(|relay| relay.has_tasks(ctx))
    }

    /// Whether the skills extension is declared. Hosts list folders only where its `directoryRead`
    /// is declared, so a server of collections has the extension without skills.
    fn has_skills(&self, ctx: &Context) -> bool {
        let skills = self.provider.facets().skills;
        self.has_collections() || skills.is_some_and(|skills| skills.may_list_skills(ctx))
    }

    fn has_completion(&self, ctx: &Context) -> bool {
        self.provider.facets().complete.is_some_and(|complete| complete.may_complete(ctx))
            || self.has_component(ctx, ComponentKind::Prompt)
    }

    /// Our instructions and capabilities. They depend on every mount.
    pub(crate) async fn profile(&self, ctx: &Context) -> ServerProfile {
        let mounts = self.provider.facets().mounts;
        let mut mounts = mounts.map(|mounts| mounts.mounts(ctx)).unwrap_or_default();
        mount_contents::add_contents(&*self.provider, ctx, &mut mounts).await;
        ServerProfile {
            instructions: instructions::write_instructions(
                &mounts,
                OfferedTools {
                    own: self.has_tools,
                    search: self.search.is_some(),
                    packs: self.has_packs(),
                    searched_tools: self.has_searched_tools(ctx),
                },
            ),
            features: ServerFeatures {
                completion: self.has_completion(ctx),
                subscriptions: self.hub.has_changes(),
                tools: self.has_component(ctx, ComponentKind::Tool),
                prompts: self.has_component(ctx, ComponentKind::Prompt),
                logging: self.has_logging(ctx),
                collections: self.has_collections(),
                skills: self.has_skills(ctx),
                tasks: self.has_tasks(ctx),
                baskets: self.baskets.is_some(),
            },
        }
    }

    /// TTL of our capabilities: zero while any source is starting or down, because its
    /// capabilities may still appear.
    pub(crate) fn discovery_freshness(&self, ctx: &Context) -> Freshness {
        let health = self.provider.facets().health;
        let is_there = health.is_none_or(|health| health.is_available(ctx));
        let ttl = if is_there { DISCOVERY_TTL } else { Duration::ZERO };
        // The instructions name the mounts, and not every principal has the same.
        let has_mounts = self.provider.facets().mounts.is_some();
        let scope = if has_mounts { CacheScope::Private } else { CacheScope::Public };
        Freshness { ttl, scope }
    }

    /// The method of `request`, if it is served in `revision`.
    pub(crate) fn served_method(
        &self,
        request: &IncomingRequest<'_>,
        revision: Revision,
    ) -> Result<Method, Refusal> {
        let served = |method: &Method| {
            // Nearly every request reads or lists, which needs no further look.
            if matches!(method, Method::Read | Method::List) {
                return true;
            }
            let ctx = &Context::new(request.principal.clone());
            method.is_served_in(revision)
                && (!method.is_extension() || self.has_collections())
                && (!method.is_subscription()
                    || self.hub.has_changes()
                    || *method == Method::Listen && self.has_tasks(ctx))
                && (*method != Method::Complete || self.has_completion(ctx))
                && (*method != Method::SetLogLevel || self.has_logging(ctx))
                && (!method.is_skill() || self.has_skills(ctx))
                && (!method.is_task() || self.has_tasks(ctx))
                && (!method.is_basket() || self.baskets.is_some())
                && method.component().is_none_or(|component| self.has_component(ctx, component))
        };
        let method = request.method.filter(served);
        method.ok_or_else(|| Refusal::method_not_found(request.name))
    }

    /// Dispatches one request and encodes its answer; an error or a panic becomes a refusal.
    pub(crate) async fn respond(&self, exchange: &Exchange, call: Call) -> Outgoing {
        let client = exchange.client.as_ref();
        let record = client.map(|client| RequestRecord::begin(client, exchange.method, &call));
        let answered = AssertUnwindSafe(dispatch::dispatch(self, exchange, call)).catch_unwind();
        // A panic ends its own request and nothing else.
        let panicked = |_| Err(Error::internal("the request handler panicked"));
        let answered = answered.await.unwrap_or_else(panicked);
        if let Some(record) = record {
            record.finish(&answered);
        }
        let encode = |reply: Reply| {
            let answer = reply.encode(&exchange.id, exchange.dialect, SERVER_INFO, &self.rows);
            hold_answer(exchange, answer)
        };
        let encoded = answered.and_then(|reply| {
            panic::catch_unwind(AssertUnwindSafe(|| encode(reply)))
                .map_err(|_| Error::internal("the encoder of the answer panicked"))
        });
        encoded.unwrap_or_else(|error| self.encode_error(exchange, &error))
    }

    /// Encodes the final answer to a listening request.
    pub(crate) fn finish_listening(&self, exchange: &Exchange) -> Outgoing {
        Reply::ListenEnded.encode(&exchange.id, exchange.dialect, SERVER_INFO, &self.rows)
    }

    fn encode_error(&self, exchange: &Exchange, error: &Error) -> Outgoing {
        let trace = self.log_error(error);
        Refusal::from_error(error, exchange.dialect, &trace).encode(Some(&exchange.id))
    }

    /// Logs an error and returns the message that a client may see.
    pub(crate) fn public_message(&self, error: &Error) -> String {
        let terms = Dialect::full(Revision::ALL[0]);
        Refusal::from_error(error, terms, &self.log_error(error)).message().to_owned()
    }

    /// Logs an error and returns its id in the log.
    fn log_error(&self, error: &Error) -> String {
        let trace = format!("f{}", self.error_count.fetch_add(1, Ordering::Relaxed));
        match error.kind {
            ErrorKind::Internal | ErrorKind::Unavailable => {
                tracing::warn!("{}", error.cause_first(&format!("request {trace} failed")));
                tracing::debug!("request {trace} failed: {}", error.with_causes());
            }
            _ => tracing::debug!("request {trace} is refused: {}", error.with_causes()),
        }
        trace
    }
}
