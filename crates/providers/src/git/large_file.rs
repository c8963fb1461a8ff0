//! Large files: windows and streams of contents that are not held in memory.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use encoding_rs::{Encoding, UTF_8};
use redaction::Syntax;
use resource::{
    Body, ByteSource, Content, Error, Part, ReadRequest, Reading, Resource, Result, Slice, Uri,
    Window,
};

use super::blob::{ContentKey, is_sensitive, unmaskable, unmasked_keys};
use super::content::GitContent;
use super::describe::TreePlace;
use super::large_reader::{LargeReader, TextTransform};
use super::repository::GitSession;
use detection::mime;
use detection::text::{ByteClasses, ContentForm, SampleExtent, detect_form, is_utf8};

/// Longest window, in bytes. A longer one is given in part, and the next one goes on.
const MAX_WINDOW_BYTES: u64 = 1 << 20;

/// Bytes at the start of a content that tell what it is.
const HEAD_BYTES: usize = 16 * 1024;

/// Bytes read beyond a window, so that it ends between characters.
const LOOKAHEAD_BYTES: usize = 8;

/// How many large contents are remembered by what they are.
pub(super) const MAX_KNOWN_FORMS: usize = 1024;

/// What a large content is.
pub(super) struct GitLargeForm {
    kind: LargeKind,
    /// The size of what is given.
    total: u64,
    head: Bytes,
    /// Whether all of it is UTF-8, once a whole reading has looked.
    is_valid: OnceLock<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LargeKind {
    Blob,
    /// UTF-8 by its start. A window that is none is a blob.
    Utf8,
    /// A text that is decoded or masked while it is read.
    Made(&'static Encoding),
}

impl GitLargeForm {
    fn new(kind: LargeKind, total: u64, head: &[u8]) -> Arc<Self> {
        let head = Bytes::copy_from_slice(head);
        Arc::new(Self { kind, total, head, is_valid: OnceLock::new() })
    }
}

impl GitSession<'_> {
    /// Reads a window of a file that is too large for memory, or streams all of it.
    pub(super) fn read_large(
        &self,
        uri: &Uri,
        place: &TreePlace,
        content: &GitContent,
        request: &ReadRequest,
    ) -> Result<Reading> {
        let described = Arc::unwrap_or_clone(self.describe_content(uri, place, Some(content))?);
        if let Window::Whole { limit } = request.window
            && content.size > limit
        {
            return Err(Error::too_large(content.size, limit));
        }
        let path = place.masked_path();
        let key = (content.id, self.syntax_of(&path));
        let form = self.large_form(key, content)?;
        if form.kind == LargeKind::Blob && key.1.is_some_and(|syntax| is_sensitive(&path, syntax)) {
            return Err(unmaskable());
        }
        request.window.check(described.etag.as_deref(), form.total)?;
        let (body, is_text, slice) = match request.window {
            Window::Part { offset, length, .. } => {
                let length = length.clamp(1, MAX_WINDOW_BYTES);
                let (bytes, is_text, slice) =
                    self.large_window(key, content, &form, (offset, length))?;
                (ByteSource::Bytes(bytes), is_text, Some(slice))
            }
            Window::Whole { .. } => {
                let is_text = self.is_large_text(key, content, &form)?;
                let reader = self.large_reader(key, content, &form)?;
                (reader.into_stream(is_text), is_text, None)
            }
        };
        let resource = Arc::new(with_form(described, &form, is_text));
        let freshness = self.git.freshness_of(resource.immutable);
        let mut parts = vec![Part { resource, body: Body::new(body, is_text), slice }];
        let total_parts = request.select(&mut parts, |part| part.resource.mime.as_deref())?;
        Ok(Reading { total_parts, ..Reading::new(Content::Parts(parts), freshness) })
    }

    /// What `content` is. Reads its start, and all of it once if it is decoded or masked.
    fn large_form(&self, key: ContentKey, content: &GitContent) -> Result<Arc<GitLargeForm>> {
        if let Some(known) = self.git.large_forms.get(&key) {
            return Ok(known);
        }
        if key.1.is_some_and(Syntax::has_keys) {
            return Err(unmasked_keys());
        }
        let mut reader = LargeReader::new(self.open_stream(content)?, content.size, None);
        let head = reader.read_at(0, HEAD_BYTES, || self.check_cancelled())?.to_vec();
        let form = match (detect_form(&head, SampleExtent::Head), key.1) {
            (ContentForm::Blob, _) => GitLargeForm::new(LargeKind::Blob, content.size, &head),
            (ContentForm::Utf8, None) => GitLargeForm::new(LargeKind::Utf8, content.size, &head),
            (ContentForm::Utf8, Some(_)) => self.made_form(key, content, (UTF_8, &head))?,
            (ContentForm::Charset(charset), _) => self.made_form(key, content, (charset, &head))?,
        };
        self.git.large_forms.insert(key, Arc::clone(&form), 1);
        Ok(form)
    }

    /// The form of a text that is decoded or masked: its length takes one pass.
    fn made_form(
        &self,
        key: ContentKey,
        content: &GitContent,
        (charset, head): (&'static Encoding, &[u8]),
    ) -> Result<Arc<GitLargeForm>> {
        let mut form = GitLargeForm::new(LargeKind::Made(charset), 0, head);
        let mut reader = self.large_reader(key, content, &form)?;
        let total = reader.count(|| self.check_cancelled())?;
        let is_broken = reader.text().is_some_and(|text| text.had_errors);
        // What is masked stays a text: as a blob it would show what the masks hide.
        if is_broken && key.1.is_none() {
            return Ok(GitLargeForm::new(LargeKind::Blob, content.size, head));
        }
        if let Some(form) = Arc::get_mut(&mut form) {
            form.total = total;
        }
        Ok(form)
    }

    /// A reader of `content` from its start on.
    fn large_reader(
        &self,
        (_, syntax): ContentKey,
        content: &GitContent,
        form: &GitLargeForm,
    ) -> Result<LargeReader> {
        let text = match form.kind {
            LargeKind::Blob | LargeKind::Utf8 => None,
            LargeKind::Made(charset) => {
                let decoder = match charset == UTF_8 {
                    true => charset.new_decoder_without_bom_handling(),
                    false => charset.new_decoder_with_bom_removal(),
                };
                let masker = syntax.map(|_| self.git.redaction.redactor().text_masker());
                Some(TextTransform::new(decoder, masker))
            }
        };
        Ok(LargeReader::new(self.open_stream(content)?, content.size, text))
    }

    /// The bytes of a window, and whether they are text.
    fn large_window(
        &self,
        key: ContentKey,
        content: &GitContent,
        form: &GitLargeForm,
        (offset, length): (u64, u64),
    ) -> Result<(Bytes, bool, Slice)> {
        let start = offset.min(form.total);
        let mut reader = match self.git.idle_readers.take(key, start) {
            Some(reader) => reader,
            None => self.large_reader(key, content, form)?,
        };
        let held =
            reader.read_at(start, length as usize + LOOKAHEAD_BYTES, || self.check_cancelled())?;
        let cut = |is_text: bool| {
            let byte = |at: u64| {
                let inside = at.checked_sub(start).and_then(|at| held.get(at as usize));
                Ok::<_, Error>(inside.copied())
            };
            let slice = Slice::aligned(form.total, (offset, length), is_text, byte)?;
            let from = (slice.offset - start) as usize;
            let bytes = held.get(from..from + slice.length as usize);
            let bytes = bytes.ok_or_else(|| Error::internal("a window is not in its content"))?;
            Ok::<_, Error>((Bytes::copy_from_slice(bytes), is_text, slice))
        };
        let window = match form.kind {
            LargeKind::Blob => cut(false)?,
            LargeKind::Made(_) => cut(true)?,
            LargeKind::Utf8 => match cut(true)? {
                text if is_text_window(&text.0) => text,
                _ => cut(false)?,
            },
        };
        self.git.idle_readers.put(key, reader);
        Ok(window)
    }

    /// Whether all of a content is a text.
    fn is_large_text(
        &self,
        key: ContentKey,
        content: &GitContent,
        form: &GitLargeForm,
    ) -> Result<bool> {
        if form.kind != LargeKind::Utf8 {
            return Ok(form.kind != LargeKind::Blob);
        }
        if let Some(known) = form.is_valid.get() {
            return Ok(*known);
        }
        let mut reader = self.large_reader(key, content, form)?;
        let (mut at, mut is_valid) = (0, true);
        while is_valid && at < form.total {
            let piece = reader.read_at(at, MAX_WINDOW_BYTES as usize, || self.check_cancelled())?;
            let whole = match at + piece.len() as u64 == form.total {
                true => piece.len(),
                false => detection::text::complete_utf8_len(piece),
            };
            is_valid = whole > 0 && is_text_window(&piece[..whole]);
            at += whole as u64;
        }
        Ok(*form.is_valid.get_or_init(|| is_valid))
    }
}

fn is_text_window(bytes: &[u8]) -> bool {
    !ByteClasses::of(bytes).has(ByteClasses::NUL) && is_utf8(bytes, SampleExtent::Whole)
}

/// Completes a description by what the content is.
fn with_form(mut resource: Resource, form: &GitLargeForm, is_text: bool) -> Resource {
    let named = mime::by_name(&resource.name);
    let mime = match is_text {
        true => mime::for_text(named, &form.head),
        false => mime::for_blob(named, &form.head),
    };
    resource.mime = Some(mime.to_owned());
    resource.charset = match form.kind {
        LargeKind::Made(charset) if charset != UTF_8 => Some(charset.name()),
        LargeKind::Made(_) | LargeKind::Blob | LargeKind::Utf8 => None,
    };
    // A text in another charset has the size it is stored with, as in lists.
    resource.size = resource.size.or(Some(form.total));
    resource
}
