//! Cache of serialized list rows.
//!
//! Clients request unchanged lists again and again. The cache returns the JSON of a page if it
//! holds the very same descriptions (by pointer) for the same revision and SEP-2093 view.

use std::sync::Arc;

use bytes::Bytes;
use machinery::{Cache, CacheBounds};
use resource::Resource;

use crate::inbound::shape::resource::ResourceRows;
use crate::revision::Dialect;

/// Maximum total size of the JSON in bytes.
const MAX_BYTES: usize = 8 << 20;

/// Caches pages of rows as JSON, by the address of the first row and the number of rows.
pub struct RowCache(Cache<(usize, usize, Dialect), Arc<CachedRows>>);

/// One cached page. Holds the resources, so that no other resource can get their addresses.
struct CachedRows {
    rows: Vec<Arc<Resource>>,
    json: Bytes,
}

impl Default for RowCache {
    fn default() -> Self {
        Self(Cache::new(CacheBounds::weight(MAX_BYTES)))
    }
}

impl RowCache {
    /// Serializes resources as a JSON array for peers with these terms, or returns the cached JSON.
    pub(crate) fn rows_json(&self, rows: &[Arc<Resource>], dialect: Dialect) -> Bytes {
        let write = || {
            Bytes::from(serde_json::to_vec(&ResourceRows(rows, dialect)).expect("keys are strings"))
        };
        let Some(first) = rows.first() else { return write() };
        let key = (Arc::as_ptr(first).addr(), rows.len(), dialect);
        if let Some(page) = self.0.get(&key)
            && page.rows.iter().zip(rows).all(|(one, other)| Arc::ptr_eq(one, other))
        {
            return page.json.clone();
        }
        let json = write();
        let page = CachedRows { rows: rows.to_vec(), json: json.clone() };
        self.0.insert(key, Arc::new(page), json.len());
        json
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resource::{Resource, Uri};

    use super::{MAX_BYTES, RowCache};
    use crate::revision::{Dialect, Revision};

    fn resource(name: &str) -> Arc<Resource> {
        Arc::new(Resource::new(Uri::parse("a:b").unwrap(), name))
    }

    #[test]
    fn only_the_very_same_page_on_the_same_terms_is_given_again() {
        let press = RowCache::default();
        let terms = Dialect::full(Revision::V2026_07_28);
        let page = vec![resource("one"), resource("two")];
        let first = press.rows_json(&page, terms);
        assert_eq!(first.as_ptr(), press.rows_json(&page, terms).as_ptr());
        let changed = vec![Arc::clone(&page[0]), resource("three")];
        assert!(String::from_utf8_lossy(&press.rows_json(&changed, terms)).contains("three"));
        let other = press.rows_json(&page, Dialect { full_metadata: false, ..terms });
        assert!(!String::from_utf8_lossy(&other).contains("isCollection"));
        assert_eq!(press.rows_json(&[], terms), "[]");
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        let press = RowCache::default();
        let name = "n".repeat(MAX_BYTES / 16);
        for _ in 0..64 {
            press.rows_json(&[resource(&name)], Dialect::full(Revision::V2025_06_18));
        }
        assert!(press.0.weight() <= MAX_BYTES && press.0.len() <= 16);
    }
}
