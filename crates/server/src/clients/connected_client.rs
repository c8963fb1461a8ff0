//! One connected client: who it is, and counters of what it does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use protocol::ClientLabel;
use protocol::inbound::shape::client_status::ClientStatus;

use super::{ClientKind, ClientTerms, ListedClient, PrincipalClients};

/// A client that is connected. The counters are atomic: requests of one client run at once.
pub(crate) struct ConnectedClient {
    pub(super) id: u64,
    /// What it says of itself, safe to show.
    pub(super) label: ClientLabel<'static>,
    /// Its name, to be shared by the records of its requests.
    pub(super) shown_name: Option<Arc<str>>,
    pub(super) terms: ClientTerms,
    kind: ClientKind,
    pub(super) home: Arc<PrincipalClients>,
    connected: SystemTime,
    /// Milliseconds since the epoch.
    pub(super) last_seen: AtomicU64,
    requests: AtomicU64,
    errors: AtomicU64,
    subscriptions: AtomicUsize,
    /// False after the table made room for another client.
    is_listed: AtomicBool,
    /// When it was last listed again, in milliseconds since the epoch.
    relisted: AtomicU64,
}

/// For so long a client is not listed again: more clients than the table holds would take turns with
/// each request.
const RELIST_INTERVAL_MS: u64 = 1000;

impl ConnectedClient {
    pub(super) fn new(
        id: u64,
        (label, terms, kind): (ClientLabel<'static>, ClientTerms, ClientKind),
        home: Arc<PrincipalClients>,
    ) -> Self {
        let now = SystemTime::now();
        Self {
            id,
            shown_name: label.name.as_deref().map(Arc::from),
            label,
            terms,
            kind,
            home,
            connected: now,
            last_seen: AtomicU64::new(milliseconds(now)),
            requests: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            subscriptions: AtomicUsize::new(0),
            is_listed: AtomicBool::new(true),
            relisted: AtomicU64::new(0),
        }
    }

    /// When it last sent a request, or connected.
    pub(super) fn last_seen(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.last_seen.load(Ordering::Relaxed))
    }

    pub(super) fn subscription_count(&self) -> usize {
        self.subscriptions.load(Ordering::Relaxed)
    }

    /// The table has made room for another client. The next request lists this one again.
    pub(super) fn set_unlisted(&self) {
        self.is_listed.store(false, Ordering::Relaxed);
    }

    /// Counts a request that ended.
    pub(super) fn count_request(self: &Arc<Self>, now: SystemTime, is_error: bool) {
        let now = milliseconds(now);
        self.last_seen.fetch_max(now, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.errors.fetch_add(u64::from(is_error), Ordering::Relaxed);
        if !self.is_listed.load(Ordering::Relaxed)
            && now >= self.relisted.load(Ordering::Relaxed) + RELIST_INTERVAL_MS
            && !self.is_listed.swap(true, Ordering::Relaxed)
        {
            self.relisted.store(now, Ordering::Relaxed);
            self.home.add(match self.kind {
                ClientKind::InSession => ListedClient::InSession(Arc::downgrade(self)),
                ClientKind::Stateless => ListedClient::Stateless(Arc::clone(self)),
            });
        }
    }

    /// Sets how many subscriptions its session has.
    pub(crate) fn set_subscriptions(&self, count: usize) {
        if self.subscriptions.swap(count, Ordering::Relaxed) != count {
            self.home.notify();
        }
    }

    /// Counts the subscriptions of a listening request until it ends.
    pub(crate) fn hold_subscriptions(self: &Arc<Self>, count: usize) -> ClientSubscriptions {
        self.subscriptions.fetch_add(count, Ordering::Relaxed);
        self.home.notify();
        ClientSubscriptions { client: Arc::clone(self), count }
    }

    pub(super) fn status(&self) -> ClientStatus {
        ClientStatus {
            id: format!("c{}", self.id),
            name: self.label.name.as_deref().map(str::to_owned),
            version: self.label.version.as_deref().map(str::to_owned),
            revision: self.terms.revision,
            transport: self.terms.transport.as_str(),
            principal: self.home.key.to_string(),
            connected: self.connected,
            last_seen: self.last_seen(),
            requests: self.requests.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
            subscriptions: self.subscription_count(),
        }
    }
}

impl Drop for ConnectedClient {
    fn drop(&mut self) {
        self.home.notify();
    }
}

/// The subscriptions of one listening request. Dropping it takes them off its client.
pub(crate) struct ClientSubscriptions {
    client: Arc<ConnectedClient>,
    count: usize,
}

impl Drop for ClientSubscriptions {
    fn drop(&mut self) {
        self.client.subscriptions.fetch_sub(self.count, Ordering::Relaxed);
        self.client.home.notify();
    }
}

fn milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
