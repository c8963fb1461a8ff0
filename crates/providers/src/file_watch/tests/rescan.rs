//! Tests of the rescan loop: subscribers do not block or break each other.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use futures_util::StreamExt as _;
use resource::Change;

use super::super::inotify::DirtySet;
use super::super::rescan::{RescanLoop, RescanOutcome, Rescanner, subscribe};
use crate::change_channel::{ChangeReceiver, ChangeSender};

/// Sends a change whenever anything may have changed.
struct TestRescanner(RescanLoop<PendingPanics>);

/// If not zero, the next rescan panics, once.
struct PendingPanics(usize);

impl Rescanner for TestRescanner {
    type Memory = PendingPanics;

    fn rescan_loop(&self) -> &RescanLoop<PendingPanics> {
        &self.0
    }

    fn rescan(
        &self,
        memory: &mut PendingPanics,
        dirty: &DirtySet,
        changes: &ChangeSender,
    ) -> RescanOutcome {
        if dirty.all {
            assert!(memory.0 == 0, "{} to go", std::mem::replace(&mut memory.0, 0));
            changes.send(Change::Listing);
        }
        RescanOutcome::Done
    }
}

fn test_rescanner() -> Arc<TestRescanner> {
    Arc::new(TestRescanner(RescanLoop::new(Duration::from_secs(3_000), 8)))
}

async fn expect_change(receiver: &mut ChangeReceiver) {
    let told = tokio::time::timeout(Duration::from_secs(10), receiver.next()).await;
    assert_eq!(told.expect("no change within ten seconds"), Some(Change::Listing));
}

#[tokio::test]
async fn nobody_waits_for_one_who_is_busy_and_that_one_looks_later() {
    let post = test_rescanner();
    let (busy, mut late) = subscribe(&post, PendingPanics(0));
    let mut others = [(); 8].map(|()| subscribe(&post, PendingPanics(0)).1);
    let ((begun, has_begun), (go_on, may_go_on)) = (channel(), channel::<()>());
    let work = tokio::task::spawn_blocking(move || {
        let _memory = busy.memory();
        begun.send(()).unwrap();
        may_go_on.recv().unwrap();
    });
    has_begun.recv().unwrap();
    post.0.inotify().unwrap().simulate_overflow();
    for other in &mut others {
        expect_change(other).await;
    }
    go_on.send(()).unwrap();
    work.await.unwrap();
    expect_change(&mut late).await;
}

#[tokio::test]
async fn a_look_that_breaks_off_is_taken_again_and_costs_nobody_else_theirs() {
    let post = test_rescanner();
    let mut all = [1, 0, 1, 0, 0, 1].map(|breaks| subscribe(&post, PendingPanics(breaks)).1);
    post.0.inotify().unwrap().simulate_overflow();
    for stories in &mut all {
        expect_change(stories).await;
    }
}

#[tokio::test]
async fn very_many_leave_at_once() {
    const MANY: usize = 50_000;
    let post = test_rescanner();
    let all: Vec<_> = (0..MANY).map(|_| subscribe(&post, PendingPanics(0)).1).collect();
    assert_eq!(post.0.subscribers().len(), MANY);
    all.into_iter().rev().for_each(drop);
    assert!(post.0.subscribers().is_empty());
}
