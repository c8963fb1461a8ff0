//! Transports to a server: pipes, child processes, HTTP.

pub(crate) mod child;
pub(crate) mod connection;
pub(crate) mod http;
mod line_reader;
pub(crate) mod pending;
pub(crate) mod pipe;
mod sse;
mod stderr;

use async_trait::async_trait;
use bytes::BytesMut;

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

/// Makes room for `more` bytes in the buffer of a message that has at most `most` bytes.
///
/// A long message grows in few steps: each copies it and leaves its old place behind for a while.
/// The last step, to all that the message may have, comes while it is still short. Room that is not
/// written to takes no memory.
fn reserve(buffer: &mut BytesMut, more: usize, most: usize) {
    let length = buffer.len();
    if buffer.capacity() - length < more {
        let is_long = length >= most / 16;
        let wanted = if is_long { most.saturating_add(2 * more) } else { 4 * length };
        buffer.reserve(wanted.saturating_sub(length).max(more));
    }
}

#[cfg(test)]
mod tests;
