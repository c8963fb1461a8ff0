//! How much may a stranger ask of us at once?

use std::time::Duration;

use watch::Calm;

/// Every bound of the server, each of which a setting may move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message.
    pub message: usize,
    /// Bytes of the headers of one request.
    pub headers: usize,
    /// Levels of nesting in JSON.
    pub depth: usize,
    /// Bytes of a URI, or of what is typed for completion.
    pub uri: usize,
    /// Messages in one batch.
    pub batch: usize,
    /// Items on one page.
    pub page: usize,
    /// Requests that one connection or session may have under way.
    pub in_flight: usize,
    /// Completions in a second, by all clients together.
    pub completions: u32,
    /// Sessions at once.
    pub sessions: usize,
    /// How long a session may be silent.
    pub session_idle: Duration,
    /// Streams that one session may have open.
    pub streams: usize,
    /// Resources that one session, or one listener, may hear of.
    pub subscriptions: usize,
    /// Subscriptions of all sessions and listeners together.
    pub all_subscriptions: usize,
    /// Listeners that one pipe may have.
    pub listeners: usize,
    /// How long a resource must be at rest before its change is told.
    pub quiet: Duration,
    /// How long a change is held back at the most.
    pub hold: Duration,
    /// Connections at once.
    pub connections: usize,
    /// How long a request may take to arrive.
    pub arrival: Duration,
    /// How long a client may take to answer what a server behind us asks it.
    pub answer: Duration,
    /// How long a shutdown waits for what is under way.
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
