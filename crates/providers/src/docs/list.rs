//! Lists of pages: first those in the order of the documentation, then the other files.
//!
//! A cursor of the first part is `n` and the path of the last page, one of the made pages at the end
//! `l` and a name; any other is one of the files.

use std::sync::Arc;

use bytes::Bytes;
use resource::{
    Context, Cursor, Error, ErrorKind, Filter, Page, PageRequest, PathFilter, Resource, Result, Uri,
};

use super::Documentation;
use super::docs_source::FolderScope;
use super::llms::MADE_PAGES;
use super::navigation::{Navigation, OrderedPage};
use super::page_path::file_uri;
use super::place::SECTION_SIGN;

/// The ordered pages that one page of a list looks at.
const MAX_LOOKED_AT: usize = 1_000;

/// The pages with faults that one list looks for.
const MAX_RECHECKED: usize = 20;

/// A list of pages: of a folder, or of the whole mount.
struct PageList<'a> {
    parent: Option<&'a Uri>,
    /// The pages of the list that have a place in the order.
    ordered: Vec<&'a OrderedPage>,
    /// Whether it is a list of the top.
    is_top: bool,
}

impl Documentation {
    /// Lists the pages of a folder, or the sections of a page.
    pub(super) async fn list_page(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        if let Some(uri) = parent
            && !self.is_folder(ctx, uri).await?
        {
            if self.made_page(ctx, uri).await.is_some() {
                return Err(Error::invalid("not a collection").about(uri));
            }
            let found = self.find(ctx, uri).await.map_err(|error| error.about(uri))?;
            return self.list_members(ctx, uri, &found, paging).await;
        }
        self.forget_gone_pages(ctx).await;
        let navigation = self.navigation.find(ctx, &self.source).await;
        let folder = parent.and_then(|uri| self.source.path_of(uri)).map(|path| path.segments);
        let folder = folder.unwrap_or_default();
        let is_flat = parent.is_none() && self.is_flat(ctx, &navigation).await;
        let is_here = |path: &[String]| {
            is_flat || path.split_last().is_some_and(|(_, above)| above == folder)
        };
        let ordered = navigation.pages.iter().filter(|page| is_here(&page.path)).collect();
        let list = PageList { parent, ordered, is_top: folder.is_empty() };
        self.list_parts(ctx, &list, &navigation, paging).await
    }

    /// Forgets the faults of pages that are gone, some with each list.
    async fn forget_gone_pages(&self, ctx: &Context) {
        for page in self.source.faults.some_pages(MAX_RECHECKED) {
            let found = self.source.files().stat(ctx, &page).await;
            if found.is_err_and(|error| error.kind == ErrorKind::NotFound) {
                self.source.faults.forget(&page);
            }
        }
    }

    async fn is_folder(&self, ctx: &Context, uri: &Uri) -> Result<bool> {
        match self.source.files().stat(ctx, uri).await {
            Ok(file) => Ok(file.listable == Some(true)),
            Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Invalid) => {
                Ok(false)
            }
            Err(error) => Err(error.about(uri)),
        }
    }

    /// Whether the list without parent has the pages of folders too.
    async fn is_flat(&self, ctx: &Context, navigation: &Navigation) -> bool {
        let nested = navigation.pages.iter().find(|page| page.path.len() > 1);
        let Some(uri) = nested.and_then(|page| file_uri(&page.path)) else { return false };
        let text = percent_decoded(&uri);
        let path = PathFilter::new(&text.clone(), move |found: &str| found == text);
        let filter = Filter { path: Some(path), ..Filter::default() };
        let paging = PageRequest::first(1).with_filter(Some(Arc::new(filter)));
        let listed = self.source.files().list(ctx, None, &paging).await;
        listed.is_ok_and(|page| !page.items.is_empty())
    }

    /// Lists the ordered pages, then the others, then those that are made.
    async fn list_parts(
        &self,
        ctx: &Context,
        list: &PageList<'_>,
        navigation: &Navigation,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let cursor = paging.cursor.as_ref().map(|cursor| &cursor.0[..]);
        let mut page = Page::empty();
        let mut request = paging.clone();
        match cursor {
            None if !list.ordered.is_empty() => {
                if self.list_ordered(ctx, (list, 0), paging, &mut page).await {
                    return Ok(page);
                }
                request.cursor = None;
            }
            Some([b'n', path @ ..]) => {
                let is_last = |one: &&OrderedPage| one.path.join("/").as_bytes() == path;
                let last = list.ordered.iter().position(is_last).ok_or_else(Error::bad_cursor)?;
                if self.list_ordered(ctx, (list, last + 1), paging, &mut page).await {
                    return Ok(page);
                }
                request.cursor = None;
            }
            Some([b'l', name @ ..]) => {
                let name = std::str::from_utf8(name).map_err(|_| Error::bad_cursor())?;
                self.list_made(ctx, (list, name), paging, &mut page).await?;
                return Ok(page);
            }
            _ => {}
        }
        request.limit = paging.limit.max(1) - page.items.len().min(paging.limit.max(1) - 1);
        request.filter = paging.filter.as_ref().map(|filter| Arc::new(files_filter(filter)));
        let mut files = self.source.files().list(ctx, list.parent, &request).await?;
        let is_ordered = |item: &Resource| {
            let path = self.source.path_of(&item.uri).map(|path| path.text());
            let place = path.and_then(|path| navigation.places.get(&path));
            place.is_some_and(|at| {
                list.ordered.iter().any(|one| std::ptr::eq(*one, &navigation.pages[*at]))
            })
        };
        if !list.ordered.is_empty() {
            files.items.retain(|item| !is_ordered(item));
        }
        let files = self.describe_page(ctx, files, paging).await;
        page.items.extend(files.items);
        page.absent.extend(files.absent);
        (page.next, page.freshness) = (files.next, files.freshness);
        if page.next.is_none() {
            self.list_made(ctx, (list, ""), paging, &mut page).await?;
        }
        Ok(page)
    }

    /// Adds the ordered pages from a place on; true if the page ends among them.
    async fn list_ordered(
        &self,
        ctx: &Context,
        (list, start): (&PageList<'_>, usize),
        paging: &PageRequest,
        page: &mut Page<Resource>,
    ) -> bool {
        let mut scope = FolderScope::new();
        let kept_for = self.source.kept_for(ctx);
        let mut last = None;
        for (count, ordered) in list.ordered[start..].iter().enumerate() {
            if page.items.len() >= paging.limit.max(1) || count >= MAX_LOOKED_AT {
                page.next = last.map(|last: &OrderedPage| {
                    Cursor(Bytes::from(format!("n{}", last.path.join("/"))))
                });
                return true;
            }
            last = Some(*ordered);
            let Some(uri) = file_uri(&ordered.path) else { continue };
            let Ok(file) = self.source.files().stat(ctx, &uri).await else { continue };
            if file.listable == Some(true) {
                continue;
            }
            let described = self.source.describe(ctx, &file, &mut scope).await;
            if paging.shows(&described) {
                page.items.push(self.kept.unify(kept_for.clone(), described));
            }
        }
        let is_full = page.items.len() >= paging.limit.max(1);
        if is_full && let Some(last) = last {
            page.next = Some(Cursor(Bytes::from(format!("n{}", last.path.join("/")))));
        }
        is_full
    }

    /// Adds the pages that are made at the end of a list of the top, those after `name`.
    async fn list_made(
        &self,
        ctx: &Context,
        (list, name): (&PageList<'_>, &str),
        paging: &PageRequest,
        page: &mut Page<Resource>,
    ) -> Result<()> {
        let start = match name {
            "" => 0,
            name => {
                MADE_PAGES.iter().position(|one| *one == name).ok_or_else(Error::bad_cursor)? + 1
            }
        };
        if !list.is_top {
            return Ok(());
        }
        let mut last = name;
        for name in &MADE_PAGES[start..] {
            if page.items.len() >= paging.limit.max(1) {
                page.next = Some(Cursor(Bytes::from(format!("l{last}"))));
                return Ok(());
            }
            last = name;
            let Some(uri) = file_uri(&[(*name).to_owned()]) else { continue };
            let made = self.made_page(ctx, &uri).await.filter(|made| paging.shows(made));
            page.items.extend(made.map(|made| self.kept.unify(None, made)));
        }
        Ok(())
    }

    /// Describes the items of a page of files, and keeps those that the list shows.
    async fn describe_page(
        &self,
        ctx: &Context,
        mut page: Page<Resource>,
        paging: &PageRequest,
    ) -> Page<Resource> {
        let mut scope = FolderScope::new();
        let kept_for = self.source.kept_for(ctx);
        let files = std::mem::take(&mut page.items);
        for file in files {
            let described = self.source.describe(ctx, &file, &mut scope).await;
            if paging.shows(&described) {
                page.items.push(self.kept.unify(kept_for.clone(), described));
            }
        }
        page
    }
}

fn percent_decoded(uri: &Uri) -> String {
    String::from_utf8_lossy(&resource::uri::percent_decode(uri.as_str())).into_owned()
}

/// The filter for the files: what pages add to them is judged afterwards.
fn files_filter(filter: &Filter) -> Filter {
    let relaxed = Filter { mime: None, ..filter.without_metadata() };
    // A page is a collection on the way to its sections, and the files do not know that.
    let leads_into_page =
        filter.path.as_ref().is_some_and(|path| path.prefix().contains(SECTION_SIGN));
    match filter.keep_collections && leads_into_page {
        true => Filter { path: None, ..relaxed },
        false => relaxed,
    }
}
