//! Tests of the view: screens as snapshots, and random keys at any size.

use proptest::prelude::{Strategy, prop, prop_oneof};
use proptest::test_runner::TestCaseError;
use ratatui::crossterm::event::{Event, KeyCode, KeyModifiers};

use super::{Person, desk, options};
use crate::pick::events::PickEvent;

/// A screen after a person opened a mount, searched and chose.
fn searched(width: u16) -> Person {
    let mut person = Person::new(options(width, 20), desk());
    person.type_text("資料");
    person.press(KeyCode::Tab);
    person.press(KeyCode::Home);
    person
}

fn opened(width: u16) -> Person {
    let mut person = Person::new(options(width, 20), desk());
    person.press(KeyCode::Down);
    person.press(KeyCode::Right);
    person.press(KeyCode::Down);
    person.press(KeyCode::Down);
    person
}

#[test]
fn the_tree_with_japanese_names_at_40_80_and_200_columns() {
    for width in [40, 80, 200] {
        let screen = opened(width).shown();
        insta::assert_snapshot!(format!("tree_{width}"), screen);
    }
}

#[test]
fn a_search_with_japanese_names_at_40_80_and_200_columns() {
    for width in [40, 80, 200] {
        let screen = searched(width).shown();
        insta::assert_snapshot!(format!("search_{width}"), screen);
    }
}

#[test]
fn panels_and_hostile_text_at_80_columns() {
    let mut person = opened(80);
    person.press(KeyCode::Char('?'));
    insta::assert_snapshot!("keys_80", person.shown());
    person.press(KeyCode::Esc);
    person.press_control('f');
    person.type_text("markdown");
    insta::assert_snapshot!("filter_80", person.shown());
    person.press_control('u');
    person.press(KeyCode::Esc);
    person.press(KeyCode::Home);
    person.press(KeyCode::Right);
    person.type_text("main");
    insta::assert_snapshot!("hostile_80", person.shown());
}

#[test]
fn no_cell_of_the_screen_has_a_control_character() {
    let mut person = Person::new(options(120, 30), desk());
    person.press(KeyCode::Right);
    for _ in 0..6 {
        let screen = person.screen();
        for cell in screen.backend().buffer().content() {
            assert!(!cell.symbol().chars().any(char::is_control), "{:?}", cell.symbol());
            assert!(!cell.symbol().contains('\u{202e}'));
        }
        person.press(KeyCode::Down);
    }
}

/// A terminal shows a wide letter in two cells, and so the second must be empty.
#[test]
fn no_wide_letter_covers_a_panel() {
    for width in 60..=200 {
        let mut person = searched(width);
        for panel in [KeyCode::F(1), KeyCode::Esc] {
            match panel {
                KeyCode::Esc => person.press_control('f'),
                key => person.press(key),
            }
            let screen = person.screen();
            let buffer = screen.backend().buffer();
            for (at, cell) in buffer.content().iter().enumerate() {
                let (x, y) = buffer.pos_of(at);
                let next = buffer.cell((x + 1, y)).map_or(" ", |next| next.symbol());
                let is_wide = crate::output::columns(cell.symbol()) > 1;
                assert!(!is_wide || next == " ", "{width} columns: {} {next}", cell.symbol());
            }
            person.press(KeyCode::Esc);
        }
    }
}

/// A key that a person may press.
fn any_key() -> impl Strategy<Value = (KeyCode, KeyModifiers)> {
    let plain = |codes: Vec<KeyCode>| {
        prop::sample::select(codes).prop_map(|code| (code, KeyModifiers::NONE))
    };
    let moves = [KeyCode::Up, KeyCode::Down, KeyCode::PageUp, KeyCode::PageDown, KeyCode::Home];
    let moves = [&moves[..], &[KeyCode::End, KeyCode::Left, KeyCode::Right]].concat();
    let edits = vec![KeyCode::Tab, KeyCode::BackTab, KeyCode::Backspace, KeyCode::F(1)];
    let shifts = (prop::sample::select(moves.clone()), prop::sample::select(vec![1, 2, 4]));
    prop_oneof![
        4 => plain(moves),
        2 => plain(edits),
        1 => shifts.prop_map(|(code, bits)| (code, KeyModifiers::from_bits_truncate(bits))),
        3 => prop::char::any().prop_map(|letter| (KeyCode::Char(letter), KeyModifiers::NONE)),
        3 => prop::sample::select(vec!['a', 'm', ' ', '?', '資', '!', '\'', '^', '$'])
            .prop_map(|letter| (KeyCode::Char(letter), KeyModifiers::NONE)),
        2 => prop::char::range('a', 'z')
            .prop_map(|letter| (KeyCode::Char(letter), KeyModifiers::CONTROL)),
    ]
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(96))]
    #[test]
    fn random_keys_at_any_size_never_panic(
        size in (1_u16..130, 1_u16..40),
        keys in prop::collection::vec((any_key(), 0_u8..4, (1_u16..250, 1_u16..60)), 1..40),
    ) {
        let mut person = Person::new(options(size.0, size.1), desk());
        for ((code, modifiers), then, (width, height)) in keys {
            person.press_only(code, modifiers);
            match then {
                0 => person.wait(),
                1 => {
                    let resize = PickEvent::Input(Event::Resize(width, height));
                    let requests = person.state.update(resize);
                    person.waiting.extend(requests);
                }
                _ => {}
            }
            person.screen();
            let is_inside = person.state.cursor < person.state.lines.len().max(1);
            if !is_inside {
                return Err(TestCaseError::fail("the cursor is outside of the list"));
            }
        }
    }
}
