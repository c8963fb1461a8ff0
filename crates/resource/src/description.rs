//! Resource and template metadata, as listings show it; no content.

use std::sync::Arc;
use std::time::SystemTime;

use crate::section::Outline;
use crate::template::UriTemplate;
use crate::unknown_members::UnknownMembers;
use crate::uri::Uri;
use crate::variable::Variable;

/// A resource as a listing shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// The URI: local inside a provider, public above the catalog.
    pub uri: Uri,
    /// A short name for programs.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// A description for people and models.
    pub description: Option<String>,
    /// The MIME type of the primary format.
    pub mime: Option<String>,
    /// Size in raw bytes, before any encoding.
    pub size: Option<u64>,
    /// Icons.
    pub icons: Vec<Icon>,
    /// Hints on how to use it.
    pub annotations: Annotations,
    /// Whether it is a collection that can be listed.
    pub listable: Option<bool>,
    /// Whether clients can subscribe to its changes.
    pub watchable: Option<bool>,
    /// Entity tag: changes whenever the content does.
    pub etag: Option<String>,
    /// The charset it is stored in, if not UTF-8. Reads always return UTF-8.
    pub charset: Option<&'static str>,
    /// All formats, primary first; empty if there is only one.
    pub formats: Vec<Format>,
    /// The pages, sheets, slides or chapters of a document that has such.
    pub outline: Option<Arc<Outline>>,
    /// What a reader should know of the content: what of it is missing, and why.
    pub notes: Vec<String>,
    /// The language of the content, a BCP 47 tag.
    pub language: Option<String>,
    /// Whether the content behind this URI never changes, as that of a version does.
    pub immutable: bool,
    /// Whether another server has it, so that every look at its content is a request there.
    pub is_remote: bool,
    /// Whether it shows other resources once more, as a history shows files: a walk through all
    /// mounts leaves it out.
    pub is_view: bool,
    /// Whether its members are packed in it, as those of an archive or the sections of a page: a
    /// walk enters it only where it is named.
    pub is_archive: bool,
    /// The path of the file that symbolic links lead to, if the URI leads through links: its name
    /// says what the file is. Never sent to a client.
    pub link_target: Option<Arc<str>>,
    /// Whether a secret was masked in the content that a reading gives. Never sent to a client.
    pub is_masked: bool,
    /// Members that the source sent and we do not know, passed on verbatim.
    pub extra: UnknownMembers,
}

impl Resource {
    /// Creates a resource that has only a URI and a name, is no collection and is not watchable.
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
            listable: Some(false),
            watchable: Some(false),
            etag: None,
            charset: None,
            formats: Vec::new(),
            outline: None,
            notes: Vec::new(),
            language: None,
            immutable: false,
            is_remote: false,
            is_view: false,
            is_archive: false,
            link_target: None,
            is_masked: false,
            extra: UnknownMembers::default(),
        }
    }
}

impl Resource {
    /// The MIME types of all formats, the primary one first.
    pub fn mime_types(&self) -> impl Iterator<Item = &str> {
        let primary = self.mime.as_deref().filter(|_| self.formats.is_empty());
        self.formats.iter().map(|format| format.mime.as_str()).chain(primary)
    }

    /// Whether it is a collection whose own content is text, as a page with sections is.
    pub fn is_page(&self) -> bool {
        let is_text = self.mime.as_deref().is_some_and(|mime| {
            let is_data = mime.ends_with("json") || mime.ends_with("yaml");
            mime.starts_with("text/") || is_data
        });
        self.listable == Some(true) && self.is_archive && is_text
    }

    /// The format to read as text, where the original is for a program of its own.
    pub fn text_form(&self) -> Option<&'static str> {
        const MARKDOWN: &str = "text/markdown";
        let mime = self.mime.as_deref()?;
        let is_readable = mime.starts_with("text/") && mime != "text/rtf";
        let has_text = self.formats.iter().skip(1).any(|format| format.mime == MARKDOWN);
        (!is_readable && has_text).then_some(MARKDOWN)
    }
}

/// Hints to a host: audience, priority, age.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Annotations {
    /// The intended audience; empty if the source does not state one.
    pub audience: Vec<Role>,
    /// From 0, entirely optional, to 1, effectively required.
    pub priority: Option<f64>,
    /// When the content last changed.
    pub modified: Option<SystemTime>,
}

/// The intended audience of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person at the host.
    User,
    /// The model.
    Assistant,
}

/// An icon of a resource or template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Icon {
    /// An `https:` or `data:` URI.
    pub src: String,
    /// The MIME type of the image.
    pub mime: Option<String>,
    /// Sizes such as `48x48`, or `any`.
    pub sizes: Vec<String>,
    /// `light` or `dark`.
    pub theme: Option<String>,
}

/// One of several formats of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// The MIME type.
    pub mime: String,
    /// Size in raw bytes in this format.
    pub size: Option<u64>,
    /// Entity tag of the content in this format.
    pub etag: Option<String>,
    /// Whether refdesk makes it of the original when it is asked for.
    pub is_made: bool,
}

/// A family of resources described by one URI template.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// The URI template.
    pub uri: UriTemplate,
    /// A short name for programs.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// A description of its resources.
    pub description: Option<String>,
    /// The MIME type of its resources, if they share one.
    pub mime: Option<String>,
    /// Icons.
    pub icons: Vec<Icon>,
    /// Hints on how to use its resources.
    pub annotations: Annotations,
    /// What the source says of its variables; those that it does not describe are left out.
    pub variables: Vec<Variable>,
    /// Members that the source sent and we do not know, passed on verbatim.
    pub extra: UnknownMembers,
}

impl Template {
    /// Creates a template that has only a URI template and a name.
    pub fn new(uri: UriTemplate, name: impl Into<String>) -> Self {
        Self {
            uri,
            name: name.into(),
            title: None,
            description: None,
            mime: None,
            icons: Vec::new(),
            annotations: Annotations::default(),
            variables: Vec::new(),
            extra: UnknownMembers::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Resource;
    use crate::uri::Uri;

    #[test]
    fn a_page_is_a_text_with_members() {
        let page = |mime: &str, listable: bool, is_archive: bool| {
            let mut page = Resource::new(Uri::parse("a:b").unwrap(), "b");
            page.mime = Some(mime.to_owned());
            (page.listable, page.is_archive) = (Some(listable), is_archive);
            page.is_page()
        };
        assert!(page("text/markdown", true, true) && page("application/json", true, true));
        assert!(!page("application/zip", true, true) && !page("text/markdown", false, false));
        assert!(!page("inode/directory", true, false));
    }
}
