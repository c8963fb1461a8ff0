//! Request context: the id, terms and session of one request.

use std::sync::Arc;

use machinery::{MemoryBudget, MemoryHold};
use protocol::{Dialect, Method, Outgoing, RequestId};
use resource::{Context, Error, HeldMemory, MemoryMeter, Principal, Result};

use crate::clients::ConnectedClient;
use crate::methods::subscriptions::SessionSubscriptions;
use crate::transport::client_session::ClientSession;

/// What a handler needs to know about one request besides its parameters.
pub(crate) struct Exchange {
    pub(crate) id: RequestId,
    pub(crate) method: Method,
    pub(crate) dialect: Dialect,
    pub(crate) ctx: Context,
    /// What the request itself holds in memory, for as long as it lasts.
    pub(crate) memory: Arc<MemoryHold>,
    /// The subscriptions of the session, if the request belongs to one.
    pub(crate) subscriber: Option<Arc<SessionSubscriptions>>,
    /// The client of the session, if the request belongs to one.
    pub(crate) client_session: Option<Arc<ClientSession>>,
    /// The client in the registry; `None` before a handshake.
    pub(crate) client: Option<Arc<ConnectedClient>>,
}

impl Exchange {
    /// Reserves memory for what the request is about to buffer, until the hold is dropped.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<MemoryHold> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.memory.budget().hold(bytes).ok_or_else(Error::out_of_memory)
    }
}

/// Answers below this size are not counted: fewer of them wait than there are connections.
const MIN_COUNTED_ANSWER: usize = 4 << 10;

/// Counts a large answer until the client has read it. It exists, so it is not refused.
pub(crate) fn hold_answer(exchange: &Exchange, answer: Outgoing) -> Outgoing {
    match answer.held_bytes() {
        small if small < MIN_COUNTED_ANSWER => answer,
        bytes => answer.guarded_by(exchange.memory.budget().hold_anyway(bytes)),
    }
}

/// Whether `one` and `other` are the same principal with the same scopes. What lasts longer than a
/// request is kept for both: the settings may narrow the scopes of a token while it is used.
pub(crate) fn has_same_grant(one: &Principal, other: &Principal) -> bool {
    one.key() == other.key() && one.scopes() == other.scopes()
}

/// The memory budget of a request, for the layers and providers that work on it.
pub(crate) struct RequestMemory(pub(crate) Arc<MemoryBudget>);

impl MemoryMeter for RequestMemory {
    fn hold(&self, bytes: usize) -> Option<HeldMemory> {
        Some(Box::new(self.0.hold(bytes)?))
    }
}
