//! Files of a model folder: finds them in the layouts that models are published in, within limits.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::error::EmbedError;

/// Largest weights file: a million tokens of 512 numbers of 32 bits.
pub(super) const MAX_WEIGHTS_BYTES: u64 = 2 << 30;
/// Largest tokenizer: those of multilingual models have about 20 MB.
pub(super) const MAX_TOKENIZER_BYTES: u64 = 64 << 20;
/// Largest configuration.
pub(super) const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// How many entries of a folder are looked at.
const MAX_ENTRIES: usize = 1_000;

pub(super) const WEIGHTS: &str = "model.safetensors";
pub(super) const TOKENIZER: &str = "tokenizer.json";
pub(super) const CONFIG: &str = "config.json";

/// The files of one model.
#[derive(Debug)]
pub(super) struct ModelFiles {
    pub(super) weights: PathBuf,
    pub(super) tokenizer: PathBuf,
    /// Not every layout has one.
    pub(super) config: Option<PathBuf>,
}

impl ModelFiles {
    /// Finds the files of the model in `folder`, whichever layout it has.
    pub(super) fn find(folder: &Path) -> Result<Self, EmbedError> {
        if !folder.is_dir() {
            return Err(EmbedError::ModelMissing("there is no such folder".to_owned()));
        }
        // Sentence Transformers puts the files of its static models one folder down.
        let inner = folder.join("0_StaticEmbedding");
        for folder in [folder, &inner] {
            if folder.join(WEIGHTS).exists() || folder.join(TOKENIZER).exists() {
                return Self::in_standard_layout(folder);
            }
        }
        Self::in_wordllama_layout(folder)
    }

    fn in_standard_layout(folder: &Path) -> Result<Self, EmbedError> {
        let present = |name: &str| {
            let path = folder.join(name);
            path.exists().then_some(path)
        };
        let required = |name: &str| {
            present(name).ok_or_else(|| EmbedError::ModelMissing(format!("no file {name}")))
        };
        Ok(Self {
            weights: required(WEIGHTS)?,
            tokenizer: required(TOKENIZER)?,
            config: present(CONFIG),
        })
    }

    /// WordLlama names its files by the model: `weights/*.safetensors`, `tokenizers/*.json`.
    fn in_wordllama_layout(folder: &Path) -> Result<Self, EmbedError> {
        let weights = only_file(&folder.join("weights"), ".safetensors")?;
        let tokenizer = only_file(&folder.join("tokenizers"), ".json")?;
        match (weights, tokenizer) {
            (Some(weights), Some(tokenizer)) => Ok(Self { weights, tokenizer, config: None }),
            (None, Some(_)) => {
                Err(EmbedError::ModelMissing("no file weights/*.safetensors".to_owned()))
            }
            (Some(_), None) => {
                Err(EmbedError::ModelMissing("no file tokenizers/*.json".to_owned()))
            }
            (None, None) => Err(EmbedError::ModelMissing(format!("no file {WEIGHTS}"))),
        }
    }

    /// Reads whether the model's vectors get length 1; so they do without a `config.json`.
    pub(super) fn read_normalize(&self) -> Result<bool, EmbedError> {
        let Some(path) = &self.config else { return Ok(true) };
        let bytes = read_bounded(path, MAX_CONFIG_BYTES)?;
        let broken = |why: &str| EmbedError::broken(&file_name(path), why);
        let config: Map<String, Value> =
            serde_json::from_slice(&bytes).map_err(|error| broken(&error.to_string()))?;
        match config.get("normalize") {
            None => Ok(true),
            Some(Value::Bool(normalize)) => Ok(*normalize),
            Some(_) => Err(broken("\"normalize\" is neither true nor false")),
        }
    }
}

/// The single file of `folder` whose name ends so; none if there is none.
fn only_file(folder: &Path, ending: &str) -> Result<Option<PathBuf>, EmbedError> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(None) };
    let named = entries.take(MAX_ENTRIES).filter_map(|entry| Some(entry.ok()?.path()));
    let mut named = named.filter(|path| file_name(path).ends_with(ending));
    let (first, second) = (named.next(), named.next());
    if second.is_some() {
        let why = format!("the folder has more than one *{ending} file: leave the one to use");
        return Err(EmbedError::broken(&file_name(folder), why));
    }
    Ok(first)
}

/// A file's name without its folder, for messages.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Opens a regular file of at most `max` bytes, and returns its size.
pub(super) fn open_bounded(path: &Path, max: u64) -> Result<(File, u64), EmbedError> {
    let name = file_name(path);
    // Looked at before it is opened: opening a pipe would wait for a writer.
    let is_file = fs::metadata(path).map_err(EmbedError::io(format!("read {name}")))?.is_file();
    if !is_file {
        return Err(EmbedError::broken(&name, "it is not a regular file"));
    }
    let file = File::open(path).map_err(EmbedError::io(format!("read {name}")))?;
    let size = file.metadata().map_err(EmbedError::io(format!("read {name}")))?.len();
    if size > max {
        return Err(EmbedError::ModelTooLarge { file: name, max });
    }
    Ok((file, size))
}

/// Reads a whole file of at most `max` bytes, even if it grows meanwhile.
pub(super) fn read_bounded(path: &Path, max: u64) -> Result<Vec<u8>, EmbedError> {
    let name = file_name(path);
    let (file, _) = open_bounded(path, max)?;
    let mut bytes = Vec::new();
    let read: io::Result<usize> = file.take(max + 1).read_to_end(&mut bytes);
    read.map_err(EmbedError::io(format!("read {name}")))?;
    if bytes.len() as u64 > max {
        return Err(EmbedError::ModelTooLarge { file: name, max });
    }
    Ok(bytes)
}
