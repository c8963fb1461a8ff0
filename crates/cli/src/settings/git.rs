//! Schema of a git mount (`kind = "git"`).

use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::WatchSetting;
use super::units::TimeSpan;

/// A mount of a git repository.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitMount {
    /// The repository, its worktree, or a folder in it.
    pub(crate) path: Spanned<PathBuf>,
    pub(crate) ttl: Option<TimeSpan>,
    #[serde(default)]
    pub(crate) watch: WatchSetting,
    pub(crate) poll: Option<TimeSpan>,
}
