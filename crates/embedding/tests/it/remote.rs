//! The remote embedder against a stand-in that speaks the documented wire format.

use std::time::Duration;

use embedding::{CostBound, EmbedError, EmbedKind, Embedder as _, RemoteEmbedder, RemoteOptions};
use serde_json::json;

use crate::scripted_server::{Act, ScriptedServer};

const KEY: &str = "sk-very-secret-key";

fn options(server: &ScriptedServer) -> RemoteOptions {
    let mut options = RemoteOptions::new(server.url(), "nomic");
    options.headers = vec![("authorization".to_owned(), format!("Bearer {KEY}"))];
    options.dimensions = Some(2);
    options.timeout = Duration::from_secs(20);
    options.backoff.first = Duration::from_millis(1);
    options.backoff.max = Duration::from_millis(1);
    options
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().copied().map(str::to_owned).collect()
}

/// Embeds two texts where the server acts like this; returns the error and the server.
async fn fail_with(script: Vec<Act>) -> (EmbedError, ScriptedServer) {
    let server = ScriptedServer::start(script).await;
    let remote = RemoteEmbedder::connect(options(&server)).await.unwrap();
    let failed = remote.embed(&texts(&["a", "bb"]), EmbedKind::Passage).await;
    (failed.unwrap_err(), server)
}

fn answer(status: u16, body: impl Into<String>) -> Act {
    Act::Answer(status, Vec::new(), body.into())
}

#[tokio::test]
async fn a_request_has_the_documented_form_and_vectors_come_in_the_order_of_the_texts() {
    let server = ScriptedServer::start(Vec::new()).await;
    let remote = RemoteEmbedder::connect(options(&server)).await.unwrap();
    let embedded = remote.embed(&texts(&["aaa", "b"]), EmbedKind::Passage).await.unwrap();
    let ratios: Vec<f32> = embedded.iter().map(|vector| vector[0] / vector[1]).collect();
    assert!((ratios[0] - 3.0).abs() < 1e-5 && (ratios[1] - 1.0).abs() < 1e-5, "{ratios:?}");
    let length: f32 = embedded[0].iter().map(|number| number * number).sum();
    assert!((length - 1.0).abs() < 1e-5);
    let [request] = &server.seen()[..] else { panic!("one request") };
    assert!(request.head.starts_with("post /v1/embeddings http/1.1"), "{}", request.head);
    assert!(request.head.contains(&format!("authorization: bearer {KEY}")), "{}", request.head);
    assert!(request.head.contains("content-type: application/json"), "{}", request.head);
    let expected = json!({ "model": "nomic", "input": ["aaa", "b"], "encoding_format": "float" });
    assert_eq!(request.body, expected);
    let cost = remote.cost();
    assert_eq!((cost.requests, cost.characters, cost.tokens), (1, 4, 2));
}

#[tokio::test]
async fn the_dimensions_are_asked_for_if_they_are_not_given() {
    let server = ScriptedServer::start(Vec::new()).await;
    let mut asking = options(&server);
    asking.dimensions = None;
    let remote = RemoteEmbedder::connect(asking).await.unwrap();
    assert_eq!(remote.dimensions(), 2);
    let known = RemoteEmbedder::connect(options(&server)).await.unwrap();
    assert_eq!(remote.fingerprint(), known.fingerprint());
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn the_fingerprint_changes_with_what_vectors_depend_on_and_does_not_tell_the_key() {
    let server = ScriptedServer::start(Vec::new()).await;
    let base = RemoteEmbedder::connect(options(&server)).await.unwrap();
    let mut changes = [options(&server), options(&server), options(&server)];
    changes[0].model = "other".to_owned();
    changes[1].passage_prefix = "passage: ".to_owned();
    changes[2].dimensions = Some(3);
    for changed in changes {
        let changed = RemoteEmbedder::connect(changed).await.unwrap();
        assert_ne!(changed.fingerprint(), base.fingerprint());
    }
    let mut rotated = options(&server);
    rotated.headers.clear();
    let rotated = RemoteEmbedder::connect(rotated).await.unwrap();
    assert_eq!(rotated.fingerprint(), base.fingerprint());
    assert!(!format!("{:?}", options(&server)).contains(KEY));
}

#[tokio::test]
async fn texts_go_in_batches_with_prefixes_cut_to_length_and_empty_ones_stay_here() {
    let server = ScriptedServer::start(Vec::new()).await;
    let mut options = options(&server);
    (options.batch_items, options.batch_bytes, options.max_text_bytes) = (2, 12, 8);
    options.query_prefix = "q:".to_owned();
    let remote = RemoteEmbedder::connect(options).await.unwrap();
    let given = texts(&["a", "", "b", "c", "日本語", "far too long"]);
    let embedded = remote.embed(&given, EmbedKind::Query).await.unwrap();
    assert_eq!(embedded.len(), 6);
    assert_eq!(embedded[1], [0.0, 0.0]);
    assert!(embedded[5][0] > embedded[0][0]);
    let expected = [vec!["q:a", "q:b"], vec!["q:c", "q:日本"], vec!["q:far too "]];
    assert_eq!(server.seen_inputs(), expected);
    assert_eq!(remote.embed(&[], EmbedKind::Query).await.unwrap(), [[0.0; 0]; 0]);
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn overload_and_lost_connections_are_waited_out() {
    let again = vec![("retry-after", "0")];
    let server = ScriptedServer::start(vec![
        Act::Answer(429, again, json!({"error": {"message": "slow down"}}).to_string()),
        answer(503, "busy"),
        Act::Close,
        Act::BreakOff,
    ])
    .await;
    let remote = RemoteEmbedder::connect(options(&server)).await.unwrap();
    let embedded = remote.embed(&texts(&["a"]), EmbedKind::Passage).await.unwrap();
    assert_eq!(embedded.len(), 1);
    assert_eq!(server.seen().len(), 5);
    // What is sent again counts once.
    assert_eq!(remote.cost().characters, 1);
}

#[tokio::test]
async fn a_server_that_stays_overloaded_is_given_up_with_its_own_words() {
    let busy = || answer(500, json!({"error": {"message": "out of memory"}}).to_string());
    let (error, server) = fail_with((0..9).map(|_| busy()).collect()).await;
    assert!(error.is_temporary(), "{error:?}");
    assert!(error.to_string().contains("HTTP 500: out of memory"), "{error}");
    assert_eq!(server.seen().len(), 5);
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_an_error_at_once() {
    let (error, server) =
        fail_with(vec![Act::Answer(429, vec![("retry-after", "86400")], String::new())]).await;
    assert!(error.is_temporary() && error.to_string().contains("86400 s"), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_slow_server_is_given_up_after_the_timeout_of_each_attempt() {
    let server = ScriptedServer::start(vec![Act::Silence, Act::Silence]).await;
    let mut options = options(&server);
    (options.timeout, options.max_attempts) = (Duration::from_millis(50), 2);
    let remote = RemoteEmbedder::connect(options).await.unwrap();
    let error = remote.embed(&texts(&["a"]), EmbedKind::Passage).await.unwrap_err();
    assert!(error.is_temporary() && error.to_string().contains("no answer within"), "{error}");
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn an_unreachable_server_is_temporary() {
    let mut options = RemoteOptions::new("http://127.0.0.1:1", "m");
    options.max_attempts = 1;
    let Err(error) = RemoteEmbedder::connect(options).await else { panic!("nothing listens") };
    assert!(error.is_temporary(), "{error:?}");
}

#[tokio::test]
async fn refusals_are_not_repeated_and_do_not_show_the_key() {
    let told = json!({"error": {"message": format!("Incorrect API key: {KEY}")}});
    for (status, body) in [(401, told.to_string()), (404, r#"{"error":"no model"}"#.to_owned())] {
        let (error, server) = fail_with(vec![answer(status, body)]).await;
        assert!(matches!(&error, EmbedError::Refused { status: s, .. } if *s == status));
        assert!(!error.is_temporary() && !error.to_string().contains(KEY), "{error}");
        assert_eq!(server.seen().len(), 1);
    }
    let moved = Act::Answer(308, vec![("location", "http://127.0.0.1:1/")], String::new());
    let (error, server) = fail_with(vec![moved]).await;
    assert!(error.to_string().contains("redirects"), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn wrong_answers_are_refused_and_not_asked_for_again() {
    let one = json!({"data": [{"index": 0, "embedding": [1, 2]}]});
    let narrow = json!({"data": [{"embedding": [1]}, {"embedding": [2]}]});
    for (body, reason) in [
        (one.to_string(), "1 vectors for 2 texts"),
        (narrow.to_string(), "1 dimensions, not 2"),
        ("<html>".to_owned(), "expected value"),
        (" ".repeat(500_000), "more than"),
    ] {
        let (error, server) = fail_with(vec![answer(200, body)]).await;
        assert!(matches!(error, EmbedError::InvalidAnswer(_)), "{error:?}");
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(server.seen().len(), 1);
    }
    let (error, _) = fail_with(vec![Act::Endless]).await;
    assert!(error.to_string().contains("more than"), "{error}");
}

#[tokio::test]
async fn nothing_is_sent_above_the_cost_bound() {
    let server = ScriptedServer::start(Vec::new()).await;
    let mut options = options(&server);
    options.cost_bound = Some(CostBound { max_characters: 5, period: None });
    let remote = RemoteEmbedder::connect(options).await.unwrap();
    remote.embed(&texts(&["abc"]), EmbedKind::Passage).await.unwrap();
    let error = remote.embed(&texts(&["def"]), EmbedKind::Passage).await.unwrap_err();
    assert!(matches!(error, EmbedError::CostBound { used: 3, max: 5, wanted: 3 }), "{error:?}");
    assert!(error.to_string().contains("3 of 5 characters"), "{error}");
    assert_eq!(server.seen().len(), 1);
    remote.embed(&texts(&["de"]), EmbedKind::Passage).await.unwrap();
}

#[tokio::test]
async fn options_that_make_no_sense_are_refused() {
    let server = ScriptedServer::start(Vec::new()).await;
    let changes: [fn(&mut RemoteOptions); 8] = [
        |options| options.url = "ftp://example".to_owned(),
        |options| options.model.clear(),
        |options| options.headers = vec![("a b".to_owned(), String::new())],
        |options| options.headers = vec![("a".to_owned(), "line\nbreak".to_owned())],
        |options| options.dimensions = Some(0),
        |options| options.batch_items = 0,
        |options| options.max_attempts = 0,
        |options| options.timeout = Duration::ZERO,
    ];
    for change in changes {
        let mut options = options(&server);
        change(&mut options);
        let refused = RemoteEmbedder::connect(options).await.err();
        assert!(matches!(refused, Some(EmbedError::Invalid(_))), "{refused:?}");
    }
}
