//! Pagination: pages, keyset cursors, and cache freshness (TTL and scope).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::description::Resource;
use crate::filter::Filter;
use crate::items::Items;
use crate::unknown_members::UnknownMembers;

/// One page of a list, in the list's fixed order.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// The items.
    pub items: Items<T>,
    /// The cursor of the next page; `None` at the end.
    pub next: Option<Cursor>,
    /// The parts of the list that could not be fetched.
    pub absent: Vec<Absence>,
    /// How long it may be cached, and by whom.
    pub freshness: Freshness,
    /// What an upstream server sent along with its list, at the top level and in `_meta`.
    pub extra: UnknownMembers,
}

impl<T> Page<T> {
    /// An empty last page.
    pub fn empty() -> Self {
        Self::from_items(Items::default(), Freshness::default())
    }

    /// A last page with these items.
    pub fn from_items(items: impl Into<Items<T>>, freshness: Freshness) -> Self {
        let (absent, extra) = (Vec::new(), UnknownMembers::default());
        Self { items: items.into(), next: None, absent, freshness, extra }
    }
}

/// A request for one page of a list.
#[derive(Debug, Clone)]
pub struct PageRequest {
    /// The cursor from the previous page; `None` for the first page.
    pub cursor: Option<Cursor>,
    /// The maximum number of items.
    pub limit: usize,
    /// Conditions on the items; `None` for all. Only lists of resources have conditions.
    pub filter: Option<Arc<Filter>>,
}

impl PageRequest {
    /// Requests at most `limit` items from `cursor` on.
    pub fn new(cursor: Option<Cursor>, limit: usize) -> Self {
        Self { cursor, limit, filter: None }
    }

    /// Requests the first `limit` items.
    pub fn first(limit: usize) -> Self {
        Self::new(None, limit)
    }

    /// Adds conditions on the items.
    #[must_use]
    pub fn with_filter(self, filter: Option<Arc<Filter>>) -> Self {
        Self { filter, ..self }
    }

    /// Whether the list shows `resource`.
    pub fn shows(&self, resource: &Resource) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.shows(resource))
    }
}

/// A keyset cursor: a position in a list that only the provider of the list understands.
///
/// It names the last item seen, never a count, so that items added or removed between two pages
/// neither repeat nor hide others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(pub Bytes);

/// A part of a list that could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absence {
    /// The mount or folder that is missing.
    pub name: String,
    /// The reason, safe to show to any client.
    pub reason: String,
}

/// How long a result may be cached, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Freshness {
    /// Time to live. Zero: the result may be stale at once.
    pub ttl: Duration,
    /// Who may cache it.
    pub scope: CacheScope,
}

impl Freshness {
    /// Combines both for a result made of two: the shorter TTL and the narrower scope.
    #[must_use]
    pub fn combine(self, other: Self) -> Self {
        let scope =
            if self.scope == CacheScope::Public { other.scope } else { CacheScope::Private };
        Self { ttl: self.ttl.min(other.ttl), scope }
    }
}

/// Who may cache a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CacheScope {
    /// Any cache, shared ones included.
    Public,
    /// Only the caller's own cache.
    #[default]
    Private,
}
