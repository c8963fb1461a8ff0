//! Tests of the status resource `refdesk://mounts/<name>`, which sends no upstream request.

use std::fs;

use serde_json::{Value, json};

use crate::fake_server::{Era, FakeRequest, FakeResponse, FakeServer, TransportKind};
use crate::program::project;
use crate::test_client::TestClient;

const OWN: &str = "[mounts.own]\nkind = \"fs\"\npath = \"project\"\n";
const UPDATED: &str = "notifications/resources/updated";
const LIST_CHANGED: &str = "notifications/resources/list_changed";

/// A server with one resource, whose second read fails.
fn serve(request: &FakeRequest<'_>) -> FakeResponse {
    match (request.method, request.turn) {
        ("resources/list", _) => {
            FakeResponse::Result(json!({ "resources": [{ "uri": "a://x", "name": "x" }] }))
        }
        ("resources/read", 1) => FakeResponse::Error(7, "the quota is used up"),
        ("resources/read", _) => FakeResponse::Result(
            json!({ "contents": [{ "uri": request.params["uri"], "text": "well" }] }),
        ),
        _ => FakeResponse::Error(-32601, "no such method"),
    }
}

/// A valid RFC 3339 time; such texts sort by time.
fn time(value: &Value) -> &str {
    let text = value.as_str().unwrap_or_else(|| panic!("{value}"));
    assert!(humantime::parse_rfc3339(text).is_ok(), "{text}");
    text
}

#[test]
fn a_mount_tells_who_is_behind_it_how_much_there_is_and_what_went_wrong() {
    let folder = project();
    for (era, way) in [(Era::Legacy, TransportKind::Pipe), (Era::Modern, TransportKind::Http)] {
        let actor = FakeServer::start(era, way, serve);
        let mut front = TestClient::piped(folder.path(), &actor.mount("up", ""));
        assert_eq!(front.text_of("up+a://x"), "well");
        let well = front.state_of("up");
        let (name, revision, server) = match era {
            Era::Legacy => ("legacy", "2025-11-25", json!({ "name": "old", "version": "1" })),
            Era::Modern => ("modern", "2026-07-28", Value::Null),
        };
        assert_eq!((&well["state"], &well["era"]), (&json!("ready"), &json!(name)), "{well}");
        assert_eq!((&well["revision"], &well["server"]), (&json!(revision), &server), "{well}");
        assert_eq!(well["capabilities"]["resources"]["subscribe"], true, "{well}");
        assert_eq!((&well["counts"], &well["last_error"]), (&Value::Null, &Value::Null), "{well}");
        front.request("resources/list", json!({}));
        assert_eq!(front.state_of("up")["counts"], json!({ "resources": 1 }));
        assert_eq!(
            (actor.count("resources/list"), actor.count("resources/templates/list")),
            (1, 0)
        );
        front.request("resources/read", json!({ "uri": "up+a://x" }));
        let ill = front.state_of("up");
        assert_eq!(ill["state"], "degraded", "{ill}");
        let words = "the server behind this mount returned an error: the quota is used up";
        assert_eq!(ill["last_error"], json!({ "words": words, "at": ill["since"] }));
        assert!(time(&ill["since"]) >= time(&well["since"]), "{ill}");
        assert_eq!(front.text_of("up+a://x"), "well");
        let over = front.state_of("up");
        assert_eq!((&over["state"], &over["last_error"]), (&json!("ready"), &ill["last_error"]));
        assert!(time(&over["since"]) >= time(&ill["since"]), "{over}");
    }
}

#[test]
fn a_server_that_was_lost_is_remembered_and_so_is_its_loss() {
    let folder = project();
    let actor = FakeServer::start(Era::Legacy, TransportKind::Pipe, serve);
    let mut front = TestClient::piped(folder.path(), &actor.mount("up", ""));
    assert_eq!(front.text_of("up+a://x"), "well");
    front.subscribe(&["refdesk://mounts/up"]);
    actor.kill();
    let lost = loop {
        assert_eq!(front.wait_notification(UPDATED)["params"]["uri"], "refdesk://mounts/up");
        let state = front.state_of("up");
        if state["state"] == "failed" {
            break state;
        }
    };
    assert_eq!((&lost["era"], &lost["server"]["name"]), (&json!("legacy"), &json!("old")));
    assert!(time(&lost["last_error"]["at"]) >= time(&lost["since"]), "{lost}");
    actor.open();
    front.wait_notification(LIST_CHANGED);
    let back = front.state_of("up");
    assert_eq!(back["state"], "ready", "{back}");
    let (then, now) = (&lost["last_error"]["at"], &back["last_error"]["at"]);
    assert!(time(now) >= time(then) && time(&back["since"]) >= time(now), "{back}");
}

#[test]
fn an_edit_of_the_settings_changes_nothing_of_a_mount_that_goes_on() {
    let folder = project();
    // The state of an index goes on changing while it is filled.
    let own = format!("{OWN}index = false\n");
    let mut front = TestClient::piped(folder.path(), &own);
    front.subscribe(&[]);
    let before = front.state_of("own");
    assert!(time(&before["since"]).ends_with('Z') && before["state"] == "ready", "{before}");
    let more = OWN.replace("own", "more");
    fs::write(folder.path().join("refdesk.toml"), format!("{own}{more}")).unwrap();
    front.wait_notification(LIST_CHANGED);
    assert_eq!(front.state_of("own"), before);
    assert_eq!(front.state_of("more")["state"], "ready");
}

#[test]
fn a_list_is_kept_for_descriptions_for_as_long_as_the_settings_say() {
    let folder = project();
    for (listing, asked) in [("0s", 2), ("1h", 1)] {
        let actor = FakeServer::start(Era::Modern, TransportKind::Http, serve);
        let mount = actor.mount("up", &format!("listing = \"{listing}\""));
        let mut front = TestClient::piped(folder.path(), &mount);
        for _ in 0..2 {
            let told = front.request("resources/metadata", json!({ "uri": "up+a://x" }));
            assert_eq!(told["result"]["resource"]["name"], "x", "{told}");
        }
        assert_eq!(actor.count("resources/list"), asked, "{listing}");
    }
}

/// While a server is down its capabilities may still appear, so discovery must not be cached.
#[test]
fn what_is_discovered_stands_when_every_mount_is_there() {
    let folder = project();
    let actor = FakeServer::start(Era::Legacy, TransportKind::Pipe, serve);
    let mut front = TestClient::piped(folder.path(), &(actor.mount("up", "") + OWN));
    let ttl = |client: &mut TestClient| {
        client.request("server/discover", json!({}))["result"]["ttlMs"].clone()
    };
    assert_eq!(front.text_of("up+a://x"), "well");
    assert_eq!(ttl(&mut front), 300_000);
    let gone = "[mounts.gone]\nkind = \"upstream\"\ncommand = \"/no/such/program\"\n";
    let mut front = TestClient::piped(folder.path(), &format!("{gone}{OWN}"));
    assert_eq!(ttl(&mut front), 0, "whether it is starting or has failed");
    front.request("resources/list", json!({}));
    assert_eq!((&front.state_of("gone")["state"], ttl(&mut front)), (&json!("failed"), json!(0)));
}

#[test]
fn a_server_with_tools_alone_is_ready() {
    let folder = project();
    let actor = FakeServer::start(Era::Modern, TransportKind::Http, |asked| match asked.method {
        "server/discover" => FakeResponse::Result(json!({
            "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
            "ttlMs": 0, "cacheScope": "private",
        })),
        "tools/list" => FakeResponse::Result(json!({ "tools": [] })),
        _ => FakeResponse::Error(-32601, "no such method"),
    });
    let mut front = TestClient::piped(folder.path(), &actor.mount("up", ""));
    front.request("tools/list", json!({}));
    let state = front.state_of("up");
    assert_eq!((&state["state"], &state["words"]), (&json!("ready"), &Value::Null), "{state}");
}
