//! POST handler: reads a message, determines its lifecycle and session, and runs it.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::AbortHandle;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use protocol::call::Told;
use protocol::frame::{self, Raw};
use protocol::header::{self, Era};
use protocol::{Call, Id, Message, Meta, Method, Outgoing, Refusal};
use resource::Offer;
use tokio::time;

use super::body::Body;
use super::running::{Tied, run};
use super::sessions::Session;
use super::{Site, listen, takes_events, text};
use crate::lifecycle::{Agreed, Opened, handshake, stateless};

const NO_SESSION: &str = "the session is unknown or expired; open a new one with initialize";

const CALL: Method = Method::Offered(Offer::Tool);

/// A refusal and its HTTP status.
type Turned = (StatusCode, Refusal);

/// One posted request, not decoded yet.
struct Asked<'a> {
    head: &'a Parts,
    id: Id,
    method: &'a str,
    params: Option<&'a Raw>,
}

/// Handles a POST request.
pub(crate) async fn answer(
    site: &Arc<Site>,
    request: Request<Incoming>,
    session: Option<String>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let bytes = match collect(site, body).await {
        Ok(bytes) => bytes,
        Err(response) => return response,
    };
    let mut query = head.uri.query().unwrap_or_default().split('&');
    let piped = query.find_map(|pair| pair.strip_prefix("sessionId="));
    if let Some(id) = piped {
        return relay(site, id, &bytes).await;
    }
    let session = session.map(|id| site.sessions.find(&id).ok_or(())).transpose();
    let message = match frame::parse(&bytes, site.server.bounds()) {
        Ok(frame::Incoming::One(message)) => message,
        Ok(frame::Incoming::Batch(batch)) => {
            return Box::pin(answer_batch(site, session, batch)).await;
        }
        Err(refusal) => return Body::message(StatusCode::BAD_REQUEST, refusal.encode(None)),
    };
    match message {
        Message::Request { id, method, params } => {
            let asked = Asked { head: &head, id, method: &method, params };
            asked.answer(site, session).await
        }
        Message::Notification { method, params } => take_note(&head, session, &method, params),
        Message::Response { id, outcome } => match session {
            Ok(Some(session)) if !names_alone(&head) => {
                if let Some(agreed) = &session.agreed {
                    agreed.guest.answered(id.as_ref(), outcome);
                }
                Body::status(StatusCode::ACCEPTED)
            }
            _ => Body::refused(StatusCode::BAD_REQUEST, "the response matches no request"),
        },
    }
}

/// 404 for an unknown or expired session.
pub(crate) fn no_such_session() -> Response<Body> {
    Body::refused(StatusCode::NOT_FOUND, NO_SESSION)
}

async fn collect(site: &Site, body: Incoming) -> Result<Bytes, Response<Body>> {
    let limits = &site.server.limits;
    let whole = Limited::new(body, limits.message).collect();
    match time::timeout(limits.arrival, whole).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let why = format!("the message is longer than {} bytes", limits.message);
            Err(Body::refused(StatusCode::PAYLOAD_TOO_LARGE, &why))
        }
        Ok(Err(_)) => Err(Body::refused(StatusCode::BAD_REQUEST, "the request body ended early")),
        Err(_) => Err(Body::refused(StatusCode::REQUEST_TIMEOUT, "the request body timed out")),
    }
}

/// Hands a message to its HTTP+SSE connection (2024-11-05).
async fn relay(site: &Site, id: &str, bytes: &Bytes) -> Response<Body> {
    let session = site.sessions.find(id);
    let Some(pipe) = session.as_ref().and_then(|session| session.pipe.as_ref()) else {
        return no_such_session();
    };
    pipe.hear(bytes).await;
    Body::status(StatusCode::ACCEPTED)
}

/// A decoded request, by lifecycle: stateless, `initialize`, or inside a session.
enum Sorted {
    Alone(Opened),
    Opening(Opened),
    Within(Opened, Tied),
}

impl Asked<'_> {
    async fn answer(
        self,
        site: &Arc<Site>,
        session: Result<Option<Arc<Session>>, ()>,
    ) -> Response<Body> {
        match self.sort(site, session) {
            Ok(Sorted::Alone(Opened { exchange, call: Call::Listen(wishes), .. })) => {
                if !takes_events(&self.head.headers) {
                    let why = "listening needs Accept: text/event-stream";
                    return Body::refused(StatusCode::NOT_ACCEPTABLE, why);
                }
                // Unboxed, its state would enlarge the future of every request.
                Box::pin(listen::respond(site, exchange, wishes)).await
            }
            Ok(Sorted::Alone(opened)) => run(site, self.patient(opened), None).await,
            Ok(Sorted::Opening(opened)) => begin(site, opened).await,
            Ok(Sorted::Within(opened, tied)) => run(site, self.patient(opened), Some(tied)).await,
            Err((status, refusal)) => Body::message(status, refusal.encode(Some(&self.id))),
        }
    }

    /// Determines the lifecycle of a request and decodes it.
    fn sort(
        &self,
        site: &Site,
        session: Result<Option<Arc<Session>>, ()>,
    ) -> Result<Sorted, Turned> {
        let ok = |refusal| (StatusCode::OK, refusal);
        let bad = |refusal| (StatusCode::BAD_REQUEST, refusal);
        let known = matches!(session, Ok(Some(_)));
        let settled = known && !names_alone(self.head);
        let meta = Meta::of(self.params).map_err(if settled { ok } else { bad })?;
        let era = Era::of(text(&self.head.headers, header::REVISION));
        if header::stands_alone(era, self.method, meta.names_revision(), known) {
            return self.alone(site, &meta).map(Sorted::Alone);
        }
        if Method::named(self.method) == Some(Method::Initialize) && !known {
            let opened = handshake::initialize(&site.server, &self.id, self.params, &meta);
            return opened.map(Sorted::Opening).map_err(ok);
        }
        match session {
            Err(()) => Err((StatusCode::NOT_FOUND, Refusal::not_a_message(NO_SESSION))),
            Ok(None) => Err(bad(Refusal::unopened())),
            Ok(Some(session)) => {
                let within = self.within(site, &session);
                within.map(|(opened, tied)| Sorted::Within(opened, tied)).map_err(ok)
            }
        }
    }

    /// Decodes a stateless request. The protocol prescribes the order of the checks.
    fn alone(&self, site: &Site, meta: &Meta<'_>) -> Result<Opened, Turned> {
        let bad = |refusal| (StatusCode::BAD_REQUEST, refusal);
        let date = meta.date().map_err(bad)?;
        let [revision, method, name] = [header::REVISION, header::METHOD, header::NAME]
            .map(|name| text(&self.head.headers, name));
        header::check_revision(revision, &date).map_err(bad)?;
        let terms = stateless::terms(&site.server, meta).map_err(bad)?;
        header::check_method(method, self.method).map_err(bad)?;
        header::check_name(name, self.method, meta).map_err(bad)?;
        let tool = meta.name().filter(|_| Method::named(self.method) == Some(CALL));
        if let Some(mirrors) = tool.and_then(|tool| site.server.mirrored.of(&tool)) {
            mirrors.check(|name| text(&self.head.headers, name), self.params).map_err(bad)?;
        }
        let asked = (self.method, self.params);
        stateless::open(&site.server, terms, &self.id, asked, meta).map_err(|refusal| {
            let unknown = refusal.is_about_method() && terms.revision.tells_status();
            (if unknown { StatusCode::NOT_FOUND } else { StatusCode::OK }, refusal)
        })
    }

    /// Decodes a request of a session and registers it as in flight.
    fn within(&self, site: &Site, session: &Arc<Session>) -> Result<(Opened, Tied), Refusal> {
        let Agreed { terms, guest } = session.agreed.as_ref().ok_or_else(Refusal::unopened)?;
        let opened = handshake::open(&site.server, *terms, &self.id, (self.method, self.params))?;
        let opened = opened.within(&site.server, guest, &session.subscriber);
        let (handle, registration) = AbortHandle::new_pair();
        let stay = session.enter(&self.id, handle)?;
        Ok((opened, Tied { session: Arc::clone(session), stay, registration }))
    }

    /// Drops interim messages if the client accepts no SSE.
    fn patient(&self, mut opened: Opened) -> Opened {
        opened.reports.take_if(|_| !takes_events(&self.head.headers));
        opened
    }
}

/// Whether the headers mark the message as stateless.
fn names_alone(head: &Parts) -> bool {
    Era::of(text(&head.headers, header::REVISION)) == Era::Alone
}

/// Answers `initialize` and opens a session.
async fn begin(site: &Arc<Site>, opened: Opened) -> Response<Body> {
    let Some(id) = site.sessions.begin(&site.server, opened.settles(), None) else {
        return Body::refused(StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open");
    };
    let mut response = run(site, opened, None).await;
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HeaderName::from_static(header::SESSION), value);
    }
    response
}

fn take_note(
    head: &Parts,
    session: Result<Option<Arc<Session>>, ()>,
    method: &str,
    params: Option<&Raw>,
) -> Response<Body> {
    let alone = names_alone(head) || Meta::of(params).is_ok_and(|meta| meta.names_revision());
    match session {
        _ if alone => {
            match text(&head.headers, header::METHOD)
                .map(|told| header::check_method(Some(told), method))
            {
                Some(Err(refusal)) => Body::message(StatusCode::BAD_REQUEST, refusal.encode(None)),
                _ => Body::status(StatusCode::ACCEPTED),
            }
        }
        Err(()) => no_such_session(),
        Ok(None) => Body::message(StatusCode::BAD_REQUEST, Refusal::unopened().encode(None)),
        Ok(Some(session)) => {
            if let Told::Cancelled(id) = Told::decode(method, params) {
                session.cancel(&id);
            }
            Body::status(StatusCode::ACCEPTED)
        }
    }
}

/// Handles a batch, in the one revision that has batches.
async fn answer_batch(
    site: &Arc<Site>,
    session: Result<Option<Arc<Session>>, ()>,
    batch: Vec<Result<Message<'_>, Refusal>>,
) -> Response<Body> {
    let session = match session {
        Err(()) => return no_such_session(),
        Ok(session) => session,
    };
    let takes = |session: &Arc<Session>| {
        session.terms().is_some_and(|terms| terms.revision.takes_batches())
    };
    let session = session.filter(takes);
    let Some((session, agreed)) =
        session.as_ref().and_then(|one| Some((one, one.agreed.as_ref()?)))
    else {
        return Body::refused(StatusCode::BAD_REQUEST, "batches need a session that allows them");
    };
    let mut answers = Vec::new();
    for message in batch {
        match message {
            Ok(Message::Request { id, method, params }) => {
                let opened = handshake::open(&site.server, agreed.terms, &id, (&method, params));
                answers.push(match opened {
                    Ok(opened) => {
                        let (server, guest) = (&site.server, &agreed.guest);
                        let opened = opened.within(server, guest, &session.subscriber);
                        server.answer(&opened.exchange, opened.call).await
                    }
                    Err(refusal) => refusal.encode(Some(&id)),
                });
            }
            Ok(Message::Notification { method, params }) => {
                if let Told::Cancelled(id) = Told::decode(&method, params) {
                    session.cancel(&id);
                }
            }
            Ok(Message::Response { id, outcome }) => agreed.guest.answered(id.as_ref(), outcome),
            Err(refusal) => answers.push(refusal.encode(None)),
        }
    }
    if answers.is_empty() {
        return Body::status(StatusCode::ACCEPTED);
    }
    Body::message(StatusCode::OK, Outgoing::array(answers))
}
