//! Cache of serialized list rows.
//!
//! Clients request unchanged lists again and again. The cache returns the JSON of a page if it
//! holds the very same descriptions (by pointer) for the same revision and SEP-2093 view.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use resource::Resource;

use crate::revision::Terms;
use crate::shape::resource::Row;

/// Maximum total size in bytes. A page that would exceed it clears the cache first.
const MOST: usize = 8 << 20;

/// Caches pages of rows as JSON.
#[derive(Default)]
pub struct Press {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    sheets: HashMap<(usize, usize, Terms), Sheet>,
    bytes: usize,
}

/// One cached page. Holds the resources, so that no other resource can get their addresses.
struct Sheet {
    rows: Vec<Arc<Resource>>,
    written: Bytes,
}

impl Press {
    /// Serializes resources as a JSON array for peers with these terms, or returns the cached JSON.
    pub(crate) fn rows(&self, rows: &[Arc<Resource>], terms: Terms) -> Bytes {
        let write =
            || Bytes::from(serde_json::to_vec(&Row(rows, terms)).expect("keys are strings"));
        let Some(first) = rows.first() else { return write() };
        let key = (Arc::as_ptr(first).addr(), rows.len(), terms);
        if let Some(written) = self.find(&key, rows) {
            return written;
        }
        let written = write();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes += written.len();
        if kept.bytes > MOST {
            *kept = Kept { bytes: written.len(), ..Kept::default() };
        }
        let sheet = Sheet { rows: rows.to_vec(), written: written.clone() };
        if let Some(old) = kept.sheets.insert(key, sheet) {
            kept.bytes -= old.written.len();
        }
        written
    }

    fn find(&self, key: &(usize, usize, Terms), rows: &[Arc<Resource>]) -> Option<Bytes> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let sheet = kept.sheets.get(key)?;
        let same = sheet.rows.iter().zip(rows).all(|(one, other)| Arc::ptr_eq(one, other));
        same.then(|| sheet.written.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resource::{Resource, Uri};

    use super::{MOST, Press};
    use crate::revision::{Revision, Terms};

    fn resource(name: &str) -> Arc<Resource> {
        Arc::new(Resource::new(Uri::parse("a:b").unwrap(), name))
    }

    #[test]
    fn only_the_very_same_page_on_the_same_terms_is_given_again() {
        let press = Press::default();
        let terms = Terms::full(Revision::V2026_07_28);
        let page = vec![resource("one"), resource("two")];
        let first = press.rows(&page, terms);
        assert_eq!(first.as_ptr(), press.rows(&page, terms).as_ptr());
        let changed = vec![Arc::clone(&page[0]), resource("three")];
        assert!(String::from_utf8_lossy(&press.rows(&changed, terms)).contains("three"));
        let other = press.rows(&page, Terms { full: false, ..terms });
        assert!(!String::from_utf8_lossy(&other).contains("isCollection"));
        assert_eq!(press.rows(&[], terms), "[]");
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        let press = Press::default();
        let name = "n".repeat(MOST / 16);
        for _ in 0..64 {
            press.rows(&[resource(&name)], Terms::full(Revision::V2025_06_18));
        }
        let kept = press.kept.lock().unwrap();
        assert!(kept.bytes <= MOST && kept.sheets.len() <= 16);
    }
}
