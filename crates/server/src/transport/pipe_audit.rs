//! Audit of one request over pipes: recorded after its answer was sent, or when it is cancelled.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use protocol::Outgoing;
use protocol::json::outgoing::{AnswerFailure, AnswerWatcher};
use resource::Principal;

use crate::audit::{AnswerOutcome, AuditRecord, AuditSink, AuditedCall};

/// The audit of one request. Records it when it is dropped.
#[derive(Debug)]
pub(crate) struct PipeAudit {
    sink: Arc<dyn AuditSink>,
    principal: Arc<str>,
    call: AuditedCall,
    started: Instant,
    outcome: AnswerOutcome,
}

impl PipeAudit {
    pub(crate) fn begin(
        sink: &Arc<dyn AuditSink>,
        principal: &Principal,
        call: AuditedCall,
    ) -> Arc<Self> {
        Arc::new(Self {
            sink: Arc::clone(sink),
            principal: Arc::clone(principal.key()),
            call,
            started: Instant::now(),
            outcome: AnswerOutcome::default(),
        })
    }

    /// The request is answered, or its answer has begun.
    pub(crate) fn note_answer(&self) {
        self.outcome.is_answered.store(true, Ordering::Relaxed);
    }

    /// `answer`, which the audit of its request watches.
    pub(crate) fn watch(audit: Option<Arc<Self>>, answer: Outgoing) -> Outgoing {
        match audit {
            Some(audit) => {
                audit.note_answer();
                answer.watched_by(audit)
            }
            None => answer,
        }
    }
}

impl AnswerWatcher for PipeAudit {
    fn note_bytes(&self, bytes: usize) {
        self.outcome.note_bytes(bytes);
    }

    fn note_failure(&self, failure: AnswerFailure) {
        self.outcome.note_failure(failure);
    }
}

impl Drop for PipeAudit {
    fn drop(&mut self) {
        let AuditedCall { method, target, resources, client, revision } =
            std::mem::take(&mut self.call);
        let is_answered = self.outcome.is_answered.load(Ordering::Relaxed);
        let mut record = AuditRecord {
            principal: Some(Arc::clone(&self.principal)),
            peer: None,
            is_encrypted: false,
            http_method: None,
            client,
            revision,
            method: Some(method),
            target,
            resources,
            status: if is_answered { 200 } else { 0 },
            error: None,
            has_failed_tool: false,
            bytes: self.outcome.bytes.load(Ordering::Relaxed),
            elapsed: self.started.elapsed(),
        };
        record.note_failure(self.outcome.failure());
        self.sink.record(record);
    }
}
