//! Formats the measurements as text or Markdown tables.

use std::{
    io::{self, Write as _},
    time::Duration,
};

use crate::{
    gateway_bench,
    peer_bench::{self, Comparison, CostTarget},
    scaling_bench, soak,
};

/// Prints the current step to standard error; ignores write errors.
pub(crate) fn progress(words: &str) {
    let _ = writeln!(io::stderr(), "bench: {words}");
}

/// The tables to print.
pub struct Tables {
    texts: Vec<String>,
    markdown: bool,
}

impl Tables {
    /// No tables yet.
    #[must_use]
    pub const fn new(markdown: bool) -> Self {
        Self { texts: Vec::new(), markdown }
    }

    /// Adds refdesk against the peer.
    pub fn versus(&mut self, rows: &[peer_bench::PeerRow]) {
        self.add(&versus_cells(rows));
    }

    /// Adds refdesk against itself.
    pub fn itself(&mut self, rows: &[scaling_bench::ScalingRow]) {
        self.add(&itself_cells(rows));
    }

    /// Adds the gateways.
    pub fn through(&mut self, rows: &[gateway_bench::GatewayRow]) {
        self.add(&through_cells(rows));
    }

    /// Adds the figures of a soak.
    pub fn soak(&mut self, figures: &soak::SoakFigures) {
        self.add(&soak_cells(figures));
    }

    fn add(&mut self, cells: &[Vec<String>]) {
        // Skip a table without rows.
        if cells.len() > 1 {
            self.texts.push(table(cells, self.markdown));
        }
    }

    /// Writes all tables to standard output.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn print(&self) -> io::Result<()> {
        io::stdout().write_all(self.texts.join("\n").as_bytes())
    }
}

fn soak_cells(figures: &soak::SoakFigures) -> Vec<Vec<String>> {
    let soak::SoakFigures { quiet, attacked, .. } = figures;
    let row = |name: &str, before: String, after: String| vec![name.to_owned(), before, after];
    let count = |number: usize| number.to_string();
    let mut cells = vec![
        row("soak", "quiet".to_owned(), "under attack".to_owned()),
        row("requests of honest clients", count(quiet.requests), count(attacked.requests)),
        row("of them failed", count(quiet.failed), count(attacked.failed)),
        row("p50", time(quiet.p50), time(attacked.p50)),
        row("p99", time(quiet.p99), time(attacked.p99)),
        row("slowest", time(quiet.slowest), time(attacked.slowest)),
        row("changes told", count(quiet.changes), count(attacked.changes)),
        row("memory at the end", bytes(figures.memory_start), bytes(figures.memory_end)),
        row("memory in the middle", String::new(), bytes(figures.memory_half)),
        row("peak memory", String::new(), bytes(figures.memory_peak)),
        row("descriptors", count(figures.files_start), count(figures.files_end)),
        row("processes left", String::new(), count(figures.processes_left)),
    ];
    let kinds = soak::ClientKind::ALL.iter().zip(quiet.by_kind.iter().zip(attacked.by_kind));
    for ((kind, name), (before, after)) in kinds {
        let answered = (count(before.requests), count(after.requests));
        cells.push(row(&format!("requests of {name} clients"), answered.0, answered.1));
        cells.push(row(&format!("p99 of {name} clients"), time(before.p99), time(after.p99)));
        if soak::ClientKind::LISTENING.contains(kind) {
            let told = (count(before.changes), count(after.changes));
            cells.push(row(&format!("changes told to {name} clients"), told.0, told.1));
        }
    }
    cells
}

fn versus_cells(rows: &[peer_bench::PeerRow]) -> Vec<Vec<String>> {
    let head = ["work", "served by", "req/s", "p50", "p99", "CPU/request", "peak memory"];
    let tail = ["of its own", "CPU ratio", "memory ratio", "bar", "met"];
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
            bytes(figures.own_peak),
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
        bar(comparison.target),
        yes_or_no(comparison.is_met()),
    ]
}

fn bar(bar: CostTarget) -> String {
    let memory = bar.memory.map_or_else(String::new, |most| format!(", memory ≤ {most:.2}"));
    format!("CPU ≤ {:.2}{memory}", bar.cpu)
}

fn itself_cells(rows: &[scaling_bench::ScalingRow]) -> Vec<Vec<String>> {
    let head = ["work", "measured", "against", "ratio", "bar", "met"];
    let mut cells = vec![head.map(Into::into).into()];
    for row in rows {
        cells.push(vec![
            row.work.clone(),
            row.figure.clone(),
            row.reference.clone(),
            row.ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
            row.target.to_owned(),
            yes_or_no(row.met),
        ]);
    }
    cells
}

fn through_cells(rows: &[gateway_bench::GatewayRow]) -> Vec<Vec<String>> {
    let head = ["work", "between", "req/s", "p50", "p99", "added p50", "added p99"];
    let tail = ["CPU/request", "peak memory", "CPU ratio", "bar", "met"];
    let mut cells = vec![head.iter().chain(&tail).map(|cell| (*cell).to_owned()).collect()];
    for row in rows {
        let figures = &row.figures;
        let [p50, p99] = row.added.map_or_else(
            || ["", ""].map(Into::into),
            |added| [added.p50, added.p99].map(difference),
        );
        let mut line = vec![row.work.to_owned(), row.gateway.name().to_owned()];
        line.extend([format!("{:.0}", figures.rate), time(figures.p50), time(figures.p99), p50]);
        line.extend([p99, time(figures.cpu), bytes(figures.peak)]);
        line.extend(row.verdict.map_or_else(
            || ["", "", ""].map(Into::into),
            |it| [format!("{:.3}", it.cpu), it.target.to_owned(), yes_or_no(it.met)],
        ));
        cells.push(line);
    }
    cells
}

/// A signed difference in seconds.
fn difference(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "-" } else { "+" };
    format!("{sign}{}", time(Duration::from_secs_f64(seconds.abs())))
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

/// Formats a duration in a suitable unit.
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        _ if seconds < 1e-3 => format!("{:.1} µs", seconds * 1e6),
        _ if seconds < 1.0 => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

/// Formats bytes as MB (10^6).
pub(crate) fn bytes(bytes: u64) -> String {
    format!("{:.1} MB", crate::measure::ratio(bytes, 1_000_000))
}

/// Formats a number with thousands separators.
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

    use super::{bytes, count, difference, table, time};

    #[test]
    fn numbers_are_written_as_people_write_them() {
        assert_eq!(count(1_000_000), "1,000,000");
        assert_eq!(count(100), "100");
        assert_eq!(bytes(99_950_000), "100.0 MB");
        assert_eq!(time(Duration::from_micros(42)), "42.0 µs");
        assert_eq!(time(Duration::from_millis(1_500)), "1.50 s");
        assert_eq!([difference(2e-3), difference(-5e-6)], ["+2.00 ms", "-5.0 µs"]);
    }

    #[test]
    fn a_markdown_table_has_a_rule_under_its_head() {
        let cells = vec![vec!["a".to_owned(), "bc".to_owned()], vec!["é".into(), "d".into()]];
        assert_eq!(table(&cells, true), "| a | bc |\n| - | -- |\n| é | d  |\n");
    }
}
