//! Tests of the setting `tools`: which tools of a server are offered, as what, and how.

use serde_json::{Value, json};

use crate::fake_server::{Era, FakeRequest, FakeResponse, FakeServer, TransportKind};
use crate::program::{output_text, project, run};
use crate::test_client::TestClient;

/// A server with a hundred tools. Each returns its name and its arguments.
fn serve(request: &FakeRequest<'_>) -> FakeResponse {
    let tool = |name: &str, about: &str| {
        let schema = json!({ "type": "object", "properties": { "title": { "type": "string" } } });
        json!({ "name": name, "description": about, "inputSchema": schema })
    };
    match request.method {
        "tools/list" => {
            let mut tools = vec![
                tool("create_issue", "Open a ticket"),
                tool("closeTicket", "Close a ticket"),
                tool("get.me", "Who am I"),
            ];
            tools.extend((3..100).map(|number| tool(&format!("other_{number}"), "Something else")));
            FakeResponse::Result(json!({ "tools": tools }))
        }
        "tools/call" if request.params["name"] == "nothing" => {
            FakeResponse::Error(-32602, "Unknown tool: nothing")
        }
        "tools/call" => {
            let text = request.params.to_string();
            FakeResponse::Result(json!({ "content": [{ "type": "text", "text": text }] }))
        }
        _ => FakeResponse::Error(-32601, "no such method"),
    }
}

fn front(settings: &str) -> (TestClient, FakeServer, tempfile::TempDir) {
    let (folder, server) = (project(), FakeServer::start(Era::Legacy, TransportKind::Pipe, serve));
    let client = TestClient::piped(folder.path(), &server.mount("hub", settings));
    (client, server, folder)
}

fn call(client: &mut TestClient, name: &str, arguments: &Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    client.request("tools/call", params)["result"].take()
}

fn names(client: &mut TestClient) -> Vec<String> {
    let (mut names, mut params) = (Vec::new(), json!({}));
    loop {
        let page = client.request("tools/list", params)["result"].take();
        let tools = page["tools"].as_array().unwrap();
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        if page["nextCursor"].is_null() {
            names.retain(|name| !name.starts_with("resources_"));
            return names;
        }
        params = json!({ "cursor": page["nextCursor"] });
    }
}

#[test]
fn every_tool_has_a_name_that_all_models_take() {
    let (mut client, _server, _folder) = front("");
    let names = names(&mut client);
    assert_eq!(names.len(), 100);
    let is_valid = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    for name in &names {
        assert!(name.len() <= 64 && name.chars().all(is_valid), "{name}");
    }
    let dotted = names.iter().find(|name| name.starts_with("hub_get-me")).unwrap();
    let told = call(&mut client, dotted, &json!({})).to_string();
    assert!(told.contains("get.me"), "{told}");
}

#[test]
fn tools_can_be_cut_and_renamed() {
    let tools = r#"tools = { deny = ["other_*"], rename = { "get.me" = "whoami" } }"#;
    let (mut client, _server, _folder) = front(tools);
    assert_eq!(names(&mut client), ["hub_create_issue", "hub_closeTicket", "hub_whoami"]);
    assert!(call(&mut client, "hub_whoami", &json!({})).to_string().contains("get.me"));
    let denied = client.request("tools/call", json!({ "name": "hub_other_3", "arguments": {} }));
    assert_eq!(denied["error"]["code"], -32602, "{denied}");
}

#[test]
fn a_hundred_tools_become_two() {
    let (mut client, _server, _folder) = front("tools = \"search\"");
    assert_eq!(names(&mut client), ["tools_search", "tools_call"]);
    let found = call(&mut client, "tools_search", &json!({ "query": "close tickets" }));
    let tools = &found["structuredContent"]["tools"];
    assert_eq!(tools[0]["name"], "hub_closeTicket", "{found}");
    assert_eq!(tools[0]["inputSchema"]["properties"]["title"]["type"], "string");
    assert_eq!(found["structuredContent"]["total"], 2, "{found}");
    let text = found["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("hub_closeTicket: Close a ticket\n  inputSchema: {"), "{text}");
    let arguments = json!({ "name": "hub_closeTicket", "arguments": { "title": "it" } });
    let called = call(&mut client, "tools_call", &arguments).to_string();
    assert!(called.contains("closeTicket") && called.contains("title"), "{called}");
    let all = call(&mut client, "tools_search", &json!({}));
    assert_eq!(all["structuredContent"]["total"], 100);
    assert_eq!(all["structuredContent"]["tools"].as_array().unwrap().len(), 10);
    for (name, words) in [("hub_nothing", "nothing"), ("tools_call", "tools_call")] {
        let refused = call(&mut client, "tools_call", &json!({ "name": name }));
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(refused["content"][0]["text"].as_str().unwrap().contains(words), "{refused}");
    }
    let told = client.request("server/discover", json!({}))["result"]["instructions"].take();
    assert!(told.as_str().unwrap().contains("tools_search"), "{told}");
}

#[test]
fn a_selection_that_cannot_be_is_named_with_its_place() {
    let folder = project();
    let hub = "[mounts.hub]\nkind = \"upstream\"\nurl = \"http://127.0.0.1:1/mcp\"\n";
    for (tools, words) in [
        ("tools = \"some\"", "expected \"list\", \"search\""),
        ("tools = { deny = [\"[\"] }", "not a glob"),
        ("tools = { rename = { a = \"c\", b = \"c\" } }", "two tools the name `c`"),
    ] {
        std::fs::write(folder.path().join("refdesk.toml"), format!("{hub}{tools}\n")).unwrap();
        let checked = run(folder.path(), &["check"]);
        let told = output_text(&checked);
        assert!(!checked.status.success() && told.contains(words), "{told}");
        assert!(told.contains("refdesk.toml:4:"), "{told}");
    }
}
