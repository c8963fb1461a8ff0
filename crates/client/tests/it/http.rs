//! Tests of the HTTP transport: streams, broken bodies, limits, sessions, redirects, headers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use client::{Client, Error, Options, Request, ServerTarget};
use tokio::sync::mpsc;

use crate::scripted_http::{Observation, Reply, ScriptedHttpServer, legacy, modern};
use crate::scripted_pipe::{ask, fast_options, in_time};

/// A modern server that answers `resources/list` with `act`.
async fn site(
    act: impl Fn(&crate::scripted_http::Request) -> Reply + Send + Sync + 'static,
) -> ScriptedHttpServer {
    ScriptedHttpServer::open(move |request, _| {
        modern(&request).unwrap_or_else(|| match request.method() {
            "subscriptions/listen" => Reply::error(404, &request, -32601),
            _ => act(&request),
        })
    })
    .await
}

async fn listed(server: &ScriptedHttpServer, options: Options) -> Result<String, Error> {
    let client = server.client(options);
    let answer = in_time(ask(&client, "resources/list")).await;
    answer.map(|answer| answer.get().to_owned())
}

#[tokio::test]
async fn an_answer_may_come_as_events_with_notices_before_it() {
    let site = site(|request| {
        let id = request.id();
        let answer = format!("event: message\ndata: {{\"id\":{id},\"result\":{{\"a\":1.0}}}}\n\n");
        let note =
            "data: {\"method\":\"notifications/message\",\"params\":{\"level\":\"info\"}}\n\n";
        Reply::events(&[": hi\n\n", note, "event: other\ndata: x\n\n", &answer])
    })
    .await;
    let client = site.client(fast_options());
    let mut notices = client.notifications();
    let answer = ask(&client, "resources/list").await.unwrap();
    assert_eq!(answer.get(), r#"{"a":1.0}"#);
    let notice = in_time(notices.next()).await.unwrap();
    assert_eq!(notice.method, "notifications/message");
    assert_eq!(notice.params.unwrap().get(), r#"{"level":"info"}"#);
}

#[tokio::test]
async fn a_stream_or_a_body_that_ends_halfway_is_closed() {
    let site = site(|request| match request.body["params"]["cursor"].as_str() {
        Some("json") => Reply::json(200, r#"{"jsonrpc":"2.0","#).broken(),
        Some("events") => Reply::events(&["data: {\"jsonrpc\""]).broken(),
        _ => Reply::events(&[": nothing\n\n"]),
    })
    .await;
    let client = site.client(fast_options());
    for cursor in ["json", "events", "none"] {
        let params =
            serde_json::value::RawValue::from_string(format!(r#"{{"cursor":"{cursor}"}}"#));
        let error =
            in_time(client.send_request(&Request::new("resources/list").params(params.unwrap())))
                .await
                .unwrap_err();
        assert!(matches!(error, Error::Closed(_)), "{cursor}: {error}");
    }
}

#[tokio::test]
async fn garbage_is_malformed() {
    for body in ["", "garbage", "{}", "[]", r#"{"id":99,"result":{}}"#] {
        let site = site(move |_| Reply::json(200, body)).await;
        let error = listed(&site, fast_options()).await.unwrap_err();
        assert!(matches!(error, Error::Malformed(_)), "{body}: {error}");
    }
    let site = site(|_| Reply::status(200)).await;
    assert!(matches!(listed(&site, fast_options()).await, Err(Error::Malformed(_))));
}

#[tokio::test]
async fn a_body_or_an_event_that_is_too_large_is_not_taken() {
    let options = || Options { max_message_bytes: 1_000, ..fast_options() };
    for as_event in [false, true] {
        let site = site(move |request| {
            let text = "x".repeat(2_000);
            let body = format!(r#"{{"id":{},"result":"{text}"}}"#, request.id());
            if as_event {
                Reply::events(&[&format!("data: {body}\n\n")])
            } else {
                Reply::json(200, &body)
            }
        })
        .await;
        let error = listed(&site, options()).await.unwrap_err();
        assert!(matches!(error, Error::TooLarge(1_000)), "{as_event}: {error}");
    }
}

#[tokio::test]
async fn comments_without_end_keep_nobody_waiting_longer() {
    let (say, mut more) = (mpsc::unbounded_channel::<String>(), None);
    let (sender, receiver) = say;
    more.replace(receiver);
    let more = std::sync::Mutex::new(more);
    let mut site = site(move |_| Reply::stream(more.lock().unwrap().take().unwrap())).await;
    let chatter = tokio::spawn(async move {
        while sender.send(": still here\n\n".repeat(100)).is_ok() {
            tokio::task::yield_now().await;
        }
    });
    let client = site.client(fast_options());
    let request = Request::new("resources/list").timeout(Duration::from_millis(200));
    assert!(matches!(in_time(client.send_request(&request)).await, Err(Error::TimedOut)));
    // MCP 2026-07-28, cancellation: the client closes the stream, which ends the comments.
    site.wait_for_disconnect("resources/list").await;
    in_time(chatter).await.unwrap();
}

#[tokio::test]
async fn a_request_without_a_session_is_cancelled_by_closing_its_stream() {
    let mut site = site(|_| Reply::hang()).await;
    let client = site.client(fast_options());
    client.peer().await.unwrap();
    let request = tokio::spawn(async move { ask(&client, "resources/list").await });
    site.wait_for_method("resources/list").await;
    request.abort();
    site.wait_for_disconnect("resources/list").await;
}

#[tokio::test]
async fn a_request_in_a_session_is_cancelled_by_saying_so() {
    let mut site = ScriptedHttpServer::open(|request, _| {
        legacy(&request, "s1").unwrap_or_else(|| match request.verb.as_str() {
            "GET" => Reply::status(405),
            _ => Reply::hang(),
        })
    })
    .await;
    let client = site.client(fast_options());
    client.peer().await.unwrap();
    let request = {
        let client = client.clone();
        tokio::spawn(async move { ask(&client, "resources/list").await })
    };
    let id = site.wait_for_method("resources/list").await.id().clone();
    request.abort();
    let cancelled = site.wait_for_method("notifications/cancelled").await;
    assert_eq!(cancelled.body["params"]["requestId"], id);
    assert_eq!(cancelled.header("mcp-session-id"), "s1");
}

/// MCP 2025-11-25, transports: a server answers 404 to an unknown session, and the client opens a
/// new one. Some servers answer 400.
#[tokio::test]
async fn a_session_that_was_forgotten_is_opened_again_and_the_request_repeated() {
    for status in [404, 400] {
        forget_a_session(status).await;
    }
}

async fn forget_a_session(status: u16) {
    let sessions = AtomicUsize::new(0);
    let mut site = ScriptedHttpServer::open(move |request, _| {
        if request.method() == "initialize" {
            let session = format!("s{}", sessions.fetch_add(1, Ordering::SeqCst));
            return legacy(&request, &session).unwrap();
        }
        legacy(&request, "").unwrap_or_else(|| match request.header("mcp-session-id") {
            _ if request.verb == "GET" => Reply::status(405),
            "s0" => {
                let error = r#"{"code":-32000,"message":"Bad Request: No valid session ID"}"#;
                Reply::json(status, &format!(r#"{{"id":null,"error":{error}}}"#))
            }
            _ => Reply::result(&request, "{}"),
        })
    })
    .await;
    let client = site.client(fast_options());
    in_time(ask(&client, "resources/list")).await.unwrap();
    assert_eq!(site.wait_for_method("resources/list").await.header("mcp-session-id"), "s0");
    assert_eq!(site.wait_for_method("resources/list").await.header("mcp-session-id"), "s1");
}

#[tokio::test]
async fn what_may_not_be_done_twice_is_not_repeated_in_another_session() {
    let mut site = ScriptedHttpServer::open(|request, _| {
        legacy(&request, "s").unwrap_or_else(|| match request.verb.as_str() {
            "GET" => Reply::status(405),
            _ => Reply::status(404),
        })
    })
    .await;
    let client = site.client(fast_options());
    let error = in_time(ask(&client, "tools/call")).await.unwrap_err();
    assert!(matches!(error, Error::Closed(_)), "{error}");
    site.wait_for_method("tools/call").await;
    // An idempotent request is repeated only once.
    let error = in_time(ask(&client, "resources/list")).await.unwrap_err();
    assert!(matches!(error, Error::Closed(_)), "{error}");
}

#[tokio::test]
async fn a_session_is_ended_when_the_client_is_closed_or_dropped() {
    for close in [true, false] {
        let mut site = ScriptedHttpServer::open(|request, _| {
            legacy(&request, "s1").unwrap_or_else(|| Reply::status(405))
        })
        .await;
        let client = site.client(fast_options());
        client.peer().await.unwrap();
        if close {
            in_time(client.close()).await;
            assert!(matches!(client.peer().await, Err(Error::Closed(_))));
        } else {
            drop(client);
        }
        assert_eq!(site.wait_for_verb("DELETE").await.header("mcp-session-id"), "s1", "{close}");
    }
}

#[tokio::test]
async fn a_redirection_to_another_server_is_not_followed() {
    let mut other = ScriptedHttpServer::open(|request, _| Reply::result(&request, "{}")).await;
    let elsewhere = other.url();
    for status in [301, 302, 307, 308] {
        let place = elsewhere.clone();
        let site =
            ScriptedHttpServer::open(move |_, _| Reply::status(status).with("location", &place))
                .await;
        let client = Client::new(
            ServerTarget::Http {
                url: site.url(),
                headers: vec![("x-key".into(), "s3cret".into())],
            },
            fast_options(),
        );
        let error = in_time(client.peer()).await.unwrap_err();
        assert!(matches!(error, Error::Unreachable(_)), "{status}: {error}");
    }
    // The client sent no request there: the first one it sees is this one.
    let client = other.client(fast_options());
    let _ = in_time(client.peer()).await;
    let first = other.wait_for(|seen| matches!(seen, Observation::Request(_))).await;
    assert!(!first.headers.contains_key("x-key"));
}

#[tokio::test]
async fn a_redirection_at_the_same_server_is_followed() {
    let site = ScriptedHttpServer::open(|request, _| match request.path.as_str() {
        "/mcp" => Reply::status(307).with("location", "/there"),
        _ => modern(&request).unwrap_or_else(|| match request.method() {
            "subscriptions/listen" => Reply::error(404, &request, -32601),
            _ => Reply::result(&request, "{}"),
        }),
    })
    .await;
    assert_eq!(listed(&site, fast_options()).await.unwrap(), "{}");
    let circle = ScriptedHttpServer::open(|_, _| Reply::status(307).with("location", "/mcp")).await;
    assert!(matches!(listed(&circle, fast_options()).await, Err(Error::Unreachable(_))));
}

#[tokio::test]
async fn headers_of_the_target_are_sent_and_never_contradict_the_message() {
    let mut site = site(|request| Reply::result(request, "{}")).await;
    let headers = vec![
        ("Authorization".to_owned(), "Bearer s3cret".to_owned()),
        ("Mcp-Method".to_owned(), "lie".to_owned()),
    ];
    let client = Client::new(ServerTarget::Http { url: site.url(), headers }, fast_options());
    ask(&client, "resources/list").await.unwrap();
    let listed = site.wait_for_method("resources/list").await;
    assert_eq!(listed.header("authorization"), "Bearer s3cret");
    assert_eq!(listed.header("mcp-method"), "resources/list");
}

#[tokio::test]
async fn an_answer_of_a_session_goes_on_where_its_stream_broke() {
    let mut site = ScriptedHttpServer::open(|request, _| {
        legacy(&request, "s1").unwrap_or_else(|| match request.header("last-event-id") {
            "7" => Reply::events(&["data: {\"id\":", "3,\"result\":{\"late\":true}}\n\n"]),
            _ if request.verb == "GET" => Reply::status(405),
            _ => Reply::events(&["id: 7\nretry: 1\ndata:\n\n"]),
        })
    })
    .await;
    let client = site.client(fast_options());
    let answer = in_time(ask(&client, "resources/list")).await.unwrap();
    assert_eq!(answer.get(), r#"{"late":true}"#);
    assert_eq!(site.wait_for_method("resources/list").await.id(), 3);
}

#[tokio::test]
async fn an_error_that_names_no_request_is_about_the_one_it_answers() {
    let site = site(|_| Reply::json(200, r#"{"id":null,"error":{"code":5,"message":"m"}}"#)).await;
    let client = site.client(fast_options());
    let requests = (0..10).map(|_| ask(&client, "resources/list"));
    for answer in in_time(futures_util::future::join_all(requests)).await {
        assert!(matches!(answer, Err(Error::Refused(denial)) if denial.code == 5));
    }
}

#[tokio::test]
async fn an_address_that_claims_to_be_safe_and_is_not_is_unreachable() {
    let site = site(|request| Reply::result(request, "{}")).await;
    let url = site.url().replace("http://", "https://");
    let client = Client::new(ServerTarget::Http { url, headers: Vec::new() }, fast_options());
    assert!(matches!(in_time(client.peer()).await, Err(Error::Unreachable(_))));
}

#[test]
fn a_request_may_be_let_go_of_where_there_is_no_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let site = runtime.block_on(site(|_| Reply::hang()));
    let client = site.client(fast_options());
    runtime.block_on(client.peer()).unwrap();
    let mut request = Box::pin(ask(&client, "resources/list"));
    let moment = std::time::Duration::from_millis(10);
    let waited = async { tokio::time::timeout(moment, &mut request).await.is_err() };
    assert!(runtime.block_on(waited));
    drop(request);
    drop(client);
    drop(runtime);
}
