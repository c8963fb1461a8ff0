//! Snapshot tests: the exact answers of the server, in every revision.
//!
//! A file under `conversations/` holds the messages of a client, one per line. Each is played in
//! every revision, and a snapshot per revision holds the answers, so that a diff of two snapshots
//! shows how two revisions differ.

use std::sync::Arc;

use serde_json::{Value, json};
use server::{CollectionsMode, Limits};
use testkit::MemoryProvider;

use crate::components::offering;
use crate::fixture::{self, StdioClient, initialize, memory, request, stateless};
use crate::schema;

const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

const RESOURCES: &str = include_str!("conversations/resources.jsonl");
const OFFERS: &str = include_str!("conversations/offers.jsonl");
const COLLECTIONS: &str = include_str!("conversations/collections.jsonl");

/// Sends every line of `script` in `revision` and returns each method with its answer.
async fn play(script: &str, revision: &str, collections: CollectionsMode) -> Vec<(String, Value)> {
    play_with(memory(), script, revision, collections).await
}

async fn play_with(
    memory: MemoryProvider,
    script: &str,
    revision: &str,
    collections: CollectionsMode,
) -> Vec<(String, Value)> {
    let mut pipe = StdioClient::open(fixture::server_without_tools(
        Arc::new(memory),
        Limits::default(),
        collections,
    ));
    let mut answers = Vec::new();
    let alone = revision == "2026-07-28";
    if !alone {
        answers.push(("initialize".to_owned(), pipe.call(&initialize(revision)).await));
        pipe.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
    }
    for (id, line) in script.lines().enumerate() {
        let said: Value = serde_json::from_str(line).unwrap();
        let method = said["method"].as_str().unwrap();
        let params = said.get("params").cloned().unwrap_or_else(|| json!({}));
        let message =
            if alone { stateless(id, method, params) } else { request(id, method, params) };
        let answer = pipe.call(&message).await;
        assert_eq!(answer["id"], json!(id));
        answers.push((method.to_owned(), answer));
    }
    assert_eq!(pipe.close().await, Vec::<Value>::new(), "an unexpected message");
    answers
}

/// All answers as text, for the snapshot.
fn snapshot_text(answers: &[(String, Value)]) -> String {
    let line = |(method, answer): &(String, Value)| {
        let content = answer.get("result").or(answer.get("error")).unwrap();
        format!("--- {method}\n{}\n", serde_json::to_string_pretty(content).unwrap())
    };
    answers.iter().map(line).collect()
}

/// Drops answers to requests for a window, which have `_meta` in every revision.
fn without_windows(answers: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let plain = |answer: &Value| !answer.to_string().contains("dev.refdesk/window\":");
    answers.into_iter().filter(|(_, answer)| plain(answer)).collect()
}

#[tokio::test]
async fn resources_are_spoken_of_as_each_revision_knows_them() {
    for revision in REVISIONS {
        let answers = play(RESOURCES, revision, CollectionsMode::Always).await;
        schema::check(revision, &answers);
        insta::assert_snapshot!(format!("resources@{revision}"), snapshot_text(&answers));
    }
}

#[tokio::test]
async fn collections_are_spoken_of_in_every_revision() {
    for revision in REVISIONS {
        let answers = play(COLLECTIONS, revision, CollectionsMode::Always).await;
        schema::check(revision, &answers);
        insta::assert_snapshot!(format!("collections@{revision}"), snapshot_text(&answers));
    }
}

/// Tools and prompts hold only what the schema of the revision defines.
#[tokio::test]
async fn offers_are_spoken_of_as_each_revision_knows_them() {
    for revision in REVISIONS {
        let answers = play_with(offering(), OFFERS, revision, CollectionsMode::Off).await;
        schema::check_exactly(revision, &answers);
        insta::assert_snapshot!(format!("offers@{revision}"), snapshot_text(&answers));
    }
}

/// Without SEP-2093 an answer holds only what the schema of the revision defines: it survives a
/// round trip through the types of that schema.
#[tokio::test]
async fn without_collections_only_the_words_of_the_schema_are_said() {
    for revision in REVISIONS {
        let answers = play(RESOURCES, revision, CollectionsMode::Off).await;
        schema::check_exactly(revision, &without_windows(answers));
    }
}

/// R-25x-01.
#[tokio::test]
async fn what_a_revision_does_not_know_never_reaches_it() {
    let late = [
        ("\"title\"", 2),
        ("\"lastModified\"", 2),
        ("\"_meta\"", 2),
        ("\"icons\"", 3),
        ("\"resultType\"", 4),
        ("\"ttlMs\"", 4),
        ("\"cacheScope\"", 4),
        ("io.modelcontextprotocol/serverInfo", 4),
    ];
    for (at, revision) in REVISIONS.into_iter().enumerate() {
        let answers = play(RESOURCES, revision, CollectionsMode::Always).await;
        let plain = without_windows(answers);
        let said = snapshot_text(&plain);
        for (word, since) in late {
            assert_eq!(said.contains(word), at >= since, "{word} in {revision}");
        }
    }
}
