//! Tests of negotiation over a pipe: which era a server belongs to.

use std::time::Duration;

use client::{Error, Options};
use serde_json::json;
use tokio::time::Instant;

use crate::scripted_pipe::{
    Era, ScriptedPipeServer, ask, discover_result, fast_options, initialize_result,
};

async fn revision(client: &client::Client) -> String {
    client.peer().await.unwrap().revision().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_server_that_can_be_discovered_is_modern_and_gets_no_handshake() {
    let (client, mut heard) =
        ScriptedPipeServer::client(fast_options(), |mut talk, _| async move {
            let request = talk.complete_opening(Era::Modern).await.unwrap();
            if request["method"] != "subscriptions/listen" {
                talk.answer(&request, json!({})).await;
            }
            while talk.receive().await.is_some() {}
        });
    let peer = client.peer().await.unwrap();
    assert_eq!((peer.revision(), peer.name.as_deref()), ("2026-07-28", Some("new")));
    let discover = heard.next("server/discover").await;
    let version = &discover["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    assert_eq!(version, "2026-07-28");
    assert!(!heard.so_far().contains(&"initialize".to_owned()));
}

/// MCP 2026-07-28, versioning: the fallback must not depend on one specific error code.
#[tokio::test(start_paused = true)]
async fn any_other_error_to_the_first_question_means_a_handshake() {
    for code in [-32601, -32602, -32600, -32000, -32002, 0, 7] {
        let (client, mut heard) =
            ScriptedPipeServer::client(fast_options(), move |mut talk, _| async move {
                while let Some(message) = talk.receive().await {
                    match message["method"].as_str() {
                        Some("server/discover") => {
                            talk.refuse(&message, json!({ "code": code, "message": "no" })).await;
                        }
                        Some("initialize") => {
                            talk.answer(&message, initialize_result("2025-06-18")).await
                        }
                        _ => {}
                    }
                }
            });
        assert_eq!(revision(&client).await, "2025-06-18", "{code}");
        let opening = heard.next("initialize").await;
        assert_eq!(opening["params"]["protocolVersion"], "2025-11-25");
        heard.next("notifications/initialized").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_for_five_seconds_gets_a_handshake() {
    let (client, _heard) =
        ScriptedPipeServer::client(Options::default(), |mut talk, _| async move {
            while let Some(message) = talk.receive().await {
                if message["method"] == "initialize" {
                    talk.answer(&message, initialize_result("2024-11-05")).await;
                }
            }
        });
    let began = Instant::now();
    assert_eq!(revision(&client).await, "2024-11-05");
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_that_takes_long_to_begin_is_asked_again() {
    let (client, mut heard) =
        ScriptedPipeServer::client(Options::default(), |mut talk, _| async move {
            let [first, second] = [talk.receive().await.unwrap(), talk.receive().await.unwrap()];
            talk.answer(&first, discover_result()).await;
            talk.refuse(&second, json!({ "code": -32601, "message": "no" })).await;
            while let Some(message) = talk.receive().await {
                if message["method"] == "server/discover" {
                    talk.answer(&message, discover_result()).await;
                } else {
                    talk.refuse(&message, json!({ "code": -32601, "message": "no" })).await;
                }
            }
        });
    assert_eq!(revision(&client).await, "2026-07-28");
    assert_eq!(&heard.so_far()[..3], ["server/discover", "initialize", "server/discover"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_names_our_revision_as_supported_is_modern() {
    let (client, mut heard) =
        ScriptedPipeServer::client(fast_options(), |mut talk, _| async move {
            while let Some(message) = talk.receive().await {
                let offer = json!({ "supported": ["2026-07-28"], "requested": "x" });
                talk.refuse(&message, json!({ "code": -32022, "message": "v", "data": offer }))
                    .await;
            }
        });
    assert_eq!(revision(&client).await, "2026-07-28");
    assert_eq!(heard.so_far(), ["server/discover"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_offers_only_revisions_with_a_handshake_gets_one() {
    let (client, _heard) = ScriptedPipeServer::client(fast_options(), |mut talk, _| async move {
        while let Some(message) = talk.receive().await {
            if message["method"] == "initialize" {
                talk.answer(&message, initialize_result("2025-03-26")).await;
            } else {
                let offer = json!({ "supported": ["2025-03-26"] });
                let error = json!({ "code": -32022, "message": "v", "data": offer });
                talk.refuse(&message, error).await;
            }
        }
    });
    assert_eq!(revision(&client).await, "2025-03-26");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_speaks_nothing_we_know_is_unreachable_and_says_what_it_speaks() {
    let (client, _heard) = ScriptedPipeServer::client(fast_options(), |mut talk, _| async move {
        while let Some(message) = talk.receive().await {
            let offer = json!({ "supported": ["2031-01-01"] });
            talk.refuse(&message, json!({ "code": -32022, "message": "v", "data": offer })).await;
        }
    });
    let error = client.peer().await.unwrap_err();
    assert!(matches!(&error, Error::Unreachable(why) if why.contains("2031-01-01")), "{error}");
}

#[tokio::test(start_paused = true)]
async fn errors_that_only_modern_servers_give_keep_a_server_modern() {
    for code in [-32020, -32021] {
        let (client, _heard) =
            ScriptedPipeServer::client(fast_options(), move |mut talk, _| async move {
                while let Some(message) = talk.receive().await {
                    if message["method"] == "server/discover" {
                        talk.refuse(&message, json!({ "code": code, "message": "m" })).await;
                    }
                }
            });
        assert_eq!(revision(&client).await, "2026-07-28", "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_of_the_first_question_is_started_again_with_a_handshake() {
    let (client, mut heard) =
        ScriptedPipeServer::client(fast_options(), |mut talk, _| async move {
            while let Some(message) = talk.receive().await {
                match message["method"].as_str() {
                    Some("initialize") => {
                        talk.answer(&message, initialize_result("2025-11-25")).await
                    }
                    Some("notifications/initialized") => {}
                    _ => return,
                }
            }
        });
    assert_eq!(revision(&client).await, "2025-11-25");
    let told = heard.so_far();
    assert_eq!(&told[..2], ["server/discover", "initialize"]);
}

#[tokio::test(start_paused = true)]
async fn a_handshake_in_a_revision_that_has_none_is_not_accepted() {
    for date in ["2026-07-28", "1999-01-01"] {
        let (client, _heard) =
            ScriptedPipeServer::client(fast_options(), move |mut talk, _| async move {
                while let Some(message) = talk.receive().await {
                    match message["method"].as_str() {
                        Some("initialize") => talk.answer(&message, initialize_result(date)).await,
                        _ => talk.refuse(&message, json!({ "code": -32601, "message": "" })).await,
                    }
                }
            });
        let error = client.peer().await.unwrap_err();
        assert!(matches!(&error, Error::Malformed(why) if why.contains(date)), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_server_was_found_to_be_is_remembered_and_doubted_when_it_proves_wrong() {
    // First a server with a handshake, then one without.
    let (client, mut heard) =
        ScriptedPipeServer::client(fast_options(), |mut talk, turn| async move {
            let era = if turn == 0 { Era::Legacy } else { Era::Modern };
            while let Some(message) = talk.receive().await {
                match (message["method"].as_str(), era) {
                    (Some("server/discover"), Era::Modern) => {
                        talk.answer(&message, discover_result()).await
                    }
                    (Some("initialize"), Era::Legacy) => {
                        talk.answer(&message, initialize_result("2025-11-25")).await;
                    }
                    (Some("resources/list"), Era::Legacy) => return,
                    (Some("resources/list"), Era::Modern) => talk.answer(&message, json!({})).await,
                    (Some("server/discover" | "initialize"), _) => {
                        talk.refuse(&message, json!({ "code": -32601, "message": "" })).await;
                    }
                    _ => {}
                }
            }
        });
    assert_eq!(revision(&client).await, "2025-11-25");
    assert!(ask(&client, "resources/list").await.is_err());
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(revision(&client).await, "2026-07-28");
    let told = heard.so_far();
    let opening: Vec<&str> = told
        .iter()
        .map(String::as_str)
        .filter(|method| matches!(*method, "server/discover" | "initialize"))
        .collect();
    assert_eq!(opening, ["server/discover", "initialize", "initialize", "server/discover"]);
}
