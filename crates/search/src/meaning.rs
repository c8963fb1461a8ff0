//! Search by meaning: vectors of resources and passages, and those that are nearest to a query.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use embedding::{EmbedKind, Embedder, VectorStore, VectorStoreAccess};
use parking_lot::{Mutex, RwLock};
use resource::{Error, Result};

use crate::index::entry::IndexEntry;
use crate::index::keys::{may_be_of_mount, passage_key, summary_key};

/// How many texts are embedded at once.
const BATCH: usize = 64;
/// How many vectors of a kind a query looks at.
const MAX_NEAREST: usize = 200;
/// The folders of the vectors, beside the index.
const PASSAGES: &str = "vectors";
const SUMMARIES: &str = "summaries";

/// A query by meaning: the model's index, and the vector of the query's words.
pub(crate) struct MeaningQuery {
    index: Arc<MeaningIndex>,
    vector: Vec<f32>,
}

type EmbedResult<T> = std::result::Result<T, String>;

/// What a vector stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VectorKind {
    /// A resource as a whole: what it is about.
    Summary,
    /// A passage.
    Passage,
}

/// A model, and the vectors that it made.
pub(crate) struct MeaningIndex {
    embedder: Arc<dyn Embedder>,
    passages: RwLock<VectorStore>,
    /// What resources are about as a whole.
    summaries: RwLock<VectorStore>,
    fault: Mutex<MeaningFault>,
}

/// Which resources lack vectors, by the keys of their URIs, and why the last one does.
#[derive(Default)]
struct MeaningFault {
    lacking: HashSet<u64>,
    reason: String,
}

impl MeaningIndex {
    /// Opens the vectors in `folder`, beside the index; those of another model are made anew.
    pub(crate) fn open(embedder: Arc<dyn Embedder>, folder: &Path, writes: bool) -> Result<Self> {
        let access = if writes { VectorStoreAccess::Write } else { VectorStoreAccess::Read };
        let (fingerprint, dimensions) = (embedder.fingerprint(), embedder.dimensions());
        let open = |name: &str| {
            let opened = VectorStore::open(&folder.join(name), fingerprint, dimensions, access);
            let failed =
                |error| Error::unavailable("the vectors cannot be opened").caused_by(error);
            opened.map(RwLock::new).map_err(failed)
        };
        let (passages, summaries) = (open(PASSAGES)?, open(SUMMARIES)?);
        Ok(Self { embedder, passages, summaries, fault: Mutex::default() })
    }

    /// Why passages could not be embedded, if so.
    pub(crate) fn fault(&self) -> Option<String> {
        let fault = self.fault.lock();
        let count = fault.lacking.len();
        (count > 0).then(|| format!("{count} resources lack vectors: {}", fault.reason))
    }

    /// Whether the resource with this key has vectors.
    pub(crate) fn has(&self, mount: u64, uri: u64) -> bool {
        self.summaries.read().contains(summary_key(mount, uri))
    }

    /// Replaces the vectors of a resource. A failure costs search by meaning, not search by words.
    pub(crate) async fn put(self: &Arc<Self>, entry: &IndexEntry) {
        self.remove(entry.mount_key(), entry.uri_key());
        let embedded = self.embed_entry(entry).await;
        let (mut fault, key) = (self.fault.lock(), entry.uri_key());
        match embedded {
            Ok(()) => drop(fault.lacking.remove(&key)),
            Err(error) => {
                if fault.lacking.is_empty() || fault.reason != error {
                    tracing::warn!("search by meaning lacks passages: {error}");
                }
                fault.lacking.insert(key);
                fault.reason = error;
            }
        }
    }

    async fn embed_entry(self: &Arc<Self>, entry: &IndexEntry) -> EmbedResult<()> {
        for batch in entry.passage_meanings().chunks(BATCH) {
            self.append(VectorKind::Passage, batch).await?;
        }
        // The summary last: a resource that has one has all of its vectors.
        self.append(VectorKind::Summary, &[entry.summary_meaning()]).await
    }

    async fn append(
        self: &Arc<Self>,
        kind: VectorKind,
        texts: &[(u64, String)],
    ) -> EmbedResult<()> {
        let (keys, texts): (Vec<u64>, Vec<String>) = texts.iter().cloned().unzip();
        let vectors = self.embed(texts, EmbedKind::Passage).await?;
        let own = Arc::clone(self);
        let append = move || {
            let batch: Vec<(u64, &[f32])> =
                keys.into_iter().zip(vectors.iter().map(Vec::as_slice)).collect();
            let mut store = own.store(kind).write();
            store.append(&batch)?;
            if store.is_worth_compacting() { store.compact() } else { Ok(()) }
        };
        let appended = tokio::task::spawn_blocking(append).await;
        appended.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    fn store(&self, kind: VectorKind) -> &RwLock<VectorStore> {
        match kind {
            VectorKind::Summary => &self.summaries,
            VectorKind::Passage => &self.passages,
        }
    }

    /// Embeds texts on a thread that may be busy for a while, as a model in this process is.
    async fn embed(
        self: &Arc<Self>,
        texts: Vec<String>,
        kind: EmbedKind,
    ) -> EmbedResult<Vec<Vec<f32>>> {
        let (own, runtime) = (Arc::clone(self), tokio::runtime::Handle::current());
        let embed = move || runtime.block_on(own.embedder.embed(&texts, kind));
        let embedded = tokio::task::spawn_blocking(embed).await;
        embedded.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    /// Removes the vectors of a resource.
    pub(crate) fn remove(&self, mount: u64, uri: u64) {
        self.fault.lock().lacking.remove(&uri);
        // A vector that stays finds no passage.
        let _ = self.summaries.write().remove(&[summary_key(mount, uri)]);
        let mut passages = self.passages.write();
        let keys = (0..).map(|ordinal| passage_key(mount, uri, ordinal));
        let keys: Vec<u64> = keys.take_while(|key| passages.contains(*key)).collect();
        let _ = passages.remove(&keys);
    }

    /// Prepares a query for `text`.
    pub(crate) async fn query(self: &Arc<Self>, text: &str) -> Result<MeaningQuery> {
        let embedded = self.embed(vec![text.to_owned()], EmbedKind::Query).await;
        let vector = embedded.map_err(failed)?.into_iter().next().unwrap_or_default();
        Ok(MeaningQuery { index: Arc::clone(self), vector })
    }
}

impl MeaningQuery {
    /// The keys of the nearest vectors of this kind, the nearest first: those of `mounts`, if given.
    pub(crate) fn nearest(
        &self,
        kind: VectorKind,
        mounts: Option<&[u64]>,
    ) -> Result<Vec<(u64, f32)>> {
        let is_visible = |key: u64| {
            mounts.is_none_or(|mounts| mounts.iter().any(|one| may_be_of_mount(key, *one)))
        };
        let vectors = self.index.store(kind).read();
        let found = vectors.search(&self.vector, MAX_NEAREST, is_visible);
        let mut found = found.map_err(|error| failed(error.to_string()))?;
        // What has nothing in common with the query is not near.
        found.retain(|(_, score)| *score > 0.0);
        Ok(found)
    }

    /// The key of the passage of a resource that is nearest.
    pub(crate) fn best_passage(&self, mount: u64, uri: u64) -> Option<(u64, f32)> {
        let vectors = self.index.passages.read();
        let keys = (0..).map(|ordinal| passage_key(mount, uri, ordinal));
        vectors.best_of(&self.vector, keys.take_while(|key| vectors.contains(*key)))
    }
}

fn failed(error: String) -> Error {
    Error::unavailable("the model for search by meaning does not answer").caused_by(error)
}
