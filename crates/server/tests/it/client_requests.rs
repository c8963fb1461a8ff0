//! Tests of requests to the client during a call (elicitation), logging and `requestState`.

use std::sync::Arc;

use serde_json::{Value, json};
use server::{CollectionsMode, Limits};
use testkit::MemoryProvider;

use crate::fixture::{self, HttpFixture, StdioClient, initialize, request, stateless};
use crate::sse_client::SseClient;

const ELICIT: &str = "elicitation/create";

/// A server whose tool `who` elicits a name and returns the answer of the client.
fn asking() -> Arc<server::Server> {
    let back = json!({ "resultType": "input_required", "requestState": "opaque",
        "inputRequests": { "who": { "method": ELICIT, "params": { "message": "Who?" } } } });
    let memory = MemoryProvider::new()
        .caller_request_tool(
            "who",
            ELICIT,
            r#"{"message":"Who?","requestedSchema":{"type":"object"}}"#,
        )
        .tool("later", r#"{"name":"later"}"#, &back.to_string())
        .tool("echo", r#"{"name":"echo"}"#, r#"{"content":[],"heard":$params}"#);
    fixture::server(Arc::new(memory), Limits::default(), CollectionsMode::Always)
}

fn opening(capabilities: Value) -> Value {
    let mut opening = initialize("2025-11-25");
    opening["params"]["capabilities"] = capabilities;
    opening
}

fn call(id: u64) -> Value {
    request(id, "tools/call", json!({ "name": "who" }))
}

fn answer(question: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })
}

/// 9.5.
#[tokio::test]
async fn a_client_that_can_be_asked_is_asked_on_its_pipe() {
    let mut pipe = StdioClient::open(asking());
    let told = pipe.call(&opening(json!({ "elicitation": {} }))).await;
    assert_eq!(told["result"]["capabilities"]["logging"], json!({}));
    let logged = pipe.call(&call(1)).await;
    assert_eq!(logged["method"], "notifications/message");
    assert_eq!(logged["params"], json!({ "level": "info", "data": "before" }));
    let question = pipe.receive().await;
    assert_eq!(
        (&question["method"], &question["params"]["message"]),
        (&json!(ELICIT), &json!("Who?"))
    );
    // The server ignores an answer to an unknown id.
    pipe.send_message(&json!({ "jsonrpc": "2.0", "id": "never", "result": {} })).await;
    let result = json!({ "action": "accept", "content": { "name": "Ada" } });
    let logged = pipe.call(&answer(&question, result.clone())).await;
    assert_eq!(logged["params"]["data"], "behind");
    let given = pipe.receive().await;
    assert_eq!((&given["id"], &given["result"]), (&json!(1), &result));
    // It also ignores a second answer.
    pipe.send_message(&answer(&question, json!({}))).await;
    assert_eq!(pipe.call(&request(2, "ping", json!({}))).await["id"], 2);
}

#[tokio::test]
async fn what_a_client_refuses_is_passed_on() {
    let mut pipe = StdioClient::open(asking());
    pipe.call(&opening(json!({ "elicitation": {} }))).await;
    pipe.call(&call(1)).await;
    let question = pipe.receive().await;
    let error = json!({ "code": -1, "message": "never", "data": { "x": 1.0 } });
    let refused = json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
    assert_eq!(pipe.call(&refused).await["error"], error);
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_not() {
    for can in [json!({}), json!({ "sampling": {} }), json!({ "elicitation": { "url": {} } })] {
        let mut pipe = StdioClient::open(asking());
        pipe.call(&opening(can)).await;
        pipe.call(&call(1)).await;
        let refused = pipe.receive().await;
        let words = refused["error"]["message"].as_str().unwrap();
        assert!(words.contains("did not declare support for"), "{refused}");
    }
}

#[tokio::test]
async fn a_question_that_nobody_waits_for_is_taken_back() {
    let mut pipe = StdioClient::open(asking());
    pipe.call(&opening(json!({ "elicitation": {} }))).await;
    pipe.call(&call(1)).await;
    pipe.receive().await;
    let params = json!({ "requestId": 1 });
    let method = "notifications/cancelled";
    pipe.send_message(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    assert_eq!(pipe.call(&request(2, "ping", json!({}))).await["id"], 2);
}

/// L-09: the client sets a level, and less important messages are not sent.
#[tokio::test]
async fn a_client_hears_what_is_as_important_as_it_likes() {
    let mut pipe = StdioClient::open(asking());
    pipe.call(&opening(json!({ "elicitation": {} }))).await;
    let loud = request(1, "logging/setLevel", json!({ "level": "loud" }));
    assert_eq!(pipe.call(&loud).await["error"]["code"], -32602);
    let level = request(1, "logging/setLevel", json!({ "level": "info" }));
    assert_eq!(pipe.call(&level).await["result"], json!({}));
    assert_eq!(pipe.call(&call(2)).await["params"]["level"], "info");
    let question = pipe.receive().await;
    let given = pipe.call(&answer(&question, json!({ "action": "decline" }))).await;
    assert_eq!(given["result"], json!({ "action": "decline" }));
}

/// A stateless request gets only the logs it asked for, and no requests.
#[tokio::test]
async fn a_request_that_stands_alone_is_told_as_much_as_it_says() {
    let mut pipe = StdioClient::open(asking());
    let refused = pipe.call(&stateless(1, "tools/call", json!({ "name": "who" }))).await;
    assert_eq!(refused["error"]["message"], "there is no caller to ask");
    let level = json!({ "io.modelcontextprotocol/logLevel": "debug" });
    let call = stateless(2, "tools/call", json!({ "name": "who", "_meta": level }));
    assert_eq!(pipe.call(&call).await["params"]["data"], "before");
    let refused = pipe.receive().await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("no session"), "{refused}");
}

/// A batch over HTTP has no stream on which the client could be asked.
#[tokio::test]
async fn a_client_is_not_asked_for_a_request_of_a_batch() {
    let site = HttpFixture::open(asking()).await;
    let mut message = opening(json!({ "elicitation": {} }));
    message["params"]["protocolVersion"] = json!("2025-03-26");
    let opened = site.send("POST", &[], &message.to_string()).await;
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let answers = site.post_in_session(&session, &json!([call(1)])).await.json();
    let words = answers[0]["error"]["message"].as_str().unwrap();
    assert!(words.contains("cannot receive requests"), "{answers}");
}

/// Over HTTP the request comes on the stream of the answer, and the client answers it by POST.
#[tokio::test]
async fn a_client_is_asked_on_the_stream_of_its_answer() {
    let site = HttpFixture::open(asking()).await;
    let accept = ("accept", "application/json, text/event-stream");
    let message = opening(json!({ "elicitation": {} })).to_string();
    let opened = site.send("POST", &[accept], &message).await;
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let headers = [("mcp-session-id", session.as_str()), accept];
    let mut events = SseClient::open(&site, "POST", &headers, &call(1).to_string()).await;
    let mut messages = Vec::new();
    while messages.len() < 2 {
        let event = events.next().await;
        if !event.data.is_empty() {
            messages.push(event.json());
        }
    }
    assert_eq!(messages[0]["method"], "notifications/message");
    let result = json!({ "action": "accept" });
    let taken =
        site.send("POST", &headers, &answer(&messages[1], result.clone()).to_string()).await;
    assert_eq!(taken.status, 202);
    assert_eq!(events.next().await.json()["params"]["data"], "behind");
    assert_eq!(events.next().await.json()["result"], result);
}

/// M-03, M-05: `requestState` is accepted only unchanged and for the same request.
#[tokio::test]
async fn what_a_server_is_reminded_of_cannot_be_forged() {
    let mut pipe = StdioClient::open(asking());
    let call = |name: &str, state: Option<&str>| {
        let mut params = json!({ "name": name });
        if let Some(state) = state {
            params["requestState"] = state.into();
            params["inputResponses"] = json!({ "who": {} });
        }
        stateless(1, "tools/call", params)
    };
    let asked = pipe.call(&call("later", None)).await;
    let state = asked["result"]["requestState"].as_str().unwrap().to_owned();
    assert_eq!(asked["result"]["resultType"], "input_required");
    assert_ne!(state, "opaque");
    for (name, state) in [("echo", state.as_str()), ("later", "opaque"), ("later", "")] {
        let refused = pipe.call(&call(name, Some(state))).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    let again = pipe.call(&call("later", Some(&state))).await;
    assert_eq!(again["result"]["resultType"], "input_required");
}
