//! Transports to a server: pipes, child processes, HTTP.

pub(crate) mod child;
pub(crate) mod connection;
pub(crate) mod http;
mod line_reader;
pub(crate) mod pending;
pub(crate) mod pipe;
mod sse;

use async_trait::async_trait;

/// A transport to a server. It hands incoming messages to its board.
#[async_trait]
pub(crate) trait Transport: Send + Sync {
    /// Sends a message without waiting; the board receives failures.
    fn send(&self, message: OutboundMessage);

    /// Sends a message that expects no answer. Over HTTP it waits until the server has taken it.
    async fn send_and_wait(&self, message: Vec<u8>) {
        self.send(OutboundMessage::plain(message));
    }

    /// Cancels a request, in the way that the transport and the revision define.
    fn cancel(&self, id: u64, reason: &str);

    /// Sets the revision that the handshake agreed on.
    fn set_revision(&self, _revision: &str) {}

    /// Opens the stream for notifications, where the transport needs one.
    fn open_notifications(&self) {}

    /// Waits until that stream is open, or the transport has given up on it.
    async fn wait_for_notifications(&self) {}

    /// Closes the transport and waits until it is closed.
    async fn shut_down(&self);
}

/// An outgoing message, and the HTTP headers that repeat parts of it.
#[derive(Debug, Default)]
pub(crate) struct OutboundMessage {
    /// Its request id, if it is a request.
    pub(crate) id: Option<u64>,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: Vec<(&'static str, String)>,
    /// Tool arguments to repeat as HTTP headers.
    pub(crate) param_headers: Vec<(String, String)>,
}

impl OutboundMessage {
    /// A message that expects no answer.
    pub(crate) fn plain(body: Vec<u8>) -> Self {
        Self { body, ..Self::default() }
    }
}

#[cfg(test)]
mod tests;
