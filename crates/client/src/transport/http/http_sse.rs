//! HTTP+SSE transport of 2024-11-05: requests by POST, all answers on one stream.

use std::sync::Arc;

use hyper::{Method, StatusCode, Uri};
use machinery::MemoryHold;

use super::event_stream::SseStream;
use super::origin;
use super::pool::{self, HttpPool, HttpSendError, OutboundHttpRequest};
use crate::error::Error;
use crate::transport::pending::PendingRequests;

/// Opens the stream and reads the endpoint to POST messages to.
pub(super) async fn open_stream(
    pool: &HttpPool,
    most: usize,
    memory: MemoryHold,
) -> Result<(SseStream, Uri), Error> {
    let request = OutboundHttpRequest::new(Method::GET, pool.url().clone(), Vec::new());
    let response = pool.execute(request).await.map_err(HttpSendError::into_error)?;
    let status = response.status();
    if status == StatusCode::UNAUTHORIZED {
        return Err(Error::Unauthorized);
    }
    if !status.is_success() || !pool::has_content_type(&response, "text/event-stream") {
        return Err(Error::Unreachable(format!("HTTP status {status} without an event stream")));
    }
    let mut stream = SseStream::new(response, most, memory);
    while let Some(event) = stream.next().await? {
        if event.name.as_deref() == Some("endpoint") {
            let place = String::from_utf8_lossy(&event.data).into_owned();
            let foreign = "the endpoint is invalid or of another origin".to_owned();
            let url =
                origin::resolve_same_origin(pool.url(), &place).ok_or(Error::Malformed(foreign))?;
            return Ok((stream, url));
        }
    }
    Err(Error::Malformed("the stream ended before it named an endpoint".to_owned()))
}

/// Dispatches all messages until the stream ends; then ends the connection.
pub(super) async fn dispatch_until_end(mut stream: SseStream, pending: Arc<PendingRequests>) {
    let ended = stream.dispatch_events(&pending, None, |board| board.end_reason().is_none()).await;
    let error = ended.err().unwrap_or_else(|| Error::Closed("the stream ended".to_owned()));
    pending.end(&error);
}
