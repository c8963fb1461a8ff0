//! The report as text for a terminal.

use std::fmt::Write as _;

use super::rule_text::source;
use crate::report::{DoctorFinding, DoctorReport};
use crate::rules::DoctorSeverity;

/// The narrowest text.
const MIN_WIDTH: usize = 40;
const INDENT: &str = "    ";

/// The report as text of `width` columns, with colours or without.
pub fn render_text(report: &DoctorReport, has_colours: bool, width: usize) -> String {
    let width = width.max(MIN_WIDTH);
    let mut text = String::new();
    let server = report.server.as_deref().unwrap_or("a server without a name");
    let _ = writeln!(text, "{server}, {}", report.target);
    for examined in &report.revisions {
        let mark = match (examined.is_reached, examined.is_http_sse) {
            (true, true) => "yes, over HTTP+SSE",
            (true, false) => "yes",
            (false, _) => "no",
        };
        let why = examined.why_not.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        push_wrapped(&mut text, &format!("{}  {mark}{why}", examined.revision), "  ", width);
    }
    let mut last = None;
    for finding in &report.findings {
        push_finding(&mut text, finding, last == Some(finding.rule.id), has_colours, width);
        last = Some(finding.rule.id);
        let next = report.findings.iter().skip_while(|other| !std::ptr::eq(*other, finding)).nth(1);
        if next.is_none_or(|next| next.rule.id != finding.rule.id) {
            push_advice(&mut text, finding, width);
        }
    }
    let count = |severity, one: &str, many: &str| match report.count(severity) {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    text.push('\n');
    let summary = format!(
        "{}, {}, {} advice; {} rules kept, {} not applicable",
        count(DoctorSeverity::Error, "error", "errors"),
        count(DoctorSeverity::Warning, "warning", "warnings"),
        report.count(DoctorSeverity::Advice),
        report.passed(),
        report.not_applicable(),
    );
    push_wrapped(&mut text, &summary, "", width);
    if let Some(finding) = report.findings.first() {
        let hint = format!("more about a rule: refdesk doctor --explain {}", finding.rule.id);
        push_wrapped(&mut text, &hint, "", width);
    }
    text
}

fn push_finding(
    text: &mut String,
    finding: &DoctorFinding,
    is_next: bool,
    has_colours: bool,
    width: usize,
) {
    let rule = finding.rule;
    if !is_next {
        let word = match (has_colours, rule.severity) {
            (false, severity) => severity.name().to_owned(),
            (true, DoctorSeverity::Error) => "\u{1b}[1;31merror\u{1b}[0m".to_owned(),
            (true, DoctorSeverity::Warning) => "\u{1b}[1;33mwarning\u{1b}[0m".to_owned(),
            (true, DoctorSeverity::Advice) => "\u{1b}[1;36madvice\u{1b}[0m".to_owned(),
        };
        let _ = writeln!(text, "\n{word} {}: {}", rule.id, rule.title);
    }
    let place = finding.place.as_deref().filter(|place| !place.is_empty());
    let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
    let revisions: Vec<&str> = finding.revisions.iter().map(|seen| seen.name()).collect();
    let seen = format!("{place}{} (in {})", finding.message, revisions.join(", "));
    push_wrapped(text, &seen, INDENT, width);
    if finding.more > 0 {
        let _ = writeln!(text, "{INDENT}and {} more", finding.more);
    }
}

fn push_advice(text: &mut String, finding: &DoctorFinding, width: usize) {
    push_wrapped(text, &format!("do: {}", finding.rule.next_step), INDENT, width);
    let place = source(finding.rule);
    let mut lines = place.lines();
    push_wrapped(text, &format!("see: {}", lines.next().unwrap_or_default()), INDENT, width);
    for url in lines {
        // An address is not broken into lines: a terminal makes it a link as a whole.
        let _ = writeln!(text, "{INDENT}{}", url.trim());
    }
}

/// Appends words in lines of `width` columns; a word that is longer has a line of its own.
fn push_wrapped(text: &mut String, words: &str, indent: &str, width: usize) {
    let (mut column, mut is_first) = (0, true);
    for word in words.split(' ') {
        let length = word.chars().count();
        if !is_first && column + 1 + length > width {
            text.push('\n');
            is_first = true;
        }
        if is_first {
            text.push_str(indent);
            column = indent.len();
        } else {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
        is_first = false;
    }
    text.push('\n');
}
