//! Which stretches of a folder can be given again as a whole?
//!
//! A page of a folder that does not change is asked for over and over. Its descriptions are kept
//! beside each other, so that not even they have to be found one by one.

use std::sync::{Arc, Weak};

use resource::Resource;

use super::entries::Series;
use super::folder::Names;
use super::path::Local;
use super::shelf::Shelf;
use super::stamp::Kind;
use crate::vigil::{Look, Trust};

/// How much the descriptions may take in memory; most are those that are kept one by one too.
const KEPT: usize = 4 * 1024 * 1024;

/// What one takes beside them.
const FRAME: usize = size_of::<Stretch>() + size_of::<Names>() + 256;

/// Stretches given last, by folder, place and the most that was wanted.
pub(super) struct Stretches {
    shelf: Shelf<Vec<u8>, Arc<Stretch>>,
}

struct Stretch {
    names: Weak<Names>,
    /// As if all of it had been looked at in one go.
    look: Look,
    items: Vec<Arc<Resource>>,
}

impl Stretches {
    pub(super) fn new() -> Self {
        Self { shelf: Shelf::new(KEPT) }
    }

    /// The files from `start` on, `most` of them or up to what is no file, as far as they can be
    /// described without looking at them.
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
