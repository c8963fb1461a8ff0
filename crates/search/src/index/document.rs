//! Passages as documents of the index, which share what they have in common.

use std::iter::Empty;
use std::sync::Arc;

use tantivy::schema::document::{ReferenceValue, ReferenceValueLeaf, Value};
use tantivy::schema::{Document, Field};
use tokio::sync::OwnedSemaphorePermit;

use crate::index::entry::{IndexEntry, PassagePlace};
use crate::index::fields::Fields;
use crate::index::keys::{passage_key, summary_key};

/// A passage on its way into the index. It holds no copy of its text.
pub(crate) struct PassageDocument {
    source: Arc<PassageSource>,
    /// The bytes of its text.
    range: std::ops::Range<usize>,
    ordinal: u64,
    key: u64,
    /// Where it stands, packed, and the headings above it.
    place: Vec<u8>,
    headings: String,
}

/// What the passages of one resource share.
struct PassageSource {
    text: String,
    version: u64,
    summary_key: u64,
    /// Whether the passages have vectors, which find them by their keys.
    has_vectors: bool,
    fields: Fields,
    /// The values that all of their documents have.
    common: Vec<(Field, FieldValue)>,
    /// Holds the memory of the text until its last passage is indexed.
    _permit: OwnedSemaphorePermit,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FieldValue {
    Text(String),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

/// The value of a field, borrowed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FieldValueRef<'a> {
    Text(&'a str),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bytes(&'a [u8]),
}

impl FieldValue {
    fn borrowed(&self) -> FieldValueRef<'_> {
        match self {
            Self::Text(text) => FieldValueRef::Text(text),
            Self::Unsigned(number) => FieldValueRef::Unsigned(*number),
            Self::Signed(number) => FieldValueRef::Signed(*number),
            Self::Float(number) => FieldValueRef::Float(*number),
        }
    }
}

impl<'a> Value<'a> for FieldValueRef<'a> {
    type ArrayIter = Empty<Self>;
    type ObjectIter = Empty<(&'a str, Self)>;

    fn as_value(&self) -> ReferenceValue<'a, Self> {
        ReferenceValue::Leaf(match *self {
            Self::Text(text) => ReferenceValueLeaf::Str(text),
            Self::Unsigned(number) => ReferenceValueLeaf::U64(number),
            Self::Signed(number) => ReferenceValueLeaf::I64(number),
            Self::Float(number) => ReferenceValueLeaf::F64(number),
            Self::Bytes(bytes) => ReferenceValueLeaf::Bytes(bytes),
        })
    }
}

impl PassageDocument {
    /// The passages of `entry`; `permit` is held until the last one is dropped.
    pub(crate) fn all_of(
        entry: IndexEntry,
        fields: Fields,
        permit: OwnedSemaphorePermit,
    ) -> impl Iterator<Item = Self> {
        let (spans, common) = (entry.spans(), entry.common_values(&fields));
        let (mount, uri) = (entry.mount_key(), entry.uri_key());
        let source = Arc::new(PassageSource {
            text: entry.text,
            version: entry.version,
            has_vectors: entry.has_vectors,
            summary_key: summary_key(mount, uri),
            fields,
            common,
            _permit: permit,
        });
        spans.into_iter().zip(0..).map(move |(span, ordinal)| {
            let place = PassagePlace::new(&span);
            Self {
                source: Arc::clone(&source),
                range: span.range,
                ordinal,
                key: passage_key(mount, uri, ordinal),
                place: place.pack(),
                headings: place.headings.join(" "),
            }
        })
    }
}

impl Document for PassageDocument {
    type Value<'a> = FieldValueRef<'a>;
    type FieldsValuesIter<'a> = Box<dyn Iterator<Item = (Field, FieldValueRef<'a>)> + 'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        let PassageSource { text, version, summary_key, has_vectors, fields, common, .. } =
            &*self.source;
        let text = FieldValueRef::Text(text.get(self.range.clone()).unwrap_or_default());
        let common = common.iter().map(|(field, value)| (*field, value.borrowed()));
        let own = [
            (fields.ordinal, FieldValueRef::Unsigned(self.ordinal)),
            (fields.place, FieldValueRef::Bytes(&self.place)),
            (fields.body, text),
            (fields.dictionary, text),
            (fields.spelling, text),
            (fields.heading, FieldValueRef::Text(&self.headings)),
        ];
        // The first passage stands for the resource as a whole, too.
        let is_first = self.ordinal == 0;
        let number = |field, number, is_there: bool| {
            is_there.then_some((field, FieldValueRef::Unsigned(number)))
        };
        let keys = [
            number(fields.version, *version, is_first),
            number(fields.passage_key, self.key, *has_vectors),
            number(fields.passage_key, *summary_key, is_first && *has_vectors),
        ];
        Box::new(common.chain(own).chain(keys.into_iter().flatten()))
    }
}
