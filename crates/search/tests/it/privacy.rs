//! What a principal may not see leaves no trace in what the index tells it.

use resource::{Context, Principal};
use testkit::MemoryProvider;

use crate::Indexed;

#[tokio::test]
async fn hits_counts_snippets_and_suggestions_are_those_of_the_principal() {
    let provider = MemoryProvider::new()
        .text("a:/public", "quarterly figures for everyone")
        .text("a:/secret", "quarterly acquisition of Zyxwcorp")
        .private_to("alice");
    let index = Indexed::new(provider, None).await;
    let [alice, bob] = ["alice", "bob"].map(|name| Context::new(Principal::authenticated(name)));
    let of = |results: search::SearchResults| -> Vec<String> {
        results.hits.iter().map(|hit| hit.resource.uri.to_string()).collect()
    };
    assert_eq!(of(index.search_as(&alice, "quarterly").await).len(), 2);
    assert_eq!(of(index.search_as(&bob, "quarterly").await), ["a:/public"]);
    let results = index.search_as(&bob, "zyxwcorp").await;
    assert!(results.hits.is_empty() && results.next.is_none() && results.suggestion.is_none());
    // A misspelling suggests a word to whoever may see it, and to nobody else.
    let suggested = index.search_as(&alice, "zyxwcor").await.suggestion;
    assert_eq!(suggested.as_deref(), Some("zyxwcorp"));
    assert_eq!(index.search_as(&bob, "zyxwcor").await.suggestion, None);
    let pack = search::PackRequest {
        question: "quarterly acquisition".to_owned(),
        budget: 2_000,
        filter: None,
    };
    let pack = index.service.pack(&bob, &pack).await.unwrap();
    assert_eq!(pack.items.len(), 1);
    assert!(!pack.summary().contains("secret"), "{}", pack.summary());
}
