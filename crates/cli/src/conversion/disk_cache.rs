//! Forms of documents on disk, so that a restart does not convert again.
//!
//! A file is named by what it was made of and by what made it, so that it is never out of date. Its
//! checksum comes first: a file that is broken is no file.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use catalog::layers::rendered::ConvertJob;
use convert::{Conversion, Options};

use super::frame;
use super::pdf_program::PdfProgram;
use super::worker::shown_name;
use crate::state_file::{read_regular_file, replace_file};

/// The bytes of a checksum.
const CHECKSUM_BYTES: usize = 32;

/// The size of the files before they are counted.
const UNCOUNTED: u64 = u64::MAX;

/// A folder of forms, bounded in bytes.
pub(super) struct DiskCache(Arc<CacheFolder>);

struct CacheFolder {
    folder: PathBuf,
    most: u64,
    /// How many bytes the files have, about.
    total: AtomicU64,
}

/// The hash of a document and of all that its form depends on.
pub(super) struct DocumentHash(blake3::Hasher);

impl DocumentHash {
    pub(super) fn new(
        job: &ConvertJob<'_>,
        options: &Options,
        program: Option<&PdfProgram>,
    ) -> Self {
        let mut hash = blake3::Hasher::new();
        let (kind, form, extent, name) = (job.kind, job.form, job.extent, shown_name(job));
        let made_by = format!(
            "{} {kind:?} {form:?} {extent:?} {options:?} {program:?} {name}\0",
            convert::VERSION
        );
        hash.update(made_by.as_bytes());
        Self(hash)
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.0.update(chunk);
    }

    pub(super) fn finish(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

impl DiskCache {
    pub(super) fn new(folder: PathBuf, most: u64) -> Self {
        Self(Arc::new(CacheFolder { folder, most, total: AtomicU64::new(UNCOUNTED) }))
    }

    /// How many bytes the files have, and may have.
    pub(super) fn usage(&self) -> (u64, u64) {
        let CacheFolder { folder, most, total } = &*self.0;
        if total.load(Ordering::Relaxed) == UNCOUNTED {
            count_files(folder, total);
        }
        (total.load(Ordering::Relaxed), *most)
    }

    /// The form with this key, if it is there and whole.
    pub(super) async fn get(&self, key: &str) -> Option<Conversion> {
        let (cache, key) = (Arc::clone(&self.0), key.to_owned());
        tokio::task::spawn_blocking(move || cache.read(&key)).await.ok()?
    }

    /// Keeps a form. One that cannot be kept is made again.
    pub(super) async fn put(&self, key: String, converted: &Conversion) {
        let cache = Arc::clone(&self.0);
        let framed = frame::encode(&Ok(converted.clone()));
        let written = tokio::task::spawn_blocking(move || cache.write(&key, &framed)).await;
        if let Ok(Err(error)) = written {
            tracing::debug!("a converted document cannot be kept: {error}");
        }
    }
}

impl CacheFolder {
    fn read(&self, key: &str) -> Option<Conversion> {
        let path = self.folder.join(key);
        let bytes = read_regular_file(&path, self.most).ok()?;
        let (checksum, framed) = bytes.split_at_checked(CHECKSUM_BYTES)?;
        let converted = (blake3::hash(framed).as_bytes() == checksum)
            .then(|| frame::decode(framed))
            .flatten()
            .and_then(Result::ok);
        match converted {
            // What was read last goes last.
            Some(_) => {
                if let Ok(file) = fs::File::options().append(true).open(&path) {
                    let _ = file.set_modified(SystemTime::now());
                }
            }
            None => {
                let _ = fs::remove_file(&path);
            }
        }
        converted
    }

    fn write(&self, key: &str, framed: &[u8]) -> io::Result<()> {
        let size = (framed.len() + CHECKSUM_BYTES) as u64;
        if size > self.most / 4 {
            return Ok(());
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o700))?;
        if self.total.load(Ordering::Relaxed) == UNCOUNTED {
            count_files(&self.folder, &self.total);
        }
        if self.total.fetch_add(size, Ordering::Relaxed) + size > self.most {
            self.make_room();
        }
        let mut content = Vec::with_capacity(framed.len() + CHECKSUM_BYTES);
        content.extend_from_slice(blake3::hash(framed).as_bytes());
        content.extend_from_slice(framed);
        replace_file(&self.folder.join(key), &content)
    }

    /// Removes the files that were not read for the longest time, a quarter of the bound.
    fn make_room(&self) {
        let mut all = files(&self.folder);
        all.sort_by_key(|file| file.used);
        let mut total: u64 = all.iter().map(|file| file.size).sum();
        for file in all {
            if total <= self.most / 4 * 3 {
                break;
            }
            if fs::remove_file(&file.path).is_ok() {
                total = total.saturating_sub(file.size);
            }
        }
        self.total.store(total, Ordering::Relaxed);
    }
}

struct KeptForm {
    path: PathBuf,
    size: u64,
    used: SystemTime,
}

fn count_files(folder: &Path, total: &AtomicU64) {
    let counted = files(folder).iter().map(|file| file.size).sum();
    total.store(counted, Ordering::Relaxed);
}

fn files(folder: &Path) -> Vec<KeptForm> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let file = |entry: fs::DirEntry| {
        let facts = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        let used = facts.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Some(KeptForm { path: entry.path(), size: facts.len(), used })
    };
    entries.filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use catalog::layers::rendered::{ConvertJob, DocumentSource, FormExtent};
    use convert::{Conversion, DocumentKind, Form, Options};
    use resource::ByteSource;

    use super::{DiskCache, DocumentHash};

    struct EmptySource;

    #[async_trait]
    impl DocumentSource for EmptySource {
        async fn open(&self) -> resource::Result<ByteSource> {
            Ok(ByteSource::Bytes(bytes::Bytes::new()))
        }
    }

    #[test]
    fn a_key_depends_on_as_much_of_the_name_as_the_converter_is_told() {
        let key = |kind, name| {
            let (form, extent) = (Form::Html, FormExtent::Shown);
            let (source, keep, principal) = (&EmptySource, true, &"ada".into());
            let job = ConvertJob { kind, form, extent, name, source, keep, principal };
            DocumentHash::new(&job, &Options::default(), None).finish()
        };
        let (code, word) = (DocumentKind::Source, DocumentKind::Docx);
        assert_ne!(key(code, "CMakeLists.txt"), key(code, "notes.txt"));
        assert_eq!(key(code, "a/main.rs"), key(code, "b/main.rs"));
        assert_eq!(key(word, "plan.docx"), key(word, "offer.docx"));
        assert_ne!(key(word, "plan.docx"), key(word, "plan.docm"));
    }

    #[tokio::test]
    async fn a_form_is_kept_until_there_is_no_room_and_a_broken_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let cache = DiskCache::new(folder.path().join("forms"), 40_000);
        let form = Conversion::text("a".repeat(5_000));
        for number in 0..20 {
            cache.put(format!("key-{number}"), &form).await;
        }
        let kept = std::fs::read_dir(folder.path().join("forms")).unwrap().count();
        assert!((1..=8).contains(&kept), "{kept} files of 5,000 bytes in 40,000");
        assert_eq!(cache.get("key-19").await, Some(form));
        let file = folder.path().join("forms/key-19");
        let mut bytes = std::fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&file, bytes).unwrap();
        assert_eq!(cache.get("key-19").await, None);
        assert!(!file.exists());
    }
}
