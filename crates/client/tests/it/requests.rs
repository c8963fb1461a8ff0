//! Tests of one request: result, error, timeout, cancellation, progress, server requests.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use client::{AnsweredRequests, Error, Options, Request, RpcError};
use resource::{ProgressSink, ProgressStep};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::scripted_pipe::{
    ERAS, Era, ScriptedPipeServer, ServerSide, ask, fast_options, in_time, raw,
};

/// A server that answers its opening and nothing else.
async fn silent(mut side: ServerSide, era: Era) {
    side.complete_opening(era).await;
    while side.receive().await.is_some() {}
}

#[tokio::test(start_paused = true)]
async fn a_refusal_keeps_its_code_its_words_and_its_data() {
    for era in ERAS {
        let (client, _heard) =
            ScriptedPipeServer::client(fast_options(), move |mut talk, _| async move {
                let mut next = talk.complete_opening(era).await;
                while let Some(message) = next {
                    if message["method"] == "resources/read" {
                        let id = &message["id"];
                        let error = r#"{"code":-32002,"message":"gone","data":{ "uri" : 1.0 }}"#;
                        talk.send_line(&format!(
                            r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#
                        ))
                        .await;
                    }
                    next = talk.receive().await;
                }
            });
        let error =
            client.send_request(&Request::new("resources/read").uri("a:b")).await.unwrap_err();
        assert!(error.is_resource_not_found());
        let Error::Refused(RpcError { code, message, data }) = error else { panic!("{error}") };
        assert_eq!((code, &*message), (-32002, "gone"));
        assert_eq!(data.unwrap().get(), r#"{ "uri" : 1.0 }"#);
    }
}

/// L-06, L-07.
#[tokio::test(start_paused = true)]
async fn a_request_that_takes_too_long_is_cancelled_and_timed_out() {
    for era in ERAS {
        let (client, mut heard) =
            ScriptedPipeServer::client(fast_options(), move |talk, _| silent(talk, era));
        client.peer().await.unwrap();
        let began = Instant::now();
        let request = Request::new("resources/list").timeout(Duration::from_secs(3));
        assert!(matches!(client.send_request(&request).await, Err(Error::TimedOut)));
        assert_eq!(began.elapsed().as_secs(), 3);
        let id = heard.next("resources/list").await["id"].clone();
        assert_eq!(heard.next("notifications/cancelled").await["params"]["requestId"], id);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_let_go_is_cancelled() {
    for era in ERAS {
        let (client, mut heard) =
            ScriptedPipeServer::client(fast_options(), move |talk, _| silent(talk, era));
        client.peer().await.unwrap();
        let mut request = Box::pin(ask(&client, "tools/call"));
        let id = tokio::select! {
            _ = &mut request => panic!("it is never answered"),
            message = heard.next("tools/call") => message["id"].clone(),
        };
        drop(request);
        assert_eq!(heard.next("notifications/cancelled").await["params"]["requestId"], id);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_answered_is_not_cancelled() {
    let (client, mut heard) =
        ScriptedPipeServer::client(fast_options(), |mut talk, _| async move {
            let mut next = talk.complete_opening(Era::Legacy).await;
            while let Some(message) = next {
                talk.answer(&message, json!({})).await;
                next = talk.receive().await;
            }
        });
    ask(&client, "resources/list").await.unwrap();
    ask(&client, "resources/list").await.unwrap();
    assert!(!heard.so_far().contains(&"notifications/cancelled".to_owned()));
}

/// The amounts done that the server reported.
#[derive(Default)]
struct Steps(Mutex<Vec<f64>>);

impl ProgressSink for Steps {
    fn report(&self, step: ProgressStep) {
        self.0.lock().unwrap().push(step.done);
    }
}

/// The client uses a progress token of its own (MCP, progress). L-07: a hard maximum, whatever
/// progress the server reports.
#[tokio::test(start_paused = true)]
async fn progress_is_told_and_buys_time_up_to_a_bound() {
    for era in ERAS {
        let options = Options { max_duration: Duration::from_secs(10), ..fast_options() };
        let (client, _heard) = ScriptedPipeServer::client(options, move |mut talk, _| async move {
            let mut next = talk.complete_opening(era).await;
            while let Some(message) = next {
                if message["method"] == "tools/call" {
                    let token = message["params"]["_meta"]["progressToken"].clone();
                    assert_eq!(token, message["id"]);
                    for done in 1.. {
                        tokio::time::sleep(Duration::from_secs(2)).await;
                        let params =
                            json!({ "progressToken": token, "progress": done, "message": "m" });
                        talk.notify("notifications/progress", params).await;
                    }
                }
                next = talk.receive().await;
            }
        });
        client.peer().await.unwrap();
        let told = Arc::new(Steps::default());
        let request = Request::new("tools/call")
            .params(raw(&json!({ "name": "t", "_meta": { "progressToken": "theirs" } })))
            .timeout(Duration::from_secs(3))
            .progress(Arc::clone(&told) as _);
        let began = Instant::now();
        assert!(matches!(in_time(client.send_request(&request)).await, Err(Error::TimedOut)));
        assert_eq!(began.elapsed().as_secs(), 10, "{era:?}");
        assert_eq!(told.0.lock().unwrap()[..4], [1.0, 2.0, 3.0, 4.0]);
    }
}

#[tokio::test(start_paused = true)]
async fn lines_that_are_no_messages_hurt_nobody() {
    let (client, _heard) = ScriptedPipeServer::client(fast_options(), |mut talk, _| async move {
        talk.send_line("Server listening on stdio!").await;
        let request = talk.complete_opening(Era::Legacy).await.unwrap();
        for garbage in ["", "{", "5", "[]", r#"{"id":999,"result":{}}"#, "\u{0}\u{1}"] {
            talk.send_line(garbage).await;
        }
        talk.answer(&request, json!({ "ok": true })).await;
        talk.receive().await;
    });
    let answer = ask(&client, "resources/list").await.unwrap();
    assert_eq!(answer.get(), r#"{"ok":true}"#);
}

#[tokio::test]
async fn a_line_that_is_too_long_fails_its_own_request_and_no_other() {
    let options = Options { max_message_bytes: 1 << 20, ..fast_options() };
    let (client, _heard) = ScriptedPipeServer::client(options, |mut talk, _| async move {
        let first = talk.complete_opening(Era::Legacy).await.unwrap();
        let second = talk.receive().await.unwrap();
        let (long, short) =
            if first["params"]["uri"] == "a:long" { (first, second) } else { (second, first) };
        // Three times the limit, in one line; the lines after it are valid.
        let text = "x".repeat(3 << 20);
        talk.answer(&long, json!({ "text": text })).await;
        talk.answer(&short, json!({ "ok": true })).await;
        talk.receive().await;
    });
    let long = Request::new("resources/read").uri("a:long");
    let short = Request::new("resources/read").uri("a:short");
    let (long, short) = tokio::join!(client.send_request(&long), client.send_request(&short));
    assert!(matches!(long, Err(Error::TooLarge(bytes)) if bytes == 1 << 20));
    assert_eq!(short.unwrap().get(), r#"{"ok":true}"#);
}

#[tokio::test]
async fn a_server_that_asks_is_answered() {
    let play = |mut side: ServerSide, _| async move {
        let request = side.complete_opening(Era::Legacy).await.unwrap();
        let mut answers = Vec::new();
        for (id, method) in [("p", "ping"), ("r", "roots/list"), ("s", "sampling/createMessage")] {
            let asked = json!({ "jsonrpc": "2.0", "id": id, "method": method });
            side.send_line(&asked.to_string()).await;
            answers.push(side.receive().await.unwrap());
        }
        side.answer(&request, answers.into()).await;
        side.receive().await;
    };
    let asked = |options| async move {
        let (client, _heard) = ScriptedPipeServer::client(options, play);
        let answer = in_time(ask(&client, "resources/list")).await.unwrap();
        serde_json::from_str::<Value>(answer.get()).unwrap()
    };
    let alone = asked(fast_options()).await;
    assert_eq!(alone[0], json!({ "jsonrpc": "2.0", "id": "p", "result": {} }));
    assert_eq!(alone[1]["error"]["code"], -32601);
    let handled = asked(Options { answers: AnsweredRequests::All, ..fast_options() }).await;
    assert_eq!(handled[0]["result"], json!({}));
    assert_eq!(handled[1]["result"], json!({ "roots": [] }));
    assert_eq!(handled[2]["error"]["code"], -32601);
}

/// A cancellation by the server names one of its own requests, even if the id equals one of ours.
#[tokio::test(start_paused = true)]
async fn what_a_server_cancels_is_its_own() {
    let (client, _heard) = ScriptedPipeServer::client(fast_options(), |mut talk, _| async move {
        let request = talk.complete_opening(Era::Legacy).await.unwrap();
        talk.notify("notifications/cancelled", json!({ "requestId": request["id"] })).await;
        talk.answer(&request, json!({ "ok": true })).await;
        talk.receive().await;
    });
    let answer = ask(&client, "resources/list").await.unwrap();
    assert_eq!(answer.get(), r#"{"ok":true}"#);
}
