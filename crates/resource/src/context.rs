//! Under what terms is one request made?

use std::sync::Arc;

/// What travels with a request through every provider and layer.
///
/// There is no cancellation in it: cancelling a request is dropping its future.
#[derive(Clone, Default)]
pub struct Context {
    progress: Option<Arc<dyn Progress>>,
}

/// Somebody who wants to hear how far long work has come.
pub trait Progress: Send + Sync {
    /// `done` of `total` things are behind us. Called as often as the work likes.
    fn report(&self, done: u64, total: Option<u64>);
}

impl Context {
    /// A context whose work is reported to `progress`.
    #[must_use]
    pub fn reporting_to(progress: Arc<dyn Progress>) -> Self {
        Self { progress: Some(progress) }
    }

    /// Says how far the work has come, if anybody listens.
    pub fn report(&self, done: u64, total: Option<u64>) {
        if let Some(progress) = &self.progress {
            progress.report(done, total);
        }
    }
}
