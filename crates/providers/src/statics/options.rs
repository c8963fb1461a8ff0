//! What may a settings file declare?

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use resource::{Resource, Template};

/// Everything that one mount declares.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The resources, in the order in which they are listed.
    pub resources: Vec<Entry>,
    /// The templates, in the order in which they are listed and tried.
    pub templates: Vec<Pattern>,
    /// How long an answer may be kept.
    pub ttl: Duration,
}

/// One resource.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its description; format, size and etag are filled in from its content.
    pub resource: Resource,
    /// Its formats, at least one, the primary first.
    pub formats: Vec<Form>,
}

/// The content in one format.
#[derive(Debug, Clone)]
pub struct Form {
    /// The format.
    pub mime: Option<String>,
    /// The content.
    pub origin: Origin,
}

/// Where content comes from.
#[derive(Debug, Clone)]
pub enum Origin {
    /// Text in the settings; always given as text.
    Text(String),
    /// Bytes in the settings; always given as a blob.
    Bytes(Vec<u8>),
    /// A file, opened anew at every read; text if it is UTF-8 and its format may be text.
    File(PathBuf),
}

/// A family of resources made from one text.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// Its description, which its resources inherit.
    pub template: Template,
    /// The content, in which `{name}` stands for the value of that variable.
    pub text: String,
    /// Values to suggest, by variable. Others can be read too.
    pub values: BTreeMap<String, Vec<String>>,
}
