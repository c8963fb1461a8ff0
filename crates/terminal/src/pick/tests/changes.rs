//! Tests of the picker while the server changes.

use ratatui::crossterm::event::KeyCode;

use super::{FakeServer, PAGE, Person, desk, file, folder, options};
use crate::pick::events::{PickEvent, PickOptions, PickRequest, TreeSource};

impl Person {
    /// The server tells of a change, and answers what the picker asks then.
    fn hear(&mut self, uri: Option<&str>) {
        let event = PickEvent::Changed(uri.map(str::to_owned));
        self.waiting.extend(self.state.update(event));
        self.wait();
    }

    fn list_of(&mut self, uri: &str) -> &mut Vec<super::PickRow> {
        self.server.lists.get_mut(uri).unwrap()
    }
}

/// The project is open, and its source folder too.
fn opened() -> Person {
    let mut person = Person::new(options(80, 24), desk());
    for key in [KeyCode::Right, KeyCode::Down, KeyCode::Right] {
        person.press(key);
    }
    person
}

#[test]
fn what_comes_and_goes_is_shown_in_its_place() {
    let mut person = opened();
    let before = person.list();
    assert_eq!(before[..4], ["app", "  src", "    main.rs", "    lib.rs"]);
    person.list_of("file:///app/src").insert(1, file("file:///app/src/new.rs"));
    person.list_of("file:///app/src").retain(|row| !row.uri.ends_with("lib.rs"));
    person.hear(None);
    assert_eq!(person.list()[..4], ["app", "  src", "    main.rs", "    new.rs"]);
    person.list_of("file:///app/src").push(file("file:///app/src/lib.rs"));
    person.hear(Some("file:///app/src"));
    assert_eq!(person.list()[2..5], ["    main.rs", "    new.rs", "    lib.rs"]);
    assert_eq!(person.list()[5..], before[4..]);
}

#[test]
fn a_folder_that_goes_takes_all_with_it_and_comes_back_as_it_is_then() {
    let mut person = opened();
    let rows = person.list_of("file:///app/").clone();
    person.press(KeyCode::Down);
    person.press(KeyCode::Tab);
    assert_eq!(person.state.chosen.len(), 1);
    person.list_of("file:///app/").retain(|row| !row.is_collection);
    person.hear(None);
    assert!(!person.list().iter().any(|line| line.contains("main.rs")), "{:?}", person.list());
    assert!(person.state.chosen.is_empty(), "what is gone is not chosen");
    person.type_text("main");
    assert!(person.list().iter().all(|line| !line.contains("src/main")), "{:?}", person.list());
    *person.list_of("file:///app/") = rows;
    *person.list_of("file:///app/src") = vec![file("file:///app/src/main_2.rs")];
    person.hear(None);
    assert_eq!(person.list()[0], "app/src/main_2.rs");
}

#[test]
fn a_page_of_a_folder_that_went_meanwhile_brings_nothing_back() {
    let mut person = opened();
    let source = person.state.tree.find("file:///app/src").unwrap();
    let rows = person.list_of("file:///app/src").clone();
    person.list_of("file:///app/").retain(|row| !row.is_collection);
    person.hear(None);
    let late = PickEvent::Page { node: source, rows, next: None };
    person.waiting.extend(person.state.update(late));
    person.type_text("main");
    assert!(!person.list().iter().any(|line| line.contains("main.rs")), "{:?}", person.list());
}

#[test]
fn the_cursor_stays_on_its_line() {
    let mut person = opened();
    person.press(KeyCode::Down);
    person.press(KeyCode::Down);
    let on = |person: &Person| person.list()[person.state.cursor].clone();
    assert_eq!(on(&person), "    lib.rs");
    person.list_of("file:///app/src").insert(0, file("file:///app/src/a.rs"));
    person.hear(None);
    assert_eq!(on(&person), "    lib.rs");
}

#[test]
fn a_closed_folder_is_read_again_when_it_is_opened() {
    let mut person = opened();
    person.press(KeyCode::Left);
    person.list_of("file:///app/src").push(file("file:///app/src/new.rs"));
    person.answered.clear();
    person.hear(None);
    let asks_source = |person: &Person| {
        let is_source = |request: &PickRequest| match request {
            PickRequest::Page { uri: Some(uri), .. } => uri.ends_with("src"),
            _ => false,
        };
        person.answered.iter().any(is_source)
    };
    assert!(!asks_source(&person));
    person.press(KeyCode::Right);
    assert!(asks_source(&person));
    assert_eq!(person.list()[2..5], ["    main.rs", "    lib.rs", "    new.rs"]);
}

#[test]
fn a_burst_of_changes_is_one_refresh() {
    let mut person = opened();
    person.answered.clear();
    for _ in 0..50 {
        let event = PickEvent::Changed(Some("file:///app/src".to_owned()));
        person.waiting.extend(person.state.update(event));
    }
    person.wait();
    let pages = person.answered.iter().filter(|one| matches!(one, PickRequest::Page { .. }));
    assert_eq!(pages.count(), 1);
}

#[test]
fn the_preview_of_a_changed_resource_is_read_again() {
    let mut person = opened();
    person.press(KeyCode::Down);
    assert!(person.shown().contains("fn main"));
    let uri = "file:///app/src/main.rs";
    person.server.texts.insert(uri.to_owned(), "fn other() {}\n".to_owned());
    person.hear(Some(uri));
    assert!(person.shown().contains("fn other"), "{}", person.shown());
}

#[test]
fn open_collections_are_watched_once() {
    let person = opened();
    let watched: Vec<&str> = person
        .answered
        .iter()
        .filter_map(|request| match request {
            PickRequest::Watch { uri } => Some(&**uri),
            _ => None,
        })
        .collect();
    assert_eq!(watched, ["file:///app/", "file:///app/src"]);
}

#[test]
fn mounts_and_groups_follow_too() {
    let mut person = Person::new(options(80, 24), desk());
    person.list_of("").push(file("note://second"));
    person.list_of("").retain(|row| row.uri != "note://loose");
    person
        .server
        .mounts
        .push(super::PickMount { name: "more".to_owned(), root: Some("file:///more/".to_owned()) });
    person.server.lists.insert("file:///more/".to_owned(), vec![folder("file:///more/x")]);
    person.hear(None);
    let list = person.list();
    let has = |name: &str| list.iter().any(|line| line.trim() == name);
    assert!(has("more") && has("notes") && has("app") && has("docs"), "{list:?}");
    assert!(has("second") && !has("loose"), "{list:?}");
}

#[test]
fn a_long_list_is_read_again_as_far_as_it_was() {
    let rows: Vec<_> = (0..PAGE * 10).map(|at| file(&format!("a://h/{at:04}"))).collect();
    let server = FakeServer { lists: [(String::new(), rows)].into(), ..FakeServer::default() };
    let source = PickOptions { source: TreeSource::Listed, ..options(80, 24) };
    let mut person = Person::new(source, server);
    let loaded = person.state.tree.len();
    person.answered.clear();
    person.list_of("").remove(3);
    person.hear(None);
    assert!(!person.list().iter().any(|line| line.ends_with("0003")));
    let pages = person.answered.iter().filter(|one| matches!(one, PickRequest::Page { .. }));
    assert_eq!(pages.count(), loaded.div_ceil(PAGE));
    person.press(KeyCode::End);
    assert!(person.list().iter().any(|line| line.ends_with("0060")), "{:?}", person.list());
}
