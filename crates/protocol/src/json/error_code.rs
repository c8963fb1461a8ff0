//! JSON-RPC error codes: all that refdesk sends or tells apart, in both directions.

use std::ops::RangeInclusive;

/// A JSON-RPC error code. The constants are the codes that refdesk sends or tells apart; those of
/// others pass through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ErrorCode(pub(crate) i64);

impl ErrorCode {
    pub(crate) const PARSE_ERROR: Self = Self(-32700);
    pub(crate) const INVALID_REQUEST: Self = Self(-32600);
    pub(crate) const METHOD_NOT_FOUND: Self = Self(-32601);
    pub(crate) const INVALID_PARAMS: Self = Self(-32602);
    pub(crate) const INTERNAL_ERROR: Self = Self(-32603);
    pub(crate) const RESOURCE_NOT_FOUND: Self = Self(-32002);
    pub(crate) const HEADER_MISMATCH: Self = Self(-32020);
    /// The client lacks a capability that the request needs.
    pub(crate) const MISSING_CAPABILITY: Self = Self(-32021);
    pub(crate) const UNSUPPORTED_REVISION: Self = Self(-32022);
    /// URL elicitation: the user must open a web page first (2025-11-25 only).
    pub(crate) const URL_ELICITATION_REQUIRED: Self = Self(-32042);

    /// What JSON-RPC reserves.
    const RESERVED: RangeInclusive<i64> = -32768..=-32000;
    /// What is left to servers of what JSON-RPC reserves.
    const SERVER_DEFINED: RangeInclusive<i64> = -32019..=-32000;
    /// What MCP 2026-07-28 has taken for codes of the protocol itself.
    const ABOUT_PROTOCOL: RangeInclusive<i64> = -32029..=-32020;

    /// Whether JSON-RPC reserves the code; the others are for applications.
    pub(crate) fn is_reserved(self) -> bool {
        Self::RESERVED.contains(&self.0)
    }

    /// Whether each server may give the code a meaning of its own.
    pub(crate) fn is_server_defined(self) -> bool {
        Self::SERVER_DEFINED.contains(&self.0)
    }

    /// Whether the code is about the protocol between two peers, since 2026-07-28.
    pub(crate) fn is_about_protocol(self) -> bool {
        Self::ABOUT_PROTOCOL.contains(&self.0)
    }
}
