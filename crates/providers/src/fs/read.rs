//! Reads a file: detects text, charset and MIME type, and returns bytes or a stream.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use encoding_rs::{Encoding, UTF_8};
use resource::{Body, ByteSource, Content, Error, ErrorKind, Part, Resource, Slice, Uri, Window};

use super::budget::WorkBudget;
use super::chunks::{DecodingReader, FileChunks, check_unchanged};
use super::describe::{describe, describe_without_mime};
use super::error::{FsError, not_found};
use super::file_form::{
    KnownForm, MAX_IN_MEMORY, detect_bounded, read_magic, read_sample, scan_large_file,
};
use super::locate::PathEntry;
use super::options::Charset;
use super::path::UriPath;
use super::platform::FileHandle;
use super::root::FsRoot;
use super::stamp::FileStamp;
use detection::mime;
use detection::text::{ContentForm, SampleExtent};

/// How often a file that changes while it is read is read from its start.
const MAX_READ_ATTEMPTS: usize = 3;

/// An open file.
pub(super) struct OpenFile {
    pub(super) file: Arc<FileHandle>,
    pub(super) stamp: FileStamp,
    pub(super) resource: Resource,
    /// The charset that a rule gives it.
    pub(super) charset: Option<&'static Encoding>,
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
        let found = self.find_and_open(&requested.path)?;
        let link_target = found.link_target(&requested.path);
        let leaf = match found {
            PathEntry::Folder(folder) => {
                let (name, stamp) = (requested.path.name(), &folder.stamp);
                let resource = describe(uri.clone(), name, stamp, self.watchable);
                return Ok(Content::Collection(Arc::new(resource)));
            }
            PathEntry::File(_) if requested.requires_folder => return Err(not_found().into()),
            PathEntry::File(leaf) => leaf,
        };
        let mut resource =
            describe_without_mime(uri.clone(), requested.path.name(), &leaf.stamp, self.watchable);
        resource.link_target = link_target;
        let file = leaf.file.ok_or_else(not_found)?;
        let (file, stamp) = (Arc::new(file), leaf.stamp);
        let rule = self.charsets.as_ref();
        let path = String::from_utf8_lossy(requested.path.as_bytes());
        let charset = rule.and_then(|rule| rule(&path)).map(Charset::encoding);
        let opened = OpenFile { file: file.clone(), stamp, resource, charset };
        let part = match window {
            Window::Whole { limit } => {
                let is_cacheable = self.content_cache.accepts(&stamp);
                let part = opened.read_whole(*limit, self, budget)?;
                check_unchanged(&file, &stamp)?;
                if is_cacheable {
                    self.content_cache.insert(stamp, &part);
                }
                part
            }
            Window::Part { offset, length, etag } => {
                opened.check_etag(etag.as_deref())?;
                let part = opened.read_part(*offset, *length, self, budget)?;
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
        let is_current = matches!(&found, PathEntry::File(file) if file.stamp == content.stamp)
            && found.link_target(&requested.path).as_deref() == content.link_target();
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

    fn read_whole(self, limit: u64, root: &FsRoot, budget: &WorkBudget) -> Result<Part, FsError> {
        let stamp = self.stamp;
        let size = stamp.size;
        if size > limit {
            return Err(Error::too_large(size, limit).into());
        }
        if size <= MAX_IN_MEMORY {
            let mut bytes = Vec::new();
            self.file.read_at(0, size, &mut bytes)?;
            return Ok(self.in_memory_part(bytes, budget)?);
        }
        let head = read_sample(&self.file, size)?;
        let form = match self.charset {
            Some(charset) if charset != UTF_8 => ContentForm::Charset(charset),
            _ => self.ruled_form(scan_large_file(&self.file, size, &head, budget)?),
        };
        if form != ContentForm::Blob && self.charset.is_none() {
            root.form_cache.insert(&stamp, KnownForm { form, is_certain: true });
        }
        let source = match form {
            ContentForm::Utf8 => FileChunks::text(&self.file, 0..size),
            ContentForm::Blob => FileChunks::raw(&self.file, 0..size),
            ContentForm::Charset(charset) => {
                FileChunks::decoded(DecodingReader::new(&self.file, size, charset), 0..u64::MAX)
            }
        };
        let head = if form == ContentForm::Blob { read_magic(&self.file)? } else { head };
        Ok(self.into_part(form, source.into_stream(stamp), &head, None))
    }

    fn in_memory_part(self, bytes: Vec<u8>, budget: &WorkBudget) -> io::Result<Part> {
        let bytes = Bytes::from(bytes);
        let form = match self.charset {
            Some(charset) if charset != UTF_8 => ContentForm::Charset(charset),
            _ => self.ruled_form(detect_bounded(&bytes, SampleExtent::Whole, budget)?),
        };
        let content = match form {
            ContentForm::Charset(charset) => {
                Bytes::from(charset.decode_with_bom_removal(&bytes).0.into_owned())
            }
            ContentForm::Utf8 | ContentForm::Blob => bytes.clone(),
        };
        Ok(self.into_part(form, ByteSource::Bytes(content), &bytes, None))
    }

    /// The form by the rule for this file, if there is one, instead of the `detected` one.
    pub(super) fn ruled_form(&self, detected: ContentForm) -> ContentForm {
        match self.charset {
            None => detected,
            Some(charset) if charset == UTF_8 && detected == ContentForm::Utf8 => detected,
            Some(charset) => ContentForm::Charset(charset),
        }
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
                (mime::for_text(named, head), Body::Text(source))
            }
        };
        self.resource.mime = Some(mime.to_owned());
        self.resource.charset = match form {
            ContentForm::Charset(charset) if charset != UTF_8 => Some(charset.name()),
            ContentForm::Charset(_) | ContentForm::Utf8 | ContentForm::Blob => None,
        };
        Part { resource: Arc::new(self.resource), body, slice }
    }
}
