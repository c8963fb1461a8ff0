//! JSON encoding of a resource template.

use std::sync::Arc;

use resource::{MemberPlace, Template, UriTemplate, Variable};
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
    #[serde(rename = "_meta", skip_serializing_if = "TemplateMeta::is_empty")]
    meta: TemplateMeta<'a>,
    #[serde(flatten)]
    extra: UnknownMembersShape<'a>,
}

impl<'a> TemplateShape<'a> {
    fn new(template: &'a Template, dialect: Dialect) -> Self {
        let mut shape = Self {
            uri_template: template.uri.as_str(),
            name: &template.name,
            title: template.title.as_deref().filter(|_| dialect.revision.knows_titles()),
            description: template.description.as_deref(),
            mime_type: template.mime.as_deref(),
            icons: icon_shapes(&template.icons, dialect),
            annotations: annotations_shape(&template.annotations, &template.extra, dialect),
            meta: TemplateMeta::new(template, dialect),
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

pub(crate) const META_VARIABLES: &str = "dev.refdesk/variables";

#[derive(Serialize)]
struct TemplateMeta<'a> {
    #[serde(rename = "dev.refdesk/variables", skip_serializing_if = "Vec::is_empty")]
    variables: Vec<VariableShape<'a>>,
    #[serde(flatten)]
    extra: UnknownMembersShape<'a>,
}

impl<'a> TemplateMeta<'a> {
    fn new(template: &'a Template, dialect: Dialect) -> Self {
        let variables = template.variables.iter().filter(|_| dialect.revision.knows_meta());
        let variables: Vec<_> =
            variables.map(|variable| VariableShape::new(variable, &template.uri)).collect();
        let is_ours = |name: &str| name == META_VARIABLES && !variables.is_empty();
        let extra =
            UnknownMembersShape::for_peer(&template.extra, MemberPlace::Meta, dialect, is_ours);
        Self { variables, extra }
    }

    fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.extra.is_empty()
    }
}

/// A variable of a template, with member names as in JSON Schema.
#[derive(Serialize)]
pub(crate) struct VariableShape<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<&'a str>,
    #[serde(rename = "enum", skip_serializing_if = "<[_]>::is_empty")]
    allowed: &'a [String],
    /// Whether the variable takes a list of such values.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    list: bool,
}

impl<'a> VariableShape<'a> {
    pub(crate) fn new(variable: &'a Variable, template: &UriTemplate) -> Self {
        Self {
            name: &variable.name,
            description: variable.description.as_deref(),
            kind: variable.kind.name(),
            default: variable.default.as_deref(),
            allowed: &variable.allowed,
            list: template.is_list(&variable.name),
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
