//! JSON encoding of a resource template.

use std::sync::Arc;

use resource::{Place, Template};
use serde::{Serialize, Serializer};

use super::extra::Members;
use super::resource::{AnnotationsShape, IconShape, annotations, icons};
use crate::revision::Terms;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shape<'a> {
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
    #[serde(rename = "_meta", skip_serializing_if = "Members::is_empty")]
    meta: Members<'a>,
    #[serde(flatten)]
    extra: Members<'a>,
}

impl<'a> Shape<'a> {
    fn new(template: &'a Template, terms: Terms) -> Self {
        let members = |place| Members::of(&template.extra, place, terms, |_| false);
        let mut shape = Self {
            uri_template: template.uri.as_str(),
            name: &template.name,
            title: template.title.as_deref().filter(|_| terms.revision.knows_titles()),
            description: template.description.as_deref(),
            mime_type: template.mime.as_deref(),
            icons: icons(&template.icons, terms),
            annotations: annotations(&template.annotations, &template.extra, terms),
            meta: members(Place::Meta),
            extra: Members::default(),
        };
        shape.extra = Members::of(&template.extra, Place::Beside, terms, |name| shape.says(name));
        shape
    }

    /// Whether refdesk writes this member itself; its value wins over the unknown one.
    fn says(&self, name: &str) -> bool {
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
pub(crate) struct Row<'a>(pub(crate) &'a [Arc<Template>], pub(crate) Terms);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|template| Shape::new(template, self.1)))
    }
}
