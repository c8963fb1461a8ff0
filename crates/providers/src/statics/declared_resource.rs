//! One declared resource with all its formats: description, etag and content.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use resource::{Body, Format, Part, ReadRequest, Resource, Result, Slice, Window};

use super::file::{ContentFacts, DeclaredFile, OpenDeclaredFile, run_blocking};
use super::options::{ContentOrigin, FormatDeclaration, ResourceDeclaration};
use crate::memory_content::{body_from_bytes, content_fingerprint};

/// A declared resource. Its description is built once if all content is inline, otherwise at
/// every request, from the files.
#[derive(Debug)]
pub(super) struct DeclaredResource {
    base: Arc<Resource>,
    formats: Vec<DeclaredFormat>,
    /// The prebuilt description of each format; empty if any format is a file.
    descriptions: Vec<Arc<Resource>>,
}

/// One format and its content.
#[derive(Debug)]
struct DeclaredFormat {
    mime: Option<String>,
    content: StoredContent,
}

#[derive(Debug)]
enum StoredContent {
    Inline { bytes: Bytes, is_text: bool, facts: ContentFacts },
    File(DeclaredFile),
}

/// Content that is open for reading.
enum FormatContent<'a> {
    Inline(&'a Bytes, bool),
    File(OpenDeclaredFile),
}

impl DeclaredResource {
    /// Builds the item, and its listing entry as far as it is known without disk access.
    pub(super) fn new(entry: ResourceDeclaration) -> (Self, Arc<Resource>) {
        let several = entry.formats.len() > 1;
        let forms: Vec<DeclaredFormat> =
            entry.formats.into_iter().map(|form| DeclaredFormat::new(form, several)).collect();
        let mut declared = entry.resource;
        declared.listable = Some(false);
        let on_disk = forms.iter().any(DeclaredFormat::is_on_disk);
        declared.watchable = Some(true);
        if let Some(mime) = forms.first().and_then(|form| form.mime.clone()) {
            declared.mime = Some(mime);
        }
        let mut item = Self { base: Arc::new(declared), formats: forms, descriptions: Vec::new() };
        if on_disk {
            let listed = Arc::clone(&item.base);
            return (item, listed);
        }
        let facts = item.facts();
        let listed = Arc::new(item.build_description(&facts));
        item.descriptions = item.describe_each_format(&listed, &facts);
        item.base = Arc::clone(&listed);
        (item, listed)
    }

    /// True if any format is a file, so the description depends on the disk.
    pub(super) fn is_on_disk(&self) -> bool {
        self.descriptions.is_empty()
    }

    /// The paths of the formats that are files.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.formats.iter().filter_map(|form| match &form.content {
            StoredContent::File(file) => Some(file.path()),
            StoredContent::Inline { .. } => None,
        })
    }

    /// The current description.
    pub(super) async fn describe(self: &Arc<Self>) -> Result<Arc<Resource>> {
        let item = Arc::clone(self);
        match self.descriptions.first() {
            Some(ready) => Ok(Arc::clone(ready)),
            None => run_blocking(move || Ok(item.describe_from_disk())).await,
        }
    }

    /// The description, from the current state of the files. Blocks.
    pub(super) fn describe_from_disk(&self) -> Arc<Resource> {
        Arc::new(self.build_description(&self.facts()))
    }

    /// Reads the wanted formats, or a window of the first wanted one. Also returns how many are
    /// wanted.
    pub(super) async fn read_parts(
        self: &Arc<Self>,
        request: &ReadRequest,
    ) -> Result<(Vec<Part>, usize)> {
        let (wanted, total) = self.wanted_formats(request)?;
        let window = request.window.clone();
        let parts = if self.is_on_disk() {
            let item = Arc::clone(self);
            run_blocking(move || item.open_parts(&wanted, &window)).await?
        } else {
            let open =
                |at: &usize| Ok((Arc::clone(&self.descriptions[*at]), self.formats[*at].open()?));
            build_parts(wanted.iter().map(open).collect::<Result<_>>()?, &window)?
        };
        Ok((parts, total))
    }

    fn open_parts(&self, wanted: &[usize], window: &Window) -> Result<Vec<Part>> {
        let mut facts = self.facts();
        let mut contents = Vec::with_capacity(wanted.len());
        for at in wanted {
            let content = self.formats[*at].open()?;
            if let FormatContent::File(opened) = &content {
                facts[*at] = Some(opened.facts.clone());
            }
            contents.push(content);
        }
        let resources =
            self.describe_each_format(&Arc::new(self.build_description(&facts)), &facts);
        let resources = wanted.iter().map(|at| Arc::clone(&resources[*at]));
        build_parts(resources.zip(contents).collect(), window)
    }

    /// The positions of the formats to read, and how many formats are wanted.
    fn wanted_formats(&self, request: &ReadRequest) -> Result<(Vec<usize>, usize)> {
        let mut wanted: Vec<_> = self.formats.iter().enumerate().collect();
        let total = request.select(&mut wanted, |(_, format)| format.mime.as_deref())?;
        if matches!(request.window, Window::Part { .. }) {
            wanted.truncate(1);
        }
        Ok((wanted.into_iter().map(|(at, _)| at).collect(), total))
    }

    fn facts(&self) -> Vec<Option<ContentFacts>> {
        self.formats.iter().map(DeclaredFormat::facts).collect()
    }

    fn build_description(&self, facts: &[Option<ContentFacts>]) -> Resource {
        let mut resource = self.base.as_ref().clone();
        let primary = facts.first().and_then(Option::as_ref);
        resource.size = primary.map(|facts| facts.size);
        resource.etag = combined_etag(facts);
        let modified = facts.iter().flatten().filter_map(|facts| facts.modified).max();
        resource.annotations.modified = resource.annotations.modified.or(modified);
        if self.formats.len() > 1 {
            let formats = self.formats.iter().zip(facts).map(|(form, facts)| Format {
                mime: form.mime.clone().unwrap_or_default(),
                size: facts.as_ref().map(|facts| facts.size),
                etag: facts.as_ref().map(|facts| facts.fingerprint.clone()),
                is_made: false,
            });
            resource.formats = formats.collect();
        }
        resource
    }

    fn describe_each_format(
        &self,
        listed: &Arc<Resource>,
        facts: &[Option<ContentFacts>],
    ) -> Vec<Arc<Resource>> {
        let others = self.formats.iter().zip(facts).skip(1).map(|(form, facts)| {
            let mut resource = listed.as_ref().clone();
            resource.mime.clone_from(&form.mime);
            resource.size = facts.as_ref().map(|facts| facts.size);
            Arc::new(resource)
        });
        std::iter::once(Arc::clone(listed)).chain(others).collect()
    }
}

impl DeclaredFormat {
    fn new(form: FormatDeclaration, one_of_several: bool) -> Self {
        let default = match form.origin {
            ContentOrigin::Text(_) => "text/plain",
            ContentOrigin::Bytes(_) | ContentOrigin::File(_) => "application/octet-stream",
        };
        let mime = form.mime.or_else(|| one_of_several.then(|| default.to_owned()));
        let inline = |bytes: Bytes, is_text: bool| {
            let facts = ContentFacts {
                size: bytes.len() as u64,
                fingerprint: content_fingerprint(&bytes),
                modified: None,
            };
            StoredContent::Inline { bytes, is_text, facts }
        };
        let content = match form.origin {
            ContentOrigin::Text(text) => inline(text.into(), true),
            ContentOrigin::Bytes(bytes) => inline(bytes.into(), false),
            ContentOrigin::File(path) => StoredContent::File(DeclaredFile::new(
                path,
                !mime.as_deref().is_some_and(is_binary),
            )),
        };
        Self { mime, content }
    }

    fn is_on_disk(&self) -> bool {
        matches!(self.content, StoredContent::File(_))
    }

    /// Size, fingerprint and date of the content; `None` if its file cannot be read.
    fn facts(&self) -> Option<ContentFacts> {
        match &self.content {
            StoredContent::Inline { facts, .. } => Some(facts.clone()),
            StoredContent::File(file) => file.current_facts().ok(),
        }
    }

    fn open(&self) -> Result<FormatContent<'_>> {
        match &self.content {
            StoredContent::Inline { bytes, is_text, .. } => {
                Ok(FormatContent::Inline(bytes, *is_text))
            }
            StoredContent::File(file) => Ok(FormatContent::File(file.open()?)),
        }
    }
}

impl FormatContent<'_> {
    fn size(&self) -> u64 {
        match self {
            Self::Inline(bytes, _) => bytes.len() as u64,
            Self::File(opened) => opened.facts.size,
        }
    }

    fn into_body(self, window: &Window) -> Result<(Body, Option<Slice>)> {
        match self {
            Self::Inline(bytes, is_text) => Ok(body_from_bytes(bytes, is_text, window)),
            Self::File(opened) => opened.into_windowed_body(window),
        }
    }
}

fn build_parts(
    formats: Vec<(Arc<Resource>, FormatContent<'_>)>,
    window: &Window,
) -> Result<Vec<Part>> {
    let total = formats.iter().map(|(_, content)| content.size()).sum();
    let etag = formats.first().and_then(|(resource, _)| resource.etag.as_deref());
    window.check(etag, total)?;
    let parts = formats.into_iter().map(|(resource, content)| {
        let (body, slice) = content.into_body(window)?;
        Ok(Part { resource, body, slice })
    });
    parts.collect()
}

/// One etag over all formats; `None` if none of them is available.
fn combined_etag(facts: &[Option<ContentFacts>]) -> Option<String> {
    let marks: Vec<&str> =
        facts.iter().map(|facts| facts.as_ref().map_or("", |facts| &facts.fingerprint)).collect();
    match marks[..] {
        [] => None,
        [only] => Some(only.to_owned()).filter(|mark| !mark.is_empty()),
        _ if facts.iter().all(Option::is_none) => None,
        _ => Some(content_fingerprint(marks.join(" ").as_bytes())),
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
