//! Tests of the watcher registry: handles are bounded, expire, and are never shown in full.

use std::sync::Arc;
use std::time::Duration;

use resource::{Principal, Uri};
use subscriptions::{DebounceConfig, Hub};
use testkit::{Expectations, MemoryProvider, contract};
use tokio::time;

use super::{IDLE_TIMEOUT, MAX_HANDLES, MIN_EVICTION_IDLE, WatcherOwner, WatcherRegistry};

fn hub() -> Hub {
    let memory = MemoryProvider::new().text("a:1", "one").text("a:2", "two").with_watches();
    Hub::new(
        Arc::new(memory),
        DebounceConfig::default(),
        10,
        Arc::new(machinery::MemoryShares::new(1 << 20, 1 << 20)),
    )
}

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

#[tokio::test]
async fn who_watches_what_is_a_resource_like_others() {
    let (watchers, hub) = (WatcherRegistry::new(), hub());
    let watcher = watchers.create(WatcherOwner::Session, &Principal::local()).unwrap();
    for name in ["a:1", "a:2"] {
        watcher.subscribe((&hub, &Principal::local()), &uri(name), 2).await.unwrap();
    }
    watcher.set_last_error("a:日本: Resource not found".to_owned());
    let text = watchers.status_json(&testkit::local_context());
    assert!(text.contains(&watcher.handle[..8]) && !text.contains(&watcher.handle[..9]), "{text}");
    // It exists for nobody else.
    let [_, other] = testkit::two_contexts();
    assert!(!watchers.status_json(&other).contains(&watcher.handle[..8]));
    watchers.register(&watcher).unwrap();
    assert!(watchers.find_by_handle(&watcher.handle, &Principal::local()).is_some());
    assert!(watchers.find_by_handle(&watcher.handle, other.principal()).is_none());
    let known = Expectations {
        missing: vec![uri("refdesk://subscriptions/1"), uri("refdesk://mounts")],
        ..Expectations::default()
    };
    contract(&watchers, &known).await;
}

#[tokio::test]
async fn one_watches_no_more_than_it_may() {
    let (watchers, hub) = (WatcherRegistry::new(), hub());
    let watcher = watchers.create(WatcherOwner::Handle, &Principal::local()).unwrap();
    watcher.subscribe((&hub, &Principal::local()), &uri("a:1"), 1).await.unwrap();
    watcher.subscribe((&hub, &Principal::local()), &uri("a:1"), 1).await.unwrap();
    let full = watcher.subscribe((&hub, &Principal::local()), &uri("a:2"), 1).await;
    assert!(full.unwrap_err().message.contains("at most 1"));
    assert_eq!((watcher.watched_uris(), hub.interest_count()), (vec![uri("a:1")], 1));
    watcher.unsubscribe(None);
    let (one, other) = (uri("a:1"), uri("a:2"));
    let local = Principal::local();
    let both = tokio::join!(
        watcher.subscribe((&hub, &local), &one, 1),
        watcher.subscribe((&hub, &local), &other, 1)
    );
    assert_eq!((both.0.is_ok(), both.1.is_ok()), (true, false), "even at once");
    drop(watcher);
    assert_eq!(hub.interest_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_handle_that_nobody_uses_ends_by_itself() {
    let (watchers, hub) = (WatcherRegistry::new(), hub());
    let watcher = watchers.create(WatcherOwner::Handle, &Principal::local()).unwrap();
    watcher.subscribe((&hub, &Principal::local()), &uri("a:1"), 1).await.unwrap();
    watchers.register(&watcher).unwrap();
    let handle = watcher.handle.clone();
    drop(watcher);
    for _ in 0..3 {
        time::sleep(IDLE_TIMEOUT - Duration::from_secs(1)).await;
        assert!(
            watchers.find_by_handle(&handle, &Principal::local()).is_some(),
            "it was used in between"
        );
    }
    assert_eq!(hub.interest_count(), 1);
    time::sleep(IDLE_TIMEOUT + Duration::from_secs(1)).await;
    assert_eq!(
        (watchers.find_by_handle(&handle, &Principal::local()).is_none(), hub.interest_count()),
        (true, 0)
    );
    assert!(!watchers.status_json(&testkit::local_context()).contains(&handle[..8]));
}

#[tokio::test(start_paused = true)]
async fn a_principal_that_takes_all_handles_makes_room_for_another_and_takes_none_of_its() {
    let watchers = WatcherRegistry::new();
    let [greedy, modest] = ["ada", "alan"].map(Principal::authenticated);
    let one = |principal: &Principal| {
        let watcher = watchers.create(WatcherOwner::Handle, principal).unwrap();
        watchers.register(&watcher).map(|()| watcher.handle.clone())
    };
    let first = one(&greedy).unwrap();
    for _ in 1..MAX_HANDLES {
        one(&greedy).unwrap();
    }
    let other = one(&modest).expect("it has fewer");
    assert!(watchers.find_by_handle(&first, &greedy).is_none(), "the longest idle made room");
    time::sleep(MIN_EVICTION_IDLE + Duration::from_secs(1)).await;
    for _ in 0..2 * MAX_HANDLES {
        // Its own handles are idle for long enough at first.
        if one(&greedy).is_err() {
            break;
        }
    }
    assert!(watchers.find_by_handle(&other, &modest).is_some(), "it is idle for as long");
    assert_eq!(watchers.table.lock().by_handle.len(), MAX_HANDLES);
}

#[test]
fn a_handle_is_for_the_scopes_that_it_was_made_with() {
    let watchers = WatcherRegistry::new();
    let narrow = Principal::authenticated("ada");
    let wide = narrow.with_scopes(vec!["secret".to_owned()]);
    let watcher = watchers.create(WatcherOwner::Handle, &wide).unwrap();
    watchers.table.lock().by_handle.insert(watcher.handle.clone(), Arc::clone(&watcher));
    assert!(watchers.find_by_handle(&watcher.handle, &wide).is_some());
    assert!(watchers.find_by_handle(&watcher.handle, &narrow).is_none());
}

#[tokio::test(start_paused = true)]
async fn whoever_is_silent_makes_room_for_others() {
    let watchers = WatcherRegistry::new();
    let one = || {
        let watcher = watchers.create(WatcherOwner::Handle, &Principal::local()).unwrap();
        watchers.register(&watcher).map(|()| watcher.handle.clone())
    };
    let first = one().unwrap();
    time::sleep(Duration::from_secs(1)).await;
    let second = one().unwrap();
    for _ in 2..MAX_HANDLES {
        one().unwrap();
    }
    assert!(one().unwrap_err().message.contains("in use"), "no handle is idle yet");
    time::sleep(MIN_EVICTION_IDLE + Duration::from_secs(1)).await;
    one().unwrap();
    assert_eq!(
        (
            watchers.find_by_handle(&first, &Principal::local()).is_none(),
            watchers.find_by_handle(&second, &Principal::local()).is_some()
        ),
        (true, true)
    );
}
