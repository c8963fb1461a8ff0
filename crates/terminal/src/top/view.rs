//! The view of `refdesk top`: tables of mounts, clients, requests and subscriptions. Pure.

use std::time::SystemTime;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

use crate::output::{columns, fit};
use crate::pick::{draw_keys, grouped};
use crate::table;
use crate::theme::ViewTheme;
use crate::top::snapshot::{TopSnapshot, text, time};
use crate::top::state::TopState;

const KEYS: [(&str, &str); 3] = [("q", "leave"), ("r", "refresh"), ("Up/Down", "scroll")];
/// How many of the latest requests are shown.
const RECENT: usize = 50;
const MOUNT_HEADS: [&str; 5] = ["NAME", "KIND", "STATE", "INDEX", "ROOT"];
const CLIENT_HEADS: [&str; 8] =
    ["ID", "NAME", "REVISION", "BY", "REQUESTS", "ERRORS", "WATCHES", "SEEN"];
const REQUEST_HEADS: [&str; 6] = ["WHEN", "CLIENT", "REQUEST", "TIME", "OUTCOME", "RESOURCE"];
const SUBSCRIPTION_HEADS: [&str; 3] = ["SUBSCRIBERS", "CHANGED", "RESOURCE"];

/// A cell of a table.
struct TopCell {
    text: String,
    style: Style,
    at_right: bool,
}

fn cell(text: String) -> TopCell {
    TopCell { text, style: Style::new(), at_right: false }
}

fn styled(text: String, style: Style) -> TopCell {
    TopCell { style, ..cell(text) }
}

fn number(text: String) -> TopCell {
    TopCell { at_right: true, ..cell(text) }
}

/// Draws the newest snapshot.
pub(crate) fn draw_top(state: &TopState, theme: ViewTheme, now: SystemTime, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.height < 3 || area.width < 20 {
        frame.render_widget("too small", area);
        return;
    }
    let rows = [Constraint::Min(1), Constraint::Length(1)];
    let [middle, footer] = Layout::vertical(rows).areas(area);
    let lines = state.lines(theme, now);
    let buffer = frame.buffer_mut();
    for (line, y) in lines.iter().skip(state.scroll).zip(middle.top()..middle.bottom()) {
        buffer.set_line(middle.x, y, line, middle.width);
    }
    draw_keys(&KEYS, theme, footer, buffer);
}

/// Lines that are gathered for a view.
struct TopText {
    lines: Vec<Line<'static>>,
    width: usize,
    theme: ViewTheme,
}

impl TopText {
    fn line(&mut self, words: &str, style: Style) {
        self.lines.push(Line::from(Span::styled(fit(words, self.width), style)));
    }

    /// Adds a title, and a table if it has rows.
    fn section(&mut self, title: &str, heads: &[&str], rows: Vec<Vec<TopCell>>) {
        self.lines.push(Line::default());
        self.line(title, self.theme.heading());
        if !rows.is_empty() {
            self.lines.extend(table_lines(heads, rows, self.width, self.theme));
        }
    }
}

/// Everything that a snapshot says, in lines of at most `width` columns.
pub(crate) fn snapshot_lines(
    snapshot: &TopSnapshot,
    width: usize,
    theme: ViewTheme,
    now: SystemTime,
) -> Vec<Line<'static>> {
    let mut view = TopText { lines: Vec::new(), width, theme };
    let server = &snapshot.server;
    view.line(&format!("{} {}", text(server, "name"), text(server, "version")), theme.heading());
    let mounts = snapshot.mounts.iter().map(|mount| mount_row(mount, theme)).collect();
    view.section(&format!("Mounts ({})", snapshot.mounts.len()), &MOUNT_HEADS, mounts);
    for mount in snapshot.mounts.iter().filter(|mount| mount["words"].is_string()) {
        let words = format!("  {}: {}", text(mount, "name"), text(mount, "words"));
        view.line(&words, theme.warning());
    }
    match &snapshot.clients {
        None => {
            let words = "Clients: this refdesk does not tell of them; a newer one does";
            view.section(words, &[], Vec::new());
        }
        Some(clients) => {
            let sum = |name: &str| -> u64 {
                clients.iter().filter_map(|client| client[name].as_u64()).sum()
            };
            let (requests, errors) = (grouped(sum("requests")), grouped(sum("errors")));
            let title =
                format!("Clients ({}), requests {requests}, errors {errors}", clients.len());
            let rows = clients.iter().map(|client| client_row(client, theme, now)).collect();
            view.section(&title, &CLIENT_HEADS, rows);
        }
    }
    let subscriptions = &snapshot.subscriptions;
    let rows = subscriptions.iter().map(|one| subscription_row(one, theme, now)).collect();
    let watchers = snapshot.watchers.len();
    let title = format!("Subscriptions ({}), watchers ({watchers})", subscriptions.len());
    view.section(&title, &SUBSCRIPTION_HEADS, rows);
    if snapshot.clients.is_some() {
        let recent = snapshot.recent.iter().take(RECENT);
        let recent = recent.map(|request| request_row(request, theme, now)).collect();
        view.section("Latest requests", &REQUEST_HEADS, recent);
    }
    view.lines
}

fn state_style(state: &str, theme: ViewTheme) -> Style {
    match state {
        "ready" | "ok" => theme.chosen(),
        _ => theme.warning(),
    }
}

fn mount_row(mount: &Value, theme: ViewTheme) -> Vec<TopCell> {
    let state = text(mount, "state");
    let style = state_style(&state, theme);
    vec![
        styled(text(mount, "name"), theme.collection()),
        cell(text(mount, "kind")),
        styled(state, style),
        cell(index_words(&mount["index"])),
        cell(text(mount, "root")),
    ]
}

/// How much of a mount is in the index.
pub(crate) fn index_words(index: &Value) -> String {
    if let Some(fault) = index["fault"].as_str() {
        return format!("index: {}", crate::output::one_line(fault));
    }
    let indexed = index["indexed"].as_u64().map(grouped);
    match (index["complete"].as_bool(), indexed, index["resources"].as_u64()) {
        (Some(true), Some(indexed), Some(all)) => format!("indexed {indexed} of {}", grouped(all)),
        (Some(true), ..) => "indexed".to_owned(),
        (Some(false), Some(indexed), _) => format!("indexed {indexed} so far"),
        (Some(false), None, _) => "indexing".to_owned(),
        (None, ..) => "not indexed".to_owned(),
    }
}

fn ago(row: &Value, name: &str, now: SystemTime) -> String {
    time(row, name).map_or_else(String::new, |then| format!("{} ago", table::age(then, now)))
}

fn client_row(client: &Value, theme: ViewTheme, now: SystemTime) -> Vec<TopCell> {
    let name = format!("{} {}", text(client, "name"), text(client, "version"));
    let seen = time(client, "lastSeen");
    let seen = seen.map_or_else(String::new, |then| table::age(then, now));
    let errors = client["errors"].as_u64().unwrap_or_default();
    let style = if errors > 0 { theme.warning() } else { Style::new() };
    let count = |name: &str| number(grouped(client[name].as_u64().unwrap_or_default()));
    vec![
        styled(text(client, "id"), theme.dim()),
        styled(name.trim_end().to_owned(), theme.collection()),
        cell(text(client, "revision")),
        cell(text(client, "transport")),
        count("requests"),
        TopCell { style, ..count("errors") },
        count("subscriptions"),
        styled(seen, theme.dim()),
    ]
}

fn request_row(request: &Value, theme: ViewTheme, now: SystemTime) -> Vec<TopCell> {
    let outcome = text(request, "outcome");
    let style = state_style(&outcome, theme);
    let tool = text(request, "tool");
    let method = if tool.is_empty() { text(request, "method") } else { tool };
    vec![
        styled(ago(request, "at", now), theme.dim()),
        styled(text(request, "client"), theme.dim()),
        cell(method),
        number(format!("{} ms", request["milliseconds"].as_u64().unwrap_or_default())),
        styled(fit(&outcome, 24), style),
        cell(text(request, "uri")),
    ]
}

fn subscription_row(one: &Value, theme: ViewTheme, now: SystemTime) -> Vec<TopCell> {
    let list = text(one, "list");
    let subject = if list.is_empty() { text(one, "uri") } else { format!("the list of {list}") };
    let subscribers = one["subscribers"].as_u64().unwrap_or_default();
    let changed = match time(one, "last_change") {
        Some(then) => format!("{} ago", table::age(then, now)),
        None => String::new(),
    };
    vec![number(grouped(subscribers)), styled(changed, theme.dim()), cell(subject)]
}

/// Lines with aligned columns; what does not fit is cut at the right.
fn table_lines(
    heads: &[&str],
    mut rows: Vec<Vec<TopCell>>,
    width: usize,
    theme: ViewTheme,
) -> Vec<Line<'static>> {
    let head = |(at, head): (usize, &&str)| {
        let at_right = rows.iter().any(|row| row.get(at).is_some_and(|cell| cell.at_right));
        TopCell { at_right, ..styled((*head).to_owned(), theme.dim()) }
    };
    let head: Vec<TopCell> = heads.iter().enumerate().map(head).collect();
    rows.insert(0, head);
    let count = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| columns(&cell.text)).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..count).map(widest).collect();
    let line = |row: &Vec<TopCell>| {
        let mut line = Line::from("  ");
        for (cell, column) in row.iter().zip(&widths).filter(|(_, column)| **column > 0) {
            let room = width.saturating_sub(line.width());
            if room < 2 {
                break;
            }
            let shown = fit(&cell.text, room);
            let gap = " ".repeat(column.saturating_sub(columns(&shown)));
            let (before, after) = if cell.at_right { (gap, "") } else { (String::new(), &*gap) };
            line.push_span(Span::raw(before.clone()));
            let after = format!("{after}  ");
            line.push_span(Span::styled(shown, cell.style));
            line.push_span(Span::raw(after));
        }
        line
    };
    rows.iter().map(line).collect()
}
