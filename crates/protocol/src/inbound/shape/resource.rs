//! JSON encoding of a resource, in a list and as an element of `contents`.

use std::sync::Arc;

use resource::{Annotations, Icon, MemberPlace, Resource, Role, Slice, UnknownMembers};
use serde::{Serialize, Serializer};

use super::iso_date::IsoDate;
use super::resource_meta::ResourceMeta;
use super::unknown_members::UnknownMembersShape;
use crate::revision::Dialect;

/// A resource in the form that one client gets.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResourceShape<'a> {
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
    capabilities: Option<ResourceCapabilities<'a>>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<ResourceMeta<'a>>,
    #[serde(flatten)]
    extra: UnknownMembersShape<'a>,
}

/// The capabilities of one resource, by the newest draft of SEP-2093.
#[derive(Serialize)]
struct ResourceCapabilities<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subscribe: Option<bool>,
    #[serde(flatten)]
    extra: UnknownMembersShape<'a>,
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
    last_modified: Option<IsoDate>,
    #[serde(flatten)]
    extra: UnknownMembersShape<'a>,
}

impl<'a> ResourceShape<'a> {
    /// The resource in a list.
    pub(crate) fn for_list(resource: &'a Resource, dialect: Dialect) -> Self {
        Self::full(resource, dialect).with_unknown(resource, dialect, |_| false)
    }

    /// The resource as an element of `contents`, without its body.
    pub(crate) fn for_read(
        resource: &'a Resource,
        slice: Option<&Slice>,
        dialect: Dialect,
    ) -> Self {
        let shape = if dialect.full_metadata {
            Self::full(resource, dialect)
        } else {
            Self::minimal(resource, dialect)
        };
        let is_body = |name: &str| matches!(name, "text" | "blob");
        let mut shape = shape.with_unknown(resource, dialect, is_body);
        if let Some(slice) = slice {
            // The client asked for a window, so it gets the bounds, even if its revision lacks
            // `_meta`.
            shape.meta.get_or_insert_default().set_window(slice, resource);
        }
        shape
    }

    /// All members that the revision defines.
    fn full(resource: &'a Resource, dialect: Dialect) -> Self {
        Self {
            name: Some(&resource.name),
            title: resource.title.as_deref().filter(|_| dialect.revision.knows_titles()),
            description: resource.description.as_deref(),
            size: resource.size,
            icons: icon_shapes(&resource.icons, dialect),
            annotations: annotations_shape(&resource.annotations, &resource.extra, dialect),
            ..Self::minimal(resource, dialect)
        }
    }

    /// Only what the core protocol defines for an element of `contents`, and SEP-2093 if the client
    /// gets it.
    fn minimal(resource: &'a Resource, dialect: Dialect) -> Self {
        let collection = resource.listable.filter(|_| dialect.full_metadata);
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
            capabilities: dialect
                .full_metadata
                .then(|| resource_capabilities(resource, dialect))
                .flatten(),
            meta: ResourceMeta::new(resource, collection, dialect),
            extra: UnknownMembersShape::default(),
        }
    }

    /// Adds the unknown members. A member that refdesk writes itself wins.
    fn with_unknown(
        mut self,
        resource: &'a Resource,
        dialect: Dialect,
        is_ours: impl Fn(&str) -> bool,
    ) -> Self {
        let extra = UnknownMembersShape::for_peer(
            &resource.extra,
            MemberPlace::TopLevel,
            dialect,
            |name| self.has_member(name) || is_ours(name),
        );
        self.extra = extra;
        self
    }

    fn has_member(&self, name: &str) -> bool {
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

fn resource_capabilities(
    resource: &Resource,
    dialect: Dialect,
) -> Option<ResourceCapabilities<'_>> {
    let (list, subscribe) = (resource.listable, resource.watchable);
    let is_ours = |name: &str| match name {
        "list" => list.is_some(),
        "subscribe" => subscribe.is_some(),
        _ => false,
    };
    let extra =
        UnknownMembersShape::for_peer(&resource.extra, MemberPlace::Capabilities, dialect, is_ours);
    let told = list.is_some() || subscribe.is_some() || !extra.is_empty();
    told.then_some(ResourceCapabilities { list, subscribe, extra })
}

pub(crate) fn icon_shapes(icons: &[Icon], dialect: Dialect) -> Option<Vec<IconShape<'_>>> {
    let known = !icons.is_empty() && dialect.revision.knows_icons();
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

pub(crate) fn annotations_shape<'a>(
    annotations: &Annotations,
    extra: &'a UnknownMembers,
    dialect: Dialect,
) -> Option<AnnotationsShape<'a>> {
    // A date that refdesk would write differently is kept as its source wrote it.
    let is_quoted = extra.get(MemberPlace::Annotations, LAST_MODIFIED).is_some();
    let known = annotations.modified.filter(|_| dialect.revision.knows_titles() && !is_quoted);
    let last_modified = known.and_then(IsoDate::from_time);
    let extra =
        UnknownMembersShape::for_peer(
            extra,
            MemberPlace::Annotations,
            dialect,
            |name| match name {
                "audience" => !annotations.audience.is_empty(),
                "priority" => annotations.priority.is_some(),
                _ => false,
            },
        );
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

pub(crate) const LAST_MODIFIED: &str = "lastModified";

/// A JSON array of resources, encoded without an intermediate list.
pub(crate) struct ResourceRows<'a> {
    pub(crate) rows: &'a [Arc<Resource>],
    /// Titles for resources that have none, by position; may be shorter.
    pub(crate) titles: &'a [Option<String>],
    pub(crate) dialect: Dialect,
}

impl<'a> Serialize for ResourceRows<'a> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shape = |(at, resource): (usize, &'a Arc<Resource>)| {
            let mut shape = ResourceShape::for_list(resource, self.dialect);
            let title = || self.titles.get(at).and_then(|title| title.as_deref());
            shape.title = shape.title.or_else(title);
            shape
        };
        serializer.collect_seq(self.rows.iter().enumerate().map(shape))
    }
}
