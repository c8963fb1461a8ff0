//! Reads a file: detects text, charset and MIME type, and returns bytes or a stream.

use std::fs::File;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use encoding_rs::{Encoding, ISO_2022_JP};
use resource::{Body, ByteSource, Content, Error, ErrorKind, Part, Resource, Slice, Uri, Window};

use super::budget::WorkBudget;
use super::chunks::{CHUNK, DecodingReader, FileChunks, check_unchanged, read_at};
use super::describe::{describe, describe_without_mime};
use super::error::{FsError, not_found};
use super::locate::PathEntry;
use super::mime;
use super::path::UriPath;
use super::root::FsRoot;
use super::stamp::FileStamp;
use super::text::{
    ByteClasses, ContentForm, SampleExtent, complete_utf8_len, detect_by_decoding, detect_form,
    detect_without_decoding, guess_charset, has_iso_2022_jp_escapes, has_only_text_characters,
    is_utf8,
};

/// Up to this many bytes are held in memory; more are streamed.
pub(super) const MAX_IN_MEMORY: u64 = 1024 * 1024;

/// Bytes of a large file used for the first detection.
const SNIFF_BYTES: u64 = 64 * 1024;

/// Most bytes that are decoded inline: to find the charset of more takes milliseconds.
const MAX_INLINE_DECODING: usize = 16 * 1024;

/// How often a file that changes while it is read is read from its start.
const MAX_READ_ATTEMPTS: usize = 3;

/// An open file.
pub(super) struct OpenFile {
    pub(super) file: Arc<File>,
    pub(super) stamp: FileStamp,
    pub(super) resource: Resource,
}

impl FsRoot {
    /// Reads the file at `requested`, or the `window` of it. A folder yields its description.
    ///
    /// A file that changes meanwhile is read again; one that keeps changing is an error.
    pub(super) fn read_content(
        &self,
        uri: &Uri,
        requested: &UriPath,
        window: &Window,
        budget: &WorkBudget,
    ) -> Result<Content, FsError> {
        for _ in 1..MAX_READ_ATTEMPTS {
            match self.try_read(uri, requested, window, budget) {
                Err(FsError::Resource(error)) if error.kind == ErrorKind::Changed => {}
                done => return done,
            }
        }
        self.try_read(uri, requested, window, budget)
    }

    fn try_read(
        &self,
        uri: &Uri,
        requested: &UriPath,
        window: &Window,
        budget: &WorkBudget,
    ) -> Result<Content, FsError> {
        if let Some(part) = self.cached_part(uri, requested, window)? {
            return Ok(Content::Parts(vec![part]));
        }
        let leaf = match self.find_and_open(&requested.path)? {
            PathEntry::Folder(folder) => {
                let (name, stamp) = (requested.path.name(), &folder.stamp);
                let resource = describe(uri.clone(), name, stamp, self.watchable);
                return Ok(Content::Collection(Arc::new(resource)));
            }
            PathEntry::File(_) if requested.requires_folder => return Err(not_found().into()),
            PathEntry::File(leaf) => leaf,
        };
        let resource =
            describe_without_mime(uri.clone(), requested.path.name(), &leaf.stamp, self.watchable);
        let file = leaf.file.ok_or_else(not_found)?;
        let (file, stamp) = (Arc::new(file), leaf.stamp);
        let opened = OpenFile { file: file.clone(), stamp, resource };
        let part = match window {
            Window::Whole { limit } => {
                let is_cacheable = self.content_cache.accepts(&stamp);
                let part = opened.read_whole(*limit, budget)?;
                check_unchanged(&file, &stamp)?;
                if is_cacheable {
                    self.content_cache.insert(stamp, &part);
                }
                part
            }
            Window::Part { offset, length, etag } => {
                opened.check_etag(etag.as_deref())?;
                let part = opened.read_part(*offset, *length, budget)?;
                check_unchanged(&file, &stamp)?;
                part
            }
        };
        Ok(Content::Parts(vec![part]))
    }

    /// Returns the whole file from the cache, if it is there and the file is unchanged.
    fn cached_part(
        &self,
        uri: &Uri,
        requested: &UriPath,
        window: &Window,
    ) -> io::Result<Option<Part>> {
        let Window::Whole { limit } = *window else { return Ok(None) };
        let Some(content) = self.content_cache.get(uri) else { return Ok(None) };
        let found = self.find(&requested.path)?;
        let is_current = matches!(&found, PathEntry::File(file) if file.stamp == content.stamp);
        Ok((is_current && content.stamp.size <= limit).then(|| content.part()))
    }
}

impl OpenFile {
    fn check_etag(&self, etag: Option<&str>) -> Result<(), Error> {
        let now = self.stamp.etag();
        if etag.is_none_or(|etag| etag == now) {
            return Ok(());
        }
        Err(Error::changed(now))
    }

    fn read_whole(self, limit: u64, budget: &WorkBudget) -> Result<Part, FsError> {
        let stamp = self.stamp;
        let size = stamp.size;
        if size > limit {
            return Err(Error::too_large(size, limit).into());
        }
        let mut head = Vec::new();
        if size <= MAX_IN_MEMORY {
            read_at(&self.file, 0, size, &mut head)?;
            return Ok(self.in_memory_part(head, budget)?);
        }
        read_at(&self.file, 0, SNIFF_BYTES, &mut head)?;
        let form = detect_large_file(&self.file, size, &head, budget)?;
        let source = match form {
            ContentForm::Utf8 => FileChunks::text(&self.file, 0..size),
            ContentForm::Blob => FileChunks::raw(&self.file, 0..size),
            ContentForm::Charset(charset) => {
                FileChunks::decoded(DecodingReader::new(&self.file, size, charset), 0..u64::MAX)
            }
        };
        Ok(self.into_part(form, source.into_stream(stamp), &head, None))
    }

    fn in_memory_part(self, bytes: Vec<u8>, budget: &WorkBudget) -> io::Result<Part> {
        let bytes = Bytes::from(bytes);
        let form = match detect_without_decoding(&bytes, SampleExtent::Whole) {
            Some(form) => form,
            None => {
                if bytes.len() > MAX_INLINE_DECODING {
                    budget.require_unlimited()?;
                }
                detect_by_decoding(&bytes, SampleExtent::Whole)
            }
        };
        let content = match form {
            ContentForm::Charset(charset) => {
                Bytes::from(charset.decode_with_bom_removal(&bytes).0.into_owned())
            }
            ContentForm::Utf8 | ContentForm::Blob => bytes.clone(),
        };
        Ok(self.into_part(form, ByteSource::Bytes(content), &bytes, None))
    }

    /// Builds the part for `source` and completes its description with MIME type and charset.
    pub(super) fn into_part(
        mut self,
        form: ContentForm,
        source: ByteSource,
        head: &[u8],
        slice: Option<Slice>,
    ) -> Part {
        let named = mime::by_name(&self.resource.name);
        let (mime, body) = match form {
            ContentForm::Blob => (mime::for_blob(named, head), Body::Blob(source)),
            ContentForm::Utf8 | ContentForm::Charset(_) => {
                (mime::for_text(named), Body::Text(source))
            }
        };
        self.resource.mime = Some(mime.to_owned());
        self.resource.charset = match form {
            ContentForm::Charset(charset) => Some(charset.name()),
            ContentForm::Utf8 | ContentForm::Blob => None,
        };
        Part { resource: Arc::new(self.resource), body, slice }
    }
}

/// Detects what a large file is. Reads all of it, unless its head shows that it is binary.
fn detect_large_file(
    file: &Arc<File>,
    size: u64,
    head: &[u8],
    budget: &WorkBudget,
) -> io::Result<ContentForm> {
    let form = detect_form(head, SampleExtent::Head);
    if form == ContentForm::Blob {
        return Ok(form);
    }
    budget.require_unlimited()?;
    let coded = match form {
        ContentForm::Charset(charset) => Some(charset),
        ContentForm::Utf8 | ContentForm::Blob => None,
    };
    if let Some(charset) = coded {
        if file_decodes(file, size, charset, budget)? {
            return Ok(form);
        }
        // Escape sequences that are not Japanese may still be a log in colour.
        if charset != ISO_2022_JP {
            return Ok(ContentForm::Blob);
        }
    }
    let maybe = match check_utf8(file, size, budget)? {
        Utf8Check::Utf8 { escapes } if escapes && coded.is_none() => ISO_2022_JP,
        Utf8Check::Utf8 { .. } => return Ok(ContentForm::Utf8),
        Utf8Check::MaybeCharset(charset) => charset,
        Utf8Check::Blob => return Ok(ContentForm::Blob),
    };
    Ok(match file_decodes(file, size, maybe, budget)? {
        true => ContentForm::Charset(maybe),
        false if maybe == ISO_2022_JP => ContentForm::Utf8,
        false => ContentForm::Blob,
    })
}

enum Utf8Check {
    /// UTF-8, perhaps with the escape sequences of ISO-2022-JP.
    Utf8 {
        escapes: bool,
    },
    /// Not UTF-8, but perhaps in this charset.
    MaybeCharset(&'static Encoding),
    Blob,
}

fn check_utf8(file: &Arc<File>, size: u64, budget: &WorkBudget) -> io::Result<Utf8Check> {
    let mut chunk = Vec::new();
    let mut at = 0;
    let mut escapes = false;
    while at < size {
        budget.check_cancelled()?;
        let carry = chunk.len();
        read_at(file, at, CHUNK.min(size - at), &mut chunk)?;
        let read = (chunk.len() - carry) as u64;
        at += read;
        let is_last = read == 0 || at >= size;
        let whole = if is_last { chunk.len() } else { complete_utf8_len(&chunk) };
        let signs = ByteClasses::of(&chunk);
        if signs.has(ByteClasses::NUL) {
            return Ok(Utf8Check::Blob);
        }
        if !is_utf8(&chunk[..whole], SampleExtent::Whole) {
            return Ok(guess_charset(&chunk, SampleExtent::Head)
                .map_or(Utf8Check::Blob, Utf8Check::MaybeCharset));
        }
        if read == 0 {
            break;
        }
        escapes |= signs.has(ByteClasses::ESCAPE) && has_iso_2022_jp_escapes(&chunk);
        chunk.drain(..whole);
    }
    Ok(Utf8Check::Utf8 { escapes })
}

fn file_decodes(
    file: &Arc<File>,
    size: u64,
    charset: &'static Encoding,
    budget: &WorkBudget,
) -> io::Result<bool> {
    let mut decoding = DecodingReader::new(file, size, charset);
    while let Some(text) = decoding.next()? {
        budget.check_cancelled()?;
        if decoding.had_errors || !has_only_text_characters(&text) {
            return Ok(false);
        }
    }
    Ok(!decoding.had_errors)
}
