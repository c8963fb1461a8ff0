//! JSON text: envelopes found in bytes, objects edited in place, bodies written as they stream.

pub(crate) mod error_code;
pub mod frame;
pub mod outgoing;
pub(crate) mod raw_object;
pub(crate) mod sanitize;
pub(crate) mod unescape;
