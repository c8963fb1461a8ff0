//! Tests that clients are isolated: each gets only its own notifications.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use server::{Collections, Limits};
use testkit::Memory;

use crate::desk::{self, Pipe, Site, initialize, request, stateless, until};
use crate::events::Events;

/// A client that receives notifications.
enum Hearer {
    Piped(Pipe),
    Streamed(Events),
}

impl Hearer {
    async fn hear(&mut self) -> Value {
        let told = match self {
            Self::Piped(pipe) => pipe.hear().await,
            Self::Streamed(events) => events.message().await,
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
    let memory = uris.iter().fold(Memory::new(), |memory, uri| memory.text(uri, "")).live();
    let memory = Arc::new(memory);
    let server = desk::server(Arc::clone(&memory), Limits::default(), Collections::Always);
    let site = Site::open(Arc::clone(&server)).await;
    let mut hearers = Vec::new();
    for (at, uri) in uris.iter().enumerate() {
        hearers.push(match at % 4 {
            0 => {
                let mut pipe = Pipe::open(Arc::clone(&server));
                pipe.ask(&initialize("2025-11-25")).await;
                pipe.ask(&subscribe(uri)).await;
                Hearer::Piped(pipe)
            }
            1 => {
                let mut pipe = Pipe::open(Arc::clone(&server));
                pipe.ask(&listen(uri)).await;
                Hearer::Piped(pipe)
            }
            2 => {
                let id = site.session("2025-06-18").await;
                site.within(&id, &subscribe(uri)).await;
                Hearer::Streamed(Events::session(&site, &id, None).await)
            }
            _ => {
                let mut events = Events::alone(&site, &listen(uri)).await;
                events.message().await;
                Hearer::Streamed(events)
            }
        });
    }
    for round in 0..3 {
        for uri in &uris {
            memory.write(uri, &round.to_string());
        }
        for (hearer, uri) in hearers.iter_mut().zip(&uris) {
            assert_eq!(hearer.hear().await, *uri, "its own, and nothing before it");
        }
    }
}

/// A thousand listening requests open and close; no task and no watcher is left.
#[tokio::test]
async fn listeners_that_come_and_go_leave_no_task_behind() {
    let memory = Arc::new(Memory::new().text("test://one", "").live());
    let soon = Duration::from_millis(1);
    let limits = Limits { quiet: soon, hold: soon, ..Limits::default() };
    let server = desk::server(Arc::clone(&memory), limits, Collections::Always);
    let site = Site::open(server).await;
    let tasks = tokio::runtime::Handle::current().metrics();
    let round = async |count: usize| {
        for _ in 0..count / 10 {
            let mut open = Vec::new();
            for _ in 0..10 {
                let mut events = Events::alone(&site, &listen("test://one")).await;
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
    until(|| memory.watchers() == 0).await;
    // The task that sends notifications lingers for a moment.
    until(|| tasks.num_alive_tasks() <= 1).await;
    round(1000).await;
    until(|| memory.watchers() == 0 && tasks.num_alive_tasks() <= 1).await;
}
