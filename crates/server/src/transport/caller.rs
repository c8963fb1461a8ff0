//! Caller of one request: sends it log messages and requests while it waits for its answer.
//!
//! Requests reach only clients of a session. A stateless client gets `input_required` instead.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::{Level, Outgoing, asking};
use resource::{Caller, Error, ErrorKind, Json, Result};
use tokio::sync::mpsc;
use tokio::time;

use crate::transport::guest::{self, Guest};

/// Capacity of the queue of messages to the client.
const WAITING: usize = 64;

/// The client of one request, as providers see it: implements [`Caller`].
pub(crate) struct Voice {
    who: Who,
    reply: Option<Json>,
    patience: Duration,
    out: mpsc::Sender<Outgoing>,
}

/// The kind of client.
pub(crate) enum Who {
    /// In a session: it can receive requests during the call.
    Guest(Arc<Guest>),
    /// Stateless: it cannot receive requests.
    Alone { number: u64, can: Json, level: Option<Level> },
}

impl Who {
    /// The client of a stateless request.
    pub(crate) fn alone(can: Json, level: Option<Level>) -> Self {
        Self::Alone { number: guest::number(), can, level }
    }
}

impl Voice {
    /// A caller of the kind `who`, and the receiver of the messages for it.
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
            Error::new(ErrorKind::Unsupported, format!("cannot ask the client: {words}"))
        };
        let Who::Guest(guest) = &self.who else {
            return Err(cannot("it has no session"));
        };
        if !asking::allows(&guest.can, method, params) {
            return Err(cannot(&format!("it did not declare support for {method}")));
        }
        let late = |_| Err(Error::unavailable("the client did not answer a request in time"));
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
            // MCP 2025-11-25, logging: without a level the server chooses. We send everything.
            Who::Guest(guest) => {
                guest.level().is_none_or(|least| Level::of(message) >= Some(least))
            }
            // MCP 2026-07-28, logging: without a level the client gets nothing.
            Who::Alone { level, .. } => {
                level.is_some_and(|least| Level::of(message) >= Some(least))
            }
        };
        if wanted {
            // If the queue is full, the log message is lost.
            let _ = self.out.try_send(asking::log(message));
        }
    }
}
