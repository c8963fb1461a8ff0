//! Schema of the `[server]` table.

use std::net::SocketAddr;

use serde::Deserialize;
use server::{CollectionsMode, Limits};

use crate::machine_memory;

use super::units::{ByteSize, TimeSpan};

/// The `[server]` table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerSettings {
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) origins: Vec<String>,
    pub(crate) hosts: Vec<String>,
    pub(crate) secret: Option<String>,
    pub(crate) sep2093: Sep2093,
    pub(crate) tools: Option<bool>,
    page_size: Option<u16>,
    max_memory: Option<ByteSize>,
    max_message: Option<ByteSize>,
    max_headers: Option<ByteSize>,
    max_depth: Option<u16>,
    max_uri: Option<ByteSize>,
    max_batch: Option<u16>,
    max_in_flight: Option<u16>,
    max_completions: Option<u32>,
    max_sessions: Option<u32>,
    session_idle: Option<TimeSpan>,
    max_streams: Option<u16>,
    max_subscriptions: Option<u16>,
    max_all_subscriptions: Option<u32>,
    max_listeners: Option<u16>,
    quiet: Option<TimeSpan>,
    hold: Option<TimeSpan>,
    max_connections: Option<u32>,
    arrival: Option<TimeSpan>,
    answer: Option<TimeSpan>,
    farewell: Option<TimeSpan>,
}

/// Which clients see the SEP-2093 extension.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sep2093 {
    #[default]
    Always,
    Aware,
    Off,
}

impl From<Sep2093> for CollectionsMode {
    fn from(sep: Sep2093) -> Self {
        match sep {
            Sep2093::Always => Self::Always,
            Sep2093::Aware => Self::Aware,
            Sep2093::Off => Self::Off,
        }
    }
}

impl ServerSettings {
    /// The limits: the defaults, overridden by the settings.
    pub(crate) fn limits(&self) -> Limits {
        let usual = Limits::default();
        let count = |said: Option<u16>, usual| said.map_or(usual, |n| usize::from(n).max(1));
        let wide = |said: Option<u32>, usual| said.map_or(usual, |n| n.max(1) as usize);
        let bytes = |said: Option<ByteSize>, usual| {
            said.map_or(usual, |size| usize::try_from(size.0).unwrap_or(usize::MAX))
        };
        let memory = self.max_memory.map_or_else(machine_memory::default_limit, |size| size.0);
        Limits {
            memory: usize::try_from(memory).unwrap_or(usize::MAX),
            message: bytes(self.max_message, usual.message),
            headers: bytes(self.max_headers, usual.headers),
            depth: count(self.max_depth, usual.depth),
            uri: bytes(self.max_uri, usual.uri),
            batch: count(self.max_batch, usual.batch),
            page: count(self.page_size, usual.page),
            in_flight: count(self.max_in_flight, usual.in_flight),
            completions_per_second: self.max_completions.unwrap_or(usual.completions_per_second),
            sessions: wide(self.max_sessions, usual.sessions),
            session_idle: self.session_idle.map_or(usual.session_idle, |span| span.0),
            streams: count(self.max_streams, usual.streams),
            subscriptions: count(self.max_subscriptions, usual.subscriptions),
            total_subscriptions: wide(self.max_all_subscriptions, usual.total_subscriptions),
            listeners: count(self.max_listeners, usual.listeners),
            debounce_quiet: self.quiet.map_or(usual.debounce_quiet, |span| span.0),
            debounce_max: self.hold.map_or(usual.debounce_max, |span| span.0),
            connections: wide(self.max_connections, usual.connections),
            io_timeout: self.arrival.map_or(usual.io_timeout, |span| span.0),
            client_answer_timeout: self.answer.map_or(usual.client_answer_timeout, |span| span.0),
            shutdown_grace: self.farewell.map_or(usual.shutdown_grace, |span| span.0),
        }
    }
}
