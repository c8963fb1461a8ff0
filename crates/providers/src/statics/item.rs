//! One declared resource with all its formats: description, etag and content.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use resource::{Body, Format, Part, Resource, Result, Slice, Source, Truth, Window};

use super::file::{Facts, OnDisk, Opened, blocking, mark};
use super::options::{Entry, Form, Origin};
use super::window::{check, cut};

/// A declared resource. Its description is built once if all content is inline, otherwise at
/// every request, from the files.
#[derive(Debug)]
pub(super) struct Item {
    declared: Arc<Resource>,
    forms: Vec<Held>,
    /// The prebuilt description of each format; empty if any format is a file.
    ready: Vec<Arc<Resource>>,
}

/// One format and its content.
#[derive(Debug)]
struct Held {
    mime: Option<String>,
    store: Store,
}

#[derive(Debug)]
enum Store {
    Inline { bytes: Bytes, is_text: bool, facts: Facts },
    File(OnDisk),
}

/// Content that is open for reading.
enum Content<'a> {
    Inline(&'a Bytes, bool),
    File(Opened),
}

impl Item {
    /// Builds the item, and its listing entry as far as it is known without disk access.
    pub(super) fn new(entry: Entry) -> (Self, Arc<Resource>) {
        let several = entry.formats.len() > 1;
        let forms: Vec<Held> =
            entry.formats.into_iter().map(|form| Held::new(form, several)).collect();
        let mut declared = entry.resource;
        declared.listable = Truth::No;
        let on_disk = forms.iter().any(Held::is_on_disk);
        declared.watchable = if on_disk { Truth::Yes } else { Truth::No };
        if let Some(mime) = forms.first().and_then(|form| form.mime.clone()) {
            declared.mime = Some(mime);
        }
        let mut item = Self { declared: Arc::new(declared), forms, ready: Vec::new() };
        if on_disk {
            let listed = Arc::clone(&item.declared);
            return (item, listed);
        }
        let facts = item.facts();
        let listed = Arc::new(item.described(&facts));
        item.ready = item.for_each_form(&listed, &facts);
        item.declared = Arc::clone(&listed);
        (item, listed)
    }

    /// True if any format is a file, so the description depends on the disk.
    pub(super) fn is_on_disk(&self) -> bool {
        self.ready.is_empty()
    }

    /// The paths of the formats that are files.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.forms.iter().filter_map(|form| match &form.store {
            Store::File(file) => Some(file.path()),
            Store::Inline { .. } => None,
        })
    }

    /// The current description.
    pub(super) async fn describe(self: &Arc<Self>) -> Result<Arc<Resource>> {
        let item = Arc::clone(self);
        match self.ready.first() {
            Some(ready) => Ok(Arc::clone(ready)),
            None => blocking(move || Ok(item.describe_from_disk())).await,
        }
    }

    /// The description, from the current state of the files. Blocks.
    pub(super) fn describe_from_disk(&self) -> Arc<Resource> {
        Arc::new(self.described(&self.facts()))
    }

    /// Reads all formats, or a window of the primary one.
    pub(super) async fn read(self: &Arc<Self>, window: &Window) -> Result<Vec<Part>> {
        if self.is_on_disk() {
            let (item, window) = (Arc::clone(self), window.clone());
            return blocking(move || item.open(&window)).await;
        }
        let contents = self.asked(window).iter().map(Held::open).collect::<Result<Vec<_>>>()?;
        give(&self.ready, contents, window)
    }

    fn open(&self, window: &Window) -> Result<Vec<Part>> {
        let asked = self.asked(window);
        let contents = asked.iter().map(Held::open).collect::<Result<Vec<_>>>()?;
        let opened = asked.iter().zip(&contents).map(|(form, content)| match content {
            Content::File(opened) => Some(opened.facts.clone()),
            Content::Inline(..) => form.facts(),
        });
        let facts: Vec<_> =
            opened.chain(self.forms[asked.len()..].iter().map(Held::facts)).collect();
        let resources = self.for_each_form(&Arc::new(self.described(&facts)), &facts);
        give(&resources, contents, window)
    }

    fn asked(&self, window: &Window) -> &[Held] {
        match window {
            Window::Whole { .. } => &self.forms,
            Window::Part { .. } => &self.forms[..1],
        }
    }

    fn facts(&self) -> Vec<Option<Facts>> {
        self.forms.iter().map(Held::facts).collect()
    }

    fn described(&self, facts: &[Option<Facts>]) -> Resource {
        let mut resource = self.declared.as_ref().clone();
        let primary = facts.first().and_then(Option::as_ref);
        resource.size = primary.map(|facts| facts.size);
        resource.etag = etag(facts);
        let modified = facts.iter().flatten().filter_map(|facts| facts.modified).max();
        resource.annotations.modified = resource.annotations.modified.or(modified);
        if self.forms.len() > 1 {
            let formats = self.forms.iter().zip(facts).map(|(form, facts)| Format {
                mime: form.mime.clone().unwrap_or_default(),
                size: facts.as_ref().map(|facts| facts.size),
            });
            resource.formats = formats.collect();
        }
        resource
    }

    fn for_each_form(&self, listed: &Arc<Resource>, facts: &[Option<Facts>]) -> Vec<Arc<Resource>> {
        let others = self.forms.iter().zip(facts).skip(1).map(|(form, facts)| {
            let mut resource = listed.as_ref().clone();
            resource.mime.clone_from(&form.mime);
            resource.size = facts.as_ref().map(|facts| facts.size);
            Arc::new(resource)
        });
        std::iter::once(Arc::clone(listed)).chain(others).collect()
    }
}

impl Held {
    fn new(form: Form, one_of_several: bool) -> Self {
        let default = match form.origin {
            Origin::Text(_) => "text/plain",
            Origin::Bytes(_) | Origin::File(_) => "application/octet-stream",
        };
        let mime = form.mime.or_else(|| one_of_several.then(|| default.to_owned()));
        let inline = |bytes: Bytes, is_text: bool| {
            let facts = Facts { size: bytes.len() as u64, mark: mark(&bytes), modified: None };
            Store::Inline { bytes, is_text, facts }
        };
        let store = match form.origin {
            Origin::Text(text) => inline(text.into(), true),
            Origin::Bytes(bytes) => inline(bytes.into(), false),
            Origin::File(path) => {
                Store::File(OnDisk::new(path, !mime.as_deref().is_some_and(is_binary)))
            }
        };
        Self { mime, store }
    }

    fn is_on_disk(&self) -> bool {
        matches!(self.store, Store::File(_))
    }

    /// Size, fingerprint and date of the content; `None` if its file cannot be read.
    fn facts(&self) -> Option<Facts> {
        match &self.store {
            Store::Inline { facts, .. } => Some(facts.clone()),
            Store::File(file) => file.facts().ok(),
        }
    }

    fn open(&self) -> Result<Content<'_>> {
        match &self.store {
            Store::Inline { bytes, is_text, .. } => Ok(Content::Inline(bytes, *is_text)),
            Store::File(file) => Ok(Content::File(file.open()?)),
        }
    }
}

impl Content<'_> {
    fn size(&self) -> u64 {
        match self {
            Self::Inline(bytes, _) => bytes.len() as u64,
            Self::File(opened) => opened.facts.size,
        }
    }

    fn give(self, window: &Window) -> Result<(Body, Option<Slice>)> {
        match self {
            Self::Inline(bytes, is_text) => Ok(given(bytes, is_text, window)),
            Self::File(opened) => opened.give(window),
        }
    }
}

/// The body for content in memory, or for the requested window of it.
pub(super) fn given(bytes: &Bytes, is_text: bool, window: &Window) -> (Body, Option<Slice>) {
    let (bytes, slice) = cut(bytes, is_text, window);
    let source = Source::Bytes(bytes);
    (if is_text { Body::Text(source) } else { Body::Blob(source) }, slice)
}

fn give(
    resources: &[Arc<Resource>],
    contents: Vec<Content<'_>>,
    window: &Window,
) -> Result<Vec<Part>> {
    let total = contents.iter().map(Content::size).sum();
    check(window, resources.first().and_then(|primary| primary.etag.as_deref()), total)?;
    let parts = resources.iter().zip(contents).map(|(resource, content)| {
        let (body, slice) = content.give(window)?;
        Ok(Part { resource: Arc::clone(resource), body, slice })
    });
    parts.collect()
}

/// One etag over all formats; `None` if none of them is available.
fn etag(facts: &[Option<Facts>]) -> Option<String> {
    let marks: Vec<&str> =
        facts.iter().map(|facts| facts.as_ref().map_or("", |facts| &facts.mark)).collect();
    match marks[..] {
        [] => None,
        [only] => Some(only.to_owned()).filter(|mark| !mark.is_empty()),
        _ if facts.iter().all(Option::is_none) => None,
        _ => Some(mark(marks.join(" ").as_bytes())),
    }
}

/// True if content of this MIME type is always served as a blob, even if it is valid UTF-8.
fn is_binary(mime: &str) -> bool {
    const BINARY: [&str; 9] = [
        "application/gzip",
        "application/msword",
        "application/octet-stream",
        "application/pdf",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
        "application/wasm",
        "application/x-tar",
        "application/zip",
    ];
    let mime = mime.to_ascii_lowercase();
    let essence = mime.split(';').next().unwrap_or_default().trim();
    let kind = essence.split('/').next().unwrap_or_default();
    let is_picture_or_sound = ["image", "audio", "video", "font"].contains(&kind);
    BINARY.contains(&essence) || is_picture_or_sound && !essence.ends_with("+xml")
}
