//! Memoization of rewritten resource descriptions, keyed by `Arc` address.
//!
//! The same input `Arc` gives the same output `Arc`, without rewriting it again, so that the next
//! cache in the chain recognises it by address too.

use std::sync::Arc;

use machinery::{Cache, CacheBounds};
use resource::{Items, Resource, Result};

/// The maximum number of results, and of items in pages.
const MAX_ENTRIES: usize = 12 << 10;

/// The maximum number of results for single items. A list shows items that stay; what is read one by
/// one may be another with each read, and would fill the memory with what nobody asks for again.
const MAX_SINGLES: usize = 1 << 10;

/// Results by the address of their input.
pub(crate) struct Memo {
    entries: Cache<usize, MemoEntry>,
    /// Those of items that came alone.
    singles: Cache<usize, MemoEntry>,
    /// By the address of the first item and the number of items.
    pages: Cache<(usize, usize), Arc<MemoPage>>,
}

/// A result and its input, which stays alive so that no other item gets its address.
struct MemoEntry {
    result: Arc<Resource>,
    _input: Arc<Resource>,
}

/// The results of a whole page, so that one lookup finds them all.
struct MemoPage {
    inputs: Items<Resource>,
    /// `None` if every item is its own result.
    results: Option<Items<Resource>>,
}

impl Default for Memo {
    fn default() -> Self {
        let entries = Cache::new(CacheBounds::entries(MAX_ENTRIES));
        let singles = Cache::new(CacheBounds::entries(MAX_SINGLES));
        Self { entries, singles, pages: Cache::new(CacheBounds::weight(MAX_ENTRIES)) }
    }
}

impl Memo {
    /// Maps one item with `make`, or returns its result from an earlier call. What nobody else holds
    /// was made for this request, and is not remembered.
    pub(crate) fn map_one(
        &self,
        item: &Arc<Resource>,
        make: impl FnOnce(Arc<Resource>) -> Result<Arc<Resource>>,
    ) -> Result<Arc<Resource>> {
        if Arc::strong_count(item) == 1 {
            return make(Arc::clone(item));
        }
        let address = Arc::as_ptr(item).addr();
        if let Some(result) = self.singles.with(&address, |entry| Arc::clone(&entry.result)) {
            return Ok(result);
        }
        let result = make(Arc::clone(item))?;
        let entry = MemoEntry { result: Arc::clone(&result), _input: Arc::clone(item) };
        self.singles.insert(address, entry, 1);
        Ok(result)
    }

    /// Maps every item with `make`, or with its result from an earlier call. Drops items for which
    /// `make` returns `None`.
    pub(crate) fn map(
        &self,
        mut items: Items<Resource>,
        make: impl Fn(Arc<Resource>) -> Result<Option<Arc<Resource>>>,
    ) -> Result<Items<Resource>> {
        let Some(first) = items.first() else { return Ok(items) };
        let key = (Arc::as_ptr(first).addr(), items.len());
        if let Some(page) = self.pages.get(&key)
            && page.inputs.are_same(&items)
        {
            return Ok(page.results.clone().unwrap_or(items));
        }
        let mut results = Vec::with_capacity(items.len());
        for item in &items {
            let address = Arc::as_ptr(item).addr();
            if let Some(result) = self.entries.with(&address, |entry| Arc::clone(&entry.result)) {
                results.push(result);
            } else if let Some(result) = make(Arc::clone(item))? {
                let entry = MemoEntry { result: Arc::clone(&result), _input: Arc::clone(item) };
                self.entries.insert(address, entry, 1);
                results.push(result);
            }
        }
        let mut results = Items::from(results);
        let inputs = items.share();
        let are_same = inputs.are_same(&results);
        let page = MemoPage { inputs, results: (!are_same).then(|| results.share()) };
        self.pages.insert(key, Arc::new(page), key.1);
        Ok(if are_same { items } else { results })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resource::{Items, Resource, Uri};

    use super::{MAX_ENTRIES, MAX_SINGLES, Memo};

    fn resource(name: &str) -> Arc<Resource> {
        Arc::new(Resource::new(Uri::parse("a:b").unwrap(), name))
    }

    fn titled(mut item: Arc<Resource>) -> resource::Result<Option<Arc<Resource>>> {
        Arc::make_mut(&mut item).title = Some("t".to_owned());
        Ok(Some(item))
    }

    #[test]
    fn the_same_item_gives_the_same_result_and_another_one_its_own() {
        let memo = Memo::default();
        let (one, other) = (resource("one"), resource("other"));
        let first = memo.map(vec![Arc::clone(&one)].into(), titled).unwrap();
        let again = memo.map(vec![one, other].into(), titled).unwrap();
        assert!(Arc::ptr_eq(&first[0], &again[0]));
        assert_eq!((again[1].name.as_str(), again[1].title.as_deref()), ("other", Some("t")));
    }

    #[test]
    fn one_item_is_remembered_while_others_hold_it() {
        let memo = Memo::default();
        let map_one = |item: &Arc<Resource>| {
            memo.map_one(item, |item| titled(item).map(Option::unwrap)).unwrap()
        };
        let (passing, lasting) = (resource("passing"), resource("lasting"));
        let held = Arc::clone(&lasting);
        assert!(Arc::ptr_eq(&map_one(&lasting), &map_one(&held)));
        assert_eq!(map_one(&passing).title.as_deref(), Some("t"));
        assert_eq!((memo.singles.len(), Arc::strong_count(&passing)), (1, 1));
        for number in 0..2 * MAX_SINGLES {
            let other = resource(&number.to_string());
            let _held = Arc::clone(&other);
            map_one(&other);
        }
        assert!(memo.singles.len() <= MAX_SINGLES);
    }

    #[test]
    fn a_page_is_known_by_all_of_its_items() {
        let memo = Memo::default();
        let page: Items<_> = ["one", "two", "three"].map(resource).into_iter().collect();
        let first = memo.map(page.clone(), titled).unwrap();
        assert!(
            first
                .iter()
                .zip(&memo.map(page.clone(), titled).unwrap())
                .all(|(a, b)| Arc::ptr_eq(a, b))
        );
        let other = [Arc::clone(&page[0]), resource("four"), Arc::clone(&page[2])];
        let other: Items<_> = other.into_iter().collect();
        let second = memo.map(other.clone(), titled).unwrap();
        assert_eq!(second[1].name, "four");
        assert!(Arc::ptr_eq(&first[2], &second[2]));
        let less =
            memo.map(page[..2].to_vec().into(), |item| Ok((item.name == "none").then_some(item)));
        assert_eq!(less.unwrap().len(), 2, "made before");
        let plain = Memo::default();
        for _ in 0..2 {
            let same = plain.map(page.clone(), |item| Ok(Some(item))).unwrap();
            assert!(same.iter().zip(&page).all(|(a, b)| Arc::ptr_eq(a, b)));
            let none = plain.map(other.clone(), |_| Ok(None)).unwrap();
            assert_eq!(none.len(), 2, "two were made before");
        }
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        let memo = Memo::default();
        for _ in 0..MAX_ENTRIES + 10 {
            memo.map(vec![resource("x")].into(), titled).unwrap();
        }
        assert!(memo.entries.len() <= MAX_ENTRIES && memo.pages.weight() <= MAX_ENTRIES);
    }
}
