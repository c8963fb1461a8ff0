//! The report as JUnit XML: one test case for each rule.

use std::fmt::Write as _;

use crate::report::{DoctorOutcome, DoctorReport};
use crate::rules::DoctorSeverity;

/// The report as JUnit XML. Warnings fail too if `is_strict`; advice never does.
pub fn to_junit(report: &DoctorReport, is_strict: bool) -> String {
    let fails = |severity: DoctorSeverity| match severity {
        DoctorSeverity::Error => true,
        DoctorSeverity::Warning => is_strict,
        DoctorSeverity::Advice => false,
    };
    let mut cases = String::new();
    let mut failures = 0;
    for check in &report.checks {
        let rule = check.rule;
        let class = escape(&report.target);
        let _ = write!(cases, "    <testcase classname=\"{class}\" name=\"{}\"", rule.id);
        let body = match &check.outcome {
            DoctorOutcome::Passed => {
                cases.push_str("/>\n");
                continue;
            }
            DoctorOutcome::NotApplicable(why) => {
                format!("<skipped message=\"{}\"/>", escape(why))
            }
            DoctorOutcome::Broken => {
                let text = escape(&evidence(report, rule.id));
                if fails(rule.severity) {
                    failures += 1;
                    let (kind, title) = (rule.severity.name(), escape(rule.title));
                    format!("<failure type=\"{kind}\" message=\"{title}\">{text}</failure>")
                } else {
                    format!("<system-out>{}: {text}</system-out>", rule.severity.name())
                }
            }
        };
        let _ = writeln!(cases, ">{body}</testcase>");
    }
    let (tests, skipped) = (report.checks.len(), report.not_applicable());
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" skipped=\"{skipped}\"");
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  \
         <testsuite name=\"refdesk doctor\" {counts}>\n{cases}  </testsuite>\n</testsuites>\n"
    )
}

/// What was seen of one rule, a line for each place.
fn evidence(report: &DoctorReport, id: &str) -> String {
    let mut text = String::new();
    for finding in report.findings.iter().filter(|finding| finding.rule.id == id) {
        let place = finding.place.as_deref().map(|place| format!("{place}: ")).unwrap_or_default();
        let revisions: Vec<&str> = finding.revisions.iter().map(|seen| seen.name()).collect();
        let _ = writeln!(text, "{place}{} (in {})", finding.message, revisions.join(", "));
    }
    if let Some(rule) = crate::rules::find_rule(id) {
        let _ = write!(text, "What to do: {}", rule.next_step);
    }
    text
}

/// Text for XML: markup is escaped, and characters that XML cannot hold are replaced.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push('\n'),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ if character.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}
