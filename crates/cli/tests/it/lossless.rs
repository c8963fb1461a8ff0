//! Tests that unknown JSON members of upstream servers pass through unchanged.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use proptest::collection::{btree_map, vec};
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use crate::fake_server::{Era, FakeRequest, FakeResponse, FakeServer, TransportKind};
use crate::program::project;
use crate::test_client::TestClient;

type Members = Map<String, Value>;

/// Random members with unknown names.
fn members() -> impl Strategy<Value = Members> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // Multiples of 1/8 are exact in binary, so they compare equal after a round trip.
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        "[ -~é日\u{1f600}\n\t]{0,12}".prop_map(Value::from),
        Just(json!("a://one")),
    ];
    let value = scalar.prop_recursive(3, 16, 4, |inner| {
        let object = btree_map("[a-z:/ ]{0,5}", inner.clone(), 0..4);
        let object = object.prop_map(|object| Value::Object(object.into_iter().collect()));
        prop_oneof![vec(inner, 0..4).prop_map(Value::from), object]
    });
    btree_map("x-[a-z]{1,4}", value, 0..4).prop_map(|object| object.into_iter().collect())
}

/// `known` with the members of `more` added.
fn with(mut known: Value, more: &Members) -> Value {
    known.as_object_mut().unwrap().extend(more.clone());
    known
}

/// Asserts that `came` holds all of `more` unchanged.
fn assert_holds(came: &Value, more: &Members, where_: &str) {
    for (name, value) in more {
        assert_eq!(came.get(name), Some(value), "{where_}: {name} in {came}");
    }
}

/// The unknown members of a server's messages, by place.
#[derive(Debug, Clone, Default)]
struct ExtraMembers {
    beside: Members,
    meta: Members,
    deep: Members,
    blob: Vec<u8>,
}

fn extra_members() -> impl Strategy<Value = ExtraMembers> {
    let bytes = vec(any::<u8>(), 0..200);
    let parts = (members(), members(), members(), bytes);
    parts.prop_map(|(beside, meta, deep, blob)| ExtraMembers { beside, meta, deep, blob })
}

fn serve(extra: &ExtraMembers, request: &FakeRequest<'_>) -> FakeResponse {
    let ExtraMembers { beside, meta, deep, blob } = extra;
    let (meta, deep) = (&Value::Object(meta.clone()), &Value::Object(deep.clone()));
    match request.method {
        "resources/list" => {
            let one = json!({ "uri": "a://one", "name": "n", "_meta": meta, "annotations": deep });
            let result = json!({ "resources": [with(one, beside)], "_meta": meta });
            FakeResponse::Result(with(result, beside))
        }
        "resources/templates/list" => {
            let one = json!({ "uriTemplate": "a://{x}", "name": "n", "_meta": meta });
            let result = json!({ "resourceTemplates": [with(one, beside)], "_meta": meta });
            FakeResponse::Result(with(result, beside))
        }
        "resources/read" => {
            let blob = base64_simd::STANDARD.encode_to_string(blob);
            let one = json!({ "uri": "a://one", "blob": blob, "_meta": meta });
            let result = json!({ "contents": [with(one, beside)], "_meta": meta });
            FakeResponse::Result(with(result, beside))
        }
        "tools/list" => {
            let schema = with(json!({ "type": "object" }), deep.as_object().unwrap());
            let tool = json!({ "name": "echo", "inputSchema": schema, "_meta": meta });
            FakeResponse::Result(with(
                json!({ "tools": [with(tool, beside)], "_meta": meta }),
                beside,
            ))
        }
        "completion/complete" => {
            let result = json!({ "completion": { "values": ["v"] }, "_meta": meta });
            FakeResponse::Result(with(result, beside))
        }
        "tools/call" => {
            let block = with(json!({ "type": "text", "text": "t", "_meta": meta }), beside);
            let result = json!({ "content": [block], "structuredContent": deep, "_meta": meta });
            FakeResponse::Result(with(result, beside))
        }
        _ => FakeResponse::Error(-32601, "no such method"),
    }
}

fn check(cases: u32, run: impl Fn(&ExtraMembers)) {
    // No shrinking: one server process runs through all cases, so they depend on each other.
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 0, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let done = runner.run(&extra_members(), |said| {
        run(&said);
        Ok(())
    });
    done.unwrap();
}

#[test]
fn members_that_nobody_knows_come_out_as_they_were_written() {
    for (era, way) in [(Era::Legacy, TransportKind::Pipe), (Era::Modern, TransportKind::Http)] {
        let folder = project();
        let now = Arc::new(Mutex::new(ExtraMembers::default()));
        let played = Arc::clone(&now);
        let actor = FakeServer::start(era, way, move |asked| serve(&played.lock().unwrap(), asked));
        let front =
            TestClient::start(era, TransportKind::Pipe, folder.path(), &actor.mount("up", ""));
        let front = RefCell::new(front);
        check(48, |said| {
            *now.lock().unwrap() = said.clone();
            compare(&mut front.borrow_mut(), said);
        });
    }
}

fn compare(client: &mut TestClient, extra: &ExtraMembers) {
    let mut ask = |method: &str, params: Value| client.request(method, params)["result"].clone();
    let resources = ask("resources/list", json!({}));
    let templates = ask("resources/templates/list", json!({}));
    let contents = ask("resources/read", json!({ "uri": "up+a://one" }));
    let reference = json!({ "type": "ref/resource", "uri": "up+a://{x}" });
    let argument = json!({ "name": "x", "value": "" });
    let completed = ask("completion/complete", json!({ "ref": reference, "argument": argument }));
    let one = resources["resources"][0].clone();
    let template = templates["resourceTemplates"][0].clone();
    let read = contents["contents"][0].clone();
    let listed = ask("tools/list", json!({}));
    // Our own tools come first.
    let tool = listed["tools"].as_array().and_then(|tools| tools.last()).unwrap().clone();
    let called = ask("tools/call", json!({ "name": "up_echo", "arguments": {} }));
    let places = [
        (&one, "a resource"),
        (&template, "a template"),
        (&read, "contents"),
        (&tool, "a tool"),
        (&called, "a result"),
        (&resources, "a list of resources"),
        (&templates, "a list of templates"),
        (&contents, "a read"),
        (&completed, "a completion"),
        (&listed, "a list of tools"),
        (&called["content"][0], "a block"),
    ];
    for (came, where_) in places {
        assert_holds(came, &extra.beside, where_);
        if !extra.meta.is_empty() {
            assert_holds(&came["_meta"], &extra.meta, where_);
        }
    }
    if !extra.deep.is_empty() {
        assert_holds(&one["annotations"], &extra.deep, "annotations");
    }
    assert_holds(&tool["inputSchema"], &extra.deep, "a schema");
    assert_eq!(called["structuredContent"], Value::Object(extra.deep.clone()));
    let blob = base64_simd::STANDARD.decode_to_vec(read["blob"].as_str().unwrap());
    assert_eq!(blob.unwrap(), extra.blob);
}

/// URIs inside unknown members are not rewritten, since they may not be URIs at all.
#[test]
fn what_a_notice_says_besides_comes_out_as_it_was_written() {
    const CASES: u32 = 12;
    const UPDATED: &str = "notifications/resources/updated";
    const LIST_CHANGED: &str = "notifications/resources/list_changed";
    for (era, way) in [(Era::Legacy, TransportKind::Http), (Era::Modern, TransportKind::Pipe)] {
        let folder = project();
        let actor = FakeServer::start(era, way, |asked| serve(&ExtraMembers::default(), asked));
        let mut front =
            TestClient::start(era, TransportKind::Pipe, folder.path(), &actor.mount("up", ""));
        let uris: Vec<String> = (0..CASES).map(|at| format!("up+a://{at}")).collect();
        front.subscribe(&uris.iter().map(String::as_str).collect::<Vec<_>>());
        let (front, at) = (RefCell::new(front), RefCell::new(0..CASES));
        check(CASES, |said| {
            let (mut front, mut at) = (front.borrow_mut(), at.borrow_mut());
            let meta = Value::Object(said.meta.clone());
            let params = with(json!({ "_meta": meta }), &said.beside);
            // Notifications are debounced per resource, so each case has its own.
            if let Some(at) = at.next() {
                let about = json!({ "uri": format!("a://{at}") });
                actor.notify(UPDATED, &with(about, params.as_object().unwrap()));
                let told = front.wait_notification(UPDATED);
                assert_eq!(told["params"]["uri"], format!("up+a://{at}"));
                assert_holds(&told["params"], &said.beside, "an update");
                assert_holds(&told["params"]["_meta"], &said.meta, "an update");
            }
            actor.notify(LIST_CHANGED, &params);
            let told = front.wait_notification(LIST_CHANGED);
            assert_holds(&told["params"], &said.beside, "a list");
            assert_holds(&told["params"]["_meta"], &said.meta, "a list");
        });
    }
}
