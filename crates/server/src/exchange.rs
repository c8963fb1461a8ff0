//! Request context: the id, terms and session of one request.

use std::sync::Arc;

use protocol::{Dialect, RequestId};
use resource::Context;

use crate::methods::subscriptions::SessionSubscriptions;
use crate::transport::client_session::ClientSession;

/// What a handler needs to know about one request besides its parameters.
pub(crate) struct Exchange {
    pub(crate) id: RequestId,
    pub(crate) dialect: Dialect,
    pub(crate) ctx: Context,
    /// The subscriptions of the session, if the request belongs to one.
    pub(crate) subscriber: Option<Arc<SessionSubscriptions>>,
    /// The client of the session, if the request belongs to one.
    pub(crate) client_session: Option<Arc<ClientSession>>,
}
