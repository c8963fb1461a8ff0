//! Tests with servers that do not know SEP-2093: derived descriptions and children.

use std::sync::Arc;

use resource::{
    ErrorKind, MemberPlace, PageRequest, Provider, ReadRequest, SectionChoice, SectionUnit, Uri,
    Window,
};
use serde_json::{Value, json};

use super::scripted_server::{ScriptedReply, ScriptedServer};
use super::{stat, uri};

fn stranger() -> Arc<ScriptedServer> {
    let capabilities = json!({ "resources": { "subscribe": true } });
    ScriptedServer::old(capabilities, |method, params| match method {
        "resources/list" => ScriptedReply::Result(json!({ "resources": [
            { "uri": "a://x/listed", "name": "l", "x-new": 1.0 },
            { "uri": "a://x/dir", "name": "d", "mimeType": "inode/directory" },
            { "uri": "a://x/dir/one", "name": "1" },
            { "uri": "a://x/dir/sub/two", "name": "2" },
            { "uri": "a://x/dir/one/deep", "name": "3" },
            { "uri": "urn:flat", "name": "f" },
            { "name": "nameless" },
        ] })),
        "resources/templates/list" => ScriptedReply::Result(json!({ "resourceTemplates": [
            { "uriTemplate": "a://t/{id}", "name": "t", "title": "T", "mimeType": "text/x-t" },
        ] })),
        "resources/read" => match params["uri"].as_str() {
            Some(at) if at.starts_with("a://t/") || at == "a://unlisted" => {
                ScriptedReply::Result(json!({ "contents": [{ "uri": at, "text": "12345" }] }))
            }
            _ => ScriptedReply::Error(-32002, "not found"),
        },
        _ => ScriptedReply::Error(-32601, "method not found"),
    })
}

fn derived(resource: &resource::Resource) -> Option<&str> {
    resource.extra.get(MemberPlace::Meta, "dev.refdesk/derived")
}

/// Whether a description says when the server gave it.
fn has_fetch_time(resource: &resource::Resource) -> bool {
    let time = resource.extra.get(MemberPlace::Meta, "dev.refdesk/fetched").unwrap_or_default();
    let time = humantime::parse_rfc3339(time.trim_matches('"'));
    time.is_ok_and(|time| time <= std::time::SystemTime::now())
}

/// B-13.
#[tokio::test(start_paused = true)]
async fn a_resource_is_described_from_the_list_a_template_or_a_read() {
    let stage = stranger();
    let upstream = stage.upstream();
    let listed = stat(&upstream, "a://x/listed").await.unwrap();
    assert_eq!(derived(&listed), Some("\"list\""));
    assert_eq!(listed.extra.get(MemberPlace::TopLevel, "x-new"), Some("1.0"));
    assert_eq!((listed.listable, listed.watchable), (None, Some(true)));
    let expanded = stat(&upstream, "a://t/7").await.unwrap();
    assert_eq!((derived(&expanded), expanded.size), (Some("\"template\""), Some(5)));
    assert_eq!(expanded.mime.as_deref(), Some("text/x-t"));
    assert_eq!(expanded.title.as_deref(), Some("T"));
    let read = stat(&upstream, "a://unlisted").await.unwrap();
    assert_eq!((derived(&read), read.listable), (Some("\"read\""), None));
    assert!([&listed, &expanded, &read].into_iter().all(|described| has_fetch_time(described)));
    assert_eq!(stat(&upstream, "a://none").await.unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(stage.requests("resources/metadata").len(), 0);
    assert_eq!(stage.requests("resources/list").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_may_not_be_read_to_be_described_is_not() {
    let stage = stranger();
    let upstream =
        super::Upstream::new(super::Options { reads_to_describe: false, ..stage.options() });
    assert_eq!(stat(&upstream, "a://unlisted").await.unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(stage.requests("resources/read").len(), 0);
}

/// Its content is never passed off as the page that was asked for.
#[tokio::test(start_paused = true)]
async fn a_server_that_knows_no_pages_refuses_them() {
    let upstream = stranger().upstream();
    let section = Some(SectionChoice::number(SectionUnit::Page, 2));
    let ctx = testkit::local_context();
    for window in [Window::Whole { limit: 9 }, Window::Part { offset: 0, length: 9, etag: None }] {
        let request = ReadRequest { section: section.clone(), ..window.into() };
        let error = upstream.read(&ctx, &uri("a://t/7"), &request).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid);
        assert!(error.message.contains("no pages"), "{error}");
    }
}

/// B-12.
#[tokio::test(start_paused = true)]
async fn what_lies_in_a_resource_is_told_by_names_and_never_asked_for() {
    let stage = stranger();
    let upstream = stage.upstream();
    let ctx = testkit::local_context();
    let list = |parent: Uri, paging: PageRequest| {
        let (upstream, ctx) = (&upstream, &ctx);
        async move { upstream.list(ctx, Some(&parent), &paging).await }
    };
    let first = list(uri("a://x/dir"), PageRequest::first(1)).await.unwrap();
    assert_eq!(first.items[0].uri.as_str(), "a://x/dir/one");
    assert_eq!(first.absent.len(), 1);
    let rest = list(uri("a://x/dir"), PageRequest::new(first.next, 9)).await.unwrap();
    // No listed resource is between this one and its parent.
    assert_eq!(rest.items[0].uri.as_str(), "a://x/dir/sub/two");
    assert!(rest.items.len() == 1 && rest.next.is_none());
    for (parent, kind) in [
        ("a://x/listed", ErrorKind::Invalid),
        ("urn:flat", ErrorKind::Invalid),
        ("a://x/none", ErrorKind::NotFound),
    ] {
        let told = list(uri(parent), PageRequest::first(5)).await.unwrap_err();
        assert_eq!(told.kind, kind, "{parent}");
    }
    let asked = stage.requests("resources/list");
    assert!(asked.iter().all(|params| params.get("uri").is_none()), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn directories_are_asked_for_where_the_server_opens_them() {
    let skills = json!({ "io.modelcontextprotocol/skills": { "directoryRead": true } });
    let capabilities = json!({ "resources": {}, "extensions": skills });
    let stage = ScriptedServer::old(capabilities, |method, params| {
        match (method, params["uri"].as_str()) {
            ("resources/list", None) => ScriptedReply::Result(json!({ "resources": [
            { "uri": "skill://a", "name": "a", "mimeType": "inode/directory" },
            { "uri": "skill://b", "name": "b" },
        ] })),
            ("resources/directory/read", Some("skill://a")) => ScriptedReply::Result(
                json!({ "resources": [{ "uri": "skill://a/x", "name": "x" }] }),
            ),
            _ => ScriptedReply::Error(-32602, "no"),
        }
    });
    let upstream = stage.upstream();
    let ctx = testkit::local_context();
    let all = upstream.list(&ctx, None, &PageRequest::first(5)).await.unwrap();
    let listable: Vec<Option<bool>> = all.items.iter().map(|item| item.listable).collect();
    assert_eq!(listable, [Some(true), None]);
    let inside =
        upstream.list(&ctx, Some(&uri("skill://a")), &PageRequest::first(5)).await.unwrap();
    assert_eq!(inside.items[0].uri.as_str(), "skill://a/x");
    let closed =
        upstream.list(&ctx, Some(&uri("skill://b")), &PageRequest::first(5)).await.unwrap_err();
    assert_eq!(closed.kind, ErrorKind::Invalid);
}

#[tokio::test(start_paused = true)]
async fn values_are_asked_for_with_what_is_settled() {
    let capabilities = json!({ "resources": {}, "completions": {} });
    let stage = ScriptedServer::old(capabilities, |method, params| match method {
        "completion/complete" if params["argument"]["name"] == "b" => ScriptedReply::Result(
            json!({ "completion": { "values": ["x", "y"], "hasMore": true } }),
        ),
        _ => ScriptedReply::Error(-32602, "no"),
    });
    let upstream = stage.upstream();
    assert!(upstream.facets().complete.is_none());
    upstream.connect().await.unwrap();
    let settled = [("a".to_owned(), "1".to_owned())].into();
    let ask = |variable| resource::CompletionRequest {
        template: "t:{a}{b}",
        variable,
        typed: "x",
        resolved: &settled,
    };
    let complete = upstream.facets().complete.unwrap();
    let told = complete.complete(&testkit::local_context(), &ask("b")).await.unwrap();
    assert_eq!((told.values.len(), told.total), (2, 3));
    let asked: &Value = &stage.requests("completion/complete")[0];
    assert_eq!(asked["context"], json!({ "arguments": { "a": "1" } }));
    assert_eq!(asked["ref"], json!({ "type": "ref/resource", "uri": "t:{a}{b}" }));
    let error = complete.complete(&testkit::local_context(), &ask("z")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid);
}
