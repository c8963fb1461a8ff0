//! POST handler: reads a message, determines its lifecycle and session, and runs it.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::AbortHandle;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use protocol::header::{self, RequestEra};
use protocol::inbound::call::ClientNotification;
use protocol::json::frame::{self, RawJson};
use protocol::{Call, Message, Method, Outgoing, Refusal, RequestId, RequestMeta};
use resource::ComponentKind;
use tokio::time;

use super::body::HttpBody;
use super::request_task::{SessionBinding, run_batched, run_posted};
use super::sessions::HttpSession;
use super::{HttpServer, accepts_sse, header_text, listen};
use crate::lifecycle::{DecodedRequest, HandshakeResult, handshake, stateless};

const UNKNOWN_SESSION: &str = "the session is unknown or expired; open a new one with initialize";

const TOOL_CALL: Method = Method::InvokeComponent(ComponentKind::Tool);

/// A refusal and its HTTP status.
type HttpRefusal = (StatusCode, Refusal);

/// One posted request, not decoded yet.
struct PostedRequest<'a> {
    head: &'a Parts,
    id: RequestId,
    method: &'a str,
    params: Option<&'a RawJson>,
}

/// Handles a POST request.
pub(crate) async fn handle_post(
    http: &Arc<HttpServer>,
    request: Request<Incoming>,
    session: Option<String>,
) -> Response<HttpBody> {
    let (head, body) = request.into_parts();
    let bytes = match read_body(http, body).await {
        Ok(bytes) => bytes,
        Err(response) => return response,
    };
    let mut query = head.uri.query().unwrap_or_default().split('&');
    let piped = query.find_map(|pair| pair.strip_prefix("sessionId="));
    if let Some(id) = piped {
        return forward_to_sse_session(http, id, &bytes).await;
    }
    let session = session.map(|id| http.sessions.find(&id).ok_or(())).transpose();
    let message = match frame::parse(&bytes, http.server.bounds()) {
        Ok(frame::Incoming::Single(message)) => message,
        Ok(frame::Incoming::Batch(batch)) => {
            return Box::pin(handle_batch(http, &head, session, batch)).await;
        }
        Err(refusal) => return HttpBody::json(StatusCode::BAD_REQUEST, refusal.encode(None)),
    };
    match message {
        Message::Request { id, method, params } => {
            let asked = PostedRequest { head: &head, id, method: &method, params };
            asked.execute(http, session).await
        }
        Message::Notification { method, params } => {
            handle_notification(&head, session, &method, params)
        }
        Message::Response { id, outcome } => match session {
            Ok(Some(session)) if !is_stateless_by_header(&head) => {
                if let Some(agreed) = &session.handshake {
                    agreed.client_session.deliver_answer(id.as_ref(), outcome);
                }
                HttpBody::empty(StatusCode::ACCEPTED)
            }
            _ => HttpBody::refusal(StatusCode::BAD_REQUEST, "the response matches no request"),
        },
    }
}

/// 404 for an unknown or expired session.
pub(crate) fn unknown_session() -> Response<HttpBody> {
    HttpBody::refusal(StatusCode::NOT_FOUND, UNKNOWN_SESSION)
}

async fn read_body(http: &HttpServer, body: Incoming) -> Result<Bytes, Response<HttpBody>> {
    let limits = &http.server.limits;
    let whole = Limited::new(body, limits.message).collect();
    match time::timeout(limits.io_timeout, whole).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let why = format!("the message is longer than {} bytes", limits.message);
            Err(HttpBody::refusal(StatusCode::PAYLOAD_TOO_LARGE, &why))
        }
        Ok(Err(_)) => {
            Err(HttpBody::refusal(StatusCode::BAD_REQUEST, "the request body ended early"))
        }
        Err(_) => Err(HttpBody::refusal(StatusCode::REQUEST_TIMEOUT, "the request body timed out")),
    }
}

/// Hands a message to its HTTP+SSE connection (2024-11-05).
async fn forward_to_sse_session(http: &HttpServer, id: &str, bytes: &Bytes) -> Response<HttpBody> {
    let session = http.sessions.find(id);
    let Some(pipe) = session.as_ref().and_then(|session| session.sse_connection.as_ref()) else {
        return unknown_session();
    };
    pipe.handle_bytes(bytes).await;
    HttpBody::empty(StatusCode::ACCEPTED)
}

/// A decoded request, by lifecycle: stateless, `initialize`, or inside a session.
enum PostedCall {
    Stateless(DecodedRequest),
    Initialize(DecodedRequest),
    InSession(DecodedRequest, SessionBinding),
}

impl PostedRequest<'_> {
    async fn execute(
        self,
        http: &Arc<HttpServer>,
        session: Result<Option<Arc<HttpSession>>, ()>,
    ) -> Response<HttpBody> {
        match self.decode_by_era(http, session) {
            Ok(PostedCall::Stateless(DecodedRequest {
                exchange,
                call: Call::Listen(wishes),
                ..
            })) => {
                if !accepts_sse(&self.head.headers) {
                    let why = "listening needs Accept: text/event-stream";
                    return HttpBody::refusal(StatusCode::NOT_ACCEPTABLE, why);
                }
                // Unboxed, its state would enlarge the future of every request.
                Box::pin(listen::stream_notifications(http, exchange, wishes)).await
            }
            Ok(PostedCall::Stateless(opened)) => {
                run_posted(http, self.without_unreadable_interim(opened), None).await
            }
            Ok(PostedCall::Initialize(opened)) => open_session(http, opened).await,
            Ok(PostedCall::InSession(opened, tied)) => {
                run_posted(http, self.without_unreadable_interim(opened), Some(tied)).await
            }
            Err((status, refusal)) => HttpBody::json(status, refusal.encode(Some(&self.id))),
        }
    }

    /// Determines the lifecycle of a request and decodes it.
    fn decode_by_era(
        &self,
        http: &HttpServer,
        session: Result<Option<Arc<HttpSession>>, ()>,
    ) -> Result<PostedCall, HttpRefusal> {
        let ok = |refusal| (StatusCode::OK, refusal);
        let bad = |refusal| (StatusCode::BAD_REQUEST, refusal);
        let known = matches!(session, Ok(Some(_)));
        let settled = known && !is_stateless_by_header(self.head);
        let meta = RequestMeta::decode(self.params).map_err(if settled { ok } else { bad })?;
        let era =
            RequestEra::from_header(header_text(&self.head.headers, header::PROTOCOL_VERSION));
        if header::is_stateless(era, self.method, meta.names_revision(), known) {
            return self.check_and_decode_stateless(http, &meta).map(PostedCall::Stateless);
        }
        if Method::from_name(self.method) == Some(Method::Initialize) && !known {
            let opened = handshake::decode_initialize(&http.server, &self.id, self.params, &meta);
            return opened.map(PostedCall::Initialize).map_err(ok);
        }
        match session {
            Err(()) => Err((StatusCode::NOT_FOUND, Refusal::invalid_request(UNKNOWN_SESSION))),
            Ok(None) => Err(bad(Refusal::missing_version())),
            Ok(Some(session)) => {
                let within = self.enter_session(http, &session, false);
                within.map(|(opened, tied)| PostedCall::InSession(opened, tied)).map_err(ok)
            }
        }
    }

    /// Decodes a stateless request. The protocol prescribes the order of the checks.
    fn check_and_decode_stateless(
        &self,
        http: &HttpServer,
        meta: &RequestMeta<'_>,
    ) -> Result<DecodedRequest, HttpRefusal> {
        let bad = |refusal| (StatusCode::BAD_REQUEST, refusal);
        let date = meta.protocol_version().map_err(bad)?;
        let [revision, method, name] = [header::PROTOCOL_VERSION, header::METHOD, header::NAME]
            .map(|name| header_text(&self.head.headers, name));
        header::check_revision(revision, &date).map_err(bad)?;
        let terms = stateless::terms_from_meta(&http.server, meta).map_err(bad)?;
        header::check_method(method, self.method).map_err(bad)?;
        header::check_name(name, self.method, meta).map_err(bad)?;
        let tool = meta.name().filter(|_| Method::from_name(self.method) == Some(TOOL_CALL));
        if let Some(mirrors) = tool.and_then(|tool| http.server.param_headers.headers_of(&tool)) {
            mirrors
                .check_headers(|name| header_text(&self.head.headers, name), self.params)
                .map_err(bad)?;
        }
        let asked = (self.method, self.params);
        stateless::decode_stateless(&http.server, terms, &self.id, asked, meta).map_err(|refusal| {
            let unknown = refusal.is_method_not_found() && terms.revision.tells_status();
            (if unknown { StatusCode::NOT_FOUND } else { StatusCode::OK }, refusal)
        })
    }

    /// Decodes a request of a session and registers it as in flight; see `register_request`.
    fn enter_session(
        &self,
        http: &HttpServer,
        session: &Arc<HttpSession>,
        has_place: bool,
    ) -> Result<(DecodedRequest, SessionBinding), Refusal> {
        let HandshakeResult { dialect: terms, client_session: guest } =
            session.handshake.as_ref().ok_or_else(Refusal::missing_version)?;
        let opened = handshake::decode_in_session(
            &http.server,
            *terms,
            &self.id,
            (self.method, self.params),
        )?;
        let opened = opened.in_session(&http.server, guest, &session.subscriber);
        let (handle, registration) = AbortHandle::new_pair();
        let stay = session.register_request(&self.id, handle, has_place)?;
        Ok((opened, SessionBinding { session: Arc::clone(session), in_flight: stay, registration }))
    }

    /// Drops interim messages if the client accepts no SSE.
    fn without_unreadable_interim(&self, mut request: DecodedRequest) -> DecodedRequest {
        request.interim.take_if(|_| !accepts_sse(&self.head.headers));
        request
    }
}

/// Whether the headers mark the message as stateless.
fn is_stateless_by_header(head: &Parts) -> bool {
    RequestEra::from_header(header_text(&head.headers, header::PROTOCOL_VERSION))
        == RequestEra::Stateless
}

/// Answers `initialize` and opens a session.
async fn open_session(http: &Arc<HttpServer>, request: DecodedRequest) -> Response<HttpBody> {
    let Some(id) = http.sessions.open_session(&http.server, request.handshake_result(), None)
    else {
        return HttpBody::refusal(StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open");
    };
    let mut response = run_posted(http, request, None).await;
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HeaderName::from_static(header::SESSION_ID), value);
    }
    response
}

fn handle_notification(
    head: &Parts,
    session: Result<Option<Arc<HttpSession>>, ()>,
    method: &str,
    params: Option<&RawJson>,
) -> Response<HttpBody> {
    let alone = is_stateless_by_header(head)
        || RequestMeta::decode(params).is_ok_and(|meta| meta.names_revision());
    match session {
        _ if alone => {
            match header_text(&head.headers, header::METHOD)
                .map(|told| header::check_method(Some(told), method))
            {
                Some(Err(refusal)) => HttpBody::json(StatusCode::BAD_REQUEST, refusal.encode(None)),
                _ => HttpBody::empty(StatusCode::ACCEPTED),
            }
        }
        Err(()) => unknown_session(),
        Ok(None) => {
            HttpBody::json(StatusCode::BAD_REQUEST, Refusal::missing_version().encode(None))
        }
        Ok(Some(session)) => {
            if let ClientNotification::Cancelled(id) = ClientNotification::decode(method, params) {
                session.cancel(&id);
            }
            HttpBody::empty(StatusCode::ACCEPTED)
        }
    }
}

/// Handles a batch, in the one revision that has batches: runs its requests one after the other.
/// However long it is, it needs one free place among the requests in flight.
async fn handle_batch(
    http: &Arc<HttpServer>,
    head: &Parts,
    session: Result<Option<Arc<HttpSession>>, ()>,
    batch: Vec<Result<Message<'_>, Refusal>>,
) -> Response<HttpBody> {
    let session = match session {
        Err(()) => return unknown_session(),
        Ok(session) => session,
    };
    let takes = |session: &Arc<HttpSession>| {
        session.terms().is_some_and(|terms| terms.revision.takes_batches())
    };
    let session = session.filter(takes);
    let Some((session, agreed)) =
        session.as_ref().and_then(|one| Some((one, one.handshake.as_ref()?)))
    else {
        return HttpBody::refusal(
            StatusCode::BAD_REQUEST,
            "batches need a session that allows them",
        );
    };
    let mut entered = Vec::new();
    for message in batch {
        match message {
            Ok(Message::Request { id, method, params }) => {
                let request = PostedRequest { head, id, method: &method, params };
                let has_place = entered.iter().any(Result::is_ok);
                let within = request.enter_session(http, session, has_place);
                entered.push(within.map_err(|refusal| refusal.encode(Some(&request.id))));
            }
            Ok(Message::Notification { method, params }) => {
                if let ClientNotification::Cancelled(id) =
                    ClientNotification::decode(&method, params)
                {
                    session.cancel(&id);
                }
            }
            Ok(Message::Response { id, outcome }) => {
                agreed.client_session.deliver_answer(id.as_ref(), outcome)
            }
            Err(refusal) => entered.push(Err(refusal.encode(None))),
        }
    }
    let mut answers = Vec::new();
    for request in entered {
        answers.push(match request {
            Ok((request, binding)) => run_batched(http, request, binding).await,
            Err(refusal) => refusal,
        });
    }
    // A cancelled request has no answer.
    answers.retain(|answer| !answer.is_empty());
    if answers.is_empty() {
        return HttpBody::empty(StatusCode::ACCEPTED);
    }
    HttpBody::json(StatusCode::OK, Outgoing::batch(answers))
}
