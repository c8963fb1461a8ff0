//! Checks an MCP server rule by rule, in every protocol revision, and says what is wrong.
//!
//! It talks over a wire layer of its own, because a client that heals faults hides them. It never
//! calls a tool that exists and never writes.

mod checks;
mod examine;
mod plain_text;
mod recorder;
mod render;
mod report;
mod revision;
mod rules;
mod target;
mod transport;

pub use examine::{DoctorProgress, examine};
pub use render::{
    RULE_TABLE_END, RULE_TABLE_START, explain, render_text, rules_table, to_json, to_junit,
};
pub use report::{DoctorCheck, DoctorFinding, DoctorOutcome, DoctorReport, ExaminedRevision};
pub use revision::DoctorRevision;
pub use rules::{DoctorRule, DoctorSeverity, RuleClause, all_rules, find_rule};
pub use target::{DoctorOptions, DoctorPipeOpener, DoctorPipes, DoctorTarget};
