//! How is a request answered, and what if its client leaves before?
//!
//! A request that stands alone ends with its connection. One of a session goes on: a broken
//! connection is no cancellation, and the client may come back for the rest.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::{AbortRegistration, Abortable};
use futures_util::stream;
use hyper::{Response, StatusCode};
use protocol::{Id, Outgoing, Refusal};

use super::Site;
use super::body::Body;
use super::events::{self, Event};
use super::replay::Strand;
use super::sessions::{Session, Stay};
use crate::lifecycle::Opened;
use crate::progress::Reports;

/// A request of a session, which may be cancelled.
pub(crate) struct Tied {
    pub(crate) session: Arc<Session>,
    pub(crate) stay: Stay,
    pub(crate) registration: AbortRegistration,
}

/// Answers a request; as events, if it runs long enough to have something to report.
pub(crate) async fn run(site: &Arc<Site>, opened: Opened, tied: Option<Tied>) -> Response<Body> {
    let Opened { exchange, call, reports } = opened;
    let id = exchange.id.clone();
    let server = Arc::clone(&site.server);
    let answer = async move { server.answer(&exchange, call).await };
    let Some(Tied { session, stay, registration }) = tied else {
        return report(Running { work: Some(Work::new(answer, reports)), kept: None }).await;
    };
    let answer = Abortable::new(answer, registration);
    let answer = async move {
        let answer = answer.await;
        drop(stay);
        // A request that was cancelled is not answered.
        answer.unwrap_or_default()
    };
    let kept = Some(Kept { session, id, strand: None });
    report(Running { work: Some(Work::new(answer, reports)), kept }).await
}

/// A request under way, with whatever outlives its connection.
struct Running {
    work: Option<Work>,
    kept: Option<Kept>,
}

struct Work {
    answer: Pin<Box<dyn Future<Output = Outgoing> + Send>>,
    reports: Option<Reports>,
}

/// Where a session finds what it has missed.
struct Kept {
    session: Arc<Session>,
    id: Id,
    /// Its stream, once there is one.
    strand: Option<Strand>,
}

enum Step {
    Report(Outgoing),
    Answer(Outgoing),
}

async fn report(mut running: Running) -> Response<Body> {
    let first = match running.step().await {
        None => return finished(Outgoing::default()),
        Some(Step::Answer(answer)) => return finished(answer),
        Some(Step::Report(report)) => report,
    };
    let prime = running.kept.as_mut().and_then(Kept::begin);
    let state = (running, Some(Step::Report(first)));
    let rest = stream::unfold(state, |(mut running, ready)| async move {
        let step = match ready {
            Some(step) => step,
            None => running.step().await?,
        };
        let event = running.event(step)?;
        Some((event, (running, None)))
    });
    events::respond(events::primed(prime, rest))
}

fn finished(answer: Outgoing) -> Response<Body> {
    if answer.is_empty() {
        Body::status(StatusCode::ACCEPTED)
    } else {
        let is_at_fault = answer.is_at_fault();
        let status = if is_at_fault { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        Body::message(status, answer)
    }
}

impl Work {
    fn new(
        answer: impl Future<Output = Outgoing> + Send + 'static,
        reports: Option<Reports>,
    ) -> Self {
        Self { answer: Box::pin(answer), reports }
    }

    async fn step(&mut self) -> Step {
        let Self { answer, reports } = self;
        let Some(reports) = reports else { return Step::Answer(answer.await) };
        tokio::select! {
            biased;
            answer = answer => Step::Answer(answer),
            report = reports.next() => Step::Report(report),
        }
    }
}

impl Running {
    /// What happens next; nothing after the answer.
    async fn step(&mut self) -> Option<Step> {
        let step = self.work.as_mut()?.step().await;
        if matches!(step, Step::Answer(_)) {
            self.work = None;
        }
        Some(step)
    }

    /// The event that tells of it, unless the request was cancelled.
    fn event(&mut self, step: Step) -> Option<Event> {
        let (message, last) = match step {
            Step::Report(message) => (message, false),
            Step::Answer(message) => (message, true),
        };
        let event = match &self.kept {
            _ if message.is_empty() => None,
            Some(kept) => Some(kept.event(message)),
            None => Some(Event::Message(message)),
        };
        if last {
            self.kept = None;
        }
        event
    }
}

impl Kept {
    /// Begins a stream; where to go on from, if its client is told so.
    fn begin(&mut self) -> Option<super::replay::Mark> {
        let strand = *self.strand.insert(self.session.replay.answer());
        let primes = self.session.terms.is_some_and(|terms| terms.revision.primes_streams());
        primes.then(|| self.session.replay.mark(strand, None))
    }

    fn event(&self, message: Outgoing) -> Event {
        let Some(strand) = self.strand else { return Event::Message(message) };
        let replay = &self.session.replay;
        match message.into_bytes() {
            Ok(bytes) => Event::Marked(replay.mark(strand, Some(&bytes)), Outgoing::ready(bytes)),
            Err(message) => {
                // Whoever does not get it whole, and comes back, is to ask anew.
                let why = "the answer was too large to be kept; ask again".to_owned();
                let apology = Refusal::busy(why).encode(Some(&self.id)).into_bytes().ok();
                Event::Marked(replay.mark(strand, apology.as_ref()), message)
            }
        }
    }

    /// Does the rest of the work, for a client that may come back.
    async fn go_on(self, mut work: Work) {
        loop {
            let (message, last) = match work.step().await {
                Step::Report(message) => (message, false),
                Step::Answer(message) => (message, true),
            };
            if !message.is_empty() {
                self.event(message);
            }
            if last {
                return;
            }
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(strand) = self.strand {
            self.session.replay.end(strand);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let (Some(work), Some(kept)) = (self.work.take(), self.kept.take()) else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(kept.go_on(work));
        }
    }
}
