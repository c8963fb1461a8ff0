//! Registry of the connected clients and of their latest requests.
//!
//! A client with a handshake is connected until its session ends. A stateless client is known by
//! what it says of itself, and counts as connected until it has been silent for a while. Each
//! principal has a table of its own, and sees no other. It holds no content and no arguments.

mod client_resource;
mod connected_client;
mod request_record;

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use protocol::inbound::shape::client_status::{ClientStatus, RequestStatus};
use protocol::{ClientLabel, Revision};
use resource::{Principal, Uri, one_line};
use tokio::sync::watch;

use crate::audit::MAX_CLIENT_NAME;
pub(crate) use connected_client::{ClientSubscriptions, ConnectedClient};
use request_record::EndedRequest;
pub(crate) use request_record::RequestRecord;

/// The most clients of a principal that are known at a time.
const MAX_CLIENTS: usize = 100;
/// The most requests of a principal that are known.
const MAX_RECENT: usize = 50;
/// The most principals that are known; those without clients make room.
const MAX_PRINCIPALS: usize = 1000;
/// A stateless client counts as connected for so long after its last request.
const STATELESS_IDLE: Duration = Duration::from_secs(10 * 60);

/// The transport of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientTransport {
    Stdio,
    /// HTTP+SSE (2024-11-05).
    Sse,
    Http,
}

impl ClientTransport {
    fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Sse => "sse",
            Self::Http => "http",
        }
    }
}

/// All clients. As a provider it serves one resource, `refdesk://clients`, that lists them.
pub struct ClientRegistry {
    uri: Uri,
    principals: Mutex<HashMap<Arc<str>, Arc<PrincipalClients>>>,
    next_id: AtomicU64,
    /// Masks secrets in the URIs that it shows.
    mask_uri: UriMask,
}

/// Masks the secrets in a URI.
type UriMask = fn(&str) -> Cow<'_, str>;

/// How a client talks to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientTerms {
    pub(crate) revision: Revision,
    pub(crate) transport: ClientTransport,
}

/// Whether a client has a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientKind {
    InSession,
    Stateless,
}

/// The clients of one principal.
struct PrincipalClients {
    key: Arc<str>,
    table: Mutex<ClientTable>,
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct ClientTable {
    clients: Vec<ListedClient>,
    /// The latest requests, the newest last.
    recent: VecDeque<EndedRequest>,
}

/// A client in the table: one with a session is held by its session.
enum ListedClient {
    InSession(Weak<ConnectedClient>),
    Stateless(Arc<ConnectedClient>),
}

impl ClientRegistry {
    /// An empty registry that shows URIs as they are.
    pub fn new() -> Arc<Self> {
        Self::masking(|uri| Cow::Borrowed(uri))
    }

    /// An empty registry that masks URIs with `mask_uri`.
    pub fn masking(mask_uri: UriMask) -> Arc<Self> {
        let uri = Uri::parse("refdesk://clients").expect("this is a URI");
        Arc::new(Self { uri, principals: Mutex::default(), next_id: AtomicU64::new(1), mask_uri })
    }

    /// The URI of the resource that lists the clients.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Adds a client whose session begins. It leaves the table when it is dropped.
    pub(crate) fn add_session(
        &self,
        principal: &Principal,
        label: &ClientLabel<'_>,
        terms: ClientTerms,
    ) -> Arc<ConnectedClient> {
        let (home, label) = (self.clients_of(principal), plain_label(label));
        let client = self.create(&home, &label, terms, ClientKind::InSession);
        home.add(ListedClient::InSession(Arc::downgrade(&client)));
        home.notify();
        client
    }

    /// The client that sends a stateless request with this label; adds it if it is new.
    pub(crate) fn find_stateless(
        &self,
        principal: &Principal,
        label: &ClientLabel<'_>,
        terms: ClientTerms,
    ) -> Arc<ConnectedClient> {
        let (home, label) = (self.clients_of(principal), plain_label(label));
        let is_same = |client: &ConnectedClient| client.label == label && client.terms == terms;
        let mut table = home.table.lock();
        let known = table.clients.iter().find_map(|listed| match listed {
            ListedClient::Stateless(client) if is_same(client) => Some(Arc::clone(client)),
            _ => None,
        });
        if let Some(client) = known {
            return client;
        }
        let client = self.create(&home, &label, terms, ClientKind::Stateless);
        let evicted = table.add(ListedClient::Stateless(Arc::clone(&client)));
        drop(table);
        drop(evicted);
        home.notify();
        client
    }

    fn create(
        &self,
        home: &Arc<PrincipalClients>,
        label: &ClientLabel<'_>,
        terms: ClientTerms,
        kind: ClientKind,
    ) -> Arc<ConnectedClient> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let label = label.clone().into_owned();
        Arc::new(ConnectedClient::new(id, (label, terms, kind), Arc::clone(home)))
    }

    fn clients_of(&self, principal: &Principal) -> Arc<PrincipalClients> {
        let mut principals = self.principals.lock();
        if let Some(known) = principals.get(principal.key()) {
            return Arc::clone(known);
        }
        if principals.len() >= MAX_PRINCIPALS {
            let idle = principals.extract_if(|_, clients| clients.is_idle());
            idle.for_each(|(_, clients)| clients.forget());
        }
        let fresh = Arc::new(PrincipalClients {
            key: Arc::clone(principal.key()),
            table: Mutex::default(),
            changed: watch::Sender::new(()),
        });
        principals.insert(Arc::clone(principal.key()), Arc::clone(&fresh));
        fresh
    }
}

impl Drop for ClientRegistry {
    fn drop(&mut self) {
        self.principals.lock().values().for_each(|clients| clients.forget());
    }
}

impl PrincipalClients {
    /// Whether no client is connected and nobody watches.
    fn is_idle(&self) -> bool {
        let now = SystemTime::now();
        let has_clients = self.table.lock().clients.iter().any(|one| one.connected(now).is_some());
        !has_clients && self.changed.receiver_count() == 0
    }

    /// Drops the clients, which hold the table that holds them.
    fn forget(&self) {
        let table = std::mem::take(&mut *self.table.lock());
        drop(table);
    }

    fn add(&self, client: ListedClient) {
        let evicted = self.table.lock().add(client);
        drop(evicted);
    }

    /// Adds a request that ended.
    fn add_request(&self, request: EndedRequest) {
        let mut table = self.table.lock();
        let oldest = if table.recent.len() >= MAX_RECENT { table.recent.pop_front() } else { None };
        table.recent.push_back(request);
        drop(table);
        drop(oldest);
    }

    /// Tells those who watch the table that it changed. Without them it costs next to nothing.
    fn notify(&self) {
        if self.changed.receiver_count() > 0 {
            self.changed.send_replace(());
        }
    }

    /// The connected clients, those with the newest activity first.
    fn client_statuses(&self) -> Vec<ClientStatus> {
        let mut clients: Vec<_> = {
            let (table, now) = (self.table.lock(), SystemTime::now());
            table.clients.iter().filter_map(|listed| listed.connected(now)).collect()
        };
        clients.sort_by_key(|client| std::cmp::Reverse((client.last_seen(), client.id)));
        clients.iter().map(|client| client.status()).collect()
    }

    /// The latest requests, the newest first.
    fn request_statuses(&self, mask_uri: UriMask) -> Vec<RequestStatus> {
        self.table.lock().recent.iter().rev().map(|ended| ended.status(mask_uri)).collect()
    }
}

impl ClientTable {
    /// Adds a client; returns those that made room for it, to be dropped without the lock.
    fn add(&mut self, client: ListedClient) -> Vec<ListedClient> {
        if self.clients.len() < MAX_CLIENTS {
            self.clients.push(client);
            return Vec::new();
        }
        let now = SystemTime::now();
        let gone = |listed: &mut ListedClient| listed.connected(now).is_none();
        let mut evicted: Vec<_> = self.clients.extract_if(.., gone).collect();
        if self.clients.len() >= MAX_CLIENTS {
            let seen = |listed: &ListedClient| listed.client().map(|client| client.last_seen());
            let silent = (0..self.clients.len()).min_by_key(|at| seen(&self.clients[*at]));
            evicted.extend(silent.map(|at| self.clients.swap_remove(at)));
        }
        evicted.iter().filter_map(ListedClient::client).for_each(|client| client.set_unlisted());
        self.clients.push(client);
        evicted
    }
}

impl ListedClient {
    fn client(&self) -> Option<Arc<ConnectedClient>> {
        match self {
            Self::InSession(client) => client.upgrade(),
            Self::Stateless(client) => Some(Arc::clone(client)),
        }
    }

    /// The client, if it is still connected.
    fn connected(&self, now: SystemTime) -> Option<Arc<ConnectedClient>> {
        let is_stateless = matches!(self, Self::Stateless(_));
        let is_silent = |client: &Arc<ConnectedClient>| {
            let silence = now.duration_since(client.last_seen());
            client.subscription_count() == 0 && silence.is_ok_and(|time| time > STATELESS_IDLE)
        };
        self.client().filter(|client| !is_stateless || !is_silent(client))
    }
}

/// The label in a bounded form that is safe to show.
fn plain_label<'a>(label: &'a ClientLabel<'_>) -> ClientLabel<'a> {
    let plain = |text: &'a Option<Cow<'_, str>>| {
        text.as_deref().map(|text| plain_text(text, MAX_CLIENT_NAME))
    };
    ClientLabel { name: plain(&label.name), version: plain(&label.version) }
}

/// `text` in at most `max` bytes, without characters that control a terminal or the direction of
/// writing.
fn plain_text(text: &str, max: usize) -> Cow<'_, str> {
    one_line(&text[..text.floor_char_boundary(max)])
}

#[cfg(test)]
mod tests;
