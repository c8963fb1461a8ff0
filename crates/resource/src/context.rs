//! The request context: the principal, progress reports, the caller, the memory and the trace.

use std::sync::Arc;

use crate::caller::Caller;
use crate::error::{Error, Result};
use crate::principal::Principal;
use crate::trace_context::TraceContext;

/// The context of one request, passed through every layer and provider.
///
/// It always names the principal. It has no `Default`: a request that nobody made does not exist.
/// It carries no cancellation: dropping the future of a request cancels it.
#[derive(Clone)]
pub struct Context {
    principal: Principal,
    progress: Option<Arc<dyn ProgressSink>>,
    caller: Option<Arc<dyn Caller>>,
    trace: Option<Arc<TraceContext>>,
    memory: Option<Arc<dyn MemoryMeter>>,
}

/// Counts the bytes that the work on a request holds.
pub trait MemoryMeter: Send + Sync {
    /// Counts `bytes` until the result is dropped; `None` if they are more than is left.
    fn hold(&self, bytes: usize) -> Option<HeldMemory>;
}

/// Bytes that count until this is dropped.
pub type HeldMemory = Box<dyn Send + Sync>;

/// Receives progress reports of a long request.
pub trait ProgressSink: Send + Sync {
    /// Receives one report. The work may report as often as it likes.
    fn report(&self, step: ProgressStep);
}

/// One progress report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProgressStep {
    /// The amount done.
    pub done: f64,
    /// The total amount, if known.
    pub total: Option<f64>,
    /// A message for people.
    pub message: Option<String>,
}

impl Context {
    /// The context of a request that `principal` makes.
    pub fn new(principal: Principal) -> Self {
        Self { principal, progress: None, caller: None, trace: None, memory: None }
    }

    /// Without the caller and the progress sink: the source may neither ask for input nor report.
    #[must_use]
    pub fn without_caller(self) -> Self {
        Self { caller: None, progress: None, ..self }
    }

    /// Adds a receiver of progress reports.
    #[must_use]
    pub fn with_progress(self, progress: Arc<dyn ProgressSink>) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Adds the caller, to which an upstream server may send requests and log messages.
    #[must_use]
    pub fn with_caller(self, caller: Arc<dyn Caller>) -> Self {
        Self { caller: Some(caller), ..self }
    }

    /// Adds the trace that the request belongs to.
    #[must_use]
    pub fn with_trace(self, trace: TraceContext) -> Self {
        Self { trace: Some(Arc::new(trace)), ..self }
    }

    /// Adds what counts the memory of the request.
    #[must_use]
    pub fn with_memory(self, memory: Arc<dyn MemoryMeter>) -> Self {
        Self { memory: Some(memory), ..self }
    }

    /// Counts `bytes` that the request is about to hold, where somebody counts. An error if they do
    /// not fit.
    pub fn hold_memory(&self, bytes: usize) -> Result<Option<HeldMemory>> {
        let Some(memory) = &self.memory else { return Ok(None) };
        memory.hold(bytes).map(Some).ok_or_else(Error::out_of_memory)
    }

    /// The trace that the request belongs to, if it says so.
    pub fn trace(&self) -> Option<&Arc<TraceContext>> {
        self.trace.as_ref()
    }

    /// On whose behalf the request is made.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// The caller, if it can receive messages during the request.
    pub fn caller(&self) -> Option<&Arc<dyn Caller>> {
        self.caller.as_ref()
    }

    /// The receiver of progress reports, if there is one.
    pub fn progress_sink(&self) -> Option<&Arc<dyn ProgressSink>> {
        self.progress.as_ref()
    }

    /// Reports that `done` of `total` things are done, if there is a receiver.
    pub fn report_progress(&self, done: u64, total: Option<u64>) {
        if let Some(progress) = &self.progress {
            let (done, total) = (done as f64, total.map(|total| total as f64));
            progress.report(ProgressStep { done, total, message: None });
        }
    }
}
