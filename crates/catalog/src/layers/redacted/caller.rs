//! The caller of a request, with everything that the source says to it masked.

use std::sync::Arc;

use async_trait::async_trait;
use resource::{Caller, Context, Json, ProgressSink, ProgressStep, Result};

use super::MountMasker;

/// `ctx`, with logs, questions and progress of the source masked.
pub(super) fn masked_context(ctx: &Context, masker: &MountMasker) -> Context {
    let mut masked = ctx.clone();
    if let Some(caller) = ctx.caller() {
        let (inner, masker) = (Arc::clone(caller), masker.clone());
        masked = masked.with_caller(Arc::new(MaskedCaller { inner, masker }));
    }
    if let Some(sink) = ctx.progress_sink() {
        let (inner, masker) = (Arc::clone(sink), masker.clone());
        masked = masked.with_progress(Arc::new(MaskedProgress { inner, masker }));
    }
    masked
}

struct MaskedCaller {
    inner: Arc<dyn Caller>,
    masker: MountMasker,
}

#[async_trait]
impl Caller for MaskedCaller {
    fn id(&self) -> u64 {
        self.inner.id()
    }

    fn capabilities(&self) -> &Json {
        self.inner.capabilities()
    }

    fn accepts_requests(&self) -> bool {
        self.inner.accepts_requests()
    }

    async fn send_request(&self, method: &str, params: &Json) -> Result<Json> {
        // The parameters hold schemas of what is asked for, whose keys are names of fields.
        self.inner.send_request(method, &self.masker.mask_schema(params)).await
    }

    fn input_response(&self) -> Option<&Json> {
        self.inner.input_response()
    }

    fn log_level(&self) -> Option<&'static str> {
        self.inner.log_level()
    }

    fn log(&self, message: &Json) {
        self.inner.log(&self.masker.mask_json(message));
    }
}

struct MaskedProgress {
    inner: Arc<dyn ProgressSink>,
    masker: MountMasker,
}

impl ProgressSink for MaskedProgress {
    fn report(&self, mut step: ProgressStep) {
        if let Some(message) = &mut step.message {
            self.masker.mask_string(message);
        }
        self.inner.report(step);
    }
}
