//! POST of one message, and everything that comes back: JSON, SSE stream, or HTTP error.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Method, Response, StatusCode};
use protocol::{Denial, Heard, answer, header};
use tokio::time;

use super::feed::{AGAIN, SOONEST, Stream};
use super::pool::{self, Unsent};
use super::{Inner, Parcel, Style};
use crate::error::{Error, Lapse};

/// How much of an error response's body is read.
const COMPLAINT: usize = 1 << 20;
/// How long to wait for a stream to end after its answer has come.
const REST: Duration = Duration::from_millis(50);

/// Posts a message and dispatches everything that comes back.
pub(super) async fn post(inner: Arc<Inner>, parcel: Parcel) {
    let Parcel { id, body, heading, mirrored } = parcel;
    let mut request = inner.request(Method::POST, &heading, body);
    for (name, value) in mirrored {
        request.set(&name, HeaderValue::try_from(value).ok());
    }
    let posted = match inner.pool.send(request).await {
        Ok(response) => inner.take(id, response).await,
        Err(Unsent::Unreachable(error)) => {
            inner.board.retire(error.clone());
            Err(error.into())
        }
        Err(Unsent::Failed(error)) => Err(error.into()),
    };
    if let Err(lapse) = posted {
        tracing::debug!(?lapse, "cannot deliver a message");
        if matches!(lapse, Lapse::Expired) {
            inner.board.retire(lapse.clone());
        }
        inner.board.fail(id, lapse);
    }
}

impl Inner {
    async fn take(
        self: &Arc<Self>,
        id: Option<u64>,
        response: Response<Incoming>,
    ) -> Result<(), Lapse> {
        let status = response.status();
        if !status.is_success() {
            return Err(self.refused(response).await);
        }
        if let Some(session) = response.headers().get(header::SESSION) {
            let _ = self.session.set(session.clone());
        }
        if pool::is(&response, "text/event-stream") {
            return self.follow(id, Stream::new(response, self.most)).await;
        }
        if pool::is(&response, "application/json") {
            let bytes = pool::whole(response, self.most).await?;
            if !bytes.trim_ascii().is_empty() {
                self.board.hear(&bytes, id)?;
            }
            // An error without an id belongs to the request of this response.
            let is_missing = id.is_some_and(|id| self.board.is_waiting(id));
            if let Some(denial) = is_missing.then(|| denial(&bytes)).flatten() {
                self.board.fail(id, Error::Refused(denial));
            }
        }
        // Over HTTP+SSE the answer comes on the other stream.
        let is_missing = id.is_some_and(|id| self.board.is_waiting(id));
        if is_missing && self.style != Style::Older {
            let why = format!("HTTP status {status} without an answer");
            return Err(Error::Malformed(why).into());
        }
        Ok(())
    }

    async fn refused(&self, response: Response<Incoming>) -> Lapse {
        let status = response.status();
        let has_session = self.style == Style::Session && self.session.get().is_some();
        if status == StatusCode::NOT_FOUND && has_session {
            return Lapse::Expired;
        }
        let bytes = pool::whole(response, COMPLAINT).await.unwrap_or_default();
        let denial = denial(&bytes);
        // Some servers answer 400 where the specification wants 404.
        let forgot = has_session && denial.as_ref().is_some_and(Denial::is_about_session);
        if forgot && status == StatusCode::BAD_REQUEST {
            return Lapse::Expired;
        }
        Lapse::Status { code: status.as_u16(), denial }
    }

    /// Follows the stream of one answer, and resumes it after a break where the server allows it.
    async fn follow(self: &Arc<Self>, id: Option<u64>, mut stream: Stream) -> Result<(), Lapse> {
        // No timeout here: the request's own timeout aborts this task.
        loop {
            let broken =
                stream.hear(&self.board, id, |board| id.is_none_or(|id| board.is_waiting(id)));
            let broken = broken.await;
            let is_missing = id.is_some_and(|id| self.board.is_waiting(id));
            if !is_missing {
                // Read to the end, so that the pool can reuse the connection.
                let _ = time::timeout(REST, stream.hear(&self.board, id, |_| true)).await;
                return Ok(());
            }
            if let Err(error @ Error::TooLarge(_)) = broken {
                return Err(error.into());
            }
            let Some(last) = stream.last.clone().filter(|_| self.style == Style::Session) else {
                return Err(Error::Closed("the stream ended before the answer".to_owned()).into());
            };
            time::sleep(stream.retry.unwrap_or(AGAIN).max(SOONEST)).await;
            // MCP 2025-11-25, transports: a client resumes a stream by GET, however it began.
            stream = self.resume(&last, stream.retry).await?;
        }
    }

    async fn resume(&self, last: &str, retry: Option<Duration>) -> Result<Stream, Lapse> {
        let request = self.request(Method::GET, &[("last-event-id", last.to_owned())], Vec::new());
        let response = self.pool.send(request).await.map_err(Unsent::into_error)?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        let mut stream = Stream::new(response, self.most);
        (stream.last, stream.retry) = (Some(last.to_owned()), retry);
        Ok(stream)
    }
}

/// The JSON-RPC error in the body of a response, if there is one.
fn denial(bytes: &[u8]) -> Option<Denial> {
    match answer::hear(bytes).ok()?.pop()? {
        Heard::Answer { outcome: Err(denial), .. } => Some(denial),
        _ => None,
    }
}
