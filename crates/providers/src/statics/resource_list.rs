//! Ordered list of the declared resources, with lookup by URI and keyset cursors.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use resource::{Freshness, Items, Page, PageRequest, Resource, Result, Uri};

use super::declared_resource::DeclaredResource;
use super::file::run_blocking;
use super::options::ResourceDeclaration;
use crate::list_page::{cursor_after, page_range};

/// The declared resources in their declared order.
pub(super) struct DeclaredResources {
    items: Vec<Arc<DeclaredResource>>,
    /// The shared listing entry of each; for files, the part that needs no disk access.
    listing: Arc<[Arc<Resource>]>,
    /// Positions of the resources whose files must be checked before listing, ascending.
    on_disk: Vec<usize>,
    positions: HashMap<Uri, usize>,
}

impl DeclaredResources {
    pub(super) fn new(entries: Vec<ResourceDeclaration>) -> Self {
        let mut shelf = Self {
            items: Vec::with_capacity(entries.len()),
            listing: Arc::default(),
            on_disk: Vec::new(),
            positions: HashMap::with_capacity(entries.len()),
        };
        let readable = entries.into_iter().filter(|entry| !entry.formats.is_empty());
        shelf.listing = readable.filter_map(|entry| shelf.add(entry)).collect();
        shelf
    }

    /// Adds a resource; returns its listing entry, or `None` if its URI is declared already.
    fn add(&mut self, entry: ResourceDeclaration) -> Option<Arc<Resource>> {
        let place = self.items.len();
        let uri = entry.resource.uri.clone();
        if self.positions.contains_key(&uri) {
            return None;
        }
        let (item, listed) = DeclaredResource::new(entry);
        if item.is_on_disk() {
            self.on_disk.push(place);
        }
        self.positions.insert(uri, place);
        self.items.push(Arc::new(item));
        Some(listed)
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn uris(&self) -> Vec<Uri> {
        self.listing.iter().map(|resource| resource.uri.clone()).collect()
    }

    /// The file paths of each resource that has any.
    pub(super) fn files(&self) -> Vec<(Uri, Vec<PathBuf>)> {
        let files = |place: &usize| {
            let paths = self.items[*place].files().map(Path::to_owned).collect();
            (self.listing[*place].uri.clone(), paths)
        };
        self.on_disk.iter().map(files).collect()
    }

    pub(super) fn find(&self, uri: &Uri) -> Option<&Arc<DeclaredResource>> {
        self.positions.get(uri).map(|place| &self.items[*place])
    }

    /// The requested page of the listing.
    pub(super) async fn list_page(
        &self,
        paging: &PageRequest,
        freshness: Freshness,
    ) -> Result<Page<Resource>> {
        let place = |key: &str| self.positions.get(&Uri::parse(key).ok()?).copied();
        let (start, end) = page_range(paging, self.len(), place)?;
        let mut items = Items::shared(&self.listing, start..end);
        self.refresh_from_disk(start, &mut items).await?;
        items.retain(|item| paging.shows(item));
        let next = (end < self.len()).then(|| cursor_after(self.listing[end - 1].uri.as_str()));
        Ok(Page { next, ..Page::from_items(items, freshness) })
    }

    async fn refresh_from_disk(&self, start: usize, listed: &mut Items<Resource>) -> Result<()> {
        let first = self.on_disk.partition_point(|place| *place < start);
        let end = self.on_disk.partition_point(|place| *place < start + listed.len());
        let places = &self.on_disk[first..end];
        if places.is_empty() {
            return Ok(());
        }
        let items: Vec<Arc<DeclaredResource>> =
            places.iter().map(|place| Arc::clone(&self.items[*place])).collect();
        let seen =
            run_blocking(move || Ok(items.iter().map(|item| item.describe_from_disk()).collect()));
        let seen: Vec<Arc<Resource>> = seen.await?;
        let listed = listed.to_mut();
        for (place, resource) in places.iter().zip(seen) {
            listed[place - start] = resource;
        }
        Ok(())
    }
}
