//! Errors of the client.

use protocol::outbound::components;
use protocol::{MalformedMessage, RpcError};
use resource::{UpstreamError, UriRewrite};

/// Why a request has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The server cannot be reached now. A later attempt may succeed.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The server wants authorization that it did not get, or that it does not accept.
    #[error(
        "the server wants authorization: set a valid `Authorization` in `headers` of the mount \
         (HTTP status 401)"
    )]
    Unauthorized,
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
    /// What is wrong, without the words that only say that the server is not connected.
    pub fn into_reason(self) -> String {
        match self {
            Self::Unreachable(why) | Self::Closed(why) => why,
            other => other.to_string(),
        }
    }

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

    /// The current version of a resource that has changed since the caller pinned another one, as
    /// another refdesk words it.
    pub fn changed_etag(&self) -> Option<String> {
        match self {
            Self::Refused(denial) => denial.changed_etag(),
            _ => None,
        }
    }

    /// Whether the server does not know the method.
    pub fn is_method_not_found(&self) -> bool {
        matches!(self, Self::Refused(denial) if denial.is_method_not_found())
    }

    /// The server's own error about a resource, with its URIs as they are: parameters that it
    /// rejects, or a code of its own.
    pub fn about_resource(&self) -> Option<UpstreamError> {
        match self {
            Self::Refused(denial) if denial.is_for_caller() => {
                let data = denial.data.as_ref().map(|raw| raw.get().into());
                Some(UpstreamError { code: denial.code, message: denial.message.clone(), data })
            }
            _ => None,
        }
    }

    /// The server's own error with public URIs, if it is about the caller's request. An error
    /// about the connection, such as a rejected header, means nothing to the caller.
    pub fn for_caller(&self, rewrite: &dyn UriRewrite) -> Option<UpstreamError> {
        match self {
            Self::Refused(denial) => components::public_error(denial, rewrite),
            _ => None,
        }
    }
}

/// Why a request on behalf of a caller has no result.
#[derive(Debug)]
pub enum CallError {
    /// The server did not answer, or answered with an error.
    Server(Error),
    /// The caller's parameters or its input are at fault, or the server asks for input too often.
    Caller(resource::Error),
}

impl CallError {
    pub(crate) fn invalid(flaw: &MalformedMessage) -> Self {
        Self::Caller(resource::Error::invalid(flaw.to_string()))
    }
}

impl From<Error> for CallError {
    fn from(error: Error) -> Self {
        Self::Server(error)
    }
}

impl From<resource::Error> for CallError {
    fn from(error: resource::Error) -> Self {
        Self::Caller(error)
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
            TransportFailure::HttpStatus { code: 401, .. } => Self::Unauthorized,
            TransportFailure::HttpStatus { error: Some(denial), .. } => Self::Refused(denial),
            TransportFailure::HttpStatus { code, error: None } => {
                Self::Unreachable(format!("it answers with HTTP status {code}"))
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
