//! Tests of the health report.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use resource::{Ask, Condition, Context, Fact, Provider, State};
use serde_json::json;

use super::stage::{Says, Stage};
use super::{Upstream, page, parts, soon};

const LIST: &str = "resources/list";

fn health(upstream: &Upstream) -> Condition {
    upstream.facets().health.unwrap().health()
}

fn fact(condition: &Condition, name: &str) -> Option<Fact> {
    let meant = condition.facts.iter().find(|(known, _)| *known == name);
    meant.map(|(_, fact)| fact.clone())
}

fn text(text: &str) -> Fact {
    Fact::Text(text.to_owned())
}

/// The last error and its time.
fn last_error(condition: &Condition) -> Option<(String, SystemTime)> {
    let Fact::Group(parts) = fact(condition, "last_error")? else { panic!("{condition:?}") };
    let [("words", Fact::Text(words)), ("at", Fact::Time(at))] = &parts[..] else {
        panic!("{parts:?}")
    };
    Some((words.clone(), *at))
}

#[tokio::test(start_paused = true)]
async fn a_server_is_told_of_as_it_introduced_itself() {
    let resources = json!({ "subscribe": true, "listChanged": false });
    let capabilities = json!({ "resources": resources, "prompts": {}, "s3cret": "s3cret" });
    let said = Fact::Group(vec![
        ("resources", Fact::Group(vec![("subscribe", Fact::Truth(true))])),
        ("prompts", Fact::Group(Vec::new())),
    ]);
    let old = Stage::old(capabilities.clone(), |_, _| Says::Nothing);
    let upstream = old.upstream();
    assert_eq!(health(&upstream).facts, [], "nothing is known of it yet");
    soon(upstream.reach()).await.unwrap();
    let told = health(&upstream);
    assert_eq!(fact(&told, "era"), Some(text("legacy")));
    assert_eq!(fact(&told, "revision"), Some(text("2025-11-25")));
    let server = Fact::Group(vec![("name", text("old")), ("version", text("1"))]);
    assert_eq!(fact(&told, "server"), Some(server));
    assert_eq!(fact(&told, "capabilities"), Some(said.clone()));
    let new = Stage::new(capabilities, |_, _| Says::Nothing);
    let upstream = new.upstream();
    soon(upstream.reach()).await.unwrap();
    let told = health(&upstream);
    assert_eq!(fact(&told, "era"), Some(text("modern")));
    assert_eq!(fact(&told, "revision"), Some(text("2026-07-28")));
    assert_eq!((fact(&told, "server"), fact(&told, "counts")), (None, None), "not sent");
    assert_eq!(fact(&told, "capabilities"), Some(said));
}

/// A list of two pages, and one of templates.
fn paged() -> Arc<Stage> {
    let capabilities = json!({ "resources": { "listChanged": true } });
    Stage::old(capabilities, |method, params| match (method, params["cursor"].as_str()) {
        (LIST, None) => Says::Result(json!({ "nextCursor": "2", "resources": [
            { "uri": "a://1", "name": "1" }, { "uri": "a://2", "name": "2" },
        ] })),
        (LIST, _) => Says::Result(json!({ "resources": [{ "uri": "a://3", "name": "3" }] })),
        ("resources/templates/list", _) => Says::Result(json!({ "resourceTemplates": [
            { "uriTemplate": "a://{name}", "name": "any" },
        ] })),
        _ => Says::Error(-32601, "no"),
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
    let three = ("resources", Fact::Count(3));
    assert_eq!(counts(&upstream), Some(Fact::Group(vec![three.clone()])));
    let ask = Ask { from: None, limit: 10 };
    upstream.templates(&Context::default(), &ask).await.unwrap();
    let one = ("templates", Fact::Count(1));
    assert_eq!(counts(&upstream), Some(Fact::Group(vec![three, one])));
    assert_eq!(stage.asked(LIST).len(), 2, "counting sends no request");
    stage.tell("notifications/resources/list_changed", &json!({}));
    let forgotten = async {
        while counts(&upstream).is_some() {
            tokio::task::yield_now().await;
        }
    };
    soon(forgotten).await;
}

/// A server whose second and third responses are errors.
fn moody(capabilities: serde_json::Value) -> Arc<Stage> {
    let turn = AtomicUsize::new(0);
    Stage::new(capabilities, move |_, params| match turn.fetch_add(1, Ordering::SeqCst) {
        1 => Says::Error(7, "quota"),
        2 => Says::Error(-32603, "at /home/s3cret"),
        _ => Says::Result(json!({ "contents": [{ "uri": params["uri"], "text": "t" }] })),
    })
}

#[tokio::test(start_paused = true)]
async fn what_went_wrong_last_is_told_when_it_is_over() {
    let upstream = moody(json!({ "resources": {} })).upstream();
    let ask = async || parts(&upstream, "a://x", &super::WHOLE).await;
    ask().await.unwrap();
    let well = health(&upstream);
    assert_eq!((well.state, last_error(&well)), (State::Ready, None));
    ask().await.unwrap_err();
    let ill = health(&upstream);
    let (words, at) = last_error(&ill).unwrap();
    assert_eq!(words, "the server behind this mount returned an error: quota");
    assert_eq!((ill.state, ill.since), (State::Degraded, Some(at)));
    assert!(ill.since >= well.since);
    ask().await.unwrap_err();
    let still = health(&upstream);
    let last = last_error(&still).unwrap();
    assert_eq!(last.0, "the server behind this mount failed to answer");
    assert_eq!((still.state, still.since), (State::Degraded, Some(at)), "since the first time");
    ask().await.unwrap();
    let over = health(&upstream);
    assert_eq!((over.state, last_error(&over)), (State::Ready, Some(last.clone())));
    assert!(over.since >= Some(last.1), "{over:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_never_quite_well_is_so_since_it_was_reached() {
    let upstream = moody(json!({ "tools": {} })).upstream();
    let ask = async || parts(&upstream, "a://x", &super::WHOLE).await;
    ask().await.unwrap();
    let usual = health(&upstream);
    ask().await.unwrap_err();
    let worse = health(&upstream);
    assert_ne!(worse.words, usual.words);
    assert_eq!((worse.state, worse.since), (State::Degraded, usual.since));
}
