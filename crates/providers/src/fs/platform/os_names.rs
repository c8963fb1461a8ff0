//! Conversion of names between bytes and the form that the operating system takes.

use std::ffi::OsStr;

/// Returns `name` as the operating system takes it; `None` if nothing can have that name.
#[cfg(unix)]
pub(in crate::fs) fn os_str(name: &[u8]) -> Option<&OsStr> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(OsStr::from_bytes(name))
}

/// Returns `name` as the operating system takes it; `None` if nothing can have that name.
#[cfg(not(unix))]
pub(in crate::fs) fn os_str(name: &[u8]) -> Option<&OsStr> {
    str::from_utf8(name).ok().map(OsStr::new)
}

/// Returns the bytes of `name`, from which `os_str` makes it again; `None` if there are none.
pub(super) fn name_bytes(name: &OsStr) -> Option<&[u8]> {
    let bytes = name.as_encoded_bytes();
    os_str(bytes).is_some_and(|same| same == name).then_some(bytes)
}
