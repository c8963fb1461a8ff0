//! How does a request come by its terms?
//!
//! Through 2025-11-25 a connection agrees on them once; from 2026-07-28 on every request brings
//! its own. Both end in an [`Exchange`](crate::exchange::Exchange) and are told apart nowhere else.

pub(crate) mod handshake;
pub(crate) mod stateless;

use std::sync::Arc;

use protocol::meta::Meta;
use protocol::{Call, Id, Refusal, Terms, Wishes};
use resource::Context;

use crate::exchange::Exchange;
use crate::methods::subscriptions::Subscriber;
use crate::progress::Reports;

/// A request that is ready to be answered.
pub(crate) struct Opened {
    pub(crate) exchange: Exchange,
    pub(crate) call: Call,
    /// Where its progress comes out, if its client wants to hear.
    pub(crate) reports: Option<Reports>,
}

impl Opened {
    /// Whether it settles the terms of all that follows.
    pub(crate) fn settles(&self) -> bool {
        matches!(self.call, Call::Initialize { .. })
    }

    /// What it wants to hear of, if it is answered for as long as anybody listens.
    pub(crate) fn listens(&self) -> Option<&Wishes> {
        match &self.call {
            Call::Listen(wishes) => Some(wishes),
            _ => None,
        }
    }

    /// The same, for a session that hears of changes.
    pub(crate) fn within(mut self, subscriber: &Arc<Subscriber>) -> Self {
        self.exchange.subscriber = Some(Arc::clone(subscriber));
        self
    }

    fn new(id: Id, mut terms: Terms, call: Call, meta: &Meta<'_>) -> Result<Self, Refusal> {
        // Whoever calls what SEP-2093 added knows of it.
        terms.aware |= call.is_extension();
        terms.full |= call.is_extension();
        let (ctx, reports) = match meta.progress_token()? {
            Some(token) => {
                let (ctx, reports) = Reports::under(token);
                (ctx, Some(reports))
            }
            None => (Context::default(), None),
        };
        Ok(Self { exchange: Exchange { id, terms, ctx, subscriber: None }, call, reports })
    }
}
