//! Rules in words: the explanation of one, and the table of all.

use crate::rules::{DoctorRule, all_rules};

/// The line before the table of rules in `docs/doctor.md`.
pub const RULE_TABLE_START: &str = "<!-- rules: written by `refdesk doctor --rules` -->";
/// The line after it.
pub const RULE_TABLE_END: &str = "<!-- end of rules -->";

/// Explains a rule.
pub fn explain(rule: &DoctorRule) -> String {
    format!(
        "{id} ({severity})\n\n{title}.\n\n{explanation}\n\nWhat to do: {step}\n\nSource: {source}\n",
        id = rule.id,
        severity = rule.severity.name(),
        title = rule.title,
        explanation = rule.explanation,
        step = rule.next_step,
        source = source(rule),
    )
}

/// Where a rule stands, with its URL.
pub(super) fn source(rule: &DoctorRule) -> String {
    let place = format!("{}, {}", rule.clause.source, rule.clause.section);
    match rule.clause.url() {
        Some(url) => format!("{place}\n  {url}"),
        None => place,
    }
}

/// All rules as a table of Markdown.
pub fn rules_table() -> String {
    let mut table = String::from("| id | severity | rule | source |\n| --- | --- | --- | --- |\n");
    for rule in all_rules() {
        let place = format!("{}, {}", rule.clause.source, rule.clause.section);
        let place = match rule.clause.url() {
            Some(url) => format!("[{place}]({url})"),
            None => place,
        };
        let (id, severity, title) = (rule.id, rule.severity.name(), rule.title);
        table.push_str(&format!("| `{id}` | {severity} | {title} | {place} |\n"));
    }
    table
}
