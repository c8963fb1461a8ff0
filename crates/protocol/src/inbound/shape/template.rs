//! JSON encoding of a resource template.

use std::sync::Arc;

use resource::{MemberPlace, Template};
use serde::{Serialize, Serializer};

use super::resource::{AnnotationsShape, IconShape, annotations_shape, icon_shapes};
use super::unknown_members::UnknownMembersShape;
use crate::revision::Dialect;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TemplateShape<'a> {
    uri_template: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    icons: Option<Vec<IconShape<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<AnnotationsShape<'a>>,
    #[serde(rename = "_meta", skip_serializing_if = "UnknownMembersShape::is_empty")]
    meta: UnknownMembersShape<'a>,
    #[serde(flatten)]
    extra: UnknownMembersShape<'a>,
}

impl<'a> TemplateShape<'a> {
    fn new(template: &'a Template, dialect: Dialect) -> Self {
        let members =
            |place| UnknownMembersShape::for_peer(&template.extra, place, dialect, |_| false);
        let mut shape = Self {
            uri_template: template.uri.as_str(),
            name: &template.name,
            title: template.title.as_deref().filter(|_| dialect.revision.knows_titles()),
            description: template.description.as_deref(),
            mime_type: template.mime.as_deref(),
            icons: icon_shapes(&template.icons, dialect),
            annotations: annotations_shape(&template.annotations, &template.extra, dialect),
            meta: members(MemberPlace::Meta),
            extra: UnknownMembersShape::default(),
        };
        shape.extra = UnknownMembersShape::for_peer(
            &template.extra,
            MemberPlace::TopLevel,
            dialect,
            |name| shape.has_member(name),
        );
        shape
    }

    /// Whether refdesk writes this member itself; its value wins over the unknown one.
    fn has_member(&self, name: &str) -> bool {
        match name {
            "uriTemplate" | "name" => true,
            "title" => self.title.is_some(),
            "description" => self.description.is_some(),
            "mimeType" => self.mime_type.is_some(),
            "icons" => self.icons.is_some(),
            "annotations" => self.annotations.is_some(),
            "_meta" => !self.meta.is_empty(),
            _ => false,
        }
    }
}

/// A JSON array of templates.
pub(crate) struct TemplateRows<'a>(pub(crate) &'a [Arc<Template>], pub(crate) Dialect);

impl Serialize for TemplateRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|template| TemplateShape::new(template, self.1)))
    }
}
