//! `refdesk ls`: a collection, the mounts of a refdesk, or the whole list of another server.

use std::time::SystemTime;

use protocol::outbound::request::methods;
use resource::{Role, Uri};
use serde_json::{Value, json};

use crate::args::LsArgs;
use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::filter::{RowCollector, RowFilter, compare};
use crate::listing::Row;
use crate::output::{Output, Style, one_line, shown_uri};
use crate::table::{self, Cell};
use crate::top::index_words;
use crate::tree::{TreeLine, tree_lines};
use crate::walk::{WalkedRow, tell_cut};

const MOUNTS: &str = "refdesk://mounts";

pub(super) async fn run(
    args: &LsArgs,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    let filter = RowFilter::parse(&args.filter)?;
    let start = match &args.uri {
        Some(written) => Some(connection.resolve_uri(written).await?),
        None => None,
    };
    if args.tree {
        return list_tree(args, connection, output, start.as_ref(), &filter).await;
    }
    if args.all {
        return list_below(args, connection, output, start.as_ref(), &filter).await;
    }
    if start.is_none() && connection.is_refdesk() && filter.is_empty() && args.sort.is_none() {
        return list_mounts(args, connection, output).await;
    }
    let mut collector = RowCollector::new(&filter, args.sort, args.limit);
    connection.each_row(start.as_ref(), |row| Ok(collector.take(row))).await?;
    let (rows, is_cut) = collector.finish();
    print_rows(args, output, &rows)?;
    end_list(args, &filter, rows.is_empty(), is_cut)
}

/// Says what is not shown, and whether anything is.
fn end_list(
    args: &LsArgs,
    filter: &RowFilter,
    is_empty: bool,
    is_cut: bool,
) -> Result<(), CommandError> {
    if is_cut {
        tell_cut(args.limit);
    }
    if is_empty && !filter.is_empty() { Err(CommandError::NothingFound) } else { Ok(()) }
}

fn print_rows(args: &LsArgs, output: &mut Output, rows: &[Row]) -> Result<(), CommandError> {
    if args.server.json {
        let rows: Vec<&Value> = rows.iter().map(|row| &row.json).collect();
        return output.json(&json!({ "resources": rows }));
    }
    let now = SystemTime::now();
    let cells: Vec<Vec<Cell>> = rows
        .iter()
        .map(|row| {
            let mut cells = if args.long { long_cells(row, now) } else { Vec::new() };
            cells.push(name_cell(row));
            cells
        })
        .collect();
    for line in table::lines(output, &cells) {
        output.line(&line)?;
    }
    Ok(())
}

/// The URI, which is what the other commands take; a collection ends with a slash.
fn name_cell(row: &Row) -> Cell {
    let uri = shown_uri(row.resource.uri.as_str());
    let cell = match row.is_collection() {
        true => Cell::styled(Style::Collection, format!("{}/", uri.trim_end_matches('/'))),
        false => Cell::text(uri),
    };
    cell.keeping_end()
}

fn long_cells(row: &Row, now: SystemTime) -> Vec<Cell> {
    let resource = &row.resource;
    let kind = match (row.is_collection(), &resource.mime) {
        (true, _) => "collection".to_owned(),
        (false, Some(mime)) => one_line(mime),
        (false, None) => "-".to_owned(),
    };
    let annotations = &resource.annotations;
    let audience = match annotations.audience.as_slice() {
        [] => "-",
        [Role::User] => "user",
        [Role::Assistant] => "assistant",
        _ => "both",
    };
    let absent = || "-".to_owned();
    vec![
        Cell::styled(Style::Dim, kind),
        Cell::number(resource.size.map_or_else(absent, table::size)),
        Cell::number(annotations.modified.map_or_else(absent, |then| table::age(then, now))),
        Cell::number(annotations.priority.map_or_else(absent, |priority| format!("{priority:.1}"))),
        Cell::text(audience),
    ]
}

/// The cells of a folder that only URIs tell of.
fn absent_cells() -> Vec<Cell> {
    let absent = |_| Cell::number("-");
    let mut cells = vec![Cell::styled(Style::Dim, "collection")];
    cells.extend((0..3).map(absent));
    cells.push(Cell::text("-"));
    cells
}

/// The mounts of a refdesk and their state.
async fn list_mounts(
    args: &LsArgs,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    let mounts = connection.mounts().await?;
    if args.server.json {
        return output.json(&json!({ "mounts": mounts }));
    }
    let mut cells = Vec::new();
    for mount in &mounts {
        let text = |name: &str| one_line(mount[name].as_str().unwrap_or("-"));
        let state = text("state");
        let mut row = vec![Cell::text(text("kind"))];
        row.push(match state.as_str() {
            "ready" => Cell::text(state),
            _ => Cell::styled(Style::Warning, state),
        });
        row.push(Cell::styled(Style::Collection, text("root")));
        if let Some(words) = mount["words"].as_str() {
            row.push(Cell::styled(Style::Warning, one_line(words)));
        } else if args.long && mount["index"].is_object() {
            row.push(Cell::styled(Style::Dim, index_words(&mount["index"])));
        }
        cells.push(row);
    }
    for line in table::lines(output, &cells) {
        output.line(&line)?;
    }
    Ok(())
}

impl ServerConnection {
    /// The status of each mount of a refdesk.
    pub(crate) async fn mounts(&self) -> Result<Vec<Value>, CommandError> {
        let answer = self.ask(methods::READ_RESOURCE, &json!({ "uri": MOUNTS })).await?;
        let contents = answer["contents"].as_array().cloned().unwrap_or_default();
        let texts = contents.iter().filter(|part| part["uri"] != MOUNTS);
        let texts = texts.filter_map(|part| part["text"].as_str());
        Ok(texts.filter_map(|text| serde_json::from_str(text).ok()).collect())
    }
}

/// Everything below `start`, one URI a line.
async fn list_below(
    args: &LsArgs,
    connection: &ServerConnection,
    output: &mut Output,
    start: Option<&Uri>,
    filter: &RowFilter,
) -> Result<(), CommandError> {
    let mut collector = RowCollector::new(filter, args.sort, args.limit);
    let end = connection
        .walk(start, |walked| Ok(walked.row.is_folder() || collector.take(walked.row)))
        .await?;
    let (rows, is_cut) = collector.finish();
    print_rows(args, output, &rows)?;
    end.tell();
    end_list(args, filter, rows.is_empty(), is_cut)
}

/// Everything below `start` as a tree; with a filter, what matches and the collections around it.
async fn list_tree(
    args: &LsArgs,
    connection: &ServerConnection,
    output: &mut Output,
    start: Option<&Uri>,
    filter: &RowFilter,
) -> Result<(), CommandError> {
    let mut found: Vec<WalkedRow> = Vec::new();
    // The collections around the next row that are not shown yet.
    let mut around: Vec<WalkedRow> = Vec::new();
    let end = connection
        .walk(start, |walked| {
            around.retain(|outer| outer.depth < walked.depth);
            if filter.matches(&walked.row.resource) {
                found.append(&mut around);
                found.push(walked);
            } else if walked.row.is_folder() {
                around.push(walked);
            }
            Ok(found.len() <= args.limit)
        })
        .await?;
    let is_cut = found.len() > args.limit;
    found.truncate(args.limit);
    if args.server.json {
        let mut rows: Vec<Row> = found.iter().map(|walked| walked.row.clone()).collect();
        if let Some(order) = args.sort {
            rows.sort_by(|one, other| compare(&one.resource, &other.resource, order));
        }
        print_rows(args, output, &rows)?;
    } else {
        print_tree(args, output, &found)?;
    }
    end.tell();
    end_list(args, filter, found.is_empty(), is_cut)
}

fn print_tree(
    args: &LsArgs,
    output: &mut Output,
    walked: &[WalkedRow],
) -> Result<(), CommandError> {
    let now = SystemTime::now();
    let mut rows = Vec::new();
    // Whether the collection at each depth has more rows to come.
    let mut open: Vec<bool> = Vec::new();
    for TreeLine { name, row, depth, is_last } in tree_lines(walked, args.sort) {
        open.truncate(depth);
        let mut lead: String =
            open.iter().map(|goes_on| if *goes_on { "│   " } else { "    " }).collect();
        lead.push_str(if is_last { "└── " } else { "├── " });
        open.push(!is_last);
        let name = one_line(&name);
        let cell = match row.is_none_or(Row::is_collection) {
            true => Cell::styled(Style::Collection, format!("{name}/")),
            false => Cell::text(name),
        };
        let cell = cell.behind(lead);
        if args.long {
            let mut cells = row.map_or_else(absent_cells, |row| long_cells(row, now));
            cells.push(cell);
            rows.push(cells);
            continue;
        }
        let leaf = row.filter(|row| !row.is_collection());
        let size = leaf.and_then(|row| row.resource.size);
        let size = size.map_or_else(String::new, |size| format!("  {}", table::size(size)));
        let cell = match output.width {
            Some(width) => cell.fitted(width.saturating_sub(size.len())),
            None => cell,
        };
        let size = if size.is_empty() { size } else { output.paint(Style::Dim, &size) };
        output.line(&format!("{}{size}", cell.painted(output)))?;
    }
    table::lines(output, &rows).iter().try_for_each(|line| output.line(line))
}
