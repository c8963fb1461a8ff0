//! Fault injection for the in-memory provider.

use std::task::Poll;

use resource::{
    ComponentKind, Context, Error, ErrorKind, ProgressStep, Result, UpstreamError, Uri,
};

use super::MemoryProvider;

/// The request that a fault applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultPoint {
    /// Lists of the top level or of any collection.
    List,
    /// Lists of templates.
    Templates,
    /// Descriptions of this resource.
    Stat(Uri),
    /// Reads of this resource.
    Read(Uri),
    /// All watches.
    Watch,
    /// All searches.
    Search,
    /// Lists of skills, and single skills.
    Skills,
    /// Lists of tools or of prompts.
    Components(ComponentKind),
    /// Calls of the tool or prompt with this name, and completions of the prompt.
    Call(String),
}

/// What the request does instead of succeeding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails with this kind.
    Fails(ErrorKind),
    /// It fails with an upstream server's error of this code.
    UpstreamError(i64),
    /// It never answers.
    Hangs,
    /// It reports progress, then waits until the fault is cleared and succeeds.
    Waits,
    /// It counts this many bytes as memory of the request, and succeeds if they fit.
    HoldsMemory(usize),
}

impl MemoryProvider {
    /// Injects a fault, replacing an earlier one for the same request.
    pub fn inject_fault(&self, point: FaultPoint, fault: Fault) {
        let mut faults = self.faults.lock();
        faults.retain(|(other, _)| *other != point);
        faults.push((point, fault));
    }

    /// Clears all faults.
    pub fn clear_faults(&self) {
        self.faults.lock().clear();
    }

    pub(super) async fn apply_fault(&self, ctx: &Context, point: &FaultPoint) -> Result<()> {
        let fault = || {
            let faults = self.faults.lock();
            faults.iter().find(|(other, _)| other == point).map(|(_, fault)| *fault)
        };
        match fault() {
            Some(Fault::Waits) => {
                match (point, ctx.progress_sink()) {
                    (FaultPoint::Call(_), Some(listener)) => listener.report(halfway()),
                    _ => ctx.report_progress(1, None),
                }
                std::future::poll_fn(|cx| {
                    cx.waker().wake_by_ref();
                    if fault().is_some() { Poll::Pending } else { Poll::Ready(Ok(())) }
                })
                .await
            }
            None => Ok(()),
            Some(Fault::Fails(kind)) => Err(Error::new(kind, "injected failure")),
            Some(Fault::UpstreamError(code)) => Err(Error::from_upstream(upstream_error(code))),
            Some(Fault::Hangs) => std::future::pending().await,
            Some(Fault::HoldsMemory(bytes)) => ctx.hold_memory(bytes).map(drop),
        }
    }
}

fn halfway() -> ProgressStep {
    ProgressStep { done: 0.5, total: Some(2.0), message: Some("halfway".to_owned()) }
}

fn upstream_error(code: i64) -> UpstreamError {
    let (message, data) = ("upstream failure".to_owned(), Some(r#"{"why":1.50}"#.into()));
    UpstreamError { code, message, data }
}
