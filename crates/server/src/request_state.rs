//! Signed `requestState`: authenticated, bound to its request, expires after an hour.
//!
//! An upstream server that answers with `input_required` may add a state that the client sends
//! back. It travels through the client, so we seal it on the way out and check it on the way in.

use std::time::{SystemTime, UNIX_EPOCH};

use machinery::{Packer, Unpacker};
use protocol::outbound::input_request;
use resource::{Cursor, Error, Json, Result};

use crate::server::Server;

/// Seconds until a state expires.
const STATE_TTL_SECONDS: u64 = 60 * 60;

/// Seals the `requestState` of a result. `about` names what was requested.
pub(crate) fn seal_state(server: &Server, about: &str, result: &Json) -> Json {
    input_request::seal_request_state(result, |state| {
        let packed = Packer::default().integer(unix_seconds() + STATE_TTL_SECONDS);
        server.seal.seal(&seal_domain(about), &Cursor(packed.bytes(Some(state)).finish().into()))
    })
}

/// Opens the `requestState` of a repeated request, so that the upstream server can read it.
pub(crate) fn open_state(server: &Server, about: &str, params: &Json) -> Result<Json> {
    input_request::open_request_state(params, |text| {
        let forged = || Error::invalid("requestState does not belong to this request");
        let bytes = server.seal.unseal(&seal_domain(about), text).map_err(|_| forged())?.0;
        let mut parts = Unpacker::new(&bytes);
        let until = parts.integer().ok_or_else(forged)?;
        if until < unix_seconds() {
            return Err(Error::invalid("requestState has expired; repeat the request without it"));
        }
        parts.text().flatten().map(str::to_owned).ok_or_else(forged)
    })
}

/// Domain separation: the seal accepts no cursor of a list as a state, nor the other way round.
fn seal_domain(about: &str) -> String {
    format!("asked back: {about}")
}

/// Seconds since the Unix epoch. Not a monotonic clock: a state may outlive this process.
fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
