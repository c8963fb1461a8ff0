//! Schema of the `[server]` table.

use std::net::IpAddr;
use std::path::PathBuf;

use ipnet::IpNet;
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use server::{CollectionsMode, Limits};

use super::units::{ByteSize, TimeSpan};
use crate::args::LogThreshold;
use crate::listen::ListenAddress;
use crate::machine_memory;

/// The `[server]` table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerSettings {
    pub(crate) listen: Option<ListenAddress>,
    pub(crate) origins: Vec<String>,
    pub(crate) hosts: Vec<String>,
    pub(crate) trusted_proxies: Vec<AddressRange>,
    audit: Option<PathBuf>,
    audit_size: Option<ByteSize>,
    audit_keep: Option<u16>,
    pub(crate) log_level: Option<LogThreshold>,
    pub(crate) log_file: Option<PathBuf>,
    pub(crate) secret: Option<String>,
    pub(crate) redact_key: Option<String>,
    pub(crate) sep2093: Sep2093,
    pub(crate) tools: Option<bool>,
    pub(crate) page: Option<bool>,
    page_size: Option<u16>,
    pub(crate) start_wait: Option<TimeSpan>,
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
    max_all_streams: Option<u32>,
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

/// The `[tls]` table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TlsSettings {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// A range of addresses, `10.0.0.0/8`, or a single one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AddressRange(pub(crate) IpNet);

impl<'de> Deserialize<'de> for AddressRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let single = || text.parse::<IpAddr>().ok().map(IpNet::from);
        let range = text.parse().ok().or_else(single);
        range.map(Self).ok_or_else(|| {
            D::Error::custom(format!("`{text}` is not a range of addresses such as 10.0.0.0/8"))
        })
    }
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

/// Where the audit log is, how long a file becomes, and how many full files are kept.
pub(crate) struct AuditSettings {
    pub(crate) audit: Option<PathBuf>,
    pub(crate) audit_size: u64,
    pub(crate) audit_keep: u16,
}

impl ServerSettings {
    /// The audit log, with its defaults.
    pub(crate) fn audit(&self) -> AuditSettings {
        AuditSettings {
            audit: self.audit.clone(),
            audit_size: self.audit_size.map_or(10 << 20, |size| size.0.max(4096)),
            audit_keep: self.audit_keep.unwrap_or(5),
        }
    }

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
            total_streams: wide(self.max_all_streams, usual.total_streams),
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
