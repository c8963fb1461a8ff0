//! `refdesk ls`: a collection, the mounts of a refdesk, or the whole list of another server.

use std::time::SystemTime;

use protocol::outbound::request::methods;
use resource::{Role, Uri};
use serde_json::{Value, json};

use crate::args::LsArgs;
use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::filter::{RowFilter, sort_rows};
use crate::listing::Row;
use crate::output::{Output, Style, one_line, shown_uri};
use crate::table::{self, Cell};
use crate::tree::{TreeLine, tree_lines};
use crate::walk::WalkedRow;

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
    if args.tree || args.all {
        return list_below(args, connection, output, start.as_ref(), &filter).await;
    }
    if start.is_none() && connection.is_refdesk() && filter.is_empty() && args.sort.is_none() {
        return list_mounts(args, connection, output).await;
    }
    let mut rows = connection.rows(start.as_ref(), args.limit + 1).await?;
    rows.retain(|row| filter.matches(&row.resource));
    let is_cut = rows.len() > args.limit;
    rows.truncate(args.limit);
    if let Some(order) = args.sort {
        sort_rows(&mut rows, order);
    }
    print_rows(args, output, &rows)?;
    if is_cut {
        crate::output::tell(&format!("there is more than {}; raise --limit", args.limit));
    }
    if rows.is_empty() && !filter.is_empty() { Err(CommandError::NothingFound) } else { Ok(()) }
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
        } else if args.long {
            row.push(Cell::styled(Style::Dim, index_words(&mount["index"])));
        }
        cells.push(row);
    }
    for line in table::lines(output, &cells) {
        output.line(&line)?;
    }
    Ok(())
}

fn index_words(index: &Value) -> String {
    match (index["complete"].as_bool(), index["percent"].as_u64()) {
        (Some(true), _) => "indexed".to_owned(),
        (Some(false), Some(percent)) => format!("{percent}% indexed"),
        _ => String::new(),
    }
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

/// Everything below `start`: as a tree, or one URI a line.
async fn list_below(
    args: &LsArgs,
    connection: &ServerConnection,
    output: &mut Output,
    start: Option<&Uri>,
    filter: &RowFilter,
) -> Result<(), CommandError> {
    let mut found = Vec::new();
    let end = connection
        .walk(start, args.limit, |walked| {
            let is_wanted = match args.tree {
                true => {
                    filter.is_empty()
                        || walked.row.is_folder()
                        || filter.matches(&walked.row.resource)
                }
                false => !walked.row.is_folder() && filter.matches(&walked.row.resource),
            };
            if is_wanted {
                found.push(walked);
            }
            Ok(true)
        })
        .await?;
    if args.tree && !args.server.json {
        print_tree(output, &found)?;
    } else {
        let mut rows: Vec<Row> = found.iter().map(|walked| walked.row.clone()).collect();
        if let Some(order) = args.sort {
            sort_rows(&mut rows, order);
        }
        print_rows(args, output, &rows)?;
    }
    end.tell(args.limit);
    if found.is_empty() && !filter.is_empty() { Err(CommandError::NothingFound) } else { Ok(()) }
}

fn print_tree(output: &mut Output, walked: &[WalkedRow]) -> Result<(), CommandError> {
    // Whether the collection at each depth has more rows to come.
    let mut open: Vec<bool> = Vec::new();
    for TreeLine { name, row, depth, is_last } in tree_lines(walked) {
        open.truncate(depth);
        let mut line: String =
            open.iter().map(|goes_on| if *goes_on { "│   " } else { "    " }).collect();
        line.push_str(if is_last { "└── " } else { "├── " });
        let name = one_line(&name);
        line.push_str(&match row.is_none_or(Row::is_collection) {
            true => output.paint(Style::Collection, &format!("{name}/")),
            false => name,
        });
        let leaf = row.filter(|row| !row.is_collection());
        if let Some(size) = leaf.and_then(|row| row.resource.size) {
            line.push_str(&output.paint(Style::Dim, &format!("  {}", table::size(size))));
        }
        output.line(&line)?;
        open.push(!is_last);
    }
    Ok(())
}
