//! `llms.txt` and `llms-full.txt`: the pages of a mount for a model, made where there are none.
//!
//! Both are views: they show pages once more, in one language, and only those that the principal may
//! see. They are made when they are read, within bounds.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use machinery::{Cache, CacheBounds};
use resource::{Context, PageRequest, ReadRequest, Reading, Resource, Result, Uri, Window};

use super::Documentation;
use super::docs_source::FolderScope;
use super::language::LanguageTag;
use super::page_path::{PageKind, file_uri};
use super::page_text::read_text;
use crate::memory_content::content_fingerprint;

/// The names of the pages that are made.
pub(super) const MADE_PAGES: [&str; 2] = ["llms.txt", "llms-full.txt"];

/// The most pages in them, and the most folders and files that are looked at.
const MAX_PAGES: usize = 2_000;
const MAX_LISTED: usize = 10_000;
const MAX_FOLDERS: usize = 1_000;
/// The largest `llms-full.txt`, and the largest page in it.
const MAX_FULL_BYTES: usize = 4 << 20;
const MAX_PAGE_BYTES: u64 = 1 << 20;
/// Pages of a lower priority are optional.
const OPTIONAL_BELOW: f64 = 0.3;
/// The texts that are kept for the next window.
const MAX_KEPT_BYTES: usize = 16 << 20;

/// The texts that were made last, by principal and name, for reads in windows.
pub(super) struct LlmsTexts(Cache<(Arc<str>, &'static str), (String, Bytes)>);

impl Default for LlmsTexts {
    fn default() -> Self {
        Self(Cache::new(CacheBounds::weight(MAX_KEPT_BYTES)))
    }
}

impl Documentation {
    /// The description of the page at `uri`, if it is one that is made: the mount has no such file.
    pub(super) async fn made_page(&self, ctx: &Context, uri: &Uri) -> Option<Resource> {
        let name = made_name(uri)?;
        if self.source.files().stat(ctx, uri).await.is_ok() {
            return None;
        }
        let mut page = Resource::new(uri.clone(), name);
        let (title, description) = match name {
            "llms.txt" => {
                ("Overview for models", "The pages of this documentation, with a line on each")
            }
            _ => ("All pages in one", "The text of all pages of this documentation, up to 4 MiB"),
        };
        (page.title, page.description) = (Some(title.to_owned()), Some(description.to_owned()));
        page.mime = Some("text/markdown".to_owned());
        page.is_view = true;
        // The overview is a good start; the whole is for those who want it.
        page.annotations.priority = Some(if name == "llms.txt" { 0.8 } else { 0.2 });
        Some(page)
    }

    /// Reads a page that is made.
    pub(super) async fn read_made(
        &self,
        ctx: &Context,
        mut described: Resource,
        request: &ReadRequest,
    ) -> Result<Reading> {
        let name = made_name(&described.uri).unwrap_or(MADE_PAGES[0]);
        let key = (Arc::clone(ctx.principal().key()), name);
        let kept = match &request.window {
            Window::Part { etag: Some(etag), .. } => {
                self.llms.0.get(&key).filter(|(own, _)| own == etag)
            }
            _ => None,
        };
        let (etag, text) = match kept {
            Some(kept) => kept,
            None => {
                let pages = self.collect_pages(ctx).await;
                let text = match name {
                    "llms.txt" => self.overview(&pages),
                    _ => self.full_text(ctx, &pages).await,
                };
                let made = (content_fingerprint(text.as_bytes()), Bytes::from(text));
                self.llms.0.insert(key, made.clone(), made.1.len() + 64);
                made
            }
        };
        described.etag = Some(etag);
        read_text(&text, described, request)
    }

    /// The pages in their order, each in one language.
    async fn collect_pages(&self, ctx: &Context) -> Vec<Arc<Resource>> {
        let locale = ctx.principal().locale().and_then(|locale| LanguageTag::parse(locale).ok());
        let wanted = locale.or_else(|| self.source.options.languages.first().cloned());
        let mut pages: Vec<Arc<Resource>> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut scope = FolderScope::new();
        for file in self.collect_files(ctx).await {
            if pages.len() >= MAX_PAGES {
                break;
            }
            let Some(path) = self.source.path_of(&file.uri) else { continue };
            if PageKind::of_name(path.name()).is_none() || self.source.is_opaque(&path) {
                continue;
            }
            let described = Arc::new(self.source.describe(ctx, &file, &mut scope).await);
            let language =
                described.language.as_deref().and_then(|tag| LanguageTag::parse(tag).ok());
            let is_wanted = wanted
                .as_ref()
                .is_some_and(|wanted| language.is_some_and(|own| own.serves(wanted)));
            let key = if wanted.is_some() { path.page().join("/") } else { path.text() };
            match places.get(&key) {
                Some(at) if is_wanted => pages[*at] = described,
                Some(_) => {}
                None => {
                    places.insert(key, pages.len());
                    pages.push(described);
                }
            }
        }
        pages
    }

    /// The files that the principal may see: those in the order first, then folder by folder.
    async fn collect_files(&self, ctx: &Context) -> Vec<Arc<Resource>> {
        let navigation = self.navigation.find(ctx, &self.source).await;
        let mut files = Vec::new();
        for page in &navigation.pages {
            let Some(uri) = file_uri(&page.path) else { continue };
            if let Ok(file) = self.source.files().stat(ctx, &uri).await
                && file.listable != Some(true)
                && self.source.may_see(ctx, &uri)
            {
                files.push(file);
            }
        }
        let (mut folders, mut entered, mut listed) = (vec![self.root.clone()], 0, 0);
        while let Some(folder) = folders.pop() {
            entered += 1;
            let mut paging = PageRequest::first(1_000);
            let mut inner = Vec::new();
            loop {
                let Ok(page) = self.source.files().list(ctx, Some(&folder), &paging).await else {
                    break;
                };
                listed += page.items.len();
                for item in page.items {
                    let path = self.source.path_of(&item.uri).map(|path| path.text());
                    let is_known = path.is_some_and(|path| navigation.places.contains_key(&path));
                    if is_known || !self.source.may_see(ctx, &item.uri) {
                        continue;
                    }
                    match item.listable {
                        // A link may lead to a folder above it.
                        Some(true) if item.link_target.is_none() => inner.push(item.uri.clone()),
                        Some(true) => {}
                        _ => files.push(item),
                    }
                }
                paging.cursor = page.next;
                if paging.cursor.is_none() || listed >= MAX_LISTED {
                    break;
                }
            }
            folders.extend(inner.into_iter().rev());
            if entered >= MAX_FOLDERS || listed >= MAX_LISTED {
                break;
            }
        }
        files
    }

    /// `llms.txt`: a title, a line on what it is about, and a link to each page.
    fn overview(&self, pages: &[Arc<Resource>]) -> String {
        let mut text = self.opening(pages);
        let mut groups: Vec<(String, String)> = Vec::new();
        let mut optional = String::new();
        for page in pages {
            let row = row_of(page, &self.source.public(&page.uri));
            if page.annotations.priority.is_some_and(|own| own < OPTIONAL_BELOW) {
                optional.push_str(&row);
                continue;
            }
            let path = self.source.path_of(&page.uri).map(|path| path.page()).unwrap_or_default();
            let group = if path.len() > 1 { path[0].clone() } else { "Docs".to_owned() };
            match groups.iter_mut().find(|(known, _)| *known == group) {
                Some((_, rows)) => rows.push_str(&row),
                None => groups.push((group, row)),
            }
        }
        for (group, rows) in groups
            .iter()
            .map(|(group, rows)| (group.as_str(), rows))
            .chain([("Optional", &optional)])
        {
            if !rows.is_empty() {
                let _ = write!(text, "\n## {group}\n\n{rows}");
            }
        }
        if pages.len() >= MAX_PAGES {
            let root = self.source.public(&self.root);
            let _ = write!(
                text,
                "\nThese are the first {MAX_PAGES} pages; list {root} for the others.\n"
            );
        }
        text
    }

    fn opening(&self, pages: &[Arc<Resource>]) -> String {
        let is_main = |page: &&Arc<Resource>| {
            let path = self.source.path_of(&page.uri).map(|path| path.page());
            let name = path.filter(|path| path.len() == 1).map(|path| path[0].to_lowercase());
            name.is_some_and(|name| name.starts_with("readme.") || name.starts_with("index."))
        };
        let main = pages.iter().find(is_main);
        let root = self.source.public(&self.root);
        let name = root.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        let title = main.and_then(|page| page.title.clone()).unwrap_or(name);
        let mut text = format!("# {title}\n");
        if let Some(description) = main.and_then(|page| page.description.as_ref()) {
            let _ = write!(text, "\n> {description}\n");
        }
        text
    }

    /// `llms-full.txt`: the pages one after the other, as far as there is room.
    async fn full_text(&self, ctx: &Context, pages: &[Arc<Resource>]) -> String {
        let mut text = self.opening(pages);
        let mut left_out = String::new();
        for page in pages {
            let public = self.source.public(&page.uri);
            match self.page_text(ctx, page).await {
                Some(body) if text.len() + body.len() <= MAX_FULL_BYTES => {
                    let title = page.title.as_deref().unwrap_or(&page.name);
                    let _ = write!(
                        text,
                        "\n---\n\nPage: {title}\nSource: {public}\n\n{}\n",
                        body.trim_end()
                    );
                }
                _ => left_out.push_str(&row_of(page, &public)),
            }
        }
        if !left_out.is_empty() {
            let _ = write!(text, "\n---\n\n## Left out, read them by their URI\n\n{left_out}");
        }
        text
    }

    async fn page_text(&self, ctx: &Context, page: &Resource) -> Option<String> {
        let file = self.source.files().stat(ctx, &page.uri).await.ok()?;
        let known = self.source.known_page(ctx, &file).await?;
        match known.kind {
            PageKind::Manual => {
                let text = self.texts.made_text(ctx, &self.source, (&file, &known)).await.ok()?;
                Some(String::from_utf8_lossy(&text).into_owned())
            }
            PageKind::Html | PageKind::OpenApi => None,
            _ => {
                let (bytes, is_text) =
                    self.source.read_whole(ctx, &page.uri, MAX_PAGE_BYTES).await.ok()?;
                is_text.then(|| String::from_utf8_lossy(&bytes).into_owned())
            }
        }
    }
}

/// The name of the page that may be made at `uri`.
fn made_name(uri: &Uri) -> Option<&'static str> {
    let path = uri.as_str().strip_prefix("file:///")?;
    MADE_PAGES.into_iter().find(|name| *name == path)
}

fn row_of(page: &Resource, uri: &str) -> String {
    let title = page.title.as_deref().unwrap_or(&page.name);
    match &page.description {
        Some(description) => format!("- [{title}]({uri}): {description}\n"),
        None => format!("- [{title}]({uri})\n"),
    }
}
