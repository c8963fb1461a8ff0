//! POST handler: reads a message, determines its lifecycle and session, and runs it.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::AbortHandle;
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode, Uri};
use machinery::MemoryHold;
use protocol::header;
use protocol::inbound::call::ClientNotification;
use protocol::json::frame::{self, RawJson};
use protocol::{Call, Message, Method, Outgoing, Refusal, RequestMeta};
use resource::{ComponentKind, Principal};

use super::body::HttpBody;
use super::post_headers::PostHeaders;
use super::request_body::read_body;
use super::request_task::{SessionBinding, respond_with_interim, run_batched, start_posted};
use super::requester::Requester;
use super::sessions::HttpSession;
use super::{HttpServer, header_text, listen, too_many_sessions};
use crate::audit::{AuditedCall, audited_calls};
use crate::clients::ClientTransport;
use crate::lifecycle::stateless::{self, StatelessTerms};
use crate::lifecycle::{DecodedRequest, IncomingRequest, RequestOrigin, handshake};

const UNKNOWN_SESSION: &str = "the session is unknown or expired; open a new one with initialize";

const HTTP: ClientTransport = ClientTransport::Http;
const TOOL_CALL: Method = Method::InvokeComponent(ComponentKind::Tool);

/// A refusal and its HTTP status.
type HttpRefusal = (StatusCode, Refusal);

/// The session that a message names: none, an open one, or one that is unknown or expired.
type NamedSession = Result<Option<Arc<HttpSession>>, ()>;

/// One posted request, not decoded yet.
struct PostedRequest<'a> {
    headers: PostHeaders<'a>,
    request: IncomingRequest<'a>,
    client: &'a Requester,
}

/// Handles a POST request.
pub(crate) async fn handle_post(
    http: &Arc<HttpServer>,
    request: Request<Incoming>,
    session: Option<String>,
    client: &Requester,
) -> Response<HttpBody> {
    let principal = &client.principal;
    let (head, body) = request.into_parts();
    let (bytes, memory) = match read_body(http, body, principal).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    client.begin_work();
    if let Some(id) = sse_session_id(&head.uri) {
        client.note_calls(|| audited_calls(&http.server, &bytes));
        return Box::pin(forward_to_sse_session(http, (id, principal), &bytes)).await;
    }
    let session = session.map(|id| http.sessions.find(&id, principal).ok_or(())).transpose();
    if let Ok(Some(session)) = &session {
        client.note_handshake(session.handshake.as_ref());
    }
    let message = match frame::parse(&bytes, http.server.bounds()) {
        Ok(frame::Incoming::Single(message)) => message,
        Ok(frame::Incoming::Batch(batch)) => {
            return Box::pin(handle_batch(http, session, batch, (&memory, client))).await;
        }
        Err(refusal) => return HttpBody::json(StatusCode::BAD_REQUEST, refusal.encode(None)),
    };
    let headers = PostHeaders::read(&head.headers);
    let note_message = |method: &str, params| {
        client.note_calls(|| vec![AuditedCall::of_message(&http.server, method, params)]);
    };
    match message {
        Message::Request { id, method, params } => {
            let origin = RequestOrigin { principal, memory: &memory, transport: HTTP };
            match IncomingRequest::read(id.clone(), (&method, params), origin) {
                Ok(mut request) => {
                    client.note_calls(|| vec![AuditedCall::of_request(&http.server, &request)]);
                    request.trace = request.trace.or_else(|| headers.trace());
                    PostedRequest { headers, request, client }.execute(http, session).await
                }
                Err(refusal) => {
                    note_message(&method, params);
                    let in_session = matches!(session, Ok(Some(_))) && !headers.is_stateless();
                    let status = if in_session { StatusCode::OK } else { StatusCode::BAD_REQUEST };
                    HttpBody::json(status, refusal.encode(Some(&id)))
                }
            }
        }
        Message::Notification { method, params } => {
            note_message(&method, params);
            handle_notification(&headers, session, &method, params)
        }
        Message::Response { id, outcome } => match session {
            Ok(Some(session)) if !headers.is_stateless() => {
                if let Some(agreed) = &session.handshake {
                    agreed.client_session.deliver_answer(id.as_ref(), outcome);
                }
                HttpBody::empty(StatusCode::ACCEPTED)
            }
            _ => HttpBody::refusal(StatusCode::BAD_REQUEST, "the response matches no request"),
        },
    }
}

/// The id of the HTTP+SSE connection that a message is for (2024-11-05).
fn sse_session_id(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix("sessionId="))
}

/// 404 for an unknown or expired session.
pub(crate) fn unknown_session() -> Response<HttpBody> {
    HttpBody::refusal(StatusCode::NOT_FOUND, UNKNOWN_SESSION)
}

/// Hands a message to its HTTP+SSE connection (2024-11-05).
async fn forward_to_sse_session(
    http: &HttpServer,
    (id, principal): (&str, &Principal),
    bytes: &Bytes,
) -> Response<HttpBody> {
    let session = http.sessions.find(id, principal);
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
    async fn execute(self, http: &Arc<HttpServer>, session: NamedSession) -> Response<HttpBody> {
        let running = match self.decode_by_era(http, session) {
            Ok(PostedCall::Stateless(DecodedRequest {
                exchange,
                call: Call::Listen(filter),
                ..
            })) => {
                if !self.headers.accepts_sse {
                    let why = "listening needs Accept: text/event-stream";
                    return HttpBody::refusal(StatusCode::NOT_ACCEPTABLE, why);
                }
                // Unboxed, its state would enlarge the future of every request.
                let client = self.client;
                return Box::pin(listen::stream_notifications(http, exchange, filter, client))
                    .await;
            }
            Ok(PostedCall::Stateless(opened)) => {
                start_posted(http, self.without_unreadable_interim(opened), None)
            }
            Ok(PostedCall::Initialize(opened)) => {
                return Box::pin(open_session(http, opened, self.client)).await;
            }
            Ok(PostedCall::InSession(opened, tied)) => {
                start_posted(http, self.without_unreadable_interim(opened), Some(tied))
            }
            Err((status, refusal)) => {
                return HttpBody::json(status, refusal.encode(Some(&self.request.id)));
            }
        };
        respond_with_interim(running).await
    }

    /// Determines the lifecycle of a request and decodes it.
    fn decode_by_era(
        &self,
        http: &HttpServer,
        session: NamedSession,
    ) -> Result<PostedCall, HttpRefusal> {
        let ok = |refusal| (StatusCode::OK, refusal);
        let bad = |refusal| (StatusCode::BAD_REQUEST, refusal);
        let known = matches!(session, Ok(Some(_)));
        let IncomingRequest { method, meta, .. } = &self.request;
        if header::is_stateless(self.headers.era, *method, meta.names_revision(), known) {
            return self.check_and_decode_stateless(http).map(PostedCall::Stateless);
        }
        if *method == Some(Method::Initialize) && !known {
            let decoded = handshake::decode_initialize(&http.server, &self.request);
            return decoded.map(PostedCall::Initialize).map_err(ok);
        }
        match session {
            Err(()) => Err((StatusCode::NOT_FOUND, Refusal::invalid_request(UNKNOWN_SESSION))),
            Ok(None) => Err(bad(Refusal::missing_version())),
            Ok(Some(session)) => {
                let within = enter_session(http, &session, &self.request, false);
                within.map(|(opened, tied)| PostedCall::InSession(opened, tied)).map_err(ok)
            }
        }
    }

    /// Decodes a stateless request. The protocol prescribes the order of the checks.
    fn check_and_decode_stateless(&self, http: &HttpServer) -> Result<DecodedRequest, HttpRefusal> {
        let bad = |refusal| (StatusCode::BAD_REQUEST, refusal);
        let IncomingRequest { name, method, params, meta, .. } = &self.request;
        let version = meta.protocol_version().map_err(bad)?;
        header::check_revision(self.headers.version, &version).map_err(bad)?;
        let terms = StatelessTerms::read(&http.server, meta, &version).map_err(bad)?;
        header::check_method(self.headers.method, name).map_err(bad)?;
        header::check_name(self.headers.name, *method, meta).map_err(bad)?;
        let tool = meta.name().filter(|_| *method == Some(TOOL_CALL));
        if let Some(mirrors) = tool.and_then(|tool| http.server.param_headers.headers_of(&tool)) {
            let field = |name: &str| header_text(self.headers.all, name);
            mirrors.check_headers(field, *params).map_err(bad)?;
        }
        stateless::decode_stateless(&http.server, terms, &self.request).map_err(|refusal| {
            let unknown = refusal.is_method_not_found() && terms.dialect.revision.tells_status();
            (if unknown { StatusCode::NOT_FOUND } else { StatusCode::OK }, refusal)
        })
    }

    /// Drops interim messages if the client accepts no SSE.
    fn without_unreadable_interim(&self, mut request: DecodedRequest) -> DecodedRequest {
        request.interim.take_if(|_| !self.headers.accepts_sse);
        request
    }
}

/// Decodes a request of a session and registers it as in flight; see `register_request`.
fn enter_session(
    http: &HttpServer,
    session: &Arc<HttpSession>,
    request: &IncomingRequest<'_>,
    has_place: bool,
) -> Result<(DecodedRequest, SessionBinding), Refusal> {
    let agreed = session.handshake.as_ref().ok_or_else(Refusal::missing_version)?;
    let decoded = handshake::decode_in_session(&http.server, agreed, request)?;
    let decoded = decoded.in_session(&http.server, &agreed.client_session, &session.subscriber);
    let (handle, registration) = AbortHandle::new_pair();
    let in_flight = session.register_request(&request.id, handle, has_place)?;
    Ok((decoded, SessionBinding { session: Arc::clone(session), in_flight, registration }))
}

/// Answers `initialize` and opens a session.
async fn open_session(
    http: &Arc<HttpServer>,
    request: DecodedRequest,
    client: &Requester,
) -> Response<HttpBody> {
    let opened = (request.handshake_result(), None);
    client.note_handshake(opened.0.as_ref());
    let (principal, owner) = (client.principal.clone(), client.owner());
    let Some(id) = http.sessions.open_session(&http.server, (principal, &owner), opened) else {
        return too_many_sessions();
    };
    let mut response = respond_with_interim(start_posted(http, request, None)).await;
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HeaderName::from_static(header::SESSION_ID), value);
    }
    response
}

fn handle_notification(
    headers: &PostHeaders<'_>,
    session: NamedSession,
    method: &str,
    params: Option<&RawJson>,
) -> Response<HttpBody> {
    let alone = headers.is_stateless()
        || RequestMeta::decode(params).is_ok_and(|meta| meta.names_revision());
    match session {
        _ if alone => match headers.method.map(|told| header::check_method(Some(told), method)) {
            Some(Err(refusal)) => HttpBody::json(StatusCode::BAD_REQUEST, refusal.encode(None)),
            _ => HttpBody::empty(StatusCode::ACCEPTED),
        },
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

/// The calls of a batch, for the audit log.
fn batched_calls(http: &HttpServer, batch: &[Result<Message<'_>, Refusal>]) -> Vec<AuditedCall> {
    let calls = batch.iter().filter_map(|message| match message {
        Ok(Message::Request { method, params, .. } | Message::Notification { method, params }) => {
            Some(AuditedCall::of_message(&http.server, method, *params))
        }
        Ok(Message::Response { .. }) | Err(_) => None,
    });
    calls.collect()
}

/// Handles a batch, in the one revision that has batches: runs its requests one after the other.
/// However long it is, it needs one free place among the requests in flight.
async fn handle_batch(
    http: &Arc<HttpServer>,
    session: NamedSession,
    batch: Vec<Result<Message<'_>, Refusal>>,
    (memory, client): (&Arc<MemoryHold>, &Requester),
) -> Response<HttpBody> {
    client.note_calls(|| batched_calls(http, &batch));
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
                let has_place = entered.iter().any(Result::is_ok);
                let principal = &client.principal;
                let origin = RequestOrigin { principal, memory, transport: HTTP };
                let request = IncomingRequest::read(id.clone(), (&method, params), origin);
                let within =
                    request.and_then(|request| enter_session(http, session, &request, has_place));
                entered.push(within.map_err(|refusal| refusal.encode(Some(&id))));
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
