//! How is a long list given in pieces?

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

/// A piece of a list, in the list's fixed order.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// What stands on it. Shared, so that a list kept in memory is given without copying.
    pub items: Vec<Arc<T>>,
    /// Where the next piece begins; nothing at the end.
    pub next: Option<Cursor>,
    /// What should have been there and could not be reached.
    pub absent: Vec<Absence>,
    /// How long it may be kept, and by whom.
    pub freshness: Freshness,
}

impl<T> Page<T> {
    /// A page with nothing on it and nothing behind it.
    pub fn empty() -> Self {
        Self { items: Vec::new(), next: None, absent: Vec::new(), freshness: Freshness::default() }
    }
}

/// Which piece of a list is asked for.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Where the last piece ended; nothing to begin.
    pub from: Option<Cursor>,
    /// How many items at the most.
    pub limit: usize,
}

impl Ask {
    /// The first `limit` items.
    pub fn first(limit: usize) -> Self {
        Self { from: None, limit }
    }
}

/// A place in a list: a key that only the list's maker understands.
///
/// It names the last thing seen, never a count, so that things which come and go in between
/// neither repeat nor hide others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(pub Bytes);

/// A part of a list that could not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absence {
    /// The mount or folder that is missing.
    pub what: String,
    /// Why, in words for a stranger.
    pub why: String,
}

/// How long an answer may be kept, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Freshness {
    /// Zero means it may be stale at once.
    pub ttl: Duration,
    /// Who may keep it.
    pub scope: Scope,
}

impl Freshness {
    /// What holds for an answer made of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let scope = if self.scope == Scope::Public { other.scope } else { Scope::Private };
        Self { ttl: self.ttl.min(other.ttl), scope }
    }
}

/// Who may keep an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Anybody.
    Public,
    /// Only whoever asked.
    #[default]
    Private,
}
