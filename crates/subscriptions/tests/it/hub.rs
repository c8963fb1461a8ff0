//! Tests of the hub: shared streams, debounced delivery, unsubscribing, limits.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use machinery::MemoryShares;
use resource::{Change, ErrorKind, Interest, Principal, Uri};
use subscriptions::{DebounceConfig, Hub, Mailbox, PendingChange};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};
use tokio::time;

fn interest(uri: &str) -> Interest {
    Interest::Resource(Uri::parse(uri).unwrap())
}

fn letter(uri: &str) -> PendingChange {
    PendingChange::Resource(Uri::parse(uri).unwrap())
}

fn memory_shares() -> Arc<MemoryShares> {
    Arc::new(MemoryShares::new(1 << 20, 1 << 20))
}

fn hub() -> (Arc<MemoryProvider>, Hub) {
    let memory = MemoryProvider::new()
        .collection("mem:///folder", &["mem:///folder/a", "mem:///folder/b"])
        .text("mem:///folder/a", "")
        .text("mem:///folder/b", "")
        .text("mem:///other", "")
        .with_watches();
    let memory = Arc::new(memory);
    (Arc::clone(&memory), Hub::new(memory, DebounceConfig::default(), 1000, memory_shares()))
}

fn all(mailbox: &Mailbox) -> Vec<PendingChange> {
    std::iter::from_fn(|| mailbox.take()).map(|(letter, _)| letter).collect()
}

/// Waits until every open burst is over.
async fn settled() {
    time::sleep(Duration::from_secs(2)).await;
}

#[tokio::test(start_paused = true)]
async fn one_stream_serves_all_who_share_an_interest() {
    let (memory, hub) = hub();
    let mailboxes: Vec<Mailbox> = (0..100).map(|_| Mailbox::default()).collect();
    let local = Principal::local();
    let asked =
        mailboxes.iter().map(|mailbox| hub.subscribe(&local, interest("mem:///other"), mailbox));
    let subscriptions = futures_util::future::join_all(asked).await;
    assert!(subscriptions.iter().all(Result::is_ok));
    assert_eq!((memory.watch_count(), hub.interest_count()), (1, 1));
    memory.write("mem:///other", "new");
    for mailbox in &mailboxes {
        assert_eq!(mailbox.next().await.0, letter("mem:///other"));
    }
    drop(subscriptions);
    settled().await;
    assert_eq!((memory.watch_count(), hub.interest_count()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_one_letter_and_comes_soon() {
    let (memory, hub) = hub();
    let mailbox = Mailbox::default();
    let _subscription =
        hub.subscribe(&Principal::local(), interest("mem:///other"), &mailbox).await.unwrap();
    for version in 0..1000 {
        memory.write("mem:///other", &version.to_string());
        tokio::task::yield_now().await;
    }
    let start = time::Instant::now();
    assert_eq!(mailbox.next().await.0, letter("mem:///other"));
    assert!(start.elapsed() <= DebounceConfig::default().quiet + Duration::from_millis(2));
    settled().await;
    assert_eq!(all(&mailbox), []);
}

#[tokio::test(start_paused = true)]
async fn a_change_does_not_wait_for_another_key_that_was_told_just_now() {
    let (memory, hub) = hub();
    let mailbox = Mailbox::default();
    let _a =
        hub.subscribe(&Principal::local(), interest("mem:///folder/a"), &mailbox).await.unwrap();
    let _b =
        hub.subscribe(&Principal::local(), interest("mem:///folder/b"), &mailbox).await.unwrap();
    memory.write("mem:///folder/a", "new");
    assert_eq!(mailbox.next().await.0, letter("mem:///folder/a"));
    let start = time::Instant::now();
    memory.write("mem:///folder/b", "new");
    assert_eq!(mailbox.next().await.0, letter("mem:///folder/b"));
    assert!(start.elapsed() <= DebounceConfig::default().quiet + Duration::from_millis(2));
}

#[tokio::test(start_paused = true)]
async fn whoever_asked_twice_hears_once() {
    let (memory, hub) = hub();
    let mailbox = Mailbox::default();
    let _folder =
        hub.subscribe(&Principal::local(), interest("mem:///folder"), &mailbox).await.unwrap();
    let child =
        hub.subscribe(&Principal::local(), interest("mem:///folder/a"), &mailbox).await.unwrap();
    memory.write("mem:///folder/a", "new");
    settled().await;
    assert_eq!(all(&mailbox), [letter("mem:///folder/a")]);
    memory.write("mem:///folder/a", "newer");
    settled().await;
    drop(child);
    assert_eq!(all(&mailbox), [letter("mem:///folder/a")], "the folder still asks for it");
}

#[tokio::test(start_paused = true)]
async fn nobody_hears_what_others_asked_for() {
    let (memory, hub) = hub();
    let [one, other] = [Mailbox::default(), Mailbox::default()];
    let first =
        hub.subscribe(&Principal::local(), interest("mem:///folder/a"), &one).await.unwrap();
    let _second =
        hub.subscribe(&Principal::local(), interest("mem:///folder/b"), &other).await.unwrap();
    memory.write("mem:///folder/a", "new");
    memory.write("mem:///other", "new");
    settled().await;
    assert_eq!(all(&other), []);
    drop(first);
    assert_eq!(all(&one), [], "an ended subscription is silent at once");
}

#[tokio::test(start_paused = true)]
async fn lists_are_heard_of_by_whoever_asked_for_lists() {
    let (memory, hub) = hub();
    let mailbox = Mailbox::default();
    let _lists = hub.subscribe(&Principal::local(), Interest::Listing, &mailbox).await.unwrap();
    memory.write("mem:///other", "no list changes");
    memory.write("mem:///fresh", "one does");
    memory.remove("mem:///folder/a");
    settled().await;
    assert_eq!(all(&mailbox), [PendingChange::Listing]);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_heard_of_is_refused_and_leaves_nothing_behind() {
    let (memory, hub) = hub();
    let mailbox = Mailbox::default();
    let missing =
        hub.subscribe(&Principal::local(), interest("mem:///none"), &mailbox).await.err().unwrap();
    assert_eq!(missing.kind, ErrorKind::NotFound);
    memory.inject_fault(FaultPoint::Watch, Fault::Hangs);
    assert!(
        hub.subscribe(&Principal::local(), interest("mem:///other"), &mailbox)
            .now_or_never()
            .is_none()
    );
    assert_eq!((memory.watch_count(), hub.interest_count()), (0, 0));
    memory.clear_faults();
    assert!(hub.subscribe(&Principal::local(), interest("mem:///other"), &mailbox).await.is_ok());
    let deaf = Hub::new(
        Arc::new(MemoryProvider::new().text("mem:///a", "")),
        DebounceConfig::default(),
        9,
        memory_shares(),
    );
    assert!(!deaf.has_changes());
    let refused =
        deaf.subscribe(&Principal::local(), interest("mem:///a"), &mailbox).await.err().unwrap();
    assert_eq!(refused.kind, ErrorKind::Unsupported);
}

#[tokio::test(start_paused = true)]
async fn subscribers_that_come_and_go_leave_nothing_behind() {
    let (memory, hub) = hub();
    let tasks = tokio::runtime::Handle::current().metrics();
    let before = tasks.num_alive_tasks();
    for _ in 0..1000 {
        let mailbox = Mailbox::default();
        let _one =
            hub.subscribe(&Principal::local(), interest("mem:///other"), &mailbox).await.unwrap();
        let _two = hub.subscribe(&Principal::local(), Interest::Listing, &mailbox).await.unwrap();
        memory.write("mem:///other", "new");
    }
    settled().await;
    assert_eq!((memory.watch_count(), hub.interest_count()), (0, 0));
    assert_eq!(tasks.num_alive_tasks(), before);
}

#[tokio::test(start_paused = true)]
async fn long_uris_are_subscribed_to_within_a_share_of_memory() {
    let memory = Arc::new(MemoryProvider::new().text("mem:///a", "").with_watches());
    let shares = Arc::new(MemoryShares::new(3000, 2000));
    let debounce = DebounceConfig::default();
    let hub = Hub::new(Arc::clone(&memory) as _, debounce, 100, Arc::clone(&shares));
    let mailbox = Mailbox::default();
    let one = hub.subscribe(&Principal::local(), interest("mem:///a"), &mailbox).await.unwrap();
    let refused = hub.subscribe(&Principal::local(), interest("mem:///a"), &mailbox).await;
    assert!(refused.err().unwrap().is_retryable());
    let other = Principal::authenticated("other");
    assert!(hub.subscribe(&other, interest("mem:///a"), &mailbox).await.is_ok());
    drop(one);
    assert_eq!(shares.held(), 0);
}

#[tokio::test(start_paused = true)]
async fn so_many_subscriptions_are_taken_and_no_more() {
    let memory = Arc::new(MemoryProvider::new().text("mem:///a", "").with_watches());
    let hub = Hub::new(Arc::clone(&memory) as _, DebounceConfig::default(), 2, memory_shares());
    let mailbox = Mailbox::default();
    let one = hub.subscribe(&Principal::local(), interest("mem:///a"), &mailbox).await.unwrap();
    assert!(
        hub.subscribe(&Principal::local(), interest("mem:///none"), &mailbox).await.is_err(),
        "takes no place"
    );
    let _two = hub.subscribe(&Principal::local(), interest("mem:///a"), &mailbox).await.unwrap();
    let refused =
        hub.subscribe(&Principal::local(), Interest::Listing, &mailbox).await.err().unwrap();
    assert_eq!(refused.kind, ErrorKind::Unavailable);
    drop(one);
    assert!(hub.subscribe(&Principal::local(), Interest::Listing, &mailbox).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_principal_that_takes_all_it_can_leaves_subscriptions_to_others() {
    let memory = Arc::new(MemoryProvider::new().text("mem:///a", "").with_watches());
    let hub = Hub::new(Arc::clone(&memory) as _, DebounceConfig::default(), 64, memory_shares());
    let (greedy, modest) = (Principal::authenticated("ada"), Principal::authenticated("ben"));
    let mailbox = Mailbox::default();
    let mut held = Vec::new();
    let refused = loop {
        assert!(held.len() < 64, "it took them all");
        match hub.subscribe(&greedy, interest("mem:///a"), &mailbox).await {
            Ok(subscription) => held.push(subscription),
            Err(error) => break error,
        }
    };
    assert!(refused.is_retryable(), "{refused:?}");
    assert_eq!(held.len(), 48, "three quarters");
    let other = hub.subscribe(&modest, interest("mem:///a"), &mailbox).await;
    assert!(other.is_ok());
    held.truncate(40);
    assert!(hub.subscribe(&greedy, interest("mem:///a"), &mailbox).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_principal_with_other_scopes_has_a_stream_of_its_own() {
    let secret =
        Arc::new(MemoryProvider::new().text("mem:///1", "").private_to("ada").with_watches());
    let hub = Hub::new(Arc::clone(&secret) as _, DebounceConfig::default(), 1000, memory_shares());
    let (wide, narrow) = (Mailbox::default(), Mailbox::default());
    let ada = Principal::authenticated("ada");
    let scoped = ada.with_scopes(vec!["docs".to_owned()]);
    let _one = hub.subscribe(&scoped, Interest::Everything, &wide).await.unwrap();
    let _two = hub.subscribe(&ada, Interest::Everything, &narrow).await.unwrap();
    assert_eq!((hub.interest_count(), secret.watch_count()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn principals_share_a_stream_only_where_changes_are_the_same_for_all() {
    let (alice, bob) = (Principal::authenticated("alice"), Principal::authenticated("bob"));
    let (memory, open) = hub();
    let (hers, his) = (Mailbox::default(), Mailbox::default());
    let _one = open.subscribe(&alice, interest("mem:///other"), &hers).await.unwrap();
    let _two = open.subscribe(&bob, interest("mem:///other"), &his).await.unwrap();
    assert_eq!((open.interest_count(), memory.watch_count()), (1, 1));

    let secret = MemoryProvider::new().text("mem:///1", "").text("mem:///2", "");
    let secret = Arc::new(secret.private_to("alice").with_watches());
    let apart =
        Hub::new(Arc::clone(&secret) as _, DebounceConfig::default(), 1000, memory_shares());
    let _one = apart.subscribe(&alice, Interest::Everything, &hers).await.unwrap();
    let _two = apart.subscribe(&bob, Interest::Everything, &his).await.unwrap();
    assert_eq!((apart.interest_count(), secret.watch_count()), (2, 2));
    for name in ["mem:///1", "mem:///2"] {
        secret.notify(&Change::Updated(Uri::parse(name).unwrap()));
    }
    settled().await;
    assert_eq!(all(&hers).len(), 2);
    assert_eq!(all(&his), [letter("mem:///1")], "he hears nothing of what is hers");
    let refused = apart.subscribe(&bob, interest("mem:///2"), &his).await;
    assert_eq!(refused.err().map(|error| error.kind), Some(ErrorKind::NotFound));
}
