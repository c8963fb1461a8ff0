//! Runs one POST request and answers it with JSON, or with SSE once it has interim messages.
//!
//! When the connection breaks, a stateless request is cancelled. A request of a session continues
//! in the background, and its client may resume the stream.

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
use crate::progress::{self, Out};

/// The session of a request, and the means to cancel the request.
pub(crate) struct Tied {
    pub(crate) session: Arc<Session>,
    pub(crate) stay: Stay,
    pub(crate) registration: AbortRegistration,
}

/// Runs a request. The response is SSE if an interim message comes before the answer.
pub(crate) async fn run(site: &Arc<Site>, opened: Opened, tied: Option<Tied>) -> Response<Body> {
    let Opened { exchange, call, reports } = opened;
    let id = exchange.id.clone();
    let server = Arc::clone(&site.server);
    let answer = async move { server.answer(&exchange, call).await };
    let Some(Tied { session, stay, registration }) = tied else {
        return report(Running { work: Some(progress::Running::new(answer, reports)), kept: None })
            .await;
    };
    let answer = Abortable::new(answer, registration);
    let answer = async move {
        let answer = answer.await;
        drop(stay);
        // A cancelled request gets no answer.
        answer.unwrap_or_default()
    };
    let kept = Some(Kept { session, id, strand: None });
    report(Running { work: Some(progress::Running::new(answer, reports)), kept }).await
}

/// A request in flight. Dropping it continues a resumable request in the background.
struct Running {
    work: Option<progress::Running>,
    kept: Option<Kept>,
}

/// Keeps the messages of a request in the replay buffer of its session.
struct Kept {
    session: Arc<Session>,
    id: Id,
    /// Its stream id, once it has begun to stream.
    strand: Option<Strand>,
}

async fn report(mut running: Running) -> Response<Body> {
    let first = match running.step().await {
        None => return finished(Outgoing::default()),
        Some(Out::Answer(answer)) => return finished(answer),
        Some(Out::Report(report)) => report,
    };
    let prime = running.kept.as_mut().and_then(Kept::begin);
    let state = (running, Some(Out::Report(first)));
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
    } else if answer.is_turned_away() {
        Body::message(StatusCode::BAD_REQUEST, answer)
    } else {
        Body::message(StatusCode::OK, answer)
    }
}

impl Running {
    /// The next message; `None` after the answer.
    async fn step(&mut self) -> Option<Out> {
        let step = self.work.as_mut()?.step().await;
        if matches!(step, Out::Answer(_)) {
            self.work = None;
        }
        Some(step)
    }

    /// The SSE event for a message; `None` if the request was cancelled.
    fn event(&mut self, step: Out) -> Option<Event> {
        let (message, last) = match step {
            Out::Report(message) => (message, false),
            Out::Answer(message) => (message, true),
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
    /// Begins a stream; returns the id of its priming event if the revision has one.
    fn begin(&mut self) -> Option<super::replay::Mark> {
        let strand = *self.strand.insert(self.session.replay.answer());
        let primes = self.session.terms().is_some_and(|terms| terms.revision.primes_streams());
        primes.then(|| self.session.replay.mark(strand, None))
    }

    fn event(&self, message: Outgoing) -> Event {
        let Some(strand) = self.strand else { return Event::Message(message) };
        let replay = &self.session.replay;
        match message.into_bytes() {
            Ok(bytes) => Event::Marked(replay.mark(strand, Some(&bytes)), Outgoing::ready(bytes)),
            Err(message) => {
                // A streamed answer is not kept. A client that resumes gets this error instead.
                let why = "the answer was too large to replay; send the request again".to_owned();
                let apology = Refusal::busy(why).encode(Some(&self.id)).into_bytes().ok();
                Event::Marked(replay.mark(strand, apology.as_ref()), message)
            }
        }
    }

    /// Finishes the request, for a client that may resume its stream.
    async fn go_on(self, mut work: progress::Running) {
        loop {
            let (message, last) = match work.step().await {
                Out::Report(message) => (message, false),
                Out::Answer(message) => (message, true),
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
