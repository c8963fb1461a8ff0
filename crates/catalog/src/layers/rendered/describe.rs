//! Descriptions of documents: their forms and sections, by name and MIME type.

use std::borrow::Cow;
use std::sync::Arc;

use convert::DocumentKind;
use resource::{Format, Outline, Resource, Uri, uri};

/// The kind of a document, if it can be converted.
pub(super) fn kind_of(resource: &Resource) -> Option<DocumentKind> {
    // A collection is listed, unless it is a mail with attachments, and a source that has several formats has its own.
    let is_ours = resource.formats.iter().skip(1).all(|format| format.is_made);
    if (resource.listable == Some(true) && !resource.is_archive) || !is_ours {
        return None;
    }
    DocumentKind::of_name(&file_name(&resource.uri), resource.mime.as_deref())
}

/// The last segment of a URI's path, decoded.
pub(super) fn file_name(uri: &Uri) -> Cow<'_, str> {
    let path = uri::without_query(uri.as_str()).trim_end_matches('/');
    let name = path.rsplit('/').next().unwrap_or(path);
    uri::percent_decode_lossy(name)
}

/// Names the forms of a document, the original first.
pub(super) fn add_forms(mut item: Arc<Resource>) -> Arc<Resource> {
    if !item.formats.is_empty() {
        return item;
    }
    let Some(kind) = kind_of(&item) else { return item };
    let resource = Arc::make_mut(&mut item);
    let mime = resource.mime.clone().unwrap_or_else(|| kind.mime().to_owned());
    let (size, etag) = (resource.size, resource.etag.clone());
    let original = Format { mime, size, etag, is_made: false };
    // A source may give a document a type that one of its forms has: each type stands once.
    let essence = original.mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let forms = kind.forms().iter().map(|form| form.mime()).filter(|form| *form != essence);
    let formats = forms.map(|mime| {
        let mime = mime.to_owned();
        Format { mime, size: None, etag: None, is_made: true }
    });
    resource.formats = std::iter::once(original).chain(formats).collect();
    resource.outline =
        kind.section_unit().map(|unit| Arc::new(Outline { unit, total: None, titles: Vec::new() }));
    item
}
