//! Tests of the health report.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use resource::{HealthFact, HealthState, HealthStatus, PageRequest, Provider};
use serde_json::json;

use super::scripted_server::{ScriptedReply, ScriptedServer};
use super::{Upstream, page, parts, within_timeout};

const LIST: &str = "resources/list";

fn health(upstream: &Upstream) -> HealthStatus {
    upstream.facets().health.unwrap().health(&testkit::local_context())
}

fn fact(condition: &HealthStatus, name: &str) -> Option<HealthFact> {
    let meant = condition.facts.iter().find(|(known, _)| *known == name);
    meant.map(|(_, fact)| fact.clone())
}

fn text(text: &str) -> HealthFact {
    HealthFact::Text(text.to_owned())
}

/// The last error and its time.
fn last_error(condition: &HealthStatus) -> Option<(String, SystemTime)> {
    let HealthFact::Group(parts) = fact(condition, "last_error")? else { panic!("{condition:?}") };
    let [("words", HealthFact::Text(words)), ("at", HealthFact::Time(at))] = &parts[..] else {
        panic!("{parts:?}")
    };
    Some((words.clone(), *at))
}

#[tokio::test(start_paused = true)]
async fn a_server_is_told_of_as_it_introduced_itself() {
    let resources = json!({ "subscribe": true, "listChanged": false });
    let capabilities = json!({ "resources": resources, "prompts": {}, "s3cret": "s3cret" });
    let said = HealthFact::Group(vec![
        ("resources", HealthFact::Group(vec![("subscribe", HealthFact::Flag(true))])),
        ("prompts", HealthFact::Group(Vec::new())),
    ]);
    let old = ScriptedServer::old(capabilities.clone(), |_, _| ScriptedReply::Nothing);
    let upstream = old.upstream();
    assert_eq!(health(&upstream).facts, [], "nothing is known of it yet");
    within_timeout(upstream.connect()).await.unwrap();
    let told = health(&upstream);
    assert_eq!(fact(&told, "era"), Some(text("legacy")));
    assert_eq!(fact(&told, "revision"), Some(text("2025-11-25")));
    let server = HealthFact::Group(vec![("name", text("old")), ("version", text("1"))]);
    assert_eq!(fact(&told, "server"), Some(server));
    assert_eq!(fact(&told, "capabilities"), Some(said.clone()));
    let new = ScriptedServer::new(capabilities, |_, _| ScriptedReply::Nothing);
    let upstream = new.upstream();
    within_timeout(upstream.connect()).await.unwrap();
    let told = health(&upstream);
    assert_eq!(fact(&told, "era"), Some(text("modern")));
    assert_eq!(fact(&told, "revision"), Some(text("2026-07-28")));
    assert_eq!((fact(&told, "server"), fact(&told, "counts")), (None, None), "not sent");
    assert_eq!(fact(&told, "capabilities"), Some(said));
}

/// A list of two pages, and one of templates.
fn paged() -> Arc<ScriptedServer> {
    let capabilities = json!({ "resources": { "listChanged": true } });
    ScriptedServer::old(capabilities, |method, params| match (method, params["cursor"].as_str()) {
        (LIST, None) => ScriptedReply::Result(json!({ "nextCursor": "2", "resources": [
            { "uri": "a://1", "name": "1" }, { "uri": "a://2", "name": "2" },
        ] })),
        (LIST, _) => {
            ScriptedReply::Result(json!({ "resources": [{ "uri": "a://3", "name": "3" }] }))
        }
        ("resources/templates/list", _) => ScriptedReply::Result(json!({ "resourceTemplates": [
            { "uriTemplate": "a://{name}", "name": "any" },
        ] })),
        _ => ScriptedReply::Error(-32601, "no"),
    })
}

#[tokio::test(start_paused = true)]
async fn what_is_counted_is_what_was_listed_to_its_end() {
    let stage = paged();
    let upstream = stage.upstream();
    let counts = |upstream: &Upstream| fact(&health(upstream), "counts");
    let first = page(&upstream, None, 2).await.unwrap();
    assert_eq!(counts(&upstream), None, "the second page is not known yet");
    page(&upstream, first.next, 2).await.unwrap();
    let three = ("resources", HealthFact::Count(3));
    assert_eq!(counts(&upstream), Some(HealthFact::Group(vec![three.clone()])));
    let ask = PageRequest::new(None, 10);
    upstream.templates(&testkit::local_context(), &ask).await.unwrap();
    let one = ("templates", HealthFact::Count(1));
    assert_eq!(counts(&upstream), Some(HealthFact::Group(vec![three, one])));
    assert_eq!(stage.requests(LIST).len(), 2, "counting sends no request");
    stage.notify("notifications/resources/list_changed", &json!({}));
    let forgotten = async {
        while counts(&upstream).is_some() {
            tokio::task::yield_now().await;
        }
    };
    within_timeout(forgotten).await;
}

/// A server whose second and third responses are errors.
fn moody(capabilities: serde_json::Value) -> Arc<ScriptedServer> {
    let turn = AtomicUsize::new(0);
    ScriptedServer::new(capabilities, move |_, params| match turn.fetch_add(1, Ordering::SeqCst) {
        1 => ScriptedReply::Error(7, "quota"),
        2 => ScriptedReply::Error(-32603, "at /home/s3cret"),
        _ => ScriptedReply::Result(json!({ "contents": [{ "uri": params["uri"], "text": "t" }] })),
    })
}

#[tokio::test(start_paused = true)]
async fn what_went_wrong_last_is_told_when_it_is_over() {
    let upstream = moody(json!({ "resources": {} })).upstream();
    let ask = async || parts(&upstream, "a://x", &super::WHOLE).await;
    ask().await.unwrap();
    let well = health(&upstream);
    assert_eq!((well.state, last_error(&well)), (HealthState::Ready, None));
    ask().await.unwrap_err();
    let ill = health(&upstream);
    let (words, at) = last_error(&ill).unwrap();
    assert_eq!(words, "the server behind this mount returned an error: quota");
    assert_eq!((ill.state, ill.since), (HealthState::Degraded, Some(at)));
    assert!(ill.since >= well.since);
    ask().await.unwrap_err();
    let still = health(&upstream);
    let last = last_error(&still).unwrap();
    assert_eq!(last.0, "the server behind this mount failed to answer");
    assert_eq!(
        (still.state, still.since),
        (HealthState::Degraded, Some(at)),
        "since the first time"
    );
    ask().await.unwrap();
    let over = health(&upstream);
    assert_eq!((over.state, last_error(&over)), (HealthState::Ready, Some(last.clone())));
    assert!(over.since >= Some(last.1), "{over:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_never_quite_well_is_so_since_it_was_reached() {
    let upstream = moody(json!({})).upstream();
    let ask = async || parts(&upstream, "a://x", &super::WHOLE).await;
    ask().await.unwrap();
    let usual = health(&upstream);
    ask().await.unwrap_err();
    let worse = health(&upstream);
    assert_ne!(worse.message, usual.message);
    assert_eq!((worse.state, worse.since), (HealthState::Degraded, usual.since));
}
