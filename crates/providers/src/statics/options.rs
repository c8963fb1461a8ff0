//! Options of the static provider: declared resources, formats and templates.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use resource::{Resource, Template};

/// The declarations of one mount.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The resources, in listing order.
    pub resources: Vec<ResourceDeclaration>,
    /// The templates, in listing order. The first template that matches a URI serves it.
    pub templates: Vec<TemplateDeclaration>,
    /// How long clients may cache a response.
    pub ttl: Duration,
}

/// One declared resource.
#[derive(Debug, Clone)]
pub struct ResourceDeclaration {
    /// Its description. The provider fills in MIME type, size and etag from the content.
    pub resource: Resource,
    /// Its formats, the primary first. The provider skips an entry without formats.
    pub formats: Vec<FormatDeclaration>,
}

/// The content in one format.
#[derive(Debug, Clone)]
pub struct FormatDeclaration {
    /// The MIME type.
    pub mime: Option<String>,
    /// The content.
    pub origin: ContentOrigin,
}

/// Where the content comes from.
#[derive(Debug, Clone)]
pub enum ContentOrigin {
    /// Text in the settings, always served as text.
    Text(String),
    /// Bytes in the settings, always served as a blob.
    Bytes(Vec<u8>),
    /// A file, opened at every read. Served as text if it is UTF-8 and its MIME type allows text.
    File(PathBuf),
}

/// A template whose resources are all generated from one text.
#[derive(Debug, Clone)]
pub struct TemplateDeclaration {
    /// Its description, which the generated resources inherit.
    pub template: Template,
    /// The content. `{name}` is a placeholder for the value of that variable.
    pub text: String,
    /// Completion values by variable. Reads accept other values too.
    pub values: BTreeMap<String, Vec<String>>,
}
