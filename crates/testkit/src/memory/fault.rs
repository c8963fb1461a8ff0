//! What goes wrong in the memory provider, and where?

use std::sync::PoisonError;
use std::task::Poll;

use resource::{Context, Error, ErrorKind, Offer, Result, Said, Step, Uri};

use super::Memory;

/// Where something goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    /// Listing the top level or any collection.
    List,
    /// Listing templates.
    Templates,
    /// Describing one resource.
    Stat(Uri),
    /// Reading one resource.
    Read(Uri),
    /// Watching anything.
    Watch,
    /// Listing tools or prompts.
    Offers(Offer),
    /// Calling what has this name.
    Call(String),
}

/// What goes wrong there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails with this kind.
    Fails(ErrorKind),
    /// It fails in the words of a server behind it, with this code.
    Says(i64),
    /// It never answers.
    Hangs,
    /// It reports that it waits, and answers once all is mended.
    Waits,
}

impl Memory {
    /// Lets something go wrong from now on.
    pub fn fault(&self, spot: Spot, fault: Fault) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.retain(|(other, _)| *other != spot);
        faults.push((spot, fault));
    }

    /// Lets everything go well again.
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
            Some(Fault::Fails(kind)) => Err(Error::new(kind, "failing as told")),
            Some(Fault::Says(code)) => Err(Error::said(said(code))),
            Some(Fault::Hangs) => std::future::pending().await,
        }
    }
}

fn halfway() -> Step {
    Step { done: 0.5, total: Some(2.0), message: Some("halfway".to_owned()) }
}

fn said(code: i64) -> Said {
    let (message, data) = ("as it was told".to_owned(), Some(r#"{"why":1.50}"#.into()));
    Said { code, message, data }
}
