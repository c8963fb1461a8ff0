//! Request in flight: its interim messages (progress, logs, requests to the client) and its answer.
//!
//! Progress is coalesced: only the latest step is sent, and only if it grew.

use std::pin::Pin;
use std::sync::Arc;

use protocol::{Id, Notice, Outgoing};
use resource::{Context, Progress, Step};
use tokio::sync::{mpsc, watch};

use crate::transport::caller::Voice;

/// The interim messages of a request: progress under the token that the client chose, and log
/// messages and requests from an upstream server.
#[derive(Default)]
pub(crate) struct Reports {
    progress: Option<(Id, watch::Receiver<Step>)>,
    said: Option<mpsc::Receiver<Outgoing>>,
}

struct Reporter(watch::Sender<Step>);

impl Progress for Reporter {
    fn report(&self, step: Step) {
        // Progress must increase (MCP), and the latest step replaces those not sent yet.
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
    /// A context that reports progress under `token`, and the receiver of the reports.
    pub(crate) fn under(token: Id) -> (Context, Self) {
        // Any first number is larger than this.
        let none = Step { done: f64::NEG_INFINITY, ..Step::default() };
        let (sender, latest) = watch::channel(none);
        let reports = Self { progress: Some((token, latest)), said: None };
        (Context::reporting_to(Arc::new(Reporter(sender))), reports)
    }

    /// Adds a caller to `ctx`, whose messages to the client come out of the reports.
    pub(crate) fn with(
        ctx: Context,
        reports: Option<Self>,
        (voice, said): (Voice, mpsc::Receiver<Outgoing>),
    ) -> (Context, Self) {
        let reports = Self { said: Some(said), ..reports.unwrap_or_default() };
        (ctx.asked_by(Arc::new(voice)), reports)
    }

    /// Waits for the next message; forever, once no more can come.
    async fn next(&mut self) -> Outgoing {
        let Self { progress, said } = self;
        let progressed = async {
            let Some((token, latest)) = progress else { return std::future::pending().await };
            if latest.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
            let step = latest.borrow_and_update().clone();
            Notice::Progress { token: token.clone(), step }.encode()
        };
        let spoken = async {
            let next = match said {
                Some(said) => said.recv().await,
                None => None,
            };
            match next {
                Some(message) => message,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            message = spoken => message,
            message = progressed => message,
        }
    }

    /// A message that is still queued.
    fn rest(&mut self) -> Option<Outgoing> {
        self.said.as_mut()?.try_recv().ok()
    }
}

/// A request in flight: yields its interim messages, then its answer.
pub(crate) struct Running {
    answer: Pin<Box<dyn Future<Output = Outgoing> + Send>>,
    answered: Option<Outgoing>,
    reports: Option<Reports>,
}

/// One message of a request.
pub(crate) enum Out {
    /// An interim message.
    Report(Outgoing),
    /// The answer, always last.
    Answer(Outgoing),
}

impl Running {
    /// Wraps the future of the answer and its interim messages.
    pub(crate) fn new(
        answer: impl Future<Output = Outgoing> + Send + 'static,
        reports: Option<Reports>,
    ) -> Self {
        Self { answer: Box::pin(answer), answered: None, reports }
    }

    /// The next message.
    pub(crate) async fn step(&mut self) -> Out {
        let Self { answer, answered, reports } = self;
        let Some(reports) = reports else { return Out::Answer(answer.await) };
        if answered.is_none() {
            tokio::select! {
                biased;
                report = reports.next() => return Out::Report(report),
                answer = answer => *answered = Some(answer),
            }
        }
        // Messages that were queued before the answer go out before it.
        match reports.rest() {
            Some(report) => Out::Report(report),
            None => Out::Answer(answered.take().unwrap_or_default()),
        }
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
            assert_eq!(reports.progress.as_ref().unwrap().1.has_changed().unwrap(), told, "{done}");
            if told {
                let bytes = reports.next().await.into_bytes().unwrap();
                let said = String::from_utf8(bytes.to_vec()).unwrap();
                assert!(said.contains(&format!("\"progress\":{done}")), "{said}");
            }
        }
    }
}
