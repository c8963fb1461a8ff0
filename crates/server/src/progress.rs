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
        // The first number grows whatever it is.
        let none = Step { done: f64::NEG_INFINITY, ..Step::default() };
        let (sender, latest) = watch::channel(none);
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

#[cfg(test)]
mod tests {
    use protocol::Id;
    use resource::Step;

    use super::Reports;

    #[tokio::test]
    async fn the_first_number_is_told_even_if_it_is_none_at_all() {
        let (ctx, mut reports) = Reports::under(Id::Number("1".into()));
        let listener = ctx.listener().unwrap();
        for (done, told) in [(0.0, true), (0.0, false), (2.0, true), (1.0, false)] {
            listener.report(Step { done, ..Step::default() });
            assert_eq!(reports.latest.has_changed().unwrap(), told, "{done}");
            if told {
                let bytes = reports.next().await.into_bytes().unwrap();
                let said = String::from_utf8(bytes.to_vec()).unwrap();
                assert!(said.contains(&format!("\"progress\":{done}")), "{said}");
            }
        }
    }
}
