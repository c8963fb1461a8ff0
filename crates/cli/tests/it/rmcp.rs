//! Interoperability tests with the official Rust SDK as client, in both eras and transports.

use std::collections::BTreeSet;
use std::fs;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequestParams, ProtocolVersion, ReadResourceRequestParams, ResourceContents,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RunningService, ServiceError};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{HttpProgram, project, refdesk};

const PAGES: usize = 250;

fn desk() -> TempDir {
    let folder = project();
    for at in 0..PAGES {
        fs::write(folder.path().join(format!("project/f{at:03}.txt")), format!("file {at}"))
            .unwrap();
    }
    folder
}

pub(crate) fn modes() -> [(ClientLifecycleMode, i32); 3] {
    let newest = || vec![ProtocolVersion::V_2026_07_28];
    [
        (ClientLifecycleMode::Initialize, -32002),
        (ClientLifecycleMode::Discover { preferred_versions: newest() }, -32602),
        (ClientLifecycleMode::Auto { preferred_versions: newest(), legacy_version: None }, -32602),
    ]
}

#[tokio::test]
async fn rmcp_is_served_over_a_pipe() {
    let folder = desk();
    for (mode, code) in modes() {
        let command = refdesk(folder.path(), &["serve", "--stdio", "project"]);
        let transport = TokioChildProcess::new(tokio::process::Command::from(command)).unwrap();
        let client = ().serve_with_lifecycle(transport, mode).await.unwrap();
        exercise_client(&client, code).await;
        call_tools(&client).await;
        client.cancel().await.unwrap();
    }
}

#[tokio::test]
async fn rmcp_is_served_over_http() {
    let folder = desk();
    let listening = HttpProgram::start(folder.path(), &["project"]);
    for (mode, code) in modes() {
        let transport = StreamableHttpClientTransport::from_uri(listening.url());
        let client = ().serve_with_lifecycle(transport, mode).await.unwrap();
        exercise_client(&client, code).await;
        call_tools(&client).await;
        client.cancel().await.unwrap();
    }
}

/// Calls each of our tools.
async fn call_tools(client: &RunningService<RoleClient, ()>) {
    let listed = client.list_all_tools().await.unwrap();
    let readme = "file:///project/README.md";
    let mut handle = Value::Null;
    for (name, arguments, member, expected) in [
        ("resources_list", json!({ "uri": "**/README.md" }), "resources", None),
        ("resources_templates", json!({}), "templates", None),
        ("resources_metadata", json!({ "uris": [readme] }), "resources", None),
        (
            "resources_read",
            json!({ "uri": "project/README.md", "max_lines": 1 }),
            "text",
            Some(json!("# Project\n")),
        ),
        ("resources_grep", json!({ "pattern": "^# Project$" }), "searched", None),
        ("resources_watch", json!({ "uris": [readme] }), "watching", Some(json!([readme]))),
        ("resources_changes", json!({}), "changed", Some(json!([]))),
        ("resources_unwatch", json!({}), "watching", Some(json!([]))),
    ] {
        let tool = listed.iter().find(|tool| tool.name == name).unwrap();
        assert!(tool.output_schema.is_some());
        let mut arguments = arguments.as_object().unwrap().clone();
        if handle.is_string() {
            arguments.insert("handle".to_owned(), handle.clone());
        }
        let call = CallToolRequestParams::new(name).with_arguments(arguments);
        let given = client.call_tool(call).await.unwrap();
        let structured = given.structured_content.unwrap_or_else(|| panic!("{:?}", given.content));
        let told = structured.get(member).unwrap_or_else(|| panic!("{name}: {structured}"));
        if let Some(expected) = expected {
            assert_eq!(*told, expected, "{name}");
        }
        if let Some(minted) = structured.get("handle") {
            handle = minted.clone();
        }
    }
}

/// Lists all pages, reads text and blob, completes, expands a template, reads a missing resource.
async fn exercise_client(client: &RunningService<RoleClient, ()>, missing: i32) {
    let all = client.list_all_resources().await.unwrap();
    let uris: BTreeSet<_> = all.iter().map(|resource| resource.uri.as_str()).collect();
    assert_eq!((uris.len(), all.len()), (PAGES + 6, PAGES + 6));
    let read = async |uri: &str| client.read_resource(ReadResourceRequestParams::new(uri)).await;
    let text = read("file:///project/docs/guide.md").await.unwrap();
    let [ResourceContents::TextResourceContents { text, .. }] = &text.contents[..] else {
        panic!("a text: {text:?}");
    };
    assert_eq!(text, "案内\n");
    let blob = read("file:///project/logo.png").await.unwrap();
    let [ResourceContents::BlobResourceContents { blob, .. }] = &blob.contents[..] else {
        panic!("a blob: {blob:?}");
    };
    assert_eq!(blob, "iVBORw0KGgoAAQL/");
    let templates = client.list_all_resource_templates().await.unwrap();
    let template = &templates[0].uri_template;
    let values = client.complete_resource_simple(template, "path", "src/m").await.unwrap();
    assert_eq!(values[0], "src/main.rs");
    let expanded = template.replace("{+path}", &values[0]);
    assert_eq!(read(&expanded).await.unwrap().contents.len(), 1);
    let Err(ServiceError::McpError(error)) = read("file:///project/none").await else {
        panic!("a missing resource is an error");
    };
    assert_eq!(error.code.0, missing);
}
