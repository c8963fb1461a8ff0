//! Request context: the id, terms and session of one request.

use std::sync::Arc;

use protocol::{Id, Terms};
use resource::Context;

use crate::methods::subscriptions::Subscriber;
use crate::transport::guest::Guest;

/// What a handler needs to know about one request besides its parameters.
pub(crate) struct Exchange {
    pub(crate) id: Id,
    pub(crate) terms: Terms,
    pub(crate) ctx: Context,
    /// The subscriptions of the session, if the request belongs to one.
    pub(crate) subscriber: Option<Arc<Subscriber>>,
    /// The client of the session, if the request belongs to one.
    pub(crate) guest: Option<Arc<Guest>>,
}
