//! Listening request over HTTP: an SSE stream of notifications that ends with its connection
//! (2026-07-28).

use std::sync::Arc;

use futures_util::stream;
use hyper::Response;
use protocol::Wishes;
use tokio::sync::watch;
use tokio::time::Interval;

use super::Site;
use super::body::Body;
use super::events::{self, Event};
use crate::exchange::Exchange;
use crate::methods::subscriptions::Listening;
use crate::server::Server;
use crate::transport::over;

/// State of the SSE stream of one listening request.
struct Feed {
    server: Arc<Server>,
    exchange: Exchange,
    listening: Listening,
    beat: Interval,
    closing: watch::Receiver<bool>,
}

/// Answers a listening request with an SSE stream. A shutdown ends it with a final answer.
pub(crate) async fn respond(site: &Site, exchange: Exchange, wishes: Wishes) -> Response<Body> {
    let server = Arc::clone(&site.server);
    let listening = Listening::begin(&server, exchange.id.clone(), wishes).await;
    let closing = site.closing.clone();
    let feed = Feed { server, exchange, listening, beat: events::beat(), closing };
    events::respond(stream::unfold(Some(feed), |feed| async move {
        let mut feed = feed?;
        let Feed { listening, beat, closing, .. } = &mut feed;
        tokio::select! {
            biased;
            message = listening.next() => Some((Event::Message(message), Some(feed))),
            () = over(closing) => {
                let end = feed.server.end(&feed.exchange);
                Some((Event::Message(end), None))
            }
            _ = beat.tick() => Some((Event::Comment, Some(feed))),
        }
    }))
}
