//! Resource limits of the server: sizes, counts, rates and timeouts, with their defaults.

use std::time::Duration;

use watch::Calm;

/// All limits of the server. Each one can be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes in one message.
    pub message: usize,
    /// Bytes in the headers of one HTTP request.
    pub headers: usize,
    /// Nesting depth of JSON.
    pub depth: usize,
    /// Bytes in a URI, or in the value of a completion request.
    pub uri: usize,
    /// Messages in one batch.
    pub batch: usize,
    /// Items on one page.
    pub page: usize,
    /// Requests in flight per connection or session.
    pub in_flight: usize,
    /// Completion requests per second, over all clients.
    pub completions: u32,
    /// Open HTTP sessions.
    pub sessions: usize,
    /// Idle time after which a session ends.
    pub session_idle: Duration,
    /// Open streams per session.
    pub streams: usize,
    /// Subscribed resources per session, or per listening request.
    pub subscriptions: usize,
    /// Subscriptions of all sessions and listening requests together.
    pub all_subscriptions: usize,
    /// Listening requests per lasting connection (stdio, HTTP+SSE).
    pub listeners: usize,
    /// Debounce: how long a resource must stay unchanged before the server sends a notification.
    pub quiet: Duration,
    /// Debounce: the longest time that a notification may be delayed.
    pub hold: Duration,
    /// Open HTTP connections.
    pub connections: usize,
    /// How long a request may take to arrive. Also the write timeout for clients that do not
    /// read.
    pub arrival: Duration,
    /// How long a client may take to answer a request that an upstream server sends it.
    pub answer: Duration,
    /// How long a shutdown waits for requests in flight.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: 4 << 20,
            headers: 32 << 10,
            depth: 64,
            uri: 8 << 10,
            batch: 100,
            page: 100,
            in_flight: 64,
            completions: 1000,
            sessions: 1000,
            session_idle: Duration::from_secs(30 * 60),
            streams: 4,
            subscriptions: 1024,
            all_subscriptions: 65_536,
            listeners: 64,
            quiet: Calm::default().quiet,
            hold: Calm::default().most,
            connections: 1024,
            arrival: Duration::from_secs(75),
            answer: Duration::from_secs(600),
            farewell: Duration::from_secs(2),
        }
    }
}
