//! Caller of one request: sends it log messages and requests while it waits for its answer.
//!
//! Requests reach only clients of a session. A stateless client gets `input_required` instead.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::outbound::input_request;
use protocol::{LogLevel, Outgoing};
use resource::{Caller, Error, ErrorKind, Json, Result};
use tokio::sync::mpsc;
use tokio::time;

use crate::transport::client_session::{self, ClientSession};

/// Capacity of the queue of messages to the client.
const MESSAGE_QUEUE: usize = 64;

/// The client of one request, as providers see it: implements [`Caller`].
pub(crate) struct RequestCaller {
    kind: CallerKind,
    reply: Option<Json>,
    answer_timeout: Duration,
    out: mpsc::Sender<Outgoing>,
}

/// The kind of client.
pub(crate) enum CallerKind {
    /// In a session: it can receive requests during the call.
    Session(Arc<ClientSession>),
    /// Stateless: it cannot receive requests.
    Stateless { number: u64, can: Json, level: Option<LogLevel> },
}

impl CallerKind {
    /// The client of a stateless request.
    pub(crate) fn stateless(can: Json, level: Option<LogLevel>) -> Self {
        Self::Stateless { number: client_session::next_caller_number(), can, level }
    }
}

impl RequestCaller {
    /// A caller of the kind `who`, and the receiver of the messages for it.
    pub(crate) fn new(
        kind: CallerKind,
        reply: Option<Json>,
        patience: Duration,
    ) -> (Self, mpsc::Receiver<Outgoing>) {
        let (out, messages) = mpsc::channel(MESSAGE_QUEUE);
        (Self { kind, reply, answer_timeout: patience, out }, messages)
    }

    fn min_level(&self) -> Option<LogLevel> {
        match &self.kind {
            CallerKind::Session(session) => session.level(),
            CallerKind::Stateless { level, .. } => *level,
        }
    }
}

#[async_trait]
impl Caller for RequestCaller {
    fn id(&self) -> u64 {
        match &self.kind {
            CallerKind::Session(session) => session.number,
            CallerKind::Stateless { number, .. } => *number,
        }
    }

    fn capabilities(&self) -> &Json {
        match &self.kind {
            CallerKind::Session(session) => &session.capabilities,
            CallerKind::Stateless { can, .. } => can,
        }
    }

    fn accepts_requests(&self) -> bool {
        matches!(self.kind, CallerKind::Session(_))
    }

    async fn send_request(&self, method: &str, params: &Json) -> Result<Json> {
        let cannot = |words: &str| {
            Error::new(ErrorKind::Unsupported, format!("cannot ask the client: {words}"))
        };
        let CallerKind::Session(session) = &self.kind else {
            return Err(cannot("it has no session"));
        };
        if !input_request::allows_input(&session.capabilities, method, params) {
            return Err(cannot(&format!("it did not declare support for {method}")));
        }
        let late = |_| Err(Error::unavailable("the client did not answer a request in time"));
        time::timeout(self.answer_timeout, session.send_request(&self.out, method, params))
            .await
            .unwrap_or_else(late)
    }

    fn input_response(&self) -> Option<&Json> {
        self.reply.as_ref()
    }

    fn log_level(&self) -> Option<&'static str> {
        self.min_level().map(LogLevel::as_str)
    }

    fn log(&self, message: &Json) {
        let wanted = match &self.kind {
            // MCP 2025-11-25, logging: without a level the server chooses. We send everything.
            CallerKind::Session(session) => {
                session.level().is_none_or(|least| LogLevel::of_message(message) >= Some(least))
            }
            // MCP 2026-07-28, logging: without a level the client gets nothing.
            CallerKind::Stateless { level, .. } => {
                level.is_some_and(|least| LogLevel::of_message(message) >= Some(least))
            }
        };
        if wanted {
            // If the queue is full, the log message is lost.
            let _ = self.out.try_send(input_request::encode_log_message(message));
        }
    }
}
