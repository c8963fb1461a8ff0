//! Stateless lifecycle: each request carries its terms in `_meta` (2026-07-28).

use protocol::{Dialect, LogLevel, Refusal, RequestMeta};

use super::{DecodedRequest, IncomingRequest};
use crate::server::Server;

/// The terms that a request carries.
#[derive(Clone, Copy)]
pub(crate) struct StatelessTerms {
    pub(crate) dialect: Dialect,
    level: Option<LogLevel>,
}

impl StatelessTerms {
    /// Reads the terms from `_meta`, in which `version` is the protocol version.
    pub(crate) fn read(
        server: &Server,
        meta: &RequestMeta<'_>,
        version: &str,
    ) -> Result<Self, Refusal> {
        let revision = RequestMeta::revision(version)?;
        let dialect = server.terms(revision, meta.knows_sep2093()?);
        Ok(Self { dialect, level: meta.log_level()? })
    }
}

/// Decodes a request on the terms that it carries.
pub(crate) fn decode_stateless(
    server: &Server,
    terms: StatelessTerms,
    request: &IncomingRequest<'_>,
) -> Result<DecodedRequest, Refusal> {
    let label = request.meta.client_label();
    let client_terms = request.client_terms(terms.dialect);
    let client = server.clients.find_stateless(request.principal, &label, client_terms);
    let decode = || {
        let method = server.served_method(request, terms.dialect.revision)?;
        let decoded = request.decode(server, method, terms.dialect)?;
        decoded.with_stateless_client(server, request.meta.client_capabilities(), terms.level)
    };
    match decode() {
        Ok(decoded) => Ok(decoded.with_client(client)),
        Err(refusal) => {
            client.record_refusal(request, &refusal);
            Err(refusal)
        }
    }
}
