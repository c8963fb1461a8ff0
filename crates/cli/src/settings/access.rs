//! Schema of access rules: `[[access]]`, and `access` of a mount.

use serde::Deserialize;
use toml::Spanned;

/// Access rules in order, each with its location in the file.
pub(crate) type AccessList = Vec<Spanned<AccessSettings>>;

/// One rule: `allow` or `deny` with globs, and whom it concerns.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccessSettings {
    pub(crate) allow: Option<Vec<String>>,
    pub(crate) deny: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) principals: Vec<String>,
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
    #[serde(default)]
    pub(crate) methods: Vec<MethodClassSetting>,
}

/// A class of methods.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MethodClassSetting {
    List,
    Read,
    Watch,
    Complete,
    Tool,
    Prompt,
}
