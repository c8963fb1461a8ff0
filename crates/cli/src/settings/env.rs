//! Schema of an environment mount (`kind = "env"`).

use serde::Deserialize;
use toml::Spanned;

use super::units::TimeSpan;

/// A mount of environment variables.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EnvMount {
    /// Names or globs; nothing else is served.
    pub(crate) names: Vec<Spanned<String>>,
    pub(crate) ttl: Option<TimeSpan>,
}
