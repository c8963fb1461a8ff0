//! What does whoever waits hear before it is answered?

use std::pin::Pin;
use std::sync::Arc;

use protocol::{Id, Notice, Outgoing};
use resource::{Context, Progress, Step};
use tokio::sync::{mpsc, watch};

use crate::transport::caller::Voice;

/// What comes out of a request before its answer: progress under the token that its client chose,
/// and what a server behind us has to say to it.
#[derive(Default)]
pub(crate) struct Reports {
    progress: Option<(Id, watch::Receiver<Step>)>,
    said: Option<mpsc::Receiver<Outgoing>>,
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
        let reports = Self { progress: Some((token, latest)), said: None };
        (Context::reporting_to(Arc::new(Reporter(sender))), reports)
    }

    /// The same, with a client that may be turned to.
    pub(crate) fn with(
        ctx: Context,
        reports: Option<Self>,
        (voice, said): (Voice, mpsc::Receiver<Outgoing>),
    ) -> (Context, Self) {
        let reports = Self { said: Some(said), ..reports.unwrap_or_default() };
        (ctx.asked_by(Arc::new(voice)), reports)
    }

    /// The next report; never, once there can be no more.
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

    /// What was said and is still to be heard.
    fn rest(&mut self) -> Option<Outgoing> {
        self.said.as_mut()?.try_recv().ok()
    }
}

/// A request under way: what comes before its answer, and the answer.
pub(crate) struct Running {
    answer: Pin<Box<dyn Future<Output = Outgoing> + Send>>,
    answered: Option<Outgoing>,
    reports: Option<Reports>,
}

/// What comes out of a request.
pub(crate) enum Out {
    /// Something before its answer.
    Report(Outgoing),
    /// Its answer, behind which nothing comes.
    Answer(Outgoing),
}

impl Running {
    /// The work that `answer` does.
    pub(crate) fn new(
        answer: impl Future<Output = Outgoing> + Send + 'static,
        reports: Option<Reports>,
    ) -> Self {
        Self { answer: Box::pin(answer), answered: None, reports }
    }

    /// What comes next.
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
        // What was said before the answer is heard before it.
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
