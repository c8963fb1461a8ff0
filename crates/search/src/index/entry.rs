//! Index entries: a resource cut into passages, as documents of the index.

use std::iter;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use analysis::{PassageSpan, TextKind};
use machinery::{Packer, Unpacker};
use resource::uri::percent_decode_lossy;
use resource::{Resource, Role};
use tantivy::schema::Field;

use crate::index::document::FieldValue;
use crate::index::fields::Fields;
use crate::index::keys::{hash_parts, passage_key, summary_key, text_key};

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
    pub(crate) fn new(span: &PassageSpan) -> Self {
        Self {
            offset: span.range.start as u64,
            length: span.range.len() as u64,
            line: span.lines.start as u64,
            lines: span.lines.len() as u64,
            page: span.page.map(|page| page as u64),
            headings: span.heading_path.clone(),
        }
    }

    pub(crate) fn pack(&self) -> Vec<u8> {
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
    pub(crate) resource: Arc<Resource>,
    /// The version of the text, by [`version_key`].
    pub(crate) version: u64,
    /// The MIME type of the text: that of the resource, or of the form that it was read in.
    pub(crate) mime: String,
    pub(crate) text: String,
    /// Whether its passages have vectors, which find them by their keys.
    pub(crate) has_vectors: bool,
}

/// The most passages of one resource; the rest of a longer text is not indexed.
pub(crate) const MAX_PASSAGES: usize = 20_000;

impl IndexEntry {
    /// The key of its URI.
    pub(crate) fn uri_key(&self) -> u64 {
        text_key(self.resource.uri.as_str())
    }

    /// The key of its mount.
    pub(crate) fn mount_key(&self) -> u64 {
        text_key(&self.mount)
    }

    /// What the resource is about: its description, or what its text says at the beginning.
    fn about(&self) -> Option<String> {
        let own = self.resource.description.clone().filter(|own| !own.trim().is_empty());
        own.or_else(|| analysis::summary(&self.text, text_kind(&self.mime)))
    }

    /// What stands for the meaning of the resource as a whole, with its key: its title or path, and
    /// what it is about.
    pub(crate) fn summary_meaning(&self) -> (u64, String) {
        let path = || {
            let path = percent_decode_lossy(self.resource.uri.as_str());
            path.replace(['/', '_', '-', '.'], " ")
        };
        let named = self.resource.title.clone().unwrap_or_else(path);
        let about = self.about().unwrap_or_default();
        (summary_key(self.mount_key(), self.uri_key()), format!("{named}\n{about}"))
    }

    /// What stands for the meaning of each passage, by its key: title, headings and text.
    pub(crate) fn passage_meanings(&self) -> Vec<(u64, String)> {
        let (mount, uri) = (self.mount_key(), self.uri_key());
        let title = self.resource.title.as_deref().unwrap_or(&self.resource.name);
        let about = self.resource.description.as_deref().unwrap_or_default();
        let meaning = |(span, ordinal): (PassageSpan, u64)| {
            let text = self.text.get(span.range).unwrap_or_default();
            let headings = span.heading_path.join(" ");
            let key = passage_key(mount, uri, ordinal);
            (key, format!("{title}\n{about}\n{headings}\n{text}"))
        };
        self.spans().into_iter().zip(0..).map(meaning).collect()
    }

    /// Its passages. A text without any is one empty passage, so that the resource is found by its
    /// name.
    pub(crate) fn spans(&self) -> Vec<PassageSpan> {
        let mut spans = analysis::split_passages(&self.text, text_kind(&self.mime));
        spans.truncate(MAX_PASSAGES);
        if spans.is_empty() {
            let (range, lines) = (0..0, 1..1);
            spans.push(PassageSpan { range, lines, heading_path: Vec::new(), page: None });
        }
        spans
    }

    /// The values of the fields that all passages of the resource have in common.
    pub(crate) fn common_values(&self, fields: &Fields) -> Vec<(Field, FieldValue)> {
        let resource = &self.resource;
        let (uri, notes) = (resource.uri.as_str(), &resource.annotations);
        let path = percent_decode_lossy(uri).into_owned();
        let text = |field: Field, text: &str| (field, FieldValue::Text(text.to_owned()));
        let mut values = vec![
            text(fields.uri, uri),
            text(fields.address, &path),
            text(fields.path, &path),
            (fields.uri_key, FieldValue::Unsigned(self.uri_key())),
            (fields.mount_key, FieldValue::Unsigned(self.mount_key())),
            text(fields.mime, &essence(resource.mime.as_deref().unwrap_or(&self.mime))),
        ];
        if !self.text.is_empty() {
            values.push((fields.content_key, FieldValue::Unsigned(text_key(&self.text))));
        }
        let language = resource.language.as_deref();
        if let Some(language) = language.or_else(|| analysis::detect_language(&self.text)) {
            let language = language.to_ascii_lowercase();
            values.push(text(fields.language, language.split('-').next().unwrap_or(&language)));
        }
        values.extend(notes.audience.iter().map(|role| text(fields.audience, role_word(*role))));
        values.extend(notes.priority.map(|own| (fields.priority, FieldValue::Float(own))));
        let modified = notes.modified.map(|at| (fields.modified, FieldValue::Signed(seconds(at))));
        values.extend(modified);
        for name in iter::once(&resource.name).chain(&resource.title) {
            values.push(text(fields.names, &name.to_lowercase()));
        }
        let titles = iter::once(&resource.name).chain(&resource.title);
        values.extend(titles.chain(&self.about()).map(|title| text(fields.title, title)));
        values
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
pub(crate) fn text_kind(mime: &str) -> TextKind {
    let mime = essence(mime);
    match mime.as_str() {
        "text/markdown" => TextKind::Markdown,
        "text/plain" | "text/csv" | "text/html" | "text/troff" => TextKind::Plain,
        _ => TextKind::Code,
    }
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
