//! Completion of an upstream server's templates.

use async_trait::async_trait;
use client::with_trace;
use resource::{Complete, Completion, CompletionRequest, Context, Result};

use super::Upstream;
use super::error_mapping::completion;

#[async_trait]
impl Complete for Upstream {
    fn may_complete(&self, _: &Context) -> bool {
        true
    }

    async fn complete(&self, ctx: &Context, request: &CompletionRequest<'_>) -> Result<Completion> {
        self.inner.start_listener();
        let completed = with_trace(ctx, self.inner.client.complete(request)).await;
        completion(completed, "the server behind this mount has no such template or variable")
    }
}
