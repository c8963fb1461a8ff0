//! Reads a declared file: whole if it is small, as a stream of chunks if it is large.
//!
//! Everything here blocks, except the stream for a large file, which reads on blocking threads.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::stream;
use parking_lot::Mutex;
use resource::{Body, ByteSource, Error, ErrorKind, Result, Slice, Window};
use simdutf8::compat::from_utf8;

use crate::memory_content::short_hex;

/// Files up to this size are read into memory at once.
pub(super) const MAX_BUFFERED_SIZE: u64 = 1024 * 1024;

/// How often a small file is read that changes meanwhile.
const MAX_ATTEMPTS: usize = 3;

/// Chunk size for larger files. A multiple of three, so that base64 needs no padding between
/// chunks.
const CHUNK_SIZE: u64 = 192 * 1024;

/// A file, opened at every read.
#[derive(Debug)]
pub(super) struct DeclaredFile {
    path: PathBuf,
    may_be_text: bool,
    /// The fingerprint of the version whose UTF-8 was last checked, and the result.
    utf8_check: Mutex<Option<(String, bool)>>,
}

/// Facts about content that are known before it is read.
#[derive(Debug, Clone)]
pub(super) struct ContentFacts {
    pub(super) size: u64,
    /// Fingerprint for the etag: the hash of inline content, or of a file's times, size and inode.
    pub(super) fingerprint: String,
    pub(super) modified: Option<SystemTime>,
}

/// An open file. Its facts come from the open handle.
pub(super) struct OpenDeclaredFile {
    pub(super) facts: ContentFacts,
    content: DeclaredFileContent,
}

enum DeclaredFileContent {
    InMemory { bytes: Bytes, is_text: bool },
    Large { file: LargeFile, is_text: bool, size: u64 },
}

/// A large open file, and the version that its content is expected to be.
#[derive(Clone)]
struct LargeFile {
    file: Arc<File>,
    version: ContentVersion,
}

/// Size and modification time. Not the change time: that of a file that is replaced by a rename
/// changes too, and its content does not.
type ContentVersion = (u64, i64, i64);

fn version_of(metadata: &Metadata) -> ContentVersion {
    (metadata.size(), metadata.mtime(), metadata.mtime_nsec())
}

impl LargeFile {
    /// Fails if the content changed since the file was opened.
    fn check_version(&self) -> Result<()> {
        let now = self.file.metadata().map_err(|error| changed_during_read(&error))?;
        if version_of(&now) == self.version {
            return Ok(());
        }
        let error = Error::new(ErrorKind::Changed, "the file changed during the read; try again");
        Err(error
            .with_fact("etag", facts_from_metadata(&now).map_or(String::new(), |f| f.fingerprint)))
    }
}

impl DeclaredFile {
    pub(super) fn new(path: PathBuf, may_be_text: bool) -> Self {
        Self { path, may_be_text, utf8_check: Mutex::new(None) }
    }

    /// The path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The current facts of the file.
    pub(super) fn current_facts(&self) -> Result<ContentFacts> {
        std::fs::metadata(&self.path)
            .and_then(|metadata| facts_from_metadata(&metadata))
            .map_err(|error| unavailable(&self.path, &error))
    }

    /// Opens the file, and reads it into memory if it is small.
    pub(super) fn open(&self) -> Result<OpenDeclaredFile> {
        // Opening a named pipe would block until a writer comes, so check the file type first.
        self.current_facts()?;
        for _ in 0..MAX_ATTEMPTS {
            let opened = self.try_open().map_err(|error| unavailable(&self.path, &error))?;
            if let Some(opened) = opened {
                return Ok(opened);
            }
        }
        Err(Error::new(ErrorKind::Changed, "the file changes faster than it can be read"))
    }

    /// Opens the file; `None` if a small one changed while it was read.
    fn try_open(&self) -> io::Result<Option<OpenDeclaredFile>> {
        let file = File::open(&self.path)?;
        let metadata = file.metadata()?;
        let (facts, version) = (facts_from_metadata(&metadata)?, version_of(&metadata));
        let content = if facts.size <= MAX_BUFFERED_SIZE {
            let bytes = match read_at(&file, 0, facts.size) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                bytes => bytes?,
            };
            if version_of(&file.metadata()?) != version {
                return Ok(None);
            }
            let is_text = self.may_be_text && from_utf8(&bytes).is_ok();
            DeclaredFileContent::InMemory { bytes, is_text }
        } else {
            let is_text = self.may_be_text && self.check_utf8(&file, &facts)?;
            let file = LargeFile { file: Arc::new(file), version };
            DeclaredFileContent::Large { file, is_text, size: facts.size }
        };
        Ok(Some(OpenDeclaredFile { facts, content }))
    }

    /// True if a large file is UTF-8 throughout. Scans each version once and remembers the result.
    fn check_utf8(&self, file: &File, facts: &ContentFacts) -> io::Result<bool> {
        let judged = || self.utf8_check.lock();
        if let Some((mark, is_text)) = &*judged()
            && *mark == facts.fingerprint
        {
            return Ok(*is_text);
        }
        let is_text = is_utf8(file, facts.size)?;
        *judged() = Some((facts.fingerprint.clone(), is_text));
        Ok(is_text)
    }
}

impl OpenDeclaredFile {
    /// The body of the content, or of the requested window.
    pub(super) fn into_windowed_body(self, window: &Window) -> Result<(Body, Option<Slice>)> {
        let (source, is_text, slice) = match self.content {
            DeclaredFileContent::InMemory { bytes, is_text } => {
                let (bytes, slice) = window.cut(&bytes, is_text);
                (ByteSource::Bytes(bytes), is_text, slice)
            }
            DeclaredFileContent::Large { file, is_text, size } => {
                let slice = large_slice(&file.file, is_text, size, window)
                    .map_err(|e| changed_during_read(&e))?;
                let span = slice.as_ref().map_or((0, size), |s| (s.offset, s.offset + s.length));
                let source = if span.1 - span.0 <= CHUNK_SIZE {
                    ByteSource::Bytes(read_chunk(
                        &file,
                        zeroed_buffer(span.1 - span.0)?,
                        span,
                        is_text,
                    )?)
                } else {
                    ByteSource::Stream(stream_chunks(file, span, is_text))
                };
                (source, is_text, slice)
            }
        };
        Ok((Body::new(source, is_text), slice))
    }
}

fn large_slice(
    file: &File,
    is_text: bool,
    size: u64,
    window: &Window,
) -> io::Result<Option<Slice>> {
    let Window::Part { offset, length, .. } = window else { return Ok(None) };
    let byte = |at| Ok(read_at(file, at, 1)?.first().copied());
    Slice::aligned(size, (*offset, *length), is_text, byte).map(Some)
}

/// Streams the span of a file between two offsets, one chunk at a time.
fn stream_chunks(
    file: LargeFile,
    span: (u64, u64),
    is_text: bool,
) -> Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>> {
    Box::pin(stream::try_unfold(span, move |(at, end)| {
        let file = file.clone();
        async move {
            if at >= end {
                return Ok(None);
            }
            // Allocate here: short-lived blocking threads would each retain memory.
            let room = zeroed_buffer(CHUNK_SIZE.min(end - at))?;
            let bytes = run_blocking(move || read_chunk(&file, room, (at, end), is_text)).await?;
            let next = at + bytes.len() as u64;
            Ok(Some((bytes, (next, end))))
        }
    }))
}

/// A zeroed buffer of `length` bytes.
fn zeroed_buffer(length: u64) -> Result<Vec<u8>> {
    Ok(vec![0; usize::try_from(length).map_err(|error| changed_during_read(&error))?])
}

/// Reads the first bytes of a span into `room`. Text is cut at a character boundary. Fails after
/// the last byte if the file has changed, so that no client takes two versions for one.
fn read_chunk(
    large: &LargeFile,
    mut room: Vec<u8>,
    (at, end): (u64, u64),
    is_text: bool,
) -> Result<Bytes> {
    let read = large.file.read_exact_at(&mut room, at);
    let bytes = Bytes::from(room);
    let is_last = at + bytes.len() as u64 == end;
    if is_last || read.is_err() {
        large.check_version()?;
    }
    read.map_err(|error| changed_during_read(&error))?;
    if !is_text {
        return Ok(bytes);
    }
    match from_utf8(&bytes) {
        Ok(_) => Ok(bytes),
        Err(error) if !is_last && error.error_len().is_none() && error.valid_up_to() > 0 => {
            Ok(bytes.slice(..error.valid_up_to()))
        }
        Err(error) => {
            large.check_version()?;
            Err(changed_during_read(&error))
        }
    }
}

fn is_utf8(file: &File, size: u64) -> io::Result<bool> {
    let mut at = 0;
    while at < size {
        let bytes = read_at(file, at, CHUNK_SIZE.min(size - at))?;
        let is_last = at + bytes.len() as u64 == size;
        match from_utf8(&bytes) {
            Ok(_) => at += bytes.len() as u64,
            Err(error) if !is_last && error.error_len().is_none() => {
                at += error.valid_up_to() as u64;
            }
            Err(_) => return Ok(false),
        }
    }
    Ok(true)
}

fn read_at(file: &File, at: u64, length: u64) -> io::Result<Bytes> {
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes.into())
}

fn facts_from_metadata(metadata: &Metadata) -> io::Result<ContentFacts> {
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
    let mut hasher = blake3::Hasher::new();
    for number in times {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(&metadata.size().to_le_bytes()).update(&metadata.ino().to_le_bytes());
    let mark = short_hex(&hasher.finalize());
    Ok(ContentFacts {
        size: metadata.size(),
        fingerprint: mark,
        modified: metadata.modified().ok(),
    })
}

/// Runs `work` on a blocking thread, so that disk waits do not block the runtime.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let broken = |error| Error::internal("reading a file failed unexpectedly").caused_by(error);
    tokio::task::spawn_blocking(work).await.map_err(broken)?
}

fn unavailable(path: &Path, error: &io::Error) -> Error {
    Error::unavailable("the file behind this resource cannot be read")
        .caused_by(format!("{}: {error}", path.display()))
}

fn changed_during_read(error: &dyn std::error::Error) -> Error {
    Error::unavailable("the file changed during the read; try again").caused_by(error.to_string())
}
