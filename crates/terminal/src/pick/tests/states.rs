//! Tests of the state: keys and answers lead to lines, requests and results.

use ratatui::crossterm::event::{Event, KeyCode, KeyModifiers};

use super::{FakeServer, PAGE, Person, desk, file, folder, options};
use crate::pick::events::{
    PickEvent, PickOptions, PickOutcome, PickPanel, PickRequest, PickTimer, TreeSource,
};
use crate::pick::node::{PickRow, ROOT};
use crate::pick::placement::PickPlacement;
use crate::pick::state::PickState;
use crate::pick::tree::PickTree;

fn listed(rows: Vec<PickRow>) -> FakeServer {
    FakeServer { lists: [(String::new(), rows)].into(), ..FakeServer::default() }
}

fn chosen(person: &Person) -> Vec<String> {
    match &person.state.outcome {
        Some(PickOutcome::Chosen(uris)) => uris.iter().map(|uri| uri.to_string()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_tree_starts_with_the_mounts_and_what_only_the_plain_list_has() {
    let person = Person::new(options(80, 24), desk());
    assert_eq!(person.list(), ["app", "docs", "notes", "loose"]);
}

#[test]
fn nothing_is_listed_before_the_mounts_are_known() {
    let mut state = PickState::new(options(80, 24));
    assert_eq!(state.start(), [PickRequest::Mounts]);
    let key = Event::Key(KeyCode::Char('a').into());
    let requests = state.update(PickEvent::Input(key));
    assert!(!requests.iter().any(|request| matches!(request, PickRequest::Page { .. })));
    let failed = PickEvent::Mounts(Err("no".to_owned()));
    let requests = state.update(failed);
    assert!(requests.iter().any(|request| matches!(request, PickRequest::Page { .. })));
}

#[test]
fn right_opens_a_collection_and_left_closes_it() {
    let mut person = Person::new(options(80, 24), desk());
    person.press(KeyCode::Right);
    assert_eq!(&person.list()[..4], ["app", "  src", "  README.md", "  evil ]0;title  .rs"]);
    person.press(KeyCode::Right);
    person.press(KeyCode::Right);
    assert_eq!(&person.list()[..4], ["app", "  src", "    main.rs", "    lib.rs"]);
    person.press(KeyCode::Down);
    person.press(KeyCode::Left);
    assert_eq!(person.state.cursor, 1, "Left goes to the collection first");
    person.press(KeyCode::Left);
    person.press(KeyCode::Left);
    person.press(KeyCode::Left);
    assert_eq!(person.list(), ["app", "docs", "notes", "loose"]);
}

#[test]
fn a_list_is_loaded_page_by_page_as_the_person_comes_near_its_end() {
    let rows = (0..1_000).map(|at| file(&format!("a://h/{at:04}"))).collect();
    let source = PickOptions { source: TreeSource::Listed, ..options(80, 24) };
    let mut person = Person::new(source, listed(rows));
    assert_eq!(person.state.tree.len(), PAGE);
    for _ in 0..2 {
        person.press(KeyCode::PageDown);
    }
    assert_eq!(person.state.tree.len(), 2 * PAGE);
    for _ in 0..100 {
        person.press(KeyCode::End);
    }
    assert_eq!(person.state.tree.len(), 1_000);
    assert_eq!(person.list().last().unwrap(), "0999");
}

#[test]
fn names_are_found_in_every_collection_by_their_paths() {
    let mut person = Person::new(options(80, 24), desk());
    person.type_text("srcmain");
    assert_eq!(person.list()[0], "app/src/main.rs");
    person.press_control('u');
    person.type_text("資料");
    assert_eq!(person.list()[0], "docs/資料集.md");
    person.press_control('u');
    person.type_text("参考　はじめ");
    assert_eq!(person.list()[0], "docs/はじめに.md  はじめての参考デスク");
    person.press_control('u');
    person.type_text("会議");
    assert_eq!(person.list()[0], "notes+memo://desk/today/会議.md");
}

#[test]
fn typing_asks_the_server_once_and_passages_stand_below_names() {
    let mut person = Person::new(options(80, 24), desk());
    person.type_text("md");
    let searches = |person: &Person| -> Vec<String> {
        let query = |request: &PickRequest| match request {
            PickRequest::Search { query, .. } => Some(query.clone()),
            _ => None,
        };
        person.answered.iter().filter_map(query).collect()
    };
    assert_eq!(searches(&person), ["md"]);
    let list = person.list();
    let heading = list.iter().position(|line| line == "-- in the content").unwrap();
    assert!(heading >= 3 && list[heading + 1].contains("文書"), "{list:?}");
    person.press(KeyCode::End);
    person.press(KeyCode::Up);
    assert_eq!(person.state.cursor, heading - 1, "headings are passed over");
}

#[test]
fn an_answer_to_an_older_query_is_dropped() {
    let mut person = Person::new(options(80, 24), desk());
    person.press_only(KeyCode::Char('a'), KeyModifiers::NONE);
    person.press_only(KeyCode::Char('b'), KeyModifiers::NONE);
    let old = PickEvent::Hits { serial: 1, hits: Ok(person.server.passages.clone()) };
    person.state.update(old);
    assert!(person.state.hits.is_empty());
    let late = PickEvent::Timer { timer: PickTimer::Search, serial: 1 };
    let requests = person.state.update(late);
    assert!(!requests.iter().any(|request| matches!(request, PickRequest::Search { .. })));
}

#[test]
fn filters_keep_what_fits_in_the_tree_and_in_a_search() {
    let mut person = Person::new(options(80, 24), desk());
    person.press(KeyCode::Right);
    person.press_control('f');
    person.type_text("markdown");
    assert_eq!(person.state.panel, PickPanel::Filter(Default::default()));
    person.press(KeyCode::Enter);
    assert_eq!(&person.list()[..4], ["app", "  src", "  README.md", "docs"]);
    person.type_text("r");
    let is_markdown = |line: &String| line.contains("md") || line.contains("文書");
    assert!(person.list().iter().filter(|line| !line.starts_with("--")).all(is_markdown));
    person.press_control('u');
    person.press_control('f');
    person.press_control('u');
    person.press(KeyCode::Down);
    person.press(KeyCode::Right);
    person.press(KeyCode::Down);
    person.type_text("0.5x");
    person.press(KeyCode::Tab);
    person.type_text("doc");
    person.press(KeyCode::Enter);
    assert_eq!(person.state.filter.words(), "audience user, priority 0.5, mount doc");
    person.type_text("m");
    assert_eq!(person.list()[0], "docs/はじめに.md  はじめての参考デスク");
    assert_eq!(person.state.names.as_ref().unwrap().count, 1);
}

#[test]
fn tab_and_space_choose_and_tokens_are_counted() {
    let mut person = Person::new(options(80, 24), desk());
    person.press(KeyCode::Right);
    person.press(KeyCode::Down);
    person.press(KeyCode::Down);
    person.press(KeyCode::Char(' '));
    let readme = resource::tokens::estimate("# app\n\nA small program.\n");
    assert_eq!(person.state.chosen_tokens().count, readme);
    person.type_text("main");
    person.press(KeyCode::Tab);
    assert_eq!(person.state.chosen.len(), 2);
    assert!(person.state.chosen_tokens().count > readme);
    person.press(KeyCode::Up);
    person.press(KeyCode::Tab);
    assert_eq!(person.state.chosen.len(), 1, "choosing again takes it back");
    person.press(KeyCode::Enter);
    assert_eq!(chosen(&person), ["file:///app/README.md"]);
}

#[test]
fn enter_without_a_choice_takes_the_line_of_the_cursor() {
    let mut person = Person::new(options(80, 24), desk());
    person.type_text("lib");
    person.press(KeyCode::Enter);
    assert_eq!(chosen(&person), ["file:///app/src/lib.rs"]);
}

#[test]
fn what_only_groups_others_cannot_be_chosen() {
    let mut person = Person::new(options(80, 24), desk());
    person.press(KeyCode::Down);
    person.press(KeyCode::Down);
    person.press(KeyCode::Tab);
    assert!(person.state.chosen.is_empty());
    person.press(KeyCode::Up);
    person.press(KeyCode::Enter);
    assert_eq!(person.state.outcome, None);
}

#[test]
fn escape_and_control_c_leave() {
    for (code, modifiers) in
        [(KeyCode::Esc, KeyModifiers::NONE), (KeyCode::Char('c'), KeyModifiers::CONTROL)]
    {
        let mut person = Person::new(options(80, 24), desk());
        person.type_text("x");
        person.press_only(code, modifiers);
        assert_eq!(person.state.outcome, Some(PickOutcome::Left));
    }
    let mut person = Person::new(options(80, 24), desk());
    person.press(KeyCode::Char('?'));
    person.press(KeyCode::Esc);
    assert_eq!((person.state.outcome, person.state.panel), (None, PickPanel::Closed));
}

#[test]
fn a_list_that_failed_says_why_and_can_be_tried_again() {
    let mut server = desk();
    let list = server.lists.remove("file:///app/").unwrap();
    let mut person = Person::new(options(80, 24), server);
    person.press(KeyCode::Right);
    assert!(person.list()[1].contains("no list of file:///app/"), "{:?}", person.list());
    person.server.lists.insert("file:///app/".to_owned(), list);
    person.press(KeyCode::Left);
    person.press(KeyCode::Right);
    assert_eq!(person.list()[1], "  src");
}

#[test]
fn a_server_whose_list_fails_ends_the_picker() {
    let source = PickOptions { source: TreeSource::Listed, ..options(80, 24) };
    let person = Person::new(source, FakeServer::default());
    assert!(matches!(person.state.outcome, Some(PickOutcome::Failed(_))));
}

#[test]
fn a_flat_list_becomes_the_tree_that_its_uris_imply() {
    let rows = ["a://h/x/1", "a://h/x/y/2", "a://h/z", "b:opaque", "a://h/z/3"].map(file).into();
    let source = PickOptions { source: TreeSource::Implied, ..options(80, 24) };
    let mut person = Person::new(source.clone(), listed(rows));
    assert_eq!(person.list(), ["a://h", "b:opaque"]);
    person.press(KeyCode::Right);
    assert_eq!(person.list(), ["a://h", "  x", "  z", "b:opaque"]);
    person.press(KeyCode::End);
    person.press(KeyCode::Up);
    person.press(KeyCode::Right);
    assert_eq!(person.list(), ["a://h", "  x", "  z", "    3", "b:opaque"]);
    let rows = ["a://h/x/1", "a://h/x/y/2", "a://h/z"].map(file).into();
    let scope = PickOptions { scope: Some("a://h/x/".to_owned()), ..source };
    assert_eq!(Person::new(scope, listed(rows)).list(), ["1", "y"]);
}

#[test]
fn cursors_that_go_in_a_circle_and_collections_in_themselves_end() {
    let source = PickOptions { source: TreeSource::Listed, ..options(80, 24) };
    let mut server = listed(vec![folder("a://h/loop"), file("a://h/other")]);
    server.lists.insert("a://h/loop".to_owned(), vec![folder("a://h/loop"), file("a://h/x")]);
    let mut person = Person::new(source, server);
    person.type_text("x");
    assert_eq!(person.list()[0], "a://h/x");
    person.press_control('u');
    let node = person.state.tree.find("a://h/other").unwrap();
    let page =
        || PickEvent::Page { node, rows: vec![file("a://h/same")], next: Some("again".to_owned()) };
    person.state.update(page());
    person.state.update(page());
    let load = format!("{:?}", person.state.tree.get(node).load);
    assert!(load.contains("go in a circle"), "{load}");
}

#[test]
fn a_hundred_thousand_rows_are_matched_in_slices_and_keep_the_cursor() {
    let source = PickOptions { source: TreeSource::Listed, ..options(80, 24) };
    let mut person = Person::new(source, listed(vec![folder("a://h/big")]));
    let rows = (0..100_000).map(|at| file(&format!("a://h/big/row-{at:06}.rs"))).collect();
    let node = person.state.tree.find("a://h/big").unwrap();
    person.waiting.clear();
    person.state.update(PickEvent::Page { node, rows, next: None });
    person.press_only(KeyCode::Char('7'), KeyModifiers::NONE);
    assert!(person.state.has_work(), "one key matches one slice");
    let mut steps = 0;
    while person.state.has_work() {
        person.state.update(PickEvent::Step);
        steps += 1;
    }
    assert!((20..=30).contains(&steps), "{steps}");
    assert_eq!(person.state.names.as_ref().unwrap().count, 40_951);
    assert!(person.state.lines.len() <= 5_001, "only the best are kept");
    person.screen();
}

#[test]
fn a_passage_of_an_unlisted_resource_gets_its_description_with_its_list() {
    let mut tree = PickTree::new(None, PickPlacement::AsListed);
    let stub = PickRow { uri: "a://h/x/1.md".to_owned(), ..PickRow::default() };
    let found = tree.find_or_add(stub.clone()).unwrap();
    assert_eq!(tree.find_or_add(stub), Some(found));
    let parent = tree.add(ROOT, folder("a://h/x")).unwrap();
    assert_eq!(tree.add(parent, file("a://h/x/1.md")), Some(found), "it stays the same node");
    let node = tree.get(found);
    assert_eq!((node.mime.as_deref(), node.mount), (Some("text/markdown"), parent));
    assert_eq!(tree.get(parent).children, [found]);
    assert_eq!(tree.add(parent, file("a://h/x/1.md")), None);
}

#[test]
fn the_preview_is_read_when_the_cursor_rests_and_is_kept() {
    let mut person = Person::new(options(100, 24), desk());
    person.type_text("main");
    let previews = |person: &Person| {
        let is_read = |request: &&PickRequest| matches!(request, PickRequest::Preview { .. });
        person.answered.iter().filter(is_read).count()
    };
    let before = previews(&person);
    assert!(before >= 1);
    person.press(KeyCode::Down);
    person.press(KeyCode::Up);
    let after = previews(&person);
    person.press(KeyCode::Down);
    person.press(KeyCode::Up);
    assert_eq!(previews(&person), after, "what was read is kept");
}

#[test]
fn pasted_text_is_a_query_without_control_characters() {
    let mut person = Person::new(options(80, 24), desk());
    person.state.update(PickEvent::Input(Event::Paste("ma\x1b[31m\nin".to_owned())));
    assert_eq!(person.state.query, "ma[31min");
    let long = PickEvent::Input(Event::Paste("資".repeat(10_000)));
    person.state.update(long);
    assert!(person.state.query.len() <= 256);
}
