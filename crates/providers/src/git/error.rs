//! Errors of gix and their mapping to `resource::Error`.

use resource::{Error, ErrorKind};

/// The error for something that is not in the repository.
pub(super) fn not_found(message: &'static str) -> Error {
    Error::new(ErrorKind::NotFound, message)
}

/// The error for an object that cannot be read.
pub(super) fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    let message = "an object of the repository is missing or broken: the clone may be partial or \
                   damaged; git fsck tells more";
    Error::unavailable(message).caused_by(error)
}

/// The error for work whose request was dropped.
pub(super) fn cancelled() -> Error {
    Error::unavailable("the request was cancelled")
}

/// The error for work that exceeds a bound.
pub(super) fn over_bound(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::TooLarge, message.into())
}
