//! How does a request come by its terms?
//!
//! Through 2025-11-25 a connection agrees on them once; from 2026-07-28 on every request brings
//! its own. Both end in an [`Exchange`](crate::exchange::Exchange) and are told apart nowhere else.

pub(crate) mod handshake;
pub(crate) mod stateless;

use std::sync::Arc;

use protocol::meta::Meta;
use protocol::{Call, Id, Level, Refusal, Terms, Wishes, asking};
use resource::{Context, Json};

use crate::exchange::Exchange;
use crate::methods::subscriptions::Subscriber;
use crate::progress::Reports;
use crate::reminder;
use crate::server::Server;
use crate::transport::caller::{Voice, Who};
use crate::transport::guest::Guest;

/// A request that is ready to be answered.
pub(crate) struct Opened {
    pub(crate) exchange: Exchange,
    pub(crate) call: Call,
    /// Where its progress comes out, if its client wants to hear.
    pub(crate) reports: Option<Reports>,
}

/// What a client and we agreed on once and for all (through 2025-11-25).
#[derive(Clone)]
pub(crate) struct Agreed {
    pub(crate) terms: Terms,
    pub(crate) guest: Arc<Guest>,
}

impl Opened {
    /// The terms of all that follows, if it settles them.
    pub(crate) fn settles(&self) -> Option<Agreed> {
        let Call::Initialize { can, .. } = &self.call else { return None };
        Some(Agreed { terms: self.exchange.terms, guest: Guest::new(can.clone()) })
    }

    /// What it wants to hear of, if it is answered for as long as anybody listens.
    pub(crate) fn listens(&self) -> Option<&Wishes> {
        match &self.call {
            Call::Listen(wishes) => Some(wishes),
            _ => None,
        }
    }

    /// The same, for a session that hears of changes and whose client may be turned to.
    pub(crate) fn within(
        mut self,
        server: &Server,
        guest: &Arc<Guest>,
        subscriber: &Arc<Subscriber>,
    ) -> Self {
        self.exchange.subscriber = Some(Arc::clone(subscriber));
        self.exchange.guest = Some(Arc::clone(guest));
        let may_be_asked = match &self.call {
            Call::Offered { .. } => true,
            Call::Read { .. } => asking::is_any(&guest.can),
            _ => false,
        };
        if may_be_asked {
            self.hear(server, Who::Guest(Arc::clone(guest)));
        }
        self
    }

    /// The same, for a client that may be turned to although its request stands alone.
    fn alone(mut self, server: &Server, can: Json, level: Option<Level>) -> Result<Self, Refusal> {
        if let Call::Read { uri, reply: Some(reply), .. } = &mut self.call {
            let opened = reminder::open(server, uri.as_str(), reply);
            *reply = opened.map_err(|error| Refusal::bad_params(error.message.into_owned()))?;
        }
        let may_be_told = match &self.call {
            Call::Offered { .. } => level.is_some(),
            Call::Read { reply, .. } => reply.is_some() || asking::is_any(&can),
            _ => false,
        };
        if may_be_told {
            self.hear(server, Who::alone(can, level));
        }
        Ok(self)
    }

    fn hear(&mut self, server: &Server, who: Who) {
        let reply = match &mut self.call {
            Call::Read { reply, .. } => reply.take(),
            _ => None,
        };
        let voice = Voice::new(who, reply, server.limits.answer);
        let ctx = std::mem::take(&mut self.exchange.ctx);
        let (ctx, reports) = Reports::with(ctx, self.reports.take(), voice);
        (self.exchange.ctx, self.reports) = (ctx, Some(reports));
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
        Ok(Self {
            exchange: Exchange { id, terms, ctx, subscriber: None, guest: None },
            call,
            reports,
        })
    }
}
