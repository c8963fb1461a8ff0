//! Tests of SEP-2093: metadata, collections, scoped lists.

use std::sync::Arc;

use serde_json::{Value, json};
use server::{CollectionsMode, Limits};
use testkit::MemoryProvider;

use crate::fixture::{self, StdioClient, default_server, memory, stateless};

async fn ask(pipe: &mut StdioClient, method: &str, params: Value) -> Value {
    pipe.call(&stateless(1, method, params)).await
}

fn plain(mut element: Value) -> Value {
    let members = element.as_object_mut().unwrap();
    members.remove("text");
    members.remove("blob");
    element
}

/// S2093-01, 02, 04, 05, 08, 09, 10, 11.
#[tokio::test]
async fn list_metadata_and_read_agree() {
    let memory = Arc::new(memory());
    let server = fixture::server(Arc::clone(&memory), Limits::default(), CollectionsMode::Always);
    let mut pipe = StdioClient::open(server);
    let list = ask(&mut pipe, "resources/list", json!({})).await;
    for entry in list["result"]["resources"].as_array().unwrap() {
        let uri = json!({ "uri": entry["uri"] });
        let before = memory.counts().reads();
        let metadata = ask(&mut pipe, "resources/metadata", uri.clone()).await;
        assert_eq!(memory.counts().reads(), before, "metadata opens no content");
        assert_eq!(&metadata["result"]["resource"], entry);
        assert!(entry["isCollection"].is_boolean());
        assert_eq!(entry["capabilities"]["list"], entry["isCollection"]);
        assert_eq!(entry["_meta"]["dev.refdesk/collection"], entry["isCollection"]);
        let contents = ask(&mut pipe, "resources/read", uri).await["result"]["contents"].take();
        let first = contents[0].clone();
        assert_eq!(first["uri"], entry["uri"]);
        if entry["isCollection"] == false {
            assert_eq!(&plain(first), entry);
            assert!(contents.as_array().unwrap().iter().all(|part| part["uri"] == entry["uri"]));
        }
    }
}

/// S2093-03, 06, 07, 21, 22, 29.
#[tokio::test]
async fn metadata_is_had_of_all_that_can_be_read_and_of_nothing_else() {
    let mut pipe = StdioClient::open(default_server());
    let found =
        ask(&mut pipe, "resources/metadata", json!({ "uri": "test://template/x/data" })).await;
    assert_eq!(found["result"]["resource"]["uri"], "test://template/x/data");
    let nowhere = json!({ "uri": "test://nowhere" });
    for method in
        ["resources/metadata", "resources/read", "resources/list", "resources/directory/read"]
    {
        let error = ask(&mut pipe, method, nowhere.clone()).await["error"].take();
        assert_eq!((&error["code"], &error["data"]), (&json!(-32602), &nowhere), "{method}");
    }
}

/// S2093-15, 16, 17, S4-10, S4-11, B-05.
#[tokio::test]
async fn reading_a_collection_begins_with_itself_and_goes_on_with_children() {
    let mut pipe = StdioClient::open(default_server());
    let answer = ask(&mut pipe, "resources/read", json!({ "uri": "test://folder" })).await;
    let contents = answer["result"]["contents"].as_array().unwrap();
    let uris: Vec<_> = contents.iter().map(|part| part["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, ["test://folder", "test://folder/a", "test://folder/b"]);
    assert_eq!(contents[0]["mimeType"], "text/markdown");
    assert!(contents[0]["text"].as_str().unwrap().contains("(test://folder/in)"));
    for child in &contents[1..] {
        assert!(child["name"].is_string() && child["isCollection"] == false);
    }
}

/// An empty collection is still an element, never an empty array.
#[tokio::test]
async fn an_empty_collection_reads_as_itself() {
    let memory = MemoryProvider::new().collection("test://empty", &[]);
    let mut pipe = StdioClient::open(fixture::server(
        Arc::new(memory),
        Limits::default(),
        CollectionsMode::Always,
    ));
    let uri = json!({ "uri": "test://empty" });
    let contents = ask(&mut pipe, "resources/read", uri.clone()).await["result"]["contents"].take();
    assert_eq!((contents.as_array().unwrap().len(), &contents[0]["uri"]), (1, &uri["uri"]));
    let listed = ask(&mut pipe, "resources/list", uri).await;
    assert_eq!(listed["result"]["resources"], json!([]));
}

/// S2093-17, S2093-18: listing gives what does not fit.
#[tokio::test]
async fn reading_a_large_collection_is_capped() {
    let uris: Vec<String> = (0..300).map(|n| format!("test://many/{n:03}")).collect();
    let children: Vec<&str> = uris.iter().map(String::as_str).collect();
    let mut memory = MemoryProvider::new().collection("test://many", &children);
    for uri in &uris {
        memory = memory.text(uri, &"x".repeat(20_000));
    }
    let mut pipe = StdioClient::open(fixture::server(
        Arc::new(memory),
        Limits::default(),
        CollectionsMode::Always,
    ));
    let answer = ask(&mut pipe, "resources/read", json!({ "uri": "test://many" })).await;
    assert!(answer.to_string().len() < 300_000);
    let text = answer["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("There is more"), "{text}");
    let mut seen = Vec::new();
    let mut params = json!({ "uri": "test://many" });
    loop {
        let page = ask(&mut pipe, "resources/list", params.clone()).await["result"].take();
        seen.extend(page["resources"].as_array().unwrap().iter().map(|r| r["uri"].clone()));
        let Some(next) = page.get("nextCursor") else { break };
        params["cursor"] = next.clone();
    }
    assert_eq!(seen, uris);
}

/// S4-05, S4-06, S4-07, S4-13, B-07.
#[tokio::test]
async fn a_scoped_list_holds_direct_children_only() {
    let limits = Limits { page: 2, ..Limits::default() };
    let mut pipe =
        StdioClient::open(fixture::server(Arc::new(memory()), limits, CollectionsMode::Always));
    let folder = json!({ "uri": "test://folder" });
    let first = ask(&mut pipe, "resources/list", folder.clone()).await["result"].take();
    let same = ask(&mut pipe, "resources/directory/read", folder).await["result"].take();
    assert_eq!(first, same);
    let cursor = &first["nextCursor"];
    let next = json!({ "uri": "test://folder", "cursor": cursor });
    let last = ask(&mut pipe, "resources/list", next).await["result"].take();
    let uris = |page: &Value| -> Vec<Value> {
        page["resources"].as_array().unwrap().iter().map(|r| r["uri"].clone()).collect()
    };
    assert_eq!(uris(&first), ["test://folder/a", "test://folder/b"]);
    assert_eq!((uris(&last), last.get("nextCursor")), (vec![json!("test://folder/in")], None));
    for foreign in
        [json!({ "cursor": cursor }), json!({ "uri": "test://folder/in", "cursor": cursor })]
    {
        let error = ask(&mut pipe, "resources/list", foreign).await["error"].take();
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().unwrap().contains("from the start"));
    }
    let templates = ask(&mut pipe, "resources/templates/list", json!({ "cursor": cursor })).await;
    assert_eq!(templates["error"]["code"], -32602);
    for leaf in ["resources/list", "resources/directory/read"] {
        let error = ask(&mut pipe, leaf, json!({ "uri": "test://static-text" })).await;
        assert_eq!(error["error"]["code"], -32602, "{leaf}");
    }
}

/// B-10, B-11, B-15.
#[tokio::test]
async fn without_the_extension_nothing_of_it_is_served() {
    let server = fixture::server(Arc::new(memory()), Limits::default(), CollectionsMode::Off);
    let mut pipe = StdioClient::open(server);
    let uri = json!({ "uri": "test://folder" });
    for method in ["resources/metadata", "resources/directory/read"] {
        assert_eq!(ask(&mut pipe, method, uri.clone()).await["error"]["code"], -32601, "{method}");
    }
    assert_eq!(ask(&mut pipe, "resources/list", uri).await["error"]["code"], -32602);
    let discovery = ask(&mut pipe, "server/discover", json!({})).await;
    assert_eq!(discovery["result"]["capabilities"].get("extensions"), None);
    let list = ask(&mut pipe, "resources/list", json!({})).await.to_string();
    assert!(!list.contains("isCollection") && !list.contains("dev.refdesk/collection"));
}

/// B-15, B-16: in `aware` mode, clients that declare the extension get its fields.
#[tokio::test]
async fn whoever_declares_the_extension_is_shown_it() {
    let server = fixture::server(Arc::new(memory()), Limits::default(), CollectionsMode::Aware);
    let mut pipe = StdioClient::open(server);
    let extension = json!({ "dev.refdesk/resource-metadata": {} });
    for place in ["extensions", "experimental"] {
        let meta = json!({ "io.modelcontextprotocol/clientCapabilities": { place: extension } });
        let list = ask(&mut pipe, "resources/list", json!({ "_meta": meta })).await.to_string();
        assert!(list.contains("isCollection"), "{place}");
    }
    let list = ask(&mut pipe, "resources/list", json!({})).await.to_string();
    assert!(!list.contains("isCollection"));
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "clientInfo": info,
                         "capabilities": { "experimental": extension } });
    pipe.call(&fixture::request("open", "initialize", params)).await;
    let read = fixture::request(2, "resources/read", json!({ "uri": "test://nope" }));
    assert_eq!(pipe.call(&read).await["error"]["code"], -32602);
}
