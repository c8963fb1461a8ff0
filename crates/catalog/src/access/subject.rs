//! Subjects of access rules: what a rule judges, in the spellings that a server may take it for.

use resource::{Uri, uri};

/// What is judged: a resource by both its names, or a tool or prompt.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    /// The path inside the mount, or the name.
    pub(super) path: String,
    /// The public URI of a resource, percent-decoded.
    pub(super) public: Option<String>,
    /// The same without query, fragment and empty segments, if it has any.
    pub(super) plain: Option<Box<Self>>,
    /// Whether a segment in front of the query is empty.
    has_empty_segment: bool,
    /// Whether a server decides what the path names.
    is_of_server: bool,
}

/// `path` and the folders it lies in, the outermost first.
pub(super) fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    let slashes = path.match_indices('/').map(|(slash, _)| &path[..slash]);
    slashes.filter(|folder| !folder.is_empty()).chain([path])
}

fn decode(text: &str) -> String {
    uri::percent_decode_lossy(text).into_owned()
}

/// Joins the segments of a decoded path that are not empty. A backslash divides them, too.
fn without_empty_segments(path: &str) -> String {
    let segments = path.split(['/', '\\']).filter(|segment| !segment.is_empty());
    segments.collect::<Vec<_>>().join("/")
}

/// Whether a segment of a decoded path is empty. The one in `https://` is not meant: it says nothing
/// of folders.
fn has_empty_segment(path: &str) -> bool {
    let mut before = "";
    path.split(['/', '\\']).any(|segment| {
        let is_empty = segment.is_empty() && !before.ends_with(':');
        before = segment;
        is_empty
    })
}

/// The plain spelling of a public URI. The slashes of its authority stay.
fn plain_public(public: &str) -> String {
    let decoded = decode(uri::without_query(public));
    match decoded.split_once("://") {
        Some((scheme, rest)) => {
            let root = if rest.starts_with('/') { "/" } else { "" };
            format!("{scheme}://{root}{}", without_empty_segments(rest))
        }
        None => decoded,
    }
}

impl Subject {
    fn new(path: String, public: Option<String>) -> Self {
        Self { path, public, plain: None, has_empty_segment: false, is_of_server: false }
    }

    /// A resource with the local and the public form of its URI.
    pub(crate) fn resource(local: &Uri, public: Option<&str>) -> Self {
        let behind = local.after_scheme();
        let decoded = public.map(|public| decode(public.trim_end_matches('/')));
        let subject = Self::new(decode(behind.trim_matches('/')), decoded);
        let rest = behind.strip_prefix("//").unwrap_or(behind);
        if !rest.contains("//") && !rest.contains(['?', '#', '%']) {
            return subject;
        }
        let path = decode(uri::without_query(behind).trim_matches('/'));
        let plain = Self::new(without_empty_segments(&path), public.map(plain_public));
        if plain.path == subject.path && plain.public == subject.public {
            return subject;
        }
        let has_empty_segment = has_empty_segment(&path);
        Self { plain: Some(Box::new(plain)), has_empty_segment, ..subject }
    }

    /// What lies at the decoded `path` of a mount with this public root.
    pub(crate) fn at_path(path: &str, root: Option<&str>) -> Self {
        let path = path.trim_matches('/');
        Self::new(path.to_owned(), root.map(|root| decode(root) + path))
    }

    /// The beginning of URIs, in its local and public form.
    pub(crate) fn start(local: &str, public: Option<&str>) -> Self {
        let behind = local.split_once(':').map_or("", |(_, behind)| behind);
        Self::new(decode(behind.trim_start_matches('/')), public.map(decode))
    }

    /// A tool or prompt by its local name.
    pub(crate) fn component(name: &str) -> Self {
        Self::new(name.to_owned(), None)
    }

    /// Says whether a server decides what the path names.
    #[must_use]
    pub(crate) fn resolved_by_server(self, is_of_server: bool) -> Self {
        Self { is_of_server, ..self }
    }

    /// The folder in which a beginning of URIs ends.
    pub(super) fn folder(&self) -> Self {
        let cut = |text: &str| text.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        Self::new(cut(&self.path), self.public.as_deref().map(cut))
    }

    /// Whether a server could resolve the path to another one than the rules see.
    pub(super) fn is_ambiguous(&self) -> bool {
        let has_dots =
            |path: &str| path.split(['/', '\\']).any(|segment| matches!(segment, "." | ".."));
        has_dots(&self.path)
            || self.plain.as_ref().is_some_and(|plain| has_dots(&plain.path))
            || self.is_of_server && self.has_empty_segment
    }
}
