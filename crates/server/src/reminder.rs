//! How does what a server wants to be reminded of come back unchanged, in time, or not at all?
//!
//! A server that answers by a question may give it something to remember. It travels through a
//! client, and so it is sealed, bound to what was asked, and forgotten after a while.

use std::time::{SystemTime, UNIX_EPOCH};

use protocol::asking;
use resource::{Cursor, Error, Json, Result};

use crate::server::Server;

/// How many seconds a question may wait for its answer.
const REMEMBERED: u64 = 60 * 60;

/// The result of what was asked `about`, with what it gives to remember sealed.
pub(crate) fn close(server: &Server, about: &str, result: &Json) -> Json {
    asking::closed(result, |state| {
        let mut bytes = (now() + REMEMBERED).to_le_bytes().to_vec();
        bytes.extend_from_slice(state.as_bytes());
        server.seal.close(&list(about), &Cursor(bytes.into()))
    })
}

/// The parameters of what is asked `about` again, as the server is to read them.
pub(crate) fn open(server: &Server, about: &str, params: &Json) -> Result<Json> {
    asking::opened(params, |text| {
        let forged = || Error::invalid("requestState: not what this request was answered with");
        let bytes = server.seal.open(&list(about), text).map_err(|_| forged())?.0;
        let (until, state) = bytes.split_first_chunk().ok_or_else(forged)?;
        if u64::from_le_bytes(*until) < now() {
            return Err(Error::invalid("requestState: too old; ask from the beginning"));
        }
        String::from_utf8(state.to_vec()).map_err(|_| forged())
    })
}

/// What is sealed for a list is never taken for what is sealed here.
fn list(about: &str) -> String {
    format!("asked back: {about}")
}

/// Seconds of the calendar: what is remembered may outlive this process.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
