//! HTTP+SSE transport of 2024-11-05: requests by POST, all answers on one stream.

use std::sync::Arc;

use hyper::{Method, Uri};

use super::feed::Stream;
use super::origin;
use super::pool::{self, Outbound, Pool, Unsent};
use crate::error::Error;
use crate::transport::board::Board;

/// Opens the stream and reads the endpoint to POST messages to.
pub(super) async fn open(pool: &Pool, most: usize) -> Result<(Stream, Uri), Error> {
    let request = Outbound::new(Method::GET, pool.url().clone(), Vec::new());
    let response = pool.send(request).await.map_err(Unsent::into_error)?;
    let status = response.status();
    if !status.is_success() || !pool::is(&response, "text/event-stream") {
        return Err(Error::Unreachable(format!("HTTP status {status} without an event stream")));
    }
    let mut stream = Stream::new(response, most);
    while let Some(event) = stream.next().await? {
        if event.name.as_deref() == Some("endpoint") {
            let place = String::from_utf8_lossy(&event.data).into_owned();
            let foreign = "the endpoint is invalid or of another origin".to_owned();
            let url = origin::resolve(pool.url(), &place).ok_or(Error::Malformed(foreign))?;
            return Ok((stream, url));
        }
    }
    Err(Error::Malformed("the stream ended before it named an endpoint".to_owned()))
}

/// Dispatches all messages until the stream ends; then ends the connection.
pub(super) async fn listen(mut stream: Stream, board: Arc<Board>) {
    let ended = stream.hear(&board, None, |board| board.ended().is_none()).await;
    let error = ended.err().unwrap_or_else(|| Error::Closed("the stream ended".to_owned()));
    board.end(&error);
}
