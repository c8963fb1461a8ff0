//! Cache of serialized descriptions: rows of lists, and what a read result says beside its content.
//!
//! Clients request unchanged lists and resources again and again. The cache returns the JSON of a
//! page if it holds the very same descriptions (by pointer) for the same revision and SEP-2093 view.
//! Resources whose names repeat on a page get their paths as titles, so that a person can tell them
//! apart.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use machinery::{Cache, CacheBounds};
use resource::{Freshness, Items, Resource, Uri};

use crate::inbound::common_members::CommonMembers;
use crate::inbound::escaped_texts::EscapedTexts;
use crate::inbound::reply::ServerInfo;
use crate::inbound::shape::resource::{ResourceRows, ResourceShape};
use crate::revision::Dialect;

/// Maximum total size of the JSON of pages in bytes.
const MAX_BYTES: usize = 8 << 20;

/// Maximum total size of the JSON of single resources in bytes.
const MAX_SINGLE_BYTES: usize = 2 << 20;

/// Maximum number of kinds of results whose common members are kept.
const MAX_COMMON: usize = 64;

/// What an entry weighs beside its JSON, about: it holds the description.
const ENTRY_BYTES: usize = 1_000;

/// Where a resource is: its mount, and its path inside the mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountPath {
    /// The name of the mount.
    pub mount: String,
    /// The decoded path below the root of the mount.
    pub path: String,
}

type MountPathLookup = Box<dyn Fn(&Uri) -> Option<MountPath> + Send + Sync>;

/// Caches pages of rows as JSON, by the address of the first row and the number of rows.
pub struct RowCache {
    pages: Cache<(usize, usize, Dialect), Arc<CachedRows>>,
    /// Single resources, by address.
    singles: Cache<(usize, Dialect), CachedSingle>,
    /// What most results begin with.
    common: Cache<(Freshness, Dialect), Bytes>,
    /// What results have as their content.
    pub(crate) texts: EscapedTexts,
    path_of: MountPathLookup,
}

/// One cached page. Holds the resources, so that no other resource can get their addresses.
struct CachedRows {
    rows: Items<Resource>,
    json: Bytes,
}

/// One cached resource. Holds it, so that no other resource can get its address.
#[derive(Clone)]
struct CachedSingle {
    _resource: Arc<Resource>,
    json: Bytes,
}

impl RowCache {
    /// An empty cache; `path_of` finds where a resource is, if that is known.
    pub fn new(path_of: impl Fn(&Uri) -> Option<MountPath> + Send + Sync + 'static) -> Self {
        let pages = Cache::new(CacheBounds::weight(MAX_BYTES));
        let singles = Cache::new(CacheBounds::weight(MAX_SINGLE_BYTES));
        let common = Cache::new(CacheBounds::entries(MAX_COMMON));
        let texts = EscapedTexts::new();
        Self { pages, singles, common, texts, path_of: Box::new(path_of) }
    }

    /// Serializes the members that every result has, or returns the cached JSON.
    pub(crate) fn common_json(
        &self,
        freshness: Freshness,
        dialect: Dialect,
        info: ServerInfo,
    ) -> Bytes {
        let key = (freshness, dialect);
        self.common.get(&key).unwrap_or_else(|| {
            let common = CommonMembers::new(Some(freshness), &[], dialect, info);
            let json = Bytes::from(serde_json::to_vec(&common).expect("keys are strings"));
            self.common.insert(key, json.clone(), 1);
            json
        })
    }

    /// Serializes a resource as an element of `contents` without its body, or returns the cached
    /// JSON.
    pub(crate) fn content_json(&self, resource: &Arc<Resource>, dialect: Dialect) -> Bytes {
        let key = (Arc::as_ptr(resource).addr(), dialect);
        if let Some(single) = self.singles.get(&key) {
            return single.json;
        }
        let shape = ResourceShape::for_read(resource, None, dialect);
        let json = Bytes::from(serde_json::to_vec(&shape).expect("keys are strings"));
        // A description that nobody else holds was made for this request: no other will have it.
        if Arc::strong_count(resource) > 1 {
            let single = CachedSingle { _resource: Arc::clone(resource), json: json.clone() };
            self.singles.insert(key, single, json.len() + ENTRY_BYTES);
        }
        json
    }

    /// Serializes resources as a JSON array for peers with these terms, or returns the cached JSON.
    pub(crate) fn rows_json(&self, rows: &mut Items<Resource>, dialect: Dialect) -> Bytes {
        let write = || {
            let titles = match dialect.revision.knows_titles() {
                true => repeated_titles(rows, &self.path_of),
                false => Vec::new(),
            };
            let rows = ResourceRows { rows, titles: &titles, dialect };
            Bytes::from(serde_json::to_vec(&rows).expect("keys are strings"))
        };
        let Some(first) = rows.first() else { return write() };
        let key = (Arc::as_ptr(first).addr(), rows.len(), dialect);
        if let Some(page) = self.pages.get(&key)
            && page.rows.are_same(rows)
        {
            return page.json.clone();
        }
        let json = write();
        let page = CachedRows { rows: rows.share(), json: json.clone() };
        self.pages.insert(key, Arc::new(page), json.len());
        json
    }
}

/// For each row whose name repeats on the page, and that has no title, its path; with the mount
/// where two mounts have the same path. Empty if no name repeats.
fn repeated_titles(
    rows: &[Arc<Resource>],
    path_of: &dyn Fn(&Uri) -> Option<MountPath>,
) -> Vec<Option<String>> {
    let mut names: HashMap<&str, usize> = HashMap::with_capacity(rows.len());
    for row in rows {
        *names.entry(&row.name).or_default() += 1;
    }
    if names.len() == rows.len() {
        return Vec::new();
    }
    let repeats = |row: &Resource| row.title.is_none() && names[&*row.name] > 1;
    let places: Vec<Option<MountPath>> =
        rows.iter().map(|row| if repeats(row) { path_of(&row.uri) } else { None }).collect();
    let mut paths: HashMap<&str, usize> = HashMap::new();
    for place in places.iter().flatten() {
        *paths.entry(&place.path).or_default() += 1;
    }
    let title = |(place, row): (&Option<MountPath>, &Arc<Resource>)| {
        let MountPath { mount, path } = place.as_ref()?;
        match paths[&**path] {
            1 => Some(path.clone()).filter(|path| *path != row.name),
            _ => Some(format!("{mount}/{path}")),
        }
    };
    places.iter().zip(rows).map(title).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use resource::{CacheScope, Freshness, Items, Resource, Uri};

    use super::{MAX_BYTES, MAX_COMMON, MountPath, RowCache, ServerInfo};
    use crate::revision::{Dialect, Revision};

    fn resource(name: &str) -> Arc<Resource> {
        Arc::new(Resource::new(Uri::parse("a:b").unwrap(), name))
    }

    #[test]
    fn only_the_very_same_page_on_the_same_terms_is_given_again() {
        let press = RowCache::new(|_| None);
        let terms = Dialect::full(Revision::V2026_07_28);
        let mut page = Items::from(vec![resource("one"), resource("two")]);
        let mut copy = Items::from(page.to_vec());
        let first = press.rows_json(&mut page, terms);
        for again in [&mut page, &mut copy] {
            assert_eq!(first.as_ptr(), press.rows_json(again, terms).as_ptr());
        }
        let mut changed = Items::from(vec![Arc::clone(&page[0]), resource("three")]);
        let json = press.rows_json(&mut changed, terms);
        assert!(String::from_utf8_lossy(&json).contains("three"));
        let other = press.rows_json(&mut page, Dialect { full_metadata: false, ..terms });
        assert!(!String::from_utf8_lossy(&other).contains("isCollection"));
        assert_eq!(press.rows_json(&mut Items::default(), terms), "[]");
    }

    #[test]
    fn what_a_reading_says_of_a_resource_that_others_hold_is_written_once() {
        let rows = RowCache::new(|_| None);
        let terms = Dialect::full(Revision::V2026_07_28);
        let (passing, lasting) = (resource("passing"), resource("lasting"));
        let _held = Arc::clone(&lasting);
        let json = rows.content_json(&lasting, terms);
        assert_eq!(json.as_ptr(), rows.content_json(&lasting, terms).as_ptr());
        assert!(String::from_utf8_lossy(&json).contains("\"name\":\"lasting\""));
        let older = rows.content_json(&lasting, Dialect { full_metadata: false, ..terms });
        assert!(!String::from_utf8_lossy(&older).contains("isCollection"));
        rows.content_json(&passing, terms);
        assert_eq!((rows.singles.len(), Arc::strong_count(&passing)), (2, 1));
    }

    #[test]
    fn results_of_other_terms_begin_otherwise() {
        let rows = RowCache::new(|_| None);
        let info = ServerInfo { name: "n", version: "1" };
        let common = |ttl, revision| {
            let ttl = Duration::from_secs(ttl);
            let freshness = Freshness { ttl, scope: CacheScope::Public };
            let json = rows.common_json(freshness, Dialect::full(revision), info);
            String::from_utf8(json.to_vec()).unwrap()
        };
        assert!(common(1, Revision::V2026_07_28).contains("\"ttlMs\":1000"));
        assert!(common(2, Revision::V2026_07_28).contains("\"ttlMs\":2000"));
        assert_eq!(common(1, Revision::V2025_06_18), "{}");
        assert_eq!(common(1, Revision::V2026_07_28), common(1, Revision::V2026_07_28));
        for ttl in 0..1_000 {
            common(ttl, Revision::V2026_07_28);
        }
        assert!(rows.common.len() <= MAX_COMMON);
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        let press = RowCache::new(|_| None);
        let name = "n".repeat(MAX_BYTES / 16);
        for _ in 0..64 {
            press
                .rows_json(&mut vec![resource(&name)].into(), Dialect::full(Revision::V2025_06_18));
        }
        assert!(press.pages.weight() <= MAX_BYTES && press.pages.len() <= 16);
    }

    #[test]
    fn names_that_repeat_on_a_page_have_their_paths_as_titles() {
        let path_of = |uri: &Uri| {
            let (mount, path) = uri.as_str().strip_prefix("file:///")?.split_once('/')?;
            Some(MountPath { mount: mount.to_owned(), path: path.to_owned() })
        };
        let press = RowCache::new(path_of);
        let at = |uri: &str, name: &str| {
            let mut resource = Resource::new(Uri::parse(uri).unwrap(), name);
            resource.title = (name == "named").then(|| "Its title".to_owned());
            Arc::new(resource)
        };
        let mut page = Items::from(vec![
            at("file:///a/mod.rs", "mod.rs"),
            at("file:///a/src/mod.rs", "mod.rs"),
            at("file:///a/src/lib.rs", "lib.rs"),
            at("file:///a/x/README", "README"),
            at("file:///b/x/README", "README"),
            at("file:///a/y", "named"),
            at("file:///b/y", "named"),
            at("test:one", "test"),
            at("test:two", "test"),
        ]);
        let mut titles = |revision| -> Vec<serde_json::Value> {
            let json = press.rows_json(&mut page, Dialect::full(revision));
            let rows: Vec<serde_json::Value> = serde_json::from_slice(&json).unwrap();
            rows.into_iter().map(|mut row| row["title"].take()).collect()
        };
        let told = titles(Revision::V2025_06_18);
        let none = serde_json::Value::Null;
        let expected: [serde_json::Value; 9] = [
            none.clone(),
            "src/mod.rs".into(),
            none.clone(),
            "a/x/README".into(),
            "b/x/README".into(),
            "Its title".into(),
            "Its title".into(),
            none.clone(),
            none.clone(),
        ];
        assert_eq!(told, expected);
        assert!(titles(Revision::V2025_03_26).iter().all(|title| *title == none));
    }
}
