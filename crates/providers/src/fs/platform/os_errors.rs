//! Meaning of the operating system's error codes.

use std::io;

use rustix::io::Errno;

/// True if `error` means that the path does not exist.
pub(in crate::fs) fn is_not_found(error: &io::Error) -> bool {
    match error.raw_os_error() {
        Some(code) => [
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
        .contains(&Errno::from_raw_os_error(code)),
        None => error.kind() == io::ErrorKind::NotFound,
    }
}

/// True if `error` means that no file descriptor is free.
pub(in crate::fs) fn is_descriptor_shortage(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(code, Some(Errno::MFILE | Errno::NFILE))
}
