//! Tables of text with aligned columns, and how sizes and ages are written.

use std::time::SystemTime;

use crate::output::{Output, Style, columns, fit, fit_end};

/// A cell: its text, and what it is.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    /// What stands before the text and has no style.
    lead: String,
    text: String,
    style: Option<Style>,
    /// Numbers stand at the right of their column.
    at_right: bool,
    /// Of a URI that is too long, the end is shown.
    keeps_end: bool,
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        let lead = String::new();
        Self { lead, text: text.into(), style: None, at_right: false, keeps_end: false }
    }

    pub(crate) fn styled(style: Style, text: impl Into<String>) -> Self {
        Self { style: Some(style), ..Self::text(text) }
    }

    /// The same, cut at its beginning where it is too long.
    pub(crate) fn keeping_end(self) -> Self {
        Self { keeps_end: true, ..self }
    }

    /// The same behind `lead`, which has no style.
    pub(crate) fn behind(self, lead: String) -> Self {
        Self { lead, ..self }
    }

    /// The cell in its colours.
    pub(crate) fn painted(&self, output: &Output) -> String {
        match self.style.filter(|_| !self.text.is_empty()) {
            Some(style) => format!("{}{}", self.lead, output.paint(style, &self.text)),
            None => format!("{}{}", self.lead, self.text),
        }
    }

    fn columns(&self) -> usize {
        columns(&self.lead) + columns(&self.text)
    }

    /// The same in at most `room` columns.
    pub(crate) fn fitted(&self, room: usize) -> Self {
        let lead = columns(&self.lead);
        if lead >= room {
            return Self { lead: fit(&self.lead, room), text: String::new(), ..self.clone() };
        }
        let room = room - lead;
        let text = match self.keeps_end {
            true => fit_end(&self.text, room),
            false => fit(&self.text, room),
        };
        Self { text, ..self.clone() }
    }

    pub(crate) fn number(text: impl Into<String>) -> Self {
        Self { at_right: true, ..Self::text(text) }
    }
}

/// The least columns of the last cell, and of one that must make room for it.
const MIN_LAST: usize = 8;
const MIN_CELL: usize = 4;

/// The lines of a table. On a terminal the last column is cut to the width, and where that leaves
/// too little of it, the widest of the others.
pub(crate) fn lines(output: &Output, rows: &[Vec<Cell>]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(Cell::columns).max().unwrap_or_default()
    };
    let mut widths: Vec<usize> = (0..count).map(width).collect();
    if let (Some(room), Some((last, others))) = (output.width, widths.split_last_mut()) {
        let leads = rows.iter().filter_map(|row| Some(columns(&row.last()?.lead)));
        let least = leads.max().unwrap_or_default().saturating_add(MIN_CELL).max(MIN_LAST);
        shrink(others, room.saturating_sub(least.min(*last)));
    }
    rows.iter().map(|row| line(output, row, &widths)).collect()
}

/// Takes columns from the widest, until all fit into `room` with the gaps between them.
fn shrink(widths: &mut [usize], room: usize) {
    while widths.iter().map(|width| width + 2).sum::<usize>() > room {
        match widths.iter_mut().max().filter(|widest| **widest > MIN_CELL) {
            Some(widest) => *widest -= 1,
            None => return,
        }
    }
}

fn line(output: &Output, row: &[Cell], widths: &[usize]) -> String {
    let mut line = String::new();
    let mut used = 0;
    for (at, cell) in row.iter().enumerate() {
        let is_last = at + 1 == row.len();
        let room = output.width.map(|width| match is_last {
            true => width.saturating_sub(used).max(MIN_LAST),
            false => widths[at],
        });
        let fitted = room.map(|room| cell.fitted(room));
        let cell = fitted.as_ref().unwrap_or(cell);
        let gap = widths[at].saturating_sub(cell.columns());
        let painted = cell.painted(output);
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

    use super::{Cell, age, lines, shrink, size};
    use crate::output::{Output, columns};

    #[test]
    fn a_narrow_terminal_shows_the_beginning_of_each_column() {
        let rows = [vec![
            Cell::text("resources_read_embedded"),
            Cell::text("pattern= [14 more]"),
            Cell::text("Reads several resources at once"),
        ]];
        for width in [30, 40, 60, 80] {
            let output = Output::to(Box::new(std::io::sink()), Some(width));
            let lines = lines(&output, &rows);
            assert!(columns(&lines[0]) <= width && lines[0].contains("Rea"), "{width}: {lines:?}");
        }
        let wide = Output::to(Box::new(std::io::sink()), None);
        assert!(lines(&wide, &rows)[0].ends_with("resources at once"));
        let mut widths = [4, 30, 9];
        shrink(&mut widths, 10);
        assert_eq!(widths, [4, 4, 4]);
    }

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
