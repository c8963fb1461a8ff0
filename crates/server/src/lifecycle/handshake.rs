//! Lifecycle with handshake: `initialize` sets the terms of a session (through 2025-11-25).

use protocol::{Call, Method, Refusal, Revision};

use super::{DecodedRequest, HandshakeResult, IncomingRequest};
use crate::server::Server;

/// Decodes an `initialize` request and negotiates the terms.
pub(crate) fn decode_initialize(
    server: &Server,
    request: &IncomingRequest<'_>,
) -> Result<DecodedRequest, Refusal> {
    let call = Call::decode(Method::Initialize, request.params, &request.meta, server.limits.uri)?;
    let Call::Initialize { revision, knows_sep2093, client: label, .. } = &call else {
        return Err(Refusal::invalid_request("expected an initialize request"));
    };
    let dialect = server.terms(*revision, *knows_sep2093);
    let terms = request.client_terms(dialect);
    let client = server.clients.add_session(request.principal, label, terms);
    Ok(DecodedRequest::new(request, Method::Initialize, dialect, call)?.with_client(client))
}

/// Decodes a request of an initialized session.
pub(crate) fn decode_in_session(
    server: &Server,
    session: &HandshakeResult,
    request: &IncomingRequest<'_>,
) -> Result<DecodedRequest, Refusal> {
    let HandshakeResult { dialect, client_session } = session;
    let decode = || {
        let method = server.served_method(request, dialect.revision)?;
        if method == Method::Initialize {
            return Err(Refusal::invalid_request("the session is already initialized"));
        }
        request.decode(server, method, *dialect)
    };
    decode().inspect_err(|refusal| {
        if let Some(client) = &client_session.client {
            client.record_refusal(request, refusal);
        }
    })
}

/// Decodes a request before the handshake: only `initialize` and `ping` are allowed.
pub(crate) fn decode_before_handshake(
    server: &Server,
    request: &IncomingRequest<'_>,
) -> Result<DecodedRequest, Refusal> {
    match request.method {
        Some(Method::Initialize) => decode_initialize(server, request),
        Some(Method::Ping) => {
            let dialect = server.terms(Revision::before_handshake(), false);
            DecodedRequest::new(request, Method::Ping, dialect, Call::Ping)
        }
        _ => Err(Refusal::missing_version()),
    }
}
