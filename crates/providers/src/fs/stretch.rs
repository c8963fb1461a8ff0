//! Cache of listing pages: runs of consecutive file descriptions in one folder.
//!
//! Clients list an unchanged folder over and over. A hit here saves one lookup per file in the
//! description cache.

use std::sync::{Arc, Weak};

use resource::Resource;

use super::entries::Series;
use super::folder::Names;
use super::path::Local;
use super::shelf::Shelf;
use super::stamp::Kind;
use crate::vigil::{Look, Trust};

/// Memory limit, in bytes. Most descriptions are shared with the description cache.
const KEPT: usize = 4 * 1024 * 1024;

/// Bytes of one page besides its descriptions.
const FRAME: usize = size_of::<Stretch>() + size_of::<Names>() + 256;

/// Pages by folder, start and length.
pub(super) struct Stretches {
    shelf: Shelf<Vec<u8>, Arc<Stretch>>,
}

struct Stretch {
    names: Weak<Names>,
    /// When the page counts as checked, as if all its files had been checked at once.
    look: Look,
    items: Vec<Arc<Resource>>,
}

impl Stretches {
    pub(super) fn new() -> Self {
        Self { shelf: Shelf::new(KEPT) }
    }

    /// Returns the descriptions of up to `most` files from `start` on. Stops at the first entry
    /// that is no file, or whose cached description `trust` does not cover.
    pub(super) fn from(
        &self,
        (shown, names): (&Local, &Arc<Names>),
        (start, most): (usize, usize),
        series: &Series<'_>,
        trust: &Trust,
    ) -> Vec<Arc<Resource>> {
        let mut key = shown.as_bytes().to_vec();
        key.extend([0].into_iter().chain(start.to_le_bytes()).chain(most.to_le_bytes()));
        if let Some(kept) = self.shelf.get(&key[..])
            && std::ptr::eq(kept.names.as_ptr(), Arc::as_ptr(names))
            && trust.covers_all(kept.look)
        {
            return kept.items.clone();
        }
        let mut items = Vec::with_capacity(most.min(names.len().saturating_sub(start)));
        let mut look = trust.look();
        for index in start..start.saturating_add(most) {
            let Some((name, Kind::File)) = names.get(index) else { break };
            let Some((item, seen)) = series.trusted(name, trust) else { return items };
            look = trust.join(look, seen);
            items.push(item);
        }
        if !items.is_empty() {
            let weight = FRAME + key.len() + items.iter().map(|item| weight(item)).sum::<usize>();
            let stretch = Stretch { names: Arc::downgrade(names), look, items: items.clone() };
            self.shelf.keep(&key[..], Arc::new(stretch), weight);
        }
        items
    }
}

fn weight(resource: &Resource) -> usize {
    size_of::<Resource>() + resource.uri.as_str().len() + resource.name.len() + 64
}
