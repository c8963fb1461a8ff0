//! JSON encoding of a resource, in a list and as an element of `contents`.

use std::sync::Arc;
use std::time::SystemTime;

use resource::{Annotations, Extra, Format, Icon, Place, Resource, Role, Slice};
use serde::{Serialize, Serializer};

use super::extra::Members;
use crate::revision::Terms;

/// A resource in the form that one client gets.
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
    annotations: Option<AnnotationsShape<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_collection: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capabilities: Option<Capabilities<'a>>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta<'a>>,
    #[serde(flatten)]
    extra: Members<'a>,
}

/// The capabilities of one resource, by the newest draft of SEP-2093.
#[derive(Serialize)]
struct Capabilities<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subscribe: Option<bool>,
    #[serde(flatten)]
    extra: Members<'a>,
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
    #[serde(flatten)]
    extra: Members<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FormatShape<'a> {
    mime_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
}

/// Which window of the whole an element holds, and where the next one starts.
#[derive(Serialize)]
struct Window<'a> {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<&'a str>,
}

impl<'a> Window<'a> {
    fn of(slice: &Slice, resource: &'a Resource) -> Self {
        Self {
            offset: slice.offset,
            length: slice.length,
            total: slice.total,
            eof: slice.next().is_none(),
            next: slice.next(),
            start_line: slice.lines.as_ref().map(|lines| lines.start),
            lines: slice.lines.as_ref().map(|lines| lines.count),
            next_line: slice.next_line(),
            etag: resource.etag.as_deref(),
        }
    }
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
pub(crate) struct AnnotationsShape<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    audience: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<Date>,
    #[serde(flatten)]
    extra: Members<'a>,
}

impl<'a> Shape<'a> {
    /// The resource in a list.
    pub(crate) fn listed(resource: &'a Resource, terms: Terms) -> Self {
        Self::full(resource, terms).with_extra(resource, terms, |_| false)
    }

    /// The resource as an element of `contents`, without its body.
    pub(crate) fn read(resource: &'a Resource, slice: Option<&Slice>, terms: Terms) -> Self {
        let shape =
            if terms.full { Self::full(resource, terms) } else { Self::bare(resource, terms) };
        let is_body = |name: &str| matches!(name, "text" | "blob");
        let mut shape = shape.with_extra(resource, terms, is_body);
        if let Some(slice) = slice {
            // The client asked for a window, so it gets the bounds, even if its revision lacks
            // `_meta`.
            let meta = shape.meta.get_or_insert_default();
            meta.extra.without(WINDOW);
            meta.window = Some(Window::of(slice, resource));
        }
        shape
    }

    /// All members that the revision defines.
    fn full(resource: &'a Resource, terms: Terms) -> Self {
        Self {
            name: Some(&resource.name),
            title: resource.title.as_deref().filter(|_| terms.revision.knows_titles()),
            description: resource.description.as_deref(),
            size: resource.size,
            icons: icons(&resource.icons, terms),
            annotations: annotations(&resource.annotations, &resource.extra, terms),
            ..Self::bare(resource, terms)
        }
    }

    /// Only what the core protocol defines for an element of `contents`, and SEP-2093 if the client
    /// gets it.
    fn bare(resource: &'a Resource, terms: Terms) -> Self {
        let collection = resource.listable.known().filter(|_| terms.full);
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
            capabilities: terms.full.then(|| capabilities(resource, terms)).flatten(),
            meta: meta(resource, collection, terms),
            extra: Members::default(),
        }
    }

    /// Adds the unknown members. A member that refdesk writes itself wins.
    fn with_extra(
        mut self,
        resource: &'a Resource,
        terms: Terms,
        is_ours: impl Fn(&str) -> bool,
    ) -> Self {
        let extra = Members::of(&resource.extra, Place::Beside, terms, |name| {
            self.says(name) || is_ours(name)
        });
        self.extra = extra;
        self
    }

    fn says(&self, name: &str) -> bool {
        match name {
            "uri" => true,
            "name" => self.name.is_some(),
            "title" => self.title.is_some(),
            "description" => self.description.is_some(),
            "mimeType" => self.mime_type.is_some(),
            "size" => self.size.is_some(),
            "icons" => self.icons.is_some(),
            "annotations" => self.annotations.is_some(),
            "isCollection" => self.is_collection.is_some(),
            "capabilities" => self.capabilities.is_some(),
            "_meta" => self.meta.is_some(),
            _ => false,
        }
    }
}

fn capabilities(resource: &Resource, terms: Terms) -> Option<Capabilities<'_>> {
    let (list, subscribe) = (resource.listable.known(), resource.watchable.known());
    let is_ours = |name: &str| match name {
        "list" => list.is_some(),
        "subscribe" => subscribe.is_some(),
        _ => false,
    };
    let extra = Members::of(&resource.extra, Place::Capabilities, terms, is_ours);
    let told = list.is_some() || subscribe.is_some() || !extra.is_empty();
    told.then_some(Capabilities { list, subscribe, extra })
}

pub(crate) const COLLECTION: &str = "dev.refdesk/collection";
pub(crate) const ETAG: &str = "dev.refdesk/etag";
const CHARSET: &str = "dev.refdesk/charset";
pub(crate) const FORMATS: &str = "dev.refdesk/formats";
const WINDOW: &str = "dev.refdesk/window";

fn meta(resource: &Resource, collection: Option<bool>, terms: Terms) -> Option<Meta<'_>> {
    let is_ours = |name: &str| match name {
        COLLECTION => collection.is_some(),
        ETAG => resource.etag.is_some(),
        CHARSET => resource.charset.is_some(),
        FORMATS => !resource.formats.is_empty(),
        _ => false,
    };
    let meta = Meta {
        collection,
        etag: resource.etag.as_deref(),
        charset: resource.charset,
        formats: (!resource.formats.is_empty())
            .then(|| resource.formats.iter().map(format).collect()),
        window: None,
        extra: Members::of(&resource.extra, Place::Meta, terms, is_ours),
    };
    let says = meta.collection.is_some()
        || meta.etag.is_some()
        || meta.charset.is_some()
        || meta.formats.is_some()
        || !meta.extra.is_empty();
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

pub(crate) fn annotations<'a>(
    annotations: &Annotations,
    extra: &'a Extra,
    terms: Terms,
) -> Option<AnnotationsShape<'a>> {
    // A date that refdesk would write differently is kept as its source wrote it.
    let is_quoted = extra.get(Place::Annotations, MODIFIED).is_some();
    let known = annotations.modified.filter(|_| terms.revision.knows_titles() && !is_quoted);
    let last_modified = known.and_then(Date::of);
    let extra = Members::of(extra, Place::Annotations, terms, |name| match name {
        "audience" => !annotations.audience.is_empty(),
        "priority" => annotations.priority.is_some(),
        _ => false,
    });
    let says = !annotations.audience.is_empty()
        || annotations.priority.is_some()
        || last_modified.is_some()
        || !extra.is_empty();
    let role = |role: &Role| match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    says.then(|| AnnotationsShape {
        audience: annotations.audience.iter().map(role).collect(),
        priority: annotations.priority,
        last_modified,
        extra,
    })
}

pub(crate) const MODIFIED: &str = "lastModified";

/// A time as ISO 8601 text in UTC, with a precision of one second.
pub(crate) struct Date(SystemTime);

impl Date {
    /// `None` before 1970 and after 9999, so that the year has four digits; clocks may be wrong.
    pub(crate) fn of(time: SystemTime) -> Option<Self> {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        (since.as_secs() < 253_402_300_800).then_some(Self(time))
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_rfc3339_seconds(self.0))
    }
}

/// A JSON array of resources, encoded without an intermediate list.
pub(crate) struct Row<'a>(pub(crate) &'a [Arc<Resource>], pub(crate) Terms);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|resource| Shape::listed(resource, self.1)))
    }
}
