//! Listening request over HTTP: an SSE stream of notifications that ends with its connection
//! (2026-07-28).

use std::sync::Arc;

use futures_util::stream;
use hyper::Response;
use protocol::ListenFilter;
use tokio::sync::watch;
use tokio::time::Interval;

use super::HttpServer;
use super::body::HttpBody;
use super::sse::{self, OutgoingEvent};
use crate::exchange::Exchange;
use crate::methods::subscriptions::ListenSubscriptions;
use crate::server::Server;
use crate::transport::wait_for_signal;

/// State of the SSE stream of one listening request.
struct ListenStream {
    server: Arc<Server>,
    exchange: Exchange,
    listening: ListenSubscriptions,
    keep_alive: Interval,
    closing: watch::Receiver<bool>,
}

/// Answers a listening request with an SSE stream. A shutdown ends it with a final answer.
pub(crate) async fn stream_notifications(
    http: &HttpServer,
    exchange: Exchange,
    filter: ListenFilter,
) -> Response<HttpBody> {
    let server = Arc::clone(&http.server);
    let listening = ListenSubscriptions::open(&server, &exchange, filter).await;
    let closing = http.closing.clone();
    let feed =
        ListenStream { server, exchange, listening, keep_alive: sse::keep_alive_timer(), closing };
    sse::sse_response(stream::unfold(Some(feed), |feed| async move {
        let mut feed = feed?;
        let ListenStream { listening, keep_alive: beat, closing, .. } = &mut feed;
        tokio::select! {
            biased;
            message = listening.next() => Some((OutgoingEvent::Message(message), Some(feed))),
            () = wait_for_signal(closing) => {
                let end = feed.server.finish_listening(&feed.exchange);
                Some((OutgoingEvent::Message(end), None))
            }
            _ = beat.tick() => Some((OutgoingEvent::KeepAlive, Some(feed))),
        }
    }))
}
