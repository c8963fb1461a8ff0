//! One message a line, over a pipe, in both eras.

use std::sync::Arc;

use serde_json::{Value, json};
use server::{Collections, Limits};
use testkit::Memory;
use testkit::memory::{Fault, Spot};

use crate::desk::{self, Pipe, initialize, memory, request, stateless, usual};

/// D-04: both eras on one pipe.
#[tokio::test]
async fn both_eras_may_be_spoken_on_one_pipe() {
    let mut pipe = Pipe::open(usual());
    let early = pipe.ask(&request(1, "resources/list", json!({}))).await;
    assert_eq!(early["error"]["code"], -32602);
    let words = early["error"]["message"].as_str().unwrap();
    assert!(words.contains("initialize") && words.contains("protocolVersion"), "{words}");
    assert_eq!(pipe.ask(&request(2, "ping", json!({}))).await["result"], json!({}));
    for method in ["server/discover", "subscriptions/listen"] {
        assert_eq!(pipe.ask(&request(3, method, json!({}))).await["error"]["code"], -32602);
    }
    let alone = pipe.ask(&stateless(4, "resources/list", json!({}))).await;
    assert_eq!(alone["result"]["resultType"], "complete");
    assert_eq!(
        pipe.ask(&initialize("2025-06-18")).await["result"]["protocolVersion"],
        "2025-06-18"
    );
    let agreed = pipe.ask(&request(5, "resources/list", json!({}))).await;
    assert_eq!(agreed["result"].get("resultType"), None);
    let alone = pipe.ask(&stateless("six", "resources/list", json!({}))).await;
    assert_eq!((&alone["id"], &alone["result"]["resultType"]), (&json!("six"), &json!("complete")));
    assert_eq!(pipe.ask(&stateless(7, "ping", json!({}))).await["error"]["code"], -32601);
    assert_eq!(pipe.ask(&request(8, "server/discover", json!({}))).await["error"]["code"], -32601);
    assert_eq!(pipe.ask(&initialize("2025-06-18")).await["error"]["code"], -32600, "L-03");
    assert_eq!(pipe.close().await, Vec::<Value>::new());
}

/// Bad lines are refused one by one and the pipe lives on.
#[tokio::test]
async fn a_bad_line_costs_only_itself() {
    let mut pipe = Pipe::open(usual());
    for (line, code) in [
        ("{", -32700),
        ("[1", -32700),
        ("5", -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
    ] {
        pipe.say_line(line).await;
        let answer = pipe.hear().await;
        assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(code), None), "{line}");
    }
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}"#, "[".repeat(10_000));
    pipe.say_line(&deep).await;
    assert_eq!(pipe.hear().await["error"]["code"], -32700);
    pipe.say_line("   ").await;
    pipe.say_line(r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#).await;
    assert_eq!(pipe.ask(&request(9, "ping", json!({}))).await["id"], 9);
}

/// R-25A-01 on a pipe.
#[tokio::test]
async fn a_batch_is_answered_as_a_batch() {
    let mut pipe = Pipe::open(usual());
    pipe.ask(&initialize("2025-03-26")).await;
    let batch = json!([request(1, "ping", json!({})), request(2, "no/such", json!({}))]);
    let answers = pipe.ask(&batch).await;
    let ids: Vec<_> = answers.as_array().unwrap().iter().map(|answer| &answer["id"]).collect();
    assert!(ids.contains(&&json!(1)) && ids.contains(&&json!(2)) && ids.len() == 2, "{answers}");
}

/// D-05, L-06: no word of a cancelled request, and its id is free again.
#[tokio::test]
async fn a_cancelled_request_is_never_answered() {
    let memory = Arc::new(memory());
    let uri = resource::Uri::parse("test://static-text").unwrap();
    memory.fault(Spot::Read(uri), Fault::Hangs);
    let server = desk::server(Arc::clone(&memory), Limits::default(), Collections::Always);
    let mut pipe = Pipe::open(server);
    let read = stateless(1, "resources/read", json!({ "uri": "test://static-text" }));
    pipe.say(&read).await;
    desk::until(|| memory.counts().running() == 1).await;
    assert_eq!(pipe.ask(&read).await["error"]["code"], -32600, "L-08");
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    pipe.say(&cancel).await;
    desk::until(|| memory.counts().running() == 0).await;
    memory.mend();
    assert_eq!(pipe.ask(&read).await["id"], 1);
    pipe.say(&cancel).await;
    assert_eq!(pipe.close().await, Vec::<Value>::new());
}

/// Answers come as they are ready, not in the order of the questions.
#[tokio::test]
async fn a_slow_request_holds_nobody_up() {
    let memory = Arc::new(memory());
    memory.fault(Spot::Read(resource::Uri::parse("test://static-text").unwrap()), Fault::Hangs);
    let server = desk::server(Arc::clone(&memory), Limits::default(), Collections::Always);
    let mut pipe = Pipe::open(server);
    pipe.say(&stateless(1, "resources/read", json!({ "uri": "test://static-text" }))).await;
    let other = stateless(2, "resources/read", json!({ "uri": "test://static-binary" }));
    assert_eq!(pipe.ask(&other).await["id"], 2);
}

/// D-01: a resource with line breaks stays on one line, whatever its size.
#[tokio::test]
async fn large_bodies_stay_on_one_line() {
    let text = "line\r\n\u{2028}日本\t\"quoted\"\n".repeat(20_000);
    let memory = Memory::new().text("test://large", &text).blob("test://blob", text.as_bytes());
    let server = desk::server(Arc::new(memory), Limits::default(), Collections::Always);
    let mut pipe = Pipe::open(server);
    let read = stateless(1, "resources/read", json!({ "uri": "test://large" }));
    assert_eq!(pipe.ask(&read).await["result"]["contents"][0]["text"], text);
    let read = stateless(1, "resources/read", json!({ "uri": "test://blob" }));
    let answer = pipe.ask(&read).await;
    assert!(answer["result"]["contents"][0]["blob"].as_str().unwrap().len() >= text.len() * 4 / 3);
}

/// D-03: what is under way when the input ends is still answered.
#[tokio::test]
async fn the_end_of_input_is_a_good_bye() {
    let mut pipe = Pipe::open(usual());
    pipe.say(&stateless(1, "resources/read", json!({ "uri": "test://static-text" }))).await;
    let rest = pipe.close().await;
    assert_eq!((rest.len(), &rest[0]["id"]), (1, &json!(1)));
}

/// R-24-10: an inner failure says nothing of what is inside.
#[tokio::test]
async fn a_failing_source_is_an_internal_error_and_the_server_lives_on() {
    let memory = Arc::new(memory());
    let uri = resource::Uri::parse("test://static-text").unwrap();
    let server = desk::server(Arc::clone(&memory), Limits::default(), Collections::Always);
    let mut pipe = Pipe::open(server);
    let read = stateless(1, "resources/read", json!({ "uri": "test://static-text" }));
    for kind in [resource::ErrorKind::Internal, resource::ErrorKind::Unavailable] {
        memory.fault(Spot::Read(uri.clone()), Fault::Fails(kind));
        assert_eq!(pipe.ask(&read).await["error"]["code"], -32603);
    }
    memory.fault(Spot::Read(uri), Fault::Fails(resource::ErrorKind::Denied));
    assert_eq!(pipe.ask(&read).await["error"]["message"], "Resource not found");
    memory.mend();
    assert!(pipe.ask(&read).await["result"].is_object());
}
