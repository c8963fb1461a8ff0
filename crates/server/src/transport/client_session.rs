//! Client side of a session: capabilities, log level, watcher, and requests sent to the client
//! (through 2025-11-25).

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use machinery::MemoryHold;
use parking_lot::Mutex;
use protocol::json::frame::RawJson;
use protocol::outbound::input_request;
use protocol::{LogLevel, Outgoing, RequestId};
use resource::{Error, Json, Result, UpstreamError};
use tokio::sync::{mpsc, oneshot};

use crate::clients::ConnectedClient;
use crate::watchers::Watcher;

/// The most requests to one client that may wait for an answer.
const MAX_PENDING: usize = 64;

/// The client of one session.
pub(crate) struct ClientSession {
    /// Unique number of the client.
    pub(crate) number: u64,
    /// The name that it gives itself.
    pub(crate) name: Option<Arc<str>>,
    /// The client in the registry, for as long as the session lasts.
    pub(crate) client: Option<Arc<ConnectedClient>>,
    /// Its declared capabilities, a JSON object.
    pub(crate) capabilities: Json,
    /// The memory of the request that opened the session.
    _memory: Arc<MemoryHold>,
    level: Mutex<Option<LogLevel>>,
    /// Its watcher, once it used our watch tools. It ends with the session.
    watcher: Mutex<Option<Arc<Watcher>>>,
    next_request_id: AtomicU64,
    pending: Mutex<HashMap<RequestId, oneshot::Sender<Result<Json, UpstreamError>>>>,
}

impl ClientSession {
    /// A client with this name and the capabilities `can`, which `memory` holds.
    pub(crate) fn new(
        (name, client): (Option<Arc<str>>, Option<Arc<ConnectedClient>>),
        can: Json,
        memory: Arc<MemoryHold>,
    ) -> Arc<Self> {
        let (level, asked, waiting) = (Mutex::default(), AtomicU64::new(1), Mutex::default());
        let watcher = Mutex::default();
        Arc::new(Self {
            number: next_caller_number(),
            name,
            client,
            capabilities: can,
            _memory: memory,
            level,
            watcher,
            next_request_id: asked,
            pending: waiting,
        })
    }

    /// The minimum log level, if the client set one.
    pub(crate) fn level(&self) -> Option<LogLevel> {
        *self.level.lock()
    }

    /// Sets the minimum log level.
    pub(crate) fn set_level(&self, level: LogLevel) {
        *self.level.lock() = Some(level);
    }

    /// The watcher of the session, if there is one.
    pub(crate) fn current_watcher(&self) -> Option<Arc<Watcher>> {
        self.watcher.lock().clone()
    }

    /// The watcher of the session; calls `begin` to create it.
    pub(crate) fn watcher_or_begin(
        &self,
        begin: impl FnOnce() -> Result<Arc<Watcher>>,
    ) -> Result<Arc<Watcher>> {
        let mut watcher = self.watcher.lock();
        match &*watcher {
            Some(watcher) => Ok(Arc::clone(watcher)),
            None => Ok(Arc::clone(watcher.insert(begin()?))),
        }
    }

    /// Sends the client a request through `out` and waits for its answer. Dropping the future
    /// cancels the request.
    pub(crate) async fn send_request(
        self: &Arc<Self>,
        out: &mpsc::Sender<Outgoing>,
        method: &str,
        params: &Json,
    ) -> Result<Json> {
        let (sender, answer) = oneshot::channel();
        let id = RequestId::Number(
            self.next_request_id.fetch_add(1, Ordering::Relaxed).to_string().into(),
        );
        {
            let mut waiting = self.pending.lock();
            if waiting.len() >= MAX_PENDING {
                return Err(Error::unavailable("the client has too many open requests"));
            }
            waiting.insert(id.clone(), sender);
        }
        let question = PendingClientRequest { client: Arc::clone(self), id, out };
        let message = input_request::encode_input_request(&question.id, method, params);
        let gone = || Error::unavailable("the client is gone; it cannot receive requests");
        out.send(message).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?.map_err(Error::from_upstream)
    }

    /// Delivers an answer of the client. Ignores answers to unknown ids.
    pub(crate) fn deliver_answer(
        &self,
        id: Option<&RequestId>,
        outcome: Result<&RawJson, &RawJson>,
    ) {
        let waiting = id.and_then(|id| self.pending.lock().remove(id));
        if let Some(waiting) = waiting {
            let _ = waiting.send(input_request::decode_input_response(outcome));
        }
    }
}

/// A request to the client that waits for its answer. Dropping it sends a cancellation.
struct PendingClientRequest<'a> {
    client: Arc<ClientSession>,
    id: RequestId,
    out: &'a mpsc::Sender<Outgoing>,
}

impl Drop for PendingClientRequest<'_> {
    fn drop(&mut self) {
        if self.client.pending.lock().remove(&self.id).is_some() {
            let _ = self.out.try_send(input_request::encode_input_cancelled(&self.id));
        }
    }
}

/// A number that no other caller has had.
pub(crate) fn next_caller_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}
