//! Index entries: a resource cut into passages, as documents of the index.

use std::time::{SystemTime, UNIX_EPOCH};

use analysis::{PassageSpan, TextKind};
use machinery::{Packer, Unpacker};
use resource::uri::percent_decode;
use resource::{Resource, Role};
use tantivy::TantivyDocument;

use crate::index::fields::Fields;

/// Where a passage stands in the text of its resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassagePlace {
    /// The byte at which it begins, and its length.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    /// Its first line, counted from 1, and the number of its lines.
    pub line: u64,
    /// The number of its lines.
    pub lines: u64,
    /// The page, if the text has pages.
    pub page: Option<u64>,
    /// The headings that it stands under, the outermost first.
    pub headings: Vec<String>,
}

impl PassagePlace {
    fn new(span: &PassageSpan) -> Self {
        Self {
            offset: span.range.start as u64,
            length: span.range.len() as u64,
            line: span.lines.start as u64,
            lines: span.lines.len() as u64,
            page: span.page.map(|page| page as u64),
            headings: span.heading_path.clone(),
        }
    }

    fn pack(&self) -> Vec<u8> {
        let Self { offset, length, line, lines, page, headings } = self;
        let packer = Packer::default().integer(*offset).integer(*length);
        let packer = packer.integer(*line).integer(*lines).optional_integer(*page);
        headings.iter().fold(packer, |packer, heading| packer.bytes(Some(heading))).finish()
    }

    pub(crate) fn unpack(bytes: &[u8]) -> Option<Self> {
        let mut parts = Unpacker::new(bytes);
        let (offset, length) = (parts.integer()?, parts.integer()?);
        let (line, lines, page) = (parts.integer()?, parts.integer()?, parts.optional_integer()?);
        let mut headings = Vec::new();
        while !parts.is_empty() {
            headings.push(parts.text()??.to_owned());
        }
        Some(Self { offset, length, line, lines, page, headings })
    }
}

/// A resource with its text, to be put into the index.
#[derive(Debug)]
pub(crate) struct IndexEntry {
    pub(crate) mount: String,
    pub(crate) resource: std::sync::Arc<Resource>,
    /// The MIME type of the text: that of the resource, or of the form that it was read in.
    pub(crate) mime: String,
    pub(crate) text: String,
}

/// The most passages of one resource; the rest of a longer text is not indexed.
pub(crate) const MAX_PASSAGES: usize = 20_000;

impl IndexEntry {
    /// The key of its URI.
    pub(crate) fn uri_key(&self) -> u64 {
        text_key(self.resource.uri.as_str())
    }

    /// The documents of its passages.
    pub(crate) fn documents(&self, fields: &Fields) -> impl Iterator<Item = TantivyDocument> {
        let (head, fields, uri_key) = (self.head(fields), *fields, self.uri_key());
        self.spans().into_iter().enumerate().map(move |(ordinal, span)| {
            let (mut document, place) = (head.clone(), PassagePlace::new(&span));
            let text = self.text.get(span.range).unwrap_or_default();
            document.add_u64(fields.ordinal, ordinal as u64);
            document.add_u64(fields.passage_key, passage_key(uri_key, ordinal as u64));
            document.add_bytes(fields.place, &place.pack());
            for text_field in [fields.body, fields.dictionary, fields.spelling] {
                document.add_text(text_field, text);
            }
            document.add_text(fields.heading, place.headings.join(" "));
            document
        })
    }

    /// What stands for the meaning of each passage, by its key: title, description, headings and
    /// text.
    pub(crate) fn meanings(&self) -> Vec<(u64, String)> {
        let uri_key = self.uri_key();
        let title = self.resource.title.as_deref().unwrap_or(&self.resource.name);
        let about = self.resource.description.as_deref().unwrap_or_default();
        let meaning = |(ordinal, span): (usize, PassageSpan)| {
            let text = self.text.get(span.range).unwrap_or_default();
            let headings = span.heading_path.join(" ");
            let key = passage_key(uri_key, ordinal as u64);
            (key, format!("{title}\n{about}\n{headings}\n{text}"))
        };
        self.spans().into_iter().enumerate().map(meaning).collect()
    }

    /// Its passages. A text without any is one empty passage, so that the resource is found by its
    /// name.
    fn spans(&self) -> Vec<PassageSpan> {
        let mut spans = analysis::split_passages(&self.text, text_kind(&self.mime));
        spans.truncate(MAX_PASSAGES);
        if spans.is_empty() {
            let (range, lines) = (0..0, 1..1);
            spans.push(PassageSpan { range, lines, heading_path: Vec::new(), page: None });
        }
        spans
    }

    /// What all passages of the resource have in common.
    fn head(&self, fields: &Fields) -> TantivyDocument {
        let (mut head, resource) = (TantivyDocument::default(), &self.resource);
        let uri = resource.uri.as_str();
        head.add_text(fields.uri, uri);
        head.add_u64(fields.uri_key, text_key(uri));
        head.add_u64(fields.version, version_key(resource));
        if !self.text.is_empty() {
            head.add_u64(fields.content_key, text_key(&self.text));
        }
        head.add_u64(fields.mount_key, text_key(&self.mount));
        head.add_text(fields.mime, essence(resource.mime.as_deref().unwrap_or(&self.mime)));
        let language = resource.language.as_deref();
        if let Some(language) = language.or_else(|| analysis::detect_language(&self.text)) {
            let language = language.to_ascii_lowercase();
            let primary = language.split('-').next().unwrap_or(&language);
            head.add_text(fields.language, primary);
        }
        for role in &resource.annotations.audience {
            head.add_text(fields.audience, role_word(*role));
        }
        if let Some(priority) = resource.annotations.priority {
            head.add_f64(fields.priority, priority);
        }
        if let Some(modified) = resource.annotations.modified {
            head.add_i64(fields.modified, seconds(modified));
        }
        head.add_text(fields.title, &resource.name);
        for text in [&resource.title, &resource.description].into_iter().flatten() {
            head.add_text(fields.title, text);
        }
        head.add_text(fields.path, String::from_utf8_lossy(&percent_decode(uri)));
        head
    }
}

/// The audience, as the index and queries name it.
pub(crate) fn role_word(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

/// Seconds since 1970.
pub(crate) fn seconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_secs()).map_or(i64::MIN, |past| -past),
    }
}

/// The MIME type without parameters, in lower case.
pub(crate) fn essence(mime: &str) -> String {
    mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// How a text of this MIME type is cut.
fn text_kind(mime: &str) -> TextKind {
    let mime = essence(mime);
    match mime.as_str() {
        "text/markdown" => TextKind::Markdown,
        "text/plain" | "text/csv" | "text/html" | "text/troff" => TextKind::Plain,
        _ => TextKind::Code,
    }
}

/// A hash of a text.
pub(crate) fn text_key(text: &str) -> u64 {
    hash_parts(&[text.as_bytes()])
}

/// The key of a passage, by the key of its URI and its number.
pub(crate) fn passage_key(uri_key: u64, ordinal: u64) -> u64 {
    hash_parts(&[&uri_key.to_le_bytes(), &ordinal.to_le_bytes()])
}

/// A hash of what tells one version of a resource from another: its etag, or else its size and the
/// time of its last change; and of what the index holds of its description.
pub(crate) fn version_key(resource: &Resource) -> u64 {
    let notes = &resource.annotations;
    let stamp = match &resource.etag {
        Some(etag) => etag.clone(),
        None => format!("{:?} {:?}", resource.size, notes.modified.map(seconds)),
    };
    let described = format!(
        "{:?} {:?} {:?} {:?} {:?} {:?}",
        resource.mime,
        resource.title,
        resource.description,
        resource.language,
        notes.priority,
        notes.audience
    );
    hash_parts(&[stamp.as_bytes(), described.as_bytes()])
}

fn hash_parts(parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut key = [0; 8];
    hasher.finalize_xof().fill(&mut key);
    u64::from_le_bytes(key)
}
