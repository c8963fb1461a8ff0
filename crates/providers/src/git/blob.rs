//! Contents of files at a revision: the one place that loads them, decodes them and masks them.

use std::io::Read as _;
use std::sync::Arc;

use bytes::Bytes;
use encoding_rs::UTF_8;
use gix::ObjectId;
use gix::objs::Kind;
use redaction::{Redactor, Syntax};
use resource::{Error, ErrorKind, Result};

use super::content::GitContent;
use super::error::{not_found, over_bound, unreadable};
use super::repository::GitSession;
use detection::text::{ContentForm, SampleExtent, detect_form};

/// The largest file that is held in memory, in bytes. A larger one is read as a stream, and never
/// compared.
pub(super) const MAX_BLOB_BYTES: u64 = 64 << 20;

/// A content and how it is masked.
pub(super) type ContentKey = (ObjectId, Option<Syntax>);

/// The content of a file, as clients may see it.
#[derive(Debug)]
pub(super) struct BlobContent {
    /// UTF-8, if it is a text.
    pub(super) bytes: Bytes,
    pub(super) is_text: bool,
    /// The charset it is stored in, if not UTF-8.
    pub(super) charset: Option<&'static str>,
}

impl BlobContent {
    /// The text; `None` if it is binary.
    pub(super) fn text(&self) -> Option<&str> {
        let text = self.is_text.then(|| std::str::from_utf8(&self.bytes));
        text.and_then(Result::ok)
    }
}

impl GitSession<'_> {
    /// Loads the file `id` as the one at `path`, whose name decides how it is masked.
    pub(super) fn load_blob(&self, id: ObjectId, path: &[u8]) -> Result<Arc<BlobContent>> {
        self.load_masked(id, path, || self.load_raw(id))
    }

    /// Loads what the file at `path` consists of.
    pub(super) fn load_content(
        &self,
        content: &GitContent,
        path: &[u8],
    ) -> Result<Arc<BlobContent>> {
        let GitContent { id, size, .. } = *content;
        let loaded = match content.is_in_lfs() {
            // Its header was looked at when it was found.
            false => self.load_masked(id, path, || self.load_object(id)),
            true => self.load_masked(id, path, || {
                let mut raw = Vec::new();
                let mut stream = self.open_stream(content)?.take(size);
                stream.read_to_end(&mut raw).map_err(unreadable)?;
                Ok(raw)
            }),
        }?;
        match self.syntax_of(path) {
            Some(syntax) if !loaded.is_text && is_sensitive(path, syntax) => Err(unmaskable()),
            _ => Ok(loaded),
        }
    }

    fn load_masked(
        &self,
        id: ObjectId,
        path: &[u8],
        load: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Arc<BlobContent>> {
        let key = (id, self.syntax_of(path));
        if let Some(content) = self.git.blobs.get(&key) {
            return Ok(content);
        }
        let raw = load()?;
        let content = Arc::new(self.mask_content(raw, path)?);
        let weight = content.bytes.len() + 256;
        self.git.blobs.insert(key, Arc::clone(&content), weight);
        Ok(content)
    }

    /// Decodes and masks the content `raw` of the file at `path`.
    pub(super) fn mask_content(&self, raw: Vec<u8>, path: &[u8]) -> Result<BlobContent> {
        let content = decode(raw);
        let (Some(text), Some(syntax)) = (content.text(), self.syntax_of(path)) else {
            return Ok(content);
        };
        if syntax.has_keys() && text.len() as u64 > Redactor::MAX_PARSED_BYTES {
            return Err(unmasked_keys());
        }
        let masked = self.git.redaction.redactor().mask(text, syntax).into_owned();
        Ok(BlobContent { bytes: masked.into(), ..content })
    }

    /// How the file at `path` is masked; `None` if it is shown as it is.
    pub(super) fn syntax_of(&self, path: &[u8]) -> Option<Syntax> {
        self.git.redaction.syntax_of(&String::from_utf8_lossy(path))
    }

    /// The bytes of the file `id`, which nothing but `load_blob` and comparisons may see: they are
    /// not masked.
    pub(super) fn load_raw(&self, id: ObjectId) -> Result<Vec<u8>> {
        let header = self.repo.try_find_header(id).map_err(unreadable)?;
        let Some(header) = header else { return Err(self.missing(id)) };
        if header.kind() != Kind::Blob {
            return Err(not_found("the object is no file"));
        }
        if header.size() > MAX_BLOB_BYTES {
            let size = header.size();
            return Err(over_bound(format!(
                "this file has {size} bytes, and history compares files of up to {MAX_BLOB_BYTES}. \
                 To compare it, write it into a folder: git cat-file blob {id} > FILE"
            )));
        }
        self.load_object(id)
    }

    /// The bytes of the file `id`, whose kind and size are known.
    fn load_object(&self, id: ObjectId) -> Result<Vec<u8>> {
        Ok(self.repo.find_object(id).map_err(unreadable)?.detach().data)
    }
}

impl GitSession<'_> {
    /// The error for the object `id`, which the repository does not have.
    pub(super) fn missing(&self, id: ObjectId) -> Error {
        match self.is_partial_clone() {
            true => Error::unavailable(format!(
                "this partial clone does not have the file, and refdesk fetches nothing. To get \
                 it, run in the clone: git cat-file blob {id}"
            )),
            false => Error::unavailable(
                "an object of the repository is missing; git fsck tells which ones are",
            ),
        }
    }

    /// Whether the clone leaves out objects until git needs them.
    pub(super) fn is_partial_clone(&self) -> bool {
        let config = self.repo.config_snapshot();
        let names = self.repo.remote_names();
        let mut promisors = names.iter().map(|remote| format!("remote.{remote}.promisor"));
        config.string("extensions.partialClone").is_some()
            || promisors.any(|key| config.boolean(key.as_str()) == Some(true))
    }
}

/// Whether a name or a syntax says that there are secrets, whatever the content is.
pub(super) fn is_sensitive(path: &[u8], syntax: Syntax) -> bool {
    syntax.has_keys() || Syntax::is_sensitive(&String::from_utf8_lossy(path))
}

/// The error for a file whose keys are not read, because it is too large.
pub(super) fn unmasked_keys() -> Error {
    over_bound("this file is too large to be masked, so it is not shown")
}

/// The error for a file that may hold secrets and is no text.
pub(super) fn unmaskable() -> Error {
    let message = "this file is named like one that holds secrets and is no text, so that they \
                   cannot be masked; set `redact = false` for the mount to give it as it is";
    Error::new(ErrorKind::Unsupported, message)
}

/// Decodes a file to UTF-8, if it is a text.
pub(super) fn decode(raw: Vec<u8>) -> BlobContent {
    let form = detect_form(&raw, SampleExtent::Whole);
    let (bytes, is_text, charset) = match form {
        ContentForm::Blob => (Bytes::from(raw), false, None),
        ContentForm::Utf8 => (Bytes::from(raw), true, None),
        ContentForm::Charset(charset) => {
            let text = charset.decode_with_bom_removal(&raw).0.into_owned();
            (Bytes::from(text), true, (charset != UTF_8).then(|| charset.name()))
        }
    };
    BlobContent { bytes, is_text, charset }
}
