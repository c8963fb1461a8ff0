//! The report of an examination: revisions, checks with their outcomes, findings.

use crate::revision::DoctorRevision;
use crate::rules::{DoctorRule, DoctorSeverity};

/// The result of an examination.
#[derive(Debug, Clone)]
pub struct DoctorReport {
    /// What was examined.
    pub target: String,
    /// The name that the server gives itself, with its version.
    pub server: Option<String>,
    /// Every revision that was tried, newest first.
    pub revisions: Vec<ExaminedRevision>,
    /// Every rule, in the order of the table.
    pub checks: Vec<DoctorCheck>,
    /// What is wrong, worst first.
    pub findings: Vec<DoctorFinding>,
}

/// A revision, and whether the server speaks it.
#[derive(Debug, Clone)]
pub struct ExaminedRevision {
    /// The revision.
    pub revision: DoctorRevision,
    /// Why it was not reached, or not examined to its end; `None` if it was.
    pub why_not: Option<String>,
    /// Whether the server speaks it.
    pub is_reached: bool,
    /// Whether it was examined over HTTP+SSE, since the URL offers nothing newer.
    pub is_http_sse: bool,
}

/// A rule, and what came of it over all revisions.
#[derive(Debug, Clone)]
pub struct DoctorCheck {
    /// The rule.
    pub rule: &'static DoctorRule,
    /// What came of it.
    pub outcome: DoctorOutcome,
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DoctorOutcome {
    /// The server keeps the rule wherever it was checked.
    Passed,
    /// The server breaks it; the findings say where.
    Broken,
    /// There was nothing to check.
    NotApplicable(String),
}

/// A broken rule at one place.
#[derive(Debug, Clone)]
pub struct DoctorFinding {
    /// The rule.
    pub rule: &'static DoctorRule,
    /// What the doctor saw, on one line.
    pub message: String,
    /// The URI, tool or prompt it is about.
    pub place: Option<String>,
    /// The revisions in which it was seen, newest first.
    pub revisions: Vec<DoctorRevision>,
    /// How many further places break the same rule.
    pub more: usize,
}

impl DoctorReport {
    /// Whether the server spoke at least one revision.
    pub fn is_reached(&self) -> bool {
        self.revisions.iter().any(|examined| examined.is_reached)
    }

    /// How many rules are broken at a severity.
    pub fn count(&self, severity: DoctorSeverity) -> usize {
        let broken = self.checks.iter().filter(|check| check.outcome == DoctorOutcome::Broken);
        broken.filter(|check| check.rule.severity == severity).count()
    }

    /// How many rules the server keeps.
    pub fn passed(&self) -> usize {
        self.checks.iter().filter(|check| check.outcome == DoctorOutcome::Passed).count()
    }

    /// How many rules had nothing to check.
    pub fn not_applicable(&self) -> usize {
        let skipped =
            |check: &&DoctorCheck| matches!(check.outcome, DoctorOutcome::NotApplicable(_));
        self.checks.iter().filter(skipped).count()
    }
}
