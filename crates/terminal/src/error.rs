//! Errors of a command, each with the exit status that a script sees.

use client::CallError;

/// Why a command ends without its result.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The server answered with an error, or nothing was found.
    #[error("{0}")]
    Failed(String),
    /// The command searched and found nothing. There is nothing more to say.
    #[error("nothing found")]
    NothingFound,
    /// The arguments are wrong.
    #[error("{0}")]
    Usage(String),
    /// The server cannot be reached, or the connection ended.
    #[error("{0}")]
    Unreachable(String),
    /// The server has no such resource, template or tool.
    #[error("{0}")]
    NotFound(String),
    /// Some of several resources failed; each was told as it happened.
    #[error("some failed")]
    SomeFailed,
    /// Whoever reads the output has closed it, as `head` does.
    #[error("the output is closed")]
    OutputClosed,
    /// A person pressed Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

impl CommandError {
    /// The exit status. `refdesk help` and the manual pages list them.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::OutputClosed => 0,
            Self::Failed(_) | Self::NothingFound | Self::SomeFailed => 1,
            Self::Usage(_) => 2,
            Self::Unreachable(_) => 3,
            Self::NotFound(_) => 4,
            Self::Interrupted => 130,
        }
    }

    /// Whether a person should read the error.
    pub fn is_silent(&self) -> bool {
        matches!(
            self,
            Self::OutputClosed | Self::NothingFound | Self::SomeFailed | Self::Interrupted
        )
    }

    /// The error of a request about `uri`.
    pub(crate) fn about(uri: &str, error: client::Error) -> Self {
        if error.is_resource_not_found() {
            return Self::NotFound(format!("no such resource: {uri}"));
        }
        match Self::from(error) {
            Self::Failed(words) => Self::Failed(format!("{uri}: {words}")),
            Self::Unreachable(words) => Self::Unreachable(format!("{uri}: {words}")),
            other => other,
        }
    }
}

impl From<client::Error> for CommandError {
    fn from(error: client::Error) -> Self {
        use client::Error;
        match &error {
            Error::Unreachable(_) | Error::Closed(_) | Error::TimedOut => {
                Self::Unreachable(error.to_string())
            }
            Error::Unauthorized => Self::Unreachable(
                "the server wants a token: pass --header \"Authorization: Bearer TOKEN\""
                    .to_owned(),
            ),
            Error::Refused(_) | Error::Malformed(_) | Error::TooLarge(_) => {
                Self::Failed(error.to_string())
            }
        }
    }
}

impl From<CallError> for CommandError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Server(error) => error.into(),
            CallError::Caller(error) => Self::Failed(error.to_string()),
        }
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Failed(error.to_string()),
        }
    }
}
