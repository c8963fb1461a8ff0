//! Why did a server not answer?

use protocol::{Denial, Malformed};

/// Why a request has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The server is not there, or not in a state to be asked. It may be, later.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The connection ended before the answer came. Whether the server acted is not known.
    #[error("the connection ended: {0}")]
    Closed(String),
    /// The answer did not come in time. The server was told that nobody waits any more.
    #[error("the server did not answer in time")]
    TimedOut,
    /// The server answered with an error.
    #[error("the server refused: {} ({})", .0.message, .0.code)]
    Refused(Denial),
    /// The server sent something that is no answer.
    #[error("the server cannot be understood: {0}")]
    Malformed(String),
    /// The server sent more at once than is taken, which is this many bytes.
    #[error("the server sent a message of more than {0} bytes")]
    TooLarge(usize),
}

impl Error {
    /// Whether it is a header that is not what the server wants.
    pub fn is_about_headers(&self) -> bool {
        matches!(self, Self::Refused(denial) if denial.is_about_headers())
    }

    /// Whether it is what we said that we can be asked for that is too little.
    pub fn is_about_capability(&self) -> bool {
        matches!(self, Self::Refused(denial) if denial.is_about_capability())
    }

    /// Whether a resource is missing, in the words of any server there is.
    pub fn is_about_missing(&self) -> bool {
        matches!(self, Self::Refused(denial) if denial.is_about_missing())
    }

    /// Whether what was asked makes no sense to the server.
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

/// Why a request ended, as far as the connection must know.
#[derive(Debug, Clone)]
pub(crate) enum Lapse {
    /// For good.
    Error(Error),
    /// The server has forgotten the session, and did nothing.
    Expired,
    /// The server answered with a status of HTTP that is no success.
    Status {
        /// The status.
        code: u16,
        /// The error in its body, if there was one.
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
            Lapse::Expired => Self::Closed("the server has forgotten the session".to_owned()),
            Lapse::Status { denial: Some(denial), .. } => Self::Refused(denial),
            Lapse::Status { code, denial: None } => {
                Self::Unreachable(format!("HTTP status {code}"))
            }
        }
    }
}

impl Lapse {
    /// The error of the server in it.
    pub(crate) fn denial(&self) -> Option<&Denial> {
        match self {
            Self::Error(Error::Refused(denial)) | Self::Status { denial: Some(denial), .. } => {
                Some(denial)
            }
            _ => None,
        }
    }

    /// Whether a server of another era would say so.
    ///
    /// MCP 2026-07-28, versioning: 400, 404, 405. Servers in the wild also answer 422 to a first
    /// message that is no opening.
    pub(crate) fn is_rejection(&self) -> bool {
        matches!(self, Self::Status { code: 400 | 404 | 405 | 422, .. })
    }
}
