//! Conversion of names from bytes to the form that the operating system takes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

/// Returns `name` as the operating system takes it; `None` if no file can have that name.
pub(in crate::fs) fn os_str(name: &[u8]) -> Option<&OsStr> {
    Some(OsStr::from_bytes(name))
}
