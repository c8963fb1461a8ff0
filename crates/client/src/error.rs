//! Errors of the client.

use protocol::{Denial, Malformed};

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
    Refused(Denial),
    /// The server sent something that is not a valid answer.
    #[error("the server sent an invalid message: {0}")]
    Malformed(String),
    /// The server sent a message over the limit, which is this many bytes.
    #[error("the server sent a message of more than {0} bytes")]
    TooLarge(usize),
}

impl Error {
    /// Whether the server rejected a header of the request.
    pub fn is_about_headers(&self) -> bool {
        matches!(self, Self::Refused(denial) if denial.is_about_headers())
    }

    /// Whether the server needs a client capability that the request did not declare.
    pub fn is_about_capability(&self) -> bool {
        matches!(self, Self::Refused(denial) if denial.is_about_capability())
    }

    /// Whether the resource does not exist, by any error code that servers use for that.
    pub fn is_about_missing(&self) -> bool {
        matches!(self, Self::Refused(denial) if denial.is_about_missing())
    }

    /// Whether the server rejected the parameters.
    pub fn is_about_params(&self) -> bool {
        matches!(self, Self::Refused(denial) if denial.is_about_params())
    }

    /// Whether the server does not know the method.
    pub fn is_about_method(&self) -> bool {
        matches!(self, Self::Refused(denial) if denial.is_about_method())
    }
}

impl From<Malformed> for Error {
    fn from(flaw: Malformed) -> Self {
        Self::Malformed(flaw.to_string())
    }
}

/// Why a request failed, as far as the connection must tell failures apart.
#[derive(Debug, Clone)]
pub(crate) enum Lapse {
    /// An error to return to the caller.
    Error(Error),
    /// The server does not know the session any more; it did not act on the request.
    Expired,
    /// The server answered with an HTTP status that is not a success.
    Status {
        /// The status.
        code: u16,
        /// The JSON-RPC error in the body, if there is one.
        denial: Option<Denial>,
    },
}

impl From<Error> for Lapse {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<Lapse> for Error {
    fn from(lapse: Lapse) -> Self {
        match lapse {
            Lapse::Error(error) => error,
            Lapse::Expired => Self::Closed("the session has expired".to_owned()),
            Lapse::Status { denial: Some(denial), .. } => Self::Refused(denial),
            Lapse::Status { code, denial: None } => {
                Self::Unreachable(format!("HTTP status {code}"))
            }
        }
    }
}

impl Lapse {
    /// The server's JSON-RPC error, if there is one.
    pub(crate) fn denial(&self) -> Option<&Denial> {
        match self {
            Self::Error(Error::Refused(denial)) | Self::Status { denial: Some(denial), .. } => {
                Some(denial)
            }
            _ => None,
        }
    }

    /// Whether a server of another era would answer with this status.
    ///
    /// MCP 2026-07-28, versioning: 400, 404, 405. Some servers also answer 422 to a first message
    /// that is not `initialize`.
    pub(crate) fn is_rejection(&self) -> bool {
        matches!(self, Self::Status { code: 400 | 404 | 405 | 422, .. })
    }
}
