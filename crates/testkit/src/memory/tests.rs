//! Tests of the in-memory provider: counters, faults, change streams.

use futures_util::{FutureExt, StreamExt};
use resource::{Change, ErrorKind, Interest, PageRequest, Provider, ReadRequest, Uri};

use super::{Fault, FaultPoint, MemoryProvider};

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

#[tokio::test]
async fn what_is_asked_is_counted() {
    let memory = MemoryProvider::new().text("mem:///a", "a");
    let ctx = crate::local_context();
    memory.list(&ctx, None, &PageRequest::first(1)).await.unwrap();
    memory.stat(&ctx, &uri("mem:///a")).await.unwrap();
    memory.read(&ctx, &uri("mem:///a"), &ReadRequest::whole(100)).await.unwrap();
    memory.read(&ctx, &uri("mem:///a"), &ReadRequest::whole(100)).await.unwrap();
    let counts = memory.counts();
    assert_eq!((counts.lists(), counts.stats(), counts.reads()), (1, 1, 2));
    assert_eq!(counts.in_flight(), 0);
}

#[tokio::test]
async fn a_fault_stays_until_it_is_mended() {
    let memory = MemoryProvider::new().text("mem:///a", "a").text("mem:///b", "b");
    let ctx = crate::local_context();
    memory.inject_fault(FaultPoint::Read(uri("mem:///a")), Fault::Fails(ErrorKind::Unavailable));
    for _ in 0..2 {
        let error =
            memory.read(&ctx, &uri("mem:///a"), &ReadRequest::whole(100)).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unavailable);
    }
    assert!(memory.read(&ctx, &uri("mem:///b"), &ReadRequest::whole(100)).await.is_ok());
    memory.clear_faults();
    assert!(memory.read(&ctx, &uri("mem:///a"), &ReadRequest::whole(100)).await.is_ok());
}

#[tokio::test]
async fn a_request_that_hangs_runs_until_it_is_dropped() {
    let memory = MemoryProvider::new().text("mem:///a", "a");
    memory.inject_fault(FaultPoint::Read(uri("mem:///a")), Fault::Hangs);
    let (ctx, a, whole) = (crate::local_context(), uri("mem:///a"), ReadRequest::whole(100));
    let mut read = memory.read(&ctx, &a, &whole);
    assert!((&mut read).now_or_never().is_none());
    assert_eq!(memory.counts().in_flight(), 1);
    drop(read);
    assert_eq!(memory.counts().in_flight(), 0);
}

#[tokio::test]
async fn watchers_hear_what_touches_their_interest() {
    let (a, b) = (uri("mem:///a"), uri("mem:///b"));
    let memory = MemoryProvider::new()
        .text("mem:///a", "a")
        .collection("mem:///folder", &["mem:///b"])
        .text("mem:///b", "b")
        .with_watches();
    let watch = async |interest| {
        let watch = memory.facets().watch.unwrap();
        watch.watch(&crate::local_context(), interest).await.unwrap()
    };
    let all = watch(Interest::Everything).await;
    let lists = watch(Interest::Listing).await;
    let folder = watch(Interest::Resource(uri("mem:///folder"))).await;
    assert_eq!(memory.watch_count(), 3);
    memory.write("mem:///a", "new");
    memory.remove("mem:///b");
    let (updated, removed) = (Change::Updated(a), Change::Removed(b));
    assert_eq!(all.take(3).collect::<Vec<_>>().await, [updated, removed.clone(), Change::Listing]);
    assert_eq!(lists.take(1).collect::<Vec<_>>().await, [Change::Listing]);
    assert_eq!(folder.take(1).collect::<Vec<_>>().await, [removed]);
    assert_eq!(memory.watch_count(), 0);
    assert!(MemoryProvider::new().facets().watch.is_none());
}
