//! The index on disk: opening, locking, checking and rebuilding it.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tantivy::directory::MmapDirectory;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, TantivyError};

use crate::index::document::PassageDocument;
use crate::index::fields::{FORMAT, Fields};
use crate::index::keys::text_key;

/// The file that says in which format the index is, and the one that its writer holds a lock on.
const FORMAT_FILE: &str = "format";
const LOCK_FILE: &str = "lock";
const INDEX_FOLDER: &str = "passages";
/// The share of removed passages from which on a segment is written anew without them.
const MAX_REMOVED_SHARE: f32 = 0.2;

/// An index that can be searched.
pub(crate) struct IndexStore {
    pub(crate) reader: IndexReader,
    pub(crate) fields: Fields,
    pub(crate) home: IndexHome,
    index: Index,
}

/// What the process that writes the index holds.
pub(crate) struct WriterParts {
    pub(crate) writer: IndexWriter<PassageDocument>,
    /// The lock of the folder; an index in memory needs none.
    pub(crate) lock: Option<File>,
}

/// Where the index is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexHome {
    /// In this folder, which this process writes.
    Folder(PathBuf),
    /// In this folder, which another process writes.
    Shared(PathBuf),
    /// In memory, for this reason.
    Memory(String),
}

/// An opened index, and its writer unless another process writes it.
pub(crate) type OpenedStore = Result<(IndexStore, Option<WriterParts>), TantivyError>;

/// What the index holds of a resource: the version, the key of its mount, and whether vectors find
/// its passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexedVersion {
    pub(crate) version: u64,
    pub(crate) mount: u64,
    pub(crate) has_vectors: bool,
}

impl IndexStore {
    /// Opens the index in `folder`, or makes one: in memory if it cannot be kept there. The writer
    /// is missing if another process writes it.
    pub(crate) fn open(folder: Option<&Path>, memory: usize) -> OpenedStore {
        let Some(folder) = folder else {
            return Self::in_memory("the settings keep it there".to_owned(), memory);
        };
        let opened = make_private_folder(folder).and_then(|()| take_lock(folder));
        let opened = match opened {
            Ok(Some(lock)) => Self::open_locked(folder, memory, lock),
            Ok(None) => Self::open_shared(folder),
            Err(error) => Err(error.into()),
        };
        match opened {
            Ok(opened) => Ok(opened),
            Err(error) => {
                let reason = format!("{} cannot be used: {error}", folder.display());
                tracing::warn!("the search index is kept in memory: {reason}");
                Self::in_memory(reason, memory)
            }
        }
    }

    /// Makes an index in memory, for this reason.
    pub(crate) fn in_memory(reason: String, memory: usize) -> OpenedStore {
        let (schema, fields) = Fields::schema();
        let index = Index::create_in_ram(schema);
        Fields::register_tokenizers(&index);
        let reader = reader_of(&index, ReloadPolicy::Manual)?;
        let writer = writer_of(&index, memory)?;
        let home = IndexHome::Memory(reason);
        Ok((Self { reader, fields, home, index }, Some(WriterParts { writer, lock: None })))
    }

    /// Opens the index in a folder that this process has locked.
    pub(crate) fn open_locked(folder: &Path, memory: usize, lock: File) -> OpenedStore {
        let is_current =
            fs::read_to_string(folder.join(FORMAT_FILE)).is_ok_and(|own| own == FORMAT);
        let place = folder.join(INDEX_FOLDER);
        if place.exists() && !is_current {
            tracing::warn!("the search index is damaged or of another version, and is built anew");
            clear(folder)?;
        }
        let index = match open_index(&place) {
            Ok(index) => index,
            Err(error) if is_storage_error(&error) => return Err(error),
            Err(error) => {
                tracing::warn!("the search index is damaged and is built anew: {error}");
                clear(folder)?;
                open_index(&place)?
            }
        };
        fs::write(folder.join(FORMAT_FILE), FORMAT)?;
        let reader = reader_of(&index, ReloadPolicy::Manual)?;
        let writer = writer_of(&index, memory)?;
        let (fields, home) = (Fields::schema().1, IndexHome::Folder(folder.to_owned()));
        let parts = WriterParts { writer, lock: Some(lock) };
        Ok((Self { reader, fields, home, index }, Some(parts)))
    }

    /// Opens the index that another process writes.
    fn open_shared(folder: &Path) -> OpenedStore {
        let is_current =
            fs::read_to_string(folder.join(FORMAT_FILE)).is_ok_and(|own| own == FORMAT);
        if !is_current {
            let message = "another refdesk, of another version, writes it";
            return Err(io::Error::other(message).into());
        }
        let index = Index::open(MmapDirectory::open(folder.join(INDEX_FOLDER))?)?;
        Fields::register_tokenizers(&index);
        let reader = reader_of(&index, ReloadPolicy::OnCommitWithDelay)?;
        let (fields, home) = (Fields::schema().1, IndexHome::Shared(folder.to_owned()));
        Ok((Self { reader, fields, home, index }, None))
    }

    /// Fails if a file of the index does not have the checksum that was written with it.
    pub(crate) fn check(&self) -> Result<(), TantivyError> {
        match self.index.validate_checksum()?.iter().next() {
            None => Ok(()),
            Some(file) => {
                let message = format!("{} has changed since it was written", file.display());
                Err(TantivyError::InternalError(message))
            }
        }
    }

    /// What the index holds: the version of each resource by the key of its URI.
    pub(crate) fn indexed_versions(&self) -> Result<HashMap<u64, IndexedVersion>, TantivyError> {
        let mut known = HashMap::new();
        for segment in self.reader.searcher().segment_readers() {
            let columns = segment.fast_fields();
            let (ordinals, uris) = (columns.u64("ordinal")?, columns.u64("uri_key")?);
            let (versions, mounts) = (columns.u64("version")?, columns.u64("mount_key")?);
            let passage_keys = columns.u64("passage_key")?;
            for doc in segment.doc_ids_alive() {
                if ordinals.first(doc) == Some(0) {
                    let (Some(uri), Some(version), Some(mount)) =
                        (uris.first(doc), versions.first(doc), mounts.first(doc))
                    else {
                        continue;
                    };
                    let has_vectors = passage_keys.first(doc).is_some();
                    known.insert(uri, IndexedVersion { version, mount, has_vectors });
                }
            }
        }
        Ok(known)
    }
}

/// Whether the storage is at fault, and not what it holds.
fn is_storage_error(error: &TantivyError) -> bool {
    use tantivy::directory::error::{OpenDirectoryError, OpenReadError, OpenWriteError};
    matches!(
        error,
        TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { .. })
            | TantivyError::OpenReadError(OpenReadError::IoError { .. })
            | TantivyError::OpenWriteError(OpenWriteError::IoError { .. })
            | TantivyError::IoError(_)
    )
}

fn open_index(place: &Path) -> Result<Index, TantivyError> {
    fs::create_dir_all(place)?;
    let index = Index::open_or_create(MmapDirectory::open(place)?, Fields::schema().0)?;
    Fields::register_tokenizers(&index);
    Ok(index)
}

fn reader_of(index: &Index, policy: ReloadPolicy) -> Result<IndexReader, TantivyError> {
    index.reader_builder().reload_policy(policy).try_into()
}

fn writer_of(index: &Index, memory: usize) -> Result<IndexWriter<PassageDocument>, TantivyError> {
    let options = IndexWriterOptions::builder()
        .memory_budget_per_thread(memory)
        .num_worker_threads(1)
        .num_merge_threads(1)
        .build();
    let writer = index.writer_with_options(options)?;
    let mut policy = LogMergePolicy::default();
    policy.set_del_docs_ratio_before_merge(MAX_REMOVED_SHARE);
    writer.set_merge_policy(Box::new(policy));
    Ok(writer)
}

/// Makes a folder that only its owner may read: the index tells what the texts say.
fn make_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

/// Locks the folder for writing; `None` if another process has. The time of the lock file tells when
/// the index was last used.
fn take_lock(folder: &Path) -> io::Result<Option<File>> {
    let lock = File::options().create(true).append(true).open(folder.join(LOCK_FILE))?;
    match lock.try_lock() {
        Ok(()) => {
            lock.set_modified(SystemTime::now())?;
            Ok(Some(lock))
        }
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes what the folder holds of an index, apart from the lock.
pub(crate) fn clear(folder: &Path) -> io::Result<()> {
    for part in fs::read_dir(folder)? {
        let part = part?;
        if part.file_name() == LOCK_FILE {
            continue;
        }
        match part.file_type()?.is_dir() {
            true => fs::remove_dir_all(part.path())?,
            false => fs::remove_file(part.path())?,
        }
    }
    Ok(())
}

/// What an index folder holds, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSummary {
    /// How many resources, by the names of the mounts that were asked for.
    pub resources: Vec<(String, usize)>,
    /// Its size on disk.
    pub bytes: u64,
    /// Whether another process writes it now.
    pub is_in_use: bool,
}

impl IndexSummary {
    /// Reads the index in `folder`; `None` if there is none of this version.
    pub fn read(folder: &Path, mounts: &[&str]) -> io::Result<Option<Self>> {
        if !folder.join(INDEX_FOLDER).exists() {
            return Ok(None);
        }
        let is_in_use = take_lock(folder)?.is_none();
        let Ok((store, _)) = IndexStore::open_shared(folder) else { return Ok(None) };
        let versions = store.indexed_versions().map_err(io::Error::other)?;
        let count = |name: &&str| {
            let key = text_key(name);
            let own = versions.values().filter(|version| version.mount == key).count();
            ((*name).to_owned(), own)
        };
        let resources = mounts.iter().map(count).collect();
        Ok(Some(Self { resources, bytes: folder_bytes(folder)?, is_in_use }))
    }
}

/// Removes the index in `folder`; an error if a process writes it now.
pub fn clear_index(folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    match take_lock(folder)? {
        Some(_lock) => clear(folder),
        None => Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "a running refdesk writes this index; stop it first",
        )),
    }
}

fn folder_bytes(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for part in fs::read_dir(folder)? {
        let part = part?;
        let data = part.metadata()?;
        bytes += if data.is_dir() { folder_bytes(&part.path())? } else { data.len() };
    }
    Ok(bytes)
}

/// Removes the index folders in `root` that nobody has used for `max_age`.
pub fn remove_unused(root: &Path, max_age: Duration) -> io::Result<()> {
    for folder in fs::read_dir(root)? {
        let folder = folder?.path();
        let Ok(used) = fs::metadata(folder.join(LOCK_FILE)).and_then(|lock| lock.modified()) else {
            continue;
        };
        let is_old = used.elapsed().is_ok_and(|age| age > max_age);
        if is_old && let Some(_lock) = lock_unused(&folder)? {
            fs::remove_dir_all(&folder)?;
        }
    }
    Ok(())
}

/// Locks a folder that seems unused; `None` if a process has it after all.
fn lock_unused(folder: &Path) -> io::Result<Option<File>> {
    let lock = File::open(folder.join(LOCK_FILE))?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resource::{Resource, Uri};
    use tantivy::Term;
    use tokio::sync::Semaphore;

    use super::{IndexStore, WriterParts};
    use crate::index::document::PassageDocument;
    use crate::index::entry::IndexEntry;

    fn entry(number: usize) -> IndexEntry {
        let uri = Uri::parse(&format!("a:/{number}")).unwrap();
        IndexEntry {
            mount: "m".to_owned(),
            resource: Arc::new(Resource::new(uri, number.to_string())),
            version: 1,
            mime: "text/plain".to_owned(),
            text: format!("text of number {number}"),
            has_vectors: false,
        }
    }

    #[tokio::test]
    async fn removed_passages_leave_the_files() {
        let (store, parts) = IndexStore::in_memory("a test".to_owned(), 16 << 20).unwrap();
        let WriterParts { mut writer, .. } = parts.unwrap();
        let permits = Arc::new(Semaphore::new(40));
        for number in 0..40 {
            let permit = Arc::clone(&permits).acquire_owned().await.unwrap();
            for document in PassageDocument::all_of(entry(number), store.fields, permit) {
                writer.add_document(document).unwrap();
            }
        }
        writer.commit().unwrap();
        for number in 0..10 {
            let key = entry(number).uri_key();
            writer.delete_term(Term::from_field_u64(store.fields.uri_key, key));
        }
        writer.commit().unwrap();
        writer.wait_merging_threads().unwrap();
        store.reader.reload().unwrap();
        let searcher = store.reader.searcher();
        let removed = searcher.segment_readers().iter().map(|segment| segment.num_deleted_docs());
        assert_eq!((searcher.num_docs(), removed.sum::<u32>()), (30, 0));
    }
}
