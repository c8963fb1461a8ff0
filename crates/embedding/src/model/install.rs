//! Installation of a model: checks a folder, and copies it to where models live.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::StaticModel;
use super::files::{
    CONFIG, MAX_CONFIG_BYTES, MAX_TOKENIZER_BYTES, MAX_WEIGHTS_BYTES, ModelFiles, TOKENIZER,
    WEIGHTS, file_name, open_bounded,
};
use crate::embedder::Embedder as _;
use crate::error::EmbedError;

const CHUNK_BYTES: usize = 1 << 20;

/// What a model is, as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSummary {
    /// Identifies the model.
    pub fingerprint: String,
    /// How many numbers a vector has.
    pub dimensions: usize,
    /// How many tokens have vectors.
    pub tokens: usize,
    /// The size of the files.
    pub bytes: u64,
}

/// How far an installation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelInstallProgress {
    /// Bytes copied.
    pub copied: u64,
    /// Bytes to copy.
    pub total: u64,
}

/// Checks the model in `folder`: sizes, shapes, finite numbers, a tokenizer that loads and fits.
///
/// Embeds a sample too, so that a model which passes can be used.
pub fn check_model(folder: &Path) -> Result<ModelSummary, EmbedError> {
    let model = StaticModel::load(folder)?;
    model.embed_text("a sample text, かな漢字 0123")?;
    let bytes = planned_copies(&ModelFiles::find(folder)?)?.iter().map(|copy| copy.size).sum();
    Ok(ModelSummary {
        fingerprint: model.fingerprint().to_owned(),
        dimensions: model.dimensions(),
        tokens: model.tokens(),
        bytes,
    })
}

/// Copies the model in folder `from` to folder `to`, and reports progress.
///
/// The copy is checked before it gets its name, so `to` is a whole and working model or does not
/// exist. The copy has the Model2Vec layout whichever layout `from` has.
pub fn install_model(
    from: &Path,
    to: &Path,
    mut progress: impl FnMut(ModelInstallProgress),
) -> Result<ModelSummary, EmbedError> {
    let name = file_name(to);
    let parent = to.parent().filter(|_| !name.is_empty());
    let Some(parent) = parent else {
        return Err(EmbedError::Invalid("the model needs a name".to_owned()));
    };
    if to.symlink_metadata().is_ok() {
        return Err(EmbedError::ModelExists(name));
    }
    let copies = planned_copies(&ModelFiles::find(from)?)?;
    fs::create_dir_all(parent).map_err(EmbedError::io("make the folder of models"))?;
    let partial = PartialFolder::create(parent.join(format!(".{name}.partial")))?;
    let total = copies.iter().map(|copy| copy.size).sum();
    let mut copied = 0;
    for copy in &copies {
        copy.run(&partial.0, &mut |bytes| {
            copied += bytes;
            progress(ModelInstallProgress { copied, total });
        })?;
    }
    let summary = check_model(&partial.0)?;
    sync_folder(&partial.0)?;
    fs::rename(&partial.0, to).map_err(EmbedError::io("name the installed model"))?;
    sync_folder(parent)?;
    Ok(summary)
}

/// A folder that is removed unless it was renamed.
struct PartialFolder(PathBuf);

impl PartialFolder {
    fn create(path: PathBuf) -> Result<Self, EmbedError> {
        // Left over from an installation that was killed.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).map_err(EmbedError::io("make the folder of the model"))?;
        Ok(Self(path))
    }
}

impl Drop for PartialFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One file to copy.
struct ModelFileCopy {
    from: PathBuf,
    to: &'static str,
    max: u64,
    size: u64,
}

fn planned_copies(files: &ModelFiles) -> Result<Vec<ModelFileCopy>, EmbedError> {
    let mut copies = Vec::new();
    let mut plan = |from: &Path, to, max| {
        let (_, size) = open_bounded(from, max)?;
        copies.push(ModelFileCopy { from: from.to_owned(), to, max, size });
        Ok::<(), EmbedError>(())
    };
    plan(&files.weights, WEIGHTS, MAX_WEIGHTS_BYTES)?;
    plan(&files.tokenizer, TOKENIZER, MAX_TOKENIZER_BYTES)?;
    if let Some(config) = &files.config {
        plan(config, CONFIG, MAX_CONFIG_BYTES)?;
    }
    Ok(copies)
}

impl ModelFileCopy {
    /// Copies chunk by chunk, and calls `report` with the bytes of each.
    fn run(&self, folder: &Path, report: &mut dyn FnMut(u64)) -> Result<(), EmbedError> {
        let name = file_name(&self.from);
        let (source, _) = open_bounded(&self.from, self.max)?;
        let mut source = source.take(self.max);
        let target = File::create_new(folder.join(self.to));
        let mut target = target.map_err(EmbedError::io(format!("make {}", self.to)))?;
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let length = read_some(&mut source, &mut chunk)
                .map_err(EmbedError::io(format!("read {name}")))?;
            if length == 0 {
                break;
            }
            let written = target.write_all(&chunk[..length]);
            written.map_err(EmbedError::io(format!("write {}", self.to)))?;
            report(length as u64);
        }
        target.sync_all().map_err(EmbedError::io(format!("write {}", self.to)))
    }
}

fn read_some(source: &mut impl io::Read, chunk: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Makes the names in a folder outlast a crash.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), EmbedError> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(EmbedError::io("write a folder"))
}
