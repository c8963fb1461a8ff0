//! Markdown: what the converters write it with.

use crate::options::Options;

/// Escapes what Markdown would take as a mark in running text.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if matches!(letter, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// Escapes what Markdown would take as a mark at the beginning of a line: of a heading, list, rule.
pub(crate) fn escape_line_start(line: &str) -> String {
    let trimmed = line.trim_start();
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let is_number = digits > 0 && trimmed[digits..].starts_with(['.', ')']);
    if is_number {
        let indent = line.len() - trimmed.len();
        let (number, rest) = line.split_at(indent + digits);
        return format!("{number}\\{rest}");
    }
    if trimmed.starts_with(['#', '-', '+', '=', '~']) {
        let indent = line.len() - trimmed.len();
        let (space, rest) = line.split_at(indent);
        return format!("{space}\\{rest}");
    }
    line.to_owned()
}

/// A table of cells, whose texts are Markdown of one line each. The first row is the header.
/// Rows and columns over the limits are left out, and a line after the table says how many.
pub(crate) fn table(rows: &[Vec<String>], options: &Options) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    if columns == 0 {
        return String::new();
    }
    let shown = columns.min(options.max_table_columns);
    let mut text = String::new();
    for (at, row) in rows.iter().take(options.max_table_rows + 1).enumerate() {
        text.push('|');
        for column in 0..shown {
            let cell = row.get(column).map_or("", String::as_str);
            text.push(' ');
            text.push_str(&cell.replace(['\r', '\n'], " "));
            text.push_str(" |");
        }
        text.push('\n');
        if at == 0 {
            text.push('|');
            text.push_str(&" --- |".repeat(shown));
            text.push('\n');
        }
    }
    let left_rows = rows.len().saturating_sub(options.max_table_rows + 1);
    let left_columns = columns - shown;
    if let Some(words) = left_out(left_rows, left_columns) {
        text.push_str(&format!("\n*{words}*\n"));
    }
    text
}

/// What a table leaves out.
pub(crate) fn left_out(rows: usize, columns: usize) -> Option<String> {
    match (rows, columns) {
        (0, 0) => None,
        (rows, 0) => Some(format!("{rows} more rows are left out")),
        (0, columns) => Some(format!("{columns} more columns are left out")),
        (rows, columns) => Some(format!("{rows} more rows and {columns} columns are left out")),
    }
}
