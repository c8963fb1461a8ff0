//! YAML config files: a writer, and edits of one entry as lines, which keep all other lines.
//!
//! The edit knows only the usual block form. [`super::ConfigFile`] parses every result and refuses
//! one that is not what it should be.

use anyhow::Context;
use serde_json::Value;

use super::config_value::ConfigValue;

/// Words that YAML reads as something else than text.
const NOT_TEXT: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// Parses the text of a file; an empty one is an empty mapping.
pub(super) fn parse(text: &str) -> anyhow::Result<Value> {
    let has_content = text.lines().any(|line| !is_blank(line));
    if !has_content {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_saphyr::from_str(text).map_err(|error| {
        // The error quotes the file, which may hold secrets.
        let line = error.location().map_or(1, |location| location.line());
        anyhow::anyhow!("invalid YAML near line {line}")
    })
}

/// A whole document.
pub(super) fn write_document(value: &ConfigValue) -> String {
    let mut text = String::new();
    write_value(&mut text, value, 0);
    text
}

/// Sets the entry `name` in the top-level mapping `key`.
pub(super) fn set(text: &str, key: &str, name: &str, value: &ConfigValue) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let header = lines.iter().position(|line| is_header(line, key)).unwrap_or_else(|| {
        lines.push(format!("{key}:"));
        lines.len() - 1
    });
    // An empty mapping in flow form cannot hold lines.
    lines[header] = lines[header].replace("{}", "").trim_end().to_owned();
    let (end, indent) = section_end(&lines, header);
    let mut block = format!("{}{name}:\n", " ".repeat(indent));
    write_value(&mut block, value, indent + 2);
    let place = find_entry(&lines, header + 1..end, indent, name).unwrap_or(end..end);
    lines.splice(place, block.lines().map(str::to_owned));
    join_lines(text, &lines)
}

/// Removes the entry `name` from the top-level mapping `key`.
pub(super) fn remove(text: &str, key: &str, name: &str) -> anyhow::Result<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let header = lines
        .iter()
        .position(|line| is_header(line, key))
        .with_context(|| format!("no line {key:?} found"))?;
    let (end, indent) = section_end(&lines, header);
    if let Some(place) = find_entry(&lines, header + 1..end, indent, name) {
        lines.drain(place);
    }
    // A mapping without entries would be null.
    if section_end(&lines, header).0 == header + 1 {
        lines[header].push_str(" {}");
    }
    Ok(join_lines(text, &lines))
}

/// The lines as one text, with the line ends of `before`.
fn join_lines(before: &str, lines: &[String]) -> String {
    let end = if before.contains("\r\n") { "\r\n" } else { "\n" };
    lines.join(end) + end
}

fn is_blank(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_header(line: &str, key: &str) -> bool {
    let rest = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(':'));
    rest.is_some_and(|rest| is_blank(rest) || rest.trim() == "{}")
}

/// The line behind the last entry of the mapping at `header`, and the indentation of its entries.
fn section_end(lines: &[String], header: usize) -> (usize, usize) {
    let mut end = header + 1;
    let mut indent = None;
    for (at, line) in lines.iter().enumerate().skip(header + 1) {
        if is_blank(line) {
            continue;
        }
        if indent_of(line) == 0 {
            break;
        }
        indent.get_or_insert(indent_of(line));
        end = at + 1;
    }
    (end, indent.unwrap_or(2))
}

/// The lines of the entry `name`.
fn find_entry(
    lines: &[String],
    within: std::ops::Range<usize>,
    indent: usize,
    name: &str,
) -> Option<std::ops::Range<usize>> {
    let is_entry = |line: &String| {
        let key = line.trim().strip_suffix(':').map(|key| key.trim_matches(['"', '\'']));
        indent_of(line) == indent && key == Some(name)
    };
    let start = within.start + lines[within.clone()].iter().position(is_entry)?;
    let ends = |line: &String| !line.trim().is_empty() && indent_of(line) <= indent;
    let length = lines[start + 1..within.end].iter().position(ends);
    Some(start..length.map_or(within.end, |length| start + 1 + length))
}

fn write_value(text: &mut String, value: &ConfigValue, indent: usize) {
    let margin = " ".repeat(indent);
    match value {
        ConfigValue::Table(pairs) => {
            for (key, value) in pairs {
                match value {
                    ConfigValue::List(list) if !list.is_empty() => {
                        text.push_str(&format!("{margin}{key}:\n"));
                        write_value(text, value, indent + 2);
                    }
                    ConfigValue::Table(_) => {
                        text.push_str(&format!("{margin}{key}:\n"));
                        write_value(text, value, indent + 2);
                    }
                    scalar => text.push_str(&format!("{margin}{key}: {}\n", write_scalar(scalar))),
                }
            }
        }
        ConfigValue::List(list) => {
            for value in list {
                let mut item = String::new();
                write_value(&mut item, value, indent + 2);
                let item = item.get(indent + 2..).unwrap_or_default();
                text.push_str(&format!("{margin}- {item}"));
            }
        }
        scalar => text.push_str(&format!("{margin}{}\n", write_scalar(scalar))),
    }
}

fn write_scalar(value: &ConfigValue) -> String {
    match value {
        ConfigValue::Text(text) => {
            let plain = |c: char| c.is_ascii_alphanumeric() || "/_.-".contains(c);
            let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
                && text.chars().all(plain)
                && !NOT_TEXT.contains(&text.to_ascii_lowercase().as_str());
            // A string of JSON is one of YAML.
            if is_plain { text.clone() } else { Value::from(text.as_str()).to_string() }
        }
        other => Value::from(other).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};
    use serde_json::Value;

    use super::{ConfigValue, parse, remove, set, write_document};

    #[test]
    fn an_entry_is_set_replaced_and_removed_and_line_ends_stay() {
        let value = ConfigValue::table([("cmd", ConfigValue::text("a"))]);
        let before = "extensions:\r\n    one:\r\n        a: 1\r\n\r\n# end\r\nz: 1\r\n";
        let after = set(before, "extensions", "two", &value);
        assert_eq!(
            after,
            "extensions:\r\n    one:\r\n        a: 1\r\n    two:\r\n      cmd: a\r\n\r\n# end\r\nz: 1\r\n"
        );
        assert_eq!(set(&after, "extensions", "two", &value), after);
        assert_eq!(remove(&after, "extensions", "two").unwrap(), before);
        let only = set("extensions: {}\n", "extensions", "two", &value);
        assert_eq!(only, "extensions:\n  two:\n    cmd: a\n");
        assert_eq!(remove(&only, "extensions", "two").unwrap(), "extensions: {}\n");
    }

    proptest! {
        #[test]
        fn any_text_is_written_so_that_yaml_reads_it_back(
            text in any::<String>(), words in prop::collection::vec("[ -~]{0,12}", 0..4),
        ) {
            let value = ConfigValue::table([
                ("text", ConfigValue::text(text)),
                ("words", ConfigValue::texts(&words)),
                ("flag", ConfigValue::Flag(true)),
                ("inner", ConfigValue::List(vec![ConfigValue::table([
                    ("number", ConfigValue::Number(3)),
                    ("words", ConfigValue::texts(&words)),
                ])])),
            ]);
            assert_eq!(parse(&write_document(&value)).unwrap(), Value::from(&value));
        }
    }
}
