//! Schema of a configuration mount (`kind = "config"`).

use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::mount::WatchSetting;
use super::units::TimeSpan;

/// A mount of configuration files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigMount {
    pub(crate) path: Spanned<PathBuf>,
    /// Globs over paths below `path`.
    #[serde(default)]
    pub(crate) files: Vec<Spanned<String>>,
    /// Files below `path` and `env:<glob>`, later ones over earlier ones.
    #[serde(default)]
    pub(crate) layers: Vec<Spanned<String>>,
    /// A JSON Schema below `path`.
    pub(crate) schema: Option<Spanned<String>>,
    pub(crate) ttl: Option<TimeSpan>,
    #[serde(default)]
    pub(crate) watch: WatchSetting,
    pub(crate) poll: Option<TimeSpan>,
}
