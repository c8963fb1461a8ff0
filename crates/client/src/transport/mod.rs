//! How do messages reach a server, and what comes back?

pub(crate) mod board;
pub(crate) mod child;
pub(crate) mod http;
pub(crate) mod line;
mod lines;
pub(crate) mod pipe;
mod sse;

use async_trait::async_trait;

/// A way to a server. What comes back on it goes to its board.
#[async_trait]
pub(crate) trait Wire: Send + Sync {
    /// Sends a message. Does not wait; what goes wrong is told to the board.
    fn send(&self, parcel: Parcel);

    /// Sends a message that wants no answer, and waits until it has left.
    async fn deliver(&self, message: Vec<u8>) {
        self.send(Parcel::plain(message));
    }

    /// Lets go of a request, in the way that makes the server let go of it.
    fn cancel(&self, id: u64, reason: &str);

    /// Says which revision both sides speak from here on.
    fn settle(&self, _revision: &str) {}

    /// Begins to hear what the server says unasked, where that takes a stream of its own.
    fn listen(&self) {}

    /// Waits until what the server says unasked is heard, or will not be.
    async fn listening(&self) {}

    /// Takes leave, and waits until that is over.
    async fn finish(&self);
}

/// A message on its way, and what a header repeats of it.
#[derive(Debug, Default)]
pub(crate) struct Parcel {
    /// The request that it is, if it is one.
    pub(crate) id: Option<u64>,
    pub(crate) body: Vec<u8>,
    pub(crate) heading: Vec<(&'static str, String)>,
    /// What headers repeat of the arguments of a tool.
    pub(crate) mirrored: Vec<(String, String)>,
}

impl Parcel {
    /// A message that wants no answer.
    pub(crate) fn plain(body: Vec<u8>) -> Self {
        Self { body, ..Self::default() }
    }
}
