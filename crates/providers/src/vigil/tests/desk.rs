//! Tests of the rescan loop: subscribers do not block or break each other.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use futures_util::StreamExt as _;
use resource::Change;

use super::super::desk::{Desk, Left, Lookout, enlist};
use super::super::ears::Heard;
use crate::feed::{Feed, Stories};

/// Sends a change whenever anything may have changed.
struct Post(Desk<Task>);

/// If not zero, the next rescan panics, once.
struct Task(usize);

impl Lookout for Post {
    type Memory = Task;

    fn desk(&self) -> &Desk<Task> {
        &self.0
    }

    fn look(&self, memory: &mut Task, heard: &Heard, feed: &Feed) -> Left {
        if heard.all {
            assert!(memory.0 == 0, "{} to go", std::mem::replace(&mut memory.0, 0));
            feed.tell(Change::Listing);
        }
        Left::Nothing
    }
}

fn post() -> Arc<Post> {
    Arc::new(Post(Desk::new(Duration::from_secs(3_000), 8)))
}

async fn is_told(stories: &mut Stories) {
    let told = tokio::time::timeout(Duration::from_secs(10), stories.next()).await;
    assert_eq!(told.expect("no change within ten seconds"), Some(Change::Listing));
}

#[tokio::test]
async fn nobody_waits_for_one_who_is_busy_and_that_one_looks_later() {
    let post = post();
    let (busy, mut late) = enlist(&post, Task(0));
    let mut others = [(); 8].map(|()| enlist(&post, Task(0)).1);
    let ((begun, has_begun), (go_on, may_go_on)) = (channel(), channel::<()>());
    let work = tokio::task::spawn_blocking(move || {
        let _memory = busy.memory();
        begun.send(()).unwrap();
        may_go_on.recv().unwrap();
    });
    has_begun.recv().unwrap();
    post.0.ears().unwrap().overflow();
    for other in &mut others {
        is_told(other).await;
    }
    go_on.send(()).unwrap();
    work.await.unwrap();
    is_told(&mut late).await;
}

#[tokio::test]
async fn a_look_that_breaks_off_is_taken_again_and_costs_nobody_else_theirs() {
    let post = post();
    let mut all = [1, 0, 1, 0, 0, 1].map(|breaks| enlist(&post, Task(breaks)).1);
    post.0.ears().unwrap().overflow();
    for stories in &mut all {
        is_told(stories).await;
    }
}

#[tokio::test]
async fn very_many_leave_at_once() {
    const MANY: usize = 50_000;
    let post = post();
    let all: Vec<_> = (0..MANY).map(|_| enlist(&post, Task(0)).1).collect();
    assert_eq!(post.0.parties().len(), MANY);
    all.into_iter().rev().for_each(drop);
    assert!(post.0.parties().is_empty());
}
