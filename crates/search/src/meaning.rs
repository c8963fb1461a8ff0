//! Search by meaning: vectors of the passages, and the passages nearest to a query.

use std::path::Path;
use std::sync::Arc;

use embedding::{EmbedKind, Embedder, VectorStore, VectorStoreAccess};
use parking_lot::{Mutex, RwLock};
use resource::{Error, Result, one_line};

use crate::index::entry::{IndexEntry, passage_key};

/// How many texts are embedded at once.
const BATCH: usize = 64;
/// How many passages a query looks at.
pub(crate) const MAX_NEAREST: usize = 200;
/// The folder of the vectors, beside the index.
const FOLDER: &str = "vectors";

/// A model, and the vectors that it made of the passages.
pub(crate) struct MeaningIndex {
    embedder: Arc<dyn Embedder>,
    vectors: RwLock<VectorStore>,
    /// Why the last passages could not be embedded.
    fault: Mutex<Option<String>>,
}

impl MeaningIndex {
    /// Opens the vectors in `folder`, beside the index; those of another model are made anew.
    pub(crate) fn open(embedder: Arc<dyn Embedder>, folder: &Path, writes: bool) -> Result<Self> {
        let access = if writes { VectorStoreAccess::Write } else { VectorStoreAccess::Read };
        let (folder, dimensions) = (folder.join(FOLDER), embedder.dimensions());
        let opened = VectorStore::open(&folder, embedder.fingerprint(), dimensions, access);
        let vectors = opened
            .map_err(|error| Error::unavailable("the vectors cannot be opened").caused_by(error))?;
        Ok(Self { embedder, vectors: RwLock::new(vectors), fault: Mutex::default() })
    }

    /// Why passages could not be embedded, if so.
    pub(crate) fn fault(&self) -> Option<String> {
        self.fault.lock().clone()
    }

    /// Whether the passages of the resource with this key have vectors.
    pub(crate) fn has(&self, uri_key: u64) -> bool {
        self.vectors.read().contains(passage_key(uri_key, 0))
    }

    /// Replaces the vectors of a resource. A failure costs search by meaning, not search by words.
    pub(crate) async fn put(self: &Arc<Self>, entry: &IndexEntry) {
        self.remove(entry.uri_key());
        let passages = entry.meanings();
        for batch in passages.chunks(BATCH) {
            let (keys, texts): (Vec<u64>, Vec<String>) = batch.iter().cloned().unzip();
            if let Err(error) = self.embed_passages(keys, texts).await {
                let error = one_line(&error).into_owned();
                let mut fault = self.fault.lock();
                if fault.as_deref() != Some(error.as_str()) {
                    tracing::warn!("search by meaning lacks passages: {error}");
                }
                *fault = Some(error);
                return;
            }
        }
        *self.fault.lock() = None;
    }

    async fn embed_passages(
        self: &Arc<Self>,
        keys: Vec<u64>,
        texts: Vec<String>,
    ) -> std::result::Result<(), String> {
        let vectors = self.embed(texts, EmbedKind::Passage).await?;
        let own = Arc::clone(self);
        let append = move || {
            let batch: Vec<(u64, &[f32])> =
                keys.into_iter().zip(vectors.iter().map(Vec::as_slice)).collect();
            own.vectors.write().append(&batch)
        };
        let appended = tokio::task::spawn_blocking(append).await;
        appended.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    /// Embeds texts on a thread that may be busy for a while, as a model in this process is.
    async fn embed(
        self: &Arc<Self>,
        texts: Vec<String>,
        kind: EmbedKind,
    ) -> std::result::Result<Vec<Vec<f32>>, String> {
        let (own, runtime) = (Arc::clone(self), tokio::runtime::Handle::current());
        let embed = move || runtime.block_on(own.embedder.embed(&texts, kind));
        let embedded = tokio::task::spawn_blocking(embed).await;
        embedded.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    /// Removes the vectors of a resource.
    pub(crate) fn remove(&self, uri_key: u64) {
        let mut vectors = self.vectors.write();
        let keys = (0..).map(|ordinal| passage_key(uri_key, ordinal));
        let keys: Vec<u64> = keys.take_while(|key| vectors.contains(*key)).collect();
        // A vector that stays finds no passage.
        let _ = vectors.remove(&keys);
    }

    /// The keys of the passages nearest to `text`, the nearest first.
    pub(crate) async fn nearest(self: &Arc<Self>, text: &str) -> Result<Vec<(u64, f32)>> {
        let failed = |error: String| {
            Error::unavailable("the model for search by meaning does not answer").caused_by(error)
        };
        let embedded = self.embed(vec![text.to_owned()], EmbedKind::Query).await;
        let vector = embedded.map_err(failed)?.into_iter().next().unwrap_or_default();
        let own = Arc::clone(self);
        let search = move || own.vectors.read().search(&vector, MAX_NEAREST, |_| true);
        let found = tokio::task::spawn_blocking(search).await;
        let found = found.map_err(|error| failed(error.to_string()))?;
        found.map_err(|error| failed(error.to_string()))
    }
}
