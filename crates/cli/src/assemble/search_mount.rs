//! The internal mount of searches and packs, and which mounts the search index covers.

use catalog::{Address, Mount, MountOptions};
use resource::{Provider as _, UriTemplate};
use search::{SEARCH_TEMPLATES, SearchProvider};

use super::BuiltMount;
use crate::search_index::SearchParts;
use crate::settings::{GitMount, MountKind, MountSettings, Settings};

/// The mount of `search://` and `pack://`.
pub(super) fn search_mount(search: &SearchParts, terms: MountOptions) -> Mount {
    let templates = SEARCH_TEMPLATES.iter().filter_map(|text| UriTemplate::parse(text).ok());
    let address = Address::Declared { uris: Default::default(), templates: templates.collect() };
    let provider = SearchProvider::new(search.service.clone());
    Mount::new("~search", address, provider, terms).unlisted()
}

impl BuiltMount {
    /// Whether it is a server with a search of its own.
    pub(crate) fn searches(&self) -> bool {
        self.upstream.as_ref().is_some_and(|upstream| upstream.facets().search.is_some())
    }
}

/// Whether the index covers the mount.
pub(super) fn is_indexed(settings: &Settings, mount: &MountSettings) -> bool {
    let is_usual = match &mount.kind {
        MountKind::Folder(_) | MountKind::Docs(_) | MountKind::Config(_) | MountKind::Static(_) => {
            true
        }
        // A folder of the repository has the same files.
        MountKind::Git(repository) => !has_folder_of(settings, repository),
        MountKind::Env(_) | MountKind::UpstreamServer(_) | MountKind::Invalid(_) => false,
    };
    mount.shared.index.unwrap_or(is_usual)
}

/// Whether a folder mount serves files of the repository.
fn has_folder_of(settings: &Settings, repository: &GitMount) -> bool {
    let canonical = |path| std::fs::canonicalize(settings.resolve_path(path)).ok();
    let Some(repository) = canonical(repository.path.get_ref()) else { return false };
    settings.mounts.values().any(|mount| match &mount.kind {
        MountKind::Folder(folder) => canonical(folder.path.get_ref()).is_some_and(|folder| {
            folder.starts_with(&repository) || repository.starts_with(&folder)
        }),
        _ => false,
    })
}
