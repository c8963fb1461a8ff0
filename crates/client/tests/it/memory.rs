//! Tests of the memory budget: what arrives from a server counts until it is decoded.

use std::sync::{Arc, Mutex};

use client::Options;
use machinery::MemoryBudget;
use tokio::sync::{Notify, mpsc};
use tokio::task;

use crate::scripted_http::{self, Reply, ScriptedHttpServer};
use crate::scripted_pipe::{ERAS, ScriptedPipeServer, ask, fast_options, in_time};

/// Much more than the limit of the budget: a message that arrives is not refused.
const LENGTH: usize = 300_000;

fn options(memory: &Arc<MemoryBudget>) -> Options {
    Options { memory: Arc::clone(memory), ..fast_options() }
}

/// Waits until the budget holds what `wanted` says.
async fn until(memory: &MemoryBudget, wanted: impl Fn(usize) -> bool) {
    let held = async {
        while !wanted(memory.held()) {
            task::yield_now().await;
        }
    };
    in_time(held).await;
}

#[tokio::test]
async fn half_a_line_of_a_server_counts_until_the_answer_is_there() {
    for era in ERAS {
        let (memory, go_on) = (MemoryBudget::new(1), Arc::new(Notify::new()));
        let gate = Arc::clone(&go_on);
        let (client, _heard) = ScriptedPipeServer::client(options(&memory), move |mut talk, _| {
            let gate = Arc::clone(&gate);
            async move {
                let mut next = talk.complete_opening(era).await;
                while next.as_ref().is_some_and(|one| one["method"] != "resources/list") {
                    next = talk.receive().await;
                }
                let message = next.unwrap();
                let start = format!(r#"{{"jsonrpc":"2.0","id":{},"result":"#, message["id"]);
                talk.send_part(&start).await;
                talk.send_part(&format!(r#"{{"pad":"{}"#, "x".repeat(LENGTH))).await;
                gate.notified().await;
                talk.send_line(r#""}}"#).await;
                while talk.receive().await.is_some() {}
            }
        });
        client.peer().await.unwrap();
        let asked = ask(&client, "resources/list");
        let judged = async {
            until(&memory, |held| held > LENGTH).await;
            assert!(memory.hold(1).is_none(), "a further request is refused meanwhile");
            go_on.notify_one();
        };
        let (answer, ()) = in_time(async { tokio::join!(asked, judged) }).await;
        assert!(answer.unwrap().get().len() > LENGTH);
        until(&memory, |held| held == 0).await;
    }
}

#[tokio::test]
async fn half_a_body_or_event_of_a_server_counts_until_the_answer_is_there() {
    let shapes = [("application/json", "", ""), ("text/event-stream", "data: ", "\n\n")];
    for (content_type, before, after) in shapes {
        let memory = MemoryBudget::new(1);
        let (sender, receiver) = mpsc::unbounded_channel();
        let body = Mutex::new(Some(receiver));
        let opened = ScriptedHttpServer::open(move |request, _| match request.method() {
            "resources/list" => Reply::streamed(content_type, body.lock().unwrap().take().unwrap()),
            _ => scripted_http::modern(&request).unwrap_or_else(Reply::hang),
        });
        let mut server = opened.await;
        let client = server.client(options(&memory));
        let asked = ask(&client, "resources/list");
        let judged = async {
            let id = server.wait_for_method("resources/list").await.id().clone();
            let pad = "x".repeat(LENGTH);
            let start = r#"{"jsonrpc":"2.0","id""#;
            sender.send(format!(r#"{before}{start}:{id},"result":{{"pad":"{pad}"#)).unwrap();
            until(&memory, |held| held > LENGTH).await;
            assert!(memory.hold(1).is_none(), "a further request is refused meanwhile");
            sender.send(format!(r#""}}}}{after}"#)).unwrap();
            drop(sender);
        };
        let (answer, ()) = in_time(async { tokio::join!(asked, judged) }).await;
        assert!(answer.unwrap().get().len() > LENGTH);
        until(&memory, |held| held == 0).await;
    }
}
