//! Servers that break rules about HTTP+SSE, and the tests over that transport.

use std::collections::BTreeSet;

use doctor::{
    DoctorOptions, DoctorOutcome, DoctorReport, DoctorRevision, DoctorTarget, all_rules, examine,
    render_text,
};
use serde_json::json;

use crate::cases::{Case, ids, options, wrong};
use crate::faults::{Fault, SseFault};
use crate::http_server::HttpServer;
use crate::sse_server::SseServer;

pub(crate) fn cases() -> Vec<Case> {
    let rules = [
        ("sse-endpoint-first", SseFault::LateEndpoint),
        ("sse-endpoint-origin", SseFault::ForeignEndpoint),
        ("sse-message-event", SseFault::EventName),
        ("sse-answer-stream", SseFault::AnswerInPost),
        ("sse-post-accepted", SseFault::Status),
        ("http-origin", SseFault::Origin),
        ("http-host", SseFault::Host),
    ];
    let case = |(rule, sse)| {
        let fault = Fault { sse: Some(sse), ..Fault::default() };
        Case { rule, revision: DoctorRevision::Y2024M11, fault }
    };
    rules.into_iter().map(case).collect()
}

async fn examine_sse(fault: Fault, options: &DoctorOptions) -> DoctorReport {
    let server = SseServer::start(fault).await;
    let target = DoctorTarget::Http { url: server.url(), headers: Vec::new() };
    examine(&target, options, &mut |_| {}).await
}

#[tokio::test]
async fn a_broken_server_over_http_sse_breaks_its_rule_and_only_that() {
    let mut failures = Vec::new();
    for case in cases() {
        let report = examine_sse(case.fault.clone(), &options(&[case.revision])).await;
        failures.extend(wrong(&case, &report));
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[tokio::test]
async fn the_correct_server_over_http_sse_keeps_its_rules_in_every_revision_with_a_handshake() {
    let report = examine_sse(Fault::default(), &DoctorOptions::default()).await;
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    for examined in &report.revisions {
        assert_eq!(examined.is_reached, examined.revision != DoctorRevision::Y2026M07);
        assert_eq!(examined.is_http_sse, examined.is_reached);
    }
    assert!(render_text(&report, false, 100).contains("2024-11-05  yes, over HTTP+SSE\n"));
    let passed = |id: &str| {
        let mut checks = report.checks.iter();
        checks.any(|check| check.rule.id == id && check.outcome == DoctorOutcome::Passed)
    };
    let own: BTreeSet<&str> =
        all_rules().map(|rule| rule.id).filter(|id| id.starts_with("sse-")).collect();
    let missed: Vec<&&str> = own.iter().filter(|id| !passed(id)).collect();
    assert!(own.len() == 5 && missed.is_empty(), "{missed:?}");
    assert!(passed("http-origin") && passed("read-listed") && passed("batch-accepted"));
}

#[tokio::test]
async fn a_flood_on_the_stream_is_cut_off() {
    let flood = Fault::on("tools/list", |_, outbox| {
        let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": {} });
        let flood = vec![log; 2_000];
        outbox.messages.splice(0..0, flood);
    });
    let report = examine_sse(flood, &options(&[DoctorRevision::Y2024M11])).await;
    assert!(ids(&report).contains("message-flood"), "{:#?}", report.findings);
}

#[tokio::test]
async fn an_event_over_the_limit_is_cut_off() {
    let large = Fault::on("tools/list", |_, outbox| {
        outbox.messages[0]["result"]["padding"] = json!("x".repeat(20_000));
    });
    let few = DoctorOptions { message_limit: 10_000, ..options(&[DoctorRevision::Y2024M11]) };
    let report = examine_sse(large, &few).await;
    assert!(ids(&report).contains("message-size"), "{:#?}", report.findings);
}

#[tokio::test]
async fn a_stream_that_falls_silent_is_given_up() {
    let silent = Fault::on("resources/list", |_, outbox| outbox.messages.clear());
    let few = DoctorOptions {
        timeout: std::time::Duration::from_millis(200),
        ..options(&[DoctorRevision::Y2024M11])
    };
    let report = examine_sse(silent, &few).await;
    assert!(ids(&report).contains("answer-in-time"), "{:#?}", report.findings);
}

#[tokio::test]
async fn a_server_that_refuses_initialize_and_has_no_stream_is_not_one_of_http_sse() {
    let refusing = Fault::http(|seen, answer| {
        if seen.method_is("initialize") {
            answer.status = 400;
            answer.body = json!({ "detail": "no" }).to_string().into_bytes();
        }
    });
    let server = HttpServer::start(refusing).await;
    let target = DoctorTarget::Http { url: server.url(), headers: Vec::new() };
    let report = examine(&target, &options(&[DoctorRevision::Y2024M11]), &mut |_| {}).await;
    assert!(!report.is_reached());
    assert!(ids(&report).iter().all(|id| !id.starts_with("sse-")), "{:#?}", report.findings);
}
