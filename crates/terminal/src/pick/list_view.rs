//! The list of the picker: the tree, or what a search found. Only visible lines are drawn.

use nucleo_matcher::Matcher;
use nucleo_matcher::pattern::Pattern;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::output::{columns, fit, one_line};
use crate::pick::matching::{letters_of, parse_query, path_matcher};
use crate::pick::node::{NodeId, PickLine, PickLoad, PickNode, ROOT};
use crate::pick::state::PickState;
use crate::table;
use crate::theme::ViewTheme;

/// The columns of a level of the tree.
const INDENT: usize = 2;
/// What the search tool puts around a match.
const MARK: &str = "**";

/// What the matches of visible lines are found with.
struct MatchMarker {
    pattern: Pattern,
    matcher: Matcher,
    letters: Vec<char>,
}

/// Draws the lines that are in view.
pub(super) fn draw_list(state: &PickState, theme: ViewTheme, area: Rect, buffer: &mut Buffer) {
    let mut marker = state.names.as_ref().map(|_| MatchMarker {
        pattern: parse_query(&state.query),
        matcher: path_matcher(),
        letters: Vec::new(),
    });
    let visible = state.lines.iter().enumerate().skip(state.top);
    for ((at, line), y) in visible.zip(area.top()..area.bottom()) {
        let row = Rect::new(area.x, y, area.width, 1);
        match line {
            PickLine::Heading(words) => buffer.set_stringn(
                row.x,
                y,
                format!("  {words}"),
                usize::from(row.width),
                theme.heading(),
            ),
            PickLine::Note(node) => draw_note(state, *node, theme, row, buffer),
            PickLine::Hit(hit) => draw_hit(state, *hit, theme, row, buffer),
            PickLine::Node(node) => match &mut marker {
                None => draw_in_tree(state, *node, theme, row, buffer),
                Some(marker) => draw_match(state, (*node, marker), theme, row, buffer),
            },
        };
        if at == state.cursor {
            buffer.set_style(row, theme.cursor());
        }
    }
    if state.lines.is_empty() {
        let words =
            if state.has_work() || state.tree.loading > 0 { "…" } else { "nothing found" };
        buffer.set_stringn(area.x + 2, area.y, words, usize::from(area.width), theme.dim());
    }
}

fn choice_mark(state: &PickState, node: NodeId, theme: ViewTheme) -> Span<'static> {
    match state.chosen.contains(&state.tree.get(node).first) {
        true => Span::styled("* ", theme.chosen()),
        false => Span::raw("  "),
    }
}

/// Draws the size of a resource at the right, and returns how much room is left.
fn draw_size(node: &PickNode, theme: ViewTheme, row: Rect, buffer: &mut Buffer) -> usize {
    let room = usize::from(row.width);
    let Some(size) = node.size.filter(|_| !node.is_folder() && room >= 30) else { return room };
    let size = table::size(size);
    let width = columns(&size);
    buffer.set_string(row.right() - width as u16, row.y, size, theme.dim());
    room - width - 1
}

fn draw_in_tree(
    state: &PickState,
    id: NodeId,
    theme: ViewTheme,
    row: Rect,
    buffer: &mut Buffer,
) -> (u16, u16) {
    let node = state.tree.get(id);
    let room = draw_size(node, theme, row, buffer);
    // Deep rows keep room for a name.
    let indent = (usize::from(node.depth) * INDENT).min(room / 2);
    let mark = match (node.is_collection, node.is_open) {
        (false, _) => "  ",
        (true, false) => "▸ ",
        (true, true) => "▾ ",
    };
    let style = if node.is_collection { theme.collection() } else { ratatui::style::Style::new() };
    let left = room.saturating_sub(indent + 4);
    let name = if node.name.is_empty() { &node.uri } else { &*node.name };
    let name = fit(&one_line(name), left);
    let left = left.saturating_sub(columns(&name) + 2);
    let mut line = Line::from(vec![
        choice_mark(state, id, theme),
        Span::raw(format!("{}{mark}", " ".repeat(indent))),
        Span::styled(name, style),
    ]);
    if let Some(title) = node.title.as_deref().filter(|_| left >= 6) {
        line.push_span(Span::styled(format!("  {}", fit(title, left)), theme.dim()));
    }
    buffer.set_line(row.x, row.y, &line, room as u16)
}

fn draw_match(
    state: &PickState,
    (id, marker): (NodeId, &mut MatchMarker),
    theme: ViewTheme,
    row: Rect,
    buffer: &mut Buffer,
) -> (u16, u16) {
    let node = state.tree.get(id);
    let room = draw_size(node, theme, row, buffer);
    let mut places = Vec::new();
    let text = letters_of(&node.path, &mut marker.letters);
    let _ = marker.pattern.indices(text, &mut marker.matcher, &mut places);
    places.sort_unstable();
    let letters: Vec<char> = node.path.chars().collect();
    let width = |letter: &char| columns(letter.encode_utf8(&mut [0; 4]));
    // The end of a path says more than its start.
    let mut start = 0;
    let mut used: usize = letters.iter().map(width).sum();
    let most = room.saturating_sub(2);
    while used > most.saturating_sub(usize::from(start > 0)) && start < letters.len() {
        used -= width(&letters[start]);
        start += 1;
    }
    let mut spans = vec![choice_mark(state, id, theme)];
    if start > 0 {
        spans.push(Span::styled("…", theme.dim()));
    }
    let plain = if node.is_collection { theme.collection() } else { ratatui::style::Style::new() };
    for (at, letter) in letters.iter().enumerate().skip(start) {
        let is_matched = places.binary_search(&(at as u32)).is_ok();
        let style = if is_matched { theme.matched() } else { plain };
        spans.push(Span::styled(letter.to_string(), style));
    }
    buffer.set_line(row.x, row.y, &Line::from(spans), room as u16)
}

fn draw_hit(
    state: &PickState,
    at: usize,
    theme: ViewTheme,
    row: Rect,
    buffer: &mut Buffer,
) -> (u16, u16) {
    let Some(hit) = state.hits.get(at) else { return (row.x, row.y) };
    let node = state.tree.get(hit.node);
    let line_number = hit.line.map_or_else(String::new, |line| format!(":{line}"));
    let most = (usize::from(row.width) / 2).max(12);
    let place = super::view::cut_start(&format!("{}{line_number}", node.path), most);
    let mut spans = vec![choice_mark(state, hit.node, theme), Span::styled(place, theme.heading())];
    spans.push(Span::raw("  "));
    for (piece_at, piece) in hit.snippet.split(MARK).enumerate() {
        let style = if piece_at % 2 == 1 { theme.matched() } else { theme.dim() };
        spans.push(Span::styled(piece.to_owned(), style));
    }
    buffer.set_line(row.x, row.y, &Line::from(spans), row.width)
}

fn draw_note(
    state: &PickState,
    id: NodeId,
    theme: ViewTheme,
    row: Rect,
    buffer: &mut Buffer,
) -> (u16, u16) {
    let node = state.tree.get(id);
    let (words, style) = match &node.load {
        PickLoad::Failed(words) => (words.as_str(), theme.warning()),
        PickLoad::Complete => ("(empty)", theme.dim()),
        PickLoad::Unloaded | PickLoad::Loading | PickLoad::More(_) => ("…", theme.dim()),
    };
    let depth = if id == ROOT { 0 } else { usize::from(node.depth) + 1 };
    let indent = (depth * INDENT).min(usize::from(row.width) / 2) + 4;
    let words = fit(words, usize::from(row.width).saturating_sub(indent));
    buffer.set_string(row.x, row.y, " ".repeat(indent), style);
    buffer.set_stringn(row.x + indent as u16, row.y, words, usize::from(row.width) - indent, style)
}
