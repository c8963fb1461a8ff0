//! Request in flight: its interim messages (progress, logs, requests to the client) and its answer.
//!
//! Progress is coalesced: only the latest step is sent, and only if it grew.

use std::pin::Pin;
use std::sync::Arc;

use protocol::{Notice, Outgoing, RequestId};
use resource::{Context, ProgressSink, ProgressStep};
use tokio::sync::{mpsc, watch};

use crate::transport::request_caller::RequestCaller;

/// The interim messages of a request: progress under the token that the client chose, and log
/// messages and requests from an upstream server.
#[derive(Default)]
pub(crate) struct InterimMessages {
    progress: Option<(RequestId, watch::Receiver<ProgressStep>)>,
    queued: Option<mpsc::Receiver<Outgoing>>,
}

struct ProgressReporter(watch::Sender<ProgressStep>);

impl ProgressSink for ProgressReporter {
    fn report(&self, step: ProgressStep) {
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

impl InterimMessages {
    /// Makes `ctx` report progress under `token`, and returns the receiver of the reports.
    pub(crate) fn with_progress(ctx: Context, token: RequestId) -> (Context, Self) {
        // Any first number is larger than this.
        let none = ProgressStep { done: f64::NEG_INFINITY, ..ProgressStep::default() };
        let (sender, latest) = watch::channel(none);
        let reports = Self { progress: Some((token, latest)), queued: None };
        (ctx.with_progress(Arc::new(ProgressReporter(sender))), reports)
    }

    /// Adds a caller to `ctx`, whose messages to the client come out of the reports.
    pub(crate) fn with_caller(
        ctx: Context,
        reports: Option<Self>,
        (caller, messages): (RequestCaller, mpsc::Receiver<Outgoing>),
    ) -> (Context, Self) {
        let reports = Self { queued: Some(messages), ..reports.unwrap_or_default() };
        (ctx.with_caller(Arc::new(caller)), reports)
    }

    /// Waits for the next message; forever, once no more can come.
    async fn next(&mut self) -> Outgoing {
        let Self { progress, queued: messages } = self;
        let progressed = async {
            let Some((token, latest)) = progress else { return std::future::pending().await };
            if latest.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
            let step = latest.borrow_and_update().clone();
            Notice::Progress { token: token.clone(), step }.encode()
        };
        let spoken = async {
            let next = match messages {
                Some(messages) => messages.recv().await,
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
    fn try_next(&mut self) -> Option<Outgoing> {
        self.queued.as_mut()?.try_recv().ok()
    }
}

/// A request in flight: yields its interim messages, then its answer.
pub(crate) struct InFlightRequest {
    answer: Pin<Box<dyn Future<Output = Outgoing> + Send>>,
    ready_answer: Option<Outgoing>,
    interim: Option<InterimMessages>,
}

/// One message of a request.
pub(crate) enum RequestOutput {
    /// An interim message.
    Interim(Outgoing),
    /// The answer, always last.
    Answer(Outgoing),
}

impl InFlightRequest {
    /// Wraps the future of the answer and its interim messages.
    pub(crate) fn new(
        answer: impl Future<Output = Outgoing> + Send + 'static,
        interim: Option<InterimMessages>,
    ) -> Self {
        Self { answer: Box::pin(answer), ready_answer: None, interim }
    }

    /// The next message.
    pub(crate) async fn next_output(&mut self) -> RequestOutput {
        let Self { answer, ready_answer: answered, interim: reports } = self;
        let Some(reports) = reports else { return RequestOutput::Answer(answer.await) };
        if answered.is_none() {
            tokio::select! {
                biased;
                report = reports.next() => return RequestOutput::Interim(report),
                answer = answer => *answered = Some(answer),
            }
        }
        // Messages that were queued before the answer go out before it.
        match reports.try_next() {
            Some(report) => RequestOutput::Interim(report),
            None => RequestOutput::Answer(answered.take().unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::RequestId;
    use resource::ProgressStep;

    use super::InterimMessages;

    #[tokio::test]
    async fn the_first_number_is_told_even_if_it_is_none_at_all() {
        let (ctx, mut reports) =
            InterimMessages::with_progress(testkit::local_context(), RequestId::Number("1".into()));
        let listener = ctx.progress_sink().unwrap();
        for (done, told) in [(0.0, true), (0.0, false), (2.0, true), (1.0, false)] {
            listener.report(ProgressStep { done, ..ProgressStep::default() });
            assert_eq!(reports.progress.as_ref().unwrap().1.has_changed().unwrap(), told, "{done}");
            if told {
                let bytes = reports.next().await.into_bytes().unwrap();
                let messages = String::from_utf8(bytes.to_vec()).unwrap();
                assert!(messages.contains(&format!("\"progress\":{done}")), "{messages}");
            }
        }
    }
}
