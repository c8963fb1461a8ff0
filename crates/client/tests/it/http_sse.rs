//! Tests of the HTTP+SSE transport (2024-11-05).

use std::sync::{Arc, Mutex};

use client::Error;
use serde_json::json;
use tokio::sync::mpsc;

use crate::scripted_http::{Reply, ScriptedHttpServer};
use crate::scripted_pipe::{ask, fast_options, in_time, initialize_result};

/// An HTTP+SSE server that names `endpoint` for POST.
async fn older(endpoint: &'static str) -> ScriptedHttpServer {
    let streams: Arc<Mutex<Option<mpsc::UnboundedSender<String>>>> = Arc::default();
    ScriptedHttpServer::open(move |request, _| {
        if request.verb == "GET" {
            let (sender, receiver) = mpsc::unbounded_channel();
            sender.send(format!("event: endpoint\ndata: {endpoint}\n\n")).unwrap();
            *streams.lock().unwrap() = Some(sender);
            return Reply::stream(receiver);
        }
        if request.path == "/mcp" {
            return Reply::status(405);
        }
        let result = match request.method() {
            "initialize" => initialize_result("2024-11-05"),
            "resources/list" => json!({ "resources": [] }),
            "tools/call" => {
                streams.lock().unwrap().take();
                return Reply::status(202);
            }
            _ => return Reply::status(202),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": request.id(), "result": result });
        let event = format!("event: message\ndata: {answer}\n\n");
        streams.lock().unwrap().as_ref().unwrap().send(event).unwrap();
        Reply::status(202)
    })
    .await
}

/// HS-01.
#[tokio::test]
async fn messages_are_posted_where_the_stream_says_and_answered_on_it() {
    let mut site = older("/messages?session=1").await;
    let client = site.client(fast_options());
    let answer = in_time(ask(&client, "resources/list")).await.unwrap();
    assert_eq!(answer.get(), r#"{"resources":[]}"#);
    assert_eq!(client.peer().await.unwrap().revision(), "2024-11-05");
    assert_eq!(site.wait_for_method("resources/list").await.path, "/messages?session=1");
}

#[tokio::test]
async fn an_end_of_the_stream_ends_what_waits_and_is_recovered_from() {
    let site = older("/messages").await;
    let client = site.client(fast_options());
    let error = in_time(ask(&client, "tools/call")).await.unwrap_err();
    assert!(matches!(error, Error::Closed(_)), "{error}");
    let again = async {
        while ask(&client, "resources/list").await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    in_time(again).await;
}

#[tokio::test]
async fn messages_are_not_posted_to_another_server() {
    for endpoint in ["http://127.0.0.1:9/messages", "//127.0.0.1:9/messages", "https://evil/"] {
        let site = older(endpoint).await;
        let error = in_time(site.client(fast_options()).peer()).await.unwrap_err();
        assert!(matches!(error, Error::Malformed(_)), "{endpoint}: {error}");
    }
}
