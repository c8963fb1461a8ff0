//! Options of the environment provider.

use std::collections::BTreeMap;
use std::time::Duration;

use machinery::PathGlob;
use redaction::Redaction;

/// The variables of one mount.
#[derive(Clone, Default)]
pub struct Options {
    /// The whole environment, by name.
    pub environment: BTreeMap<String, String>,
    /// The variables that are served: those whose name a glob matches.
    pub names: Vec<PathGlob>,
    /// Masks secret values, unless its scope is off.
    pub redaction: Redaction,
    /// How long clients may cache a response.
    pub ttl: Duration,
}
