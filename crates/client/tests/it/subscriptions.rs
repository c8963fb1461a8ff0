//! Tests of subscriptions over a pipe, across reconnects.

use std::collections::BTreeSet;
use std::time::Duration;

use client::{NotificationKind, NotificationReceiver};
use resource::ComponentKind;
use serde_json::json;

use crate::scripted_pipe::{
    ERAS, Era, ScriptedPipeServer, acknowledged_params, ask, fast_options, in_time,
    subscription_meta,
};

const UPDATED: &str = "notifications/resources/updated";

/// The URIs of the next `count` changes, and how many of them the server sent.
async fn changes(
    notifications: &mut NotificationReceiver,
    count: usize,
) -> (BTreeSet<String>, usize) {
    let (mut uris, mut heard) = (BTreeSet::new(), 0);
    for _ in 0..count {
        let notice = in_time(notifications.next()).await.unwrap();
        heard += usize::from(notice.from_server);
        uris.insert(match notice.kind {
            NotificationKind::Updated(uri) => uri,
            NotificationKind::ResourceListChanged => "list".to_owned(),
            kind => panic!("{kind:?}"),
        });
    }
    (uris, heard)
}

fn set(uris: &[&str]) -> BTreeSet<String> {
    uris.iter().copied().map(str::to_owned).collect()
}

#[tokio::test(start_paused = true)]
async fn a_resource_is_watched_in_the_way_of_a_session() {
    let (client, mut heard) =
        ScriptedPipeServer::client(fast_options(), |mut talk, _| async move {
            let mut next = talk.complete_opening(Era::Legacy).await;
            while let Some(message) = next {
                talk.answer(&message, json!({})).await;
                if message["method"] == "resources/subscribe" {
                    talk.notify(UPDATED, json!({ "uri": "a:1/sub", "extra": 1.0 })).await;
                }
                next = talk.receive().await;
            }
        });
    let mut notices = client.notifications();
    assert!(client.subscribe("a:1").await.unwrap());
    assert_eq!(heard.next("resources/subscribe").await["params"]["uri"], "a:1");
    let notice = in_time(notices.next()).await.unwrap();
    assert_eq!(notice.kind, NotificationKind::Updated("a:1/sub".to_owned()));
    assert!(notice.from_server);
    assert_eq!(notice.params.unwrap().get(), r#"{"extra":1.0,"uri":"a:1/sub"}"#);
    client.unsubscribe("a:1").await.unwrap();
    assert_eq!(heard.next("resources/unsubscribe").await["params"]["uri"], "a:1");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_tells_of_nothing_is_not_asked_to() {
    let (client, mut heard) =
        ScriptedPipeServer::client(fast_options(), |mut talk, _| async move {
            while let Some(message) = talk.receive().await {
                let result = json!({ "supportedVersions": ["2026-07-28"],
                "capabilities": { "resources": {} } });
                talk.answer(&message, result).await;
            }
        });
    assert!(!client.subscribe("a:1").await.unwrap());
    assert_eq!(heard.so_far(), ["server/discover"]);
}

/// The server acknowledges the new listen stream before the client drops the old one.
#[tokio::test(start_paused = true)]
async fn one_subscription_follows_another_without_a_gap() {
    let (client, mut heard) =
        ScriptedPipeServer::client(fast_options(), |mut talk, _| async move {
            let mut next = talk.complete_opening(Era::Modern).await;
            while let Some(message) = next {
                if message["method"] == "subscriptions/listen" {
                    // Long enough that a cancellation sent too early would arrive before.
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    let acknowledged = acknowledged_params(&message);
                    talk.notify("notifications/subscriptions/acknowledged", acknowledged).await;
                }
                next = talk.receive().await;
            }
        });
    client.peer().await.unwrap();
    let first = heard.next("subscriptions/listen").await;
    assert_eq!(first["params"]["notifications"]["resourcesListChanged"], true);
    assert!(client.subscribe("a:1").await.unwrap());
    let second = heard.next("subscriptions/listen").await;
    assert_eq!(second["params"]["notifications"]["resourceSubscriptions"], json!(["a:1"]));
    assert_eq!(heard.next("notifications/cancelled").await["params"]["requestId"], first["id"]);
    assert!(client.subscribe("a:2").await.unwrap());
    let third = heard.next("subscriptions/listen").await;
    assert_eq!(third["params"]["notifications"]["resourceSubscriptions"], json!(["a:1", "a:2"]));
    client.unsubscribe("a:1").await.unwrap();
    let fourth = heard.next("subscriptions/listen").await;
    assert_eq!(fourth["params"]["notifications"]["resourceSubscriptions"], json!(["a:2"]));
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_a_server_does_not_agree_to_watch_is_told_and_let_go() {
    let (client, mut heard) =
        ScriptedPipeServer::client(fast_options(), |mut talk, _| async move {
            let mut next = talk.complete_opening(Era::Modern).await;
            while let Some(message) = next {
                if message["method"] == "subscriptions/listen" {
                    let params = json!({ "_meta": subscription_meta(&message),
                    "notifications": { "resourceSubscriptions": ["a:good"] } });
                    talk.notify("notifications/subscriptions/acknowledged", params).await;
                }
                next = talk.receive().await;
            }
        });
    assert!(!client.subscribe("a:bad").await.unwrap());
    assert!(client.subscribe("a:good").await.unwrap());
    let wanted = async {
        loop {
            let listen = heard.next("subscriptions/listen").await;
            let wanted = &listen["params"]["notifications"]["resourceSubscriptions"];
            if *wanted == json!(["a:good"]) {
                return;
            }
        }
    };
    in_time(wanted).await;
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_ends_is_made_again_and_what_may_have_been_missed_is_told() {
    // MCP 2026-07-28, subscriptions: a server may end the stream with a result or by cancelling it.
    for cancels in [false, true] {
        let (client, _heard) =
            ScriptedPipeServer::client(fast_options(), move |mut talk, _| async move {
                let mut next = talk.complete_opening(Era::Modern).await;
                let mut watched = 0;
                while let Some(message) = next {
                    if message["method"] == "subscriptions/listen" {
                        let acknowledged = acknowledged_params(&message);
                        talk.notify("notifications/subscriptions/acknowledged", acknowledged).await;
                        let uris = &message["params"]["notifications"]["resourceSubscriptions"];
                        watched += usize::from(uris.is_array());
                        if watched == 1 && cancels {
                            let params = json!({ "requestId": message["id"] });
                            talk.notify("notifications/cancelled", params).await;
                        } else if watched == 1 {
                            talk.answer(&message, json!({ "resultType": "complete" })).await;
                        }
                    }
                    next = talk.receive().await;
                }
            });
        let mut notices = client.notifications();
        assert!(client.subscribe("a:1").await.unwrap());
        assert_eq!(changes(&mut notices, 2).await, (set(&["a:1", "list"]), 0), "{cancels}");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_everything_is_watched_again_and_told_as_changed_once() {
    for era in ERAS {
        let (client, mut heard) =
            ScriptedPipeServer::client(fast_options(), move |mut talk, turn| async move {
                let mut next = talk.complete_opening(era).await;
                while let Some(message) = next {
                    match message["method"].as_str() {
                        Some("subscriptions/listen") => {
                            let acknowledged = acknowledged_params(&message);
                            talk.notify("notifications/subscriptions/acknowledged", acknowledged)
                                .await;
                        }
                        Some("tools/call") if turn == 0 => return,
                        Some("notifications/cancelled") => {}
                        _ => talk.answer(&message, json!({})).await,
                    }
                    next = talk.receive().await;
                }
            });
        let mut notices = client.notifications();
        assert!(client.subscribe("a:1").await.unwrap());
        assert!(client.subscribe("a:2").await.unwrap());
        // The server exits, and the test sends no request afterwards.
        assert!(ask(&client, "tools/call").await.is_err());
        assert_eq!(changes(&mut notices, 3).await, (set(&["a:1", "a:2", "list"]), 0), "{era:?}");
        heard.next("tools/call").await;
        let again = match era {
            Era::Modern => heard.next("subscriptions/listen").await,
            Era::Legacy => heard.next("resources/subscribe").await,
        };
        assert!(again.to_string().contains("a:1") || again.to_string().contains("a:2"));
        assert!(notices.take().is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_changes_is_heard_completely_and_one_of_chatter_in_part() {
    let (client, _heard) = ScriptedPipeServer::client(fast_options(), |mut talk, _| async move {
        let request = talk.complete_opening(Era::Legacy).await.unwrap();
        for index in 0..5_000 {
            talk.notify(UPDATED, json!({ "uri": format!("a:{index}") })).await;
            talk.notify("notifications/message", json!({ "index": index })).await;
            talk.notify("notifications/tools/list_changed", json!({})).await;
        }
        talk.answer(&request, json!({})).await;
        talk.receive().await;
    });
    let mut notices = client.notifications();
    ask(&client, "resources/list").await.unwrap();
    let heard: Vec<NotificationKind> =
        std::iter::from_fn(|| notices.take()).map(|notice| notice.kind).collect();
    let updated =
        heard.iter().filter(|about| matches!(about, NotificationKind::Updated(_))).count();
    let tools = NotificationKind::ComponentListChanged(ComponentKind::Tool);
    let listed = heard.iter().filter(|about| **about == tools).count();
    assert_eq!((updated, listed), (5_000, 1));
    let others = heard.len() - updated - listed;
    assert_eq!(others as u64 + notices.dropped(), 5_000);
}
