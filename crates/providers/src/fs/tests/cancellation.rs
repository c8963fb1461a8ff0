//! Tests of cancellation, single flight and the limit on blocking threads.

use std::iter;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context as Wakers, Poll, Waker};

use futures_util::{FutureExt as _, StreamExt as _};
use resource::{
    Body, ByteSource, Content, Context, PageRequest, Part, Principal, ProgressSink, Provider as _,
    ReadRequest,
};

use super::{ListingMode, ServedFs, Tree, uri};
use crate::permits::PrincipalPermits;

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
    // None of them asks for more than its share.
    let (principals, ask) = ([context_of("ada"), context_of("ben")], PageRequest::first(10));
    let parents: Vec<_> = (0..=all).map(|number| uri(&format!("file:///{number}"))).collect();
    let list = |(at, parent)| {
        let ctx: &Context = &principals[at % 2];
        Box::pin(desk.0.list(ctx, Some(parent), &ask))
    };
    let mut lists: Vec<_> = parents.iter().enumerate().map(list).collect();
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

fn context_of(principal: &str) -> Context {
    Context::new(Principal::authenticated(principal))
}

#[tokio::test]
async fn a_principal_that_fills_the_line_leaves_a_thread_to_others() {
    let tree = Tree::of([]);
    let (gate, watch) = gate();
    let mut desk = tree.serve_hiding(ListingMode::Tree, move |path| gate.pass(path));
    desk.set_local(false);
    let all = desk.0.root.blocking_permits.available_permits();
    let crowd = 3 * all;
    for number in 0..=crowd {
        tree.write(format!("{number}/name"), "");
    }
    let (greedy, honest) = (context_of("greedy"), context_of("honest"));
    let ask = PageRequest::first(10);
    let parents: Vec<_> = (0..=crowd).map(|number| uri(&format!("file:///{number}"))).collect();
    let (last, first) = parents.split_last().unwrap();
    let mut lists: Vec<_> =
        first.iter().map(|parent| Box::pin(desk.0.list(&greedy, Some(parent), &ask))).collect();
    lists.iter_mut().for_each(|list| assert!(poll(list.as_mut()).is_pending()));
    let begun = all * 3 / 4;
    (0..begun).for_each(|_| watch.begun.recv().unwrap());
    assert_eq!(desk.0.root.blocking_permits.available_permits(), all - begun);
    let mut other = Box::pin(desk.0.list(&honest, Some(last), &ask));
    assert!(poll(other.as_mut()).is_pending());
    watch.begun.recv().unwrap();
    // One look for each list, and those of the crowd that have not begun.
    (0..=crowd).for_each(|_| watch.go_on.send(()).unwrap());
    assert_eq!(other.await.unwrap().items.len(), 1);
    for list in lists {
        assert_eq!(list.await.unwrap().items.len(), 1);
    }
}

#[tokio::test]
async fn a_file_that_is_decoded_waits_for_its_share_like_any_other_work() {
    let tree = Tree::of([]);
    // UTF-16: decoding runs on a blocking thread, whether the file is in memory or not.
    let text = "x".repeat(3 << 20);
    let encoded: Vec<u8> =
        iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    tree.write("large", encoded);
    let desk = tree.serve(ListingMode::Tree);
    let ctx = context_of("ada");
    let permits = PrincipalPermits {
        all: Arc::clone(&desk.0.root.blocking_permits),
        principal: Arc::clone(ctx.principal().key()),
    };
    let request = ReadRequest::whole(u64::MAX);
    let reading = desk.0.read(&ctx, &uri("file:///large"), &request).await.unwrap();
    let Content::Parts(mut parts) = reading.content else { panic!("a file has content") };
    let Some(Part { body: Body::Text(ByteSource::Stream(mut chunks)), .. }) = parts.pop() else {
        panic!("a large file is streamed")
    };
    let mut held = Vec::new();
    while let Some(permit) = permits.acquire().now_or_never() {
        held.push(permit.unwrap());
    }
    let mut next = chunks.next();
    assert!(poll(pin!(&mut next)).is_pending());
    drop(held);
    assert!(!next.await.unwrap().unwrap().is_empty());
}
