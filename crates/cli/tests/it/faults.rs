//! Tests of fault isolation: a failing upstream server does not affect other mounts.

use serde_json::{Value, json};

use crate::fake_server::{Era, FakeRequest, FakeResponse, FakeServer, TransportKind};
use crate::memory::peak;
use crate::program::project;
use crate::test_client::TestClient;

const OWN: &str = "[mounts.own]\nkind = \"fs\"\npath = \"project\"\nindex = false\n";
const README: &str = "file:///own/README.md";
const LIST_CHANGED: &str = "notifications/resources/list_changed";

/// The normal responses of a server with one resource.
fn normal_response(request: &FakeRequest<'_>) -> FakeResponse {
    match request.method {
        "resources/list" => {
            FakeResponse::Result(json!({ "resources": [{ "uri": "a://x", "name": "x" }] }))
        }
        "resources/read" => FakeResponse::Result(
            json!({ "contents": [{ "uri": request.params["uri"], "text": "well" }] }),
        ),
        _ => FakeResponse::Error(-32601, "no such method"),
    }
}

/// The message in the status of a mount.
fn status_message(state: &Value) -> &str {
    state["words"].as_str().unwrap_or_else(|| panic!("{state}"))
}

fn read(client: &mut TestClient) -> Value {
    client.request("resources/read", json!({ "uri": "bad+a://x" }))
}

#[test]
fn a_program_that_is_killed_in_mid_read_is_told_of_and_comes_back() {
    let folder = project();
    for era in [Era::Legacy, Era::Modern] {
        let actor =
            FakeServer::start(era, TransportKind::Pipe, |asked| match (asked.method, asked.turn) {
                ("resources/read", 0) => FakeResponse::Hang,
                _ => normal_response(asked),
            });
        let mut front = TestClient::piped(folder.path(), &(actor.mount("bad", "") + OWN));
        assert_eq!(front.text_of(README), "# Project\n");
        front.subscribe(&[]);
        let reading = front.send_request("resources/read", json!({ "uri": "bad+a://x" }));
        actor.wait_for("resources/read", 1);
        assert_eq!(front.text_of(README), "# Project\n", "the other mount answers meanwhile");
        actor.kill();
        let failed = front.wait_response(reading);
        assert_eq!(failed["error"]["code"], -32603, "{failed}");
        assert_eq!(failed["error"]["data"]["uri"], "bad+a://x");
        assert_eq!(failed["error"]["data"]["upstream"], "bad", "{failed}");
        let state = front.state_of("bad");
        assert_eq!(
            (&state["state"], status_message(&state)),
            (&json!("failed"), "the connection ended")
        );
        let list = front.request("resources/list", json!({}));
        assert_eq!(list["result"]["_meta"]["dev.refdesk/absent"][0]["what"], "bad", "{list}");
        assert_eq!(actor.count("resources/read"), 1, "what failed is not asked again by itself");
        actor.open();
        front.wait_notification(LIST_CHANGED);
        assert_eq!(front.text_of("bad+a://x"), "well");
        assert_eq!(front.state_of("bad")["state"], "ready");
        assert_eq!(actor.count("resources/read"), 2);
    }
}

#[test]
fn a_server_that_hangs_is_given_up_on_in_time_and_told_of() {
    let folder = project();
    for way in [TransportKind::Pipe, TransportKind::Http] {
        let actor = FakeServer::start(Era::Modern, way, |asked| match (asked.method, asked.turn) {
            ("resources/read" | "resources/list", 0) => FakeResponse::Hang,
            _ => normal_response(asked),
        });
        let settings = actor.mount("bad", "timeout = \"700ms\"") + OWN;
        let mut front = TestClient::piped(folder.path(), &settings);
        let reading = front.send_request("resources/read", json!({ "uri": "bad+a://x" }));
        actor.wait_for("resources/read", 1);
        assert_eq!(front.text_of(README), "# Project\n", "the other mount answers meanwhile");
        let failed = front.wait_response(reading);
        assert_eq!(failed["error"]["code"], -32603, "{failed}");
        assert_eq!(failed["error"]["data"]["upstream"], "bad", "{failed}");
        let state = front.state_of("bad");
        assert_eq!(state["state"], "degraded");
        assert!(status_message(&state).contains("did not answer in time"), "{state}");
        let list = front.request("resources/list", json!({}));
        let absent = &list["result"]["_meta"]["dev.refdesk/absent"][0];
        assert_eq!(absent["what"], "bad");
        assert_eq!(list["result"]["resources"].as_array().unwrap().len(), 6);
        assert_eq!((actor.count("resources/read"), actor.count("resources/list")), (1, 1));
        assert_eq!(read(&mut front)["result"]["contents"][0]["text"], "well");
        assert_eq!(front.state_of("bad")["state"], "ready");
    }
}

#[test]
fn garbage_is_no_answer_and_the_next_one_is() {
    let folder = project();
    let garbage = [
        (TransportKind::Http, "\u{1b}[31mTraceback (most recent call last):"),
        (TransportKind::Http, r#"{"jsonrpc":"2.0"}"#),
        (TransportKind::Http, r#"[1, "two", null]"#),
        (TransportKind::Pipe, "{\"jsonrpc\":\"2.0\",\"id\":"),
        (TransportKind::Pipe, "null"),
    ];
    for (way, said) in garbage {
        let actor =
            FakeServer::start(Era::Modern, way, move |asked| match (asked.method, asked.turn) {
                ("resources/read", 0) => FakeResponse::Raw(said),
                _ => normal_response(asked),
            });
        let settings = actor.mount("bad", "timeout = \"700ms\"") + OWN;
        let mut front = TestClient::piped(folder.path(), &settings);
        let failed = read(&mut front);
        assert_eq!(failed["error"]["code"], -32603, "{said}: {failed}");
        assert!(!failed.to_string().contains("Traceback"), "its words stay in the log");
        let state = front.state_of("bad");
        assert_eq!(state["state"], "degraded", "{said}: {state}");
        assert!(status_message(&state).contains("the server behind this mount"), "{state}");
        assert_eq!(front.text_of(README), "# Project\n");
        assert_eq!(actor.count("resources/read"), 1);
        assert_eq!(front.text_of("bad+a://x"), "well");
        assert_eq!(front.state_of("bad")["state"], "ready");
    }
}

#[test]
fn an_answer_without_end_costs_no_memory() {
    const MOST: u64 = 150 << 20;
    let folder = project();
    for way in [TransportKind::Pipe, TransportKind::Http] {
        let actor = FakeServer::start(Era::Modern, way, |asked| match (asked.method, asked.turn) {
            ("resources/read", 0) => FakeResponse::Flood(1 << 30),
            _ => normal_response(asked),
        });
        let mut front = TestClient::piped(folder.path(), &(actor.mount("bad", "") + OWN));
        let failed = read(&mut front);
        assert_eq!(failed["error"]["code"], -32602, "{failed}");
        assert!(failed["error"]["message"].as_str().unwrap().contains("bytes"), "{failed}");
        let state = front.state_of("bad");
        assert_eq!(state["state"], "degraded", "{state}");
        assert_eq!(front.text_of(README), "# Project\n", "while it still comes");
        if way == TransportKind::Pipe {
            actor.wait_for("flooded", 1);
        }
        assert_eq!(front.text_of("bad+a://x"), "well");
        assert_eq!(front.state_of("bad")["state"], "ready");
        assert_eq!(actor.count("resources/read"), 2);
        let peak = peak(front.process());
        assert!(peak < MOST, "{way:?}: {peak} bytes at the most");
    }
}

#[test]
fn a_list_that_goes_in_circles_ends() {
    let folder = project();
    let actor = FakeServer::start(Era::Modern, TransportKind::Pipe, |asked| match asked.method {
        "resources/list" => {
            let one = json!({ "uri": format!("a://{}", asked.turn), "name": "x" });
            FakeResponse::Result(json!({ "resources": [one], "nextCursor": "again" }))
        }
        _ => normal_response(asked),
    });
    let mut front = TestClient::piped(folder.path(), &(actor.mount("bad", "") + OWN));
    let list = front.request("resources/list", json!({}));
    let absent = &list["result"]["_meta"]["dev.refdesk/absent"][0];
    assert_eq!(absent["what"], "bad", "{list}");
    assert!(absent["why"].as_str().unwrap().contains("repeats"), "{list}");
    assert_eq!(list["result"]["resources"].as_array().unwrap().len(), 6, "the rest is served");
    let asked = actor.count("resources/list");
    assert!(asked <= 3, "asked for {asked} pages");
    let state = front.state_of("bad");
    assert_eq!(state["state"], "degraded", "{state}");
    assert!(status_message(&state).contains("repeats"), "{state}");
    assert_eq!(front.text_of("bad+a://x"), "well");
}

#[test]
fn a_stream_that_ends_halfway_is_no_answer_and_the_next_one_is() {
    let folder = project();
    for era in [Era::Legacy, Era::Modern] {
        let actor =
            FakeServer::start(era, TransportKind::Http, |asked| match (asked.method, asked.turn) {
                ("resources/read", 0) => FakeResponse::Disconnect,
                _ => normal_response(asked),
            });
        let mut front = TestClient::piped(folder.path(), &(actor.mount("bad", "") + OWN));
        let failed = read(&mut front);
        assert_eq!(failed["error"]["code"], -32603, "{failed}");
        assert_eq!(failed["error"]["data"]["upstream"], "bad", "{failed}");
        assert_eq!(front.text_of(README), "# Project\n");
        let state = front.state_of("bad");
        assert_eq!(state["state"], "degraded", "{state}");
        assert!(status_message(&state).contains("cannot be reached"), "{state}");
        assert_eq!(actor.count("resources/read"), 1);
        assert_eq!(front.text_of("bad+a://x"), "well");
        assert_eq!(front.state_of("bad")["state"], "ready");
    }
}

#[test]
fn a_server_that_forgot_the_session_is_opened_again() {
    let folder = project();
    let actor = FakeServer::start(Era::Legacy, TransportKind::Http, normal_response);
    let mut front = TestClient::piped(folder.path(), &(actor.mount("bad", "") + OWN));
    front.subscribe(&["bad+a://x"]);
    assert_eq!(front.text_of("bad+a://x"), "well");
    actor.wait_for("GET", 1);
    actor.drop_session();
    assert_eq!(front.text_of("bad+a://x"), "well", "the client does not notice");
    assert_eq!(front.text_of(README), "# Project\n");
    assert_eq!((actor.count("initialize"), actor.count("resources/read")), (2, 2));
    assert_eq!(front.state_of("bad")["state"], "ready");
    // refdesk subscribes again and sends one update for each watched resource.
    let told = front.wait_notification("notifications/resources/updated");
    assert_eq!(told["params"]["uri"], "bad+a://x");
    assert_eq!(actor.count("resources/subscribe"), 2);
    actor.wait_for("GET", 2);
    actor.notify("notifications/resources/updated", &json!({ "uri": "a://x" }));
    assert_eq!(
        front.wait_notification("notifications/resources/updated")["params"]["uri"],
        "bad+a://x"
    );
}

#[test]
fn a_server_that_comes_back_with_another_list_is_served_with_that() {
    let folder = project();
    for era in [Era::Legacy, Era::Modern] {
        let opened = std::sync::atomic::AtomicUsize::new(0);
        let actor = FakeServer::start(era, TransportKind::Pipe, move |asked| match asked.method {
            "initialize" | "server/discover" => {
                opened.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                normal_response(asked)
            }
            "resources/list" => {
                let name = format!("n{}", opened.load(std::sync::atomic::Ordering::SeqCst));
                let one = json!({ "uri": format!("a://{name}"), "name": name });
                FakeResponse::Result(json!({ "resources": [one], "ttlMs": 600_000 }))
            }
            _ => normal_response(asked),
        });
        let mut front = TestClient::piped(folder.path(), &(actor.mount("bad", "") + OWN));
        let first = |client: &mut TestClient| {
            let list = client.request("resources/list", json!({}));
            list["result"]["resources"][0]["uri"].clone()
        };
        front.subscribe(&[]);
        assert_eq!(first(&mut front), "bad+a://n1");
        actor.kill();
        actor.open();
        front.wait_notification(LIST_CHANGED);
        assert_eq!(first(&mut front), "bad+a://n2");
        assert_eq!(front.state_of("bad")["state"], "ready");
    }
}
