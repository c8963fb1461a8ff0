//! The search index: the passages of all indexed mounts.

pub(crate) mod coverage;
pub(crate) mod document;
pub(crate) mod entry;
pub(crate) mod fields;
pub(crate) mod keys;
#[cfg(test)]
mod size_tests;
mod spelling_tokens;
pub(crate) mod store;
pub(crate) mod writer;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use embedding::Embedder;
use parking_lot::{Mutex, RwLock};
use resource::Error;
use tokio::sync::watch;
use tokio::time::{self, Instant};

use crate::meaning::MeaningIndex;
use coverage::{Coverage, MountCoverage};
use store::{IndexHome, IndexStore, IndexedVersion, OpenedStore, WriterParts};
use writer::OrderQueue;

/// How the index is kept.
#[derive(Debug, Clone)]
pub struct IndexOptions {
    /// The folder that it is kept in; `None` for memory.
    pub folder: Option<PathBuf>,
    /// The memory for indexing, in bytes.
    pub memory: usize,
}

/// The index of all mounts. Clones share it.
#[derive(Clone)]
pub struct SearchIndex {
    pub(crate) state: Arc<IndexState>,
    pub(crate) orders: OrderQueue,
    /// What search by meaning needs, once a model is there.
    meaning: Arc<OnceLock<Result<Arc<MeaningIndex>, String>>>,
}

/// What the threads and tasks of the index share.
pub(crate) struct IndexState {
    pub(crate) options: IndexOptions,
    store: RwLock<Arc<IndexStore>>,
    /// Counts the stores: the keepers begin anew with each.
    generation: watch::Sender<u64>,
    /// What is covered, by mount.
    coverage: Mutex<BTreeMap<String, MountCoverage>>,
    /// Tells of changes of the coverage.
    progress: watch::Sender<()>,
}

impl SearchIndex {
    /// Opens the index, or makes an empty one.
    pub fn open(options: IndexOptions) -> resource::Result<Self> {
        let no_thread =
            |error: io::Error| Error::internal("the index has no thread").caused_by(error);
        let open = || IndexStore::open(options.folder.as_deref(), options.memory);
        let opened = writer::politely(open).map_err(no_thread)?;
        let (store, writer) = opened.map_err(index_error)?;
        let (orders, received) = OrderQueue::new(options.memory);
        let state = Arc::new(IndexState {
            options,
            store: RwLock::new(Arc::new(store)),
            generation: watch::Sender::new(0),
            coverage: Mutex::default(),
            progress: watch::Sender::new(()),
        });
        writer::spawn(Arc::clone(&state), writer, received).map_err(no_thread)?;
        Ok(Self { state, orders, meaning: Arc::default() })
    }

    /// Lets the index find by meaning too, with the vectors of `embedder`. Called before the keepers
    /// begin.
    pub fn enable_meaning(&self, embedder: Arc<dyn Embedder>) -> resource::Result<()> {
        let (folder, writes) = match self.home() {
            IndexHome::Folder(folder) => (folder, true),
            IndexHome::Shared(folder) => (folder, false),
            IndexHome::Memory(_) => {
                let message = "search by meaning needs an index on disk";
                return Err(Error::unavailable(message));
            }
        };
        let meaning = MeaningIndex::open(embedder, &folder, writes)?;
        // Only the first call counts.
        let _ = self.meaning.set(Ok(Arc::new(meaning)));
        Ok(())
    }

    /// Tells why the model that is configured cannot be used.
    pub fn refuse_meaning(&self, reason: String) {
        // Only the first call counts.
        let _ = self.meaning.set(Err(reason));
    }

    /// What finds by meaning: nothing without a model, or why the model cannot be used.
    pub(crate) fn meaning(&self) -> Result<Option<&Arc<MeaningIndex>>, String> {
        self.meaning.get().map(Result::as_ref).transpose().map_err(String::clone)
    }

    /// Whether it finds by meaning too.
    pub fn has_meaning(&self) -> bool {
        matches!(self.meaning(), Ok(Some(_)))
    }

    /// Where it is kept.
    pub fn home(&self) -> IndexHome {
        self.state.store().home.clone()
    }

    /// How much of which mounts it covers.
    pub fn coverage(&self) -> Coverage {
        let (home, mounts) = (self.home(), self.state.coverage.lock().clone());
        let meaning_fault = match self.meaning() {
            Ok(meaning) => meaning.and_then(|meaning| meaning.fault()),
            Err(reason) => Some(reason),
        };
        Coverage { mounts, home, meaning_fault }
    }

    /// What it covers of one mount; `None` if that is not indexed.
    pub fn mount_coverage(&self, mount: &str) -> Option<MountCoverage> {
        self.state.coverage.lock().get(mount).cloned()
    }

    /// Tells of each change of the coverage.
    pub fn progress(&self) -> watch::Receiver<()> {
        self.state.progress.subscribe()
    }

    /// Waits until everything is covered, at most this long, and calls `report` whenever more is.
    pub(crate) async fn wait_complete(&self, most: Duration, report: impl Fn()) {
        let (deadline, mut progress) = (Instant::now() + most, self.progress());
        loop {
            if self.state.coverage.lock().values().all(MountCoverage::is_over) {
                return;
            }
            report();
            match time::timeout_at(deadline, progress.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return,
            }
        }
    }

    /// What it holds, by the key of the URI.
    pub(crate) fn indexed_versions(&self) -> resource::Result<HashMap<u64, IndexedVersion>> {
        self.state.store().indexed_versions().map_err(index_error)
    }

    pub(crate) fn generations(&self) -> watch::Receiver<u64> {
        self.state.generation.subscribe()
    }

    /// Whether this process writes it.
    pub(crate) fn is_writer(&self) -> bool {
        !matches!(self.home(), IndexHome::Shared(_))
    }

    pub(crate) fn set_coverage(&self, mount: &str, change: impl FnOnce(&mut MountCoverage)) {
        change(self.state.coverage.lock().entry(mount.to_owned()).or_default());
        self.state.progress.send_replace(());
    }

    /// Forgets the mount: it is not indexed any more.
    pub(crate) fn drop_coverage(&self, mount: &str) {
        self.state.coverage.lock().remove(mount);
        self.state.progress.send_replace(());
    }
}

impl IndexState {
    pub(crate) fn store(&self) -> Arc<IndexStore> {
        Arc::clone(&self.store.read())
    }

    /// Replaces the store by an empty one in memory, for this reason.
    pub(crate) fn move_to_memory(&self, reason: String) -> Option<WriterParts> {
        self.replace_store(IndexStore::in_memory(reason, self.options.memory))
    }

    /// Replaces the store by another one, which the keepers fill.
    pub(crate) fn replace_store(&self, opened: OpenedStore) -> Option<WriterParts> {
        match opened {
            Ok((store, writer)) => {
                *self.store.write() = Arc::new(store);
                self.generation.send_modify(|number| *number += 1);
                writer
            }
            Err(error) => {
                tracing::error!("there is no search index: {error}");
                None
            }
        }
    }

    /// No more texts fit into the memory of the index.
    pub(crate) fn memory_is_full(&self) {
        for mount in self.coverage.lock().values_mut() {
            mount.is_complete = false;
            mount.fault.get_or_insert_with(|| "the memory of the index is full".to_owned());
        }
        self.progress.send_replace(());
    }
}

impl IndexStore {
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.home, IndexHome::Memory(_))
    }
}

/// An error of the index, as a request sees it.
pub(crate) fn index_error(error: tantivy::TantivyError) -> Error {
    Error::internal("the search index failed").caused_by(error)
}
