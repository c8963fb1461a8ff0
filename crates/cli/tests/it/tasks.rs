//! Tests of tasks of servers behind refdesk (SEP-2663).

use serde_json::{Value, json};

use crate::fake_server::{Era, FakeRequest, FakeResponse, FakeServer, TransportKind};
use crate::program::project;
use crate::test_client::TestClient;

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// A server whose tool runs as the task `t-1`.
fn serve(request: &FakeRequest<'_>) -> FakeResponse {
    let declared = &request.params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    let is_declared = declared["extensions"][TASKS].is_object();
    let state = |status: &str| {
        json!({ "taskId": "t-1", "status": status, "createdAt": "2026-01-01T00:00:00Z",
            "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": null })
    };
    match request.method {
        "server/discover" => FakeResponse::Result(json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": { "tools": {}, "extensions": { TASKS: {} } },
        })),
        "tools/list" => {
            let tool = json!({ "name": "work", "inputSchema": { "type": "object" } });
            FakeResponse::Result(json!({ "tools": [tool] }))
        }
        "tools/call" if is_declared => {
            let mut task = state("working");
            task["resultType"] = json!("task");
            FakeResponse::Result(task)
        }
        "tools/call" => FakeResponse::Result(json!({ "content": [] })),
        _ if request.params["taskId"] != "t-1" || !is_declared => {
            FakeResponse::Error(-32602, "no such task here")
        }
        "tasks/get" if request.turn == 0 => {
            let mut task = state("input_required");
            let asked = json!({ "method": "elicitation/create", "params": { "message": "?" } });
            task["inputRequests"] = json!({ "one": asked });
            FakeResponse::Result(task)
        }
        "tasks/get" => {
            let mut task = state("completed");
            let link = json!({ "type": "resource_link", "uri": "a://x", "name": "x" });
            task["result"] = json!({ "content": [link] });
            FakeResponse::Result(task)
        }
        "tasks/update" => {
            assert_eq!(request.params["inputResponses"]["one"]["action"], "accept");
            FakeResponse::Result(json!({}))
        }
        "tasks/cancel" => FakeResponse::Result(json!({})),
        _ => FakeResponse::Error(-32601, "no such method"),
    }
}

fn declared(mut params: Value) -> Value {
    let capabilities = json!({ "extensions": { TASKS: {} }, "elicitation": {} });
    params["_meta"] = json!({ "io.modelcontextprotocol/clientCapabilities": capabilities });
    params
}

#[test]
fn a_task_of_a_server_behind_is_got_updated_and_cancelled() {
    for way in [TransportKind::Pipe, TransportKind::Http] {
        let folder = project();
        let actor = FakeServer::start(Era::Modern, way, serve);
        let mut front = TestClient::start(Era::Modern, way, folder.path(), &actor.mount("up", ""));
        let found = front.request("server/discover", json!({}));
        let extensions = &found["result"]["capabilities"]["extensions"];
        assert_eq!(extensions[TASKS], json!({}), "{found}");
        let call = json!({ "name": "up_work", "arguments": {} });
        let plain = front.request("tools/call", call.clone());
        assert_eq!(plain["result"]["content"], json!([]), "{plain}");
        let created = front.request("tools/call", declared(call))["result"].take();
        assert_eq!(
            (&created["resultType"], &created["status"]),
            (&json!("task"), &json!("working"))
        );
        let id = created["taskId"].as_str().unwrap_or_else(|| panic!("{created}")).to_owned();
        assert_ne!(id, "t-1", "an id of another server could be the same");

        let asked = front.request("tasks/get", declared(json!({ "taskId": id })))["result"].take();
        assert_eq!((&asked["taskId"], &asked["status"]), (&json!(id), &json!("input_required")));
        assert_eq!(asked["inputRequests"]["one"]["method"], "elicitation/create");
        let answers = json!({ "one": { "action": "accept", "content": {} } });
        let update = declared(json!({ "taskId": id, "inputResponses": answers }));
        let updated = front.request("tasks/update", update);
        assert_eq!(updated["result"]["resultType"], "complete", "{updated}");
        let done = front.request("tasks/get", declared(json!({ "taskId": id })))["result"].take();
        assert_eq!(done["status"], "completed");
        assert_eq!(done["result"]["content"][0]["uri"], "up+a://x", "{done}");
        let cancelled = front.request("tasks/cancel", declared(json!({ "taskId": id })));
        assert!(cancelled["result"].is_object(), "{cancelled}");
    }
}

#[test]
fn a_task_needs_an_id_of_refdesk_and_a_client_that_knows_tasks() {
    let folder = project();
    let actor = FakeServer::start(Era::Modern, TransportKind::Http, serve);
    let mut front = TestClient::piped(folder.path(), &actor.mount("up", ""));
    for id in ["t-1", "", "AAAA"] {
        let refused = front.request("tasks/get", declared(json!({ "taskId": id })));
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let undeclared = front.request("tasks/get", json!({ "taskId": id }));
        assert_eq!(undeclared["error"]["code"], -32021, "{undeclared}");
        let required = &undeclared["error"]["data"]["requiredCapabilities"]["extensions"];
        assert_eq!(required[TASKS], json!({}), "{undeclared}");
    }
    assert_eq!(actor.count("tasks/get"), 0);
    let none = front.request("tasks/get", declared(json!({})));
    assert_eq!(none["error"]["code"], -32602, "{none}");
    for method in ["tasks/result", "tasks/list"] {
        let gone = front.request(method, declared(json!({ "taskId": "t-1" })));
        assert_eq!(gone["error"]["code"], -32601, "the tasks of 2025-11-25: {gone}");
    }
}

#[test]
fn the_states_of_a_task_are_told_to_those_who_listen() {
    for way in [TransportKind::Pipe, TransportKind::Http] {
        let folder = project();
        let actor = FakeServer::start(Era::Modern, TransportKind::Http, serve);
        let mut front = TestClient::start(Era::Modern, way, folder.path(), &actor.mount("up", ""));
        let call = declared(json!({ "name": "up_work", "arguments": {} }));
        let created = front.request("tools/call", call);
        let id = created["result"]["taskId"].clone();
        let params = declared(json!({ "notifications": { "taskIds": [id, "t-1"] } }));
        assert_eq!(front.listen_with(params), json!({ "taskIds": [id] }));
        for expected in ["input_required", "completed"] {
            let told = front.wait_notification("notifications/tasks")["params"].take();
            assert_eq!((&told["taskId"], &told["status"]), (&id, &json!(expected)), "{told}");
            assert!(told["_meta"]["io.modelcontextprotocol/subscriptionId"].is_number());
            assert!(told.get("resultType").is_none(), "{told}");
        }
    }
}
