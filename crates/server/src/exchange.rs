//! Under what terms is one request answered?

use std::sync::Arc;

use protocol::{Id, Terms};
use resource::Context;

use crate::methods::subscriptions::Subscriber;
use crate::transport::guest::Guest;

/// One request's terms: who is to be answered, in which revision, and who hears of progress.
pub(crate) struct Exchange {
    pub(crate) id: Id,
    pub(crate) terms: Terms,
    pub(crate) ctx: Context,
    /// Who hears of changes, where terms were agreed on for longer than the request.
    pub(crate) subscriber: Option<Arc<Subscriber>>,
    /// Who asks, likewise.
    pub(crate) guest: Option<Arc<Guest>>,
}
