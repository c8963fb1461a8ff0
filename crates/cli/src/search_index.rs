//! The search index of a running server: its parts, and a keeper for each indexed mount.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Context as _;
use embedding::{CostBound, Embedder, RemoteEmbedder, RemoteOptions, StaticModel};
use parking_lot::Mutex;
use resource::Provider;
use search::{IndexKeeper, SearchIndex, SearchService, ServiceSlot, remove_unused};
use subscriptions::DebounceConfig;

use crate::assemble::{Assembly, BuiltMount};
use crate::commands::models::models_folder;
use crate::settings::{SearchSettings, Settings};
use crate::state_file::cache_folder;

/// How long the index of settings that are not served any more is kept.
const UNUSED_AGE: Duration = Duration::from_secs(90 * 86_400);

/// The index, and the place of the service that answers from it.
#[derive(Clone)]
pub(crate) struct SearchParts {
    pub(crate) index: SearchIndex,
    pub(crate) service: ServiceSlot,
}

impl SearchParts {
    /// Opens the index; `None` if the settings turn it off, or it cannot be had.
    pub(crate) fn open(settings: &Settings) -> Option<Self> {
        if !settings.search.is_enabled() {
            return None;
        }
        if let Some(root) = cache_folder("index") {
            // Folders that cannot be removed stay.
            let _ = remove_unused(&root, UNUSED_AGE);
        }
        let opened = SearchIndex::open(settings.index_options());
        let opened = opened.inspect_err(|error| {
            tracing::error!("there is no search index: {}", error.with_causes());
        });
        Some(Self { index: opened.ok()?, service: Arc::new(OnceLock::new()) })
    }
}

/// The service, and the keepers of the mounts.
pub(crate) struct Searching {
    pub(crate) service: Arc<SearchService>,
    parts: SearchParts,
    debounce: DebounceConfig,
    keepers: Mutex<Vec<(BuiltMount, IndexKeeper)>>,
}

impl Searching {
    /// The service over the catalog of `assembly`; `None` if no mount of it is indexed or searches by
    /// itself.
    pub(crate) fn new(
        parts: SearchParts,
        assembly: &Assembly,
        (quiet, max_delay): (Duration, Duration),
    ) -> Option<Self> {
        let has_index = assembly.mounts.iter().any(|mount| mount.indexed().is_some());
        if !has_index && !assembly.mounts.iter().any(BuiltMount::searches) {
            return None;
        }
        let provider = Arc::clone(&assembly.catalog) as Arc<dyn Provider>;
        let service = SearchService::new(parts.index.clone(), provider);
        let service = if has_index { service } else { service.without_packs() };
        let service = Arc::new(service);
        // Set once, here.
        let _ = parts.service.set(Arc::downgrade(&service));
        let debounce = DebounceConfig { quiet, max_delay };
        Some(Self { service, parts, debounce, keepers: Mutex::default() })
    }

    /// Loads the model that the settings name, so that the index finds by meaning too. Without it, it
    /// finds by words, and results and the log say why.
    pub(crate) async fn enable_meaning(&self, search: &SearchSettings) {
        let refuse = |why: String| {
            tracing::error!("search by meaning is off: {why}");
            let reason = "the configured model cannot be used; the log of the server says why";
            self.parts.index.refuse_meaning(reason.to_owned());
        };
        match load_embedder(search).await {
            Ok(Some(embedder)) => {
                if let Err(error) = self.parts.index.enable_meaning(embedder) {
                    refuse(error.with_causes().to_string());
                }
            }
            Ok(None) => {}
            Err(error) => refuse(format!("{error:#}")),
        }
    }

    pub(crate) fn parts(&self) -> &SearchParts {
        &self.parts
    }

    /// Keeps the index up to date with these mounts, and with no others.
    pub(crate) fn keep(&self, mounts: &[BuiltMount]) {
        let index = self.parts.index.clone();
        let mut keepers = self.keepers.lock();
        keepers.retain(|(kept, _)| mounts.iter().any(|mount| mount.is_same(kept)));
        for mount in mounts {
            if keepers.iter().any(|(kept, _)| kept.is_same(mount)) {
                continue;
            }
            if let Some(indexed) = mount.indexed() {
                keepers.push((mount.clone(), index.keep(indexed, self.debounce)));
            }
        }
        let names: Vec<String> =
            keepers.iter().map(|(mount, _)| mount.summary.name.clone()).collect();
        tokio::spawn(async move {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            index.retain_mounts(&names).await;
        });
    }
}

/// The model of the settings; `None` if they name none.
async fn load_embedder(search: &SearchSettings) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
    if let Some(model) = &search.model {
        let installed = models_folder().map(|folder| folder.join(model));
        let folder = installed.filter(|folder| folder.is_dir());
        let folder = folder.unwrap_or_else(|| PathBuf::from(model));
        anyhow::ensure!(
            folder.is_dir(),
            "there is no model {model:?}; install one with `refdesk models add FOLDER`"
        );
        let loaded = tokio::task::spawn_blocking(move || StaticModel::load(&folder)).await?;
        return Ok(Some(Arc::new(loaded.with_context(|| format!("the model {model:?}"))?)));
    }
    let Some(remote) = &search.embeddings else { return Ok(None) };
    let mut options = RemoteOptions::new(&remote.url, &remote.model);
    if let Some(name) = &remote.key_env {
        let key = std::env::var(name).with_context(|| format!("the variable {name}"))?;
        options.headers.push(("authorization".to_owned(), format!("Bearer {key}")));
    }
    options.cost_bound = remote.max_characters_per_day.map(|characters| CostBound {
        max_characters: characters,
        period: Some(Duration::from_secs(86_400)),
    });
    let remote = RemoteEmbedder::connect(options).await;
    Ok(Some(Arc::new(remote.context("the embeddings server")?)))
}
