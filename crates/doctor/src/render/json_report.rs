//! The report as JSON.

use serde_json::{Value, json};

use crate::report::{DoctorCheck, DoctorFinding, DoctorOutcome, DoctorReport};
use crate::revision::DoctorRevision;
use crate::rules::DoctorSeverity;

/// The report as one JSON value.
pub fn to_json(report: &DoctorReport) -> Value {
    let revisions = report.revisions.iter().map(|examined| {
        json!({
            "revision": examined.revision.name(),
            "reached": examined.is_reached,
            "httpSse": examined.is_http_sse,
            "why": examined.why_not,
        })
    });
    json!({
        "target": report.target,
        "server": report.server,
        "revisions": revisions.collect::<Vec<_>>(),
        "summary": {
            "errors": report.count(DoctorSeverity::Error),
            "warnings": report.count(DoctorSeverity::Warning),
            "advice": report.count(DoctorSeverity::Advice),
            "passed": report.passed(),
            "notApplicable": report.not_applicable(),
        },
        "findings": report.findings.iter().map(finding_json).collect::<Vec<_>>(),
        "checks": report.checks.iter().map(check_json).collect::<Vec<_>>(),
    })
}

fn finding_json(finding: &DoctorFinding) -> Value {
    let rule = finding.rule;
    json!({
        "id": rule.id,
        "severity": rule.severity.name(),
        "title": rule.title,
        "message": finding.message,
        "place": finding.place,
        "morePlaces": finding.more,
        "revisions": finding.revisions.iter().map(|seen| DoctorRevision::name(*seen)).collect::<Vec<_>>(),
        "specification": {
            "source": rule.clause.source,
            "section": rule.clause.section,
            "url": rule.clause.url(),
        },
        "nextStep": rule.next_step,
    })
}

fn check_json(check: &DoctorCheck) -> Value {
    let (outcome, why) = match &check.outcome {
        DoctorOutcome::Passed => ("passed", None),
        DoctorOutcome::Broken => ("finding", None),
        DoctorOutcome::NotApplicable(why) => ("notApplicable", Some(why)),
    };
    json!({ "id": check.rule.id, "outcome": outcome, "why": why })
}
