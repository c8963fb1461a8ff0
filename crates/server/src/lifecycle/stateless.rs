//! How does a request that stands alone come by its terms? (2026-07-28)

use protocol::frame::Raw;
use protocol::{Call, Id, Meta, Refusal, Terms};

use super::Opened;
use crate::server::Server;

/// The terms that a request brings with it.
pub(crate) fn terms(server: &Server, meta: &Meta<'_>) -> Result<Terms, Refusal> {
    let revision = meta.revision()?;
    let aware = meta.is_aware()?;
    meta.level()?;
    Ok(server.terms(revision, aware))
}

/// Reads a request on the terms that it brought.
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
