//! Fault injection for the in-memory provider.

use std::sync::PoisonError;
use std::task::Poll;

use resource::{Context, Error, ErrorKind, Offer, Result, Said, Step, Uri};

use super::Memory;

/// The request that a fault applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
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
    /// Lists of tools or of prompts.
    Offers(Offer),
    /// Calls of the tool or prompt with this name.
    Call(String),
}

/// What the request does instead of succeeding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails with this kind.
    Fails(ErrorKind),
    /// It fails with an upstream server's error of this code.
    Says(i64),
    /// It never answers.
    Hangs,
    /// It reports progress, then waits until the fault is cleared and succeeds.
    Waits,
}

impl Memory {
    /// Injects a fault, replacing an earlier one for the same request.
    pub fn fault(&self, spot: Spot, fault: Fault) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.retain(|(other, _)| *other != spot);
        faults.push((spot, fault));
    }

    /// Clears all faults.
    pub fn mend(&self) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(super) async fn meet(&self, ctx: &Context, spot: &Spot) -> Result<()> {
        let fault = || {
            let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
            faults.iter().find(|(other, _)| other == spot).map(|(_, fault)| *fault)
        };
        match fault() {
            Some(Fault::Waits) => {
                match (spot, ctx.listener()) {
                    (Spot::Call(_), Some(listener)) => listener.report(halfway()),
                    _ => ctx.report(1, None),
                }
                std::future::poll_fn(|cx| {
                    cx.waker().wake_by_ref();
                    if fault().is_some() { Poll::Pending } else { Poll::Ready(Ok(())) }
                })
                .await
            }
            None => Ok(()),
            Some(Fault::Fails(kind)) => Err(Error::new(kind, "injected failure")),
            Some(Fault::Says(code)) => Err(Error::said(said(code))),
            Some(Fault::Hangs) => std::future::pending().await,
        }
    }
}

fn halfway() -> Step {
    Step { done: 0.5, total: Some(2.0), message: Some("halfway".to_owned()) }
}

fn said(code: i64) -> Said {
    let (message, data) = ("upstream failure".to_owned(), Some(r#"{"why":1.50}"#.into()));
    Said { code, message, data }
}
