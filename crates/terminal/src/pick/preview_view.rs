//! The preview of the picker: what a resource is, and the beginning of its text.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::output::fit;
use crate::pick::node::{PickLoad, PickNode};
use crate::pick::preview::{PREVIEW_BYTES, PickPreview, wrapped};
use crate::pick::state::PickState;
use crate::pick::view::{cut_start, grouped};
use crate::table;
use crate::theme::ViewTheme;

/// Draws the resource that the cursor is on.
pub(super) fn draw_preview(state: &PickState, theme: ViewTheme, area: Rect, buffer: &mut Buffer) {
    let Some(key) = state.current() else { return };
    let node = state.tree.get(key.node);
    let preview = state.previews.get(key);
    let width = usize::from(area.width);
    let title = node.title.as_deref().unwrap_or(&node.path);
    buffer.set_stringn(area.x, area.y, cut_start(title, width), width, theme.heading());
    if area.height < 2 {
        return;
    }
    let facts = fit(&facts(node, key.line, preview.as_ref()), width);
    buffer.set_stringn(area.x, area.y + 1, facts, width, theme.dim());
    let rows = usize::from(area.height).saturating_sub(3);
    let (text, style) = match preview {
        Some(PickPreview::Text { text, .. }) => (text.to_string(), ratatui::style::Style::new()),
        Some(PickPreview::Words(words)) => (words, theme.dim()),
        None if node.is_folder() => (folder_words(node), theme.dim()),
        Some(PickPreview::Loading) | None => ("…".to_owned(), theme.dim()),
    };
    let lines = wrapped(&text, width, state.preview_scroll, rows);
    for (line, y) in lines.iter().zip(area.top() + 3..area.bottom()) {
        buffer.set_stringn(area.x, y, line, width, style);
    }
}

/// What is known of a resource, on one line.
fn facts(node: &PickNode, line: Option<u64>, preview: Option<&PickPreview>) -> String {
    let mut facts: Vec<String> = node.mime.iter().map(|mime| mime.to_string()).collect();
    facts.extend(node.size.filter(|_| !node.is_folder()).map(table::size));
    facts.extend(line.map(|line| format!("at line {line}")));
    if let (Some(PickPreview::Text { is_whole, tokens, .. }), None) = (preview, line) {
        let mark = if tokens.is_whole { "" } else { "~" };
        facts.push(format!("{mark}{} tokens", grouped(tokens.count)));
        if !is_whole {
            facts.push(format!("first {} shown", table::size(PREVIEW_BYTES)));
        }
    }
    facts.extend(node.priority.map(|priority| format!("priority {priority:.1}")));
    facts.join(", ")
}

fn folder_words(node: &PickNode) -> String {
    let count = grouped(node.children.len() as u64);
    match &node.load {
        PickLoad::Unloaded => "a collection; Right opens it".to_owned(),
        PickLoad::Complete => format!("a collection of {count}"),
        PickLoad::Loading | PickLoad::More(_) => format!("a collection of more than {count}"),
        PickLoad::Failed(words) => words.clone(),
    }
}
