//! Tests of cancellation, single flight and the limit on blocking threads.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context as Wakers, Poll, Waker};

use resource::{PageRequest, ProgressSink, Provider as _};

use super::{ListingMode, ServedFs, Tree, uri};

/// Reports when work in a folder begins, blocks it until released, and counts filter calls.
///
/// Blocks the folder `many` once, at its first name, and any other folder at each name.
struct Gate {
    begun: Sender<()>,
    go_on: Mutex<Receiver<()>>,
    looks: Arc<AtomicUsize>,
}

/// The test's end of the gate.
struct GateControl {
    begun: Receiver<()>,
    go_on: Sender<()>,
    looks: Arc<AtomicUsize>,
}

fn gate() -> (Gate, GateControl) {
    let ((begun, has_begun), (go_on, may_go_on)) = (channel(), channel());
    let looks = Arc::new(AtomicUsize::new(0));
    let gate = Gate { begun, go_on: Mutex::new(may_go_on), looks: looks.clone() };
    (gate, GateControl { begun: has_begun, go_on, looks })
}

impl Gate {
    fn pass(&self, path: &str) -> bool {
        let looks = self.looks.fetch_add(1, Ordering::SeqCst);
        if path.contains('/') && (looks == 1 || !path.starts_with("many")) {
            self.begun.send(()).unwrap();
            self.go_on.lock().unwrap().recv().unwrap();
        }
        false
    }
}

/// Serves a folder of `many` names as if from a remote disk.
fn slow(many: usize) -> (Tree, ServedFs, GateControl) {
    let tree = Tree::of([]);
    for number in 0..many {
        tree.write(format!("many/{number}"), "");
    }
    let (gate, watch) = gate();
    let mut desk = tree.serve_hiding(ListingMode::Tree, move |path| gate.pass(path));
    desk.set_local(false);
    (tree, desk, watch)
}

/// Signals when the work's context is dropped.
struct DropSignal(Sender<()>);

impl ProgressSink for DropSignal {
    fn report(&self, _step: resource::ProgressStep) {}
}

impl Drop for DropSignal {
    fn drop(&mut self) {
        self.0.send(()).unwrap();
    }
}

/// Polls `work` once.
fn poll<T>(work: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    work.poll(&mut Wakers::from_waker(Waker::noop()))
}

#[tokio::test]
async fn a_dropped_request_stops_its_work() {
    const MANY: usize = 5_000;
    let (_tree, desk, watch) = slow(MANY);
    let (ended, has_ended) = channel();
    {
        let ctx = testkit::local_context().with_progress(Arc::new(DropSignal(ended)));
        let (parent, ask) = (uri("file:///many"), PageRequest::first(10));
        let mut list = pin!(desk.0.list(&ctx, Some(&parent), &ask));
        assert!(poll(list.as_mut()).is_pending());
        watch.begun.recv().unwrap();
    }
    let before = watch.looks.load(Ordering::SeqCst);
    watch.go_on.send(()).unwrap();
    has_ended.recv().unwrap();
    let after = watch.looks.load(Ordering::SeqCst);
    assert!(after - before <= 256, "{before}, then {after} of {MANY}");
    assert!(desk.0.root.name_cache.get(&b"many"[..]).is_none());
}

#[tokio::test]
async fn who_asks_for_a_folder_that_is_being_read_waits_without_a_thread() {
    let (_tree, desk, watch) = slow(300);
    let all = desk.0.root.blocking_permits.available_permits();
    let (ctx, parent, ask) =
        (testkit::local_context(), uri("file:///many"), PageRequest::first(10));
    let mut first = pin!(desk.0.list(&ctx, Some(&parent), &ask));
    assert!(poll(first.as_mut()).is_pending());
    watch.begun.recv().unwrap();
    let mut second = Box::pin(desk.0.list(&ctx, Some(&parent), &ask));
    let mut third = Box::pin(desk.0.list(&ctx, Some(&parent), &ask));
    // Their jobs return at once, so that only the first holds a permit.
    while poll(second.as_mut()).is_pending()
        && desk.0.root.blocking_permits.available_permits() != all - 1
    {
        tokio::task::yield_now().await;
    }
    while poll(third.as_mut()).is_pending()
        && desk.0.root.blocking_permits.available_permits() != all - 1
    {
        tokio::task::yield_now().await;
    }
    assert!(watch.looks.load(Ordering::SeqCst) < 300, "only the first reads the names");
    drop(second);
    assert_eq!(desk.0.root.blocking_permits.available_permits(), all - 1);
    watch.go_on.send(()).unwrap();
    assert_eq!(first.await.unwrap().items.len(), 10);
    assert_eq!(third.await.unwrap().items.len(), 10);
    assert_eq!(desk.0.root.blocking_permits.available_permits(), all);
}

#[tokio::test]
async fn only_so_many_threads_work_at_once_and_the_others_wait_in_line() {
    let tree = Tree::of([]);
    let (gate, watch) = gate();
    let mut desk = tree.serve_hiding(ListingMode::Tree, move |path| gate.pass(path));
    desk.set_local(false);
    let all = desk.0.root.blocking_permits.available_permits();
    for number in 0..=all {
        tree.write(format!("{number}/name"), "");
    }
    let (ctx, ask) = (testkit::local_context(), PageRequest::first(10));
    let parents: Vec<_> = (0..=all).map(|number| uri(&format!("file:///{number}"))).collect();
    let mut lists: Vec<_> =
        parents.iter().map(|parent| Box::pin(desk.0.list(&ctx, Some(parent), &ask))).collect();
    let mut last = lists.pop().unwrap();
    for list in &mut lists {
        assert!(poll(list.as_mut()).is_pending());
        watch.begun.recv().unwrap();
    }
    assert_eq!(desk.0.root.blocking_permits.available_permits(), 0);
    assert!(poll(last.as_mut()).is_pending());
    let begun = watch.looks.load(Ordering::SeqCst);
    drop(last);
    for _ in &lists {
        watch.go_on.send(()).unwrap();
    }
    for list in lists {
        assert_eq!(list.await.unwrap().items.len(), 1);
    }
    assert_eq!(watch.looks.load(Ordering::SeqCst), begun, "the last one never began");
    assert_eq!(desk.0.root.blocking_permits.available_permits(), all);
}
