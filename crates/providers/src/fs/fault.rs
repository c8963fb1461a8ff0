//! Which kind of failure is what the file system answered?

use std::io;

use resource::{Error, ErrorKind, Uri};
use rustix::io::Errno;

/// Why work on a file or folder stopped.
#[derive(Debug)]
pub(super) enum Fault {
    /// The file system said so.
    Io(io::Error),
    /// We say so, in words of our own.
    Said(Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Said(error)
    }
}

impl Fault {
    /// The same as a failure about `uri`.
    pub(super) fn about(self, uri: &Uri) -> Error {
        match self {
            Self::Io(error) => translate(error).about(uri),
            Self::Said(error) if error.uri.is_none() => error.about(uri),
            Self::Said(error) => error,
        }
    }
}

/// There is nothing there, or nothing that is served.
pub(super) fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}

/// Whether `error` says that there is nothing there.
pub(super) fn is_missing(error: &io::Error) -> bool {
    match error.raw_os_error() {
        Some(code) => [
            Errno::NOENT,
            // A link that was none any more when it was read.
            Errno::INVAL,
            Errno::NOTDIR,
            Errno::LOOP,
            Errno::NAMETOOLONG,
            Errno::NXIO,
            Errno::STALE,
            Errno::XDEV,
        ]
        .contains(&Errno::from_raw_os_error(code)),
        None => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Whether `error` says nothing of what was looked at, only that it cannot be looked at just now:
/// too many files are open, memory is short, a disk does not answer.
pub(super) fn is_passing(error: &io::Error) -> bool {
    error.raw_os_error().is_some()
        && !is_missing(error)
        && error.kind() != io::ErrorKind::PermissionDenied
}

/// This is too much to be done while others wait.
pub(super) fn too_long() -> io::Error {
    io::ErrorKind::WouldBlock.into()
}

/// Somebody else is at it already.
pub(super) fn taken() -> io::Error {
    io::ErrorKind::ResourceBusy.into()
}

/// Nobody waits for this any more.
pub(super) fn unattended() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

/// Whether `error` is one of those three, which end the work and say nothing of any file.
pub(super) fn is_ours(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ResourceBusy, WouldBlock};
    error.raw_os_error().is_none() && matches!(error.kind(), BrokenPipe | ResourceBusy | WouldBlock)
}

/// The kind of failure that `error` is, with `error` itself kept for the log.
pub(super) fn translate(error: io::Error) -> Error {
    if is_missing(&error) {
        return Error::new(ErrorKind::NotFound, "resource not found");
    }
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            Error::new(ErrorKind::Denied, "this resource may not be read").caused_by(error)
        }
        _ => Error::unavailable("this resource cannot be read just now").caused_by(error),
    }
}
