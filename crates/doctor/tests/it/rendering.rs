//! Tests of what a report looks like: text, JSON and JUnit.

use doctor::{
    DoctorRevision, DoctorSeverity, all_rules, explain, find_rule, render_text, to_json, to_junit,
};
use serde_json::json;

use crate::cases::{examine_pipes, options};
use crate::faults::Fault;

async fn report() -> doctor::DoctorReport {
    let fault = Fault::result("tools/list", |result| {
        result["tools"][0]["name"] = json!("a\u{1b}[31m<b>&\"");
    });
    examine_pipes(fault, &options(&[DoctorRevision::Y2025M11, DoctorRevision::Y2025M06])).await
}

#[tokio::test(start_paused = true)]
async fn a_finding_is_shown_once_with_its_revisions_and_what_to_do() {
    let text = render_text(&report().await, false, 80);
    let title = "warning tool-name: ";
    assert_eq!(text.matches(title).count(), 1, "{text}");
    assert!(text.contains("(in 2025-11-25, 2025-06-18)"), "{text}");
    assert!(text.contains("do: Rename the tool."), "{text}");
    assert!(text.contains(
        "https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names"
    ));
    assert!(text.contains("0 errors, 2 warnings, 0 advice"), "{text}");
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
}

#[tokio::test(start_paused = true)]
async fn colours_come_only_where_they_are_wanted_and_lines_are_no_longer_than_the_width() {
    let report = report().await;
    assert!(render_text(&report, true, 80).contains("\u{1b}[1;33mwarning"));
    let text = render_text(&report, false, 60);
    let long = text.lines().find(|line| {
        line.chars().count() > 60 && !line.contains("https://") && !line.starts_with("warning ")
    });
    assert_eq!(long, None, "{text}");
}

#[tokio::test(start_paused = true)]
async fn json_has_every_check_and_finding() {
    let report = report().await;
    let told = to_json(&report);
    assert_eq!(told["checks"].as_array().unwrap().len(), all_rules().count());
    assert_eq!(told["summary"]["warnings"], report.count(DoctorSeverity::Warning));
    assert_eq!(told["server"], "base 1");
    let finding = told["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["id"] == "tool-name")
        .unwrap();
    assert_eq!(finding["severity"], "warning");
    assert_eq!(finding["revisions"], json!(["2025-11-25", "2025-06-18"]));
    assert_eq!(finding["nextStep"], "Rename the tool.");
    assert!(finding["specification"]["url"].as_str().unwrap().starts_with("https://"));
}

#[tokio::test(start_paused = true)]
async fn junit_is_escaped_and_warnings_fail_only_if_strict() {
    let report = report().await;
    let (usual, strict) = (to_junit(&report, false), to_junit(&report, true));
    assert!(usual.contains("failures=\"0\"") && strict.contains("failures=\"2\""), "{strict}");
    for text in [&usual, &strict] {
        assert!(text.contains("&lt;b&gt;&amp;"), "{text}");
        assert!(!text.contains("<b>") && !text.contains('\u{1b}'), "{text}");
        assert_eq!(text.matches("<testcase ").count(), all_rules().count());
        let ends = text.matches("</testcase>").count() + text.matches("\"/>\n").count();
        assert_eq!(ends, all_rules().count());
    }
}

#[test]
fn every_rule_can_be_explained_and_no_other() {
    for rule in all_rules() {
        let text = explain(rule);
        assert!(text.contains(rule.next_step) && text.contains(rule.severity.name()), "{text}");
    }
    assert!(find_rule("no-such-rule").is_none());
}
