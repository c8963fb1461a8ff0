//! What did we make of this resource the last time?
//!
//! A source that gives the very same description again gets the very same result again, without
//! its being made anew; whoever comes behind can recognise it in turn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use resource::{Resource, Result};

/// How many results are kept. Beyond that all are forgotten, which costs time and nothing else.
const MOST: usize = 16 << 10;

/// Results, by the address of what they were made from.
#[derive(Default)]
pub(crate) struct Memo {
    kept: Mutex<HashMap<usize, Made>>,
}

/// A result, and what it was made from: that is kept so that its address stays its own.
struct Made {
    result: Arc<Resource>,
    _from: Arc<Resource>,
}

impl Memo {
    /// Puts every item through `make`, unless that was done before. What it leaves out is left out.
    pub(crate) fn map(
        &self,
        items: Vec<Arc<Resource>>,
        make: impl Fn(Arc<Resource>) -> Result<Option<Arc<Resource>>>,
    ) -> Result<Vec<Arc<Resource>>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut results = Vec::with_capacity(items.len());
        for item in items {
            let address = Arc::as_ptr(&item).addr();
            if let Some(made) = kept.get(&address) {
                results.push(Arc::clone(&made.result));
                continue;
            }
            if let Some(result) = make(Arc::clone(&item))? {
                if kept.len() >= MOST {
                    kept.clear();
                }
                kept.insert(address, Made { result: Arc::clone(&result), _from: item });
                results.push(result);
            }
        }
        Ok(results)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resource::{Resource, Uri};

    use super::{MOST, Memo};

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
        let first = memo.map(vec![Arc::clone(&one)], titled).unwrap();
        let again = memo.map(vec![one, other], titled).unwrap();
        assert!(Arc::ptr_eq(&first[0], &again[0]));
        assert_eq!((again[1].name.as_str(), again[1].title.as_deref()), ("other", Some("t")));
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        let memo = Memo::default();
        for _ in 0..MOST + 10 {
            memo.map(vec![resource("x")], titled).unwrap();
        }
        assert!(memo.kept.lock().unwrap().len() <= MOST);
    }
}
