//! Errors of the client.

use protocol::{MalformedMessage, RpcError};

/// Why a request has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The server cannot be reached now. A later attempt may succeed.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The connection ended before the answer came. The server may or may not have acted.
    #[error("the connection ended: {0}")]
    Closed(String),
    /// The answer did not come in time. If the request was sent, the client has cancelled it.
    #[error("the server did not answer in time")]
    TimedOut,
    /// The server answered with an error.
    #[error("the server returned an error: {} ({})", .0.message, .0.code)]
    Refused(RpcError),
    /// The server sent something that is not a valid answer.
    #[error("the server sent an invalid message: {0}")]
    Malformed(String),
    /// The server sent a message over the limit, which is this many bytes.
    #[error("the server sent a message of more than {0} bytes")]
    TooLarge(usize),
}

impl Error {
    /// Whether the server rejected a header of the request.
    pub fn is_header_mismatch(&self) -> bool {
        matches!(self, Self::Refused(denial) if denial.is_header_mismatch())
    }

    /// Whether the server needs a client capability that the request did not declare.
    pub fn is_missing_capability(&self) -> bool {
        matches!(self, Self::Refused(denial) if denial.is_missing_capability())
    }

    /// Whether the resource does not exist, by any error code that servers use for that.
    pub fn is_resource_not_found(&self) -> bool {
        matches!(self, Self::Refused(denial) if denial.is_resource_not_found())
    }

    /// Whether the server rejected the parameters.
    pub fn is_invalid_params(&self) -> bool {
        matches!(self, Self::Refused(denial) if denial.is_invalid_params())
    }

    /// Whether the server does not know the method.
    pub fn is_method_not_found(&self) -> bool {
        matches!(self, Self::Refused(denial) if denial.is_method_not_found())
    }
}

impl From<MalformedMessage> for Error {
    fn from(flaw: MalformedMessage) -> Self {
        Self::Malformed(flaw.to_string())
    }
}

/// Why a request failed, as far as the connection must tell failures apart.
#[derive(Debug, Clone)]
pub(crate) enum TransportFailure {
    /// An error to return to the caller.
    Error(Error),
    /// The server does not know the session any more; it did not act on the request.
    SessionExpired,
    /// The server answered with an HTTP status that is not a success.
    HttpStatus {
        /// The status.
        code: u16,
        /// The JSON-RPC error in the body, if there is one.
        error: Option<RpcError>,
    },
}

impl From<Error> for TransportFailure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<TransportFailure> for Error {
    fn from(failure: TransportFailure) -> Self {
        match failure {
            TransportFailure::Error(error) => error,
            TransportFailure::SessionExpired => Self::Closed("the session has expired".to_owned()),
            TransportFailure::HttpStatus { error: Some(denial), .. } => Self::Refused(denial),
            TransportFailure::HttpStatus { code, error: None } => {
                Self::Unreachable(format!("HTTP status {code}"))
            }
        }
    }
}

impl TransportFailure {
    /// The server's JSON-RPC error, if there is one.
    pub(crate) fn rpc_error(&self) -> Option<&RpcError> {
        match self {
            Self::Error(Error::Refused(denial)) | Self::HttpStatus { error: Some(denial), .. } => {
                Some(denial)
            }
            _ => None,
        }
    }

    /// Whether a server of another era would answer with this status.
    ///
    /// MCP 2026-07-28, versioning: 400, 404, 405. Some servers also answer 422 to a first message
    /// that is not `initialize`.
    pub(crate) fn is_other_era_status(&self) -> bool {
        matches!(self, Self::HttpStatus { code: 400 | 404 | 405 | 422, .. })
    }
}
