//! What may be said about a server behind us?

use std::time::Duration;

use client::Client;

/// Which server it is, and how it is treated.
#[derive(Clone)]
pub struct Options {
    /// The way to it.
    pub client: Client,
    /// How long a whole list is kept for descriptions and for what lies in a resource, where the
    /// server does not say how long it is good and tells of no change.
    pub listing: Duration,
    /// How often one looks for changes where the server does not tell of them; never, if nobody
    /// says.
    pub poll: Option<Duration>,
    /// Whether a resource may be read only in order to describe it.
    pub reads_to_describe: bool,
}

impl Options {
    /// A server that is treated as most are.
    pub fn new(client: Client) -> Self {
        Self { client, listing: Duration::from_secs(10), poll: None, reads_to_describe: true }
    }
}
