//! Tests of the skills of servers behind refdesk (skills extension), and of the merged index.

use serde_json::{Value, json};

use crate::fake_server::{Era, FakeRequest, FakeResponse, FakeServer, TransportKind};
use crate::program::project;
use crate::test_client::TestClient;

const SKILLS: &str = "io.modelcontextprotocol/skills";
const PDF: &str = "skill://pdf/SKILL.md";
const DIGEST: &str = "sha256:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

fn skill(uri: &str, name: &str) -> Value {
    json!({
        "uri": uri,
        "frontmatter": { "name": name, "description": "d", "allowed-tools": "Bash(*)" },
        "resources": [{ "uri": uri, "digest": DIGEST, "size": 5 }],
        "x-own": [1.50],
    })
}

/// A server with the extension, and without an index.
fn serve_skills(request: &FakeRequest<'_>) -> FakeResponse {
    let capabilities =
        json!({ "resources": {}, "extensions": { SKILLS: { "directoryRead": true } } });
    let uri = &request.params["uri"];
    match request.method {
        "initialize" => FakeResponse::Result(json!({
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "serverInfo": { "name": "s", "version": "1" },
        })),
        "server/discover" => FakeResponse::Result(json!({
            "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
        })),
        "skills/list" if request.params["cursor"] == "two" => FakeResponse::Result(json!({
            "skills": [{ "uri": "git://r/daily/SKILL.md", "resources": "dynamic",
                "frontmatter": { "name": "daily", "description": "d" } }],
        })),
        "skills/list" => {
            let invalid = json!({ "uri": "skill://broken/SKILL.md" });
            FakeResponse::Result(json!({ "skills": [skill(PDF, "pdf"), invalid],
                "nextCursor": "two", "ttlMs": 60000, "cacheScope": "public" }))
        }
        "skills/get" if uri == PDF => FakeResponse::Result(json!({ "skill": skill(PDF, "pdf") })),
        "skills/get" if uri == "skill://lies/SKILL.md" => {
            FakeResponse::Result(json!({ "skill": skill(PDF, "pdf") }))
        }
        "skills/get" => FakeResponse::Error(-32602, "no such skill"),
        "resources/read" if uri == PDF => {
            FakeResponse::Result(json!({ "contents": [{ "uri": uri, "text": "hello" }] }))
        }
        "resources/read" => FakeResponse::Error(-32602, "Resource not found"),
        "resources/directory/read" if uri == "skill://pdf" => FakeResponse::Result(json!({
            "resources": [{ "uri": PDF, "name": "SKILL.md" }],
        })),
        "resources/list" => FakeResponse::Result(json!({ "resources": [
            { "uri": "skill://pdf", "name": "pdf", "mimeType": "inode/directory" },
        ] })),
        _ => FakeResponse::Error(-32601, "no such method"),
    }
}

/// A server with an index and without the extension.
fn serve_index(request: &FakeRequest<'_>) -> FakeResponse {
    match request.method {
        "resources/read" if request.params["uri"] == "skill://index.json" => {
            let index = json!({ "skills": [
                { "name": "old", "type": "skill-md", "url": "skill://old/SKILL.md",
                  "digest": DIGEST, "x-own": 1 },
                { "type": "mcp-resource-template", "url": "skill://docs/{product}/SKILL.md" },
            ] });
            let content = json!({ "uri": "skill://index.json", "text": index.to_string() });
            FakeResponse::Result(json!({ "contents": [content] }))
        }
        "resources/list" => FakeResponse::Result(json!({ "resources": [] })),
        _ => FakeResponse::Error(-32601, "no such method"),
    }
}

fn read_index(front: &mut TestClient) -> Value {
    let read = front.request("resources/read", json!({ "uri": "skill://index.json" }));
    let text = read["result"]["contents"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("{read}"))).unwrap()
}

#[test]
fn skills_of_a_server_behind_are_listed_got_and_read_in_every_pair_of_eras() {
    for front_era in [Era::Legacy, Era::Modern] {
        for (era, way) in [(Era::Legacy, TransportKind::Pipe), (Era::Modern, TransportKind::Http)] {
            let folder = project();
            let actor = FakeServer::start(era, way, serve_skills);
            let settings = actor.mount("up", "");
            let mut front = TestClient::start(front_era, way, folder.path(), &settings);
            let listed = front.request("skills/list", json!({}))["result"].take();
            let mut expected = skill("skill://up/pdf/SKILL.md", "pdf");
            assert_eq!(listed["skills"][0], expected, "{listed}");
            let dynamic = &listed["skills"][1];
            let place = (&dynamic["uri"], &dynamic["resources"]);
            assert_eq!(place, (&json!("up+git://r/daily/SKILL.md"), &json!("dynamic")));
            assert_eq!(listed["skills"].as_array().unwrap().len(), 2, "{listed}");
            let uri = expected["uri"].take();
            let got = front.request("skills/get", json!({ "uri": uri }))["result"].take();
            assert_eq!(got["skill"], listed["skills"][0], "{got}");
            let read = front.request("resources/read", json!({ "uri": uri }));
            assert_eq!(read["result"]["contents"][0]["text"], "hello", "{read}");
            let folder = json!({ "uri": "skill://up/pdf" });
            let files = front.request("resources/directory/read", folder);
            assert_eq!(files["result"]["resources"][0]["uri"], uri, "{files}");
            for unknown in ["skill://up/none/SKILL.md", "skill://none/SKILL.md", "a:b"] {
                let refused = front.request("skills/get", json!({ "uri": unknown }));
                assert_eq!(refused["error"]["code"], -32602, "{refused}");
                assert_eq!(refused["error"]["data"]["uri"], unknown, "{refused}");
            }
            let lies = front.request("skills/get", json!({ "uri": "skill://up/lies/SKILL.md" }));
            assert!(lies["error"].is_object(), "{lies}");
            let skills = read_index(&mut front)["skills"].take();
            assert_eq!((&skills[0]["url"], &skills[0]["digest"]), (&uri, &json!(DIGEST)));
        }
    }
}

/// Hosts list folders only where `directoryRead` of this extension is declared.
#[test]
fn the_extension_is_declared_for_folders_and_without_collections_for_skills_alone() {
    let off = "[server]\nsep2093 = \"off\"\n";
    for (has_skills, expected) in [(true, json!({})), (false, Value::Null)] {
        let folder = project();
        let act = move |request: &FakeRequest<'_>| match has_skills {
            true => serve_skills(request),
            false => serve_index(request),
        };
        let actor = FakeServer::start(Era::Modern, TransportKind::Http, act);
        let settings = format!("{off}{}", actor.mount("up", ""));
        let mut front = TestClient::piped(folder.path(), &settings);
        let found = front.request("server/discover", json!({}));
        assert_eq!(found["result"]["capabilities"]["extensions"][SKILLS], expected, "{found}");
    }
    let folder = project();
    let mut front =
        TestClient::piped(folder.path(), "[mounts.docs]\nkind = \"fs\"\npath = \"project\"\n");
    let found = front.request("server/discover", json!({}));
    let declared = &found["result"]["capabilities"]["extensions"][SKILLS];
    assert_eq!(declared, &json!({ "directoryRead": true }), "{found}");
    let source = json!({ "uri": "file:///docs/src" });
    let read = front.request("resources/directory/read", source)["result"].take();
    assert!(read["resources"].to_string().contains("file:///docs/src/main.rs"), "{read}");
    let listed = front.request("skills/list", json!({}));
    assert_eq!(listed["result"]["skills"], json!([]), "{listed}");
    let missing = front.request("skills/get", json!({ "uri": "skill://a/SKILL.md" }));
    assert_eq!(missing["error"]["code"], -32602, "{missing}");
    assert_eq!(read_index(&mut front)["skills"], json!([]));
}

#[test]
fn the_index_is_merged_and_names_the_server_that_fails() {
    let folder = project();
    let old = FakeServer::start(Era::Modern, TransportKind::Http, serve_index);
    let new = FakeServer::start(Era::Legacy, TransportKind::Pipe, serve_skills);
    let broken =
        FakeServer::start(Era::Modern, TransportKind::Http, |request| match request.method {
            "resources/read" | "skills/list" => FakeResponse::Hang,
            _ => serve_skills(request),
        });
    let settings =
        old.mount("old", "") + &new.mount("new", "") + &broken.mount("slow", "timeout = \"1s\"");
    let mut front = TestClient::piped(folder.path(), &settings);
    let index = read_index(&mut front);
    let urls = [
        "skill://new/pdf/SKILL.md",
        "new+git://r/daily/SKILL.md",
        "skill://old/old/SKILL.md",
        "skill://old/docs/{product}/SKILL.md",
    ];
    let found: Vec<&str> =
        index["skills"].as_array().unwrap().iter().filter_map(|row| row["url"].as_str()).collect();
    assert_eq!(found, urls, "{index}");
    assert_eq!(
        (&index["skills"][2]["digest"], &index["skills"][2]["x-own"]),
        (&json!(DIGEST), &json!(1))
    );
    assert_eq!(index["_meta"]["dev.refdesk/absent"][0]["what"], "slow", "{index}");
    let listed = front.request("skills/list", json!({}))["result"].take();
    assert_eq!(listed["skills"].as_array().unwrap().len(), 2, "{listed}");
    assert_eq!(listed["_meta"]["dev.refdesk/absent"][0]["what"], "slow", "{listed}");
}
