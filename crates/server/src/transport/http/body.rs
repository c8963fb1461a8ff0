//! HTTP response bodies: empty, one JSON message, a file, or an SSE stream.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use hyper::body::{Frame, SizeHint};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use protocol::json::outgoing::AnswerFailure;
use protocol::{Outgoing, Refusal};
use resource::Error;

use crate::audit::AnswerOutcome;

/// The body of an HTTP response.
pub(crate) enum HttpBody {
    /// The whole body in memory; `None` is empty.
    Whole(Option<Bytes>),
    /// A message that is encoded while it is sent.
    Message(Box<Outgoing>),
    /// SSE events, until their stream ends.
    Events(Pin<Box<dyn Stream<Item = Result<Bytes, Error>> + Send>>),
}

/// The outcome of an answer in an SSE stream; an extension of the response.
#[derive(Clone)]
pub(crate) struct StreamedOutcome(pub(crate) Arc<AnswerOutcome>);

/// How the answer in a JSON response fails, if it does; an extension of the response.
#[derive(Clone, Copy)]
pub(crate) struct ResponseFailure(pub(crate) Option<AnswerFailure>);

impl HttpBody {
    /// A response without a body.
    pub(crate) fn empty(status: StatusCode) -> Response<Self> {
        build_response(status, Self::Whole(None), None)
    }

    /// A response with one JSON message.
    pub(crate) fn json(status: StatusCode, message: Outgoing) -> Response<Self> {
        let failure = message.failure();
        let body = match message.into_bytes() {
            Ok(bytes) => Self::Whole(Some(bytes)),
            Err(message) => Self::Message(Box::new(message)),
        };
        let mut response = build_response(status, body, Some("application/json"));
        // Most answers are none, and need no table of extensions.
        if failure.is_some() {
            response.extensions_mut().insert(ResponseFailure(failure));
        }
        response
    }

    /// A response with a JSON text that is no message.
    pub(crate) fn small_json(text: &'static str) -> Response<Self> {
        let body = Self::Whole(Some(Bytes::from_static(text.as_bytes())));
        build_response(StatusCode::OK, body, Some("application/json"))
    }

    /// A response with a file, or with its headers alone.
    pub(crate) fn file(
        status: StatusCode,
        kind: &'static str,
        bytes: Option<Bytes>,
    ) -> Response<Self> {
        build_response(status, Self::Whole(bytes), Some(kind))
    }

    /// A refusal without a request id.
    pub(crate) fn refusal(status: StatusCode, why: &str) -> Response<Self> {
        Self::json(status, Refusal::invalid_request(why).encode(None))
    }

    /// A response with an SSE stream.
    pub(crate) fn sse(
        events: impl Stream<Item = Result<Bytes, Error>> + Send + 'static,
    ) -> Response<Self> {
        let body = Self::Events(Box::pin(events));
        let mut response = build_response(StatusCode::OK, body, Some("text/event-stream"));
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        let buffering = HeaderName::from_static("x-accel-buffering");
        headers.insert(buffering, HeaderValue::from_static("no"));
        response
    }
}

fn build_response(
    status: StatusCode,
    body: HttpBody,
    kind: Option<&'static str>,
) -> Response<HttpBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    if let Some(kind) = kind {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    response
}

impl hyper::body::Body for HttpBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let next = match self.get_mut() {
            Self::Whole(bytes) => bytes.take().map(Ok),
            Self::Message(message) => ready!(Pin::new(&mut **message).poll_next(cx)),
            Self::Events(events) => ready!(events.as_mut().poll_next(cx)),
        };
        // An error aborts the connection, so that no client takes half a message for a whole.
        Poll::Ready(next.map(|chunk| chunk.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Self::Message(_) | Self::Events(_) => SizeHint::default(),
        }
    }
}
