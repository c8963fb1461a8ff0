//! Terminal output: printing, error reports, logging and table layout.
//!
//! Results go to standard output, log and errors to standard error.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

use resource::one_line_up_to;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::args::LogThreshold;
use crate::log_limit::{LimitedFormat, count_in_background};
use crate::rotating_file::RotatingFile;
use crate::settings::Diagnostic;

/// How many characters of a text of others a line of the log has.
const MAX_FOREIGN_CHARS: usize = 600;

/// Writes `text` to standard output.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // The reader closed the pipe, as `head` does; that is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Writes words for a person to standard error.
pub(crate) fn tell(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes an error to standard error; a settings error with its location and hint.
pub(crate) fn report_error(error: &anyhow::Error) -> ExitCode {
    let told = match error.downcast_ref::<Diagnostic>() {
        Some(flaw) => flaw.to_string(),
        None => format!("error: {error:#}"),
    };
    let _ = writeln!(io::stderr(), "{told}");
    ExitCode::FAILURE
}

/// How much to log, and where.
pub(crate) struct LogOptions {
    /// From the command line; it overrides `REFDESK_LOG`.
    pub(crate) level: Option<LogThreshold>,
    /// From the settings; `REFDESK_LOG` overrides it.
    pub(crate) usual_level: Option<LogThreshold>,
    /// `None` is standard error.
    pub(crate) file: Option<RotatingFile>,
}

/// Starts the log, with a rate limit per kind of line. The default level is `warn`.
pub(crate) fn start_log(options: Option<LogOptions>) {
    let LogOptions { level, usual_level, file } =
        options.unwrap_or(LogOptions { level: None, usual_level: None, file: None });
    let at = |level: LogThreshold| EnvFilter::new(format!("{level:?}").to_lowercase());
    let usual = || at(usual_level.unwrap_or(LogThreshold::Warn));
    let from_environment = || EnvFilter::try_from_env("REFDESK_LOG").unwrap_or_else(|_| usual());
    let colours = file.is_none() && io::stderr().is_terminal();
    let writer = match file {
        Some(file) => BoxMakeWriter::new(Mutex::new(file)),
        None => BoxMakeWriter::new(io::stderr),
    };
    tracing_subscriber::fmt()
        .with_env_filter(level.map_or_else(from_environment, at))
        .with_ansi(colours)
        .with_target(false)
        .map_event_format(|format| LimitedFormat::new(format, Instant::now, count_in_background))
        .with_writer(writer)
        .init();
}

/// A text of others as one line of the log: without control characters, and not too long.
pub(crate) fn one_line(text: &str) -> String {
    one_line_up_to(text, MAX_FOREIGN_CHARS)
}

/// Formats rows as a table with aligned columns.
pub(crate) fn format_table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let mut widths = [0; COLUMNS];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        let line: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.chars().count())))
            .collect();
        text.push_str("  ");
        text.push_str(line.join("   ").trim_end());
        text.push('\n');
    }
    text
}

/// Formats a number with thousands separators: 1,284.
pub(crate) fn format_number(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::format_number;

    #[test]
    fn numbers_are_written_in_groups_of_three() {
        let written = [0, 12, 123, 1284, 1_000_000].map(format_number);
        assert_eq!(written, ["0", "12", "123", "1,284", "1,000,000"]);
    }
}
