//! Tests of the server's own search.

use std::sync::Arc;

use resource::{Cursor, ErrorKind, Provider, SearchHit, SearchRequest, UriTemplate};
use serde_json::{Value, json};

use super::scripted_server::{ScriptedReply, ScriptedServer};
use super::{Options, Upstream, within_timeout};
use crate::upstream::UpstreamSearch;

fn request(query: &str) -> SearchRequest {
    SearchRequest { query: query.to_owned(), filter: None, cursor: None, limit: 3 }
}

fn searching(server: &Arc<ScriptedServer>, search: UpstreamSearch) -> Upstream {
    Upstream::new(Options { search: Some(search), ..server.options() })
}

fn by_tool(server: &Arc<ScriptedServer>) -> Upstream {
    let (tool, argument) = ("find".to_owned(), "q".to_owned());
    searching(server, UpstreamSearch::Tool { tool, argument })
}

async fn search(
    upstream: &Upstream,
    request: &SearchRequest,
) -> Result<Vec<Arc<SearchHit>>, resource::Error> {
    let search = upstream.facets().search.unwrap();
    let ctx = testkit::local_context();
    Ok(within_timeout(search.search(&ctx, request)).await?.items.into())
}

fn uris(hits: &[Arc<SearchHit>]) -> Vec<&str> {
    hits.iter().map(|hit| hit.uri.as_str()).collect()
}

#[tokio::test]
async fn a_server_searches_only_if_the_settings_say_how() {
    let server = ScriptedServer::new(json!({ "tools": {} }), |_, _| ScriptedReply::Nothing);
    assert!(server.upstream().facets().search.is_none());
    let upstream = by_tool(&server);
    for (request, kind) in [
        (request(" "), ErrorKind::Invalid),
        (SearchRequest { cursor: Some(Cursor("x".into())), ..request("a") }, ErrorKind::Invalid),
    ] {
        assert_eq!(search(&upstream, &request).await.unwrap_err().kind, kind);
    }
}

#[tokio::test]
async fn hits_of_a_tool_are_limited_and_its_errors_are_not_hits() {
    let server = ScriptedServer::new(json!({ "tools": {} }), |method, params| {
        assert_eq!((method, &params["name"]), ("tools/call", &json!("find")));
        let link = |at: i32| json!({ "type": "resource_link", "uri": format!("a://{at}") });
        let links: Vec<Value> = (0..9).map(link).collect();
        let is_error = params["arguments"]["q"] == "fail";
        ScriptedReply::Result(json!({ "content": links, "isError": is_error }))
    });
    let upstream = by_tool(&server);
    let hits = search(&upstream, &request(" a word ")).await.unwrap();
    assert_eq!(uris(&hits), ["a://0", "a://1", "a://2"]);
    assert_eq!(server.requests("tools/call")[0]["arguments"], json!({ "q": "a word" }));
    let error = search(&upstream, &request("fail")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
}

#[tokio::test]
async fn the_members_of_a_search_resource_are_hits_if_its_text_names_none() {
    let extension = json!({ "dev.refdesk/resource-metadata": { "scopedList": true } });
    let capabilities = json!({ "resources": {}, "extensions": extension });
    let server = ScriptedServer::new(capabilities, |method, params| match method {
        "resources/read" => {
            let text = json!({ "uri": params["uri"], "text": "Two results." });
            ScriptedReply::Result(json!({ "contents": [text] }))
        }
        "resources/list" if params["uri"].is_string() => {
            ScriptedReply::Result(json!({ "resources": [
                { "uri": "a://1", "name": "one", "title": "One", "description": "the first" },
                { "uri": "a://2", "name": "two" },
            ] }))
        }
        _ => ScriptedReply::Error(-32601, "no such method"),
    });
    let template = UriTemplate::parse("a://search/{query}").unwrap();
    let upstream = searching(&server, UpstreamSearch::Template(template));
    let hits = search(&upstream, &request("a/b ü")).await.unwrap();
    assert_eq!(server.requests("resources/read")[0]["uri"], "a://search/a%2Fb%20%C3%BC");
    assert_eq!(uris(&hits), ["a://1", "a://2"]);
    assert_eq!(hits[0].title.as_deref(), Some("One"));
    assert_eq!(hits[0].passage.as_ref().unwrap().text, "the first");
}

#[tokio::test(start_paused = true)]
async fn a_search_that_takes_long_ends() {
    let server = ScriptedServer::new(json!({ "tools": {} }), |_, _| ScriptedReply::Nothing);
    let error = search(&by_tool(&server), &request("a")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
}
