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
