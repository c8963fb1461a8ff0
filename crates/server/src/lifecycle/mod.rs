//! Protocol lifecycle: decodes a request and determines its terms (revision, extensions, client).
//!
//! Through 2025-11-25 a connection negotiates them once; from 2026-07-28 on every request carries
//! its own. Both become an [`Exchange`](crate::exchange::Exchange); no other code tells them apart.

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

/// A decoded request, ready for dispatch.
pub(crate) struct Opened {
    pub(crate) exchange: Exchange,
    pub(crate) call: Call,
    /// Its interim messages, if the client accepts any.
    pub(crate) reports: Option<Reports>,
}

/// The result of a handshake (through 2025-11-25).
#[derive(Clone)]
pub(crate) struct Agreed {
    pub(crate) terms: Terms,
    pub(crate) guest: Arc<Guest>,
}

impl Opened {
    /// The handshake result, if this is an `initialize` request.
    pub(crate) fn settles(&self) -> Option<Agreed> {
        let Call::Initialize { can, .. } = &self.call else { return None };
        Some(Agreed { terms: self.exchange.terms, guest: Guest::new(can.clone()) })
    }

    /// The filter of a listening request; `None` for any other.
    pub(crate) fn listens(&self) -> Option<&Wishes> {
        match &self.call {
            Call::Listen(wishes) => Some(wishes),
            _ => None,
        }
    }

    /// Binds the request to a session: its subscriptions, and its client, which may be asked.
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

    /// Completes a stateless request: opens its `requestState` and attaches its client, which can
    /// receive logs and answer with the next request, but cannot be asked meanwhile.
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
        // A client that calls a method of SEP-2093 knows the extension.
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
