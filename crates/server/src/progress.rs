//! How does whoever waits hear that long work goes on?

use std::sync::Arc;

use protocol::{Id, Notice, Outgoing};
use resource::{Context, Progress};
use tokio::sync::watch;

/// What a request has reported, as notices under the token that its client chose.
pub(crate) struct Reports {
    token: Id,
    latest: watch::Receiver<(u64, Option<u64>)>,
}

struct Reporter(watch::Sender<(u64, Option<u64>)>);

impl Progress for Reporter {
    fn report(&self, done: u64, total: Option<u64>) {
        // Only growing numbers may be told, and only the latest is worth it.
        self.0.send_if_modified(|latest| {
            let grows = done > latest.0;
            if grows {
                *latest = (done, total);
            }
            grows
        });
    }
}

impl Reports {
    /// A context whose work is reported under `token`, and where the reports come out.
    pub(crate) fn under(token: Id) -> (Context, Self) {
        let (sender, latest) = watch::channel((0, None));
        (Context::reporting_to(Arc::new(Reporter(sender))), Self { token, latest })
    }

    /// The next report; never, once there can be no more.
    pub(crate) async fn next(&mut self) -> Outgoing {
        if self.latest.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        let (done, total) = *self.latest.borrow_and_update();
        Notice::Progress { token: self.token.clone(), done, total }.encode()
    }
}
