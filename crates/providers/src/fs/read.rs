//! Reads a file: detects text, charset and MIME type, and returns bytes or a stream.

use std::fs::File;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use encoding_rs::{Encoding, ISO_2022_JP};
use resource::{Body, Content, Error, Part, Resource, Slice, Source, Uri, Window};

use super::chunks::{CHUNK, Chunks, Decoding, read_at};
use super::describe::{describe, outline};
use super::effort::Effort;
use super::fault::{Fault, missing};
use super::locate::Found;
use super::mime;
use super::path::Asked;
use super::site::Site;
use super::stamp::Stamp;
use super::text::{
    Form, Share, Signs, guess, has_escapes, is_clean, is_utf8, recognise, whole_characters,
};

/// Up to this many bytes are held in memory; more are streamed.
pub(super) const AT_HAND: u64 = 1024 * 1024;

/// Bytes of a large file used for the first detection.
const HEAD: u64 = 64 * 1024;

/// An open file.
pub(super) struct Opened {
    pub(super) file: Arc<File>,
    pub(super) stamp: Stamp,
    pub(super) resource: Resource,
}

impl Site {
    /// Reads the file at `asked`, or the `window` of it. A folder yields its description.
    pub(super) fn read(
        &self,
        uri: &Uri,
        asked: &Asked,
        window: &Window,
        effort: &Effort,
    ) -> Result<Content, Fault> {
        let leaf = match self.find_open(&asked.path)? {
            Found::Folder(folder) => {
                let (name, stamp) = (asked.path.last(), &folder.stamp);
                let resource = describe(uri.clone(), name, stamp, self.watchable);
                return Ok(Content::Collection(Arc::new(resource)));
            }
            Found::File(_) if asked.folder => return Err(missing().into()),
            Found::File(leaf) => leaf,
        };
        let resource = outline(uri.clone(), asked.path.last(), &leaf.stamp, self.watchable);
        let file = leaf.file.ok_or_else(missing)?;
        let opened = Opened { file: Arc::new(file), stamp: leaf.stamp, resource };
        let part = match window {
            Window::Whole { limit } => opened.whole(*limit, effort)?,
            Window::Part { offset, length, etag } => {
                opened.check(etag.as_deref())?;
                opened.part(*offset, *length, effort)?
            }
        };
        Ok(Content::Parts(vec![part]))
    }
}

impl Opened {
    fn check(&self, etag: Option<&str>) -> Result<(), Error> {
        let now = self.stamp.etag();
        if etag.is_none_or(|etag| etag == now) {
            return Ok(());
        }
        Err(Error::changed(now))
    }

    fn whole(self, limit: u64, effort: &Effort) -> Result<Part, Fault> {
        let size = self.stamp.size;
        if size > limit {
            return Err(Error::too_large(size, limit).into());
        }
        let mut head = Vec::new();
        if size <= AT_HAND {
            read_at(&self.file, 0, size, &mut head)?;
            return Ok(self.at_hand(head));
        }
        read_at(&self.file, 0, HEAD, &mut head)?;
        let form = examine(&self.file, size, &head, effort)?;
        let source = match form {
            Form::Utf8 => Chunks::text(&self.file, 0..size),
            Form::Blob => Chunks::raw(&self.file, 0..size),
            Form::Coded(charset) => {
                Chunks::coded(Decoding::new(&self.file, size, charset), 0..u64::MAX)
            }
        };
        Ok(self.give(form, source.stream(), &head, None))
    }

    fn at_hand(self, bytes: Vec<u8>) -> Part {
        let bytes = Bytes::from(bytes);
        let form = recognise(&bytes, Share::Whole);
        let content = match form {
            Form::Coded(charset) => {
                Bytes::from(charset.decode_with_bom_removal(&bytes).0.into_owned())
            }
            Form::Utf8 | Form::Blob => bytes.clone(),
        };
        self.give(form, Source::Bytes(content), &bytes, None)
    }

    /// Builds the part for `source` and completes its description with MIME type and charset.
    pub(super) fn give(
        mut self,
        form: Form,
        source: Source,
        head: &[u8],
        slice: Option<Slice>,
    ) -> Part {
        let named = mime::by_name(&self.resource.name);
        let (mime, body) = match form {
            Form::Blob => (mime::of_blob(named, head), Body::Blob(source)),
            Form::Utf8 | Form::Coded(_) => (mime::of_text(named), Body::Text(source)),
        };
        self.resource.mime = Some(mime.to_owned());
        self.resource.charset = match form {
            Form::Coded(charset) => Some(charset.name()),
            Form::Utf8 | Form::Blob => None,
        };
        Part { resource: Arc::new(self.resource), body, slice }
    }
}

/// Detects what a large file is. Reads all of it, unless its head shows that it is binary.
fn examine(file: &Arc<File>, size: u64, head: &[u8], effort: &Effort) -> io::Result<Form> {
    let form = recognise(head, Share::Head);
    if form == Form::Blob {
        return Ok(form);
    }
    effort.must_be_long()?;
    let coded = match form {
        Form::Coded(charset) => Some(charset),
        Form::Utf8 | Form::Blob => None,
    };
    if let Some(charset) = coded {
        if decodes(file, size, charset, effort)? {
            return Ok(form);
        }
        // Escape sequences that are not Japanese may still be a log in colour.
        if charset != ISO_2022_JP {
            return Ok(Form::Blob);
        }
    }
    let maybe = match examine_utf8(file, size, effort)? {
        Verdict::Utf8 { escapes } if escapes && coded.is_none() => ISO_2022_JP,
        Verdict::Utf8 { .. } => return Ok(Form::Utf8),
        Verdict::Maybe(charset) => charset,
        Verdict::Blob => return Ok(Form::Blob),
    };
    Ok(match decodes(file, size, maybe, effort)? {
        true => Form::Coded(maybe),
        false if maybe == ISO_2022_JP => Form::Utf8,
        false => Form::Blob,
    })
}

enum Verdict {
    /// UTF-8, perhaps with the escape sequences of ISO-2022-JP.
    Utf8 {
        escapes: bool,
    },
    /// Not UTF-8, but perhaps in this charset.
    Maybe(&'static Encoding),
    Blob,
}

fn examine_utf8(file: &Arc<File>, size: u64, effort: &Effort) -> io::Result<Verdict> {
    let mut chunk = Vec::new();
    let mut at = 0;
    let mut escapes = false;
    while at < size {
        effort.attended()?;
        let carry = chunk.len();
        read_at(file, at, CHUNK.min(size - at), &mut chunk)?;
        let read = (chunk.len() - carry) as u64;
        at += read;
        let is_last = read == 0 || at >= size;
        let whole = if is_last { chunk.len() } else { whole_characters(&chunk) };
        let signs = Signs::of(&chunk);
        if signs.has(Signs::ZERO) {
            return Ok(Verdict::Blob);
        }
        if !is_utf8(&chunk[..whole], Share::Whole) {
            return Ok(guess(&chunk, Share::Head).map_or(Verdict::Blob, Verdict::Maybe));
        }
        if read == 0 {
            break;
        }
        escapes |= signs.has(Signs::ESCAPE) && has_escapes(&chunk);
        chunk.drain(..whole);
    }
    Ok(Verdict::Utf8 { escapes })
}

fn decodes(
    file: &Arc<File>,
    size: u64,
    charset: &'static Encoding,
    effort: &Effort,
) -> io::Result<bool> {
    let mut decoding = Decoding::new(file, size, charset);
    while let Some(text) = decoding.next()? {
        effort.attended()?;
        if decoding.flawed || !is_clean(&text) {
            return Ok(false);
        }
    }
    Ok(!decoding.flawed)
}
