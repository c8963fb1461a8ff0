//! The steps of a walk: what is listed, looked at and read.

use std::collections::HashSet;
use std::sync::Arc;

use resource::{Context, Provider, Resource, Result, Uri};

use crate::index::keys::text_key;
use crate::text::{ResourceText, read_text};

/// Bounds of a walk: links can make endlessly many folders of a few.
const MAX_DEPTH: usize = 64;
const MAX_COLLECTIONS: usize = 200_000;

/// The collections that a walk has still to list, with their depth, and those that it has seen.
pub(super) struct WalkStack {
    pub(super) stack: Vec<(Option<Uri>, usize)>,
    entered: HashSet<u64>,
}

impl WalkStack {
    pub(super) fn new(roots: Vec<Option<Uri>>) -> Self {
        let stack = roots.into_iter().map(|root| (root, 0)).collect();
        Self { stack, entered: HashSet::new() }
    }

    /// Lists `resource` later if it is a collection: not what is packed, nor what shows other
    /// resources once more.
    pub(super) fn enter(&mut self, resource: &Resource, depth: usize) {
        let is_folder = resource.listable == Some(true) && !resource.is_archive;
        if is_folder
            && !resource.is_view
            && depth < MAX_DEPTH
            && self.entered.len() < MAX_COLLECTIONS
            && self.entered.insert(text_key(resource.uri.as_str()))
        {
            self.stack.push((Some(resource.uri.clone()), depth + 1));
        }
    }
}

/// What a look at a resource tells.
pub(super) enum Examination {
    /// It is not indexed.
    LeftOut,
    /// It is, under this key; the version, if it must be read.
    Entry { key: u64, unread: Option<u64> },
}

/// A resource that was read.
pub(super) struct ReadEntry {
    pub(super) resource: Arc<Resource>,
    pub(super) version: u64,
    pub(super) text: Result<Option<ResourceText>>,
}

impl ReadEntry {
    pub(super) async fn read(
        provider: Arc<dyn Provider>,
        ctx: Context,
        (resource, version): (Arc<Resource>, u64),
    ) -> Self {
        let text = read_text(&*provider, &ctx, &resource).await;
        Self { resource, version, text }
    }
}
