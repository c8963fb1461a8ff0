//! How do the figures reach a person?

use std::{
    io::{self, Write as _},
    time::Duration,
};

use crate::{
    itself,
    versus::{self, Bar, Comparison},
};

/// Says on standard error what is being done; nobody is hurt if that cannot be written.
pub(crate) fn progress(words: &str) {
    let _ = writeln!(io::stderr(), "bench: {words}");
}

/// Prints both tables on standard output.
///
/// # Errors
/// When standard output cannot be written.
pub fn print(versus: &[versus::Row], itself: &[itself::Row], markdown: bool) -> io::Result<()> {
    let mut tables = Vec::new();
    if !versus.is_empty() {
        tables.push(table(&versus_cells(versus), markdown));
    }
    if !itself.is_empty() {
        tables.push(table(&itself_cells(itself), markdown));
    }
    io::stdout().write_all(tables.join("\n").as_bytes())
}

fn versus_cells(rows: &[versus::Row]) -> Vec<Vec<String>> {
    let head = ["work", "served by", "req/s", "p50", "p99", "CPU/request", "peak memory"];
    let tail = ["CPU ratio", "memory ratio", "bar", "met"];
    let mut cells = vec![head.iter().chain(&tail).map(|cell| (*cell).to_owned()).collect()];
    for row in rows {
        let figures = &row.figures;
        let mut line = vec![
            row.work.to_owned(),
            row.source.name().to_owned(),
            format!("{:.0}", figures.rate),
            time(figures.p50),
            time(figures.p99),
            time(figures.cpu),
            bytes(figures.peak),
        ];
        line.extend(
            row.comparison.as_ref().map_or_else(|| ["", "", "", ""].map(Into::into), verdict),
        );
        cells.push(line);
    }
    cells
}

fn verdict(comparison: &Comparison) -> [String; 4] {
    [
        format!("{:.2}", comparison.cpu),
        format!("{:.2}", comparison.memory),
        bar(comparison.bar),
        yes_or_no(comparison.is_met()),
    ]
}

fn bar(bar: Bar) -> String {
    let memory = bar.memory.map_or_else(String::new, |most| format!(", memory ≤ {most:.2}"));
    format!("CPU ≤ {:.2}{memory}", bar.cpu)
}

fn itself_cells(rows: &[itself::Row]) -> Vec<Vec<String>> {
    let head = ["work", "measured", "against", "ratio", "bar", "met"];
    let mut cells = vec![head.map(Into::into).into()];
    for row in rows {
        cells.push(vec![
            row.work.clone(),
            row.figure.clone(),
            row.against.clone(),
            row.ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
            row.bar.to_owned(),
            yes_or_no(row.met),
        ]);
    }
    cells
}

fn yes_or_no(met: bool) -> String {
    if met { "yes" } else { "NO" }.to_owned()
}

fn table(cells: &[Vec<String>], markdown: bool) -> String {
    let columns = cells.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut lines = Vec::new();
    for row in cells {
        let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        lines.push(line(&padded.collect::<Vec<_>>(), markdown));
    }
    if markdown {
        let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        lines.insert(1, line(&rules, markdown));
    }
    lines.concat()
}

fn line(cells: &[String], markdown: bool) -> String {
    if markdown {
        format!("| {} |\n", cells.join(" | "))
    } else {
        format!("{}\n", cells.join("  ").trim_end())
    }
}

/// A time in the unit that suits it.
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        _ if seconds < 1e-3 => format!("{:.1} µs", seconds * 1e6),
        _ if seconds < 1.0 => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

/// A number of bytes, in megabytes of a million.
pub(crate) fn bytes(bytes: u64) -> String {
    format!("{:.1} MB", crate::measure::ratio(bytes, 1_000_000))
}

/// A number with its thousands apart.
pub(crate) fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{bytes, count, table, time};

    #[test]
    fn numbers_are_written_as_people_write_them() {
        assert_eq!(count(1_000_000), "1,000,000");
        assert_eq!(count(100), "100");
        assert_eq!(bytes(99_950_000), "100.0 MB");
        assert_eq!(time(Duration::from_micros(42)), "42.0 µs");
        assert_eq!(time(Duration::from_millis(1_500)), "1.50 s");
    }

    #[test]
    fn a_markdown_table_has_a_rule_under_its_head() {
        let cells = vec![vec!["a".to_owned(), "bc".to_owned()], vec!["é".into(), "d".into()]];
        assert_eq!(table(&cells, true), "| a | bc |\n| - | -- |\n| é | d  |\n");
    }
}
