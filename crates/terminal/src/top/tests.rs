//! Tests of `refdesk top`: screens as snapshots, keys, and refreshes.

use std::time::SystemTime;

use proptest::prelude::prop;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Value, json};

use super::snapshot::TopSnapshot;
use super::state::{TopAction, TopEvent, TopState};
use super::view::draw_top;
use crate::theme::{ViewTheme, shown};

fn now() -> SystemTime {
    humantime::parse_rfc3339("2026-11-16T14:05:00Z").unwrap()
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap()
}

fn busy() -> TopSnapshot {
    let index = json!({ "complete": false, "indexed": 4_800 });
    TopSnapshot {
        server: json!({ "name": "refdesk", "version": "0.1.0", "revision": "2026-07-28" }),
        mounts: list(&json!([
            { "name": "app", "kind": "fs", "state": "ready", "root": "file:///app/",
              "index": { "complete": true, "resources": 12, "indexed": 12 } },
            { "name": "資料", "kind": "docs", "state": "ready", "root": "file:///資料/",
              "index": index },
            { "name": "notes", "kind": "upstream", "state": "failed", "root": "notes+",
              "words": "the program ended\u{1b}[31m with status 1; see its log" },
        ])),
        clients: Some(list(&json!([
            { "id": "c2", "name": "claude-code", "version": "2.1", "revision": "2025-11-25",
              "transport": "http", "lastSeen": "2026-11-16T14:04:57Z", "requests": 1_234,
              "errors": 2, "subscriptions": 3 },
            { "id": "c1", "name": "参照クライアント", "version": "1.0", "revision": "2026-07-28",
              "transport": "stdio", "lastSeen": "2026-11-16T13:00:00Z", "requests": 12,
              "errors": 0, "subscriptions": 0 },
        ]))),
        recent: list(&json!([
            { "at": "2026-11-16T14:04:57Z", "client": "c2", "method": "tools/call",
              "tool": "resources_read", "uri": "file:///app/src/main.rs", "outcome": "ok",
              "milliseconds": 3 },
            { "at": "2026-11-16T14:04:50Z", "client": "c2", "method": "resources/read",
              "uri": "file:///app/gone", "outcome": "not found", "milliseconds": 1 },
        ])),
        watchers: Vec::new(),
        subscriptions: list(&json!([
            { "uri": "file:///app/README.md", "subscribers": 2,
              "last_change": "2026-11-16T14:00:00Z" },
            { "list": "resources", "subscribers": 1, "last_change": null },
        ])),
    }
}

fn state(width: u16, snapshot: TopSnapshot) -> TopState {
    let mut state = TopState::new((width, 26));
    state.update(TopEvent::Snapshot(Ok(snapshot)));
    state
}

fn screen(state: &TopState, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let theme = ViewTheme { colors: true };
    terminal.draw(|frame| draw_top(state, theme, now(), frame)).unwrap();
    shown(terminal.backend().buffer())
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> TopEvent {
    TopEvent::Input(Event::Key(KeyEvent::new(code, modifiers)))
}

#[test]
fn a_busy_refdesk_at_80_and_200_columns() {
    for width in [80, 200] {
        let state = state(width, busy());
        insta::assert_snapshot!(format!("busy_{width}"), screen(&state, width, 26));
    }
}

#[test]
fn a_refdesk_that_tells_of_no_clients_says_so_in_one_line() {
    let older = TopSnapshot { clients: None, recent: Vec::new(), ..busy() };
    let shown = screen(&state(80, older), 80, 26);
    assert!(shown.contains("Clients: this refdesk does not tell of them"), "{shown}");
}

#[test]
fn no_word_of_a_server_reaches_the_terminal_as_a_command() {
    let shown = screen(&state(200, busy()), 200, 26);
    assert!(!shown.chars().any(|letter| letter.is_control() && letter != '\n'), "{shown}");
}

#[test]
fn a_lost_connection_is_told_and_the_last_snapshot_stays() {
    let mut state = state(80, busy());
    state.update(TopEvent::Tick);
    state.update(TopEvent::Snapshot(Err("the connection\nended".to_owned())));
    let shown = screen(&state, 80, 26);
    assert!(shown.starts_with("no answer: the connection ended\n"), "{shown}");
    assert!(shown.contains("Mounts (3)"));
}

#[test]
fn it_refreshes_after_a_change_and_every_two_seconds_but_reads_once_at_a_time() {
    let mut state = TopState::new((80, 26));
    let ticks = |state: &mut TopState, count: usize| -> usize {
        let actions = (0..count).map(|_| state.update(TopEvent::Tick));
        actions.filter(|action| *action == TopAction::Refresh).count()
    };
    assert_eq!(ticks(&mut state, 10), 0, "the first snapshot is still being read");
    state.update(TopEvent::Snapshot(Ok(busy())));
    assert_eq!(ticks(&mut state, 1), 1);
    state.update(TopEvent::Snapshot(Ok(busy())));
    assert_eq!(ticks(&mut state, 3), 0);
    assert_eq!(ticks(&mut state, 1), 1);
    state.update(TopEvent::Snapshot(Ok(busy())));
    state.update(TopEvent::Changed);
    state.update(TopEvent::Changed);
    assert_eq!(ticks(&mut state, 1), 1);
    state.update(TopEvent::Snapshot(Ok(busy())));
    assert_eq!(state.update(key(KeyCode::Char('r'), KeyModifiers::NONE)), TopAction::Refresh);
}

#[test]
fn q_leaves_and_control_c_interrupts() {
    let mut state = state(80, busy());
    assert_eq!(state.update(key(KeyCode::Char('q'), KeyModifiers::NONE)), TopAction::Leave);
    assert_eq!(state.update(key(KeyCode::Char('c'), KeyModifiers::CONTROL)), TopAction::Interrupt);
    assert_eq!(state.update(key(KeyCode::Char('x'), KeyModifiers::NONE)), TopAction::Draw);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn random_keys_at_any_size_never_panic(
        keys in prop::collection::vec((0_usize..8, 1_u16..220, 1_u16..50), 1..30),
    ) {
        let mut state = state(80, busy());
        let codes = [
            KeyCode::Up, KeyCode::Down, KeyCode::PageUp, KeyCode::PageDown, KeyCode::Home,
            KeyCode::End, KeyCode::Char('r'), KeyCode::Char('資'),
        ];
        for (at, width, height) in keys {
            state.update(TopEvent::Input(Event::Resize(width, height)));
            state.update(key(codes[at], KeyModifiers::NONE));
            screen(&state, width, height);
            let lines = state.lines(ViewTheme { colors: false }, now()).len();
            proptest::prop_assert!(state.scroll <= lines);
        }
    }
}
