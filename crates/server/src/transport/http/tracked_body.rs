//! Body of a response: keeps its connection active, counts its bytes for the audit, and ends when
//! the token of its request does.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::Response;
use hyper::body::{Body, Frame, SizeHint};
use protocol::json::outgoing::{AnswerFailure, BROKEN_ANSWER};
use resource::Error;

use super::accept::ConnectionActivity;
use super::audit_trail::AuditTrail;
use super::body::{HttpBody, ResponseFailure, StreamedOutcome};
use super::requester::Requester;
use super::tokens::Grant;

/// The body of a response, with what holds for as long as it is being sent.
pub(crate) struct TrackedBody {
    body: HttpBody,
    trail: AuditTrail,
    /// How the answer in a stream goes.
    streamed: Option<StreamedOutcome>,
    /// Completes when the client may read no more.
    revocation: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// Keeps the connection active.
    _activity: Option<ConnectionActivity>,
}

impl TrackedBody {
    /// The body of a response to a request that was let in by `grant`.
    pub(super) fn track(
        mut response: Response<HttpBody>,
        grant: Grant,
        client: Requester,
    ) -> Response<Self> {
        let (activity, mut trail) = client.into_parts();
        // Any other body is ready soon.
        let lasts = matches!(response.body(), HttpBody::Events(_));
        if let Some(activity) = activity.as_ref().filter(|_| lasts) {
            activity.expect_departure();
        }
        let revocation = if lasts { grant.revocation() } else { None };
        let revocation = revocation.map(|revocation| Box::pin(revocation) as _);
        add_outcome(&mut trail, &response);
        let streamed = response.extensions_mut().remove();
        response.map(|body| Self { body, trail, streamed, revocation, _activity: activity })
    }

    /// The body of a response to a request that was not let in.
    pub(super) fn refused(response: Response<HttpBody>, mut trail: AuditTrail) -> Response<Self> {
        add_outcome(&mut trail, &response);
        let (streamed, revocation) = (None, None);
        response.map(|body| Self { body, trail, streamed, revocation, _activity: None })
    }
}

fn add_outcome(trail: &mut AuditTrail, response: &Response<HttpBody>) {
    let failure = response.extensions().get().and_then(|failure: &ResponseFailure| failure.0);
    trail.add_outcome(response.status(), failure);
}

impl Body for TrackedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if let Some(revocation) = &mut self.revocation
            && revocation.as_mut().poll(cx).is_ready()
        {
            self.revocation = None;
            self.body = HttpBody::Whole(None);
        }
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                self.trail.add_bytes(frame.data_ref().map_or(0, Bytes::len));
            }
            Poll::Ready(Some(Err(_))) => {
                self.trail.add_failure(Some(AnswerFailure::Error(BROKEN_ANSWER)));
            }
            Poll::Ready(None) | Poll::Pending => {}
        }
        let streamed = self.streamed.as_ref().and_then(|streamed| streamed.0.failure());
        self.trail.add_failure(streamed);
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
