//! Rendering of reports and rules: text for people, JSON, JUnit XML, and the table of the docs.

mod json_report;
mod junit;
mod rule_text;
mod text;

pub use json_report::to_json;
pub use junit::to_junit;
pub use rule_text::{RULE_TABLE_END, RULE_TABLE_START, explain, rules_table};
pub use text::render_text;
