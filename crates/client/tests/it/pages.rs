//! Tests of the page iterator: cursors, loops, limits.

use client::{Error, Request};
use serde_json::{Value, json};

use crate::scripted_pipe::{Era, ScriptedPipeServer, fast_options, in_time, raw};

/// A server whose list results come from `next`, by the request's parameters.
fn client(next: impl Fn(&Value) -> Value + Send + Sync + Copy + 'static) -> client::Client {
    let (client, heard) =
        ScriptedPipeServer::client(fast_options(), move |mut talk, _| async move {
            let mut message = talk.complete_opening(Era::Legacy).await;
            while let Some(request) = message {
                talk.answer(&request, next(&request["params"])).await;
                message = talk.receive().await;
            }
        });
    drop(heard);
    client
}

fn list() -> Request {
    Request::new("resources/list").params(raw(&json!({ "uri": "a:b" })))
}

/// MCP, pagination: an empty cursor is a cursor. Every page repeats the parameters of the first.
#[tokio::test]
async fn all_pages_are_walked_and_an_empty_cursor_is_not_the_end() {
    let client = client(|params| {
        assert_eq!(params["uri"], "a:b");
        match params["cursor"].as_str() {
            None => json!({ "page": 0, "nextCursor": "x\"\u{1f600}" }),
            Some("x\"\u{1f600}") => json!({ "page": 1, "nextCursor": "" }),
            Some("") => json!({ "page": 2 }),
            Some(_) => json!({ "page": "wrong" }),
        }
    });
    let pages = in_time(client.pages(list(), 10).all()).await.unwrap();
    let pages: Vec<Value> =
        pages.iter().map(|page| serde_json::from_str(page.result.get()).unwrap()).collect();
    let numbers: Vec<&Value> = pages.iter().map(|page| &page["page"]).collect();
    assert_eq!(numbers, [0, 1, 2]);
}

#[tokio::test]
async fn a_list_that_goes_in_circles_is_left() {
    let same = client(|_| json!({ "nextCursor": "again" }));
    let error = in_time(same.pages(list(), 1_000).all()).await.unwrap_err();
    assert!(matches!(&error, Error::Malformed(why) if why.contains("repeats a cursor")), "{error}");
    let round = client(|params| match params["cursor"].as_str() {
        Some("a") => json!({ "nextCursor": "b" }),
        _ => json!({ "nextCursor": "a" }),
    });
    let error = in_time(round.pages(list(), 1_000).all()).await.unwrap_err();
    assert!(matches!(&error, Error::Malformed(why) if why.contains("repeats a cursor")), "{error}");
}

#[tokio::test]
async fn a_list_without_end_is_left_after_so_many_pages() {
    let endless = client(|params| {
        let at = params["cursor"].as_str().map_or(0, |at| at.parse::<u64>().unwrap());
        json!({ "nextCursor": (at + 1).to_string() })
    });
    let mut pages = endless.pages(list(), 5);
    for _ in 0..5 {
        assert!(in_time(pages.next()).await.unwrap().is_some());
    }
    assert!(matches!(in_time(pages.next()).await, Err(Error::Malformed(_))));
    assert!(in_time(pages.next()).await.unwrap().is_none());
}

#[tokio::test]
async fn a_cursor_that_is_no_string_is_malformed() {
    let client = client(|_| json!({ "nextCursor": 5 }));
    assert!(matches!(in_time(client.pages(list(), 5).all()).await, Err(Error::Malformed(_))));
}
