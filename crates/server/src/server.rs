//! The MCP server object: provider, limits, keys and shared state of all connections.
//!
//! It decides which methods and capabilities exist, dispatches a request, encodes its answer and
//! logs its error. It knows no transport.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use protocol::frame::Bounds;
use protocol::shape::capability::Abilities;
use protocol::{
    Call, Method, Outgoing, Press, Refusal, Reply, Revision, Seal, Terms, Tool, Welcome,
};
use resource::{Error, ErrorKind, Freshness, Health, Offer, Provider, Relay, Scope};
use watch::{Calm, Hub};

use crate::dispatch;
use crate::exchange::Exchange;
use crate::limits::Limits;
use crate::mirrored::Mirrored;
use crate::pace::Pace;
use crate::watchers::Watchers;
use crate::window::Marks;

const INSTRUCTIONS: &str = "refdesk serves documents, files and data as resources. List them \
    and read what you need. Read a large resource in windows: set _meta[\"dev.refdesk/window\"] \
    of the read to {\"offset\": 0, \"length\": 65536}, then continue at `next`.";

/// TTL of our capabilities while all sources are up: then they change only with the settings.
const SETTLED: Duration = Duration::from_secs(300);

/// A provider and all the state needed to serve it. Nothing is global.
pub struct Server {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) limits: Limits,
    pub(crate) seal: Seal,
    collections: Collections,
    pub(crate) completions: Pace,
    press: Press,
    pub(crate) hub: Hub,
    pub(crate) watchers: Arc<Watchers>,
    pub(crate) marks: Marks,
    failures: AtomicU64,
    has_tools: bool,
    pub(crate) mirrored: Mirrored,
}

/// Which clients get the extension SEP-2093 (collections and metadata).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Collections {
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
        collections: Collections,
    ) -> Self {
        let seal = Seal::new(key);
        let completions = Pace::new(limits.completions);
        let calm = Calm { quiet: limits.quiet, most: limits.hold };
        let hub = Hub::new(Arc::clone(&provider), calm, limits.all_subscriptions);
        let (press, marks, failures) = (Press::default(), Marks::default(), AtomicU64::new(0));
        Self {
            provider,
            limits,
            seal,
            collections,
            completions,
            press,
            hub,
            watchers: Watchers::new(),
            marks,
            failures,
            has_tools: true,
            mirrored: Mirrored::default(),
        }
    }

    /// Removes the tools of our own.
    #[must_use]
    pub fn without_tools(self) -> Self {
        Self { has_tools: false, ..self }
    }

    /// Registers the watchers of its tools in `watchers`, which the caller may also serve.
    #[must_use]
    pub fn with_watchers(self, watchers: Arc<Watchers>) -> Self {
        Self { watchers, ..self }
    }

    pub(crate) fn bounds(&self) -> Bounds {
        Bounds { depth: self.limits.depth, batch: self.limits.batch }
    }

    /// The terms for a client of `revision`, which is `aware` if it declared SEP-2093.
    pub(crate) fn terms(&self, revision: Revision, aware: bool) -> Terms {
        let full = match self.collections {
            Collections::Always => true,
            Collections::Aware => aware,
            Collections::Off => false,
        };
        Terms { revision, aware, full }
    }

    pub(crate) fn has_collections(&self) -> bool {
        self.collections != Collections::Off
    }

    /// Whether we may have tools (or prompts), our own or relayed.
    pub(crate) fn offers(&self, offer: Offer) -> bool {
        (offer == Offer::Tool && self.has_tools) || self.relays(offer)
    }

    /// Our own tools, in order. Those that watch need a provider that reports changes.
    pub(crate) fn tools(&self) -> impl Iterator<Item = Tool> + '_ {
        let can = |tool: &Tool| self.has_tools && (!tool.watches() || self.hub.has_changes());
        Tool::ALL.into_iter().filter(can)
    }

    /// Whether the provider may relay tools (or prompts) of other servers.
    pub(crate) fn relays(&self, offer: Offer) -> bool {
        self.provider.facets().relay.is_some_and(|relay| relay.has(offer))
    }

    fn logs(&self) -> bool {
        self.provider.facets().relay.is_some_and(Relay::logs)
    }

    fn completes(&self) -> bool {
        self.provider.facets().complete.is_some() || self.offers(Offer::Prompt)
    }

    pub(crate) fn welcome(&self) -> Welcome {
        Welcome {
            name: "refdesk",
            version: env!("CARGO_PKG_VERSION"),
            instructions: INSTRUCTIONS,
            abilities: Abilities {
                completes: self.completes(),
                watches: self.hub.has_changes(),
                tools: self.offers(Offer::Tool),
                prompts: self.offers(Offer::Prompt),
                logs: self.logs(),
                collections: self.has_collections(),
            },
        }
    }

    /// TTL of our capabilities: zero while any source is starting or down, because its
    /// capabilities may still appear.
    pub(crate) fn stands(&self) -> Freshness {
        let is_there = self.provider.facets().health.is_none_or(Health::is_there);
        let ttl = if is_there { SETTLED } else { Duration::ZERO };
        Freshness { ttl, scope: Scope::Public }
    }

    /// The method called `name`, if it is served in `revision`.
    pub(crate) fn method(&self, name: &str, revision: Revision) -> Result<Method, Refusal> {
        let served = |method: &Method| {
            method.is_served_in(revision)
                && (self.has_collections() || !method.is_extension())
                && (self.hub.has_changes() || !method.watches())
                && (*method != Method::Complete || self.completes())
                && (*method != Method::Level || self.logs())
                && method.offer().is_none_or(|offer| self.offers(offer))
        };
        let method = Method::named(name).filter(served);
        method.ok_or_else(|| Refusal::no_such_method(name))
    }

    /// Dispatches one request and encodes its answer; an error or a panic becomes a refusal.
    pub(crate) async fn answer(&self, exchange: &Exchange, call: Call) -> Outgoing {
        let answered = AssertUnwindSafe(dispatch::answer(self, exchange, call)).catch_unwind();
        match answered.await {
            Ok(Ok(reply)) => {
                reply.encode(&exchange.id, exchange.terms, &self.welcome(), &self.press)
            }
            Ok(Err(error)) => self.refuse(exchange, &error),
            // A panic ends its own request and nothing else.
            Err(_) => self.refuse(exchange, &Error::internal("the request handler panicked")),
        }
    }

    /// Encodes the final answer to a listening request.
    pub(crate) fn end(&self, exchange: &Exchange) -> Outgoing {
        Reply::Ended.encode(&exchange.id, exchange.terms, &self.welcome(), &self.press)
    }

    fn refuse(&self, exchange: &Exchange, error: &Error) -> Outgoing {
        let trace = self.note(error);
        Refusal::of(error, exchange.terms, &trace).encode(Some(&exchange.id))
    }

    /// Logs an error and returns the message that a client may see.
    pub(crate) fn told(&self, error: &Error) -> String {
        let terms = Terms::full(Revision::ALL[0]);
        Refusal::of(error, terms, &self.note(error)).words().to_owned()
    }

    /// Logs an error and returns its id in the log.
    fn note(&self, error: &Error) -> String {
        let trace = format!("f{}", self.failures.fetch_add(1, Ordering::Relaxed));
        match error.kind {
            ErrorKind::Internal | ErrorKind::Unavailable => {
                tracing::warn!(trace, cause = ?error, "request failed");
            }
            _ => tracing::debug!(trace, cause = ?error, "request refused"),
        }
        trace
    }
}
