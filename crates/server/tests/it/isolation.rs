//! Tests that clients are isolated: each gets only its own notifications.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use server::{CollectionsMode, Limits};
use testkit::MemoryProvider;

use crate::fixture::{self, HttpFixture, StdioClient, initialize, request, stateless, until};
use crate::sse_client::SseClient;

/// A client that receives notifications.
enum NotificationClient {
    Stdio(StdioClient),
    Sse(SseClient),
}

impl NotificationClient {
    async fn next_uri(&mut self) -> Value {
        let told = match self {
            Self::Stdio(pipe) => pipe.receive().await,
            Self::Sse(events) => events.message().await,
        };
        assert_eq!(told["method"], "notifications/resources/updated", "{told}");
        told["params"]["uri"].clone()
    }
}

fn subscribe(uri: &str) -> Value {
    request(1, "resources/subscribe", json!({ "uri": uri }))
}

fn listen(uri: &str) -> Value {
    let wishes = json!({ "resourceSubscriptions": [uri] });
    stateless(1, "subscriptions/listen", json!({ "notifications": wishes }))
}

/// Two clients of each kind, each subscribed to a resource of its own.
#[tokio::test]
async fn nobody_hears_of_what_another_subscribed_to() {
    let uris: Vec<String> = (0..8).map(|at| format!("test://{at}")).collect();
    let memory =
        uris.iter().fold(MemoryProvider::new(), |memory, uri| memory.text(uri, "")).with_watches();
    let memory = Arc::new(memory);
    let server = fixture::server(Arc::clone(&memory), Limits::default(), CollectionsMode::Always);
    let site = HttpFixture::open(Arc::clone(&server)).await;
    let mut hearers = Vec::new();
    for (at, uri) in uris.iter().enumerate() {
        hearers.push(match at % 4 {
            0 => {
                let mut pipe = StdioClient::open(Arc::clone(&server));
                pipe.call(&initialize("2025-11-25")).await;
                pipe.call(&subscribe(uri)).await;
                NotificationClient::Stdio(pipe)
            }
            1 => {
                let mut pipe = StdioClient::open(Arc::clone(&server));
                pipe.call(&listen(uri)).await;
                NotificationClient::Stdio(pipe)
            }
            2 => {
                let id = site.open_session("2025-06-18").await;
                site.post_in_session(&id, &subscribe(uri)).await;
                NotificationClient::Sse(SseClient::session(&site, &id, None).await)
            }
            _ => {
                let mut events = SseClient::alone(&site, &listen(uri)).await;
                events.message().await;
                NotificationClient::Sse(events)
            }
        });
    }
    for round in 0..3 {
        for uri in &uris {
            memory.write(uri, &round.to_string());
        }
        for (hearer, uri) in hearers.iter_mut().zip(&uris) {
            assert_eq!(hearer.next_uri().await, *uri, "its own, and nothing before it");
        }
    }
}

/// A thousand listening requests open and close; no task and no watcher is left.
#[tokio::test]
async fn listeners_that_come_and_go_leave_no_task_behind() {
    let memory = Arc::new(MemoryProvider::new().text("test://one", "").with_watches());
    let soon = Duration::from_millis(1);
    let limits = Limits { debounce_quiet: soon, debounce_max: soon, ..Limits::default() };
    let server = fixture::server(Arc::clone(&memory), limits, CollectionsMode::Always);
    let site = HttpFixture::open(server).await;
    let tasks = tokio::runtime::Handle::current().metrics();
    let round = async |count: usize| {
        for _ in 0..count / 10 {
            let mut open = Vec::new();
            for _ in 0..10 {
                let mut events = SseClient::alone(&site, &listen("test://one")).await;
                events.message().await;
                open.push(events);
            }
            memory.write("test://one", "new");
            for events in &mut open {
                events.message().await;
            }
        }
    };
    round(10).await;
    until(|| memory.watch_count() == 0).await;
    // The task that sends notifications lingers for a moment.
    until(|| tasks.num_alive_tasks() <= 1).await;
    round(1000).await;
    until(|| memory.watch_count() == 0 && tasks.num_alive_tasks() <= 1).await;
}
