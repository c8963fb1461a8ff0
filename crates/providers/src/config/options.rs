//! Options of the configuration provider.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use machinery::PathGlob;
use redaction::Redaction;
use resource::Provider;

use super::file_globs::FileGlobs;
use crate::VisibilityRule;

/// The configuration of one mount.
pub struct Options {
    /// The folder of the files, as a provider that lists all of them flat. It need not show files
    /// that `globs` leaves out.
    pub files: Arc<dyn Provider>,
    /// The same folder with every file, in which schemas are looked up.
    pub schemas: Arc<dyn Provider>,
    /// Which files are served.
    pub globs: FileGlobs,
    /// The layers of the effective configuration, later ones over earlier ones; empty for none.
    pub layers: Vec<ConfigLayer>,
    /// The path of the JSON Schema of files that name none.
    pub schema: Option<String>,
    /// Masks secrets.
    pub redaction: Redaction,
    /// Who may know of which file, layer and schema, by its URI `config:///<path>`; `None` if everyone
    /// may know of all. One that is refused is as if it were not there.
    pub visibility: Option<VisibilityRule>,
    /// How long clients may cache a response.
    pub ttl: Duration,
}

/// One layer of the effective configuration.
#[derive(Debug, Clone)]
pub struct ConfigLayer {
    /// Its name, as in the settings: `prod.toml`, `env:APP_*`.
    pub name: String,
    /// Where its values come from.
    pub source: LayerSource,
}

/// Where the values of a layer come from.
#[derive(Debug, Clone)]
pub enum LayerSource {
    /// The file at this path below the folder. A layer without a file is empty.
    File(String),
    /// Environment variables, by name. `prefix` is cut off, a double underscore nests.
    Variables {
        /// What every name begins with.
        prefix: String,
        /// The variables.
        values: BTreeMap<String, String>,
    },
}

impl ConfigLayer {
    /// The layer `name`: `env:` and a glob over the names of `environment`, or else a path. An
    /// error, if the glob is none.
    pub fn parse(
        name: &str,
        environment: &BTreeMap<String, String>,
    ) -> Result<Self, machinery::GlobError> {
        let source = match name.strip_prefix("env:") {
            None => LayerSource::File(name.trim_start_matches("./").to_owned()),
            Some(glob) => {
                let is_match = PathGlob::parse(glob)?.into_matcher();
                let wildcard = glob.find(['*', '?', '[', '{', '\\']).unwrap_or(0);
                let values = environment.iter().filter(|(name, _)| is_match(name));
                LayerSource::Variables {
                    prefix: glob[..wildcard].to_owned(),
                    values: values.map(|(name, value)| (name.clone(), value.clone())).collect(),
                }
            }
        };
        Ok(Self { name: name.to_owned(), source })
    }
}
