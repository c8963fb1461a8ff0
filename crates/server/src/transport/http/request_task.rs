//! Runs one POST request and answers it with JSON, or with SSE once it has interim messages.
//!
//! When the connection breaks, a stateless request is cancelled. A request of a session continues
//! in the background, and its client may resume the stream.

use std::sync::Arc;

use futures_util::future::{AbortRegistration, Abortable};
use futures_util::stream;
use hyper::{Response, StatusCode};
use protocol::{Outgoing, Refusal, RequestId};

use super::HttpServer;
use super::body::{HttpBody, StreamedOutcome};
use super::replay::StreamId;
use super::sessions::{HttpSession, InFlightGuard};
use super::sse::{self, OutgoingEvent};
use crate::audit::AnswerOutcome;
use crate::in_flight::{self, RequestOutput};
use crate::lifecycle::DecodedRequest;

/// The session of a request, and the means to cancel the request.
pub(crate) struct SessionBinding {
    pub(crate) session: Arc<HttpSession>,
    pub(crate) in_flight: InFlightGuard,
    pub(crate) registration: AbortRegistration,
}

/// Starts a request.
pub(crate) fn start_posted(
    http: &Arc<HttpServer>,
    request: DecodedRequest,
    tied: Option<SessionBinding>,
) -> HttpRequestTask {
    let DecodedRequest { exchange, call, interim: reports } = request;
    let id = exchange.id.clone();
    let server = Arc::clone(&http.server);
    let answer = async move { server.respond(&exchange, call).await };
    let Some(SessionBinding { session, in_flight: guard, registration }) = tied else {
        let request = Some(in_flight::InFlightRequest::new(answer, reports));
        return HttpRequestTask { request, recorder: None };
    };
    let answer = Abortable::new(answer, registration);
    let answer = async move {
        let answer = answer.await;
        drop(guard);
        // A cancelled request gets no answer.
        answer.unwrap_or_default()
    };
    let recorder = Some(ReplayRecorder { session, id, stream: None });
    HttpRequestTask { request: Some(in_flight::InFlightRequest::new(answer, reports)), recorder }
}

/// Runs a request of a batch; its answer is empty if it is cancelled. A batch has no stream for
/// interim messages: without their receiver, a request to the client fails at once.
pub(crate) async fn run_batched(
    http: &HttpServer,
    request: DecodedRequest,
    binding: SessionBinding,
) -> Outgoing {
    let DecodedRequest { exchange, call, interim } = request;
    drop(interim);
    let answer = http.server.respond(&exchange, call);
    Abortable::new(answer, binding.registration).await.unwrap_or_default()
}

/// A request in flight. Dropping it continues a resumable request in the background.
pub(crate) struct HttpRequestTask {
    request: Option<in_flight::InFlightRequest>,
    recorder: Option<ReplayRecorder>,
}

/// Keeps the messages of a request in the replay buffer of its session.
struct ReplayRecorder {
    session: Arc<HttpSession>,
    id: RequestId,
    /// Its stream id, once it has begun to stream.
    stream: Option<StreamId>,
}

/// Runs a request. The response is SSE if an interim message comes before the answer.
pub(crate) async fn respond_with_interim(mut running: HttpRequestTask) -> Response<HttpBody> {
    let first = match running.next_step().await {
        None => return answer_response(Outgoing::default()),
        Some(RequestOutput::Answer(answer)) => return answer_response(answer),
        Some(RequestOutput::Interim(report)) => report,
    };
    let prime = running.recorder.as_mut().and_then(ReplayRecorder::begin_stream);
    let state = (running, Some(RequestOutput::Interim(first)));
    let outcome = Arc::new(AnswerOutcome::default());
    let watcher = Arc::clone(&outcome);
    let rest = stream::unfold((state, watcher), |((mut running, ready), watcher)| async move {
        let step = match ready {
            Some(step) => step,
            None => running.next_step().await?,
        };
        let step = match step {
            RequestOutput::Answer(answer) => {
                RequestOutput::Answer(answer.watched_by(Arc::clone(&watcher) as _))
            }
            interim @ RequestOutput::Interim(_) => interim,
        };
        let event = running.next_event(step)?;
        Some((event, ((running, None), watcher)))
    });
    let mut response = sse::sse_response(sse::with_priming_event(prime, rest));
    response.extensions_mut().insert(StreamedOutcome(outcome));
    response
}

fn answer_response(answer: Outgoing) -> Response<HttpBody> {
    if answer.is_empty() {
        HttpBody::empty(StatusCode::ACCEPTED)
    } else if answer.is_rejected() {
        HttpBody::json(StatusCode::BAD_REQUEST, answer)
    } else {
        HttpBody::json(StatusCode::OK, answer)
    }
}

impl HttpRequestTask {
    /// The next message; `None` after the answer.
    async fn next_step(&mut self) -> Option<RequestOutput> {
        let step = self.request.as_mut()?.next_output().await;
        if matches!(step, RequestOutput::Answer(_)) {
            self.request = None;
        }
        Some(step)
    }

    /// The SSE event for a message; `None` if the request was cancelled.
    fn next_event(&mut self, step: RequestOutput) -> Option<OutgoingEvent> {
        let (message, last) = match step {
            RequestOutput::Interim(message) => (message, false),
            RequestOutput::Answer(message) => (message, true),
        };
        let event = match &self.recorder {
            _ if message.is_empty() => None,
            Some(kept) => Some(kept.record_event(message)),
            None => Some(OutgoingEvent::Message(message)),
        };
        if last {
            self.recorder = None;
        }
        event
    }
}

impl ReplayRecorder {
    /// Begins a stream; returns the id of its priming event if the revision has one.
    fn begin_stream(&mut self) -> Option<super::replay::EventId> {
        let stream = *self.stream.insert(self.session.replay_buffer.open_answer_stream());
        let primes = self.session.terms().is_some_and(|terms| terms.revision.primes_streams());
        primes.then(|| self.session.replay_buffer.record(stream, None))
    }

    fn record_event(&self, message: Outgoing) -> OutgoingEvent {
        let Some(stream) = self.stream else { return OutgoingEvent::Message(message) };
        let replay = &self.session.replay_buffer;
        match message.into_bytes() {
            Ok(bytes) => OutgoingEvent::MessageWithId(
                replay.record(stream, Some(&bytes)),
                Outgoing::from_bytes(bytes),
            ),
            Err(message) => {
                // A streamed answer is not kept. A client that resumes gets this error instead.
                let why = "the answer was too large to replay; send the request again".to_owned();
                let apology = Refusal::busy(why).encode(Some(&self.id)).into_bytes().ok();
                OutgoingEvent::MessageWithId(replay.record(stream, apology.as_ref()), message)
            }
        }
    }

    /// Finishes the request, for a client that may resume its stream.
    async fn finish_in_background(self, mut work: in_flight::InFlightRequest) {
        loop {
            let (message, last) = match work.next_output().await {
                RequestOutput::Interim(message) => (message, false),
                RequestOutput::Answer(message) => (message, true),
            };
            if !message.is_empty() {
                self.record_event(message);
            }
            if last {
                return;
            }
        }
    }
}

impl Drop for ReplayRecorder {
    fn drop(&mut self) {
        if let Some(stream) = self.stream {
            self.session.replay_buffer.close_answer_stream(stream);
        }
    }
}

impl Drop for HttpRequestTask {
    fn drop(&mut self) {
        let (Some(work), Some(kept)) = (self.request.take(), self.recorder.take()) else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(kept.finish_in_background(work));
        }
    }
}
