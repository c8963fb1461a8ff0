//! Comma-separated and tab-separated values.

use serde_json::json;

use super::write_csv::push_field;
use crate::conversion::Conversion;
use crate::decode::decode;
use crate::document::{Document, DocumentKind};
use crate::error::ConvertError;
use crate::form::Form;
use crate::markdown::{escape, left_out, table};
use crate::options::Options;

/// The bytes that are looked at to tell the delimiter.
const SAMPLE_BYTES: usize = 64 << 10;

/// The most fields of a record, as many as a sheet has columns.
const MAX_FIELDS: usize = 16_384;

/// Converts comma-separated or tab-separated values.
pub(super) fn convert(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    let text = decode(document.bytes, None);
    if text.contains('\0') {
        return Err(ConvertError::damaged("the document is no text: it has NUL characters"));
    }
    let delimiter = match document.kind {
        DocumentKind::Tsv => '\t',
        _ => delimiter(&text),
    };
    let mut records = Records::new(&text, delimiter);
    let mut converted = match form {
        Form::Markdown => to_markdown(&mut records, document.options),
        Form::Csv => to_csv(&mut records, document.options),
        Form::Json => to_json(&mut records, document.options),
        form => return Err(ConvertError::no_form(document.kind, form)),
    };
    if records.left_fields > 0 {
        converted.cut(format!(
            "{} fields are left out: a record has over {MAX_FIELDS} of them",
            records.left_fields
        ));
    }
    Ok(converted)
}

/// The delimiter of the values: the one that gives the most records the same number of fields,
/// over one.
fn delimiter(text: &str) -> char {
    let end = text.floor_char_boundary(SAMPLE_BYTES);
    let is_cut = end < text.len();
    let score = |delimiter: char| {
        let records = Records::new(&text[..end], delimiter);
        let mut counts: Vec<_> = records.map(|record| record.len()).collect();
        if is_cut {
            counts.pop();
        }
        let Some(first) = counts.first().copied().filter(|first| *first > 1) else { return 0 };
        let equal = counts.iter().filter(|count| **count == first).count();
        equal * 1_000 / counts.len() * 1_000 + first.min(999)
    };
    let found = [',', ';', '\t', '|'].map(|delimiter| (score(delimiter), delimiter));
    // On a draw the comma wins.
    let best = found.iter().rev().max_by_key(|(score, _)| *score);
    best.filter(|best| best.0 > 0).map_or(',', |best| best.1)
}

/// The records of a text, each as its fields.
struct Records<'a> {
    rest: &'a str,
    delimiter: char,
    /// How many fields lie over the limit.
    left_fields: usize,
}

impl<'a> Records<'a> {
    fn new(rest: &'a str, delimiter: char) -> Self {
        Self { rest, delimiter, left_fields: 0 }
    }
}

impl Iterator for Records<'_> {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Vec<String>> {
        if self.rest.is_empty() {
            return None;
        }
        let mut record = Vec::new();
        loop {
            let (field, rest, is_last) = field(self.rest, self.delimiter);
            if record.len() < MAX_FIELDS {
                record.push(field);
            } else {
                self.left_fields += 1;
            }
            self.rest = rest;
            if is_last {
                return Some(record);
            }
        }
    }
}

/// The first field of `text`, the rest, and whether the field is the last of its record.
fn field(text: &str, delimiter: char) -> (String, &str, bool) {
    let mut field = String::new();
    let mut rest = text;
    if let Some(quoted) = text.strip_prefix('"') {
        rest = quoted;
        loop {
            let Some(at) = rest.find('"') else {
                // The quote never ends: it is a part of the text, which then ends at its line.
                field.clear();
                rest = text;
                break;
            };
            field.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            match rest.strip_prefix('"') {
                Some(more) => {
                    field.push('"');
                    rest = more;
                }
                None => break,
            }
        }
    }
    let end = rest.find([delimiter, '\n', '\r']);
    let Some(end) = end else {
        field.push_str(rest);
        return (field, "", true);
    };
    field.push_str(&rest[..end]);
    let after = &rest[end..];
    if let Some(after) = after.strip_prefix(delimiter) {
        // An empty field at the very end of the text is none.
        let is_last = after.is_empty();
        return (field, after, is_last);
    }
    let after = after.strip_prefix("\r\n").unwrap_or_else(|| &after[1..]);
    (field, after, true)
}

fn is_blank(record: &[String]) -> bool {
    matches!(record, [only] if only.trim().is_empty())
}

fn to_markdown(records: &mut Records<'_>, options: &Options) -> Conversion {
    let mut rows = Vec::new();
    let mut left_rows = 0;
    let mut columns = 0;
    for record in records.filter(|record| !is_blank(record)) {
        if rows.len() > options.max_table_rows {
            left_rows += 1;
            continue;
        }
        columns = columns.max(record.len());
        let fields = record.iter().take(options.max_table_columns);
        let escaped = fields.map(|field| {
            let text = escape(field.trim());
            text.replace("\r\n", "\n").replace(['\n', '\r'], "<br>")
        });
        rows.push(escaped.collect());
    }
    let mut text = table(&rows, options);
    let left_columns = columns.saturating_sub(options.max_table_columns);
    if let Some(words) = left_out(left_rows, left_columns) {
        text.push_str(&format!("\n*{words}*\n"));
    }
    Conversion::text(text)
}

fn to_csv(records: &mut Records<'_>, options: &Options) -> Conversion {
    let mut converted = Conversion::default();
    for record in records {
        for (at, field) in record.iter().enumerate() {
            if at > 0 {
                converted.body.push(b',');
            }
            push_field(&mut converted.body, field);
        }
        converted.body.push(b'\n');
        if converted.body.len() > options.max_output_bytes {
            converted.cut(OVER_LIMIT);
            break;
        }
    }
    converted
}

const OVER_LIMIT: &str = "rows are left out: the result is over the limit of bytes";

/// An array of objects if the first record can name their members, else of arrays.
fn to_json(records: &mut Records<'_>, options: &Options) -> Conversion {
    let mut records = records.filter(|record| !is_blank(record)).peekable();
    let header = records.peek().filter(|record| is_header(record)).cloned();
    if header.is_some() {
        records.next();
    }
    let mut converted = Conversion::default();
    converted.push_str("[");
    for (at, record) in records.enumerate() {
        converted.push_str(if at == 0 { "\n" } else { ",\n" });
        let start = converted.body.len();
        let row = match &header {
            Some(names) => object(names, &record),
            None => json!(record).to_string(),
        };
        converted.push_str(&row);
        if converted.body.len() > options.max_output_bytes {
            converted.body.truncate(start.saturating_sub(2));
            converted.cut(OVER_LIMIT);
            break;
        }
    }
    converted.push_str("\n]\n");
    converted
}

/// Whether a record can name the members of objects: different names, none empty, none a number.
fn is_header(record: &[String]) -> bool {
    let mut names: Vec<_> = record.iter().map(|name| name.trim()).collect();
    let are_names = names.iter().all(|name| !name.is_empty() && name.parse::<f64>().is_err());
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    are_names && names.len() == count && count > 1
}

/// A record as an object, its members in the order of the header.
fn object(names: &[String], record: &[String]) -> String {
    let mut text = String::from("{");
    for (at, field) in record.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        // A record longer than the header numbers the rest of its fields.
        let number = (at + 1).to_string();
        let name = names.get(at).map_or(number.as_str(), |name| name.trim());
        text.push_str(&format!("{comma}{}:{}", json!(name), json!(field)));
    }
    text.push('}');
    text
}

#[cfg(test)]
mod tests {
    use super::{Records, delimiter};
    use crate::{Conversion, Document, DocumentKind, Form, Options, convert};

    fn converted(text: &[u8], kind: DocumentKind, form: Form) -> Conversion {
        let options = Options { max_table_rows: 3, max_table_columns: 3, ..Options::default() };
        convert(&Document { kind, bytes: text, name: "", options: &options }, form).unwrap()
    }

    fn body(text: &str, kind: DocumentKind, form: Form) -> String {
        String::from_utf8(converted(text.as_bytes(), kind, form).body).unwrap()
    }

    #[test]
    fn quotes_line_ends_and_ragged_records_are_parsed() {
        let text = "a,\"b \"\"x\"\",\ny\",c\r\n1,\n\"\"\n\"no end,2";
        let records: Vec<_> = Records::new(text, ',').collect();
        let expected =
            [vec!["a", "b \"x\",\ny", "c"], vec!["1", ""], vec![""], vec!["\"no end", "2"]];
        assert_eq!(records, expected);
    }

    #[test]
    fn the_delimiter_is_told_by_the_records() {
        assert_eq!(delimiter("a;b;c\n1,5;2;3\n"), ';');
        assert_eq!(delimiter("a,b\n\"x;y;z\",2\n"), ',');
        assert_eq!(delimiter("a\tb\n1\t2\n"), '\t');
        assert_eq!(delimiter("a|b\n1|2\n"), '|');
        assert_eq!(delimiter("one column\nof text\n"), ',');
    }

    #[test]
    fn a_table_is_bounded_and_says_what_it_leaves_out() {
        let text = "a,b,c,d\n1,2,3,4\nx|y,\"two\nlines\",3,4\n5,6,7,8\n9,9,9,9\n";
        assert_eq!(
            body(text, DocumentKind::Csv, Form::Markdown),
            "| a | b | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| x\\|y | two<br>lines | 3 |\n\
             | 5 | 6 | 7 |\n\n*1 more row and 1 column are left out*\n"
        );
    }

    #[test]
    fn json_has_objects_if_the_header_names_them() {
        let objects = body("id,名前\n1,田中\n2,\"鈴,木\",3\n", DocumentKind::Csv, Form::Json);
        let expected = "[\n{\"id\":\"1\",\"名前\":\"田中\"},\n{\"id\":\"2\",\"名前\":\"鈴,木\",\"3\":\"3\"}\n]\n";
        assert_eq!(objects, expected);
        assert_eq!(
            body("1,2\n3,4\n", DocumentKind::Csv, Form::Json),
            "[\n[\"1\",\"2\"],\n[\"3\",\"4\"]\n]\n"
        );
    }

    #[test]
    fn json_over_the_limit_is_cut_between_records() {
        let text = "a,b\n".to_owned() + &"1,2\n".repeat(100);
        let options = Options { max_output_bytes: 60, ..Options::default() };
        let document = Document {
            kind: DocumentKind::Csv,
            bytes: text.as_bytes(),
            name: "",
            options: &options,
        };
        let converted = convert(&document, Form::Json).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&converted.body).unwrap();
        assert!(!value.as_array().unwrap().is_empty());
        assert_eq!(converted.losses.len(), 1);
    }

    #[test]
    fn tabs_become_commas() {
        assert_eq!(body("a\tb,c\n\"q\"\t2\n", DocumentKind::Tsv, Form::Csv), "a,\"b,c\"\nq,2\n");
    }

    #[test]
    fn a_charset_and_a_byte_order_mark_are_read() {
        let (shift_jis, _, _) =
            encoding_rs::SHIFT_JIS.encode("名前,住所\n田中さん,東京都新宿区西新宿\n");
        let converted = converted(&shift_jis, DocumentKind::Csv, Form::Markdown);
        assert!(
            String::from_utf8(converted.body)
                .unwrap()
                .contains("| 田中さん | 東京都新宿区西新宿 |")
        );
        assert!(body("\u{feff}a,b\n", DocumentKind::Csv, Form::Markdown).starts_with("| a | b |"));
    }
}
