//! Schema of a documentation mount (`kind = "docs"`).

use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::mount::{FileApiSetting, ListingSetting, WatchSetting};
use super::units::TimeSpan;

/// A mount of documentation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DocsMount {
    pub(crate) path: Spanned<PathBuf>,
    /// The languages of the pages, in the order in which a reader is served.
    #[serde(default)]
    pub(crate) languages: Vec<Spanned<String>>,
    /// The language that the others are translated from.
    pub(crate) original: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) listing: ListingSetting,
    #[serde(default)]
    pub(crate) hidden: bool,
    pub(crate) ttl: Option<TimeSpan>,
    #[serde(default)]
    pub(crate) watch: WatchSetting,
    pub(crate) poll: Option<TimeSpan>,
    pub(crate) watches: Option<usize>,
    #[serde(default)]
    pub(crate) file_api: FileApiSetting,
}
