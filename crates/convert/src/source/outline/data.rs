//! Keys of JSON, YAML, TOML and INI, of the first levels.

use super::{OutlineSymbol, OutlineSymbols};

/// The deepest level of keys.
const MAX_KEY_DEPTH: usize = 3;

fn key(name: &str, line: usize, depth: usize) -> OutlineSymbol {
    let name = name.to_owned();
    OutlineSymbol { name, kind: "key", start_line: line, end_line: line, depth }
}

/// The keys of JSON, or of values of JSON one after the other.
pub(super) fn json_keys(text: &str) -> OutlineSymbols {
    let mut scanner = JsonScanner::default();
    let mut bytes = text.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\n' => scanner.line += 1,
            b'"' => {
                let mut end = at + 1;
                while let Some((inner, byte)) = bytes.next() {
                    end = inner;
                    match byte {
                        b'"' => break,
                        b'\\' => drop(bytes.next()),
                        b'\n' => scanner.line += 1,
                        _ => {}
                    }
                }
                scanner.last_text = (at + 1, end);
            }
            // Comments, which settings of editors have.
            b'/' if bytes.peek().is_some_and(|(_, next)| *next == b'/') => {
                while bytes.next_if(|(_, byte)| *byte != b'\n').is_some() {}
            }
            b':' => scanner.take_key(text),
            b'{' | b'[' => scanner.open.push(None),
            b'}' | b']' => scanner.close(),
            _ => {}
        }
    }
    while !scanner.open.is_empty() {
        scanner.close();
    }
    scanner.symbols
}

#[derive(Default)]
struct JsonScanner {
    symbols: OutlineSymbols,
    /// The line before which no line feed was read, counted from 0.
    line: usize,
    /// By open bracket: the key whose value is being read.
    open: Vec<Option<usize>>,
    last_text: (usize, usize),
}

impl JsonScanner {
    fn take_key(&mut self, text: &str) {
        let depth = self.open.len().saturating_sub(1);
        let (start, end) = self.last_text;
        if self.open.is_empty() || depth >= MAX_KEY_DEPTH {
            return;
        }
        let name = text.get(start..end).unwrap_or("");
        let place = self.symbols.push(key(name, self.line + 1, self.key_depth()));
        if let Some(open) = self.open.last_mut() {
            *open = place;
        }
    }

    /// How many keys are around the next one: arrays have none.
    fn key_depth(&self) -> usize {
        let (_, around) = self.open.split_last().unwrap_or((&None, &[]));
        around.iter().flatten().count()
    }

    fn close(&mut self) {
        self.open.pop();
        if let Some(place) = self.open.last().copied().flatten() {
            self.symbols.list[place].end_line = self.line + 1;
        }
    }
}

/// The keys of YAML, by indents. Texts of several lines are no keys.
pub(super) fn yaml_keys(text: &str) -> OutlineSymbols {
    let mut symbols = OutlineSymbols::default();
    // The keys around a line: their indents, and where they are in the list.
    let mut open: Vec<(usize, Option<usize>)> = Vec::new();
    // The indent of the key whose text of several lines is being read.
    let mut text_indent: Option<usize> = None;
    let mut last_line = 0;
    for (at, line) in text.lines().enumerate() {
        let content = line.trim_start_matches([' ', '\t']);
        if content.trim().is_empty() || content.starts_with('#') {
            continue;
        }
        let indent = line.len() - content.len();
        if text_indent.is_some_and(|outer| indent > outer) {
            last_line = at + 1;
            continue;
        }
        text_indent = None;
        let dashes = content.len() - content.trim_start_matches(['-', ' ']).len();
        let is_item = content.starts_with("- ");
        let (indent, content) =
            if is_item { (indent + dashes, &content[dashes..]) } else { (indent, content) };
        let is_deeper = |outer: usize| outer < indent;
        while open.last().is_some_and(|(outer, _)| !is_deeper(*outer)) {
            end_at(&mut symbols, open.pop(), last_line);
        }
        last_line = at + 1;
        if let Some((name, value)) = yaml_key(content) {
            let place = (open.len() < MAX_KEY_DEPTH)
                .then(|| symbols.push(key(name, at + 1, open.len())))
                .flatten();
            open.push((indent, place));
            if value.starts_with(['|', '>']) {
                text_indent = Some(indent);
            }
        }
    }
    while !open.is_empty() {
        end_at(&mut symbols, open.pop(), last_line);
    }
    symbols
}

fn end_at(symbols: &mut OutlineSymbols, open: Option<(usize, Option<usize>)>, line: usize) {
    let place = open.and_then(|(_, place)| place);
    if let Some(symbol) = place.and_then(|place| symbols.list.get_mut(place)) {
        symbol.end_line = line.max(symbol.start_line);
    }
}

/// The key and value of a line of YAML.
fn yaml_key(content: &str) -> Option<(&str, &str)> {
    let quote = content.chars().next().filter(|letter| matches!(letter, '"' | '\''));
    let (name, rest) = match quote {
        Some(quote) => content[1..].split_once(quote)?,
        None => content.split_once(':').map(|(name, _)| (name, &content[name.len()..]))?,
    };
    let value = rest.trim_start().strip_prefix(':')?;
    let is_key = !name.is_empty() && (value.is_empty() || value.starts_with([' ', '\t']));
    let is_flow = name.starts_with(['{', '[', '&', '*', '!', '?', '%', '|', '>']);
    (is_key && !is_flow).then(|| (name.trim(), value.trim()))
}

/// The tables and keys of TOML, INI and files like them.
pub(super) fn table_keys(text: &str) -> OutlineSymbols {
    let mut symbols = OutlineSymbols::default();
    let mut table: Option<usize> = None;
    let mut is_in_table = false;
    let mut last_key: Option<usize> = None;
    // What ends the value that is being read.
    let mut quote: Option<&str> = None;
    for (at, line) in text.lines().enumerate() {
        let content = line.trim();
        if let Some(mark) = quote {
            extend(&mut symbols, [table, last_key], at + 1);
            if content.contains(mark) {
                quote = None;
            }
            continue;
        }
        if content.is_empty() || content.starts_with(['#', ';', '!']) {
            continue;
        }
        let header = content.strip_prefix('[').and_then(|rest| rest.rsplit_once(']'));
        let is_indented = line.starts_with([' ', '\t']) && last_key.is_some();
        if let Some((name, _)) = header.filter(|_| !is_indented) {
            let name = name.trim_matches(['[', ']']).trim();
            table = symbols.push(key(name, at + 1, 0));
            (is_in_table, last_key) = (true, None);
        } else if let Some((name, value)) =
            content.split_once(['=', ':']).filter(|_| is_key(content))
        {
            last_key =
                symbols.push(key(name.trim().trim_matches('"'), at + 1, usize::from(is_in_table)));
            quote = ["\"\"\"", "'''"].into_iter().find(|mark| {
                value.trim_start().starts_with(mark) && value.matches(mark).count() == 1
            });
        }
        extend(&mut symbols, [table, last_key], at + 1);
    }
    symbols
}

/// Whether a line of a table begins with a key, not with a part of a value.
fn is_key(content: &str) -> bool {
    !content.starts_with(['{', '[', ']', '}', '"', '\''])
        || content.contains("\" =")
        || content.contains("\"=")
}

fn extend(symbols: &mut OutlineSymbols, places: [Option<usize>; 2], line: usize) {
    for place in places.into_iter().flatten() {
        symbols.list[place].end_line = line;
    }
}
