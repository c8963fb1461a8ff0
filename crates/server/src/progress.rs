//! How does whoever waits hear that long work goes on?

use std::sync::Arc;

use protocol::{Id, Notice, Outgoing};
use resource::{Context, Progress, Step};
use tokio::sync::watch;

/// What a request has reported, as notices under the token that its client chose.
pub(crate) struct Reports {
    token: Id,
    latest: watch::Receiver<Step>,
}

struct Reporter(watch::Sender<Step>);

impl Progress for Reporter {
    fn report(&self, step: Step) {
        // Only growing numbers may be told, and only the latest is worth it.
        self.0.send_if_modified(|latest| {
            let grows = step.done > latest.done;
            if grows {
                *latest = step;
            }
            grows
        });
    }
}

impl Reports {
    /// A context whose work is reported under `token`, and where the reports come out.
    pub(crate) fn under(token: Id) -> (Context, Self) {
        let (sender, latest) = watch::channel(Step::default());
        (Context::reporting_to(Arc::new(Reporter(sender))), Self { token, latest })
    }

    /// The next report; never, once there can be no more.
    pub(crate) async fn next(&mut self) -> Outgoing {
        if self.latest.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        let step = self.latest.borrow_and_update().clone();
        Notice::Progress { token: self.token.clone(), step }.encode()
    }
}
