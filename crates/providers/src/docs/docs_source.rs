//! The files behind the pages: their first bytes, and what these say, cached by version.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt as _;
use machinery::{Cache, CacheBounds};
use resource::{
    Body, ByteSource, Content, Context, Error, ErrorKind, PageRequest, Provider, ReadRequest,
    Resource, Result, Uri, Window,
};

use super::front_matter::{FrontMatterExtent, MAX_FRONT_MATTER, find_front_matter};
use super::head::PageHead;
use super::language::LanguageTag;
use super::manual;
use super::options::Options;
use super::page_faults::PageFaults;
use super::page_path::{PageKind, PagePath, file_uri};
use super::section_scan;

/// How much of a page its description is made of.
const HEAD_BYTES: u64 = 4 << 10;
/// The most pages whose heads are kept, and their weight.
const MAX_HEADS: CacheBounds =
    CacheBounds { entries: 100_000, weight: 32 << 20, heaviest: 1 << 20 };
/// The members of a folder that are looked at for languages.
const MAX_LANGUAGE_NAMES: usize = 1_000;

/// The files of a mount and what is known of them.
pub(super) struct DocsSource {
    pub(super) options: Options,
    pub(super) faults: PageFaults,
    heads: Cache<Uri, (Option<String>, Arc<PageFacts>)>,
    folders: Cache<String, (Option<String>, Arc<FolderLanguages>)>,
}

/// What the first bytes of a page say.
#[derive(Debug, Default)]
pub(super) struct PageFacts {
    pub(super) head: PageHead,
    /// Whether it has sections, or may have some further on.
    pub(super) has_sections: bool,
    /// Whether its text can be made, if it is a page whose text is made.
    pub(super) is_readable: bool,
    pub(super) faults: Vec<String>,
}

/// The languages that the names in a folder say.
#[derive(Debug, Default)]
pub(super) struct FolderLanguages {
    /// The folders that are languages, as they are spelled.
    pub(super) folders: Vec<String>,
    /// The languages before the endings of files, as they are spelled.
    pub(super) suffixes: Vec<String>,
}

/// The languages of folders, looked up once for a request.
pub(super) type FolderScope = HashMap<String, Arc<FolderLanguages>>;

impl DocsSource {
    pub(super) fn new(options: Options) -> Self {
        let heads = Cache::new(MAX_HEADS);
        let folders = Cache::new(CacheBounds::entries(4_096));
        Self { options, faults: PageFaults::default(), heads, folders }
    }

    /// The files.
    pub(super) fn files(&self) -> &Arc<dyn Provider> {
        &self.options.files
    }

    /// Takes the path of a file apart.
    pub(super) fn path_of(&self, file: &Uri) -> Option<PagePath> {
        PagePath::of_uri(file, &self.options.languages)
    }

    /// Whether the principal may know of a file.
    pub(super) fn may_see(&self, ctx: &Context, file: &Uri) -> bool {
        self.options.visibility.as_ref().is_none_or(|rule| rule(ctx.principal(), file))
    }

    /// The public URI of a local one.
    pub(super) fn public(&self, local: &Uri) -> String {
        self.options.rewrite.to_public(local.as_str()).unwrap_or_else(|| local.to_string())
    }

    /// What the first bytes of a page of `kind` say.
    pub(super) async fn facts(
        &self,
        ctx: &Context,
        file: &Resource,
        kind: PageKind,
    ) -> Arc<PageFacts> {
        if let Some((etag, facts)) = self.heads.get(&file.uri)
            && etag == file.etag
            && etag.is_some()
        {
            return facts;
        }
        let facts = match self.read_facts(ctx, file, kind).await {
            Ok(facts) => Arc::new(facts),
            // Gone meanwhile, or not for reading: what a read says is said there.
            Err(_) => return Arc::default(),
        };
        let weight = 256
            + facts.head.title().map_or(0, |text| text.len()) * 2
            + facts.head.description().map_or(0, |text| text.len()) * 2;
        self.heads.insert(file.uri.clone(), (file.etag.clone(), Arc::clone(&facts)), weight);
        facts
    }

    async fn read_facts(
        &self,
        ctx: &Context,
        file: &Resource,
        kind: PageKind,
    ) -> Result<PageFacts> {
        let (bytes, is_text) = self.read_start(ctx, &file.uri, HEAD_BYTES).await?;
        let mut is_whole =
            file.size.is_some_and(|size| size <= HEAD_BYTES) && file.charset.is_none();
        is_whole |= (bytes.len() as u64) < HEAD_BYTES.saturating_sub(4);
        let is_packed = kind == PageKind::Manual && manual::is_compressed(&bytes);
        if !is_text && !is_packed {
            return Ok(PageFacts::default());
        }
        let mut text = match kind {
            PageKind::Manual => manual::unpack_start(&bytes),
            _ => String::from_utf8_lossy(&bytes).into_owned(),
        };
        if !is_whole
            && kind.has_front_matter()
            && find_front_matter(&text) == FrontMatterExtent::Open
        {
            let (more, _) = self.read_start(ctx, &file.uri, MAX_FRONT_MATTER as u64).await?;
            is_whole = more.len() < MAX_FRONT_MATTER - 4;
            text = String::from_utf8_lossy(&more).into_owned();
        }
        let head = PageHead::read(kind, &text, is_whole);
        let has_sections = match kind {
            PageKind::Manual => true,
            PageKind::Markdown | PageKind::ReStructuredText | PageKind::AsciiDoc => {
                !is_whole || section_scan::has_sections(kind, &text)
            }
            PageKind::OpenApi => ["openapi", "swagger"].iter().any(|word| text.contains(word)),
            PageKind::Html | PageKind::PlainText => false,
        };
        let faults = head.front.faults.clone();
        Ok(PageFacts { head, has_sections, is_readable: true, faults })
    }

    /// The first bytes of a file, and whether they are text.
    pub(super) async fn read_start(
        &self,
        ctx: &Context,
        uri: &Uri,
        length: u64,
    ) -> Result<(Vec<u8>, bool)> {
        let window = Window::Part { offset: 0, length, etag: None };
        let reading = self.files().read(ctx, uri, &ReadRequest::from(window)).await?;
        collect_first(reading.content, length as usize).await
    }

    /// The whole of a file, if it is at most `limit` bytes.
    pub(super) async fn read_whole(
        &self,
        ctx: &Context,
        uri: &Uri,
        limit: u64,
    ) -> Result<(Vec<u8>, bool)> {
        let reading = self.files().read(ctx, uri, &ReadRequest::whole(limit)).await?;
        collect_first(reading.content, limit as usize).await
    }

    /// The languages that the names in a folder say. Only its first names are looked at.
    pub(super) async fn folder_languages(
        &self,
        ctx: &Context,
        folder: &[String],
        scope: &mut FolderScope,
    ) -> Arc<FolderLanguages> {
        let path = folder.join("/");
        if let Some(found) = scope.get(&path) {
            return Arc::clone(found);
        }
        let found = self.find_folder_languages(ctx, folder, &path).await.unwrap_or_default();
        scope.insert(path, Arc::clone(&found));
        found
    }

    async fn find_folder_languages(
        &self,
        ctx: &Context,
        folder: &[String],
        path: &str,
    ) -> Option<Arc<FolderLanguages>> {
        let uri = file_uri(folder)?;
        let etag = self.files().stat(ctx, &uri).await.ok()?.etag.clone();
        if let Some((known, found)) = self.folders.get(path)
            && known == etag
            && etag.is_some()
        {
            return Some(found);
        }
        let page = self
            .files()
            .list(ctx, Some(&uri), &PageRequest::first(MAX_LANGUAGE_NAMES))
            .await
            .ok()?;
        let mut found = FolderLanguages::default();
        for item in &page.items {
            if item.listable == Some(true) {
                if LanguageTag::of_name(&item.name, &self.options.languages).is_some() {
                    found.folders.push(item.name.clone());
                }
            } else if PageKind::of_name(&item.name).is_some() {
                let path = PagePath::new(vec![item.name.clone()], &self.options.languages);
                let spelled = path.suffix.map(|_| suffix_of(&item.name));
                if let Some(spelled) = spelled.filter(|spelled| !found.suffixes.contains(spelled)) {
                    found.suffixes.push(spelled);
                }
            }
        }
        for language in &self.options.languages {
            if page.next.is_some() && !found.suffixes.iter().any(|known| known == language.as_str())
            {
                found.suffixes.push(language.as_str().to_owned());
            }
        }
        let found = Arc::new(found);
        self.folders.insert(path.to_owned(), (etag, Arc::clone(&found)), 1);
        Some(found)
    }
}

/// The language before the ending of a name, as it is spelled.
fn suffix_of(name: &str) -> String {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.rsplit_once('.').map_or("", |(_, tag)| tag).to_owned()
}

/// The first bytes of the first part of a content.
pub(super) async fn collect_first(content: Content, most: usize) -> Result<(Vec<u8>, bool)> {
    let Content::Parts(parts) = content else {
        return Err(Error::new(ErrorKind::Invalid, "not a file"));
    };
    let part = parts.into_iter().next().ok_or_else(|| Error::internal("a file without content"))?;
    let (source, is_text) = match part.body {
        Body::Text(source) => (source, true),
        Body::Blob(source) => (source, false),
    };
    let mut bytes = Vec::new();
    match source {
        ByteSource::Bytes(all) => bytes.extend_from_slice(&all[..all.len().min(most)]),
        ByteSource::Stream(mut chunks) => {
            while bytes.len() < most
                && let Some(chunk) = chunks.next().await
            {
                let chunk = chunk?;
                bytes.extend_from_slice(&chunk[..chunk.len().min(most - bytes.len())]);
            }
        }
    }
    Ok((bytes, is_text))
}
