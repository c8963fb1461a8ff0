//! Errors of file operations and their mapping to `resource::Error`.

use std::io;

use resource::{Error, ErrorKind, Uri};

pub(super) use super::platform::{is_descriptor_shortage, is_not_found};

/// Why work on a file or folder stopped.
#[derive(Debug)]
pub(super) enum FsError {
    /// Error of the file system, or one of the control-flow errors below.
    Io(io::Error),
    /// Error that is already in its final form.
    Resource(Error),
}

impl From<io::Error> for FsError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for FsError {
    fn from(error: Error) -> Self {
        Self::Resource(error)
    }
}

impl FsError {
    /// The error of the file system, if it is one.
    pub(super) fn as_io(&self) -> Option<&io::Error> {
        match self {
            Self::Io(error) => Some(error),
            Self::Resource(_) => None,
        }
    }

    /// Converts into an error about `uri`.
    pub(super) fn for_uri(self, uri: &Uri) -> Error {
        match self {
            Self::Io(error) => to_resource_error(error).about(uri),
            Self::Resource(error) if error.uri.is_none() => error.about(uri),
            Self::Resource(error) => error,
        }
    }
}

/// The error for a path that does not exist or is not served.
pub(super) fn not_found() -> io::Error {
    io::ErrorKind::NotFound.into()
}

/// True if `error` is transient and says nothing about the file itself: too many open files, out of
/// memory, a disk that does not answer.
pub(super) fn is_transient(error: &io::Error) -> bool {
    error.raw_os_error().is_some()
        && !is_not_found(error)
        && error.kind() != io::ErrorKind::PermissionDenied
}

/// The error for work that exceeds an inline budget.
pub(super) fn over_budget() -> io::Error {
    io::ErrorKind::WouldBlock.into()
}

/// The error for a folder that another request is scanning.
pub(super) fn scan_in_progress() -> io::Error {
    io::ErrorKind::ResourceBusy.into()
}

/// The error for work whose request was dropped.
pub(super) fn cancelled() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

/// True if `error` is one of those three. They stop the work and say nothing about any file.
pub(super) fn is_control_flow(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ResourceBusy, WouldBlock};
    error.raw_os_error().is_none() && matches!(error.kind(), BrokenPipe | ResourceBusy | WouldBlock)
}

/// Maps `error` to an error kind. Keeps `error` as the cause for the log, unless nothing was found.
pub(super) fn to_resource_error(error: io::Error) -> Error {
    if is_not_found(&error) {
        return Error::new(ErrorKind::NotFound, "resource not found");
    }
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            Error::new(ErrorKind::Denied, "no permission to read this resource").caused_by(error)
        }
        _ => Error::unavailable("this resource cannot be read; try again later").caused_by(error),
    }
}
