//! How do a client and we agree on terms once and for all? (through 2025-11-25)

use protocol::frame::Raw;
use protocol::{Call, Id, Meta, Method, Refusal, Terms};

use super::Opened;
use crate::server::Server;

/// Reads an opening and settles the terms.
pub(crate) fn initialize(
    server: &Server,
    id: &Id,
    params: Option<&Raw>,
    meta: &Meta<'_>,
) -> Result<Opened, Refusal> {
    let call = Call::decode(Method::Initialize, params, meta, server.limits.uri)?;
    let Call::Initialize { revision, aware, .. } = call else {
        return Err(Refusal::not_a_message("an opening that opens nothing"));
    };
    Opened::new(id.clone(), server.terms(revision, aware), call, meta)
}

/// Reads a request on the terms that were agreed on.
pub(crate) fn open(
    server: &Server,
    terms: Terms,
    id: &Id,
    (method, params): (&str, Option<&Raw>),
) -> Result<Opened, Refusal> {
    let meta = Meta::of(params)?;
    let method = server.method(method, terms.revision)?;
    if method == Method::Initialize {
        return Err(Refusal::not_a_message("a second opening of a session that is open"));
    }
    let call = Call::decode(method, params, &meta, server.limits.uri)?;
    Opened::new(id.clone(), terms, call, &meta)
}

/// Reads a request from a client that has agreed on nothing yet.
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
