//! Tests of connection status, backoff, and reconnects.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use client::{
    Backoff, Client, Error, Options, PipeOpener, PipeReader, PipeWriter, ServerTarget, State,
};
use serde_json::json;

use crate::scripted_http::{Reply, ScriptedHttpServer, modern};
use crate::scripted_pipe::{Era, ScriptedPipeServer, ask, fast_options, in_time};

/// A server that is never reachable and counts the attempts.
struct UnreachableServer(AtomicUsize);

impl PipeOpener for UnreachableServer {
    fn open(&self) -> std::io::Result<(PipeReader, PipeWriter)> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Err(std::io::Error::other("nobody home"))
    }
}

#[tokio::test(start_paused = true)]
async fn while_a_failure_is_fresh_requests_fail_at_once_and_nobody_is_asked() {
    let absent = Arc::new(UnreachableServer(AtomicUsize::new(0)));
    let (first, most) = (Duration::from_secs(1), Duration::from_secs(8));
    let options = Options { backoff: Backoff { first, max: most }, ..Options::default() };
    let client =
        Client::new(ServerTarget::Pipes(Arc::<UnreachableServer>::clone(&absent)), options);
    for attempts in 1..=6 {
        for _ in 0..10 {
            let error = ask(&client, "resources/list").await.unwrap_err();
            assert!(matches!(&error, Error::Unreachable(why) if why.contains("nobody home")));
        }
        assert_eq!(absent.0.load(Ordering::SeqCst), attempts);
        // The delay never exceeds the bound.
        tokio::time::sleep(most).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_again_has_failed_since_the_first_time() {
    let absent = Arc::new(UnreachableServer(AtomicUsize::new(0)));
    let client = Client::new(ServerTarget::Pipes(absent), Options::default());
    let state = client.status();
    let begun = state.borrow().clone();
    assert!(begun.last_failure.is_none());
    ask(&client, "resources/list").await.unwrap_err();
    let first = state.borrow().clone();
    let (why, at) = first.last_failure.unwrap();
    assert!(why.contains("nobody home") && at == first.since && at >= begun.since, "{why}");
    tokio::time::sleep(Duration::from_secs(3600)).await;
    ask(&client, "resources/list").await.unwrap_err();
    let second = state.borrow().clone();
    assert_eq!(second.since, first.since);
    assert!(second.last_failure.unwrap().1 > at);
}

#[tokio::test(start_paused = true)]
async fn a_client_connects_at_the_first_request_and_tells_how_it_goes() {
    let (client, mut heard) =
        ScriptedPipeServer::client(fast_options(), |mut talk, _| async move {
            let mut next = talk.complete_opening(Era::Legacy).await;
            while let Some(message) = next {
                if message["method"] == "tools/call" {
                    return;
                }
                talk.answer(&message, json!({})).await;
                next = talk.receive().await;
            }
        });
    let mut state = client.status();
    assert!(matches!(state.borrow().state, State::Starting));
    tokio::task::yield_now().await;
    assert!(heard.so_far().is_empty());
    ask(&client, "resources/list").await.unwrap();
    assert!(
        matches!(&state.borrow_and_update().state, State::Ready(peer) if peer.capabilities.has_resources)
    );
    assert!(ask(&client, "tools/call").await.is_err());
    let failed = state.wait_for(|standing| matches!(standing.state, State::Failed(_)));
    in_time(failed).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn many_requests_at_once_share_one_connection() {
    let (client, mut heard) =
        ScriptedPipeServer::client(fast_options(), |mut talk, _| async move {
            let mut next = talk.complete_opening(Era::Legacy).await;
            while let Some(message) = next {
                talk.answer(&message, message["params"].clone()).await;
                next = talk.receive().await;
            }
        });
    let requests = (0..500).map(|_| ask(&client, "resources/list"));
    let answers = futures_util::future::join_all(requests).await;
    assert!(answers.iter().all(Result::is_ok));
    let openings = heard.so_far().into_iter().filter(|method| method == "initialize").count();
    assert_eq!(openings, 1);
}

#[tokio::test]
async fn a_server_that_comes_back_is_found_again() {
    let act = |request: crate::scripted_http::Request, _: usize| {
        modern(&request).unwrap_or_else(|| match request.method() {
            "subscriptions/listen" => Reply::error(404, &request, -32601),
            _ => Reply::result(&request, "{}"),
        })
    };
    let site = ScriptedHttpServer::open(act).await;
    let (port, client) = (site.port, site.client(fast_options()));
    ask(&client, "resources/list").await.unwrap();
    drop(site);
    let down = async {
        while ask(&client, "resources/list").await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    in_time(down).await;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let _site = ScriptedHttpServer::on(listener, act);
    let up = async {
        while ask(&client, "resources/list").await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    in_time(up).await;
}
