//! Transports to a server: pipes, child processes, HTTP.

pub(crate) mod board;
pub(crate) mod child;
pub(crate) mod http;
pub(crate) mod line;
mod lines;
pub(crate) mod pipe;
mod sse;

use async_trait::async_trait;

/// A transport to a server. It hands incoming messages to its board.
#[async_trait]
pub(crate) trait Wire: Send + Sync {
    /// Sends a message without waiting; the board receives failures.
    fn send(&self, parcel: Parcel);

    /// Sends a message that expects no answer. Over HTTP it waits until the server has taken it.
    async fn deliver(&self, message: Vec<u8>) {
        self.send(Parcel::plain(message));
    }

    /// Cancels a request, in the way that the transport and the revision define.
    fn cancel(&self, id: u64, reason: &str);

    /// Sets the revision that the handshake agreed on.
    fn settle(&self, _revision: &str) {}

    /// Opens the stream for notifications, where the transport needs one.
    fn listen(&self) {}

    /// Waits until that stream is open, or the transport has given up on it.
    async fn listening(&self) {}

    /// Closes the transport and waits until it is closed.
    async fn finish(&self);
}

/// An outgoing message, and the HTTP headers that repeat parts of it.
#[derive(Debug, Default)]
pub(crate) struct Parcel {
    /// Its request id, if it is a request.
    pub(crate) id: Option<u64>,
    pub(crate) body: Vec<u8>,
    pub(crate) heading: Vec<(&'static str, String)>,
    /// Tool arguments to repeat as HTTP headers.
    pub(crate) mirrored: Vec<(String, String)>,
}

impl Parcel {
    /// A message that expects no answer.
    pub(crate) fn plain(body: Vec<u8>) -> Self {
        Self { body, ..Self::default() }
    }
}
