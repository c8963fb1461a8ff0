//! Listening request over HTTP: an SSE stream of notifications that ends with its connection
//! (2026-07-28).

use std::sync::Arc;

use futures_util::stream;
use hyper::Response;
use protocol::ListenFilter;
use tokio::sync::watch;
use tokio::time::Interval;

use super::body::HttpBody;
use super::requester::Requester;
use super::sse::{self, OutgoingEvent};
use super::{HttpServer, too_many_streams};
use crate::exchange::Exchange;
use crate::methods::subscriptions::ListenSubscriptions;
use crate::server::Server;
use crate::transport::fair_share::{Eviction, Place};
use crate::transport::wait_for_signal;

/// State of the SSE stream of one listening request.
struct ListenStream {
    server: Arc<Server>,
    exchange: Exchange,
    listening: ListenSubscriptions,
    keep_alive: Interval,
    closing: watch::Receiver<bool>,
    place: Place,
    evicted: Eviction,
}

/// Answers a listening request with an SSE stream. It ends with a final answer: when the server
/// shuts down, or when it makes room for the stream of another client.
pub(crate) async fn stream_notifications(
    http: &HttpServer,
    exchange: Exchange,
    filter: ListenFilter,
    client: &Requester,
) -> Response<HttpBody> {
    let Some(place) = http.streams.take(&client.owner()) else { return too_many_streams() };
    let server = Arc::clone(&http.server);
    let listening = ListenSubscriptions::open(&server, &exchange, filter).await;
    let closing = http.closing.clone();
    let (keep_alive, evicted) = (sse::keep_alive_timer(), place.eviction());
    let feed = ListenStream { server, exchange, listening, keep_alive, closing, place, evicted };
    sse::sse_response(stream::unfold(Some(feed), |feed| async move {
        let mut feed = feed?;
        let ListenStream { listening, keep_alive: beat, closing, evicted, .. } = &mut feed;
        let message = tokio::select! {
            biased;
            message = listening.next() => Some(message),
            () = wait_for_signal(closing) => None,
            () = evicted.wait() => None,
            _ = beat.tick() => return Some((OutgoingEvent::KeepAlive, Some(feed))),
        };
        let Some(message) = message else {
            let end = feed.server.finish_listening(&feed.exchange);
            return Some((OutgoingEvent::Message(end), None));
        };
        feed.place.touch();
        Some((OutgoingEvent::Message(message), Some(feed)))
    }))
}
