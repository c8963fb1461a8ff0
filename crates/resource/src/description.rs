//! How is a resource described, content aside?

use std::time::SystemTime;

use crate::extra::Extra;
use crate::template::UriTemplate;
use crate::uri::Uri;

/// A resource as a listing shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// Its one name in this house.
    pub uri: Uri,
    /// A short name for programs.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is, for people and models.
    pub description: Option<String>,
    /// The primary format.
    pub mime: Option<String>,
    /// Raw bytes, before any encoding.
    pub size: Option<u64>,
    /// Pictures that stand for it.
    pub icons: Vec<Icon>,
    /// Hints on how to use it.
    pub annotations: Annotations,
    /// Whether other resources lie in it.
    pub listable: Truth,
    /// Whether its changes can be heard of.
    pub watchable: Truth,
    /// A mark that differs whenever the content does.
    pub etag: Option<String>,
    /// The charset it is stored in, where that is not the UTF-8 it is given in.
    pub charset: Option<&'static str>,
    /// All its formats, primary first, where there is more than one.
    pub formats: Vec<Format>,
    /// What its source said of it besides, to be passed on as it was written.
    pub extra: Extra,
}

impl Resource {
    /// A resource of which nothing but its name is known, and which is no collection.
    pub fn new(uri: Uri, name: impl Into<String>) -> Self {
        Self {
            uri,
            name: name.into(),
            title: None,
            description: None,
            mime: None,
            size: None,
            icons: Vec::new(),
            annotations: Annotations::default(),
            listable: Truth::No,
            watchable: Truth::No,
            etag: None,
            charset: None,
            formats: Vec::new(),
            extra: Extra::default(),
        }
    }
}

/// What is known of a yes-or-no question. Not knowing is never told as no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Truth {
    /// It is so.
    Yes,
    /// It is not so.
    No,
    /// Nobody said.
    #[default]
    Unknown,
}

impl Truth {
    /// Yes or no, where it is known.
    pub fn known(self) -> Option<bool> {
        match self {
            Self::Yes => Some(true),
            Self::No => Some(false),
            Self::Unknown => None,
        }
    }
}

/// Hints to a host: for whom, how important, how old.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Annotations {
    /// For whom it is meant; empty where nobody said.
    pub audience: Vec<Role>,
    /// From 0, entirely optional, to 1, effectively required.
    pub priority: Option<f64>,
    /// When the content last changed.
    pub modified: Option<SystemTime>,
}

/// For whom a resource is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person at the host.
    User,
    /// The model.
    Assistant,
}

/// A picture that stands for a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Icon {
    /// An `https:` or `data:` URI.
    pub src: String,
    /// The picture's format.
    pub mime: Option<String>,
    /// Sizes such as `48x48`, or `any`.
    pub sizes: Vec<String>,
    /// `light` or `dark`.
    pub theme: Option<String>,
}

/// One of the formats that a resource can be had in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// The format.
    pub mime: String,
    /// Raw bytes in this format.
    pub size: Option<u64>,
}

/// A family of resources that share a pattern of URIs.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// The pattern.
    pub uri: UriTemplate,
    /// A short name for programs.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What its resources are.
    pub description: Option<String>,
    /// The format of all of them, where they share one.
    pub mime: Option<String>,
    /// Pictures that stand for it.
    pub icons: Vec<Icon>,
    /// Hints on how to use its resources.
    pub annotations: Annotations,
    /// What its source said of it besides, to be passed on as it was written.
    pub extra: Extra,
}
