//! Tests of subscriptions over HTTP, across broken streams and lost sessions.

use std::sync::{Arc, Mutex};

use client::NotificationKind;
use serde_json::json;
use tokio::sync::mpsc;

use crate::scripted_http::{Reply, Request, ScriptedHttpServer, legacy, modern};
use crate::scripted_pipe::{acknowledged_params, ask, fast_options, in_time};

type Streams = Arc<Mutex<Vec<mpsc::UnboundedSender<String>>>>;

fn event(method: &str, params: &serde_json::Value) -> String {
    format!("data: {}\n\n", json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

fn updated(uri: &str) -> String {
    event("notifications/resources/updated", &json!({ "uri": uri }))
}

fn listen(request: &Request, streams: &Streams) -> Reply {
    let (sender, receiver) = mpsc::unbounded_channel();
    let acknowledged = acknowledged_params(&request.body);
    sender.send(event("notifications/subscriptions/acknowledged", &acknowledged)).unwrap();
    streams.lock().unwrap().push(sender);
    Reply::stream(receiver)
}

#[tokio::test]
async fn a_stream_of_changes_is_replaced_by_closing_the_last_one() {
    let streams = Streams::default();
    let open = Arc::clone(&streams);
    let mut site = ScriptedHttpServer::open(move |request, _| {
        modern(&request).unwrap_or_else(|| listen(&request, &open))
    })
    .await;
    let client = site.client(fast_options());
    let mut notices = client.notifications();
    assert!(in_time(client.subscribe("a:1")).await.unwrap());
    let first = site.wait_for_method("subscriptions/listen").await;
    let left = site.wait_for_disconnect("subscriptions/listen").await;
    assert_eq!(left.id(), first.id());
    streams.lock().unwrap().last().unwrap().send(updated("a:1")).unwrap();
    let notice = in_time(notices.next()).await.unwrap();
    assert_eq!(
        (notice.kind, notice.from_server),
        (NotificationKind::Updated("a:1".to_owned()), true)
    );
    // The stream ends, and the client opens another one.
    streams.lock().unwrap().clear();
    let notice = in_time(notices.next()).await.unwrap();
    assert_eq!(
        (notice.kind, notice.from_server),
        (NotificationKind::Updated("a:1".to_owned()), false)
    );
}

/// HL-04, HL-07.
#[tokio::test]
async fn the_stream_of_a_session_is_kept_open_and_taken_up_where_it_broke() {
    let streams = Streams::default();
    let open = Arc::clone(&streams);
    let mut site = ScriptedHttpServer::open(move |request, _| {
        legacy(&request, "s1").unwrap_or_else(|| match request.verb.as_str() {
            "GET" => {
                let (sender, receiver) = mpsc::unbounded_channel();
                open.lock().unwrap().push(sender);
                Reply::stream(receiver)
            }
            _ => Reply::result(&request, "{}"),
        })
    })
    .await;
    let client = site.client(fast_options());
    let mut notices = client.notifications();
    assert!(in_time(client.subscribe("a:1")).await.unwrap());
    let opened = site.wait_for_verb("GET").await;
    assert_eq!(opened.header("mcp-session-id"), "s1");
    assert!(!opened.headers.contains_key("last-event-id"));
    let say = |text: &str| streams.lock().unwrap().last().unwrap().send(text.to_owned()).unwrap();
    say(&format!("id: e7\nretry: 1\n{}", updated("a:1")));
    assert!(in_time(notices.next()).await.unwrap().from_server);
    streams.lock().unwrap().clear();
    assert_eq!(site.wait_for_verb("GET").await.header("last-event-id"), "e7");
    let reopened = async {
        while streams.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    in_time(reopened).await;
    say(&updated("a:2"));
    // The client resumed the stream, so it reports no missed changes.
    let notice = in_time(notices.next()).await.unwrap();
    assert_eq!(
        (notice.kind, notice.from_server),
        (NotificationKind::Updated("a:2".to_owned()), true)
    );
}

#[tokio::test]
async fn a_stream_that_cannot_be_taken_up_where_it_broke_has_missed_something() {
    let streams = Streams::default();
    let open = Arc::clone(&streams);
    let mut site = ScriptedHttpServer::open(move |request, _| {
        legacy(&request, "s1").unwrap_or_else(|| match request.verb.as_str() {
            "GET" => {
                let (sender, receiver) = mpsc::unbounded_channel();
                open.lock().unwrap().push(sender);
                Reply::stream(receiver)
            }
            _ => Reply::result(&request, "{}"),
        })
    })
    .await;
    let client = site.client(fast_options());
    let mut notices = client.notifications();
    assert!(in_time(client.subscribe("a:1")).await.unwrap());
    site.wait_for_verb("GET").await;
    streams.lock().unwrap().clear();
    assert!(!site.wait_for_verb("GET").await.headers.contains_key("last-event-id"));
    let notice = in_time(notices.next()).await.unwrap();
    assert_eq!(
        (notice.kind, notice.from_server),
        (NotificationKind::Updated("a:1".to_owned()), false)
    );
}

#[tokio::test]
async fn a_session_that_was_forgotten_is_watched_again_without_being_asked() {
    let sessions = Arc::new(Mutex::new(0));
    let streams = Streams::default();
    let open = Arc::clone(&streams);
    let mut site = ScriptedHttpServer::open(move |request, _| {
        let mut sessions = sessions.lock().unwrap();
        *sessions += usize::from(request.method() == "initialize");
        let current = format!("s{sessions}");
        let is_known = request.header("mcp-session-id") == current;
        legacy(&request, &current).unwrap_or_else(|| match request.method() {
            "tools/call" => {
                *sessions += 100;
                Reply::status(404)
            }
            _ if !is_known => Reply::status(404),
            "" => {
                let (sender, receiver) = mpsc::unbounded_channel();
                open.lock().unwrap().push(sender);
                Reply::stream(receiver)
            }
            _ => Reply::result(&request, "{}"),
        })
    })
    .await;
    let client = site.client(fast_options());
    let mut notices = client.notifications();
    assert!(in_time(client.subscribe("a:1")).await.unwrap());
    site.wait_for_method("resources/subscribe").await;
    assert!(in_time(ask(&client, "tools/call")).await.is_err());
    site.wait_for_method("resources/subscribe").await;
    let notice = in_time(notices.next()).await.unwrap();
    assert_eq!(
        (notice.kind, notice.from_server),
        (NotificationKind::Updated("a:1".to_owned()), false)
    );
}
