//! How is a server spoken with that says everything on one stream (HTTP+SSE, 2024-11-05)?

use std::sync::Arc;

use hyper::{Method, Uri};

use super::feed::Stream;
use super::origin;
use super::pool::{self, Outbound, Pool, Unsent};
use crate::error::Error;
use crate::transport::board::Board;

/// Opens the stream, and learns where messages are to be posted.
pub(super) async fn open(pool: &Pool, most: usize) -> Result<(Stream, Uri), Error> {
    let request = Outbound::new(Method::GET, pool.url().clone(), Vec::new());
    let response = pool.send(request).await.map_err(Unsent::into_error)?;
    let status = response.status();
    if !status.is_success() || !pool::is(&response, "text/event-stream") {
        return Err(Error::Unreachable(format!("HTTP status {status}, and no stream of events")));
    }
    let mut stream = Stream::new(response, most);
    while let Some(event) = stream.next().await? {
        if event.name.as_deref() == Some("endpoint") {
            let place = String::from_utf8_lossy(&event.data).into_owned();
            let foreign = "it wants messages to be posted to another server".to_owned();
            let url = origin::resolve(pool.url(), &place).ok_or(Error::Malformed(foreign))?;
            return Ok((stream, url));
        }
    }
    Err(Error::Malformed("the stream ended before it named where to post".to_owned()))
}

/// Hands on everything that is said, until the stream ends, and with it the session.
pub(super) async fn listen(mut stream: Stream, board: Arc<Board>) {
    let ended = stream.hear(&board, None, |board| board.ended().is_none()).await;
    let error = ended.err().unwrap_or_else(|| Error::Closed("the stream ended".to_owned()));
    board.end(&error);
}
