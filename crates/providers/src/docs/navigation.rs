//! Navigation: the order of pages that a tool of documentation is told, without settings.
//!
//! Known are mdBook (`SUMMARY.md`), MkDocs (`nav`), Docusaurus (`sidebars.json`), Sphinx (`toctree`)
//! and Zenn (`config.yaml` of a book). Only the order and the names are taken; a list shows the pages
//! in this order first. Files and pages that are refused to a principal are not there for it.

mod data_files;
mod toctree;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use machinery::{Cache, CacheBounds};
use resource::{Context, Uri};

use super::docs_source::DocsSource;
use super::head::plain_text;
use super::page_faults::MAX_FAULTY_PAGES;
use super::page_path::file_uri;
use crate::visibility_rule::{ViewerKey, viewer_of};

/// The most pages in an order.
pub(super) const MAX_ORDERED: usize = 5_000;
/// The largest file that says an order.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A page in the order, and the name that the order gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OrderedPage {
    pub(super) path: Vec<String>,
    pub(super) title: Option<String>,
}

/// The pages of a mount in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Navigation {
    pub(super) pages: Vec<OrderedPage>,
    /// The places of the pages by path.
    pub(super) places: HashMap<String, usize>,
}

/// The orders that are kept, and their weight: one, or one for each principal if there is a rule.
const MAX_KEPT: CacheBounds = CacheBounds { entries: 256, weight: 32 << 20, heaviest: 16 << 20 };
/// The weight of a page in an order, beside its path and title.
const PAGE_WEIGHT: usize = 128;

/// The navigation and the versions of the files that it was made of, by principal if there is a rule.
pub(super) struct NavigationCache(Cache<Option<ViewerKey>, Arc<CachedNavigation>>);

struct CachedNavigation {
    files: Vec<(Uri, Option<String>)>,
    navigation: Arc<Navigation>,
    /// What is wrong in the files, by file.
    faults: Arc<[(Uri, String)]>,
}

impl Default for NavigationCache {
    fn default() -> Self {
        Self(Cache::new(MAX_KEPT))
    }
}

/// Collects pages in order, each once, and the files that were looked at.
pub(super) struct NavigationBuilder<'a> {
    pub(super) source: &'a DocsSource,
    pub(super) ctx: &'a Context,
    navigation: Navigation,
    files: Vec<(Uri, Option<String>)>,
    seen: HashSet<String>,
    faults: Vec<(Uri, String)>,
}

impl NavigationCache {
    /// What is wrong in the navigation that the principal got last, by file.
    pub(super) fn faults(&self, ctx: &Context, source: &DocsSource) -> Arc<[(Uri, String)]> {
        let known = self.0.get(&viewer_of(source.options.visibility.as_ref(), ctx));
        known.map_or_else(Arc::default, |known| Arc::clone(&known.faults))
    }

    /// The navigation of the mount for the principal, made anew if a file of it changed.
    pub(super) async fn find(&self, ctx: &Context, source: &DocsSource) -> Arc<Navigation> {
        let viewer = viewer_of(source.options.visibility.as_ref(), ctx);
        if let Some(known) = self.0.get(&viewer) {
            let mut is_same = true;
            for (uri, etag) in &known.files {
                let now =
                    source.files().stat(ctx, uri).await.ok().and_then(|file| file.etag.clone());
                is_same &= now == *etag;
            }
            if is_same {
                return Arc::clone(&known.navigation);
            }
        }
        let (navigation, seen, faults) = (Navigation::default(), HashSet::new(), Vec::new());
        let mut builder =
            NavigationBuilder { source, ctx, navigation, files: Vec::new(), seen, faults };
        builder.build().await;
        let NavigationBuilder { navigation, files, faults, .. } = builder;
        let navigation = Arc::new(navigation);
        let weight = navigation.weight() + files.len() * PAGE_WEIGHT;
        let faults = joined(&files, &faults);
        let made = CachedNavigation { files, navigation: Arc::clone(&navigation), faults };
        self.0.insert(viewer, Arc::new(made), weight);
        navigation
    }
}

impl Navigation {
    fn weight(&self) -> usize {
        let weight_of = |page: &OrderedPage| {
            let path: usize = page.path.iter().map(|name| name.len() + 24).sum();
            PAGE_WEIGHT + 2 * path + page.title.as_ref().map_or(0, String::len)
        };
        self.pages.iter().map(weight_of).sum()
    }
}

/// The faults of each file as one text.
fn joined(files: &[(Uri, Option<String>)], faults: &[(Uri, String)]) -> Arc<[(Uri, String)]> {
    let of_file = |(uri, _): &(Uri, Option<String>)| {
        let own = faults.iter().filter(|(at, _)| at == uri).map(|(_, fault)| fault.as_str());
        let own: Vec<&str> = own.collect();
        (!own.is_empty()).then(|| (uri.clone(), own.join("; ")))
    };
    files.iter().filter_map(of_file).collect()
}

impl NavigationBuilder<'_> {
    /// Looks for each kind of layout; the first that names a page is the order.
    async fn build(&mut self) {
        for (file, folder) in
            [("SUMMARY.md", ""), ("src/SUMMARY.md", "src"), ("docs/SUMMARY.md", "docs")]
        {
            if let Some((uri, text)) = self.read(file).await {
                self.take_summary(&uri, &text, &split(folder));
            }
            if !self.navigation.pages.is_empty() {
                return;
            }
        }
        for file in ["mkdocs.yml", "mkdocs.yaml"] {
            if let Some((uri, text)) = self.read(file).await {
                data_files::take_mkdocs(self, &uri, &text);
            }
        }
        for file in ["sidebars.json", "website/sidebars.json"] {
            if self.navigation.pages.is_empty()
                && let Some((uri, text)) = self.read(file).await
            {
                data_files::take_docusaurus(self, &uri, &text).await;
            }
        }
        if self.navigation.pages.is_empty() {
            data_files::take_zenn(self).await;
        }
        for folder in ["", "docs", "source", "docs/source", "doc"] {
            if self.navigation.pages.is_empty() {
                toctree::take_sphinx(self, &split(folder)).await;
            }
        }
    }

    /// Reads a file of the mount; remembers its version, also if there is none.
    async fn read(&mut self, path: &str) -> Option<(Uri, String)> {
        let uri = file_uri(&split(path))?;
        if self.files.iter().any(|(known, _)| *known == uri) || !self.source.may_see(self.ctx, &uri)
        {
            return None;
        }
        let file = self.source.files().stat(self.ctx, &uri).await.ok();
        self.files.push((uri.clone(), file.as_ref().and_then(|file| file.etag.clone())));
        let size = file.filter(|file| file.listable != Some(true))?.size.unwrap_or(0);
        if size > MAX_FILE_BYTES {
            self.fault(&uri, "this table of contents is larger than 1 MiB".to_owned());
            return None;
        }
        let (bytes, is_text) =
            self.source.read_whole(self.ctx, &uri, 2 * MAX_FILE_BYTES).await.ok()?;
        is_text.then(|| (uri, String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn fault(&mut self, file: &Uri, fault: String) {
        if self.faults.len() < MAX_FAULTY_PAGES {
            self.faults.push((file.clone(), fault));
        }
    }

    /// Whether a page is there for the principal.
    async fn exists(&self, path: &[String]) -> bool {
        match file_uri(path).filter(|uri| self.source.may_see(self.ctx, uri)) {
            Some(uri) => self.source.files().stat(self.ctx, &uri).await.is_ok(),
            None => false,
        }
    }

    /// Adds a page; false if it is there already or refused to the principal, or there is no room.
    fn add(&mut self, path: Vec<String>, title: Option<String>) -> bool {
        if file_uri(&path).is_none_or(|uri| !self.source.may_see(self.ctx, &uri)) {
            return false;
        }
        let key = path.join("/");
        let is_new = self.navigation.pages.len() < MAX_ORDERED && self.seen.insert(key.clone());
        if is_new {
            self.navigation.places.insert(key, self.navigation.pages.len());
            self.navigation.pages.push(OrderedPage { path, title });
        }
        is_new
    }

    /// Takes the links of a `SUMMARY.md`, relative to its folder.
    fn take_summary(&mut self, uri: &Uri, text: &str, folder: &[String]) {
        let own = [folder, &["SUMMARY.md".to_owned()]].concat();
        let mut circle = false;
        for (label, target) in links(text) {
            let Some(path) = relative(folder, target) else { continue };
            if path == own {
                circle = true;
                continue;
            }
            self.add(path, Some(plain_text(label)).filter(|label| !label.is_empty()));
        }
        if circle {
            self.fault(
                uri,
                "this table of contents names itself; the rest of it is used".to_owned(),
            );
        }
    }
}

/// Labels and targets of the links of a Markdown text.
fn links(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let start = line.find('[')?;
        let (label, rest) = line[start + 1..].split_once("](")?;
        let target = rest.rsplit_once(')').map_or(rest, |(target, _)| target);
        Some((label, target.trim().trim_matches(['<', '>'])))
    })
}

/// The path of a link relative to a folder; `None` if it leads outside or elsewhere.
fn relative(folder: &[String], target: &str) -> Option<Vec<String>> {
    let target = target.split(['#', '?']).next().unwrap_or(target);
    if target.is_empty() || target.contains("://") {
        return None;
    }
    let decoded = String::from_utf8(resource::uri::percent_decode(target).into_owned()).ok()?;
    let mut path = if decoded.starts_with('/') { Vec::new() } else { folder.to_vec() };
    for segment in decoded.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                path.pop()?;
            }
            name => path.push(name.to_owned()),
        }
    }
    (!path.is_empty()).then_some(path)
}

/// The segments of a path that is written in code.
fn split(path: &str) -> Vec<String> {
    path.split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}
