//! Stateless lifecycle: each request carries its terms in `_meta` (2026-07-28).

use protocol::json::frame::RawJson;
use protocol::{Call, Dialect, Refusal, RequestId, RequestMeta};

use super::DecodedRequest;
use crate::server::Server;

/// Reads the terms of a request from its `_meta`.
pub(crate) fn terms_from_meta(server: &Server, meta: &RequestMeta<'_>) -> Result<Dialect, Refusal> {
    let revision = meta.revision()?;
    let aware = meta.knows_sep2093()?;
    meta.log_level()?;
    Ok(server.terms(revision, aware))
}

/// Decodes a request on the terms that it carries.
pub(crate) fn decode_stateless(
    server: &Server,
    dialect: Dialect,
    id: &RequestId,
    (method, params): (&str, Option<&RawJson>),
    meta: &RequestMeta<'_>,
) -> Result<DecodedRequest, Refusal> {
    let method = server.find_method(method, dialect.revision)?;
    let call = Call::decode(method, params, meta, server.limits.uri)?;
    let opened = DecodedRequest::new(id.clone(), dialect, call, meta)?;
    opened.with_stateless_client(server, meta.client_capabilities(), meta.log_level()?)
}
