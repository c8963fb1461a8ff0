//! The table of broken servers: one for each rule, and the test that only that rule fires.

use std::collections::BTreeSet;
use std::sync::Arc;

use doctor::{DoctorOptions, DoctorReport, DoctorRevision, DoctorTarget, all_rules, examine};

use crate::faults::Fault;
use crate::http_server::HttpServer;
use crate::pipe_server::PipeServer;
use crate::{broken_lists, broken_messages, broken_reads, broken_stateless, broken_tools};
use crate::{broken_wire_http, broken_wire_sse};

/// A broken server, and the rule that it breaks.
pub(crate) struct Case {
    pub(crate) rule: &'static str,
    pub(crate) revision: DoctorRevision,
    pub(crate) fault: Fault,
}

/// A case in the newest revision with a handshake.
pub(crate) fn case(rule: &'static str, fault: Fault) -> Case {
    Case { rule, revision: DoctorRevision::Y2025M11, fault }
}

/// A case in the revision without a handshake.
pub(crate) fn modern(rule: &'static str, fault: Fault) -> Case {
    Case { rule, revision: DoctorRevision::Y2026M07, fault }
}

pub(crate) fn options(revisions: &[DoctorRevision]) -> DoctorOptions {
    DoctorOptions { revisions: revisions.to_vec(), ..DoctorOptions::default() }
}

pub(crate) fn ids(report: &DoctorReport) -> BTreeSet<&'static str> {
    report.findings.iter().map(|finding| finding.rule.id).collect()
}

pub(crate) async fn examine_pipes(fault: Fault, options: &DoctorOptions) -> DoctorReport {
    let target = DoctorTarget::Pipes(Arc::new(PipeServer(fault)));
    examine(&target, options, &mut |_| {}).await
}

pub(crate) async fn examine_http(fault: Fault, options: &DoctorOptions) -> DoctorReport {
    let server = HttpServer::start(fault).await;
    let target = DoctorTarget::Http { url: server.url(), headers: Vec::new() };
    examine(&target, options, &mut |_| {}).await
}

fn pipe_cases() -> Vec<Case> {
    let tables = [
        broken_messages::cases(),
        broken_lists::cases(),
        broken_reads::cases(),
        broken_tools::cases(),
        broken_stateless::cases(),
    ];
    tables.into_iter().flatten().collect()
}

/// What is wrong with a report in which one rule should be broken.
pub(crate) fn wrong(case: &Case, report: &DoctorReport) -> Option<String> {
    let found = ids(report);
    let expected = BTreeSet::from([case.rule]);
    let told = |finding: &doctor::DoctorFinding| {
        format!("{}: {:?} {}", finding.rule.id, finding.place, finding.message)
    };
    (found != expected).then(|| {
        let findings: Vec<String> = report.findings.iter().map(told).collect();
        format!("{} in {}: {findings:#?}", case.rule, case.revision)
    })
}

#[tokio::test(start_paused = true)]
async fn a_broken_server_over_pipes_breaks_its_rule_and_only_that() {
    let mut failures = Vec::new();
    for case in pipe_cases() {
        let report = examine_pipes(case.fault.clone(), &options(&[case.revision])).await;
        failures.extend(wrong(&case, &report));
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[tokio::test]
async fn a_broken_server_over_http_breaks_its_rule_and_only_that() {
    let mut failures = Vec::new();
    for case in broken_wire_http::cases() {
        let report = examine_http(case.fault.clone(), &options(&[case.revision])).await;
        failures.extend(wrong(&case, &report));
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn the_correct_server_over_pipes_has_no_findings_in_any_revision() {
    let report = examine_pipes(Fault::default(), &DoctorOptions::default()).await;
    assert!(report.revisions.iter().all(|examined| examined.is_reached), "{report:#?}");
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    for revision in DoctorRevision::ALL {
        let report = examine_pipes(Fault::default(), &options(&[revision])).await;
        assert!(report.is_reached() && report.findings.is_empty(), "{:#?}", report.findings);
    }
}

#[tokio::test]
async fn the_correct_server_over_http_has_no_findings_in_any_revision() {
    let report = examine_http(Fault::default(), &DoctorOptions::default()).await;
    assert!(report.revisions.iter().all(|examined| examined.is_reached), "{report:#?}");
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
}

#[tokio::test(start_paused = true)]
async fn every_rule_is_checked_on_the_correct_server() {
    let pipes = examine_pipes(Fault::default(), &DoctorOptions::default()).await;
    let mut kept: BTreeSet<&str> = BTreeSet::new();
    let passed = |report: &DoctorReport| {
        let passed =
            report.checks.iter().filter(|check| check.outcome == doctor::DoctorOutcome::Passed);
        passed.map(|check| check.rule.id).collect::<Vec<_>>()
    };
    kept.extend(passed(&pipes));
    let unseen: Vec<&str> =
        all_rules().map(|rule| rule.id).filter(|id| !kept.contains(id)).collect();
    // What is about HTTP, and what a correct server cannot show.
    let is_excused =
        |id: &&str| id.starts_with("http-") || id.starts_with("sse-") || EXCUSED.contains(id);
    let unseen: Vec<&str> = unseen.into_iter().filter(|id| !is_excused(id)).collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}

/// What the correct server cannot show, with the usual options.
const EXCUSED: [&str; 4] =
    ["connect", "capability-undeclared", "subscribe-undeclared", "change-announced"];

#[test]
fn every_rule_has_a_broken_server() {
    let cases = pipe_cases().into_iter().chain(broken_wire_http::cases());
    let cases = cases.chain(broken_wire_sse::cases());
    let rules: BTreeSet<&str> = cases.map(|case| case.rule).collect();
    let hostile = crate::hostile::RULES.into_iter().chain(crate::change::RULES);
    let hostile: Vec<&str> = hostile.collect();
    let without: Vec<&str> = all_rules()
        .map(|rule| rule.id)
        .filter(|id| !rules.contains(id) && !hostile.contains(id))
        .collect();
    assert!(without.is_empty(), "{without:?}");
}
