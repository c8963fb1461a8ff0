//! Static embedding models: a table with a vector for each token; a text's vector is their mean.
//!
//! No network runs, so a model is a folder with two files and a text takes less than a millisecond.

mod files;
mod install;
mod table;
mod tokenizer;

use std::path::Path;

use async_trait::async_trait;

use self::files::ModelFiles;
pub(crate) use self::install::sync_folder;
pub use self::install::{ModelInstallProgress, ModelSummary, check_model, install_model};
use self::table::EmbeddingTable;
pub(crate) use self::table::MAX_DIMENSIONS;
use self::tokenizer::BoundedTokenizer;
use crate::embedder::{EmbedKind, Embedder};
use crate::error::EmbedError;

/// A static embedding model, held in memory.
pub struct StaticModel {
    fingerprint: String,
    tokenizer: BoundedTokenizer,
    table: EmbeddingTable,
    /// Whether vectors get length 1.
    is_normalized: bool,
}

impl StaticModel {
    /// Loads the model in `folder`, and checks it on the way.
    ///
    /// Folders of Model2Vec (`model.safetensors`, `tokenizer.json`, `config.json`), of
    /// Sentence Transformers' static models (the first two), and of WordLlama (`weights/`,
    /// `tokenizers/`) can be loaded.
    pub fn load(folder: &Path) -> Result<Self, EmbedError> {
        let files = ModelFiles::find(folder)?;
        let mut hasher = blake3::Hasher::new();
        let is_normalized = files.read_normalize()?;
        hasher.update(&[u8::from(is_normalized)]);
        let tokenizer = BoundedTokenizer::load(&files, &mut hasher)?;
        let table = EmbeddingTable::load(&files, &mut hasher)?;
        table.check_fits(&tokenizer, &files)?;
        let fingerprint = format!("static-{}", &hasher.finalize().to_hex()[..32]);
        Ok(Self { fingerprint, tokenizer, table, is_normalized })
    }

    /// How many tokens the model has vectors for.
    pub fn tokens(&self) -> usize {
        self.table.tokens()
    }

    /// Embeds one text on the caller's thread.
    pub fn embed_text(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let tokens = self.tokenizer.encode(text)?;
        let mut vector = self.table.mean(&tokens);
        if self.is_normalized {
            normalize(&mut vector);
        }
        if vector.iter().all(|number| number.is_finite()) {
            Ok(vector)
        } else {
            Err(EmbedError::broken("model.safetensors", "its numbers are too large to add up"))
        }
    }
}

#[async_trait]
impl Embedder for StaticModel {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn dimensions(&self) -> usize {
        self.table.dimensions()
    }

    /// Runs on the caller's thread; a text of a kilobyte takes less than a millisecond.
    async fn embed(&self, texts: &[String], _: EmbedKind) -> Result<Vec<Vec<f32>>, EmbedError> {
        texts.iter().map(|text| self.embed_text(text)).collect()
    }
}

/// Scales a vector to length 1; the zero vector stays as it is.
pub(crate) fn normalize(vector: &mut [f32]) {
    // The sum is taken in 64 bits: squares of small 32-bit numbers vanish.
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number = (f64::from(*number) / length) as f32);
    }
}
