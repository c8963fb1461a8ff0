//! Tests of the stdio transport, with and without handshake.

use std::sync::Arc;

use serde_json::{Value, json};
use server::{CollectionsMode, Limits};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};

use crate::fixture::{self, StdioClient, default_server, initialize, memory, request, stateless};

/// D-04: requests with and without handshake on one connection.
#[tokio::test]
async fn both_eras_may_be_spoken_on_one_pipe() {
    let mut pipe = StdioClient::open(default_server());
    let early = pipe.call(&request(1, "resources/list", json!({}))).await;
    assert_eq!(early["error"]["code"], -32602);
    let words = early["error"]["message"].as_str().unwrap();
    assert!(words.contains("initialize") && words.contains("protocolVersion"), "{words}");
    assert_eq!(pipe.call(&request(2, "ping", json!({}))).await["result"], json!({}));
    for method in ["server/discover", "subscriptions/listen"] {
        assert_eq!(pipe.call(&request(3, method, json!({}))).await["error"]["code"], -32602);
    }
    let alone = pipe.call(&stateless(4, "resources/list", json!({}))).await;
    assert_eq!(alone["result"]["resultType"], "complete");
    assert_eq!(
        pipe.call(&initialize("2025-06-18")).await["result"]["protocolVersion"],
        "2025-06-18"
    );
    let agreed = pipe.call(&request(5, "resources/list", json!({}))).await;
    assert_eq!(agreed["result"].get("resultType"), None);
    let alone = pipe.call(&stateless("six", "resources/list", json!({}))).await;
    assert_eq!((&alone["id"], &alone["result"]["resultType"]), (&json!("six"), &json!("complete")));
    assert_eq!(pipe.call(&stateless(7, "ping", json!({}))).await["error"]["code"], -32601);
    assert_eq!(pipe.call(&request(8, "server/discover", json!({}))).await["error"]["code"], -32601);
    assert_eq!(pipe.call(&initialize("2025-06-18")).await["error"]["code"], -32600, "L-03");
    assert_eq!(pipe.close().await, Vec::<Value>::new());
}

/// Each bad line gets an error, and the connection stays open.
#[tokio::test]
async fn a_bad_line_costs_only_itself() {
    let mut pipe = StdioClient::open(default_server());
    for (line, code) in [
        ("{", -32700),
        ("[1", -32700),
        ("5", -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
    ] {
        pipe.send_line(line).await;
        let answer = pipe.receive().await;
        assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(code), None), "{line}");
    }
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}"#, "[".repeat(10_000));
    pipe.send_line(&deep).await;
    assert_eq!(pipe.receive().await["error"]["code"], -32700);
    pipe.send_line("   ").await;
    pipe.send_line(r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#).await;
    assert_eq!(pipe.call(&request(9, "ping", json!({}))).await["id"], 9);
}

/// R-25A-01 on a pipe.
#[tokio::test]
async fn a_batch_is_answered_as_a_batch() {
    let mut pipe = StdioClient::open(default_server());
    pipe.call(&initialize("2025-03-26")).await;
    let batch = json!([request(1, "ping", json!({})), request(2, "no/such", json!({}))]);
    let answers = pipe.call(&batch).await;
    let ids: Vec<_> = answers.as_array().unwrap().iter().map(|answer| &answer["id"]).collect();
    assert!(ids.contains(&&json!(1)) && ids.contains(&&json!(2)) && ids.len() == 2, "{answers}");
}

/// D-05, L-06: a cancelled request gets no answer, and its id is free again.
#[tokio::test]
async fn a_cancelled_request_is_never_answered() {
    let memory = Arc::new(memory());
    let uri = resource::Uri::parse("test://static-text").unwrap();
    memory.inject_fault(FaultPoint::Read(uri), Fault::Hangs);
    let server = fixture::server(Arc::clone(&memory), Limits::default(), CollectionsMode::Always);
    let mut pipe = StdioClient::open(server);
    let read = stateless(1, "resources/read", json!({ "uri": "test://static-text" }));
    pipe.send_message(&read).await;
    fixture::until(|| memory.counts().in_flight() == 1).await;
    assert_eq!(pipe.call(&read).await["error"]["code"], -32600, "L-08");
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    pipe.send_message(&cancel).await;
    fixture::until(|| memory.counts().in_flight() == 0).await;
    memory.clear_faults();
    assert_eq!(pipe.call(&read).await["id"], 1);
    pipe.send_message(&cancel).await;
    assert_eq!(pipe.close().await, Vec::<Value>::new());
}

/// Answers come as they are ready, not in the order of the requests.
#[tokio::test]
async fn a_slow_request_holds_nobody_up() {
    let memory = Arc::new(memory());
    memory.inject_fault(
        FaultPoint::Read(resource::Uri::parse("test://static-text").unwrap()),
        Fault::Hangs,
    );
    let server = fixture::server(Arc::clone(&memory), Limits::default(), CollectionsMode::Always);
    let mut pipe = StdioClient::open(server);
    pipe.send_message(&stateless(1, "resources/read", json!({ "uri": "test://static-text" })))
        .await;
    let other = stateless(2, "resources/read", json!({ "uri": "test://static-binary" }));
    assert_eq!(pipe.call(&other).await["id"], 2);
}

/// D-01: a resource with line breaks stays on one line, whatever its size.
#[tokio::test]
async fn large_bodies_stay_on_one_line() {
    let text = "line\r\n\u{2028}日本\t\"quoted\"\n".repeat(20_000);
    let memory =
        MemoryProvider::new().text("test://large", &text).blob("test://blob", text.as_bytes());
    let server = fixture::server(Arc::new(memory), Limits::default(), CollectionsMode::Always);
    let mut pipe = StdioClient::open(server);
    let read = stateless(1, "resources/read", json!({ "uri": "test://large" }));
    assert_eq!(pipe.call(&read).await["result"]["contents"][0]["text"], text);
    let read = stateless(1, "resources/read", json!({ "uri": "test://blob" }));
    let answer = pipe.call(&read).await;
    assert!(answer["result"]["contents"][0]["blob"].as_str().unwrap().len() >= text.len() * 4 / 3);
}

/// D-03: requests in flight when the input ends are still answered.
#[tokio::test]
async fn the_end_of_input_is_a_good_bye() {
    let mut pipe = StdioClient::open(default_server());
    pipe.send_message(&stateless(1, "resources/read", json!({ "uri": "test://static-text" })))
        .await;
    let rest = pipe.close().await;
    assert_eq!((rest.len(), &rest[0]["id"]), (1, &json!(1)));
}

/// R-24-10: an internal error reveals no details.
#[tokio::test]
async fn a_failing_source_is_an_internal_error_and_the_server_lives_on() {
    let memory = Arc::new(memory());
    let uri = resource::Uri::parse("test://static-text").unwrap();
    let server = fixture::server(Arc::clone(&memory), Limits::default(), CollectionsMode::Always);
    let mut pipe = StdioClient::open(server);
    let read = stateless(1, "resources/read", json!({ "uri": "test://static-text" }));
    for kind in [resource::ErrorKind::Internal, resource::ErrorKind::Unavailable] {
        memory.inject_fault(FaultPoint::Read(uri.clone()), Fault::Fails(kind));
        assert_eq!(pipe.call(&read).await["error"]["code"], -32603);
    }
    memory.inject_fault(FaultPoint::Read(uri), Fault::Fails(resource::ErrorKind::Denied));
    assert_eq!(pipe.call(&read).await["error"]["message"], "Resource not found");
    memory.clear_faults();
    assert!(pipe.call(&read).await["result"].is_object());
}

/// L-04.
#[tokio::test]
async fn an_opening_cannot_be_cancelled() {
    let mut pipe = StdioClient::open(default_server());
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "open" } });
    pipe.send_line(&format!("{}\n{cancel}", initialize("2025-06-18"))).await;
    assert_eq!(pipe.receive().await["result"]["protocolVersion"], "2025-06-18");
}

/// A malformed request with a valid id is answered under that id.
#[tokio::test]
async fn a_malformed_request_is_answered_by_its_id() {
    let mut pipe = StdioClient::open(default_server());
    for line in [
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":"x"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":5}"#,
        r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":7}"#,
    ] {
        pipe.send_line(line).await;
        let answer = pipe.receive().await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(7), &json!(-32600)),
            "{line}"
        );
    }
}

/// Backpressure: the server stops reading from a client that does not read.
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_not_read_from_either() {
    let memory = Arc::new(MemoryProvider::new().text("test://large", &"x".repeat(100_000)));
    let limits = Limits { in_flight: 8, ..Limits::default() };
    let server = fixture::server(Arc::clone(&memory), limits, CollectionsMode::Always);
    let mut pipe = StdioClient::narrow(server);
    let flood = async {
        for id in 0..1000 {
            pipe.send_message(&stateless(id, "resources/read", json!({ "uri": "test://large" })))
                .await;
        }
    };
    // The paused clock advances only when all tasks wait.
    let flooded = tokio::time::timeout(std::time::Duration::from_secs(5), flood).await;
    assert!(flooded.is_err(), "a thousand requests were taken unread");
    assert!(memory.counts().reads() < 40, "{} answers were made", memory.counts().reads());
}

/// D-03: the server ends when the client closes our output.
#[tokio::test]
async fn the_end_of_output_is_the_end() {
    let (ours, theirs) = tokio::io::duplex(64);
    let (_open, input) = tokio::io::duplex(64);
    drop(ours);
    let (out, serving) = (theirs, default_server());
    let (mut say, hear) = tokio::io::duplex(1024);
    let served =
        tokio::spawn(server::transport::stdio::serve(serving, hear, out, std::future::pending()));
    let ping = request(1, "ping", json!({})).to_string() + "\n";
    tokio::io::AsyncWriteExt::write_all(&mut say, ping.as_bytes()).await.unwrap();
    drop(input);
    let ended = tokio::time::timeout(std::time::Duration::from_secs(60), served).await;
    assert!(ended.expect("an end in time").unwrap().is_ok());
}

/// The last line may lack a newline.
#[tokio::test]
async fn a_last_line_without_an_end_is_heard() {
    let mut pipe = StdioClient::open(default_server());
    pipe.send_raw(request(1, "ping", json!({})).to_string().as_bytes()).await;
    assert_eq!(pipe.close().await.len(), 1);
}

/// A batch needs one free place among the requests in flight, however long it is.
#[tokio::test]
async fn a_batch_may_be_longer_than_what_may_be_under_way() {
    let limits = Limits { in_flight: 2, ..Limits::default() };
    let mut pipe =
        StdioClient::open(fixture::server(Arc::new(memory()), limits, CollectionsMode::Always));
    pipe.call(&initialize("2025-03-26")).await;
    let batch: Vec<_> = (0..50).map(|id| request(id, "ping", json!({}))).collect();
    let answers = pipe.call(&Value::from(batch)).await;
    assert!(answers.as_array().unwrap().iter().all(|answer| answer["result"].is_object()));
    let twice = json!([request(1, "ping", json!({})), request(1, "ping", json!({}))]);
    assert_eq!(pipe.call(&twice).await[0]["error"]["code"], -32600);
}
