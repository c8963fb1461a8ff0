//! What a principal may not see leaves no trace in what the index tells it.

use resource::{Context, ErrorKind, Principal, Uri};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};

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

#[tokio::test]
async fn a_copy_that_cannot_be_read_hides_none_that_can() {
    let provider = MemoryProvider::new()
        .text("a:/1-broken", "one text about cursors")
        .text("a:/2-whole", "one text about cursors");
    let index = Indexed::new(provider, None).await;
    let broken = FaultPoint::Read(Uri::parse("a:/1-broken").unwrap());
    index.provider.inject_fault(broken, Fault::Fails(ErrorKind::Denied));
    assert_eq!(index.uris("about cursors").await, ["a:/2-whole"]);
}
