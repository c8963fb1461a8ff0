//! Stateless lifecycle: each request carries its terms in `_meta` (2026-07-28).

use protocol::frame::Raw;
use protocol::{Call, Id, Meta, Refusal, Terms};

use super::Opened;
use crate::server::Server;

/// Reads the terms of a request from its `_meta`.
pub(crate) fn terms(server: &Server, meta: &Meta<'_>) -> Result<Terms, Refusal> {
    let revision = meta.revision()?;
    let aware = meta.is_aware()?;
    meta.level()?;
    Ok(server.terms(revision, aware))
}

/// Decodes a request on the terms that it carries.
pub(crate) fn open(
    server: &Server,
    terms: Terms,
    id: &Id,
    (method, params): (&str, Option<&Raw>),
    meta: &Meta<'_>,
) -> Result<Opened, Refusal> {
    let method = server.method(method, terms.revision)?;
    let call = Call::decode(method, params, meta, server.limits.uri)?;
    let opened = Opened::new(id.clone(), terms, call, meta)?;
    opened.alone(server, meta.can(), meta.level()?)
}
