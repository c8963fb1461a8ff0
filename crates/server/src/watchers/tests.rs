//! Tests of the watcher registry: handles are bounded, expire, and are never shown in full.

use std::sync::Arc;
use std::time::Duration;

use resource::Uri;
use testkit::{Known, Memory, contract};
use tokio::time;
use watch::{Calm, Hub};

use super::{HANDLES, IDLE, Party, Watchers, YIELDS};

fn hub() -> Hub {
    let memory = Memory::new().text("a:1", "one").text("a:2", "two").live();
    Hub::new(Arc::new(memory), Calm::default(), 10)
}

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

#[tokio::test]
async fn who_watches_what_is_a_resource_like_others() {
    let (watchers, hub) = (Watchers::new(), hub());
    let watcher = watchers.begin(Party::Session).unwrap();
    for name in ["a:1", "a:2"] {
        watcher.add(&hub, &uri(name), 2).await.unwrap();
    }
    watcher.failed("a:日本: Resource not found".to_owned());
    let text = watchers.text();
    assert!(text.contains(&watcher.handle[..8]) && !text.contains(&watcher.handle[..9]), "{text}");
    let known = Known {
        leaves: vec![(watchers.uri().clone(), text.into_bytes())],
        missing: vec![uri("refdesk://subscriptions/1"), uri("refdesk://mounts")],
        ..Known::default()
    };
    contract(&watchers, &known).await;
}

#[tokio::test]
async fn one_watches_no_more_than_it_may() {
    let (watchers, hub) = (Watchers::new(), hub());
    let watcher = watchers.begin(Party::Handle).unwrap();
    watcher.add(&hub, &uri("a:1"), 1).await.unwrap();
    watcher.add(&hub, &uri("a:1"), 1).await.unwrap();
    let full = watcher.add(&hub, &uri("a:2"), 1).await;
    assert!(full.unwrap_err().message.contains("at most 1"));
    assert_eq!((watcher.watching(), hub.interests()), (vec![uri("a:1")], 1));
    watcher.remove(None);
    let (one, other) = (uri("a:1"), uri("a:2"));
    let both = tokio::join!(watcher.add(&hub, &one, 1), watcher.add(&hub, &other, 1));
    assert_eq!((both.0.is_ok(), both.1.is_ok()), (true, false), "even at once");
    drop(watcher);
    assert_eq!(hub.interests(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_handle_that_nobody_uses_ends_by_itself() {
    let (watchers, hub) = (Watchers::new(), hub());
    let watcher = watchers.begin(Party::Handle).unwrap();
    watcher.add(&hub, &uri("a:1"), 1).await.unwrap();
    watchers.keep(&watcher).unwrap();
    let handle = watcher.handle.clone();
    drop(watcher);
    for _ in 0..3 {
        time::sleep(IDLE - Duration::from_secs(1)).await;
        assert!(watchers.find(&handle).is_some(), "it was used in between");
    }
    assert_eq!(hub.interests(), 1);
    time::sleep(IDLE + Duration::from_secs(1)).await;
    assert_eq!((watchers.find(&handle).is_none(), hub.interests()), (true, 0));
    assert!(!watchers.text().contains(&handle[..8]));
}

#[tokio::test(start_paused = true)]
async fn whoever_is_silent_makes_room_for_others() {
    let watchers = Watchers::new();
    let one = || {
        let watcher = watchers.begin(Party::Handle).unwrap();
        watchers.keep(&watcher).map(|()| watcher.handle.clone())
    };
    let first = one().unwrap();
    time::sleep(Duration::from_secs(1)).await;
    let second = one().unwrap();
    for _ in 2..HANDLES {
        one().unwrap();
    }
    assert!(one().unwrap_err().message.contains("in use"), "no handle is idle yet");
    time::sleep(YIELDS + Duration::from_secs(1)).await;
    one().unwrap();
    assert_eq!((watchers.find(&first).is_none(), watchers.find(&second).is_some()), (true, true));
}
