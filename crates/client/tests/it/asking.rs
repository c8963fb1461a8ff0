//! Tests of one request: result, error, timeout, cancellation, progress, server requests.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use client::{Denial, Error, Handler, Options, Request};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::stage::{ERAS, Era, Stage, Talk, hasty, raw, soon};

/// A server that answers its opening and nothing else.
async fn silent(mut talk: Talk, era: Era) {
    talk.opened(era).await;
    while talk.hear().await.is_some() {}
}

#[tokio::test(start_paused = true)]
async fn a_refusal_keeps_its_code_its_words_and_its_data() {
    for era in ERAS {
        let (client, _heard) = Stage::client(hasty(), move |mut talk, _| async move {
            let mut next = talk.opened(era).await;
            while let Some(message) = next {
                if message["method"] == "resources/read" {
                    let id = &message["id"];
                    let error = r#"{"code":-32002,"message":"gone","data":{ "uri" : 1.0 }}"#;
                    talk.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)).await;
                }
                next = talk.hear().await;
            }
        });
        let error = client.ask(&Request::new("resources/read").about("a:b")).await.unwrap_err();
        assert!(error.is_about_missing());
        let Error::Refused(Denial { code, message, data }) = error else { panic!("{error}") };
        assert_eq!((code, &*message), (-32002, "gone"));
        assert_eq!(data.unwrap().get(), r#"{ "uri" : 1.0 }"#);
    }
}

/// L-06, L-07.
#[tokio::test(start_paused = true)]
async fn a_request_that_takes_too_long_is_cancelled_and_timed_out() {
    for era in ERAS {
        let (client, mut heard) = Stage::client(hasty(), move |talk, _| silent(talk, era));
        client.peer().await.unwrap();
        let began = Instant::now();
        let request = Request::new("resources/list").timeout(Duration::from_secs(3));
        assert!(matches!(client.ask(&request).await, Err(Error::TimedOut)));
        assert_eq!(began.elapsed().as_secs(), 3);
        let id = heard.next("resources/list").await["id"].clone();
        assert_eq!(heard.next("notifications/cancelled").await["params"]["requestId"], id);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_let_go_is_cancelled() {
    for era in ERAS {
        let (client, mut heard) = Stage::client(hasty(), move |talk, _| silent(talk, era));
        client.peer().await.unwrap();
        let mut request = Box::pin(client.request("tools/call", None));
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
    let (client, mut heard) = Stage::client(hasty(), |mut talk, _| async move {
        let mut next = talk.opened(Era::Legacy).await;
        while let Some(message) = next {
            talk.answer(&message, json!({})).await;
            next = talk.hear().await;
        }
    });
    client.request("resources/list", None).await.unwrap();
    client.request("resources/list", None).await.unwrap();
    assert!(!heard.so_far().contains(&"notifications/cancelled".to_owned()));
}

/// The client uses a progress token of its own (MCP, progress). L-07: a hard maximum, whatever
/// progress the server reports.
#[tokio::test(start_paused = true)]
async fn progress_is_told_and_buys_time_up_to_a_bound() {
    for era in ERAS {
        let options = Options { longest: Duration::from_secs(10), ..hasty() };
        let (client, _heard) = Stage::client(options, move |mut talk, _| async move {
            let mut next = talk.opened(era).await;
            while let Some(message) = next {
                if message["method"] == "tools/call" {
                    let token = message["params"]["_meta"]["progressToken"].clone();
                    assert_eq!(token, message["id"]);
                    for done in 1.. {
                        tokio::time::sleep(Duration::from_secs(2)).await;
                        let params =
                            json!({ "progressToken": token, "progress": done, "message": "m" });
                        talk.tell("notifications/progress", params).await;
                    }
                }
                next = talk.hear().await;
            }
        });
        client.peer().await.unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let listener = Arc::clone(&told);
        let request = Request::new("tools/call")
            .params(raw(&json!({ "name": "t", "_meta": { "progressToken": "theirs" } })))
            .timeout(Duration::from_secs(3))
            .progress(move |progress| listener.lock().unwrap().push(progress.done));
        let began = Instant::now();
        assert!(matches!(soon(client.ask(&request)).await, Err(Error::TimedOut)));
        assert_eq!(began.elapsed().as_secs(), 10, "{era:?}");
        assert_eq!(told.lock().unwrap()[..4], [1.0, 2.0, 3.0, 4.0]);
    }
}

#[tokio::test(start_paused = true)]
async fn lines_that_are_no_messages_hurt_nobody() {
    let (client, _heard) = Stage::client(hasty(), |mut talk, _| async move {
        talk.say("Server listening on stdio!").await;
        let request = talk.opened(Era::Legacy).await.unwrap();
        for garbage in ["", "{", "5", "[]", r#"{"id":999,"result":{}}"#, "\u{0}\u{1}"] {
            talk.say(garbage).await;
        }
        talk.answer(&request, json!({ "ok": true })).await;
        talk.hear().await;
    });
    let answer = client.request("resources/list", None).await.unwrap();
    assert_eq!(answer.result.get(), r#"{"ok":true}"#);
}

#[tokio::test]
async fn a_line_that_is_too_long_fails_its_own_request_and_no_other() {
    let options = Options { message: 1 << 20, ..hasty() };
    let (client, _heard) = Stage::client(options, |mut talk, _| async move {
        let first = talk.opened(Era::Legacy).await.unwrap();
        let second = talk.hear().await.unwrap();
        let (long, short) =
            if first["params"]["uri"] == "a:long" { (first, second) } else { (second, first) };
        // Three times the limit, in one line; the lines after it are valid.
        let text = "x".repeat(3 << 20);
        talk.answer(&long, json!({ "text": text })).await;
        talk.answer(&short, json!({ "ok": true })).await;
        talk.hear().await;
    });
    let long = Request::new("resources/read").about("a:long");
    let short = Request::new("resources/read").about("a:short");
    let (long, short) = tokio::join!(client.ask(&long), client.ask(&short));
    assert!(matches!(long, Err(Error::TooLarge(bytes)) if bytes == 1 << 20));
    assert_eq!(short.unwrap().result.get(), r#"{"ok":true}"#);
}

#[tokio::test]
async fn a_server_that_asks_is_answered() {
    struct Roots;
    #[async_trait]
    impl Handler for Roots {
        async fn answer(
            &self,
            method: &str,
            _params: Option<Box<RawValue>>,
        ) -> Result<Box<RawValue>, Denial> {
            match method {
                "roots/list" => Ok(raw(&json!({ "roots": [] }))),
                _ => Err(Denial { code: -1, message: "no".to_owned(), data: None }),
            }
        }

        fn log(&self, _message: &RawValue) {}
    }
    let play = |mut talk: Talk, _| async move {
        let request = talk.opened(Era::Legacy).await.unwrap();
        let mut answers = Vec::new();
        for (id, method) in [("p", "ping"), ("r", "roots/list"), ("s", "sampling/createMessage")] {
            let asked = json!({ "jsonrpc": "2.0", "id": id, "method": method });
            talk.say(&asked.to_string()).await;
            answers.push(talk.hear().await.unwrap());
        }
        talk.answer(&request, answers.into()).await;
        talk.hear().await;
    };
    let asked = |options| async move {
        let (client, _heard) = Stage::client(options, play);
        let answer = soon(client.request("resources/list", None)).await.unwrap();
        serde_json::from_str::<Value>(answer.result.get()).unwrap()
    };
    let alone = asked(hasty()).await;
    assert_eq!(alone[0], json!({ "jsonrpc": "2.0", "id": "p", "result": {} }));
    assert_eq!(alone[1]["error"]["code"], -32601);
    let handled = asked(Options { handler: Some(Arc::new(Roots)), ..hasty() }).await;
    assert_eq!(handled[0]["result"], json!({}));
    assert_eq!(handled[1]["result"], json!({ "roots": [] }));
    assert_eq!(handled[2]["error"], json!({ "code": -1, "message": "no" }));
}

/// A cancellation by the server names one of its own requests, even if the id equals one of ours.
#[tokio::test(start_paused = true)]
async fn what_a_server_cancels_is_its_own() {
    let (client, _heard) = Stage::client(hasty(), |mut talk, _| async move {
        let request = talk.opened(Era::Legacy).await.unwrap();
        talk.tell("notifications/cancelled", json!({ "requestId": request["id"] })).await;
        talk.answer(&request, json!({ "ok": true })).await;
        talk.hear().await;
    });
    let answer = client.request("resources/list", None).await.unwrap();
    assert_eq!(answer.result.get(), r#"{"ok":true}"#);
}
