//! Resource limits of the server: sizes, counts, rates and timeouts, with their defaults.

use std::time::Duration;

use subscriptions::DebounceConfig;

/// All limits of the server. Each one can be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that requests and answers of all clients may hold together.
    pub memory: usize,
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
    /// Completion requests per second, of each principal.
    pub completions_per_second: u32,
    /// Open HTTP sessions.
    pub sessions: usize,
    /// Idle time after which a session ends.
    pub session_idle: Duration,
    /// Open streams of all clients together: listening requests and streams of sessions.
    pub total_streams: usize,
    /// Open streams per session.
    pub streams: usize,
    /// Subscribed resources per session, or per listening request.
    pub subscriptions: usize,
    /// Subscriptions of all sessions and listening requests together, of which one principal gets at
    /// most three quarters.
    pub total_subscriptions: usize,
    /// Listening requests per lasting connection (stdio, HTTP+SSE).
    pub listeners: usize,
    /// Debounce: how long a resource must stay unchanged before the server sends a notification.
    pub debounce_quiet: Duration,
    /// Debounce: the longest time that a notification may be delayed.
    pub debounce_max: Duration,
    /// Open HTTP connections.
    pub connections: usize,
    /// How long a request may take to arrive. Also the write timeout for clients that do not
    /// read.
    pub io_timeout: Duration,
    /// How long a client may take to answer a request that an upstream server sends it.
    pub client_answer_timeout: Duration,
    /// How long a shutdown waits for requests in flight.
    pub shutdown_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 1 << 30,
            message: 4 << 20,
            headers: 32 << 10,
            depth: 64,
            uri: 8 << 10,
            batch: 100,
            page: 100,
            in_flight: 64,
            completions_per_second: 1000,
            sessions: 1000,
            session_idle: Duration::from_secs(30 * 60),
            total_streams: 1000,
            streams: 4,
            subscriptions: 1024,
            total_subscriptions: 65_536,
            listeners: 64,
            debounce_quiet: DebounceConfig::default().quiet,
            debounce_max: DebounceConfig::default().max_delay,
            connections: 1024,
            io_timeout: Duration::from_secs(75),
            client_answer_timeout: Duration::from_secs(600),
            shutdown_grace: Duration::from_secs(2),
        }
    }
}
