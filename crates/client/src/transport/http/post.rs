//! POST of one message, and everything that comes back: JSON, SSE stream, or HTTP error.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Method, Response, StatusCode};
use protocol::json::frame::{self, Message};
use protocol::{RpcError, header};
use tokio::time;

use super::event_stream::{RETRY_DEFAULT, RETRY_MIN, SseStream};
use super::pool::{self, HttpSendError};
use super::{HttpVariant, Inner, OutboundMessage};
use crate::error::{Error, TransportFailure};

/// How much of an error response's body is read.
const MAX_ERROR_BODY: usize = 1 << 20;
/// How long to wait for a stream to end after its answer has come.
const STREAM_END_TIMEOUT: Duration = Duration::from_millis(50);

/// Posts a message and dispatches everything that comes back.
pub(super) async fn post_message(inner: Arc<Inner>, message: OutboundMessage) {
    let OutboundMessage { id, body, headers: heading, param_headers: mirrored } = message;
    let mut request = inner.build_request(Method::POST, &heading, body);
    for (name, value) in mirrored {
        request.set_header(&name, HeaderValue::try_from(value).ok());
    }
    let posted = match inner.pool.execute(request).await {
        Ok(response) => inner.handle_response(id, response).await,
        Err(HttpSendError::Unreachable(error)) => {
            inner.pending.stop_accepting(error.clone());
            Err(error.into())
        }
        Err(HttpSendError::Failed(error)) => Err(error.into()),
    };
    if let Err(lapse) = posted {
        tracing::debug!("a message was not delivered: {}", Error::from(lapse.clone()));
        if matches!(lapse, TransportFailure::SessionExpired) {
            inner.pending.stop_accepting(lapse.clone());
        }
        inner.pending.fail(id, lapse);
    }
}

impl Inner {
    async fn handle_response(
        self: &Arc<Self>,
        id: Option<u64>,
        response: Response<Incoming>,
    ) -> Result<(), TransportFailure> {
        let status = response.status();
        if !status.is_success() {
            return Err(self.response_failure(response).await);
        }
        if let Some(session) = response.headers().get(header::SESSION_ID) {
            let _ = self.session.set(session.clone());
        }
        if pool::has_content_type(&response, "text/event-stream") {
            return self.follow_stream(id, self.follow_response(response)).await;
        }
        if pool::has_content_type(&response, "application/json") {
            let mut memory = self.pending.count_buffer();
            let bytes = pool::read_body(response, self.max_bytes, &mut memory).await?;
            if !bytes.trim_ascii().is_empty() {
                self.pending.dispatch(&bytes, id)?;
            }
            // An error without an id belongs to the request of this response.
            let is_missing = id.is_some_and(|id| self.pending.is_pending(id));
            if let Some(denial) = is_missing.then(|| self.rpc_error_in(&bytes)).flatten() {
                self.pending.fail(id, Error::Refused(denial));
            }
        }
        // Over HTTP+SSE the answer comes on the other stream.
        let is_missing = id.is_some_and(|id| self.pending.is_pending(id));
        if is_missing && self.variant != HttpVariant::HttpSse {
            let why = format!("HTTP status {status} without an answer");
            return Err(Error::Malformed(why).into());
        }
        Ok(())
    }

    async fn response_failure(&self, response: Response<Incoming>) -> TransportFailure {
        let status = response.status();
        let has_session = self.variant == HttpVariant::Session && self.session.get().is_some();
        if status == StatusCode::NOT_FOUND && has_session {
            return TransportFailure::SessionExpired;
        }
        let mut memory = self.pending.count_buffer();
        let bytes = pool::read_body(response, MAX_ERROR_BODY, &mut memory).await;
        let bytes = bytes.unwrap_or_default();
        let denial = self.rpc_error_in(&bytes);
        // Some servers answer 400 where the specification wants 404.
        let forgot = has_session && denial.as_ref().is_some_and(RpcError::is_unknown_session);
        if forgot && status == StatusCode::BAD_REQUEST {
            return TransportFailure::SessionExpired;
        }
        TransportFailure::HttpStatus { code: status.as_u16(), error: denial }
    }

    /// Follows the stream of one answer, and resumes it after a break where the server allows it.
    async fn follow_stream(
        self: &Arc<Self>,
        id: Option<u64>,
        mut stream: SseStream,
    ) -> Result<(), TransportFailure> {
        // No timeout here: the request's own timeout aborts this task.
        loop {
            let broken = stream.dispatch_events(&self.pending, id, |board| {
                id.is_none_or(|id| board.is_pending(id))
            });
            let broken = broken.await;
            let is_missing = id.is_some_and(|id| self.pending.is_pending(id));
            if !is_missing {
                // Read to the end, so that the pool can reuse the connection.
                let _ = time::timeout(
                    STREAM_END_TIMEOUT,
                    stream.dispatch_events(&self.pending, id, |_| true),
                )
                .await;
                return Ok(());
            }
            if let Err(error @ Error::TooLarge(_)) = broken {
                return Err(error.into());
            }
            let Some(last) =
                stream.last_event_id.clone().filter(|_| self.variant == HttpVariant::Session)
            else {
                return Err(Error::Closed("the stream ended before the answer".to_owned()).into());
            };
            time::sleep(stream.retry.unwrap_or(RETRY_DEFAULT).max(RETRY_MIN)).await;
            // MCP 2025-11-25, transports: a client resumes a stream by GET, however it began.
            stream = self.resume_stream(&last, stream.retry).await?;
        }
    }

    async fn resume_stream(
        &self,
        last: &str,
        retry: Option<Duration>,
    ) -> Result<SseStream, TransportFailure> {
        let request =
            self.build_request(Method::GET, &[("last-event-id", last.to_owned())], Vec::new());
        let response = self.pool.execute(request).await.map_err(HttpSendError::into_error)?;
        if !response.status().is_success() {
            return Err(self.response_failure(response).await);
        }
        let mut stream = self.follow_response(response);
        (stream.last_event_id, stream.retry) = (Some(last.to_owned()), retry);
        Ok(stream)
    }

    /// The JSON-RPC error in the body of a response, if there is one.
    fn rpc_error_in(&self, bytes: &[u8]) -> Option<RpcError> {
        match frame::parse_lenient(bytes).ok()?.pop()? {
            Message::Response { outcome: Err(error), .. } => {
                Some(self.pending.mask().apply_error(RpcError::decode(error)))
            }
            _ => None,
        }
    }
}
