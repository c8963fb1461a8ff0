//! Tables of text with aligned columns, and how sizes and ages are written.

use std::time::SystemTime;

use crate::output::{Output, Style, columns, fit, fit_end};

/// A cell: its text, and what it is.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Option<Style>,
    /// Numbers stand at the right of their column.
    at_right: bool,
    /// Of a URI that is too long, the end is shown.
    keeps_end: bool,
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), style: None, at_right: false, keeps_end: false }
    }

    pub(crate) fn styled(style: Style, text: impl Into<String>) -> Self {
        Self { style: Some(style), ..Self::text(text) }
    }

    /// The same, cut at its beginning where it is too long.
    pub(crate) fn keeping_end(self) -> Self {
        Self { keeps_end: true, ..self }
    }

    pub(crate) fn number(text: impl Into<String>) -> Self {
        Self { at_right: true, ..Self::text(text) }
    }
}

/// The lines of a table. On a terminal the last column is cut to the width.
pub(crate) fn lines(output: &Output, rows: &[Vec<Cell>]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| columns(&cell.text)).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    rows.iter().map(|row| line(output, row, &widths)).collect()
}

fn line(output: &Output, row: &[Cell], widths: &[usize]) -> String {
    let mut line = String::new();
    let mut used = 0;
    for (at, cell) in row.iter().enumerate() {
        let is_last = at + 1 == row.len();
        let room = output.width.map(|width| width.saturating_sub(used).max(8));
        let text = match room.filter(|_| is_last) {
            Some(room) if cell.keeps_end => fit_end(&cell.text, room),
            Some(room) => fit(&cell.text, room),
            None => cell.text.clone(),
        };
        let gap = widths[at].saturating_sub(columns(&text));
        let painted = match cell.style {
            Some(style) if !text.is_empty() => output.paint(style, &text),
            _ => text,
        };
        match (cell.at_right, is_last) {
            (true, _) => line.push_str(&format!("{}{painted}", " ".repeat(gap))),
            (false, true) => line.push_str(&painted),
            (false, false) => line.push_str(&format!("{painted}{}", " ".repeat(gap))),
        }
        if !is_last {
            line.push_str("  ");
        }
        used += widths[at] + 2;
    }
    line.truncate(line.trim_end().len());
    line
}

/// A size for a person: 812, 12K, 3.4M.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["", "K", "M", "G", "T", "P"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 999.5 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    match size < 9.95 && unit > 0 {
        true => format!("{size:.1}{}", UNITS[unit]),
        false => format!("{size:.0}{}", UNITS[unit]),
    }
}

/// How long ago something was: 12s, 5m, 3h, 2d, 4mo, 6y.
pub(crate) fn age(then: SystemTime, now: SystemTime) -> String {
    let Ok(passed) = now.duration_since(then) else { return "0s".to_owned() };
    let seconds = passed.as_secs();
    const UNITS: [(u64, &str); 6] =
        [(31_557_600, "y"), (2_629_800, "mo"), (86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")];
    let unit = UNITS.into_iter().find(|(length, _)| seconds >= *length);
    unit.map_or("0s".to_owned(), |(length, unit)| format!("{}{unit}", seconds / length))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{age, size};

    #[test]
    fn sizes_have_two_or_three_digits() {
        let sizes = [0, 812, 999, 1_023, 1_536, 12_345, 1_048_576, 5_368_709_120].map(size);
        assert_eq!(sizes, ["0", "812", "999", "1.0K", "1.5K", "12K", "1.0M", "5.0G"]);
    }

    #[test]
    fn ages_are_whole_units_and_never_negative() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(100_000_000);
        let ages = [0, 59, 60, 7_200, 90_000, 40_000_000]
            .map(|seconds| age(now - Duration::from_secs(seconds), now));
        assert_eq!(ages, ["0s", "59s", "1m", "2h", "1d", "1y"]);
        assert_eq!(age(now + Duration::from_secs(9), now), "0s");
    }
}
