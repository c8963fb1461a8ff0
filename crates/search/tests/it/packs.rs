//! Packs stay within their budget and hold what they must.

use proptest::prelude::{ProptestConfig, proptest};
use resource::tokens;
use search::{ContextPack, PackRequest};
use testkit::{MemoryProvider, local_context};

use crate::Indexed;

fn corpus() -> MemoryProvider {
    let long: String = (0..200)
        .map(|at| match at {
            120 => "\n## Signing\n\nCursors are signed with a key of the server.\n\n".to_owned(),
            _ => format!("Filler sentence {at} about unrelated gardening and weather.\n"),
        })
        .collect();
    let mut provider = MemoryProvider::new()
        .text("a:/rules", "House rules: answer politely.")
        .with_description(|resource| resource.annotations.priority = Some(1.0))
        .text("a:/cursors", "How cursors are signed: with BLAKE3 in keyed mode, over the list.")
        .text(
            "a:/cursors-copy",
            "How cursors are signed: with BLAKE3 in keyed mode, over the list!!! Yes.",
        )
        .text("a:/people", "How cursors are signed, for people.")
        .with_description(|resource| {
            resource.annotations.audience = vec![resource::Role::User];
        })
        .text("a:/book.md", &long)
        .of_type("text/markdown");
    for at in 0..30 {
        let text = format!("Page {at} mentions cursors among many other things. ").repeat(8);
        provider = provider.text(&format!("a:/other{at}"), &text);
    }
    provider
}

async fn pack(index: &Indexed, budget: u64) -> ContextPack {
    let question = "how are cursors signed".to_owned();
    let request = PackRequest { question, budget, filter: None };
    index.service.pack(&local_context(), &request).await.unwrap()
}

fn uris(pack: &ContextPack) -> Vec<&str> {
    pack.items.iter().map(|item| item.resource.uri.as_str()).collect()
}

fn cost(pack: &ContextPack) -> u64 {
    let item = |item: &search::PackItem| {
        tokens::estimate(&item.text) + tokens::estimate(item.resource.uri.as_str())
    };
    pack.items.iter().map(item).sum::<u64>() + tokens::estimate(&pack.summary())
}

#[tokio::test]
async fn required_first_then_the_best_without_repeats() {
    let index = Indexed::new(corpus(), None).await;
    let pack = pack(&index, 1_500).await;
    let uris = uris(&pack);
    assert_eq!(uris.first(), Some(&"a:/rules"));
    assert!(uris.contains(&"a:/cursors") || uris.contains(&"a:/cursors-copy"), "{uris:?}");
    assert!(!(uris.contains(&"a:/cursors") && uris.contains(&"a:/cursors-copy")), "{uris:?}");
    assert!(!uris.contains(&"a:/people"), "{uris:?}");
    let book = pack.items.iter().find(|item| item.resource.uri.as_str() == "a:/book.md").unwrap();
    assert!(book.text.contains("signed with a key") && book.text.len() < 4_000, "{}", book.text);
    assert!(pack.summary().contains("repeats what is there"), "{}", pack.summary());
}

#[tokio::test]
async fn many_resources_say_what_they_are_about_before_the_first_ones_say_all() {
    let filler = "A sentence about tides, ropes and other things of the harbour.\n".repeat(80);
    let mut provider = MemoryProvider::new();
    for at in 0..12 {
        let text = format!(
            "# Crane {at}\n\nCrane number {at} lifts the cargo of berth {at}.\n\n{filler}\n\
             ## Brakes\n\nThe brakes of crane {at} hold the cargo.\n\n{filler}"
        );
        provider = provider.text(&format!("a:/crane{at}.md"), &text).of_type("text/markdown");
    }
    let index = Indexed::new(provider, None).await;
    let question = "which crane lifts cargo with brakes".to_owned();
    let request = PackRequest { question, budget: 2_000, filter: None };
    let pack = index.service.pack(&local_context(), &request).await.unwrap();
    assert!(pack.items.len() >= 10, "{}", pack.summary());
    for item in &pack.items {
        assert!(item.text.contains("lifts the cargo of berth"), "{}", item.text);
    }
    let first = &pack.items[0];
    assert!(first.text.contains("hold the cargo") && first.text.contains("[…]"), "{}", first.text);
    assert!(first.places.len() > 1 && first.places[0].line < first.places[1].line);
}

#[tokio::test]
async fn of_copies_that_differ_in_their_titles_one_is_in_the_pack() {
    let line =
        |at: usize| format!("Sentence {at} is about rope {at} and tide {at} of the harbour.\n");
    let filler: String = (0..40).map(line).collect();
    let mut provider = MemoryProvider::new();
    for at in 0..4 {
        let text =
            format!("# Rollback, copy {at}\n\nMade on day {at}: run the rollback.\n\n{filler}");
        provider = provider.text(&format!("a:/copy{at}.md"), &text).of_type("text/markdown");
    }
    let index = Indexed::new(provider, None).await;
    for budget in [400, 1_000, 3_000] {
        let question = "run the rollback".to_owned();
        let request = PackRequest { question, budget, filter: None };
        let pack = index.service.pack(&local_context(), &request).await.unwrap();
        assert_eq!(pack.items.len(), 1, "{}", pack.summary());
    }
}

#[tokio::test]
async fn the_same_question_gives_the_same_pack() {
    let index = Indexed::new(corpus(), None).await;
    let [one, other] = [pack(&index, 900).await, pack(&index, 900).await];
    assert_eq!((uris(&one), one.summary()), (uris(&other), other.summary()));
}

#[test]
fn no_budget_is_exceeded() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let index = runtime.block_on(Indexed::new(corpus(), None));
    let config = ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() };
    proptest!(config, |(budget in 100_u64..6_000)| {
        let pack = runtime.block_on(pack(&index, budget));
        assert!(cost(&pack) <= budget, "{} of {budget}", cost(&pack));
        if budget >= 300 {
            assert_eq!(uris(&pack).first(), Some(&"a:/rules"));
        }
    });
}
