//! JSON encoding of `_meta` of a resource: etag, formats, outline, notes, window.

use resource::{Format, MemberPlace, Outline, Resource, Slice};
use serde::Serialize;

use super::unknown_members::UnknownMembersShape;
use crate::revision::Dialect;

pub(crate) const META_COLLECTION: &str = "dev.refdesk/collection";
pub(crate) const META_ETAG: &str = "dev.refdesk/etag";
const META_CHARSET: &str = "dev.refdesk/charset";
pub(crate) const META_LANGUAGE: &str = "dev.refdesk/language";
pub(crate) const META_IMMUTABLE: &str = "dev.refdesk/immutable";
pub(crate) const META_FORMATS: &str = "dev.refdesk/formats";
pub(crate) const META_OUTLINE: &str = "dev.refdesk/outline";
const META_NOTES: &str = "dev.refdesk/notes";
pub(crate) const META_WINDOW: &str = "dev.refdesk/window";

/// The members of `_meta` that refdesk writes, and those of the source.
#[derive(Default, Serialize)]
pub(super) struct ResourceMeta<'a> {
    #[serde(rename = "dev.refdesk/collection", skip_serializing_if = "Option::is_none")]
    collection: Option<bool>,
    #[serde(rename = "dev.refdesk/etag", skip_serializing_if = "Option::is_none")]
    etag: Option<&'a str>,
    #[serde(rename = "dev.refdesk/charset", skip_serializing_if = "Option::is_none")]
    charset: Option<&'a str>,
    #[serde(rename = "dev.refdesk/language", skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    #[serde(rename = "dev.refdesk/immutable", skip_serializing_if = "std::ops::Not::not")]
    immutable: bool,
    #[serde(rename = "dev.refdesk/formats", skip_serializing_if = "Option::is_none")]
    formats: Option<Vec<FormatShape<'a>>>,
    #[serde(rename = "dev.refdesk/outline", skip_serializing_if = "Option::is_none")]
    outline: Option<OutlineShape<'a>>,
    #[serde(rename = "dev.refdesk/notes", skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    #[serde(rename = "dev.refdesk/window", skip_serializing_if = "Option::is_none")]
    window: Option<WindowShape<'a>>,
    #[serde(flatten)]
    extra: UnknownMembersShape<'a>,
}

impl<'a> ResourceMeta<'a> {
    /// `_meta` of a resource; `None` if there is nothing to say, or the revision lacks it.
    pub(super) fn new(
        resource: &'a Resource,
        collection: Option<bool>,
        dialect: Dialect,
    ) -> Option<Self> {
        let is_ours = |name: &str| match name {
            META_COLLECTION => collection.is_some(),
            META_ETAG => resource.etag.is_some(),
            META_CHARSET => resource.charset.is_some(),
            META_LANGUAGE => resource.language.is_some(),
            META_IMMUTABLE => resource.immutable,
            META_FORMATS => !resource.formats.is_empty(),
            META_OUTLINE => resource.outline.is_some(),
            META_NOTES => !resource.notes.is_empty(),
            _ => false,
        };
        let meta = Self {
            collection,
            etag: resource.etag.as_deref(),
            charset: resource.charset,
            language: resource.language.as_deref(),
            immutable: resource.immutable,
            formats: (!resource.formats.is_empty())
                .then(|| resource.formats.iter().map(format_shape).collect()),
            outline: resource.outline.as_deref().and_then(OutlineShape::new),
            notes: &resource.notes,
            window: None,
            extra: UnknownMembersShape::for_peer(
                &resource.extra,
                MemberPlace::Meta,
                dialect,
                is_ours,
            ),
        };
        let says = meta.collection.is_some()
            || meta.etag.is_some()
            || meta.charset.is_some()
            || meta.language.is_some()
            || meta.immutable
            || meta.formats.is_some()
            || meta.outline.is_some()
            || !meta.notes.is_empty()
            || !meta.extra.is_empty();
        (says && dialect.revision.knows_meta()).then_some(meta)
    }

    /// Adds which window of the whole an element holds.
    pub(super) fn set_window(&mut self, slice: &Slice, resource: &'a Resource) {
        self.extra.remove(META_WINDOW);
        self.window = Some(WindowShape::new(slice, resource));
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FormatShape<'a> {
    mime_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<&'a str>,
}

/// How many pages, sheets or slides a document has, and the titles of the first ones.
#[derive(Serialize)]
struct OutlineShape<'a> {
    unit: &'static str,
    total: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    titles: Vec<SectionTitleShape<'a>>,
}

#[derive(Serialize)]
struct SectionTitleShape<'a> {
    number: usize,
    title: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
}

impl<'a> OutlineShape<'a> {
    /// `None` as long as the sections are not counted.
    fn new(outline: &'a Outline) -> Option<Self> {
        let titles = outline.titles.iter().map(|known| SectionTitleShape {
            number: known.number,
            title: &known.title,
            hidden: known.is_hidden,
        });
        Some(Self { unit: outline.unit.word(), total: outline.total?, titles: titles.collect() })
    }
}

/// Which window of the whole an element holds, and where the next one starts.
#[derive(Serialize)]
struct WindowShape<'a> {
    offset: u64,
    length: u64,
    total: u64,
    eof: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_line: Option<u64>,
    /// Which of how many parts, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_parts: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_part: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<&'a str>,
}

impl<'a> WindowShape<'a> {
    fn new(slice: &Slice, resource: &'a Resource) -> Self {
        Self {
            offset: slice.offset,
            length: slice.length,
            total: slice.total,
            eof: slice.next_offset().is_none() && slice.next_part().is_none(),
            next: slice.next_offset(),
            start_line: slice.lines.as_ref().map(|lines| lines.start),
            lines: slice.lines.as_ref().map(|lines| lines.count),
            next_line: slice.next_line(),
            part: (slice.total_parts > 1).then_some(slice.part),
            total_parts: (slice.total_parts > 1).then_some(slice.total_parts),
            next_part: slice.next_part(),
            etag: resource.etag.as_deref(),
        }
    }
}

fn format_shape(format: &Format) -> FormatShape<'_> {
    FormatShape { mime_type: &format.mime, size: format.size, etag: format.etag.as_deref() }
}

#[cfg(test)]
mod tests {
    use resource::{Outline, SectionTitle, SectionUnit};
    use serde_json::json;

    use super::OutlineShape;

    #[test]
    fn an_outline_counts_the_sections_and_marks_the_hidden_ones() {
        let known = |number, title: &str, is_hidden| {
            let title = title.to_owned();
            SectionTitle { number, title, is_hidden }
        };
        let titles = vec![known(1, "Sales", false), known(3, "Sums", true)];
        let mut outline = Outline { unit: SectionUnit::Sheet, total: Some(3), titles };
        let titles = json!([
            { "number": 1, "title": "Sales" }, { "number": 3, "title": "Sums", "hidden": true },
        ]);
        let wanted = json!({ "unit": "sheet", "total": 3, "titles": titles });
        assert_eq!(json!(OutlineShape::new(&outline)), wanted);
        outline.total = None;
        assert_eq!(json!(OutlineShape::new(&outline)), json!(null));
    }
}
