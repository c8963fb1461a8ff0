//! The view of the picker: query, list, preview, status and keys. Pure: it draws the state.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget as _};

use crate::output::{columns, fit};
use crate::pick::events::{HitStatus, PickPanel};
use crate::pick::filter::FilterField;
use crate::pick::keys::KEYS;
use crate::pick::list_view::draw_list;
use crate::pick::preview_view::draw_preview;
use crate::pick::state::PickState;
use crate::theme::ViewTheme;

/// From this width on, the preview stands beside the list.
const WIDE: u16 = 72;
/// The least columns and lines of a view.
const MIN_SIZE: (u16, u16) = (20, 5);
const PROMPT: &str = "> ";
/// The keys of the last line.
const FOOTER: [(&str, &str); 6] = [
    ("Tab", "choose"),
    ("Enter", "end"),
    ("?", "keys"),
    ("Esc", "leave"),
    ("Ctrl-F", "filter"),
    ("Right/Left", "open/close"),
];

/// Draws everything.
pub(crate) fn draw_picker(state: &PickState, theme: ViewTheme, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.width < MIN_SIZE.0 || area.height < MIN_SIZE.1 {
        frame.render_widget("too small", area);
        return;
    }
    let rows =
        [Constraint::Length(1), Constraint::Min(1), Constraint::Length(1), Constraint::Length(1)];
    let [query, middle, status, footer] = Layout::vertical(rows).areas(area);
    let buffer = frame.buffer_mut();
    draw_query(state, theme, query, buffer);
    match (state.is_preview_open, area.width >= WIDE) {
        (true, _) => draw_preview(state, theme, middle, buffer),
        (false, false) => draw_list(state, theme, middle, buffer),
        (false, true) => {
            let parts = [Constraint::Percentage(45), Constraint::Length(3), Constraint::Fill(1)];
            let [list, gap, preview] = Layout::horizontal(parts).areas(middle);
            draw_list(state, theme, list, buffer);
            for y in gap.top()..gap.bottom() {
                buffer.set_string(gap.x + 1, y, "│", theme.dim());
            }
            draw_preview(state, theme, preview, buffer);
        }
    }
    draw_status(state, theme, status, buffer);
    draw_footer(theme, footer, buffer);
    let cursor = match state.panel {
        PickPanel::Closed => {
            let typed = columns(&shown_query(state, query.width)) + PROMPT.len();
            Some(Position::new(query.x + typed as u16, query.y))
        }
        PickPanel::Help => {
            draw_help(theme, area, buffer);
            None
        }
        PickPanel::Filter(field) => Some(draw_filter(state, field, theme, area, buffer)),
    };
    if let Some(cursor) = cursor.filter(|cursor| area.contains(*cursor)) {
        frame.set_cursor_position(cursor);
    }
}

/// The end of the query that fits beside the counts.
fn shown_query(state: &PickState, width: u16) -> String {
    let room = usize::from(width).saturating_sub(PROMPT.len() + columns(&counts(state)) + 2);
    cut_start(&state.query, room.max(8))
}

/// The text without so much of its start that the rest fits.
pub(crate) fn cut_start(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut shown: Vec<char> = Vec::new();
    let mut used = 1;
    for letter in text.chars().rev() {
        used += columns(letter.encode_utf8(&mut [0; 4]));
        if used > most {
            break;
        }
        shown.push(letter);
    }
    std::iter::once('…').chain(shown.into_iter().rev()).collect()
}

/// How much there is to choose from.
fn counts(state: &PickState) -> String {
    let mark = if state.tree.loading > 0 { "…" } else { "" };
    let loaded = grouped(state.tree.len() as u64);
    match &state.names {
        None => format!("{loaded} listed{mark}"),
        Some(names) => format!("{} of {loaded}{mark}", grouped(names.count as u64)),
    }
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

fn draw_query(state: &PickState, theme: ViewTheme, area: Rect, buffer: &mut Buffer) {
    let query = shown_query(state, area.width);
    let mut line = Line::from(vec![Span::styled(PROMPT, theme.chosen()), Span::raw(query)]);
    if state.query.is_empty() {
        line.push_span(Span::styled("type to search names and content", theme.dim()));
    }
    buffer.set_line(area.x, area.y, &line, area.width);
    let counts = counts(state);
    let width = columns(&counts) as u16;
    if area.width > width + 10 {
        buffer.set_string(area.right() - width, area.y, counts, theme.dim());
    }
}

fn draw_status(state: &PickState, theme: ViewTheme, area: Rect, buffer: &mut Buffer) {
    let tokens = state.chosen_tokens();
    let is_over = tokens.count > state.options.budget;
    let mark = if tokens.is_whole { "" } else { "~" };
    let chosen = format!(
        "{} chosen, {mark}{} of {} tokens",
        state.chosen.len(),
        grouped(tokens.count),
        grouped(state.options.budget),
    );
    let style = if is_over { theme.warning() } else { theme.heading() };
    let mut line = Line::from(Span::styled(chosen, style));
    if is_over {
        line.push_span(Span::styled(" over the budget", theme.warning()));
    }
    if !state.filter.is_empty() {
        let words = format!("  filter: {}", state.filter.words());
        line.push_span(Span::styled(words, theme.matched()));
    }
    match &state.hit_status {
        HitStatus::Idle => {}
        HitStatus::Searching => line.push_span(Span::styled("  searching content…", theme.dim())),
        HitStatus::Failed(words) => {
            let words = format!("  search of content: {words}");
            line.push_span(Span::styled(words, theme.warning()));
        }
    }
    buffer.set_line(area.x, area.y, &line, area.width);
}

fn draw_footer(theme: ViewTheme, area: Rect, buffer: &mut Buffer) {
    draw_keys(&FOOTER, theme, area, buffer);
}

/// A line of keys and what they do, as many as fit.
pub(crate) fn draw_keys(
    keys: &[(&'static str, &'static str)],
    theme: ViewTheme,
    area: Rect,
    buffer: &mut Buffer,
) {
    let mut line = Line::default();
    for (key, words) in keys {
        if line.width() + columns(key) + columns(words) + 3 > usize::from(area.width) {
            break;
        }
        line.push_span(Span::styled(*key, theme.heading()));
        line.push_span(Span::styled(format!(" {words}  "), theme.dim()));
    }
    buffer.set_line(area.x, area.y, &line, area.width);
}

/// Clears a box in the middle of the view, with a border and a title, and returns its inside.
fn open_box(title: &'static str, width: u16, height: u16, area: Rect, buffer: &mut Buffer) -> Rect {
    let place = area.centered(Constraint::Length(width), Constraint::Length(height));
    let block = Block::bordered().title(title);
    let inside = block.inner(place);
    blank_wide_before(place, buffer);
    Clear.render(place, buffer);
    block.render(place, buffer);
    inside
}

/// Blanks the wide letters that end inside of the left edge of `place`: a terminal shows a letter
/// whole, over the border, or not at all.
fn blank_wide_before(place: Rect, buffer: &mut Buffer) {
    let Some(x) = place.x.checked_sub(1) else { return };
    for y in place.top()..place.bottom() {
        if let Some(cell) = buffer.cell_mut((x, y))
            && columns(cell.symbol()) > 1
        {
            cell.set_symbol(" ");
        }
    }
}

fn draw_help(theme: ViewTheme, area: Rect, buffer: &mut Buffer) {
    let inside = open_box(" Keys ", 78, KEYS.len() as u16 + 2, area, buffer);
    for ((key, words), y) in KEYS.iter().zip(inside.top()..inside.bottom()) {
        let room = usize::from(inside.width);
        let line = match room > 60 {
            true => Line::from(vec![
                Span::styled(format!("{key:<28}"), theme.heading()),
                Span::raw(*words),
            ]),
            false => Line::from(fit(&format!("{key}: {words}"), room)),
        };
        buffer.set_line(inside.x, y, &line, inside.width);
    }
}

/// Draws the filters, and returns where the cursor is.
fn draw_filter(
    state: &PickState,
    current: FilterField,
    theme: ViewTheme,
    area: Rect,
    buffer: &mut Buffer,
) -> Position {
    const LABEL: usize = 11;
    let inside = open_box(" Filter (Enter closes) ", 60, 6, area, buffer);
    let mut cursor = Position::new(inside.x, inside.y);
    for (field, y) in FilterField::ALL.iter().zip(inside.top()..inside.bottom()) {
        let value = state.filter.value(*field);
        let is_current = *field == current;
        let style = if is_current { theme.heading() } else { theme.dim() };
        let mark = if is_current { "> " } else { "  " };
        let label = format!("{mark}{:<width$}", field.label(), width = LABEL - 2);
        let room = usize::from(inside.width).saturating_sub(LABEL);
        let value = cut_start(value, room.saturating_sub(1).max(4));
        if is_current {
            cursor = Position::new(inside.x + (LABEL + columns(&value)) as u16, y);
        }
        let mut line = Line::from(vec![Span::styled(label, style), Span::raw(value)]);
        if line.width() + columns(field.hint()) + 2 < usize::from(inside.width) {
            line.push_span(Span::styled(format!("  {}", field.hint()), theme.dim()));
        }
        buffer.set_line(inside.x, y, &line, inside.width);
    }
    cursor
}
