//! Markdown: what the converters write it with.

use crate::conversion::counted;
use crate::options::Options;

/// Escapes what Markdown would take as a mark in running text, and no more: a mark that cannot
/// work where it stands stays as it is. What counts only at the beginning of a line is left to
/// [`escape_line_start`], and a bar in a table to [`table`].
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    push_escaped(&mut escaped, text, false);
    escaped
}

/// Appends running text to `line`, escaped like [`escape`]. In the text of a link, brackets are
/// escaped too.
pub(crate) fn push_escaped(line: &mut String, text: &str, is_in_link: bool) {
    let mut before = line.chars().next_back();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        // Underscores are one mark together: a blank to fill in is none.
        let length = match letter {
            '_' => rest.len() - rest.trim_start_matches('_').len(),
            letter => letter.len_utf8(),
        };
        let (run, after) = rest.split_at(length);
        if is_mark(run, (before, after), is_in_link) {
            for mark in run.chars() {
                line.push('\\');
                line.push(mark);
            }
        } else {
            line.push_str(run);
        }
        (before, rest) = (Some(letter), after);
    }
}

/// Whether Markdown takes `run`, a letter or several underscores, as a mark between `before` and the
/// text `after` it.
fn is_mark(run: &str, (before, after): (Option<char>, &str), is_in_link: bool) -> bool {
    let next = after.chars().next();
    let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let is_space = |letter: Option<char>| letter.is_none_or(char::is_whitespace);
    match run.as_bytes() {
        b"`" => true,
        b"\\" => next.is_some_and(|next| next.is_ascii_punctuation()),
        b"*" => !(is_space(before) && is_space(next)),
        [b'_', ..] => {
            let is_inside_word = is_word(before) && is_word(next);
            let is_free = is_space(before) && is_space(next);
            let is_blank = run.len() > 3 && is_space(next);
            !is_inside_word && !is_free && !is_blank
        }
        b"~" => next == Some('~') || before == Some('~'),
        b"[" => is_in_link || next == Some('^'),
        b"]" => is_in_link || matches!(next, Some('(' | '[' | ':')),
        b"<" => next.is_some_and(|next| next.is_ascii_alphabetic() || "/!?".contains(next)),
        b"&" => is_entity(after),
        _ => false,
    }
}

/// Whether an ampersand before `after` would begin an entity.
fn is_entity(after: &str) -> bool {
    let name = after.strip_prefix('#').unwrap_or(after);
    let length = name.bytes().take(32).take_while(u8::is_ascii_alphanumeric).count();
    length > 0 && name[length..].starts_with(';')
}

/// Escapes what Markdown would take as a mark at the beginning of a line: of a heading, list,
/// quote, rule, table, definition or code.
pub(crate) fn escape_line_start(line: &str) -> String {
    let trimmed = line.trim_start();
    let indent = line.len() - trimmed.len();
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let ends_mark = |rest: &str| rest.is_empty() || rest.starts_with([' ', '\t']);
    let is_number = (1..=9).contains(&digits)
        && trimmed[digits..].strip_prefix(['.', ')']).is_some_and(ends_mark);
    if is_number {
        let (number, rest) = line.split_at(indent + digits);
        return format!("{number}\\{rest}");
    }
    let level = trimmed.bytes().take_while(|byte| *byte == b'#').count();
    let is_heading = (1..=6).contains(&level) && ends_mark(&trimmed[level..]);
    let is_item = trimmed.strip_prefix(['-', '+', '*', ':']).is_some_and(ends_mark);
    let is_rule = ['-', '=', '_', '*'].iter().any(|mark| {
        trimmed.starts_with(*mark) && trimmed.chars().all(|letter| letter == *mark || letter == ' ')
    });
    let starts_block = trimmed.starts_with(['>', '|']) || trimmed.starts_with("~~~");
    if is_heading || is_item || is_rule || starts_block {
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
            push_cell(&mut text, cell);
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

/// Appends a cell on one line, with its bars escaped that are not yet.
fn push_cell(text: &mut String, cell: &str) {
    let mut is_escaped = false;
    for letter in cell.chars() {
        match letter {
            '\r' | '\n' => text.push(' '),
            '|' if !is_escaped => text.push_str("\\|"),
            letter => text.push(letter),
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
}

/// Whether Markdown says that a table in it leaves rows or columns out; also a document that says the
/// same itself.
pub(crate) fn says_left_out(markdown: &[u8]) -> bool {
    memchr::memmem::find(markdown, b" left out*").is_some()
}

/// What a table leaves out.
pub(crate) fn left_out(rows: usize, columns: usize) -> Option<String> {
    let of_columns = || counted(columns, "column", "columns");
    match (rows, columns) {
        (0, 0) => None,
        (rows, 0) => Some(counted(rows, "more row is left out", "more rows are left out")),
        (0, columns) => {
            Some(counted(columns, "more column is left out", "more columns are left out"))
        }
        (rows, _) => {
            let rows = counted(rows, "more row", "more rows");
            Some(format!("{rows} and {} are left out", of_columns()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{escape, escape_line_start, table};
    use crate::options::Options;

    #[test]
    fn only_marks_that_would_work_are_escaped() {
        for text in
            ["snake_case_name", "a * b", "a > b", "a < b", "[1] and [2]", "R&D", "a|b", "~5"]
        {
            assert_eq!(escape(text), text);
        }
        assert_eq!(escape("*bold* _it_ `code`"), r"\*bold\* \_it\_ \`code\`");
        assert_eq!(escape("[a](b) [^1] <b> &amp; ~~x"), r"[a\](b) \[^1] \<b> \&amp; \~\~x");
        assert_eq!(escape("__init__ Name:_____ ____ a"), r"\_\_init\_\_ Name:_____ ____ a");
        assert_eq!(escape(r"C:\dir \*"), r"C:\dir \\\*");
    }

    #[test]
    fn the_beginning_of_a_line_is_escaped_where_it_is_a_mark() {
        for line in ["-5 degrees", "#1 in sales", "3.5 kg", "*italic* text", "1984 was"] {
            assert_eq!(escape_line_start(line), line);
        }
        let marks = ["# a", "- a", "* a", "1. a", "12) a", "> a", "---", "+", "===", "~~~", "| a"];
        let escaped = marks.map(escape_line_start);
        let wanted = [
            r"\# a", r"\- a", r"\* a", r"1\. a", r"12\) a", r"\> a", r"\---", r"\+", r"\===",
            r"\~~~", r"\| a",
        ];
        assert_eq!(escaped, wanted);
    }

    #[test]
    fn a_bar_in_a_cell_is_escaped_once() {
        let rows = [vec!["a|b".to_owned(), r"c\|d".to_owned()]];
        let text = table(&rows, &Options::default());
        assert_eq!(text, "| a\\|b | c\\|d |\n| --- | --- |\n");
    }
}
