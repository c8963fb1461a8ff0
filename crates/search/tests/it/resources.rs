//! Tests of searches as resources: they keep what the provider contract says of lists and templates.

use std::sync::{Arc, OnceLock};

use resource::{PageRequest, Provider as _, Uri};
use search::{SearchProvider, SearchService};
use testkit::contract::{
    completions_answer, cursors_from_nowhere_are_harmless, templates_join, unknown_is_not_found,
    variables_are_as_told,
};
use testkit::{Expectations, MemoryProvider, local_context};

use crate::Indexed;

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

#[tokio::test]
async fn pages_of_hits_and_of_templates_join() {
    let mut memory = MemoryProvider::new();
    for number in 0..9 {
        memory = memory.text(&format!("note:{number}"), &format!("needle {number}"));
    }
    let indexed = Indexed::new(memory, None).await;
    let service: Arc<SearchService> = Arc::new(indexed.service);
    let slot = Arc::new(OnceLock::new());
    slot.set(Arc::downgrade(&service)).unwrap();
    let searches = SearchProvider::new(slot);
    let all = uri("search://all/needle");
    let mut lists = Vec::new();
    for limit in [2, 4, 100] {
        let (mut joined, mut paging) = (Vec::new(), PageRequest::first(limit));
        loop {
            let page = searches.list(&local_context(), Some(&all), &paging).await.unwrap();
            assert!(page.items.len() <= limit, "a page of {limit} is larger");
            joined.extend(page.items.iter().map(|item| item.uri.clone()));
            match page.next {
                None => break,
                next => paging.cursor = next,
            }
        }
        assert_eq!(joined.len(), 9, "pages of {limit}");
        lists.push(joined);
    }
    assert!(lists.windows(2).all(|pair| pair[0] == pair[1]));
    templates_join(&searches).await;
    variables_are_as_told(&searches).await;
    completions_answer(&searches).await;
    cursors_from_nowhere_are_harmless(&searches).await;
    let missing = ["search://all", "search://all/", "pack://", "note:0"].map(uri).to_vec();
    unknown_is_not_found(&searches, &Expectations { missing, ..Expectations::default() }).await;
}
