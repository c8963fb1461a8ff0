//! Keys of the picker: what each does to the state.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::pick::events::{PickOutcome, PickPanel, PickRequest};
use crate::pick::filter::FilterField;
use crate::pick::matching::MAX_QUERY;
use crate::pick::node::PickLine;
use crate::pick::state::PickState;

/// All keys, for the panel that `?` opens.
pub(crate) const KEYS: [(&str, &str); 15] = [
    ("letters", "search names and content as you type"),
    ("'word ^word word$ !word", "exact, at the start, at the end, not"),
    ("Up Down PgUp PgDn Home End", "move (also Ctrl-P and Ctrl-N)"),
    ("Right Left", "open and close a collection in the tree"),
    ("Tab, Space in the tree", "choose, or no longer"),
    ("Enter", "end with what is chosen, or with this line"),
    ("Esc Ctrl-C", "leave without a result"),
    ("Ctrl-F", "filters: type, audience, priority, mount"),
    ("Shift-Up Shift-Down", "scroll the preview by a line"),
    ("Shift-PgUp Shift-PgDn", "scroll the preview by ten (also Alt)"),
    ("Ctrl-T", "show the preview instead of the list, and back"),
    ("Backspace Ctrl-W", "delete a letter, a word of the query"),
    ("Ctrl-U", "delete the query"),
    ("Ctrl-L", "draw everything again"),
    ("? F1", "these keys (? while nothing is typed)"),
];

impl PickState {
    /// Takes a key.
    pub(super) fn press(&mut self, key: KeyEvent, requests: &mut Vec<PickRequest>) {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && key.code == KeyCode::Char('c') {
            self.outcome = Some(PickOutcome::Left);
            return;
        }
        if is_control && key.code == KeyCode::Char('l') {
            requests.push(PickRequest::Redraw);
            return;
        }
        match self.panel {
            PickPanel::Help => self.panel = PickPanel::Closed,
            PickPanel::Filter(field) => self.press_in_filter(field, key, requests),
            PickPanel::Closed if is_control => self.press_control(key.code, requests),
            PickPanel::Closed => self.press_plain(key, requests),
        }
    }

    fn press_control(&mut self, code: KeyCode, requests: &mut Vec<PickRequest>) {
        match code {
            KeyCode::Char('f') => self.panel = PickPanel::Filter(FilterField::Mime),
            KeyCode::Char('t') => self.is_preview_open = !self.is_preview_open,
            KeyCode::Char('n') => self.move_by(1),
            KeyCode::Char('p') => self.move_by(-1),
            // Some terminals send Ctrl-H for Backspace.
            KeyCode::Char('h') => self.edit(requests, |query| {
                query.pop();
            }),
            KeyCode::Char('u') => self.edit(requests, String::clear),
            KeyCode::Char('w') => self.edit(requests, |query| {
                let rest = query.trim_end();
                let at = rest.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                query.truncate(if query.is_char_boundary(at) { at } else { 0 });
            }),
            _ => {}
        }
    }

    fn press_plain(&mut self, key: KeyEvent, requests: &mut Vec<PickRequest>) {
        let page = isize::try_from(self.list_height()).unwrap_or(1);
        let is_shifted = key.modifiers.intersects(KeyModifiers::SHIFT | KeyModifiers::ALT);
        let is_tree = self.names.is_none();
        match key.code {
            KeyCode::Up if is_shifted => self.scroll_preview(-1),
            KeyCode::Down if is_shifted => self.scroll_preview(1),
            KeyCode::PageUp if is_shifted => self.scroll_preview(-10),
            KeyCode::PageDown if is_shifted => self.scroll_preview(10),
            KeyCode::Up => self.move_by(-1),
            KeyCode::Down => self.move_by(1),
            KeyCode::PageUp => self.move_by(-page),
            KeyCode::PageDown => self.move_by(page),
            KeyCode::Home => self.move_by(isize::MIN),
            KeyCode::End => self.move_by(isize::MAX),
            KeyCode::Right if is_tree => self.open_current(),
            KeyCode::Left if is_tree => self.close_current(),
            KeyCode::Tab => self.choose_current(requests),
            KeyCode::Char(' ') if self.query.is_empty() => self.choose_current(requests),
            KeyCode::Enter => self.end(),
            KeyCode::Esc => self.outcome = Some(PickOutcome::Left),
            KeyCode::F(1) => self.panel = PickPanel::Help,
            KeyCode::Char('?') if self.query.is_empty() => self.panel = PickPanel::Help,
            KeyCode::Backspace => self.edit(requests, |query| {
                query.pop();
            }),
            KeyCode::Char(letter) if !letter.is_control() => {
                self.edit(requests, |query| query.push(letter));
            }
            _ => {}
        }
    }

    fn press_in_filter(
        &mut self,
        field: FilterField,
        key: KeyEvent,
        requests: &mut Vec<PickRequest>,
    ) {
        let before = self.filter.clone();
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let steps = FilterField::ALL.len() - 1;
        match key.code {
            KeyCode::Esc | KeyCode::Enter => self.panel = PickPanel::Closed,
            KeyCode::Char('f') if is_control => self.panel = PickPanel::Closed,
            KeyCode::Char('u') if is_control => self.filter.clear(field),
            KeyCode::Tab | KeyCode::Down => self.panel = PickPanel::Filter(field.moved(1)),
            KeyCode::BackTab | KeyCode::Up => self.panel = PickPanel::Filter(field.moved(steps)),
            KeyCode::Left | KeyCode::Right if field == FilterField::Audience => {
                self.filter.next_audience(key.code == KeyCode::Right);
            }
            KeyCode::Backspace => self.filter.pop(field),
            KeyCode::Char(letter) if !is_control && !letter.is_control() => {
                self.filter.push(field, letter);
            }
            _ => {}
        }
        if self.filter != before {
            self.search_again(false, requests);
        }
    }

    /// Takes text that the terminal pasted.
    pub(super) fn paste(&mut self, text: &str, requests: &mut Vec<PickRequest>) {
        let letters = text.chars().filter(|letter| !letter.is_control());
        match self.panel {
            PickPanel::Filter(field) => {
                letters.for_each(|letter| self.filter.push(field, letter));
                self.search_again(false, requests);
            }
            PickPanel::Closed => self.edit(requests, |query| query.extend(letters.take(MAX_QUERY))),
            PickPanel::Help => {}
        }
    }

    fn edit(&mut self, requests: &mut Vec<PickRequest>, change: impl FnOnce(&mut String)) {
        let before = self.query.clone();
        change(&mut self.query);
        if self.query.len() > MAX_QUERY {
            self.query = before;
        } else if self.query != before {
            self.search_again(true, requests);
        }
    }

    fn move_by(&mut self, steps: isize) {
        self.has_moved = true;
        let last = self.lines.len().saturating_sub(1);
        let at = self.cursor.saturating_add_signed(steps).min(last);
        // A heading is passed over, in the direction of the move.
        let is_heading = matches!(self.lines.get(at), Some(PickLine::Heading(_)));
        self.cursor = match (is_heading, steps > 0) {
            (false, _) => at,
            (true, true) => (at + 1).min(last),
            (true, false) => at.saturating_sub(1),
        };
    }

    fn scroll_preview(&mut self, rows: isize) {
        self.preview_scroll = self.preview_scroll.saturating_add_signed(rows).min(100_000);
    }

    fn open_current(&mut self) {
        match self.lines.get(self.cursor) {
            Some(PickLine::Node(node)) if !self.tree.get(*node).is_open => {
                let node = *node;
                self.tree.set_open(node, true);
                (self.is_stale, self.has_moved) = (true, true);
            }
            Some(PickLine::Node(_)) => self.move_by(1),
            _ => {}
        }
    }

    fn close_current(&mut self) {
        let (Some(PickLine::Node(node)) | Some(PickLine::Note(node))) = self.lines.get(self.cursor)
        else {
            return;
        };
        let node = *node;
        if self.tree.get(node).is_open && self.tree.is_shown(node) {
            self.tree.set_open(node, false);
            (self.is_stale, self.has_moved) = (true, true);
        } else if let Some(parent) = self.tree.parent(node) {
            let line = PickLine::Node(parent);
            self.cursor = self.lines.iter().position(|one| *one == line).unwrap_or(self.cursor);
            self.has_moved = true;
        }
    }

    fn choose_current(&mut self, requests: &mut Vec<PickRequest>) {
        if let Some(key) = self.current() {
            self.toggle(key.node, requests);
            self.move_by(1);
        }
    }

    fn end(&mut self) {
        let mut chosen = self.chosen.clone();
        if chosen.is_empty() {
            let current = self.current().map(|key| key.node);
            chosen.extend(current.filter(|node| !self.tree.get(*node).is_group));
        }
        if !chosen.is_empty() {
            let uris = chosen.iter().map(|node| self.tree.get(*node).uri.clone()).collect();
            self.outcome = Some(PickOutcome::Chosen(uris));
        }
    }
}
