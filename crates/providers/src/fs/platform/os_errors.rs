//! Meaning of the operating system's error codes.

use std::io;

#[cfg(unix)]
use rustix::io::Errno;

/// True if `error` means that the path does not exist.
pub(in crate::fs) fn is_not_found(error: &io::Error) -> bool {
    match error.raw_os_error() {
        Some(code) => means_absence(code),
        None => error.kind() == io::ErrorKind::NotFound,
    }
}

#[cfg(unix)]
fn means_absence(code: i32) -> bool {
    [
        Errno::NOENT,
        // From `readlink` on a link that was replaced by something else.
        Errno::INVAL,
        Errno::NOTDIR,
        Errno::LOOP,
        Errno::NAMETOOLONG,
        Errno::NXIO,
        Errno::STALE,
        Errno::XDEV,
    ]
    .contains(&Errno::from_raw_os_error(code))
}

#[cfg(not(unix))]
fn means_absence(code: i32) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    let kind = io::Error::from_raw_os_error(code).kind();
    matches!(kind, InvalidFilename | InvalidInput | NotADirectory | NotFound)
}

/// True if `error` means that no file descriptor is free.
pub(in crate::fs) fn is_descriptor_shortage(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(means_shortage)
}

#[cfg(unix)]
fn means_shortage(code: i32) -> bool {
    matches!(Errno::from_raw_os_error(code), Errno::MFILE | Errno::NFILE)
}

#[cfg(not(unix))]
fn means_shortage(code: i32) -> bool {
    const ERROR_TOO_MANY_OPEN_FILES: i32 = 4;
    code == ERROR_TOO_MANY_OPEN_FILES
}
