//! How does a resource look as JSON?

use std::sync::Arc;
use std::time::SystemTime;

use resource::{Annotations, Format, Icon, Resource, Role, Slice};
use serde::{Serialize, Serializer};

use crate::revision::Terms;

/// A resource as one peer sees it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shape<'a> {
    uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    icons: Option<Vec<IconShape<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<AnnotationsShape>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_collection: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capabilities: Option<Capabilities>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta<'a>>,
}

/// What one resource can do, by the newest draft of SEP-2093.
#[derive(Serialize)]
struct Capabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subscribe: Option<bool>,
}

#[derive(Default, Serialize)]
struct Meta<'a> {
    #[serde(rename = "dev.refdesk/collection", skip_serializing_if = "Option::is_none")]
    collection: Option<bool>,
    #[serde(rename = "dev.refdesk/etag", skip_serializing_if = "Option::is_none")]
    etag: Option<&'a str>,
    #[serde(rename = "dev.refdesk/charset", skip_serializing_if = "Option::is_none")]
    charset: Option<&'a str>,
    #[serde(rename = "dev.refdesk/formats", skip_serializing_if = "Option::is_none")]
    formats: Option<Vec<FormatShape<'a>>>,
    #[serde(rename = "dev.refdesk/window", skip_serializing_if = "Option::is_none")]
    window: Option<Window<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FormatShape<'a> {
    mime_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
}

/// Which stretch of the whole an element holds, and what to ask for next.
#[derive(Serialize)]
struct Window<'a> {
    offset: u64,
    length: u64,
    total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IconShape<'a> {
    src: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    sizes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    theme: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnnotationsShape {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    audience: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<Date>,
}

impl<'a> Shape<'a> {
    /// The resource as a listing shows it.
    pub(crate) fn listed(resource: &'a Resource, terms: Terms) -> Self {
        Self {
            name: Some(&resource.name),
            title: resource.title.as_deref().filter(|_| terms.revision.knows_titles()),
            description: resource.description.as_deref(),
            size: resource.size,
            icons: icons(&resource.icons, terms),
            annotations: annotations(&resource.annotations, terms),
            ..Self::bare(resource, terms)
        }
    }

    /// The resource as an element of what was read shows it, body aside.
    pub(crate) fn read(resource: &'a Resource, slice: Option<&Slice>, terms: Terms) -> Self {
        let mut shape =
            if terms.full { Self::listed(resource, terms) } else { Self::bare(resource, terms) };
        if let Some(slice) = slice {
            // A client that asked for a window looks for its bounds, whatever its revision knows.
            shape.meta.get_or_insert_default().window = Some(Window {
                offset: slice.offset,
                length: slice.length,
                total: slice.total,
                next: slice.next(),
                etag: resource.etag.as_deref(),
            });
        }
        shape
    }

    /// Only what the core protocol has in every element.
    fn bare(resource: &'a Resource, terms: Terms) -> Self {
        let collection = resource.listable.known().filter(|_| terms.full);
        let subscribe = resource.watchable.known().filter(|_| terms.full);
        let told = collection.is_some() || subscribe.is_some();
        Self {
            uri: resource.uri.as_str(),
            name: None,
            title: None,
            description: None,
            mime_type: resource.mime.as_deref(),
            size: None,
            icons: None,
            annotations: None,
            is_collection: collection,
            capabilities: told.then_some(Capabilities { list: collection, subscribe }),
            meta: meta(resource, collection, terms),
        }
    }
}

fn meta(resource: &Resource, collection: Option<bool>, terms: Terms) -> Option<Meta<'_>> {
    let meta = Meta {
        collection,
        etag: resource.etag.as_deref(),
        charset: resource.charset,
        formats: (!resource.formats.is_empty())
            .then(|| resource.formats.iter().map(format).collect()),
        window: None,
    };
    let says = meta.collection.is_some()
        || meta.etag.is_some()
        || meta.charset.is_some()
        || meta.formats.is_some();
    (says && terms.revision.knows_meta()).then_some(meta)
}

fn format(format: &Format) -> FormatShape<'_> {
    FormatShape { mime_type: &format.mime, size: format.size }
}

pub(crate) fn icons(icons: &[Icon], terms: Terms) -> Option<Vec<IconShape<'_>>> {
    let known = !icons.is_empty() && terms.revision.knows_icons();
    known.then(|| icons.iter().map(IconShape::new).collect())
}

impl<'a> IconShape<'a> {
    fn new(icon: &'a Icon) -> Self {
        Self {
            src: &icon.src,
            mime_type: icon.mime.as_deref(),
            sizes: &icon.sizes,
            theme: icon.theme.as_deref(),
        }
    }
}

pub(crate) fn annotations(annotations: &Annotations, terms: Terms) -> Option<AnnotationsShape> {
    let known = annotations.modified.filter(|_| terms.revision.knows_titles());
    let last_modified = known.and_then(Date::of);
    let says = !annotations.audience.is_empty()
        || annotations.priority.is_some()
        || last_modified.is_some();
    let role = |role: &Role| match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    says.then(|| AnnotationsShape {
        audience: annotations.audience.iter().map(role).collect(),
        priority: annotations.priority,
        last_modified,
    })
}

/// A time as ISO 8601 text, to the second and in UTC.
struct Date(SystemTime);

impl Date {
    /// A date that can be written with a year of four digits; clocks may say anything.
    fn of(time: SystemTime) -> Option<Self> {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        (since.as_secs() < 253_402_300_800).then_some(Self(time))
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_rfc3339_seconds(self.0))
    }
}

/// Resources in a row, without another list being made of them.
pub(crate) struct Row<'a>(pub(crate) &'a [Arc<Resource>], pub(crate) Terms);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|resource| Shape::listed(resource, self.1)))
    }
}
