//! Under what terms is one request made?

use std::sync::Arc;

use crate::caller::Caller;

/// What travels with a request through every provider and layer.
///
/// There is no cancellation in it: cancelling a request is dropping its future.
#[derive(Clone, Default)]
pub struct Context {
    progress: Option<Arc<dyn Progress>>,
    caller: Option<Arc<dyn Caller>>,
}

/// Somebody who wants to hear how far long work has come.
pub trait Progress: Send + Sync {
    /// The work has come this far. Called as often as the work likes.
    fn report(&self, step: Step);
}

/// How far long work has come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// How much is behind us.
    pub done: f64,
    /// Of how much, where that is known.
    pub total: Option<f64>,
    /// In words.
    pub message: Option<String>,
}

impl Context {
    /// A context whose work is reported to `progress`.
    #[must_use]
    pub fn reporting_to(progress: Arc<dyn Progress>) -> Self {
        Self { progress: Some(progress), caller: None }
    }

    /// The same, for a caller that may be turned to.
    #[must_use]
    pub fn asked_by(self, caller: Arc<dyn Caller>) -> Self {
        Self { caller: Some(caller), ..self }
    }

    /// Whoever asked, where it may be turned to.
    pub fn caller(&self) -> Option<&Arc<dyn Caller>> {
        self.caller.as_ref()
    }

    /// Whoever wants to hear how far the work has come.
    pub fn listener(&self) -> Option<&Arc<dyn Progress>> {
        self.progress.as_ref()
    }

    /// Says that `done` of `total` things are behind us, if anybody listens.
    pub fn report(&self, done: u64, total: Option<u64>) {
        if let Some(progress) = &self.progress {
            let (done, total) = (done as f64, total.map(|total| total as f64));
            progress.report(Step { done, total, message: None });
        }
    }
}
