//! Lifecycle with handshake: `initialize` sets the terms of a session (through 2025-11-25).

use protocol::frame::Raw;
use protocol::{Call, Id, Meta, Method, Refusal, Terms};

use super::Opened;
use crate::server::Server;

/// Decodes an `initialize` request and negotiates the terms.
pub(crate) fn initialize(
    server: &Server,
    id: &Id,
    params: Option<&Raw>,
    meta: &Meta<'_>,
) -> Result<Opened, Refusal> {
    let call = Call::decode(Method::Initialize, params, meta, server.limits.uri)?;
    let Call::Initialize { revision, aware, .. } = call else {
        return Err(Refusal::not_a_message("expected an initialize request"));
    };
    Opened::new(id.clone(), server.terms(revision, aware), call, meta)
}

/// Decodes a request of an initialized session.
pub(crate) fn open(
    server: &Server,
    terms: Terms,
    id: &Id,
    (method, params): (&str, Option<&Raw>),
) -> Result<Opened, Refusal> {
    let meta = Meta::of(params)?;
    let method = server.method(method, terms.revision)?;
    if method == Method::Initialize {
        return Err(Refusal::not_a_message("the session is already initialized"));
    }
    let call = Call::decode(method, params, &meta, server.limits.uri)?;
    Opened::new(id.clone(), terms, call, &meta)
}

/// Decodes a request before the handshake: only `initialize` and `ping` are allowed.
pub(crate) fn before(
    server: &Server,
    id: &Id,
    method: &str,
    params: Option<&Raw>,
) -> Result<Opened, Refusal> {
    let meta = Meta::of(params)?;
    match Method::named(method) {
        Some(Method::Initialize) => initialize(server, id, params, &meta),
        Some(Method::Ping) => {
            let terms = server.terms(protocol::Revision::assumed(), false);
            Opened::new(id.clone(), terms, Call::Ping, &meta)
        }
        _ => Err(Refusal::unopened()),
    }
}
