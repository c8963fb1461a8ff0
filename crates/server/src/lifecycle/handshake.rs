//! Lifecycle with handshake: `initialize` sets the terms of a session (through 2025-11-25).

use protocol::json::frame::RawJson;
use protocol::{Call, Dialect, Method, Refusal, RequestId, RequestMeta};

use super::DecodedRequest;
use crate::server::Server;

/// Decodes an `initialize` request and negotiates the terms.
pub(crate) fn decode_initialize(
    server: &Server,
    id: &RequestId,
    params: Option<&RawJson>,
    meta: &RequestMeta<'_>,
) -> Result<DecodedRequest, Refusal> {
    let call = Call::decode(Method::Initialize, params, meta, server.limits.uri)?;
    let Call::Initialize { revision, knows_sep2093: aware, .. } = call else {
        return Err(Refusal::invalid_request("expected an initialize request"));
    };
    DecodedRequest::new(id.clone(), server.terms(revision, aware), call, meta)
}

/// Decodes a request of an initialized session.
pub(crate) fn decode_in_session(
    server: &Server,
    dialect: Dialect,
    id: &RequestId,
    (method, params): (&str, Option<&RawJson>),
) -> Result<DecodedRequest, Refusal> {
    let meta = RequestMeta::decode(params)?;
    let method = server.find_method(method, dialect.revision)?;
    if method == Method::Initialize {
        return Err(Refusal::invalid_request("the session is already initialized"));
    }
    let call = Call::decode(method, params, &meta, server.limits.uri)?;
    DecodedRequest::new(id.clone(), dialect, call, &meta)
}

/// Decodes a request before the handshake: only `initialize` and `ping` are allowed.
pub(crate) fn decode_before_handshake(
    server: &Server,
    id: &RequestId,
    method: &str,
    params: Option<&RawJson>,
) -> Result<DecodedRequest, Refusal> {
    let meta = RequestMeta::decode(params)?;
    match Method::from_name(method) {
        Some(Method::Initialize) => decode_initialize(server, id, params, &meta),
        Some(Method::Ping) => {
            let terms = server.terms(protocol::Revision::before_handshake(), false);
            DecodedRequest::new(id.clone(), terms, Call::Ping, &meta)
        }
        _ => Err(Refusal::missing_version()),
    }
}
