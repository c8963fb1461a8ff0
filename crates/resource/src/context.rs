//! The request context: progress reports and the caller.

use std::sync::Arc;

use crate::caller::Caller;

/// The context of one request, passed through every layer and provider.
///
/// It carries no cancellation: dropping the future of a request cancels it.
#[derive(Clone, Default)]
pub struct Context {
    progress: Option<Arc<dyn ProgressSink>>,
    caller: Option<Arc<dyn Caller>>,
}

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
    /// Creates a context that reports to `progress`.
    #[must_use]
    pub fn with_progress(progress: Arc<dyn ProgressSink>) -> Self {
        Self { progress: Some(progress), caller: None }
    }

    /// Adds the caller, to which an upstream server may send requests and log messages.
    #[must_use]
    pub fn with_caller(self, caller: Arc<dyn Caller>) -> Self {
        Self { caller: Some(caller), ..self }
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
