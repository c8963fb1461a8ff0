//! Tests of capabilities: what a principal may not use, the server does not declare to it.

use std::fs;

use serde_json::{Value, json};

use crate::fake_server::{Era, FakeRequest, FakeResponse, FakeServer, TransportKind};
use crate::program::{StdioProgram, project, refdesk};

// With collections, the skills extension is declared even without skills.
const OWN: &str = "[server]\nsep2093 = \"off\"\n[search]\nenabled = false\n\
    [mounts.own]\nkind = \"fs\"\npath = \"project\"\n";

/// A server that can do everything.
fn serve(request: &FakeRequest<'_>) -> FakeResponse {
    let extensions =
        json!({ "io.modelcontextprotocol/skills": {}, "io.modelcontextprotocol/tasks": {} });
    let capabilities = json!({ "resources": {}, "tools": {}, "prompts": {}, "logging": {},
        "completions": {}, "extensions": extensions });
    match request.method {
        "server/discover" => FakeResponse::Result(
            json!({ "supportedVersions": ["2026-07-28"], "capabilities": capabilities }),
        ),
        _ => FakeResponse::Error(-32601, "no such method"),
    }
}

/// The capabilities that refdesk declares with `settings` at the beginning of a conversation.
fn capabilities(era: Era, settings: &str) -> Value {
    let folder = project();
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio"]));
    let mut is_starting = || {
        let state = desk.request("resources/read", json!({ "uri": "refdesk://mounts/up" }));
        state.to_string().contains("starting")
    };
    while is_starting() {}
    let answer = match era {
        Era::Modern => desk.request("server/discover", json!({})),
        Era::Legacy => {
            let client = json!({ "name": "test", "version": "1" });
            let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": client });
            let request =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
            desk.send_message(&request);
            desk.receive()
        }
    };
    let capabilities = answer["result"]["capabilities"].clone();
    assert!(capabilities.is_object(), "{answer}");
    capabilities
}

#[test]
fn initialize_and_discover_declare_nothing_of_a_mount_that_a_principal_may_not_use() {
    for era in [Era::Legacy, Era::Modern] {
        let actor = FakeServer::start(Era::Modern, TransportKind::Http, serve);
        let alone = capabilities(era, OWN);
        let open = capabilities(era, &format!("{OWN}{}", actor.mount("up", "")));
        let listed =
            "access = [{ allow = [\"open\"], methods = [\"list\"], principals = [\"local\"] }]";
        let denied = capabilities(era, &format!("{OWN}{}", actor.mount("up", listed)));
        assert_eq!(denied, alone, "{era:?}");
        for name in ["prompts", "logging"] {
            assert!(open[name].is_object() && alone[name].is_null(), "{open} {alone}");
        }
        let tells_of_skills = |told: &Value| told["extensions"].to_string().contains("skills");
        assert!(tells_of_skills(&open) && !tells_of_skills(&alone), "{open} {alone}");
        assert!(era == Era::Legacy || open["extensions"].to_string().contains("tasks"), "{open}");
    }
}
