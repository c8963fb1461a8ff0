//! Files and hunks of a diff.

use super::{OutlineSymbol, OutlineSymbols};

/// The files of a diff, with their hunks in them.
pub(super) fn files_and_hunks(text: &str) -> OutlineSymbols {
    let mut symbols = OutlineSymbols::default();
    let mut file: Option<usize> = None;
    // How many old and new lines the hunk still has: they may look like headers.
    let mut left = (0_u64, 0_u64);
    let mut old_name = "";
    let mut lines = text.lines().enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        let number = at + 1;
        if left != (0, 0) {
            match line.as_bytes().first() {
                Some(b'-') => left.0 = left.0.saturating_sub(1),
                Some(b'+') => left.1 = left.1.saturating_sub(1),
                Some(b'\\') => {}
                Some(b' ') | None => left = (left.0.saturating_sub(1), left.1.saturating_sub(1)),
                Some(_) => left = (0, 0),
            }
            if left != (0, 0) || line.starts_with(['-', '+', ' ']) {
                extend(&mut symbols, file, number);
                continue;
            }
        }
        if let Some(names) = line.strip_prefix("diff ") {
            let name = names.rsplit(" b/").next().unwrap_or(names);
            file = push(&mut symbols, name, "file", number, 0);
        } else if let Some(name) = line.strip_prefix("--- ") {
            old_name = name;
            let is_own = lines.peek().is_some_and(|(_, next)| next.starts_with("+++ "));
            let is_in_header = file.is_some_and(|file| {
                symbols.list.len() == file + 1 && number <= symbols.list[file].start_line + 8
            });
            if is_own && !is_in_header {
                file = push(&mut symbols, "", "file", number, 0);
            }
        } else if let Some(name) = line.strip_prefix("+++ ") {
            let name = if name.starts_with("/dev/null") { old_name } else { name };
            if let Some(symbol) = file.and_then(|file| symbols.list.get_mut(file)) {
                symbol.name = plain_name(name);
            }
        } else if let Some(ranges) = line.strip_prefix("@@ ") {
            left = hunk_lengths(ranges);
            push(&mut symbols, line, "hunk", number, 1);
        }
        extend(&mut symbols, file, number);
    }
    symbols
}

fn push(
    symbols: &mut OutlineSymbols,
    name: &str,
    kind: &'static str,
    line: usize,
    depth: usize,
) -> Option<usize> {
    let name = name.to_owned();
    symbols.push(OutlineSymbol { name, kind, start_line: line, end_line: line, depth })
}

/// The file and its last hunk reach to `line`.
fn extend(symbols: &mut OutlineSymbols, file: Option<usize>, line: usize) {
    if let Some(symbol) = file.and_then(|file| symbols.list.get_mut(file)) {
        symbol.end_line = line;
    }
    if let Some(hunk) = symbols.list.last_mut().filter(|symbol| symbol.kind == "hunk") {
        hunk.end_line = line;
    }
}

/// The name of a file without the mark of its side and without its date.
fn plain_name(name: &str) -> String {
    let name = name.split('\t').next().unwrap_or(name).trim();
    name.strip_prefix("b/").or_else(|| name.strip_prefix("a/")).unwrap_or(name).to_owned()
}

/// How many lines a hunk has, from `-1,2 +3,4 @@`.
fn hunk_lengths(ranges: &str) -> (u64, u64) {
    let length = |mark: char| {
        let range = ranges.split(' ').find_map(|range| range.strip_prefix(mark));
        let range = range.unwrap_or("0,0");
        range.split_once(',').map_or(1, |(_, length)| length.parse().unwrap_or(0))
    };
    (length('-'), length('+'))
}
