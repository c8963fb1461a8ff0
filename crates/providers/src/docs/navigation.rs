//! Navigation: the order of pages that a tool of documentation is told, without settings.
//!
//! Known are mdBook (`SUMMARY.md`), MkDocs (`nav`), Docusaurus (`sidebars.json`), Sphinx (`toctree`)
//! and Zenn (`config.yaml` of a book). Only the order and the names are taken; a list shows the pages
//! in this order first.

mod data_files;
mod toctree;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use resource::{Context, Uri};

use super::docs_source::DocsSource;
use super::head::plain_text;
use super::page_faults::FaultFinder;
use super::page_path::file_uri;

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

/// The navigation and the versions of the files that it was made of.
#[derive(Default)]
pub(super) struct NavigationCache(Mutex<Option<CachedNavigation>>);

struct CachedNavigation {
    files: Vec<(Uri, Option<String>)>,
    navigation: Arc<Navigation>,
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
    /// The navigation of the mount, made anew if a file of it changed.
    pub(super) async fn find(&self, ctx: &Context, source: &DocsSource) -> Arc<Navigation> {
        let known = self
            .0
            .lock()
            .as_ref()
            .map(|known| (known.files.clone(), Arc::clone(&known.navigation)));
        if let Some((files, navigation)) = known {
            let mut is_same = true;
            for (uri, etag) in &files {
                let now =
                    source.files().stat(ctx, uri).await.ok().and_then(|file| file.etag.clone());
                is_same &= now == *etag;
            }
            if is_same {
                return navigation;
            }
        }
        let (navigation, seen, faults) = (Navigation::default(), HashSet::new(), Vec::new());
        let mut builder =
            NavigationBuilder { source, ctx, navigation, files: Vec::new(), seen, faults };
        builder.build().await;
        let NavigationBuilder { navigation, files, faults, .. } = builder;
        source.faults.clear(FaultFinder::Navigation);
        for (uri, _) in &files {
            let own: Vec<String> =
                faults.iter().filter(|(at, _)| at == uri).map(|(_, fault)| fault.clone()).collect();
            if !own.is_empty() {
                source.faults.set(uri, FaultFinder::Navigation, &own);
            }
        }
        let navigation = Arc::new(navigation);
        *self.0.lock() = Some(CachedNavigation { files, navigation: Arc::clone(&navigation) });
        navigation
    }
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
        if self.files.iter().any(|(known, _)| *known == uri) {
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
        self.faults.push((file.clone(), fault));
    }

    /// Whether a page is there.
    async fn exists(&self, path: &[String]) -> bool {
        match file_uri(path) {
            Some(uri) => self.source.files().stat(self.ctx, &uri).await.is_ok(),
            None => false,
        }
    }

    /// Adds a page; false if it is there already, or there is no room.
    fn add(&mut self, path: Vec<String>, title: Option<String>) -> bool {
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
