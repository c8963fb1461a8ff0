//! Servers with a tool that changes something, which the caller names.

use std::time::Duration;

use doctor::{DoctorOptions, DoctorOutcome, DoctorReport, DoctorRevision};
use serde_json::{Value, json};

use crate::cases::{examine_http, examine_pipes, ids, options};
use crate::faults::{Fault, set_reply};
use crate::http_server::status;

/// Rules whose broken servers are here.
pub(crate) const RULES: [&str; 1] = ["change-announced"];

const ERAS: [DoctorRevision; 2] = [DoctorRevision::Y2026M07, DoctorRevision::Y2025M11];

/// A server whose tool `touch` works, and announces nothing.
fn touch(request: &Value, message: &mut Value) {
    if request["params"]["name"] == "touch" {
        let meta = json!({ "io.modelcontextprotocol/serverInfo": { "name": "x", "version": "1" } });
        let result = json!({ "content": [], "resultType": "complete", "_meta": meta });
        set_reply(message, "result", &result);
    }
}

fn changing(revision: DoctorRevision) -> DoctorOptions {
    let change_tool = Some("touch".to_owned());
    DoctorOptions { change_tool, timeout: Duration::from_secs(1), ..options(&[revision]) }
}

fn outcome(report: &DoctorReport) -> DoctorOutcome {
    let mut checks = report.checks.iter();
    checks.find(|check| check.rule.id == "change-announced").unwrap().outcome.clone()
}

#[tokio::test(start_paused = true)]
async fn a_change_that_no_notification_announces_is_a_finding() {
    for revision in ERAS {
        let silent = Fault::on("tools/call", |request, outbox| {
            touch(request, &mut outbox.messages[0]);
        });
        let report = examine_pipes(silent, &changing(revision)).await;
        assert_eq!(ids(&report).into_iter().collect::<Vec<_>>(), RULES, "{:#?}", report.findings);
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_of_any_listed_resource_is_heard() {
    let announcing = Fault::on("tools/call", |request, outbox| {
        touch(request, &mut outbox.messages[0]);
        if request["params"]["name"] == "touch" {
            outbox.messages.push(json!({
                "jsonrpc": "2.0",
                "method": "notifications/resources/updated",
                "params": { "uri": "doc:///b.bin" },
            }));
        }
    });
    let report = examine_pipes(announcing, &changing(DoctorRevision::Y2025M11)).await;
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    assert_eq!(outcome(&report), DoctorOutcome::Passed);
}

#[tokio::test]
async fn over_http_a_change_needs_a_stream() {
    let deaf = Fault::on("tools/call", |request, outbox| touch(request, &mut outbox.messages[0]));
    let report = examine_http(deaf, &changing(DoctorRevision::Y2025M11)).await;
    assert_eq!(ids(&report).into_iter().collect::<Vec<_>>(), RULES, "{:#?}", report.findings);
    let refusing = Fault::http(|seen, answer| {
        if seen.method_is("tools/call") {
            *answer = status(400);
        }
    });
    let report = examine_http(refusing, &changing(DoctorRevision::Y2025M11)).await;
    assert!(matches!(outcome(&report), DoctorOutcome::NotApplicable(why) if why.contains("400")));
}
