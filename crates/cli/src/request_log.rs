//! Request log: one line of the log per request over HTTP, at `info`.

use std::sync::Arc;

use server::{AuditRecord, AuditSink};
use tracing::Level;

use crate::audit_log::mask_target;
use crate::output::one_line;

/// The target of these lines. The log's rate limit does not apply to them: who turns them on wants
/// them all.
pub(crate) const TARGET: &str = "request";

/// Logs each request, and passes its record on.
#[derive(Debug)]
pub(crate) struct RequestLog {
    audit: Option<Arc<dyn AuditSink>>,
}

impl RequestLog {
    /// `audit` with a line of the log for each request, if the log shows such lines.
    pub(crate) fn around(audit: Option<Arc<dyn AuditSink>>) -> Option<Arc<dyn AuditSink>> {
        match tracing::enabled!(target: TARGET, Level::INFO) {
            true => Some(Arc::new(Self { audit })),
            false => audit,
        }
    }
}

impl AuditSink for RequestLog {
    fn record(&self, record: AuditRecord) {
        tracing::info!(target: TARGET, "{}", format_request(&record));
        if let Some(audit) = &self.audit {
            audit.record(record);
        }
    }
}

/// Method, target, client and revision; then outcome, time and size.
fn format_request(record: &AuditRecord) -> String {
    let AuditRecord { http_method, method, target, client, revision, .. } = record;
    let mut line = http_method.clone().unwrap_or_default();
    let target = target.as_deref().map(mask_target);
    let resources = record.resources.iter().map(|uri| mask_target(uri)).collect::<Vec<_>>();
    let resources = (!resources.is_empty()).then(|| resources.join(" "));
    let parts = [method.as_deref(), target.as_deref(), resources.as_deref()];
    for part in parts.into_iter().flatten() {
        line = format!("{line} {}", one_line(part));
    }
    let client = client.as_deref().unwrap_or("a client without a name");
    line = format!("{line} by {}", one_line(client));
    if let Some(revision) = revision {
        line = format!("{line} ({})", one_line(revision));
    }
    let outcome = match (record.status, record.error) {
        (0, _) => "the client left before the answer".to_owned(),
        (status, None) if record.has_failed_tool => format!("{status}, the tool failed"),
        (status, None) => status.to_string(),
        (status, Some(code)) => format!("{status} with error {code}"),
    };
    let time = record.elapsed.as_millis();
    format!("{line}: {outcome}, {time} ms, {} bytes", record.bytes)
}
