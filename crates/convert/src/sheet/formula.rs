//! Formulas: references that move with a cell, and the notation of OpenDocument.

use super::grid::{cell_address, column_letters, parse_address};

/// A formula as it reads in a cell that lies `rows` and `columns` away from the one it stands in.
/// References move along unless a `$` holds them.
pub(crate) fn shifted(formula: &str, rows: i64, columns: i64) -> String {
    let mut text = String::with_capacity(formula.len());
    let mut rest = formula;
    let mut before = None;
    while let Some(letter) = rest.chars().next() {
        if letter == '"' || letter == '\'' {
            let end = rest[1..].find(letter).map_or(rest.len(), |at| at + 2);
            text.push_str(&rest[..end]);
            rest = &rest[end..];
            before = Some(letter);
            continue;
        }
        let is_word = |one: char| one.is_alphanumeric() || matches!(one, '_' | '$' | '.');
        if !is_word(letter) || before.is_some_and(is_word) {
            text.push(letter);
            before = Some(letter);
            rest = &rest[letter.len_utf8()..];
            continue;
        }
        let end = rest.find(|one| !is_word(one)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is_name = after.starts_with(['(', '!']);
        match moved_address(word, rows, columns).filter(|_| !is_name) {
            Some(address) => text.push_str(&address),
            None => text.push_str(word),
        }
        before = word.chars().last();
        rest = after;
    }
    text
}

fn moved_address(word: &str, rows: i64, columns: i64) -> Option<String> {
    let (row, column) = parse_address(word)?;
    let digits = word.find(|one: char| one.is_ascii_digit())?;
    let letters = &word[..digits];
    let is_column_held = letters.starts_with('$');
    let is_row_held = letters.len() > 1 && letters.ends_with('$');
    let moved = |at: u32, by: i64, is_held: bool| {
        u32::try_from(i64::from(at) + if is_held { 0 } else { by }).ok()
    };
    let column = moved(column, columns, is_column_held)?;
    let row = moved(row, rows, is_row_held)?;
    if !is_column_held && !is_row_held {
        return Some(cell_address(row, column));
    }
    let mark = |is_held| if is_held { "$" } else { "" };
    let letters = column_letters(column);
    Some(format!("{}{letters}{}{}", mark(is_column_held), mark(is_row_held), row + 1))
}

/// A formula of Excel without the marks of functions that older programs lack.
pub(crate) fn without_prefixes(formula: &str) -> String {
    formula.replace("_xlfn.", "").replace("_xlws.", "").trim_start_matches('=').to_owned()
}

/// A formula of OpenDocument in the notation that people read: `of:=SUM([.A1:.A3])` is
/// `SUM(A1:A3)`.
pub(crate) fn of_open_document(formula: &str) -> String {
    let formula = formula.split_once(":=").map_or(formula, |(_, after)| after);
    let formula = formula.trim_start_matches('=');
    let mut text = String::with_capacity(formula.len());
    let mut is_text = false;
    let mut is_reference = false;
    let mut before = ' ';
    for letter in formula.chars() {
        match letter {
            '"' => {
                is_text = !is_text;
                text.push(letter);
            }
            '[' if !is_text => is_reference = true,
            ']' if !is_text => is_reference = false,
            // The point before an address of the same sheet.
            '.' if is_reference && matches!(before, '[' | ':') => {}
            other => text.push(other),
        }
        before = letter;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{of_open_document, shifted, without_prefixes};

    #[test]
    fn references_move_unless_they_are_held() {
        assert_eq!(shifted("A1+$B$1*C$2-$D4", 2, 1), "B3+$B$1*D$2-$D6");
        assert_eq!(shifted("SUM(A1:A3)&\"A1\"", 1, 0), "SUM(A2:A4)&\"A1\"");
        assert_eq!(shifted("LOG10(B2)+'A1 x'!C3+Sheet2!C3", 1, 1), "LOG10(C3)+'A1 x'!D4+Sheet2!D4");
        assert_eq!(shifted("売上!A1", 1, 0), "売上!A2");
        assert_eq!(shifted("A1", -5, 0), "A1");
    }

    #[test]
    fn formulas_of_open_document_read_as_in_other_programs() {
        assert_eq!(of_open_document("of:=SUM([.A1:.A3])*1.5"), "SUM(A1:A3)*1.5");
        assert_eq!(of_open_document("of:=[$Sheet2.B1]&\"[.x]\""), "$Sheet2.B1&\"[.x]\"");
        assert_eq!(without_prefixes("_xlfn.CONCAT(A1)"), "CONCAT(A1)");
    }
}
