//! How is whoever waits for an answer turned to before it has one?

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::{Level, Outgoing, asking};
use resource::{Caller, Error, ErrorKind, Json, Result};
use tokio::sync::mpsc;
use tokio::time;

use crate::transport::guest::{self, Guest};

/// How many messages may wait for whoever waits.
const WAITING: usize = 64;

/// One request, seen from a server that wants to turn to its client.
pub(crate) struct Voice {
    who: Who,
    reply: Option<Json>,
    patience: Duration,
    out: mpsc::Sender<Outgoing>,
}

/// The client of the request.
pub(crate) enum Who {
    /// It waits in a session, and can be asked.
    Guest(Arc<Guest>),
    /// Its request stands alone.
    Alone { number: u64, can: Json, level: Option<Level> },
}

impl Who {
    /// The client of a request that stands alone.
    pub(crate) fn alone(can: Json, level: Option<Level>) -> Self {
        Self::Alone { number: guest::number(), can, level }
    }
}

impl Voice {
    /// A voice that speaks to `who`, and where what it says comes out.
    pub(crate) fn new(
        who: Who,
        reply: Option<Json>,
        patience: Duration,
    ) -> (Self, mpsc::Receiver<Outgoing>) {
        let (out, said) = mpsc::channel(WAITING);
        (Self { who, reply, patience, out }, said)
    }

    fn wants(&self) -> Option<Level> {
        match &self.who {
            Who::Guest(guest) => guest.level(),
            Who::Alone { level, .. } => *level,
        }
    }
}

#[async_trait]
impl Caller for Voice {
    fn number(&self) -> u64 {
        match &self.who {
            Who::Guest(guest) => guest.number,
            Who::Alone { number, .. } => *number,
        }
    }

    fn can(&self) -> &Json {
        match &self.who {
            Who::Guest(guest) => &guest.can,
            Who::Alone { can, .. } => can,
        }
    }

    fn answers(&self) -> bool {
        matches!(self.who, Who::Guest(_))
    }

    async fn ask(&self, method: &str, params: &Json) -> Result<Json> {
        let cannot = |words: &str| {
            Error::new(ErrorKind::Unsupported, format!("the client cannot be asked: {words}"))
        };
        let Who::Guest(guest) = &self.who else {
            return Err(cannot("its request stands alone"));
        };
        if !asking::allows(&guest.can, method, params) {
            return Err(cannot(&format!("it did not say that it answers {method}")));
        }
        let late = |_| Err(Error::unavailable("the client did not answer what it was asked"));
        time::timeout(self.patience, guest.ask(&self.out, method, params))
            .await
            .unwrap_or_else(late)
    }

    fn reply(&self) -> Option<&Json> {
        self.reply.as_ref()
    }

    fn level(&self) -> Option<&'static str> {
        self.wants().map(Level::as_str)
    }

    fn log(&self, message: &Json) {
        let wanted = match &self.who {
            // MCP 2025-11-25, logging: whoever said nothing hears what the server likes.
            Who::Guest(guest) => {
                guest.level().is_none_or(|least| Level::of(message) >= Some(least))
            }
            // MCP 2026-07-28, logging: whoever said nothing hears nothing.
            Who::Alone { level, .. } => {
                level.is_some_and(|least| Level::of(message) >= Some(least))
            }
        };
        if wanted {
            // Whoever does not read loses log messages, and nothing else.
            let _ = self.out.try_send(asking::log(message));
        }
    }
}
