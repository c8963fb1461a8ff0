//! What does a file on disk say, and how is it read without holding all of it?
//!
//! Everything here blocks, except the stream that is given for a large file.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::stream;
use resource::{Body, Error, Result, Slice, Source, Window};
use simdutf8::compat::from_utf8;

use super::window::{begins_character, cut, stretch};

/// Up to this size a file is read at once.
pub(super) const AT_ONCE: u64 = 1024 * 1024;

/// How much of a larger file is in memory at a time. A multiple of three, as base64 likes it.
const CHUNK: u64 = 192 * 1024;

/// A file that is opened anew at every read.
#[derive(Debug)]
pub(super) struct OnDisk {
    path: PathBuf,
    may_be_text: bool,
    /// The version last looked through from end to end, and whether it was text.
    judged: Mutex<Option<(String, bool)>>,
}

/// What is known of content before it is read.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub(super) size: u64,
    /// A mark that differs whenever the content does.
    pub(super) mark: String,
    pub(super) modified: Option<SystemTime>,
}

/// An open file, of which the facts were taken once it was open.
pub(super) struct Opened {
    pub(super) facts: Facts,
    content: Content,
}

enum Content {
    InMemory { bytes: Bytes, is_text: bool },
    Large { file: Arc<File>, is_text: bool, size: u64 },
}

impl OnDisk {
    pub(super) fn new(path: PathBuf, may_be_text: bool) -> Self {
        Self { path, may_be_text, judged: Mutex::new(None) }
    }

    /// Where it lies.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What is known of the file as it is now.
    pub(super) fn facts(&self) -> Result<Facts> {
        std::fs::metadata(&self.path)
            .and_then(|metadata| facts(&metadata))
            .map_err(|error| unavailable(&self.path, &error))
    }

    /// Opens the file, and reads it if it is small.
    pub(super) fn open(&self) -> Result<Opened> {
        // Opening a pipe would wait for a writer; looking first does not.
        self.facts()?;
        self.try_open().map_err(|error| unavailable(&self.path, &error))
    }

    fn try_open(&self) -> io::Result<Opened> {
        let file = File::open(&self.path)?;
        let facts = facts(&file.metadata()?)?;
        let content = if facts.size <= AT_ONCE {
            let bytes = read_at(&file, 0, facts.size)?;
            let is_text = self.may_be_text && from_utf8(&bytes).is_ok();
            Content::InMemory { bytes, is_text }
        } else {
            let is_text = self.may_be_text && self.judge(&file, &facts)?;
            Content::Large { file: Arc::new(file), is_text, size: facts.size }
        };
        Ok(Opened { facts, content })
    }

    /// Whether a large file is UTF-8 throughout. Looks through each version once.
    fn judge(&self, file: &File, facts: &Facts) -> io::Result<bool> {
        let judged = || self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((mark, is_text)) = &*judged()
            && *mark == facts.mark
        {
            return Ok(*is_text);
        }
        let is_text = is_utf8(file, facts.size)?;
        *judged() = Some((facts.mark.clone(), is_text));
        Ok(is_text)
    }
}

impl Opened {
    /// The content, or the window of it.
    pub(super) fn give(self, window: &Window) -> Result<(Body, Option<Slice>)> {
        let (source, is_text, slice) = match self.content {
            Content::InMemory { bytes, is_text } => {
                let (bytes, slice) = cut(&bytes, is_text, window);
                (Source::Bytes(bytes), is_text, slice)
            }
            Content::Large { file, is_text, size } => {
                let slice = large_slice(&file, is_text, size, window).map_err(|e| torn(&e))?;
                let span = slice.as_ref().map_or((0, size), |s| (s.offset, s.offset + s.length));
                let source = if span.1 - span.0 <= CHUNK {
                    Source::Bytes(chunk(&file, room(span.1 - span.0)?, span, is_text)?)
                } else {
                    Source::Stream(chunks(file, span, is_text))
                };
                (source, is_text, slice)
            }
        };
        Ok((if is_text { Body::Text(source) } else { Body::Blob(source) }, slice))
    }
}

fn large_slice(
    file: &File,
    is_text: bool,
    size: u64,
    window: &Window,
) -> io::Result<Option<Slice>> {
    let Window::Part { offset, length, .. } = window else { return Ok(None) };
    let begins = |at: u64| {
        let byte = if is_text { read_at(file, at, 1)?.first().copied() } else { None };
        Ok(byte.is_none_or(begins_character))
    };
    stretch(size, *offset, *length, begins).map(Some)
}

/// What lies between two places of a file, a chunk at a time.
fn chunks(
    file: Arc<File>,
    span: (u64, u64),
    is_text: bool,
) -> Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>> {
    Box::pin(stream::try_unfold(span, move |(at, end)| {
        let file = Arc::clone(&file);
        async move {
            if at >= end {
                return Ok(None);
            }
            // Taken here and not there: threads that come and go would each keep memory back.
            let room = room(CHUNK.min(end - at))?;
            let bytes = blocking(move || chunk(&file, room, (at, end), is_text)).await?;
            let next = at + bytes.len() as u64;
            Ok(Some((bytes, (next, end))))
        }
    }))
}

/// Room for so many bytes.
fn room(length: u64) -> Result<Vec<u8>> {
    Ok(vec![0; usize::try_from(length).map_err(|error| torn(&error))?])
}

/// The first bytes of a span, as far as there is `room`, ending between characters if it is text.
fn chunk(file: &File, mut room: Vec<u8>, (at, end): (u64, u64), is_text: bool) -> Result<Bytes> {
    file.read_exact_at(&mut room, at).map_err(|error| torn(&error))?;
    let bytes = Bytes::from(room);
    let is_last = at + bytes.len() as u64 == end;
    if !is_text {
        return Ok(bytes);
    }
    match from_utf8(&bytes) {
        Ok(_) => Ok(bytes),
        Err(error) if !is_last && error.error_len().is_none() && error.valid_up_to() > 0 => {
            Ok(bytes.slice(..error.valid_up_to()))
        }
        Err(error) => Err(torn(&error)),
    }
}

fn is_utf8(file: &File, size: u64) -> io::Result<bool> {
    let mut at = 0;
    while at < size {
        let bytes = read_at(file, at, CHUNK.min(size - at))?;
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

fn facts(metadata: &Metadata) -> io::Result<Facts> {
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
    let mut hasher = blake3::Hasher::new();
    for number in times {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(&metadata.size().to_le_bytes()).update(&metadata.ino().to_le_bytes());
    let mark = short(&hasher.finalize());
    Ok(Facts { size: metadata.size(), mark, modified: metadata.modified().ok() })
}

/// The mark of content that is at hand.
pub(super) fn mark(content: &[u8]) -> String {
    short(&blake3::hash(content))
}

fn short(hash: &blake3::Hash) -> String {
    hash.to_hex()[..16].to_owned()
}

/// Runs `work` where waiting for a disk holds nobody up.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let broken = |error| Error::internal("reading a file broke off").caused_by(error);
    tokio::task::spawn_blocking(work).await.map_err(broken)?
}

fn unavailable(path: &Path, error: &io::Error) -> Error {
    Error::unavailable("the file behind this resource cannot be read")
        .caused_by(format!("{}: {error}", path.display()))
}

fn torn(error: &dyn std::error::Error) -> Error {
    Error::unavailable("the file changed while it was read").caused_by(error.to_string())
}
