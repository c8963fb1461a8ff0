//! Tables of files that are named after secrets, such as `passwords.csv`: the cells of the first row
//! are the keys of the others.

use std::borrow::Cow;
use std::ops::Range;

use crate::key_words::{KeyMeaning, is_descriptive, meaning_of};
use crate::mask::mask_length;
use crate::walk::{Fit, Quoting, ScalarToken, Walk};

/// Keys of columns that a table of secrets may have, besides those that name or describe one.
const COLUMNS: &[&str] = &["value", "site", "website", "account", "note", "notes", "service"];

/// A cell: its bytes without quotes, and whether another one follows in its row.
struct CsvCell {
    range: Range<usize>,
    is_last: bool,
}

/// Reports the cells of `text`.
pub(super) fn scan<'t>(text: &'t str, walk: &mut Walk<'t, '_>) -> Fit {
    walk.expect_secrets();
    let first = text.split('\n').next().unwrap_or_default();
    let count = |separator: char| first.matches(separator).count();
    let separator = [',', ';', '\t'].into_iter().max_by_key(|one| count(*one)).unwrap_or(',');
    let mut header: Option<Vec<&str>> = None;
    let (mut at, mut row) = (0, Vec::new());
    while at < text.len() {
        let (cell, next) = cell_at(text, at, separator);
        at = next;
        row.push(cell.range);
        if !cell.is_last && at < text.len() {
            continue;
        }
        match &header {
            Some(keys) => report(text, &row, keys, walk),
            None => {
                let keys: Vec<&str> = row.iter().map(|cell| text[cell.clone()].trim()).collect();
                let is_header = keys.iter().any(|key| is_column(key));
                let keys = if is_header { keys } else { Vec::new() };
                if !is_header {
                    report(text, &row, &keys, walk);
                }
                header = Some(keys);
            }
        }
        row.clear();
    }
    Fit::Whole
}

fn is_column(key: &str) -> bool {
    let is_known = meaning_of(key) != KeyMeaning::Neutral
        || is_descriptive(key)
        || COLUMNS.contains(&key.to_lowercase().as_str());
    is_known && mask_length(key).is_none()
}

/// Reports the cells of a row. In a table without keys, the first cell names the others.
fn report<'t>(text: &'t str, row: &[Range<usize>], keys: &[&'t str], walk: &mut Walk<'t, '_>) {
    for (column, range) in row.iter().enumerate() {
        let unnamed = if column == 0 && row.len() > 1 { "name" } else { "value" };
        let key = keys.get(column).copied().unwrap_or(unnamed);
        walk.key(Cow::Borrowed(key));
        let value = Cow::Borrowed(&text[range.clone()]);
        walk.scalar(ScalarToken { range: range.clone(), value, quoting: Quoting::Verbatim });
    }
}

/// The cell that begins at `at`, and where the next one begins.
fn cell_at(text: &str, at: usize, separator: char) -> (CsvCell, usize) {
    let rest = &text[at..];
    let is_end = |character: char| character == separator || character == '\n';
    if let Some(inner) = rest.strip_prefix('"')
        && let Some(length) = quoted_length(inner)
    {
        let behind = &inner[length + 1..];
        let gap = behind.find(is_end).unwrap_or(behind.len());
        let end = at + 1 + length + 1 + gap;
        let is_last = !text[end..].starts_with(separator);
        return (CsvCell { range: at + 1..at + 1 + length, is_last }, (end + 1).min(text.len()));
    }
    let length = rest.find(is_end).unwrap_or(rest.len());
    let value = rest[..length].trim();
    let start = at + rest[..length].find(value).unwrap_or_default();
    let is_last = !rest[length..].starts_with(separator);
    let cell = CsvCell { range: start..start + value.len(), is_last };
    (cell, (at + length + 1).min(text.len()))
}

/// The length of a text before the quote that closes it; two quotes stand for one.
fn quoted_length(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('"')?;
        if !text[at + 1..].starts_with('"') {
            return Some(at);
        }
        at += 2;
    }
}
