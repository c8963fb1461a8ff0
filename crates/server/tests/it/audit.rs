//! Tests of audit records: an error in a streamed answer is an error.

use std::sync::{Arc, Mutex};

use serde_json::json;
use server::transport::http::{HttpOptions, OriginGuard};
use server::{AuditRecord, AuditSink, CollectionsMode, Limits};
use testkit::MemoryProvider;

use crate::fixture::{self, HttpFixture, request, until};

#[derive(Debug, Default)]
struct Records(Mutex<Vec<AuditRecord>>);

impl AuditSink for Records {
    fn record(&self, record: AuditRecord) {
        self.0.lock().unwrap().push(record);
    }
}

#[tokio::test]
async fn an_error_at_the_end_of_a_stream_is_recorded() {
    let memory = MemoryProvider::new().caller_request_tool("who", "elicitation/create", "{}");
    let server = fixture::server(Arc::new(memory), Limits::default(), CollectionsMode::Always);
    let records = Arc::new(Records::default());
    let guard = OriginGuard { loopback: true, ..OriginGuard::default() };
    let audit = Some(Arc::clone(&records) as Arc<dyn AuditSink>);
    let site = HttpFixture::open_with(server, HttpOptions { audit, ..guard.into() }).await;
    let session = site.open_session("2025-11-25").await;
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let call = request(1, "tools/call", json!({ "name": "who" })).to_string();
    let answer = site.send("POST", &headers, &call).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{answer:?}");
    assert!(answer.body.contains("\"error\""), "{answer:?}");
    let of_call = |record: &AuditRecord| record.method.as_deref() == Some("tools/call");
    until(|| records.0.lock().unwrap().iter().any(of_call)).await;
    let record = records.0.lock().unwrap().iter().find(|one| of_call(one)).cloned().unwrap();
    assert!(record.error.is_some_and(|code| code < 0), "{record:?}");
    assert_eq!((record.status, record.target.as_deref()), (200, Some("who")));
}

#[tokio::test]
async fn a_tool_that_fails_is_recorded_as_a_failure_whosever_it_is() {
    let memory = MemoryProvider::new().tool("bad", "{}", r#"{"content":[],"isError":true}"#).tool(
        "good",
        "{}",
        r#"{"content":[{"type":"text","text":"isError"}],"isError":false}"#,
    );
    let server = fixture::server(Arc::new(memory), Limits::default(), CollectionsMode::Always);
    let records = Arc::new(Records::default());
    let guard = OriginGuard { loopback: true, ..OriginGuard::default() };
    let audit = Some(Arc::clone(&records) as Arc<dyn AuditSink>);
    let site = HttpFixture::open_with(server, HttpOptions { audit, ..guard.into() }).await;
    let session = site.open_session("2025-11-25").await;
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let own = json!({ "name": "resources_read", "arguments": { "uri": "a:none" } });
    for params in [json!({ "name": "bad" }), json!({ "name": "good" }), own] {
        site.send("POST", &headers, &request(1, "tools/call", params).to_string()).await;
    }
    let calls = || {
        let records = records.0.lock().unwrap();
        let calls = records.iter().filter(|one| one.method.as_deref() == Some("tools/call"));
        calls.cloned().collect::<Vec<_>>()
    };
    until(|| calls().len() == 3).await;
    for (call, (name, has_failed)) in
        calls().iter().zip([("bad", true), ("good", false), ("resources_read", true)])
    {
        assert_eq!((call.target.as_deref(), call.error), (Some(name), None));
        assert_eq!(call.has_failed_tool, has_failed, "{call:?}");
        let own = if name == "resources_read" { vec!["a:none".to_owned()] } else { Vec::new() };
        assert_eq!(call.resources, own, "{call:?}");
    }
}
