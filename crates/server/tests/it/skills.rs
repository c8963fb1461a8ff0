//! Tests of the skills extension: declaration, `skills/list`, `skills/get`.

use std::sync::Arc;

use serde_json::json;
use server::{CollectionsMode, Limits, Server};
use testkit::MemoryProvider;

use crate::fixture::{self, StdioClient, initialize, request, stateless};

const SKILLS: &str = "io.modelcontextprotocol/skills";
const PDF: &str = "skill://pdf/SKILL.md";

fn server(limits: Limits, collections: CollectionsMode) -> Arc<Server> {
    let memory = MemoryProvider::new()
        .skill(PDF, &[PDF, "skill://pdf/forms.md"])
        .skill("skill://git/SKILL.md", &["skill://git/SKILL.md"]);
    fixture::server_without_tools(Arc::new(memory), limits, collections)
}

#[tokio::test]
async fn skills_are_declared_listed_and_got_in_every_revision() {
    let expected = json!({
        "uri": PDF,
        "frontmatter": { "name": "a", "description": "b" },
        "resources": [
            { "uri": PDF, "digest": format!("sha256:{PDF}"), "size": 7 },
            { "uri": "skill://pdf/forms.md", "digest": "sha256:skill://pdf/forms.md", "size": 7 },
        ],
    });
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let mut pipe = StdioClient::open(server(Limits::default(), CollectionsMode::Always));
        let is_modern = revision == "2026-07-28";
        let ask = |method: &str, params| match is_modern {
            true => stateless(1, method, params),
            false => request(1, method, params),
        };
        let first = match is_modern {
            true => stateless(1, "server/discover", json!({})),
            false => initialize(revision),
        };
        let told = pipe.call(&first).await;
        let declared = &told["result"]["capabilities"];
        assert_eq!(declared["extensions"][SKILLS], json!({ "directoryRead": true }), "{told}");
        assert!(declared["experimental"].get(SKILLS).is_none(), "{told}");
        let listed = pipe.call(&ask("skills/list", json!({}))).await["result"].clone();
        assert_eq!(listed["skills"][0], expected, "{revision}");
        assert_eq!(listed["skills"].as_array().unwrap().len(), 2);
        let got = pipe.call(&ask("skills/get", json!({ "uri": PDF }))).await["result"].clone();
        assert_eq!(got["skill"], expected, "{revision}");
        for result in [&listed, &got] {
            let has_terms = result["ttlMs"].is_number() && result["cacheScope"].is_string();
            assert_eq!((has_terms, result["resultType"] == "complete"), (is_modern, is_modern));
        }
        let unknown = json!({ "uri": "skill://none/SKILL.md" });
        let refused = pipe.call(&ask("skills/get", unknown)).await["error"].clone();
        assert_eq!((&refused["code"], refused["message"].is_string()), (&json!(-32602), true));
        let missing = pipe.call(&ask("skills/get", json!({}))).await;
        assert_eq!(missing["error"]["code"], -32602, "{missing}");
    }
}

#[tokio::test]
async fn a_list_of_skills_goes_on_where_it_ended() {
    let limits = Limits { page: 1, ..Limits::default() };
    let mut pipe = StdioClient::open(server(limits, CollectionsMode::Off));
    let told = pipe.call(&stateless(1, "server/discover", json!({}))).await;
    let declared = &told["result"]["capabilities"]["extensions"];
    assert_eq!(declared, &json!({ SKILLS: {} }), "directories are not served");
    let first = pipe.call(&stateless(1, "skills/list", json!({}))).await["result"].clone();
    let more = json!({ "cursor": first["nextCursor"] });
    let rest = pipe.call(&stateless(2, "skills/list", more.clone())).await["result"].clone();
    assert_eq!((&first["skills"][0]["uri"], rest.get("nextCursor")), (&json!(PDF), None));
    assert_eq!(rest["skills"][0]["uri"], "skill://git/SKILL.md");
    let strange = pipe.call(&stateless(3, "resources/list", more)).await;
    assert_eq!(strange["error"]["code"], -32602, "a cursor belongs to its list");
}

/// Hosts list folders only where `directoryRead` of this extension is declared.
#[tokio::test]
async fn a_server_of_collections_has_the_extension_without_any_skill() {
    let mut pipe = StdioClient::open(fixture::default_server());
    let told = pipe.call(&stateless(1, "server/discover", json!({}))).await;
    let declared = &told["result"]["capabilities"]["extensions"];
    assert_eq!(declared[SKILLS], json!({ "directoryRead": true }), "{told}");
    let listed = pipe.call(&stateless(1, "skills/list", json!({}))).await;
    assert_eq!(listed["result"]["skills"], json!([]), "{listed}");
    let refused = pipe.call(&stateless(1, "skills/get", json!({ "uri": PDF }))).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[tokio::test]
async fn without_collections_and_skills_nothing_is_declared_or_served() {
    let memory = Arc::new(MemoryProvider::new());
    let (limits, off) = (Limits::default(), CollectionsMode::Off);
    let mut pipe = StdioClient::open(fixture::server_without_tools(memory, limits, off));
    let told = pipe.call(&stateless(1, "server/discover", json!({}))).await;
    assert!(told["result"]["capabilities"]["extensions"].get(SKILLS).is_none(), "{told}");
    for method in ["skills/list", "skills/get"] {
        let refused = pipe.call(&stateless(1, method, json!({ "uri": PDF }))).await;
        assert_eq!(refused["error"]["code"], -32601, "{method}");
    }
}

#[tokio::test]
async fn the_index_is_found_by_its_uri_and_nothing_else_is() {
    let memory = testkit::MemoryProvider::new().text(PDF, "# PDF").skill(PDF, &[]);
    let index = server::SkillIndex::new(std::sync::Arc::new(memory)).unwrap();
    let ctx = testkit::local_context();
    let whole = resource::ReadRequest::whole(u64::MAX);
    let read = resource::Provider::read(&index, &ctx, index.uri(), &whole).await.unwrap();
    let resource::Content::Parts(mut parts) = read.content else { panic!("the index is a text") };
    let text = testkit::contract::bytes_of(parts.remove(0).body).await.to_vec();
    let missing = ["skill://index.jso", "skill://index.json/x"];
    let missing = missing.map(|text| resource::Uri::parse(text).unwrap()).to_vec();
    let leaves = vec![(index.uri().clone(), text)];
    let known = testkit::Expectations { leaves, missing, ..testkit::Expectations::default() };
    testkit::contract::known_content_is_given(&index, &known).await;
    testkit::contract::unknown_is_not_found(&index, &known).await;
    testkit::contract::templates_join(&index).await;
    testkit::contract::cursors_from_nowhere_are_harmless(&index).await;
}

#[tokio::test]
async fn without_skills_the_index_is_empty() {
    let index = server::SkillIndex::new(Arc::new(MemoryProvider::new())).unwrap();
    let (ctx, whole) = (testkit::local_context(), resource::ReadRequest::whole(u64::MAX));
    let read = resource::Provider::read(&index, &ctx, index.uri(), &whole).await.unwrap();
    let resource::Content::Parts(mut parts) = read.content else { panic!("the index is a text") };
    let text = testkit::contract::bytes_of(parts.remove(0).body).await;
    let told: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(told["skills"], json!([]));
}
