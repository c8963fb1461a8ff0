//! Pagination tests over many servers: every resource once, and missing servers are named.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake_server::{Era, FakeResponse, FakeServer, TransportKind};
use crate::test_client::TestClient;

const RESOURCES: usize = 3_333;
const PAGE: usize = 250;

/// A server with many resources and its own page size.
fn paged(transport: TransportKind) -> FakeServer {
    FakeServer::start(Era::Modern, transport, |asked| match asked.method {
        "resources/list" => {
            let start = asked.params["cursor"].as_str().map_or(0, |text| text.parse().unwrap());
            let end = RESOURCES.min(start + PAGE);
            let one = |at| json!({ "uri": format!("a://{at:04}"), "name": "n" });
            let resources: Vec<Value> = (start..end).map(one).collect();
            let mut page = json!({ "resources": resources });
            if end < RESOURCES {
                page["nextCursor"] = json!(end.to_string());
            }
            FakeResponse::Result(page)
        }
        _ => FakeResponse::Error(-32601, "no such method"),
    })
}

/// A paginated listing in progress.
#[derive(Default)]
struct PagedWalk {
    seen: Vec<String>,
    absent: BTreeSet<String>,
    cursor: Option<Value>,
}

impl PagedWalk {
    /// Reads one page; returns whether there is another.
    fn step(&mut self, client: &mut TestClient) -> bool {
        let params = self.cursor.take().map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        let answer = client.request("resources/list", params);
        let page = &answer["result"];
        let items = page["resources"].as_array().unwrap_or_else(|| panic!("{answer}"));
        self.seen.extend(items.iter().map(|item| item["uri"].as_str().unwrap().to_owned()));
        let absent = page["_meta"]["dev.refdesk/absent"].as_array().into_iter().flatten();
        self.absent.extend(absent.map(|gap| gap["what"].as_str().unwrap().to_owned()));
        self.cursor = page.get("nextCursor").cloned();
        self.cursor.is_some()
    }

    fn until(&mut self, client: &mut TestClient, uri: &str) {
        while !self.seen.iter().any(|seen| seen == uri) {
            assert!(self.step(client), "{uri} comes");
        }
    }

    fn rest(mut self, client: &mut TestClient) -> Self {
        while self.step(client) {}
        let once: BTreeSet<&String> = self.seen.iter().collect();
        assert_eq!(once.len(), self.seen.len(), "nothing is seen twice");
        self
    }

    /// How many resources of a mount were seen.
    fn of(&self, mount: &str) -> usize {
        self.seen.iter().filter(|uri| uri.starts_with(&format!("{mount}+"))).count()
    }
}

#[test]
fn pages_of_many_servers_are_walked_once_and_in_the_same_order_twice() {
    let folder = TempDir::with_prefix("walk").unwrap();
    let actors =
        [paged(TransportKind::Http), paged(TransportKind::Pipe), paged(TransportKind::Http)];
    let mounts = actors.iter().zip(["a", "b", "c"]).map(|(actor, name)| actor.mount(name, ""));
    let mut front = TestClient::piped(folder.path(), &mounts.collect::<String>());
    let first = PagedWalk::default().rest(&mut front);
    assert_eq!((first.seen.len(), first.absent.len()), (3 * RESOURCES, 0));
    for (actor, name) in actors.iter().zip(["a", "b", "c"]) {
        assert_eq!(first.of(name), RESOURCES);
        let asked = actor.count("resources/list");
        assert!(asked <= RESOURCES.div_ceil(PAGE) + 3, "{name} was asked {asked} times");
    }
    assert!(first.seen.is_sorted(), "by mount, then as the server has it");
    assert!(first.seen == PagedWalk::default().rest(&mut front).seen, "the same order twice");
}

#[test]
fn a_server_that_comes_in_the_middle_of_a_walk_doubles_nothing() {
    let folder = TempDir::with_prefix("walk").unwrap();
    let (early, one, late, last) = (
        paged(TransportKind::Http),
        paged(TransportKind::Http),
        paged(TransportKind::Http),
        paged(TransportKind::Http),
    );
    let settings = one.mount("b", "") + &last.mount("d", "");
    let mut front = TestClient::piped(folder.path(), &settings);
    front.subscribe(&[]);
    let mut walk = PagedWalk::default();
    walk.until(&mut front, "b+a://0999");
    let more = settings + &early.mount("a", "") + &late.mount("c", "");
    fs::write(folder.path().join("refdesk.toml"), more).unwrap();
    front.wait_notification("notifications/resources/list_changed");
    let walk = walk.rest(&mut front);
    assert_eq!((walk.of("b"), walk.of("c"), walk.of("d")), (RESOURCES, RESOURCES, RESOURCES));
    assert_eq!((walk.of("a"), walk.absent.len()), (0, 0), "its position is behind the walk");
    assert_eq!(PagedWalk::default().rest(&mut front).seen.len(), 4 * RESOURCES);
}

#[test]
fn a_server_that_is_lost_in_the_middle_of_a_walk_is_named() {
    let folder = TempDir::with_prefix("walk").unwrap();
    let (one, lost, last) =
        (paged(TransportKind::Http), paged(TransportKind::Pipe), paged(TransportKind::Http));
    let settings = one.mount("a", "") + &lost.mount("b", "") + &last.mount("c", "");
    for place in ["a+a://0999", "b+a://1234"] {
        let mut front = TestClient::piped(folder.path(), &settings);
        front.subscribe(&[]);
        let mut walk = PagedWalk::default();
        walk.until(&mut front, "b+a://0000");
        let mut walk = PagedWalk::default();
        walk.until(&mut front, place);
        lost.kill();
        // Requests fail until refdesk notices the loss; later pages must still name the server.
        let walk = walk.rest(&mut front);
        assert_eq!((walk.of("a"), walk.of("c")), (RESOURCES, RESOURCES), "{place}");
        assert!(walk.of("b") < RESOURCES, "{place}");
        assert_eq!(walk.absent, BTreeSet::from(["b".to_owned()]), "{place}");
        lost.open();
        front.wait_notification("notifications/resources/list_changed");
        let whole = PagedWalk::default().rest(&mut front);
        assert_eq!((whole.seen.len(), whole.absent.len()), (3 * RESOURCES, 0), "{place}");
    }
}
