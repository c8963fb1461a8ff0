//! Hostile servers: silent, dying, flooding, endless. The doctor ends with a finding, within bounds.

use std::sync::Arc;
use std::time::Duration;

use doctor::{
    DoctorOptions, DoctorPipeOpener, DoctorPipes, DoctorReport, DoctorRevision, DoctorTarget,
    examine,
};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::time::Instant;

use crate::cases::{examine_pipes, ids, options};
use crate::faults::Fault;
use crate::pipe_server::PipeServer;

/// Rules whose broken servers are here.
pub(crate) const RULES: [&str; 6] = [
    "connect",
    "answer-in-time",
    "connection-kept",
    "message-size",
    "message-flood",
    "list-length",
];

/// Writes chunks for ever, and reads nothing.
struct Spout(&'static [u8]);

impl DoctorPipeOpener for Spout {
    fn open(&self) -> DoctorPipes {
        let (input, server_input) = tokio::io::duplex(64 << 10);
        let (mut server_output, output) = tokio::io::duplex(64 << 10);
        let chunk = self.0;
        tokio::spawn(async move {
            let _input = server_input;
            while server_output.write_all(chunk).await.is_ok() {}
        });
        DoctorPipes { reader: Box::new(output), writer: Box::new(input) }
    }
}

async fn examine_spout(chunk: &'static [u8]) -> DoctorReport {
    let target = DoctorTarget::Pipes(Arc::new(Spout(chunk)));
    let options = DoctorOptions { message_limit: 1 << 20, ..DoctorOptions::default() };
    examine(&target, &options, &mut |_| {}).await
}

fn assert_only(report: &DoctorReport, rule: &str) {
    assert_eq!(ids(report).into_iter().collect::<Vec<_>>(), [rule], "{:#?}", report.findings);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_ends_with_a_finding() {
    let silent = Fault::messages(|_, outbox| outbox.messages.clear());
    let report = examine_pipes(silent, &DoctorOptions::default()).await;
    assert_only(&report, "answer-in-time");
    assert!(!report.is_reached());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_falls_silent_midway_is_given_up_after_two_requests() {
    let silent = Fault::messages(|request, outbox| {
        if request["method"].as_str().is_some_and(|method| method.ends_with("/list")) {
            outbox.messages.clear();
        }
    });
    let report = examine_pipes(silent, &options(&[DoctorRevision::Y2025M11])).await;
    assert_only(&report, "answer-in-time");
    assert!(report.is_reached());
    assert!(report.revisions[0].why_not.as_deref().unwrap().contains("not examined to the end"));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_midway_ends_with_a_finding() {
    let dying = Fault::on("resources/read", |_, outbox| {
        outbox.messages.clear();
        outbox.ends = true;
    });
    for revision in DoctorRevision::ALL {
        let report = examine_pipes(dying.clone(), &options(&[revision])).await;
        assert_only(&report, "connection-kept");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_at_once_ends_with_a_finding() {
    let dead = Fault::messages(|_, outbox| {
        outbox.messages.clear();
        outbox.ends = true;
    });
    let report = examine_pipes(dead, &DoctorOptions::default()).await;
    assert_only(&report, "connection-kept");
    assert!(!report.is_reached());
}

/// A correct server that starts slowly.
struct SlowStart(Duration);

impl DoctorPipeOpener for SlowStart {
    fn open(&self) -> DoctorPipes {
        let (mut ours, theirs) = tokio::io::duplex(64 << 10);
        let DoctorPipes { reader, writer } = PipeServer(Fault::default()).open();
        let start = Instant::now() + self.0;
        tokio::spawn(async move {
            tokio::time::sleep_until(start).await;
            let mut server = tokio::io::join(reader, writer);
            let _ = tokio::io::copy_bidirectional(&mut ours, &mut server).await;
        });
        let (reader, writer) = tokio::io::split(theirs);
        DoctorPipes { reader: Box::new(reader), writer: Box::new(writer) }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_starts_slowly_is_reached_in_every_revision_with_a_longer_timeout() {
    let target = DoctorTarget::Pipes(Arc::new(SlowStart(Duration::from_secs(20))));
    let options = DoctorOptions { timeout: Duration::from_secs(60), ..DoctorOptions::default() };
    let report = examine(&target, &options, &mut |_| {}).await;
    assert!(report.revisions.iter().all(|examined| examined.is_reached), "{report:#?}");
}

#[tokio::test]
async fn a_line_without_an_end_is_cut_off() {
    assert_only(&examine_spout(&[b'x'; 4096]).await, "message-size");
}

#[tokio::test]
async fn a_flood_of_messages_is_cut_off() {
    let line = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n";
    assert_only(&examine_spout(line).await, "message-flood");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_shown_as_such() {
    let report = examine_spout(b"\xff\xfe\x1b[2J\n").await;
    assert_eq!(ids(&report).into_iter().collect::<Vec<_>>(), ["message-flood", "message-json"]);
    let message =
        &report.findings.iter().find(|finding| finding.rule.id == "message-json").unwrap().message;
    assert!(!message.chars().any(char::is_control), "{message:?}");
}

#[tokio::test(start_paused = true)]
async fn nested_values_do_not_break_the_parser() {
    let deep = Fault::on("tools/list", |_, outbox| {
        outbox.raw = format!("{}\n", "[".repeat(100_000)).into_bytes();
    });
    let report = examine_pipes(deep, &options(&[DoctorRevision::Y2025M11])).await;
    assert_only(&report, "message-json");
}

/// A server whose list has no end: with new entries on each page, or with one entry and then none.
/// It knows each entry that it lists.
fn endless_list(has_entries: bool) -> Fault {
    Fault::messages(move |request, outbox| {
        let params = &request["params"];
        let resource = |uri: &str| json!({ "uri": uri, "name": "x", "isCollection": false });
        let made_up = params["uri"].as_str().filter(|uri| uri.starts_with("doc:///made-up/"));
        let number = params["cursor"].as_str().map_or(Some(0_u64), |text| text.parse().ok());
        let result = match (request["method"].as_str().unwrap_or_default(), made_up, number) {
            ("resources/list", None, Some(number)) if params.get("uri").is_none() => {
                let row = resource(&format!("doc:///made-up/{number}"));
                let rows = if has_entries || number == 0 { vec![row] } else { Vec::new() };
                json!({ "resources": rows, "nextCursor": (number + 1).to_string() })
            }
            ("resources/metadata", Some(uri), _) => json!({ "resource": resource(uri) }),
            ("resources/subscribe" | "resources/unsubscribe", Some(_), _) => json!({}),
            _ => return,
        };
        outbox.messages[0] = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
    })
}

#[tokio::test(start_paused = true)]
async fn pages_without_an_end_are_cut_off() {
    let few =
        DoctorOptions { page_limit: 50, read_limit: 0, ..options(&[DoctorRevision::Y2025M11]) };
    for (has_entries, rule) in [(true, "list-length"), (false, "list-pages-end")] {
        assert_only(&examine_pipes(endless_list(has_entries), &few).await, rule);
    }
}

#[tokio::test]
async fn a_program_that_cannot_start_is_a_finding() {
    let target = DoctorTarget::Child {
        command: "/no/such/program".to_owned(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: None,
    };
    let report = examine(&target, &DoctorOptions::default(), &mut |_| {}).await;
    assert_only(&report, "connect");
}

#[tokio::test]
async fn a_program_that_exits_tells_its_last_words_and_stderr_may_flood() {
    let script = "i=0; while [ $i -lt 20000 ]; do echo 'noise noise noise noise' >&2; i=$((i+1)); done; \
                  echo 'no such database' >&2; read line; exit 3";
    let target = DoctorTarget::Child {
        command: "sh".to_owned(),
        args: vec!["-c".to_owned(), script.to_owned()],
        env: Vec::new(),
        cwd: None,
    };
    let options =
        DoctorOptions { timeout: Duration::from_secs(60), ..options(&[DoctorRevision::Y2025M11]) };
    let report = examine(&target, &options, &mut |_| {}).await;
    assert_only(&report, "connection-kept");
    assert!(report.findings[0].message.contains("no such database"), "{:?}", report.findings);
}

#[tokio::test]
async fn an_address_where_nothing_listens_is_a_finding() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let target = DoctorTarget::Http { url, headers: Vec::new() };
    let report = examine(&target, &DoctorOptions::default(), &mut |_| {}).await;
    assert!(!report.is_reached());
    assert_only(&report, "connect");
    assert!(report.findings[0].message.contains("refused"), "{:?}", report.findings);
}
