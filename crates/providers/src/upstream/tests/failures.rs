//! Tests of failures and odd results of the server.

use std::time::Duration;

use resource::{Body, ErrorKind, HealthState, Provider, Window};
use serde_json::json;
use testkit::contract::bytes_of;

use super::scripted_server::{ScriptedReply, ScriptedServer};
use super::{WHOLE, page, parts, stat, text, within_timeout};

/// 1.5: all errors that mean "not found".
#[tokio::test(start_paused = true)]
async fn a_missing_resource_is_missing_however_the_server_says_so() {
    let disguises = [
        (-32002, "Resource not found"),
        (-32602, "no such resource"),
        (-32603, "Resource not found"),
        (0, "Unknown resource: x"),
    ];
    for (code, words) in disguises {
        let stage =
            ScriptedServer::old(json!({ "resources": {} }), move |method, _| match method {
                "resources/list" => ScriptedReply::Result(json!({ "resources": [] })),
                _ => ScriptedReply::Error(code, words),
            });
        let upstream = stage.upstream();
        let read = parts(&upstream, "a://none", &WHOLE).await.unwrap_err();
        assert_eq!((read.kind, read.uri), (ErrorKind::NotFound, Some(super::uri("a://none"))));
        assert_eq!(stat(&upstream, "a://none").await.unwrap_err().kind, ErrorKind::NotFound);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_unavailable_in_time() {
    let stage = ScriptedServer::new(json!({ "resources": {} }), |_, _| ScriptedReply::Nothing);
    let upstream = stage.upstream();
    let begun = tokio::time::Instant::now();
    let error = parts(&upstream, "a://x", &WHOLE).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert_eq!(page(&upstream, None, 5).await.unwrap_err().kind, ErrorKind::Unavailable);
    assert!(begun.elapsed() <= Duration::from_secs(45), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_needs_input_is_unavailable_and_says_why() {
    let stage = ScriptedServer::new(json!({ "resources": {} }), |_, _| {
        ScriptedReply::Result(json!({ "resultType": "input_required", "inputRequests": {} }))
    });
    let error = parts(&stage.upstream(), "a://x", &WHOLE).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::NeedsInput);
    assert!(error.message.contains("needs input"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn more_than_may_be_read_at_once_is_too_large_and_can_be_had_in_windows() {
    let stage = ScriptedServer::new(json!({ "resources": {} }), |_, params| {
        ScriptedReply::Result(
            json!({ "contents": [{ "uri": params["uri"], "text": "ж".repeat(500) }] }),
        )
    });
    let upstream = stage.upstream();
    let error = parts(&upstream, "a://x", &Window::Whole { limit: 999 }).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge);
    let mut all = Vec::new();
    loop {
        let window = Window::Part { offset: all.len() as u64, length: 333, etag: None };
        let part = parts(&upstream, "a://x", &window).await.unwrap().remove(0);
        let (slice, etag) = (part.slice.clone().unwrap(), part.resource.etag.clone());
        assert!(etag.is_some());
        all.extend(bytes_of(part.body).await);
        if slice.next_offset().is_none() {
            break;
        }
    }
    assert_eq!(all, "ж".repeat(500).as_bytes());
    // One for the whole read and one for the first window; the other windows use its content.
    assert_eq!(stage.requests("resources/read").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn blobs_and_texts_come_byte_for_byte_in_order_and_under_their_own_uris() {
    let stage = ScriptedServer::old(json!({ "resources": {} }), |_, _| {
        ScriptedReply::Result(json!({ "contents": [
            { "uri": "a://x", "mimeType": "application/octet-stream", "blob": "AP+AAQ==" },
            { "uri": "a://x/child", "text": "\u{0}\"\\\n🦀", "_meta": { "k": 1.50 }, "new": [] },
        ]}))
    });
    let told = parts(&stage.upstream(), "a://x", &WHOLE).await.unwrap();
    let uris: Vec<&str> = told.iter().map(|part| part.resource.uri.as_str()).collect();
    assert_eq!(uris, ["a://x", "a://x/child"]);
    assert!(!told[1].resource.extra.is_empty());
    let mut bodies = told.into_iter().map(|part| part.body);
    let (blob, words) = (bodies.next().unwrap(), bodies.next().unwrap());
    assert!(matches!(blob, Body::Blob(_)) && matches!(words, Body::Text(_)));
    assert_eq!(&bytes_of(blob).await[..], [0, 255, 128, 1]);
    assert_eq!(&bytes_of(words).await[..], "\u{0}\"\\\n🦀".as_bytes());
}

#[tokio::test(start_paused = true)]
async fn what_holds_nothing_is_still_something() {
    let stage = ScriptedServer::old(json!({ "resources": {} }), |_, _| {
        ScriptedReply::Result(json!({ "contents": [] }))
    });
    assert_eq!(text(&stage.upstream(), "a://x").await, "");
}

#[tokio::test(start_paused = true)]
async fn how_the_server_is_can_be_told_without_secrets() {
    let stage = ScriptedServer::old(json!({ "resources": {} }), |_, _| {
        ScriptedReply::Result(json!({ "resources": [] }))
    });
    let upstream = stage.upstream();
    let health = |upstream: &super::Upstream| {
        upstream.facets().health.unwrap().health(&testkit::local_context())
    };
    assert_eq!(health(&upstream).state, HealthState::Starting);
    // That its lists appear is a change.
    assert!(upstream.facets().watch.is_some() && upstream.facets().complete.is_none());
    within_timeout(upstream.connect()).await.unwrap();
    assert!(upstream.facets().watch.is_none());
    assert_eq!(health(&upstream).state, HealthState::Ready);
    let target = client::ServerTarget::Child {
        command: "/no/such/s3cret".to_owned(),
        args: vec!["s3cret".to_owned()],
        inherited_env: Vec::new(),
        env: Vec::new(),
        cwd: None,
    };
    let gone = super::Upstream::new(super::Options::new(super::client(target)));
    assert_eq!(gone.connect().await.unwrap_err().kind, ErrorKind::Unavailable);
    let told = health(&gone);
    assert_eq!(told.state, HealthState::Failed);
    assert!(!told.message.unwrap().contains("s3cret"));
    let serving = [json!({ "tools": {} }), json!({ "prompts": {} }), json!({})];
    let states = [HealthState::Ready, HealthState::Ready, HealthState::Degraded];
    for (capabilities, state) in serving.into_iter().zip(states) {
        let toolbox = ScriptedServer::old(capabilities, |_, _| ScriptedReply::Nothing).upstream();
        within_timeout(toolbox.connect()).await.unwrap();
        assert_eq!(health(&toolbox).state, state);
    }
}
