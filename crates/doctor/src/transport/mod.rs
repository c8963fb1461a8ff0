//! Wire layer of the doctor: pipes, child processes and HTTP, without any healing of faults.

mod changes;
mod child;
mod conversation;
mod event_stream;
mod http;
mod http_sse;
mod http_streams;
mod message;
mod pipe;
mod probe;
mod side_messages;
mod sorting;
mod sse;

use std::time::Duration;

use tokio::time::Instant;

pub(crate) use changes::CHANGING_LISTS;
pub(crate) use conversation::{Conversation, ProbeReply};
pub(crate) use http::{HttpAsk, HttpFacts, HttpWire};
pub(crate) use message::{PeerMessage, ReplyOutcome, RpcFault};
pub(crate) use probe::{CLIENT_CAPABILITIES, CLIENT_INFO, Probe, SUBSCRIPTION_ID, client_info};
pub(crate) use sorting::REMOVED_METHODS;

use crate::target::{DoctorOptions, DoctorTarget};

/// The most messages that may come before the answer to one request.
const MAX_MESSAGES: usize = 1_000;

/// A point in time after which nothing is waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub(crate) fn after(wait: Duration) -> Self {
        Self(Instant::now() + wait)
    }

    /// The earlier of the two.
    pub(crate) fn or_after(self, wait: Duration) -> Self {
        Self(self.0.min(Instant::now() + wait))
    }

    pub(crate) fn is_over(self) -> bool {
        Instant::now() >= self.0
    }
}

/// How the messages travel.
pub(crate) enum Wire {
    Pipe(pipe::PipeWire),
    Http(HttpWire),
    HttpSse(Box<http_sse::HttpSseWire>),
}

impl Wire {
    /// Opens a new connection: starts the program, or prepares requests to the URL.
    pub(crate) fn open(target: &DoctorTarget, options: &DoctorOptions) -> Result<Self, String> {
        let limit = options.message_limit;
        match target {
            DoctorTarget::Child { command, args, env, cwd } => {
                let program = child::DoctorProgram { command, args, env, cwd: cwd.as_deref() };
                Ok(Self::Pipe(child::start(&program, limit)?))
            }
            DoctorTarget::Http { url, headers } => {
                Ok(Self::Http(HttpWire::new(url, headers, limit)?))
            }
            DoctorTarget::Pipes(opener) => {
                let pipes = opener.open();
                Ok(Self::Pipe(pipe::PipeWire::new(pipes.reader, pipes.writer, limit)))
            }
        }
    }
}
