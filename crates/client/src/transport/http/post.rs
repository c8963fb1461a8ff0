//! What comes back for a message that was posted?

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

/// How much of an error's body is read.
const COMPLAINT: usize = 1 << 20;
/// How long to wait for the end of a stream that has said what it was for.
const REST: Duration = Duration::from_millis(50);

/// Posts a message and hands on all that comes back.
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
        tracing::debug!(?lapse, "a message was not taken");
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
            // An error that names no request is about the one that it answers.
            let is_missing = id.is_some_and(|id| self.board.is_waiting(id));
            if let Some(denial) = is_missing.then(|| denial(&bytes)).flatten() {
                self.board.fail(id, Error::Refused(denial));
            }
        }
        // Where all answers come on one stream, this one is still to come.
        let is_missing = id.is_some_and(|id| self.board.is_waiting(id));
        if is_missing && self.style != Style::Older {
            let why = format!("HTTP status {status}, and no answer in it");
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
        // Servers in the wild answer 400 where the protocol wants 404.
        let forgot = has_session && denial.as_ref().is_some_and(Denial::is_about_session);
        if forgot && status == StatusCode::BAD_REQUEST {
            return Lapse::Expired;
        }
        Lapse::Status { code: status.as_u16(), denial }
    }

    /// Follows the stream of one answer, beyond its breaks where the server allows that.
    async fn follow(self: &Arc<Self>, id: Option<u64>, mut stream: Stream) -> Result<(), Lapse> {
        // The request has its time, and is let go of when that is over.
        loop {
            let broken =
                stream.hear(&self.board, id, |board| id.is_none_or(|id| board.is_waiting(id)));
            let broken = broken.await;
            let is_missing = id.is_some_and(|id| self.board.is_waiting(id));
            if !is_missing {
                // The end of the stream is at hand, and then its connection can be used again.
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
            // MCP 2025-11-25, transports: a stream is taken up again by GET, however it began.
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

/// The error in the body of a response, if there is one.
fn denial(bytes: &[u8]) -> Option<Denial> {
    match answer::hear(bytes).ok()?.pop()? {
        Heard::Answer { outcome: Err(denial), .. } => Some(denial),
        _ => None,
    }
}
