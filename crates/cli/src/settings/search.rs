//! Schema of the `[search]` table: the index over all mounts.

use std::path::PathBuf;

use search::IndexOptions;
use serde::Deserialize;

use super::units::ByteSize;
use super::{MountKind, Settings};
use crate::state_file::cache_folder;

/// The `[search]` table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SearchSettings {
    enabled: Option<bool>,
    index_memory: Option<ByteSize>,
    cache: Option<bool>,
    /// An installed model, or the folder of one.
    pub(crate) model: Option<String>,
    pub(crate) embeddings: Option<EmbeddingsSettings>,
}

/// The `[search.embeddings]` table: a server that makes vectors.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmbeddingsSettings {
    pub(crate) url: String,
    pub(crate) model: String,
    /// The environment variable that holds the key of the server.
    pub(crate) key_env: Option<String>,
    /// The most characters that are sent in a day.
    pub(crate) max_characters_per_day: Option<u64>,
}

/// The memory for indexing: by default, and at least and at most what the library takes.
const DEFAULT_MEMORY: u64 = 64 << 20;
const MEMORY_BOUNDS: (u64, u64) = (16 << 20, 4 << 30);

impl SearchSettings {
    /// Whether there is an index.
    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(true)
    }

    fn memory(&self) -> usize {
        let memory = self.index_memory.map_or(DEFAULT_MEMORY, |size| size.0);
        usize::try_from(memory.clamp(MEMORY_BOUNDS.0, MEMORY_BOUNDS.1)).unwrap_or(usize::MAX)
    }
}

impl Settings {
    /// How the index of these settings is kept.
    pub(crate) fn index_options(&self) -> IndexOptions {
        let folder = self.index_folder().filter(|_| self.search.cache.unwrap_or(true));
        IndexOptions { folder, memory: self.search.memory() }
    }

    /// The folder of the index of these settings.
    pub(crate) fn index_folder(&self) -> Option<PathBuf> {
        Some(cache_folder("index")?.join(self.file_key()))
    }

    /// The name under which files of these settings are kept: one for each settings file, or for
    /// each set of mounts without one.
    pub(crate) fn file_key(&self) -> String {
        let (name, identity) = match &self.text {
            Some(text) => {
                let file = std::fs::canonicalize(&text.file).unwrap_or_else(|_| text.file.clone());
                ("settings".to_owned(), file.display().to_string())
            }
            None => {
                let names: Vec<&str> = self.mounts.keys().map(String::as_str).collect();
                let mounts = self.mounts.iter().map(|(name, mount)| {
                    let path = match &mount.kind {
                        MountKind::Folder(folder) => Some(folder.path.get_ref()),
                        MountKind::Git(repository) => Some(repository.path.get_ref()),
                        _ => None,
                    };
                    let path = path.and_then(|path| std::fs::canonicalize(path).ok());
                    format!("{name} {}", path.unwrap_or_default().display())
                });
                let first = names.first().copied().unwrap_or("empty").to_owned();
                (first, mounts.collect::<Vec<_>>().join("\n"))
            }
        };
        let hash = blake3::hash(identity.as_bytes()).to_hex();
        format!("{name}-{}", &hash[..16])
    }
}
