//! The vector store's file: appends whole batches, reads by position, cuts off what is torn.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use super::record::{Record, RecordFormat};
use super::{VectorStoreAccess, VectorStoreOpening};
use crate::error::EmbedError;
use crate::model::sync_folder;

/// How much is read or written at a time.
pub(super) const CHUNK_BYTES: usize = 1 << 20;
const LOG: &str = "vectors.log";
const FRESH_LOG: &str = "vectors.log.new";
const LOCK: &str = "lock";

/// A log of records.
pub(super) struct LogFile {
    file: Option<File>,
    /// Where the next record goes. Bytes behind it do not count.
    end: u64,
    access: VectorStoreAccess,
    /// Whether a failed append may have left whole records behind `end`.
    is_torn: bool,
}

/// The right to write to a store.
pub(super) struct StoreLock {
    _file: File,
}

impl StoreLock {
    /// Takes the lock, and makes the folder if there is none.
    pub(super) fn acquire(folder: &Path) -> Result<Self, EmbedError> {
        // Vectors tell about the texts they were made of: for the owner alone.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(EmbedError::io("make the folder of the vector store"))?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(folder.join(LOCK));
        let file = file.map_err(EmbedError::io("lock the vector store"))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(EmbedError::StoreLocked),
            Err(TryLockError::Error(error)) => Err(EmbedError::io("lock the vector store")(error)),
        }
    }
}

impl LogFile {
    /// Opens the log in `folder`, or begins one where there is none of this format.
    pub(super) fn open(
        folder: &Path,
        format: &RecordFormat,
        access: VectorStoreAccess,
    ) -> Result<(Self, VectorStoreOpening), EmbedError> {
        let can_write = access == VectorStoreAccess::Write;
        let opened = OpenOptions::new().read(true).write(can_write).open(folder.join(LOG));
        let opening = match opened {
            Ok(file) if has_header(&file, format)? => {
                let end = format.header_length();
                let file = Self { file: Some(file), end, access, is_torn: false };
                return Ok((file, VectorStoreOpening::Loaded));
            }
            Ok(_) => VectorStoreOpening::Replaced,
            Err(error) if error.kind() == io::ErrorKind::NotFound => VectorStoreOpening::Created,
            Err(error) => return Err(EmbedError::io("open the vector store")(error)),
        };
        if !can_write {
            let end = format.header_length();
            return Ok((Self { file: None, end, access, is_torn: false }, opening));
        }
        let mut fresh = Self::create_beside(folder, format)?;
        fresh.replace_log(folder)?;
        Ok((fresh, opening))
    }

    /// Begins a log under another name; [`LogFile::replace_log`] puts it in its place.
    pub(super) fn create_beside(folder: &Path, format: &RecordFormat) -> Result<Self, EmbedError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(0o600);
        let file = options.open(folder.join(FRESH_LOG));
        let file = file.map_err(EmbedError::io("make the file of the vector store"))?;
        let access = VectorStoreAccess::Write;
        let mut fresh = Self { file: Some(file), end: 0, access, is_torn: false };
        fresh.append(format.header())?;
        Ok(fresh)
    }

    /// Gives a log that was created beside the other its place.
    pub(super) fn replace_log(&mut self, folder: &Path) -> Result<(), EmbedError> {
        self.sync()?;
        let renamed = fs::rename(folder.join(FRESH_LOG), folder.join(LOG));
        renamed.map_err(EmbedError::io("replace the file of the vector store"))?;
        sync_folder(folder)
    }

    /// Where the next record goes.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Reads the records from the first on.
    pub(super) fn scan<'a>(&self, format: &'a RecordFormat) -> Result<RecordScan<'a>, EmbedError> {
        let position = format.header_length();
        let reader = match &self.file {
            Some(file) => {
                // A handle of its own: the scan moves the position of the file.
                let file = file.try_clone().map_err(EmbedError::io("read the vector store"))?;
                let mut reader = BufReader::with_capacity(CHUNK_BYTES, file);
                let sought = reader.seek(SeekFrom::Start(position));
                sought.map_err(EmbedError::io("read the vector store"))?;
                Some(reader)
            }
            None => None,
        };
        Ok(RecordScan { reader, format, position, bytes: Vec::new() })
    }

    /// Makes `end` the end of the log. Returns how many bytes were behind it.
    pub(super) fn cut(&mut self, end: u64) -> Result<u64, EmbedError> {
        self.end = end;
        let Some(file) = &self.file else { return Ok(0) };
        let size = file.metadata().map_err(EmbedError::io("read the vector store"))?.len();
        // A reader leaves the rest alone: a writer may be at it.
        if size > end && self.access == VectorStoreAccess::Write {
            file.set_len(end).map_err(EmbedError::io("cut the vector store"))?;
        }
        Ok(size.saturating_sub(end))
    }

    /// The file, if this process may write to it.
    pub(super) fn writable_file(&self) -> Result<&File, EmbedError> {
        let file = self.file.as_ref().filter(|_| self.access == VectorStoreAccess::Write);
        let refused = || EmbedError::Invalid("the vector store is open for reading".to_owned());
        file.ok_or_else(refused)
    }

    /// Appends whole records, or none if it fails.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), EmbedError> {
        self.writable_file()?;
        if self.is_torn {
            self.discard_torn()?;
        }
        if let Err(error) = self.writable_file()?.write_all_at(bytes, self.end) {
            self.is_torn = true;
            // If this fails too, the next append does it first.
            let _ = self.discard_torn();
            return Err(EmbedError::io("write to the vector store")(error));
        }
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Cuts off what a failed append wrote: whole records of it would come back behind later ones.
    fn discard_torn(&mut self) -> Result<(), EmbedError> {
        let cut = self.writable_file()?.set_len(self.end);
        cut.map_err(EmbedError::io("cut the vector store"))?;
        self.is_torn = false;
        Ok(())
    }

    /// Fills `bytes` from `position` on.
    pub(super) fn read_at(&self, position: u64, bytes: &mut [u8]) -> Result<(), EmbedError> {
        let Some(file) = &self.file else {
            return Err(EmbedError::StoreDamaged("it has no file".to_owned()));
        };
        file.read_exact_at(bytes, position).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                EmbedError::StoreDamaged("its file became shorter".to_owned())
            }
            _ => EmbedError::io("read the vector store")(error),
        })
    }

    /// Waits until the file's content outlasts a crash.
    pub(super) fn sync(&self) -> Result<(), EmbedError> {
        let Some(file) = &self.file else { return Ok(()) };
        file.sync_data().map_err(EmbedError::io("write to the vector store"))
    }
}

fn has_header(file: &File, format: &RecordFormat) -> Result<bool, EmbedError> {
    let mut header = vec![0; format.header().len()];
    match file.read_exact_at(&mut header, 0) {
        Ok(()) => Ok(header == format.header()),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(EmbedError::io("read the vector store")(error)),
    }
}

/// Reads one record after the other, up to the first that is not whole.
pub(super) struct RecordScan<'a> {
    reader: Option<BufReader<File>>,
    format: &'a RecordFormat,
    position: u64,
    bytes: Vec<u8>,
}

impl RecordScan<'_> {
    /// Where the next record begins.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The next record and where it begins; none behind the last whole one.
    pub(super) fn next_record(&mut self) -> Result<Option<(u64, Record)>, EmbedError> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let mut kind = [0];
        if !read_whole(reader, &mut kind)? {
            return Ok(None);
        }
        let Some(length) = self.format.length_of(kind[0]) else { return Ok(None) };
        self.bytes.resize(length, 0);
        self.bytes[0] = kind[0];
        if !read_whole(reader, &mut self.bytes[1..])? {
            return Ok(None);
        }
        let Some(record) = self.format.decode(&self.bytes) else { return Ok(None) };
        let position = self.position;
        self.position += length as u64;
        Ok(Some((position, record)))
    }
}

/// Fills `bytes`; `false` if the file ends before.
fn read_whole(reader: &mut impl Read, bytes: &mut [u8]) -> Result<bool, EmbedError> {
    match reader.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(EmbedError::io("read the vector store")(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, OpenOptions};

    use super::{LogFile, RecordFormat, VectorStoreAccess};

    #[test]
    fn records_of_a_failed_append_do_not_come_back_behind_later_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let format = RecordFormat::new("model", 1);
        let record = |id| {
            let mut bytes = Vec::new();
            format.encode_removal(id, &mut bytes);
            bytes
        };
        // The failed append got as far as two records.
        fs::write(&path, [format.header(), &record(1), &record(2)].concat()).unwrap();
        let end = format.header_length();
        let file = Some(File::open(&path).unwrap());
        let mut log = LogFile { file, end, access: VectorStoreAccess::Write, is_torn: false };
        log.append(&record(3)).unwrap_err();
        assert_eq!((log.end(), log.is_torn), (end, true));
        log.append(&record(3)).unwrap_err();
        log.file = Some(OpenOptions::new().read(true).write(true).open(&path).unwrap());
        log.append(&record(4)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), [format.header(), &record(4)].concat());
    }
}
