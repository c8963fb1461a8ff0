//! Texts of pages: those of files as they are, those of manual pages as they are made, and their
//! sections.

use std::sync::Arc;

use bytes::Bytes;
use convert::{Document, DocumentKind, Form, Options};
use machinery::{Cache, CacheBounds};
use resource::{
    Content, Context, Error, ErrorKind, Part, Provider as _, ReadRequest, Reading, Resource,
    Result, Uri, Window,
};

use super::describe::KnownPage;
use super::docs_source::{DocsSource, collect_first};
use super::page_path::PageKind;
use super::section_scan::{PageSection, PageSections, SectionScan};
use crate::memory_content::body_from_bytes;

/// The largest file of a manual page, compressed or not.
const MAX_MANUAL_FILE: u64 = 8 << 20;
/// How much of a page is scanned for sections.
pub(super) const MAX_SCANNED_BYTES: u64 = 16 << 20;
/// How much of it is read at a time.
const SCAN_WINDOW: u64 = 256 << 10;
/// The weight of the texts and of the sections that are kept.
const MAX_KEPT_TEXTS: usize = 8 << 20;
const MAX_KEPT_SECTIONS: usize = 8 << 20;

/// A version of a file.
type PageFileVersion = (Uri, Option<String>);

/// Texts that were made, and sections that were found, by version.
pub(super) struct PageTexts {
    texts: Cache<PageFileVersion, Bytes>,
    sections: Cache<PageFileVersion, Arc<PageSections>>,
}

impl Default for PageTexts {
    fn default() -> Self {
        let texts = Cache::new(CacheBounds::weight(MAX_KEPT_TEXTS));
        Self { texts, sections: Cache::new(CacheBounds::weight(MAX_KEPT_SECTIONS)) }
    }
}

impl PageTexts {
    /// The text that is made of a manual page.
    pub(super) async fn made_text(
        &self,
        ctx: &Context,
        source: &DocsSource,
        (file, known): (&Resource, &KnownPage),
    ) -> Result<Bytes> {
        let version = (file.uri.clone(), file.etag.clone());
        if let Some(text) = self.texts.get(&version) {
            return Ok(text);
        }
        let (bytes, _) = source.read_whole(ctx, &file.uri, MAX_MANUAL_FILE).await?;
        let (name, options) = (known.path.name(), &Options::default());
        let page = Document { kind: DocumentKind::Man, bytes: &bytes, name, options };
        let made = convert::convert(&page, Form::Markdown).map_err(|error| {
            Error::invalid(format!("this manual page cannot be read: {error}")).about(&file.uri)
        })?;
        let text = Bytes::from(made.body);
        self.texts.insert(version, text.clone(), text.len());
        Ok(text)
    }

    /// The sections of a page.
    pub(super) async fn sections(
        &self,
        ctx: &Context,
        source: &DocsSource,
        page: (&Resource, &KnownPage),
    ) -> Result<Arc<PageSections>> {
        let version = (page.0.uri.clone(), page.0.etag.clone());
        if let Some(sections) = self.sections.get(&version) {
            return Ok(sections);
        }
        let sections = match page.1.kind {
            PageKind::Manual => {
                let text = self.made_text(ctx, source, page).await?;
                let mut scan = SectionScan::new(PageKind::Manual);
                scan.push(&text);
                scan.finish()
            }
            kind => scan_file(ctx, source, page.0, kind).await?,
        };
        let sections = Arc::new(sections);
        self.sections.insert(version, Arc::clone(&sections), sections.weight());
        Ok(sections)
    }

    /// Reads a page: the file as it is, described as `described`, or the text that is made of it.
    pub(super) async fn read_page(
        &self,
        (ctx, source): (&Context, &DocsSource),
        (file, known): (&Resource, Option<&KnownPage>),
        described: Resource,
        request: &ReadRequest,
    ) -> Result<Reading> {
        if let Some(known) = known.filter(|known| known.kind.is_made() && known.facts.is_readable) {
            let text = self.made_text(ctx, source, (file, known)).await?;
            return read_text(&text, described, request);
        }
        let mut reading = source.files().read(ctx, &file.uri, request).await?;
        if let Content::Parts(parts) = &mut reading.content {
            for part in parts {
                let own = &part.resource;
                part.resource = Arc::new(Resource {
                    mime: own.mime.clone(),
                    size: own.size,
                    charset: own.charset,
                    etag: own.etag.clone(),
                    link_target: own.link_target.clone().or_else(|| described.link_target.clone()),
                    notes: own.notes.iter().chain(&described.notes).cloned().collect(),
                    ..described.clone()
                });
            }
        }
        Ok(reading)
    }

    /// Reads a section of a page, described as `described`.
    pub(super) async fn read_section(
        &self,
        (ctx, source): (&Context, &DocsSource),
        (file, known): (&Resource, &KnownPage),
        (section, described): (&PageSection, Resource),
        request: &ReadRequest,
    ) -> Result<Reading> {
        if known.kind.is_made() {
            let text = self.made_text(ctx, source, (file, known)).await?;
            let text = text.slice(section.start as usize..section.end as usize);
            return read_text(&text, described, request);
        }
        let length = section.end - section.start;
        request.select(&mut vec![described.mime.clone()], |mime| mime.as_deref())?;
        request.window.check(described.etag.as_deref(), length)?;
        let (offset, wanted) = match &request.window {
            Window::Whole { .. } => (0, length),
            Window::Part { offset, length: wanted, .. } => ((*offset).min(length), *wanted),
        };
        let window = Window::Part {
            offset: section.start + offset,
            length: wanted.min(length - offset),
            etag: file.etag.clone(),
        };
        if offset == length {
            return read_text(&Bytes::new(), described, request)
                .map(|reading| at_end(reading, length));
        }
        let reading = source.files().read(ctx, &file.uri, &ReadRequest::from(window)).await?;
        let freshness = reading.freshness;
        let Content::Parts(parts) = reading.content else {
            return Err(Error::new(ErrorKind::Invalid, "not a page").about(&file.uri));
        };
        let parts = parts.into_iter().take(1).map(|part| {
            let slice = part.slice.map(|slice| {
                resource::Slice::new(slice.offset - section.start, slice.length, length)
            });
            let slice = slice.filter(|_| matches!(request.window, Window::Part { .. }));
            Part { resource: Arc::new(described.clone()), body: part.body, slice }
        });
        Ok(Reading::new(Content::Parts(parts.collect()), freshness))
    }
}

fn at_end(mut reading: Reading, length: u64) -> Reading {
    if let Content::Parts(parts) = &mut reading.content {
        for part in parts {
            part.slice = part.slice.take().map(|_| resource::Slice::new(length, 0, length));
        }
    }
    reading
}

/// Reads a text in memory.
pub(super) fn read_text(
    text: &Bytes,
    mut described: Resource,
    request: &ReadRequest,
) -> Result<Reading> {
    request.select(&mut vec![described.mime.clone()], |mime| mime.as_deref())?;
    request.window.check(described.etag.as_deref(), text.len() as u64)?;
    let (body, slice) = body_from_bytes(text, true, &request.window);
    described.size = Some(text.len() as u64);
    let part = Part { resource: Arc::new(described), body, slice };
    Ok(Reading::new(Content::Parts(vec![part]), resource::Freshness::default()))
}

/// Finds the sections of a file, which is read in windows.
async fn scan_file(
    ctx: &Context,
    source: &DocsSource,
    file: &Resource,
    kind: PageKind,
) -> Result<PageSections> {
    let mut scan = SectionScan::new(kind);
    let mut offset = 0;
    loop {
        let window = Window::Part { offset, length: SCAN_WINDOW, etag: file.etag.clone() };
        let reading = source.files().read(ctx, &file.uri, &ReadRequest::from(window)).await?;
        let next = next_window(&reading)?;
        let (bytes, is_text) = collect_first(reading.content, usize::MAX).await?;
        if !is_text {
            return Ok(PageSections::default());
        }
        scan.push(&bytes);
        match next {
            (None, _) => return Ok(scan.finish()),
            (Some(next), total) if next >= MAX_SCANNED_BYTES => {
                let mut sections = scan.finish_at(total);
                sections.is_cut = true;
                return Ok(sections);
            }
            (Some(next), _) => offset = next,
        }
    }
}

/// Where the next window begins, and how long the whole is.
fn next_window(reading: &Reading) -> Result<(Option<u64>, u64)> {
    let Content::Parts(parts) = &reading.content else {
        return Err(Error::new(ErrorKind::Invalid, "not a page"));
    };
    let slice = parts.first().and_then(|part| part.slice.as_ref());
    let slice = slice.ok_or_else(|| Error::internal("a window without a range"))?;
    Ok((slice.next_offset(), slice.total))
}
