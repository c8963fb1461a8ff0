//! Tests of servers without a connection: how long lists wait for them, and what follows.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use client::{Backoff, Client, PipeOpener, PipeReader, PipeWriter, ServerTarget};
use futures_core::Stream;
use parking_lot::Mutex;
use resource::{Change, ComponentKind, ErrorKind, Interest, PageRequest, Provider, UriRewrite};
use serde_json::json;
use tokio::io::{DuplexStream, copy_bidirectional, duplex, join, split};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::scripted_server::{ScriptedReply, ScriptedServer};
use super::{Options, Upstream, page, within_timeout};

/// The default.
const START_WAIT: Duration = Duration::from_secs(1);

/// A server that takes connections and stays silent, until it is up.
struct SlowServer {
    server: Arc<ScriptedServer>,
    state: Mutex<SlowState>,
}

#[derive(Default)]
struct SlowState {
    is_up: bool,
    silent: Vec<DuplexStream>,
    open: Vec<AbortHandle>,
}

impl SlowServer {
    fn new() -> Arc<Self> {
        let server = ScriptedServer::old(json!({ "resources": {}, "tools": {} }), |method, _| {
            ScriptedReply::Result(match method {
                "resources/list" => json!({ "resources": [{ "uri": "a://1", "name": "1" }] }),
                _ => json!({ "tools": [], "resourceTemplates": [] }),
            })
        });
        Arc::new(Self { server, state: Mutex::default() })
    }

    fn upstream(self: &Arc<Self>) -> Upstream {
        let moment = Duration::from_millis(1);
        let options = client::Options {
            backoff: Backoff { first: moment, max: moment },
            connect_timeout: Duration::from_secs(30),
            ..client::Options::default()
        };
        let client = Client::new(ServerTarget::Pipes(Arc::clone(self) as _), options);
        Upstream::new(Options::new(client))
    }

    fn come_up(&self) {
        self.state.lock().is_up = true;
    }

    /// Ends all connections. New ones are silent.
    fn go_down(&self) {
        let mut state = self.state.lock();
        state.is_up = false;
        state.open.drain(..).for_each(|connection| connection.abort());
    }
}

impl PipeOpener for SlowServer {
    fn open(&self) -> io::Result<(PipeReader, PipeWriter)> {
        let (ours, mut theirs) = duplex(1 << 16);
        let mut state = self.state.lock();
        if state.is_up {
            let (read, write) = self.server.open()?;
            let copying = async move {
                drop(copy_bidirectional(&mut theirs, &mut join(read, write)).await);
            };
            state.open.push(tokio::spawn(copying).abort_handle());
        } else {
            state.silent.push(theirs);
        }
        let (read, write) = split(ours);
        Ok((Box::new(read), Box::new(write)))
    }
}

struct Unchanged;

impl UriRewrite for Unchanged {
    fn to_public(&self, _local: &str) -> Option<String> {
        None
    }

    fn to_local(&self, _public: &str) -> Option<String> {
        None
    }
}

/// Runs a list that must fail, and after the time that a list waits.
async fn fails_in_time<T>(list: impl Future<Output = resource::Result<T>>) -> String {
    let begun = Instant::now();
    let error = within_timeout(list).await.map(drop).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
    let waited = begun.elapsed();
    assert!(waited <= START_WAIT + Duration::from_millis(10), "{waited:?}: {error}");
    error.to_string()
}

/// Every list of a server that is not up gives up in time.
async fn all_lists_fail_in_time(upstream: &Upstream) -> String {
    let (ctx, paging) = (testkit::local_context(), PageRequest::new(None, 5));
    let facets = upstream.facets();
    let (relay, skills) = (facets.relay.unwrap(), facets.skills.unwrap());
    fails_in_time(upstream.templates(&ctx, &paging)).await;
    fails_in_time(upstream.list(&ctx, Some(&super::uri("a://")), &paging)).await;
    for kind in ComponentKind::ALL {
        fails_in_time(relay.list_components(&ctx, kind, &Unchanged, &paging)).await;
    }
    // A server that was connected is known to have none.
    if skills.may_list_skills(&ctx) {
        fails_in_time(skills.list_skills(&ctx, &paging)).await;
        fails_in_time(skills.list_skill_index(&ctx, &paging)).await;
    }
    fails_in_time(page(upstream, None, 5)).await
}

/// Waits for the next change of the stream.
async fn next_change(changes: &mut Pin<Box<dyn Stream<Item = Change> + Send>>) -> Option<Change> {
    within_timeout(std::future::poll_fn(|task| changes.as_mut().poll_next(task))).await
}

#[tokio::test(start_paused = true)]
async fn a_list_waits_a_short_time_for_a_server_that_starts_failed_or_is_lost() {
    let slow = SlowServer::new();
    let upstream = slow.upstream();
    let ctx = testkit::local_context();
    let watch = upstream.facets().watch.unwrap();
    let mut changes = within_timeout(watch.watch(&ctx, Interest::Listing)).await.unwrap();
    assert_eq!(all_lists_fail_in_time(&upstream).await, "the server is still starting");
    // The first attempt fails; the next one hangs as long.
    let mut status = upstream.inner.client.status();
    let failed = status.wait_for(|status| matches!(status.state, client::State::Failed(_)));
    drop(within_timeout(failed).await.unwrap());
    tokio::time::sleep(Duration::from_secs(3)).await;
    let cannot = "the server behind this mount cannot be reached";
    assert_eq!(all_lists_fail_in_time(&upstream).await, cannot);
    slow.come_up();
    assert_eq!(next_change(&mut changes).await.unwrap().without_extra(), &Change::Listing);
    assert_eq!(within_timeout(page(&upstream, None, 5)).await.unwrap().items.len(), 1);
    slow.go_down();
    let lost = status.wait_for(|status| !matches!(status.state, client::State::Ready(_)));
    drop(within_timeout(lost).await.unwrap());
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(all_lists_fail_in_time(&upstream).await, cannot);
    slow.come_up();
    assert_eq!(next_change(&mut changes).await.unwrap().without_extra(), &Change::Listing);
    assert_eq!(within_timeout(page(&upstream, None, 5)).await.unwrap().items.len(), 1);
}
