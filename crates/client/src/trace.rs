//! Trace context of the requests to a server: that of the request on whose behalf they are sent.
//!
//! It belongs to the task, since requests of several callers may be one request to the server. That
//! one carries the trace of the caller that sends it.

use std::sync::Arc;

use resource::{Context, TraceContext};

tokio::task_local! {
    static CURRENT: Option<Arc<TraceContext>>;
}

/// Runs `work`, whose requests to servers belong to the trace of `ctx`.
pub async fn with_trace<T>(ctx: &Context, work: impl Future<Output = T>) -> T {
    CURRENT.scope(ctx.trace().cloned(), work).await
}

/// The trace of the current task, if there is one.
pub(crate) fn current_trace() -> Option<Arc<TraceContext>> {
    CURRENT.try_with(Clone::clone).ok().flatten()
}
